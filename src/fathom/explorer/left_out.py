"""What did not become sentences of a corpus, by reason, with examples."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fathom.explorer.run import Row
from fathom.io.contracts.corpus import SENTENCE_COUNTS

LEFT_OUT = "corpus/left_out"
"""Name of the table on the page."""
_FEWEST_KEPT = 0.9
_EXAMPLES = 3
_MEANINGS = {
    column.name: column.about.removeprefix("left out: ")
    for column in SENTENCE_COUNTS.columns
    if column.about.startswith("left out: ")
}


def describe_left_out(
    splits: Sequence[Mapping[str, Any]], join: Mapping[str, Any], missing: list[str]
) -> dict[str, list[Row]]:
    """Return the table of what was left out; nothing if nothing was.

    Parameters
    ----------
    splits : sequence of mapping
        Reports on the sentences of all slices.
    join : mapping
        Report on the join of the corpus.
    missing : list of str
        Gets a line if more than a tenth of all sentences is left out.
    """
    total: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for report in splits:
        total.update({name: count for name, count in report.items() if isinstance(count, int)})
        for reason, found in report.get("examples", {}).items():
            examples.setdefault(reason, []).extend(found)
    sentences, kept = total["sentences"], total["kept"]
    rows = [
        _describe("sentence", _MEANINGS[name], total[name], sentences, examples.get(name, []))
        for name in _MEANINGS
        if total[name]
    ]
    files = join.get("files", {})
    every = files.get("read", 0) + sum(each["count"] for each in files.get("skipped", {}).values())
    rows += [
        _describe("file", reason, found["count"], every, found["examples"])
        for reason, found in sorted(files.get("skipped", {}).items())
    ]
    if kept < _FEWEST_KEPT * sentences:
        share = 100 - 100 * kept / sentences
        missing.append(f"{share:.0f} % of all sentences of the corpus are left out: table {LEFT_OUT}.")
    return {f"{LEFT_OUT}.csv": rows} if rows else {}


def _describe(kind: str, reason: str, count: int, every: int, examples: Sequence[str]) -> Row:
    """Return a row of the table."""
    return {
        "what": kind,
        "reason": reason,
        "count": str(count),
        "share": f"{count / max(every, 1):.4f}",
        "examples": " · ".join(examples[:_EXAMPLES]),
    }
