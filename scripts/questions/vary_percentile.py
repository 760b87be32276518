"""Ask questions with several t_d, and say what comes of each [CompComp, Sec. 5.5, Fig. 4]."""

import argparse
from pathlib import Path

from fathom.config.coverage import QuestionSettings
from fathom.io.contracts.questions import PERCENTILES, QUESTION_MAP, QUESTIONS
from fathom.io.delimited import write_rows
from fathom.io.files import write_atomically
from fathom.io.tables import write_table
from fathom.jobs.program import add_settings, add_threads, log, read_settings, run_program
from fathom.questions.material import add_material, read_material


def main(arguments: argparse.Namespace) -> None:
    """Read records, templates and open questions; write a line for each t_d, a map, and all questions."""
    import numpy as np

    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.questions.percentiles import vary_percentile

    settings = read_settings(arguments.settings, QuestionSettings)
    encoder = SentenceEncoder(settings.embedding)
    found = vary_percentile(read_material(arguments), encoder.encode, settings, arguments.threads)
    write_table(arguments.map, found.map, QUESTION_MAP)
    write_table(arguments.questions, found.questions, QUESTIONS)
    with write_atomically(arguments.vectors) as temporary, temporary.open("wb") as stream:
        np.save(stream, found.vectors, allow_pickle=False)
    write_rows(arguments.output, found.rows, PERCENTILES)
    log.info("%s questions with %s values of t_d", f"{len(found.questions):,}", len(found.rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_material(parser)
    add_settings(parser, QuestionSettings)
    add_threads(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of thresholds (CSV)")
    parser.add_argument("--map", type=Path, required=True, help="table of the map")
    parser.add_argument("--questions", type=Path, required=True, help="table of all questions")
    parser.add_argument("--vectors", type=Path, required=True, help="their embeddings, .npy, to write")
    run_program(parser, main)
