"""What is behind a model's answers: a favourite letter, the longest option, or knowledge.

All cyclic orders of the options are looked at together. Each option then stands at each letter once, so that
a letter that is chosen more often than others is chosen for itself. Long options are looked at where they are
wrong, and knowledge where the right option is not the longest.
"""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.answering.prompts import LETTERS
from fathom.answering.variation_effects import Answers
from fathom.io.contracts.answering import EVERY_SET
from fathom.statistics.bootstrap import Estimate
from fathom.statistics.clustered_tests import adjust_holm
from fathom.statistics.summaries import format_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ROUNDING = 1e-9  # a third is not always the same number

VERDICT = "verdict"
"""What all findings of a model come down to, in diagnosis.csv."""

FEWEST = 10
"""Questions that a finding needs at least: fewer say nothing."""

LETTER, LONGEST, KNOWLEDGE, ELSEWHERE = (
    "favourite letter",
    "longest option",
    "knowledge",
    "knowledge elsewhere",
)
"""Findings in diagnosis.csv. `longest option` is its share of wrong answers, on questions where it is wrong;
`knowledge` the share of right answers, `knowledge elsewhere` that on questions whose right option is shorter.
"""


class Finding(NamedTuple):
    """One thing that is looked at.

    Attributes
    ----------
    name, detail : str
        One of the findings above, and such as the letter.
    estimate : Estimate
        Share of the answers.
    chance : float
        Share without it.
    items : int
        Questions that it rests on.
    p, p_adjusted : float
        Two-sided p of the share against chance, alone and corrected for all findings of the model; NaN with
        fewer than FEWEST questions.
    is_found : bool
        Whether the share is above chance by `p_adjusted`.
    """

    name: str
    detail: str
    estimate: Estimate
    chance: float
    items: int
    p: float
    p_adjusted: float = float("nan")
    is_found: bool = False


def diagnose(answers: Answers) -> list[Finding]:
    """Return what is found of one model in one way, all sets together; nothing if asked in one order."""
    import numpy as np

    if not answers.orders:
        return []
    right, chosen, option = (
        np.array([part[name].to_numpy() for part in answers.orders])
        for name in ("is_right", "chosen", "option")
    )
    first = answers.orders[0]
    longest, solution = first["longest"].to_numpy(), first["right"].to_numpy()
    count = max(first["options"].to_list())
    off = ((longest >= 0) & (longest != solution)).astype(np.float64)
    wrong = (~right.astype(bool)) & (option >= 0) & (off > 0)
    known, all_ = right.mean(axis=0), np.ones(right.shape[1])
    fallen = (wrong & (option == longest)).sum(axis=0) * 1.0
    findings = [
        _find_letter(answers, chosen, count),
        _find_share(answers, (LONGEST, "of wrong answers"), fallen, wrong.sum(axis=0) * 1.0, 1 / (count - 1)),
        _find_share(answers, (KNOWLEDGE, "over all orders"), known, all_, 1 / count),
        _find_share(answers, (ELSEWHERE, "right option not the longest"), known * off, off, 1 / count),
    ]
    adjusted = adjust_holm(np.array([each.p for each in findings])).tolist()
    error = 1 - answers.settings.confidence
    return [
        each._replace(p_adjusted=p, is_found=p <= error and each.estimate.value > each.chance)
        for each, p in zip(findings, adjusted, strict=True)
    ]


def _find_letter(answers: Answers, chosen: "NDArray[np.int32]", count: int) -> Finding:
    """Return the letter that is chosen most often; p and interval allow for the choice among letters."""
    import numpy as np

    shares = [(chosen == place).mean(axis=0) for place in range(count)]
    favourite = int(np.argmax([share.mean() for share in shares]))
    confidence = 1 - (1 - answers.settings.confidence) / count
    found = _find_share(
        answers, (LETTER, LETTERS[favourite]), shares[favourite], np.ones(chosen.shape[1]), 1 / count
    )
    estimate = answers.measure(shares[favourite], confidence=confidence)
    return found._replace(estimate=estimate, p=min(1.0, count * found.p))


def _find_share(
    answers: Answers, what: tuple[str, str], values: "Array", weights: "Array", chance: float
) -> Finding:
    """Return the share of answers, values over weights by question, with Student's t against chance."""
    from scipy.stats import t

    items, p = int((weights > 0).sum()), float("nan")
    if items >= FEWEST:
        more = (values - chance * weights)[weights > 0]
        error, mean = float(more.std(ddof=1)) / math.sqrt(items), float(more.mean())
        fixed = 0.0 if abs(mean) > _ROUNDING else 1.0
        p = float(2 * t.sf(abs(mean) / error, items - 1)) if error > _ROUNDING else fixed
    return Finding(*what, answers.measure(values, weights), chance, items, p)


def name_verdict(findings: Sequence[Finding]) -> str:
    """Say in a few words what is found: knowledge only where the length of options does not explain it."""
    found = {each.name: each for each in findings if each.is_found}
    words = [f"favours letter {found[LETTER].detail}"] if LETTER in found else []
    words += ["favours the longest option"] if LONGEST in found else []
    words += ["knows answers"] if {KNOWLEDGE, ELSEWHERE} <= found.keys() else []
    return "; ".join(words) or "like guessing"


def tabulate_diagnosis(answers: Sequence[Answers]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of diagnosis.csv, under CHOICE_DIAGNOSIS: findings, then a verdict."""
    sets = {each.questions for each in answers}
    for each in answers:
        if each.questions != EVERY_SET and EVERY_SET in sets:
            continue
        findings = diagnose(each)
        for finding in findings:
            numbers = map(format_number, (*finding.estimate, finding.chance, finding.p, finding.p_adjusted))
            found = "yes" if finding.is_found else "no"
            yield (each.model, each.way, finding.name, finding.detail, *numbers, found, finding.items)
        if findings:
            yield (
                each.model,
                each.way,
                VERDICT,
                name_verdict(findings),
                *[""] * 7,
                findings[0].items,
            )
