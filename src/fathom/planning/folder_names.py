"""Sub-folders whose names say no field: numbers, dates, hashes, letters of an index, parts of a manual."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"v?\d[\d_-]*", re.IGNORECASE)
_HASH = re.compile(r"(?=.*\d)(?:[0-9a-f]{6,}|[0-9A-F]{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_HEXADECIMAL = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_COUNTED = re.compile(r"(?P<stem>[^\W\d_][\w-]*?)[-_]?\d+")
_DIGIT = re.compile(r"\d")
_FEWEST_LETTERS, _FEWEST_COUNTED = 3, 2
_PARTS = {
    "api", "apidoc", "apidocs", "changelog", "changelogs", "changes", "example", "examples", "generated",
    "howto", "howtos", "reference", "release", "releases", "tutorial", "tutorials", "whatsnew",
}  # fmt: skip
"""Parts of any software's documentation."""


def drop_nameless(categories: Iterable[Sequence[str]]) -> tuple[list[list[str]], Counter[str]]:
    """Cut categories of files at the first sub-folder with a meaningless name, which counts as its parent.

    Parameters
    ----------
    categories : iterable of sequence of str
        Those of each file, nested ones joined by dots.

    Returns
    -------
    categories : list of list of str
        Those of each file; none if the outermost is meaningless.
    nameless : Counter
        Files by the sub-folder that was cut off.
    """
    known = [[label.split(".") for label in labels] for labels in categories]
    siblings: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for labels in known:
        for parts in labels:
            for level, name in enumerate(parts):
                siblings[tuple(parts[:level])].add(name)
    nameless = {above: find_nameless(names) for above, names in siblings.items()}
    kept: list[list[str]] = []
    dropped: Counter[str] = Counter()
    for labels in known:
        kept.append([])
        for parts in labels:
            ends = (level for level, name in enumerate(parts) if name in nameless[tuple(parts[:level])])
            end = next(ends, len(parts))
            dropped.update([".".join(parts[: end + 1])] if end < len(parts) else [])
            kept[-1] += [".".join(parts[:end])] if end else []
    return kept, dropped


def find_nameless(names: Iterable[str]) -> set[str]:
    """Return the meaningless names among the sub-folders of one folder.

    These are numbers, dates, versions, long hashes and parts of a manual such as `examples`; short hashes
    such as Doxygen's `d6`, single letters and numbered parts such as `page2` only among others of their
    kind, as `3d`, `c` and `http2` have a meaning.
    """
    every = set(names)
    found = {name for name in every if _NUMBER.fullmatch(name) or _HASH.fullmatch(name)}
    found |= {name for name in every if re.sub("[-_ ]|notes$", "", name.lower()) in _PARTS}
    letters = {name for name in every if len(name) == 1 and name.isalpha()}
    if len(letters) >= _FEWEST_LETTERS and 2 * len(letters) > len(every):
        found |= letters
    by_length: defaultdict[int, set[str]] = defaultdict(set)
    for name in every:
        if _HEXADECIMAL.fullmatch(name):
            by_length[len(name)].add(name)
    for alike in by_length.values():
        mixed = sum(_DIGIT.search(name) is not None for name in alike)
        if 2 * len(alike) > len(every) and 2 * mixed >= len(alike) > 1:
            found |= alike
    counted: defaultdict[str, set[str]] = defaultdict(set)
    for name in every:
        if match := _COUNTED.fullmatch(name):
            counted[match["stem"].lower()].add(name)
    return found.union(*(alike for alike in counted.values() if len(alike) >= _FEWEST_COUNTED))
