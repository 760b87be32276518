"""Make a table of scores from a run's own summary and comparisons, to rank its models.

A benchmark is a domain and variant, scored by trimmed mean rank; low is good.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.ranking import RankingSettings
from fathom.jobs.signature import run
from fathom.models.registry import read_registry
from fathom.ranking.score_folder import collect_run
from fathom.ranking.table import write_score_table


def main(
    *,
    summary: Annotated[Path, "summary.csv of a run"],
    comparisons: Annotated[Path, "comparisons.csv of the same run"],
    registry: Annotated[Path, "table of models (models.tsv)"],
    table: Annotated[Path, "folder for the four tables"],
    titles: Annotated[dict[str, str] | None, "what each domain is called; as it is written if empty"] = None,
    references: Annotated[
        dict[str, dict[str, str]] | None, "names of references by domain and variant; none if empty"
    ] = None,
    settings: RankingSettings,
) -> None:
    """Read the run's results, write four tables."""
    rows = read_registry(registry)
    write_score_table(table, collect_run(summary, comparisons, settings, rows, titles, references))


if __name__ == "__main__":
    run(main)
