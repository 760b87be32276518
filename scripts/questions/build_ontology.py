"""Build an ontology from one's own CSV tables, or from arXiv's metadata [CompComp, App. B.2]."""

import argparse
from pathlib import Path

from fathom.config.coverage import QuestionSettings
from fathom.io.contracts.questions import ENTITIES
from fathom.io.files import write_json
from fathom.io.tables import write_table
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read tables or metadata; write entities, statements and a report."""
    from fathom.questions.arxiv_ontology import read_papers
    from fathom.questions.csv_tables import read_tables
    from fathom.questions.ontology import tabulate_entities, write_statements

    chosen = read_settings(arguments.settings, QuestionSettings).questions
    if arguments.tables:
        ontology = read_tables(arguments.tables)
    else:
        ontology = read_papers(arguments.metadata, chosen.categories)
    entities, report = tabulate_entities(ontology)
    write_statements(arguments.statements, ontology)
    write_table(arguments.entities, entities, ENTITIES)
    write_json(arguments.report, report)
    log.info("%s entities, %s statements", f"{len(entities):,}", f"{report['statements']:,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--tables", type=Path, help="YAML file that explains tables, which lie beside it")
    source.add_argument("--metadata", type=Path, help="arXiv's metadata, JSON lines")
    add_settings(parser, QuestionSettings)
    parser.add_argument("--statements", type=Path, required=True, help="statements to write (N-Triples)")
    parser.add_argument("--entities", type=Path, required=True, help="table of entities to write")
    parser.add_argument("--report", type=Path, required=True, help="counts to write (JSON)")
    run_program(parser, main)
