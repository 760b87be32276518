"""Ask questions about records, round by round, until no large gap is left [CompComp, Sec. 3.3].

Each round is written beside the results, so that a run that was stopped goes on after the last one.
"""

import argparse
from pathlib import Path

from fathom.config.coverage import QuestionSettings
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.questions import CHUNKS, ENTITIES, QUESTIONS
from fathom.io.files import write_atomically, write_json
from fathom.io.tables import read_table, write_table
from fathom.running.program import add_settings, add_tables, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read records, templates and open questions; write questions, their embeddings and a report."""
    import numpy as np

    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.matches import load_embeddings
    from fathom.questions.asking import Material, RoundFolder, ask_questions
    from fathom.questions.graph import OntologyGraph
    from fathom.questions.templates import read_templates
    from fathom.questions.user_questions import make_open_from_pairs, read_user_questions
    from fathom.running.file_hashes import hash_once
    from fathom.running.resume import make_key

    settings = read_settings(arguments.settings, QuestionSettings)
    users = [row for path in arguments.users for row in read_user_questions(path)]
    pairs = [
        row for name, path in arguments.pairs for row in make_open_from_pairs(read_table(path, PAIRS), name)
    ]
    inputs = [arguments.statements, arguments.entities, arguments.chunks, arguments.embeddings]
    inputs += [*arguments.templates, *arguments.users, *(Path(path) for _, path in arguments.pairs)]
    key = make_key(__file__, settings, [hash_once(path) for path in inputs])
    material = Material(
        read_table(arguments.chunks, CHUNKS, ["iri"])["iri"].to_list(),
        load_embeddings(arguments.embeddings)[:],
        read_table(arguments.entities, ENTITIES),
        OntologyGraph(arguments.statements),
        read_templates(arguments.templates),
        users,
        pairs,
    )
    encoder = SentenceEncoder(settings.embedding)
    rounds = RoundFolder(arguments.rounds, key)
    found = ask_questions(material, encoder.encode, settings, rounds, arguments.threads)
    write_table(arguments.output, found.table, QUESTIONS)
    with write_atomically(arguments.vectors) as temporary, temporary.open("wb") as stream:
        np.save(stream, found.vectors, allow_pickle=False)
    write_json(arguments.report, found.report | {"embedding": settings.embedding.model})
    log.info("%s questions; %s", f"{len(found.table):,}", found.report["end"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=Path, required=True, help="statements (N-Triples)")
    parser.add_argument("--entities", type=Path, required=True, help="table of entities")
    parser.add_argument("--chunks", type=Path, required=True, help="table of texts")
    parser.add_argument("--embeddings", type=Path, required=True, help="their embeddings, .npy")
    parser.add_argument("--templates", type=Path, nargs="+", required=True, help="files of templates, YAML")
    parser.add_argument("--users", type=Path, nargs="*", default=[], help="questions that people asked")
    add_tables(parser, "--pairs", ("BENCHMARK",), "table of pairs that may join as open questions")
    parser.add_argument("--rounds", type=Path, required=True, help="folder for the state of each round")
    add_settings(parser, QuestionSettings)
    parser.add_argument("--threads", type=int, default=1, help="changes no result")
    parser.add_argument("--output", type=Path, required=True, help="table of questions")
    parser.add_argument("--vectors", type=Path, required=True, help="embeddings of questions, .npy, to write")
    parser.add_argument("--report", type=Path, required=True, help="numbers as JSON")
    run_program(parser, main)
