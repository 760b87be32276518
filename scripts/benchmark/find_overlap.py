"""Find the pairs of a benchmark that occur in training text."""

from pathlib import Path
from typing import Annotated, Literal

from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.files import write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import show_progress
from fathom.jobs.signature import run


def main(
    *,
    pairs: Annotated[Path, "pairs.parquet"],
    texts: Annotated[list[Path], "texts of the domains trained on"],
    splits_by: Annotated[Literal["content", "id"], "what decides a document's split"] = "content",
    overlap: Annotated[Path, "flags of all pairs to write (parquet)"],
    report: Annotated[Path, "counts to write (JSON)"],
) -> None:
    """Read pairs and training texts; write the flags of all pairs and their counts."""
    from fathom.benchmark.overlap import find_overlap, report_overlap
    from fathom.corpus.texts import read_training_texts

    table = read_table(pairs, PAIRS, ["pair_id", "prompt", "target"])
    flags = find_overlap(table, show_progress(read_training_texts(texts), "documents"))
    counts = report_overlap(flags, splits_by)
    write_table(overlap, flags, OVERLAP)
    write_json(report, counts)


if __name__ == "__main__":
    run(main)
