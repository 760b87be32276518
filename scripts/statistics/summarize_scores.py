"""Summarize the scores of all models on all benchmarks, with intervals, in one table.

Source: [RawCorpora, Sec. 2.6].
"""

from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Summary
from fathom.io import paths
from fathom.io.contracts.scoring import ATTRIBUTE_RATES, PERPLEXITY
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import write_rows
from fathom.jobs.signature import Tables, run
from fathom.statistics.baselines import read_baselines, summarize_attribute_rates, summarize_perplexity
from fathom.statistics.left_out import leave_out_overlap
from fathom.statistics.summaries import read_scores, summarize_scores


def main(
    *,
    scores: Annotated[Tables, paths.SCORES, "scores of one model on one benchmark"],
    pairs: Annotated[Tables, paths.PAIRS, "pairs that the scores of one benchmark must belong to"] = (),
    overlap: Annotated[Tables, paths.OVERLAP, "pairs of one benchmark that occur in training text"] = (),
    perplexity: Annotated[Tables, paths.PERPLEXITY, "likelihood of held-out text of one model"] = (),
    attribute_rates: Annotated[Tables, paths.RATES, "attribute rates of one model"] = (),
    summary: Annotated[Path, "table to write (CSV)"],
    settings: Summary,
) -> None:
    """Summarize all scores and baselines, write the table."""
    read = read_scores(scores, pairs)
    rows = summarize_scores(leave_out_overlap(read, overlap, settings), settings)
    rows += summarize_perplexity(read_baselines(perplexity, PERPLEXITY), settings)
    rows += summarize_attribute_rates(read_baselines(attribute_rates, ATTRIBUTE_RATES), settings)
    write_rows(summary, sorted(rows, key=lambda row: row[:5]), SUMMARY)


if __name__ == "__main__":
    run(main)
