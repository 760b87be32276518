"""Score several models until their comparisons are settled: ranks and probabilities, and the looks at them.

Scores each model on the first pairs of each benchmark, compares all models, and goes on with those that have
a comparison that is not settled. Writes the scores of each model on each benchmark with a report beside them,
and what was found at each look. One model is in memory at a time. What is finished is kept in a folder: a job
that was interrupted does not make it again.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Scoring, Settled, Summary
from fathom.config.section import Section
from fathom.io import paths
from fathom.io.contracts.statistics import SETTLED
from fathom.io.delimited import write_rows
from fathom.jobs.signature import Gpus, OverlapTables, PairTables, Tables, Threads, run
from fathom.models.loading import read_pointer
from fathom.models.open_model import OpenModel
from fathom.scoring.rank_files import name_reading
from fathom.scoring.settled_scoring import SettledScoring


class Settings(Section):
    """Settings of this program."""

    scoring: Scoring = Scoring()
    settled: Settled = Settled()
    summary: Summary = Summary()


def main(
    *,
    models: Annotated[Tables, paths.POINTER, "models"],
    pairs: PairTables,
    overlap: OverlapTables = (),
    scores: Annotated[Tables, paths.SCORES, "scores of one model on one benchmark, to write"],
    looks: Annotated[Path, "what each look found, to write (CSV)"],
    work: Annotated[Path, "folder for what lies on disk between rounds"],
    threads: Threads = 1,
    gpus: Gpus = 1,
    settings: Settings,
) -> None:
    """Score in rounds; write all scores and the looks."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    opened: dict[str, Callable[[], OpenModel]] = {
        name: partial(OpenModel, read_pointer(Path(path)), settings.scoring, threads, gpus)
        for name, path in models
    }
    groups: dict[str, list[tuple[str, str, Path]]] = {}
    for domain, variant, path in pairs:
        groups.setdefault(name_reading(domain, variant), []).append((domain, variant, Path(path)))
    scoring = SettledScoring(opened, groups, settings.settled, settings.summary, work, overlap)
    scoring.run()
    benchmarks = {(each.domain, each.variant): each for group in scoring.groups.values() for each in group}
    for domain, variant, model, output in scores:
        scoring.write(model, benchmarks[domain, variant], Path(output))
    write_rows(looks, scoring.rows, SETTLED)


if __name__ == "__main__":
    run(main)
