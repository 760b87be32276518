"""Compare models pairwise on each benchmark, group indistinguishable models, and correlate metrics.

Reads pairs, the scores of all models and their summary. Writes differences with intervals, letters of groups,
and correlations.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Summary
from fathom.io import paths
from fathom.io.contracts.statistics import COMPARISONS, CORRELATIONS, GROUPS
from fathom.io.delimited import write_rows
from fathom.jobs.signature import Tables, run
from fathom.statistics.comparisons import resample_scores, tabulate_comparisons
from fathom.statistics.correlations import read_series, tabulate_correlations
from fathom.statistics.left_out import leave_out_overlap
from fathom.statistics.summaries import read_scores


def main(
    *,
    scores: Annotated[Tables, paths.SCORES, "scores of one model on one benchmark"],
    pairs: Annotated[Tables, paths.PAIRS, "pairs that the scores of one benchmark must belong to"] = (),
    overlap: Annotated[Tables, paths.OVERLAP, "pairs of one benchmark that occur in training text"] = (),
    summary: Annotated[Path, "summary of the same scores, for the correlations (CSV)"],
    comparisons: Annotated[Path, "paired differences to write (CSV)"],
    groups: Annotated[Path, "letters of groups of models to write (CSV)"],
    correlations: Annotated[Path, "correlations of metrics to write (CSV)"],
    settings: Summary,
) -> None:
    """Resample all scores once, write three tables."""
    read = read_scores(scores, pairs)
    resampled = resample_scores(leave_out_overlap(read, overlap, settings), settings)
    differences, letters = tabulate_comparisons(resampled, settings)
    write_rows(comparisons, differences, COMPARISONS)
    write_rows(groups, letters, GROUPS)
    found = tabulate_correlations(read_series(summary), settings)
    write_rows(correlations, found, CORRELATIONS)


if __name__ == "__main__":
    run(main)
