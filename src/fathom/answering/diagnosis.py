"""What is behind a model's answers: a favourite letter, the longest option, or knowledge.

All cyclic orders of the options are looked at together. Each option then stands at each letter once, so that
a letter that is chosen more often than others is chosen for itself. Long options are looked at where they are
wrong, and knowledge where the right option is not the longest.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.answering.items import LETTERS
from fathom.answering.variation_effects import Answers
from fathom.io.contracts.answering import EVERY_SET
from fathom.statistics.bootstrap import Estimate
from fathom.statistics.summaries import format_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ROUNDING = 1e-9  # a third is not always the same number

VERDICT = "verdict"
"""What all findings of a model come down to, in diagnosis.csv."""

FEWEST = 10
"""Questions that a finding needs at least: an interval from fewer says nothing."""

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
    """

    name: str
    detail: str
    estimate: Estimate
    chance: float
    items: int

    @property
    def is_found(self) -> bool:
        """Whether the interval lies above chance, on enough questions."""
        return self.items >= FEWEST and self.estimate.low > self.chance + _ROUNDING


def diagnose(answers: Answers) -> list[Finding]:
    """Return what is found of one model in one way; nothing if its questions were asked in one order.

    Parameters
    ----------
    answers : Answers
        Of all sets together.
    """
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
    items = right.shape[1]
    known = answers.measure(right.mean(axis=0))
    off = (longest >= 0) & (longest != solution)
    elsewhere = answers.measure(np.where(off, right.mean(axis=0), 0.0), off.astype(np.float64))
    wrong = (~right.astype(bool)) & (option >= 0) & off
    fallen = answers.measure(
        (wrong & (option == longest)).sum(axis=0).astype(np.float64), wrong.sum(axis=0) * 1.0
    )
    return [
        _find_letter(answers, chosen, count),
        Finding(LONGEST, "of wrong answers", fallen, 1 / (count - 1), int(wrong.any(axis=0).sum())),
        Finding(KNOWLEDGE, "over all orders", known, 1 / count, items),
        Finding(ELSEWHERE, "right option not the longest", elsewhere, 1 / count, int(off.sum())),
    ]


def _find_letter(answers: Answers, chosen: "NDArray[np.int32]", count: int) -> Finding:
    """Return the letter that is chosen most often; its interval allows for the choice among letters."""
    import numpy as np

    shares = [(chosen == place).mean(axis=0) for place in range(count)]
    favourite = int(np.argmax([share.mean() for share in shares]))
    confidence = 1 - (1 - answers.settings.confidence) / count
    estimate = answers.measure(shares[favourite], confidence=confidence)
    return Finding(LETTER, LETTERS[favourite], estimate, 1 / count, chosen.shape[1])


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
            numbers = map(format_number, (*finding.estimate, finding.chance))
            found = "yes" if finding.is_found else "no"
            yield (each.model, each.way, finding.name, finding.detail, *numbers, found, finding.items)
        if findings:
            yield (
                each.model,
                each.way,
                VERDICT,
                name_verdict(findings),
                "",
                "",
                "",
                "",
                "",
                findings[0].items,
            )
