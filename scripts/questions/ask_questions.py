"""Ask questions about records, round by round, until no large gap is left [CompComp, Sec. 3.3].

Each round is written beside the results, so that a run that was stopped goes on after the last one.
"""

import argparse
from pathlib import Path

from fathom.config.coverage import QuestionSettings
from fathom.io.contracts.questions import QUESTIONS
from fathom.io.files import write_atomically, write_json
from fathom.io.tables import write_table
from fathom.jobs.program import add_settings, add_threads, log, read_settings, run_program
from fathom.questions.material import add_material, list_files, read_material


def main(arguments: argparse.Namespace) -> None:
    """Read records, templates and open questions; write questions, their embeddings and a report."""
    import numpy as np

    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.jobs.file_hashes import hash_once
    from fathom.jobs.resume import make_key
    from fathom.questions.question_rounds import RoundFolder, ask_questions

    settings = read_settings(arguments.settings, QuestionSettings)
    key = make_key(__file__, settings, [hash_once(path) for path in list_files(arguments)])
    material = read_material(arguments)
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
    add_material(parser)
    parser.add_argument("--rounds", type=Path, required=True, help="folder for the state of each round")
    add_settings(parser, QuestionSettings)
    add_threads(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of questions")
    parser.add_argument("--vectors", type=Path, required=True, help="their embeddings to write (.npy)")
    parser.add_argument("--report", type=Path, required=True, help="numbers to write (JSON)")
    run_program(parser, main)
