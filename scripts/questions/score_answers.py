"""Score the answers of models to questions, with intervals, and compare them in pairs [CompComp, Table 3]."""

from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Summary
from fathom.io import paths
from fathom.io.contracts.questions import (
    ANSWERED,
    QUESTION_DIFFERENCES,
    QUESTION_MAP,
    QUESTION_SCORES,
    QUESTION_THRESHOLDS,
    QUESTIONS,
    RECORD_CORPORA,
)
from fathom.io.delimited import write_rows
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.jobs.signature import Tables, run


def main(
    *,
    questions: Annotated[Tables, paths.QUESTIONS, "questions of a set"],
    answers: Annotated[Tables, paths.QUESTION_ANSWERS, "answers of a model to a set"],
    bases: Annotated[list[list[str]], "models, each with the one that it is compared with"] = (),
    others: Annotated[Tables, paths.PERCENTILE_QUESTIONS, "questions of a set with every t_d"] = (),
    maps: Annotated[list[Path], "these questions on a map (parquet)"] = (),
    corpora: Annotated[list[Path], "records of each set that each t_c keeps (parquet)"] = (),
    scores: Annotated[Path, "scores to write (CSV)"],
    differences: Annotated[Path, "differences to write (CSV)"],
    thresholds: Annotated[Path | None, "scores with each threshold to write (CSV)"] = None,
    settings: Summary,
) -> None:
    """Read questions and answers; write scores, paired differences, and scores with each threshold."""
    from fathom.questions.answer_scores import (
        Varied,
        list_comparisons,
        measure_answers,
        score_answers,
        score_thresholds,
        tabulate_differences,
        tabulate_scores,
    )
    from fathom.questions.asked_items import select_own

    given = {(name, model): read_table(path, ANSWERED) for name, model, path in answers}
    rows, found, varied = [], [], []
    for name, path in questions:
        asked, measured = read_table(path, QUESTIONS), {}
        for model in (model for of, model in given if of == name):
            own = select_own(given[name, model], asked)
            measures = measure_answers(asked, own)
            for prompting in own["prompting"].unique(maintain_order=True):
                measured[model, prompting] = score_answers(measures.filter(prompting=prompting), settings)
        rows += tabulate_scores(name, measured, settings)
        comparisons = list_comparisons(list(measured), dict(bases))
        found += tabulate_differences(name, measured, comparisons, settings)
    for (name, path), *files in zip(others, maps, corpora, strict=True):
        tables = zip((path, *files), (QUESTIONS, QUESTION_MAP, RECORD_CORPORA), strict=True)
        answered = [(model, table) for (of, model), table in given.items() if of == name]
        varied += score_thresholds(
            name, Varied(*(read_table(*table) for table in tables)), answered, settings
        )
    if thresholds is not None:
        write_rows(thresholds, varied, QUESTION_THRESHOLDS)
    write_rows(scores, rows, QUESTION_SCORES)
    write_rows(differences, found, QUESTION_DIFFERENCES)
    apart = sum(row[QUESTION_DIFFERENCES.names.index("apart")] == "yes" for row in found)
    log.info("%s scores; %s of %s differences are significant", len(rows), apart, len(found))


if __name__ == "__main__":
    run(main)
