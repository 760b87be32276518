"""Write sizes and redundancy of corpora and questions beside those of the paper [CompComp, Sec. 4]."""

from pathlib import Path
from typing import Annotated

from fathom.io import paths
from fathom.io.contracts.coverage import EXPANSION_MAP
from fathom.io.contracts.questions import QUESTIONS, SIZES
from fathom.io.delimited import write_rows
from fathom.io.reports import Expansion, Questions, read_report
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.jobs.signature import Tables, run


def main(
    *,
    expansions: Annotated[Tables, paths.EXPANSION.ending(".json"), "report on an expansion"] = (),
    maps: Annotated[list[Path], "sentences of each expansion on a map (parquet)"] = (),
    reports: Annotated[Tables, paths.QUESTIONS.ending(".json"), "report on a set of questions"] = (),
    questions: Annotated[list[Path], "questions of each set (parquet)"] = (),
    table: Annotated[Path, "table to write (CSV)"],
) -> None:
    """Read reports; write the table."""
    from fathom.questions.corpus_sizes import list_corpus_sizes, list_question_sizes

    rows = [
        row
        for (name, report), places in zip(expansions, maps, strict=True)
        for row in list_corpus_sizes(name, read_report(report, Expansion), read_table(places, EXPANSION_MAP))
    ]
    rows += [
        row
        for (name, report), asked in zip(reports, questions, strict=True)
        for row in list_question_sizes(name, read_report(report, Questions), read_table(asked, QUESTIONS))
    ]
    write_rows(table, rows, SIZES)
    log.info("%s corpora, %s sets of questions", len(expansions), len(questions))


if __name__ == "__main__":
    run(main)
