"""Which domains and which split a document belongs to."""

from collections.abc import Sequence
from datetime import date
from itertools import accumulate

from fathom.config.corpus import Domain, Selection, Splits
from fathom.io.files import hash_text

NO_DOMAIN, OUTSIDE_DATES, NO_DATE = "in no domain", "outside the dates", "no date, but since or until is set"
EMPTY, NO_FULL_TEXT = "no title, abstract or text", "no full text"


def matches_category(pattern: str, category: str) -> bool:
    """Say whether a category matches a pattern: `cs.AI` itself, `cs.*` for `cs` and `cs.AI`, `*` for all."""
    if pattern == "*":
        return True
    if pattern.endswith(".*"):
        return category == pattern[:-2] or category.startswith(pattern[:-1])
    return category == pattern


class DomainSelector:
    """Assigns documents to the configured domains."""

    def __init__(self, selection: Selection) -> None:
        self._corpus, self._domains = selection.corpus, sorted(selection.domains.items())
        limits = [each.since or each.until for each in selection.domains.values()]
        self._undated = not any([*limits, self._corpus.since, self._corpus.until])
        self._known: dict[tuple[str, ...], list[tuple[str, Domain]]] = {}
        self._names: dict[tuple[str, ...], list[str]] = {}

    def select(self, categories: Sequence[str], day: str) -> tuple[list[str], str]:
        """Return the sorted names of a document's domains, and if it has none, the reason.

        With `primary_only` only the document's first category counts. A document without a date belongs to no
        domain with `since` or `until`.
        """
        key = self._look_up(categories)
        by_category = self._known[key]
        if not by_category:
            return [], NO_DOMAIN
        if self._undated:
            return self._names[key], ""
        corpus = self._corpus
        found = [
            name
            for name, domain in by_category
            if _is_within(day, corpus.since, corpus.until) and _is_within(day, domain.since, domain.until)
        ]
        if found:
            return found, ""
        return [], OUTSIDE_DATES if day else NO_DATE

    def takes(self, categories: Sequence[str]) -> bool:
        """Say whether documents of these categories belong to any domain, dates aside."""
        return bool(self._known[self._look_up(categories)])

    def _look_up(self, categories: Sequence[str]) -> tuple[str, ...]:
        """Return the categories that count; their domains are then known."""
        key = tuple(categories[:1] if self._corpus.primary_only else categories)
        if key not in self._known:  # there are few combinations of categories
            self._known[key] = [(name, domain) for name, domain in self._domains if _takes(domain, key)]
            self._names[key] = [name for name, _ in self._known[key]]
        return key


def _takes(domain: Domain, categories: Sequence[str]) -> bool:
    if any(matches_category(pattern, each) for pattern in domain.exclude for each in categories):
        return False
    return "*" in domain.categories or any(
        matches_category(pattern, each) for pattern in domain.categories for each in categories
    )


def _is_within(day: str, since: date | None, until: date | None) -> bool:
    """Say whether a day lies in a period; an unknown day lies only in an unlimited one."""
    if since is None and until is None:
        return True
    if not day:
        return False
    # days in the form YYYY-MM-DD sort as strings
    return (since is None or day >= since.isoformat()) and (until is None or day <= until.isoformat())


class SplitChooser:
    """Assigns a document, or the first of a group, to a split by a hash of its id."""

    def __init__(self, splits: Splits) -> None:
        shares = splits.model_dump(by_alias=True)
        totals = zip(shares, accumulate(shares.values()), strict=True)
        self._limits = [(total, name) for name, total in totals if shares[name] > 0]
        self._last = self._limits[-1][1]

    def choose(self, doc_id: str) -> str:
        """Return `benchmark`, `adapt-train`, `adapt-valid` or `adapt-test`."""
        place = int(hash_text("fold", doc_id)[:12], 16) / 16**12
        return next((name for limit, name in self._limits if place < limit), self._last)
