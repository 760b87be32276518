"""Every case, and every column with an interval, a test or a verdict that has none, with the reason."""

import re

from perf.calibration import of_statistics
from perf.calibration.case import Case

from fathom.io.contracts import figures, list_contracts
from fathom.io.contracts.column import Contract

CASES: tuple[Case, ...] = (*of_statistics.CASES,)

COPIED = "the numbers of another table, drawn"
EXEMPT: dict[tuple[Contract, str], str] = {
    (figures.CHAT_MODELS, "ci_low"): COPIED,
}

_JUDGED = re.compile(r".*_low|low|.*_p|p|apart|groups|verdict|found|significant|.*error|t")


def list_judged() -> list[tuple[Contract, str]]:
    """Return every column of a contract that says how sure something is; of an interval the lower end."""
    return [
        (contract, column.name)
        for _, contract in list_contracts()
        for column in contract
        if _JUDGED.fullmatch(column.name)
    ]
