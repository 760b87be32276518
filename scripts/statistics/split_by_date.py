"""Sum up ranks on pairs from before and after the last day of each model's training text.

Writes a CSV table: a line for each benchmark, model, statistic and part.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Summary
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.statistics import DATES
from fathom.io.delimited import write_rows
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.jobs.signature import OverlapTables, PairTables, ScoreTables, run


def main(
    *,
    pairs: PairTables,
    scores: ScoreTables,
    overlap: OverlapTables = (),
    cutoffs: Annotated[dict[str, str], "last day of the training text of each model"],
    table: Annotated[Path, "table to write (CSV)"],
    settings: Summary,
) -> None:
    """Read pairs and scores, write ranks by date."""
    from fathom.statistics.left_out import leave_out_overlap
    from fathom.statistics.summaries import read_scores, split_by_date

    kept = leave_out_overlap(read_scores(scores, pairs), overlap, settings)
    rows = []
    for domain, variant, path in pairs:
        dates = read_table(path, PAIRS, ["pair_id", "date"])
        unknown = int((dates["date"] == "").sum())
        log.info("%s, %s: %s of %s pairs have no date", domain, variant, f"{unknown:,}", f"{len(dates):,}")
        models = {key[2]: frame for key, frame in kept.items() if key[:2] == (domain, variant)}
        for model, *rest in split_by_date(models, dates, cutoffs, settings):
            rows.append((domain, variant, model, cutoffs[model], *rest))
    write_rows(table, rows, DATES)


if __name__ == "__main__":
    run(main)
