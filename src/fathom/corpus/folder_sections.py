"""Sections of files to documents: what repeats over a corpus is no title and no prose."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from fathom.corpus.documents.sections import FileContent, Section

_FEWEST_PLACES, _PLACES_SHARE = 10, 0.0025
"""A heading over so many different things, and such a share of all sections, says nothing about any."""
_FEWEST_FILES, _FILES_SHARE = 10, 0.3
"""A paragraph in so many files, and such a share of all, is boilerplate."""
_MOST_BOILERPLATE = 0.5
"""If more of all words would be boilerplate, the files are versions of one document, and nothing is."""
_SHORTEST = 80
"""Sections of fewer characters belong to the section above them."""


@dataclass
class Repeats:
    """What repeats over the files of a part.

    Attributes
    ----------
    headings : set of str
        In lower case: those that stand over many different things, such as `description` or `notes`.
    paragraphs : set of str
        Those in a large share of all files, such as a licence.
    """

    headings: set[str] = field(default_factory=set)
    paragraphs: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Passage:
    """A document: what stands below one heading and below those under it that are no titles."""

    anchor: str
    title: str
    text: str


def find_repeats(contents: Mapping[str, FileContent]) -> Repeats:
    """Find the headings and paragraphs that repeat over files; `contents` are files by name."""
    places: dict[str, set[tuple[str, ...]]] = {}
    sections = 0
    files_of: Counter[str] = Counter()
    words_of: Counter[str] = Counter()
    for name, content in contents.items():
        inside: set[str] = set()
        for section in content.sections:
            sections += 1
            if section.headings:
                # versions of a page have the same titles: they are one place
                above = (content.title, *section.headings[:-1])
                places.setdefault(section.headings[-1].lower(), set()).add(above)
            for paragraph in section.text.split("\n\n"):
                inside.add(paragraph)
                words_of[paragraph] += paragraph.count(" ") + 1
        if content.title:
            places.setdefault(content.title.lower(), set()).add((name,))
        files_of.update(inside)
    needed = max(_FEWEST_PLACES, _PLACES_SHARE * sections)
    headings = {heading for heading, above in places.items() if len(above) >= needed}
    limit = max(_FEWEST_FILES, _FILES_SHARE * len(contents))
    paragraphs = {each for each, count in files_of.items() if count >= limit}
    repeated = sum(words_of[each] for each in paragraphs)
    if repeated > _MOST_BOILERPLATE * words_of.total():
        paragraphs = set()
    return Repeats(headings, paragraphs)


def join_sections(content: FileContent, repeats: Repeats, left_out: Counter[str]) -> list[Passage]:
    """Return the documents of a file, in its order.

    A section whose heading is no title belongs to the nearest one above that has one, and so does a section
    of under 80 characters. `left_out` counts paragraphs of `boilerplate`.
    """
    grouped: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for section in content.sections:
        paragraphs = section.text.split("\n\n")
        kept = [each for each in paragraphs if each not in repeats.paragraphs]
        left_out["boilerplate"] += len(paragraphs) - len(kept)
        if kept:
            key = _find_titles(section, repeats)
            text = "\n\n".join(kept)
            if key and len(text) < _SHORTEST:
                key = key[:-1]
            grouped.setdefault(key, []).append((section.anchor, text))
    title = "" if content.title.lower() in repeats.headings else content.title
    return [
        Passage(pieces[0][0], key[-1] if key else title, "\n\n".join(text for _, text in pieces))
        for key, pieces in grouped.items()
    ]


def _find_titles(section: Section, repeats: Repeats) -> tuple[str, ...]:
    return tuple(each for each in section.headings if each.lower() not in repeats.headings)
