"""Score several models until their comparisons are settled: ranks and probabilities, and the looks at them.

Scores each model on the first pairs of each benchmark, compares all models, and goes on with those that have
a comparison that is not settled. Writes the scores of each model on each benchmark with a report beside them,
and what was found at each look. One model is in memory at a time. What is finished is kept in a folder: a job
that was interrupted does not make it again.
"""

import argparse
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fathom.config.scoring import Scoring, Settled, Summary
from fathom.config.section import Section
from fathom.io.contracts.scoring import SETTLED_COLUMNS
from fathom.io.files import write_delimited
from fathom.jobs.program import add_settings, add_tables, read_settings, run_program
from fathom.models.loading import read_pointer
from fathom.models.open_model import OpenModel, add_gpus, add_torch_threads
from fathom.scoring.settled_scoring import SettledScoring


class Settings(Section):
    """Settings of this program."""

    scoring: Scoring = Scoring()
    settled: Settled = Settled()
    summary: Summary = Summary()


def main(arguments: argparse.Namespace) -> None:
    """Score in rounds; write all scores and the looks."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    settings = read_settings(arguments.settings, Settings)
    models: dict[str, Callable[[], OpenModel]] = {
        name: partial(
            OpenModel, read_pointer(Path(path)), settings.scoring, arguments.threads, arguments.gpus
        )
        for name, path in arguments.model
    }
    groups: dict[str, list[tuple[str, str, Path]]] = {}
    for name, domain, variant, path in arguments.pairs:
        groups.setdefault(name, []).append((domain, variant, Path(path)))
    scoring = SettledScoring(
        models, groups, settings.settled, settings.summary, arguments.work, arguments.overlap
    )
    scoring.run()
    benchmarks = {(each.domain, each.variant): each for group in scoring.groups.values() for each in group}
    for domain, variant, model, output in arguments.scores:
        scoring.write(model, benchmarks[domain, variant], Path(output))
    write_delimited(arguments.looks, SETTLED_COLUMNS, scoring.rows, delimiter=",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_tables(
        parser, "--model", ("NAME",), "a model: its name, and its pointer (JSON) or folder", required=True
    )
    add_tables(
        parser,
        "--pairs",
        ("NAME", "DOMAIN", "VARIANT"),
        "pairs of one benchmark; those of one NAME are read together",
        required=True,
    )
    names = ("DOMAIN", "VARIANT", "MODEL")
    add_tables(parser, "--overlap", names[:2], "pairs of one benchmark that stand in training text")
    add_tables(
        parser, "--scores", names, "scores of one model on one benchmark, to be written", required=True
    )
    parser.add_argument("--looks", type=Path, required=True, help="what each look found (CSV)")
    parser.add_argument(
        "--work", type=Path, required=True, help="folder for what lies on disk between rounds"
    )
    add_torch_threads(parser)
    add_gpus(parser)
    add_settings(parser, Settings)
    run_program(parser, main)
