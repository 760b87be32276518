"""The files that questions are asked from, as arguments of programs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.jobs.program import add_tables

if TYPE_CHECKING:
    from fathom.questions.question_rounds import Material


def add_material(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`read_material` and :func:`list_files` read."""
    parser.add_argument("--statements", type=Path, required=True, help="statements (N-Triples)")
    parser.add_argument("--entities", type=Path, required=True, help="table of entities")
    parser.add_argument("--chunks", type=Path, required=True, help="table of texts")
    parser.add_argument("--embeddings", type=Path, required=True, help="their embeddings, .npy")
    parser.add_argument("--templates", type=Path, nargs="+", required=True, help="files of templates, YAML")
    parser.add_argument("--users", type=Path, nargs="*", default=[], help="questions that people asked")
    add_tables(parser, "--pairs", ("BENCHMARK",), "table of pairs that may join as open questions")


def read_material(arguments: argparse.Namespace) -> "Material":
    """Read records, templates and open questions; raise `InputError` if one of the files is wrong."""
    from fathom.benchmark.matches import load_embeddings
    from fathom.io.contracts.benchmark import PAIRS
    from fathom.io.contracts.questions import CHUNKS, ENTITIES
    from fathom.io.tables import read_table
    from fathom.questions.graph import OntologyGraph
    from fathom.questions.question_rounds import Material
    from fathom.questions.templates import read_templates
    from fathom.questions.user_questions import make_open_from_pairs, read_user_questions

    users = [row for path in arguments.users for row in read_user_questions(path)]
    pairs = [
        row for name, path in arguments.pairs for row in make_open_from_pairs(read_table(path, PAIRS), name)
    ]
    return Material(
        read_table(arguments.chunks, CHUNKS, ["iri"])["iri"].to_list(),
        load_embeddings(arguments.embeddings)[:],
        read_table(arguments.entities, ENTITIES),
        OntologyGraph(arguments.statements),
        read_templates(arguments.templates),
        users,
        pairs,
    )


def list_files(arguments: argparse.Namespace) -> list[Path]:
    """Return all files that questions are asked from, in a fixed order."""
    named = [arguments.statements, arguments.entities, arguments.chunks, arguments.embeddings]
    return [
        *named,
        *arguments.templates,
        *arguments.users,
        *(Path(path) for _, path in arguments.pairs),
    ]
