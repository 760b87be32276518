"""Write tables of benchmarks, models, bits per byte and compute [TrainBeforeTest, Tables 1-4].

Each table is a CSV; one page of Markdown holds them all.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.ranking import RankingSettings
from fathom.figures.ranking_tables import (
    RankingTables,
    render_markdown,
    tabulate_bits,
    tabulate_categories,
    tabulate_chosen,
    tabulate_compute,
    tabulate_families,
)
from fathom.io.contracts.ranking import RANKED_SCORES, RANKING_TABLES
from fathom.io.delimited import write_rows
from fathom.io.files import write_text
from fathom.io.tables import read_table
from fathom.jobs.signature import run
from fathom.ranking.metadata import read_metadata
from fathom.ranking.table import PARTS


def main(
    *,
    tables: Annotated[Path, "folder of the rankings' tables"],
    page: Annotated[Path, "all tables to write (Markdown)"],
    categories: Annotated[Path, "benchmarks by category to write (CSV)"],
    families: Annotated[Path, "models by family to write (CSV)"],
    corpora: Annotated[Path, "scores on corpora to write (CSV)"],
    chosen: Annotated[Path | None, "those of chosen models to write (CSV), with ranking.corpus_table"] = None,
    compute: Annotated[Path, "training compute to write (CSV)"],
    metadata: Annotated[list[Path], "metadata.json of the table of scores, or none"] = (),
    settings: RankingSettings,
) -> None:
    """Read the table of scores, write its tables and a page."""
    read = RankingTables(tables)
    scores = read_table(tables / PARTS[0], RANKED_SCORES)
    order = [*settings.ranking.families]
    found = [
        ("Benchmarks by category", categories, tabulate_categories(read)),
        ("Models by family", families, tabulate_families(read, order)),
        ("Scores on corpora", corpora, tabulate_bits(read, scores)),
        ("Training compute", compute, tabulate_compute(read, order)),
    ]
    if chosen:
        wanted = settings.ranking.corpus_table
        titles = read_metadata(next(iter(metadata), None)).title
        table = tabulate_chosen(read, scores, wanted, titles)
        title = f"Scores of chosen models on corpora, {wanted.condition or read.conditions[0]}"
        found.insert(3, (title, chosen, table))
    for _, path, (columns, rows) in found:
        write_rows(path, rows, RANKING_TABLES, columns)
    write_text(page, "\n".join(render_markdown(title, *table) for title, _, table in found))


if __name__ == "__main__":
    run(main)
