"""Group documents that share sentences or are near-duplicates, find copies, choose a split for each group."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import Grouping, Splits
from fathom.config.section import Section
from fathom.errors import InputError
from fathom.io.files import write_json
from fathom.jobs.signature import run


class Settings(Section):
    """Settings of this program."""

    splits: Splits = Splits()
    grouping: Grouping = Grouping()
    drops_copies: bool = False


def main(
    *,
    documents: Annotated[list[Path], "tables of documents"],
    sketches: Annotated[list[Path], "their hashes, in the same order"],
    splits: Annotated[Path, "splits of grouped documents to write"],
    report: Annotated[Path, "counts to write (JSON)"],
    settings: Settings,
) -> None:
    """Read ids and hashes of all parts, write the splits of grouped documents and a report."""
    from fathom.corpus.groups import Grouped, group_documents, report_groups

    if len(documents) != len(sketches):
        raise InputError("as many tables of hashes as of documents are needed", "--sketches")
    chosen = Grouped(settings.grouping, settings.splits, settings.drops_copies)
    counts = group_documents(documents, sketches, chosen, splits)
    write_json(report, counts)
    report_groups(counts)


if __name__ == "__main__":
    run(main)
