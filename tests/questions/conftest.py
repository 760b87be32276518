"""The course catalogue of the example: its ontology, graph, templates and questions; a small model."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from tests.answering.conftest import chat, folder, plain

from fathom.io.contracts.questions import CHUNKS, QUESTIONS
from fathom.io.files import hash_text
from fathom.io.tables import write_table
from fathom.questions.answer_files import QuestionFiles
from fathom.questions.graph import Asker, OntologyGraph, read_templates
from fathom.questions.material import draw_chunks, make_open, read_user_questions
from fathom.questions.ontology import tabulate_entities, write_statements
from fathom.questions.ontology_sources import read_tables
from fathom.questions.posing import Entities, find_candidates, pose_question
from fathom.questions.question_rounds import Material, tabulate_questions

__all__ = ["chat", "folder", "plain"]  # the small model that answers

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


def encode(texts):
    """Return unit vectors that depend on the words of texts."""
    vectors = np.zeros((len(texts), 32), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            vectors[row, int(hash_text(word.strip('.,?"'))[:8], 16) % 32] += 1
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def material(catalogue) -> Material:
    """Return what rounds ask about, with questions of people and a pair."""
    chunks = draw_chunks(catalogue.entities, 30)
    users = read_user_questions(COURSES / "faq.csv")
    pairs = [make_open("near/tf", "Trees have", "leaves", "pair p")]
    vectors = encode(chunks["text"].to_list())
    return Material(
        chunks["iri"].to_list(), vectors, catalogue.entities, catalogue.graph, catalogue.askers, users, pairs
    )


SOME = ("teaches", "department", "staff", "alumni")
"""Templates of all forms."""


def pose(catalogue, *names):
    """Return what some or all templates ask."""
    askers = {name: catalogue.askers[name] for name in names or catalogue.askers}
    candidates, _ = find_candidates(askers.values(), catalogue.graph, catalogue.lookup)
    rows = [
        pose_question(each, askers[each.template], catalogue.lookup, catalogue.graph) for each in candidates
    ]
    return [row for row in rows if row]


@pytest.fixture(scope="module")
def questions(catalogue) -> pl.DataFrame:
    """Return the questions of four templates, and three of people."""
    people = [make_open("faq.csv", f"Why {n}?", f"Because of {n}.", f"faq.csv, line {n}") for n in range(3)]
    rows = [*pose(catalogue, *SOME), *people]
    return tabulate_questions([{**row, "round": 0, "records": []} for row in rows], [])


@pytest.fixture(scope="module")
def files(questions, catalogue, tmp_path_factory) -> QuestionFiles:
    """Return the files of a set: questions and records with their embeddings."""
    base = tmp_path_factory.mktemp("questions")
    found = QuestionFiles(*(base / name for name in ("q.parquet", "q.npy", "c.parquet", "c.npy")))
    chunks = draw_chunks(catalogue.entities, 30)
    write_table(found.questions, questions, QUESTIONS)
    write_table(found.chunks, chunks, CHUNKS)
    np.save(found.vectors, encode(questions["question"].to_list()))
    np.save(found.embeddings, encode(chunks["text"].to_list()))
    return found
