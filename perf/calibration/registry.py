"""Every case, and every column with an interval, a test or a verdict that has none, with the reason."""

import re

from perf.calibration import (
    of_answers,
    of_changes,
    of_items,
    of_rankings,
    of_rivals,
    of_statistics,
    of_studies,
    of_texts,
    of_watching,
)
from perf.calibration.case import Case

from fathom.io.contracts import answering, figures, jobs, list_contracts, ranking, statistics
from fathom.io.contracts.column import Contract

CASES: tuple[Case, ...] = (
    *of_statistics.CASES,
    *of_rivals.CASES,
    *of_studies.CASES,
    *of_watching.CASES,
    *of_changes.CASES,
    *of_answers.CASES,
    *of_rankings.CASES,
    *of_items.CASES,
    *of_texts.CASES,
)

_DRAWN = "numbers of another table, drawn"
_ERRORS = "compute_standard_error, as in paired.parquet"
_SAME = "mean tau and its change by summarize_benchmarks, as in agreement.csv"
_COMPARED = "resample_scores and compare_models, as in comparisons.csv"
_TESTED = ("ci_low", "p", "apart")
EXEMPT: dict[tuple[Contract, str], str] = {
    (answering.CHOICE_RANKINGS, "ci_low"): "correlate_series over models, as in correlations.csv",
    **dict.fromkeys([(ranking.PREPARATION, f"{name}_low") for name in ("ci", "change", "missing")], _SAME),
    **dict.fromkeys([(jobs.TUNING, f"{name}_error") for name in ("direct", "tuned", "chosen")], _ERRORS),
    (figures.STAGES_FIGURE, "ci_low"): _DRAWN,
    (figures.MODEL_RANKS, "{benchmark}_low"): _DRAWN,
    (figures.KNOWLEDGE, "ci_low"): _DRAWN,
    **dict.fromkeys([(figures.FLUENCY, f"{name}_low") for name in ("bits", "bytes")], _DRAWN),
    (figures.MODEL_RANKS, "{benchmarks}_p"): "Pearson's p over models, as in correlations.csv",
    **dict.fromkeys([(figures.METRIC_AGREEMENT, name) for name in ("ci_low", "r_low", "p")], _DRAWN),
    (figures.MODEL_SIZES, "ci_low"): _DRAWN,
    (figures.DATES_FIGURE, "low"): _DRAWN,
    **dict.fromkeys([(figures.CHAT_MODELS, name) for name in ("ci_low", "p", "apart")], _DRAWN),
    (figures.LAYER_CURVES, "low"): _DRAWN,
    **dict.fromkeys([(statistics.RUN_CHANGES, name) for name in _TESTED], _COMPARED),
}
"""Why a column has no simulation of its own."""

_JUDGED = re.compile(r".*_low|low|.*_p|p|apart|groups|verdict|found|significant|.*error|t")


def list_judged() -> list[tuple[Contract, str]]:
    """Return every column of a contract that says how sure something is; of an interval the lower end."""
    return [
        (contract, column.name)
        for _, contract in list_contracts()
        for column in contract
        if _JUDGED.fullmatch(column.name)
    ]
