"""The course catalogue of the example: its ontology, graph and templates."""

from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from fathom.questions.candidates import Entities
from fathom.questions.csv_tables import read_tables
from fathom.questions.graph import OntologyGraph
from fathom.questions.ontology import tabulate_entities, write_statements
from fathom.questions.templates import Asker, read_templates

COURSES = Path(__file__).resolve().parents[2] / "config" / "questions" / "courses"


class Catalogue(NamedTuple):
    """What questions about courses are made from."""

    entities: pl.DataFrame
    graph: OntologyGraph
    askers: dict[str, Asker]
    statements: Path

    @property
    def lookup(self) -> Entities:
        """The entities, to look things up."""
        return Entities(self.entities)


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory) -> Catalogue:
    """Return the course catalogue."""
    path = tmp_path_factory.mktemp("courses") / "ontology.nt"
    ontology = read_tables(COURSES / "tables.yaml")
    write_statements(path, ontology)
    entities, _ = tabulate_entities(ontology)
    return Catalogue(entities, OntologyGraph(path), read_templates([COURSES / "templates.yaml"]), path)
