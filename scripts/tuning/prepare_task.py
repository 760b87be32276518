"""Make the examples of one task that models are tuned for and scored on [TrainBeforeTest, Sec. 3.1].

Reads the pairs of a benchmark, the texts of a domain, or a task of lm-evaluation-harness.
"""

from pathlib import Path
from typing import Annotated

import polars as pl

from fathom.config.scoring import Summary
from fathom.config.section import Section
from fathom.config.tuning import Limits, Task
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.ranking import EXAMPLES
from fathom.io.files import hash_text, read_json_lines, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.signature import run
from fathom.statistics.left_out import read_flagged
from fathom.tuning.examples import limit_examples, make_completions, make_questions, make_texts
from fathom.tuning.harness import describe_task, load_task, make_examples

FEWEST = 30
"""Test examples below which a task is warned of."""


class Settings(Section):
    """Settings of this program."""

    task: Task
    limits: Limits = Limits()
    summary: Summary = Summary()


def main(
    *,
    task: Annotated[str, "name of the task"],
    source: Annotated[Path | None, "pairs or texts (parquet); none for a harness task"] = None,
    overlap: Annotated[str, "pairs that occur in training text and are left out (parquet)"] = "",
    examples: Annotated[Path, "examples to write (parquet)"],
    report: Annotated[Path, "counts to write (JSON)"],
    settings: Settings,
) -> None:
    """Make, limit, count and write examples."""
    made, origin = read_examples(settings.task, source)
    kept = leave_out(made, overlap, settings) if overlap else made
    limited, left = limit_examples(kept, settings.limits)
    counts = {split: limited.filter(pl.col("split") == split).height for split in ("train", "valid", "test")}
    log.info("%s: %s", task, ", ".join(f"{count:,} to {split}" for split, count in counts.items()))
    if counts["test"] < FEWEST:
        log.warning(
            "%s: a score on %s test examples says little; a larger benchmark has more", task, counts["test"]
        )
    write_table(examples, limited, EXAMPLES)
    described = {
        "task": task,
        "metric": settings.task.scored_by,
        "origin": origin,
        "validation": "own part" if "valid" in set(made["split"]) else "share of the training part",
        **counts,
        **left,
        "in_training_text": len(made) - len(kept),
    }
    write_json(report, described)


def leave_out(made: pl.DataFrame, overlap: str, settings: Settings) -> pl.DataFrame:
    """Return the examples without the pairs that occur in training text."""
    benchmark = (str(settings.task.domain), settings.task.variant, overlap)
    for flagged in read_flagged([benchmark], settings.summary).values():
        made = made.filter(~pl.col("example_id").is_in(flagged.implode()))
    return made


def read_examples(task: Task, source: Path | None) -> tuple[pl.DataFrame, str]:
    """Return all examples of a task, and a hash of its source if that is not a file."""
    if task.kind == "harness":
        found = load_task(task.task or "")
        return make_examples(found, task.scored_by), describe_task(found)
    if source is None:
        raise InputError(f"a task of kind {task.kind} needs a file", "--source", "pairs or texts (parquet)")
    if task.kind == "text":
        return make_texts(
            read_table(source, TEXTS) if source.suffix == ".parquet" else read_texts(source)
        ), ""
    pairs = read_table(source, PAIRS)
    return (make_completions(pairs) if task.kind == "completion" else make_questions(pairs, task.options)), ""


def read_texts(path: Path) -> pl.DataFrame:
    """Read JSON lines with `text`; the id is a hash of the text, so that duplicates count once."""
    texts = {}
    for number, row in enumerate(read_json_lines(path), start=1):
        if not isinstance(row.get("text"), str):
            raise InputError("no text under text", f"{path}, line {number}", "every line needs it")
        texts[hash_text(row["text"])] = row["text"]
    return pl.DataFrame({"doc_id": list(texts), "split": [""] * len(texts), "text": list(texts.values())})


if __name__ == "__main__":
    run(main)
