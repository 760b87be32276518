"""Build an ontology from one's own CSV tables, or from arXiv's metadata [CompComp, App. B.2]."""

from pathlib import Path
from typing import Annotated

from fathom.config.coverage import QuestionSettings
from fathom.errors import InputError
from fathom.io.contracts.questions import ENTITIES
from fathom.io.files import write_json
from fathom.io.tables import write_table
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    tables: Annotated[Path | None, "YAML file that explains tables, which lie beside it"] = None,
    metadata: Annotated[Path | None, "in place of tables: arXiv's metadata (JSON lines)"] = None,
    statements: Annotated[Path, "statements to write (N-Triples)"],
    entities: Annotated[Path, "entities to write (parquet)"],
    report: Annotated[Path, "counts to write (JSON)"],
    settings: QuestionSettings,
) -> None:
    """Read tables or metadata; write entities, statements and a report."""
    from fathom.questions.ontology import tabulate_entities, write_statements
    from fathom.questions.ontology_sources import read_papers, read_tables

    if (tables is None) == (metadata is None):
        raise InputError("neither or both are given", "--tables, --metadata", "give one of them")
    if tables is not None:
        ontology = read_tables(tables)
    else:
        ontology = read_papers(metadata, settings.questions.categories)
    found, counts = tabulate_entities(ontology)
    write_statements(statements, ontology)
    write_table(entities, found, ENTITIES)
    write_json(report, counts)
    log.info("%s entities, %s statements", f"{len(found):,}", f"{counts['statements']:,}")


if __name__ == "__main__":
    run(main)
