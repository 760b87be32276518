"""Sections of prose below their headings, into which every format is read.

Text below headings such as References, Contents, Index and Revision history is not prose.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fathom.corpus.characters import CODE_MARK, GAP
from fathom.corpus.headings import clean_heading, find_matter
from fathom.corpus.left_out import CHANGES, CONTENTS, ENTRIES, FURNITURE, NO_WORDS, REFERENCES

_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST_WORDS = 3
_NAME = re.compile(r"[!-~]+")
"""A paragraph without spaces is a name, a path or an address; other scripts use no spaces."""
_NOTICE = re.compile(
    r"(?:©|\(c\)|copyright (?:©|\(c\)|\d{4})|created using sphinx\b).{0,200}|"
    r"(?:inheritance|collaboration|include dependency) (?:diagram|graph) for .{1,200}:|"
    r"here is the call(?:er)? graph for this function:|definition at line \d+ of file \S+|"
    r"(?:referenced by|references) [\w:~()]+(?:(?:, and |, | and )[\w:~()]+)*\.?|"
    r"key ?words(?: and phrases)?\s?[:.–—].{0,400}",
    re.IGNORECASE,
)
_FIELDS = re.compile(
    r"[^|:.]{1,40}: \S+(?<![.!?:])|[^|:.]{1,40}: [^|:]{1,40}(?:\| ?[^|:.]{1,40}: [^|:]{1,40})+"
)
"""Not a sentence: `Release: 1.3 | Date: May 2021`."""
_ISSUE = r"(?:(?:PR|[Ii]ssue|[Bb]ug|[Pp]ull request|[Cc]loses|[Ff]ixes|GH|gh) ?)?#\d+"
_CHANGE = re.compile(
    rf"(?:\[[0-9a-f]{{7,40}}\]\W|{_ISSUE}: ).{{0,400}}|"
    rf"(?!.*[.!?] [A-Z]).{{1,400}} (?:\({_ISSUE}(?:(?:,|,? and) {_ISSUE})*\)|#\d+ \([A-Z@][^()]{{2,60}}\))\.?"
)
"""An entry of a list of changes: `[06e8120928] - tools: remove an escape`, `Fix a number (PR #1249)`."""
_DEFINITION = re.compile(r"[a-z][\w.]* [-–—] [^-–—]*")
"""An entry of a list: `xml - interfaces for other programs`."""
_TYPED = re.compile(
    rf"^(?:{CODE_MARK}?[\w.]+{CODE_MARK}?:? )?"
    r"(?:<[\w.\[\]]+>(?: \| <[\w.\[\]]+>)*|\{[\w.\[\]<>|]{2,80}\})[:.]? (?=[A-Z])"
)
"""A name with its types before its meaning: `pattern <string> The glob to check`, or `{string}`."""
_MORE = re.compile(r"(?<=[.!?…]) (?:Read|Learn|Show|View) more\W{0,3}$")
_SENTENCE = re.compile(r"(?=(?:\S+\s+){7}).*[.!?…]['\"”’»)\]]*", re.DOTALL)
_MOST = 0.5
_ENTRY = re.compile(
    r"\((?:1[89]|20)\d\d[a-z]?\)|\b(?:pp?|vol|no|eds?)\.\s?\d|\bdoi\b|\bISBN\b|\bet al\.|\bRetrieved\b|https?://|"
    r"^\W*[A-Z]\w+,? [A-Z]\.|\b(?:1[89]|20)\d\d[a-z]?[.,;:]"
)
"""Marks of an entry of a list of references."""
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Section:
    """The prose below one heading.

    Attributes
    ----------
    anchor : str
        Distinguishes it from other sections of its file: an anchor of the file, or a number.
    headings : tuple of str
        The headings above it, the outermost first, its own last; empty before the first heading.
    text : str
        Paragraphs, each on one line, with a blank line between them.
    """

    anchor: str
    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class FileContent:
    """A file that was read.

    Attributes
    ----------
    pages : int
        Pages of a PDF; 0 for other formats.
    left_out : Counter
        Paragraphs that are not prose, by reason.
    gaps : int
        Marks in the text where a formula, a picture or a reference was left out of a sentence.
    characters : int
        Characters of the file that may be prose, without spaces; 0 if its reader does not count them.
    """

    title: str
    sections: list[Section]
    pages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    gaps: int = 0
    characters: int = 0

    @classmethod
    def restore(cls, values: dict[str, Any]) -> "FileContent":
        """Return the content of which `orjson` wrote these values."""
        sections = [Section(**each | {"headings": tuple(each["headings"])}) for each in values["sections"]]
        return cls(**values | {"sections": sections, "left_out": Counter(values["left_out"])})

    @property
    def prose_share(self) -> float:
        """Share of the file's characters that became prose; 1 if they were not counted."""
        prose = sum(count_characters(section.text) for section in self.sections)
        return min(prose / self.characters, 1.0) if self.characters else 1.0


class Outline:
    """Collects the headings and paragraphs of a file in order."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self.characters = 0
        self._stack: list[tuple[int, str, str]] = []
        self._anchor = ""
        self._is_list = False
        self._paragraphs: list[str] = []
        self._found: list[_Found] = []

    def add_heading(self, level: int, text: str, anchor: str = "") -> None:
        """Begin a section; level 1 is the outermost."""
        self._close()
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        words = clean_heading(text)
        self._stack.append((level, words, find_matter(words)))
        self._anchor = anchor

    def add_paragraph(self, text: str) -> None:
        """Add a paragraph to the section if it is prose."""
        text = _TYPED.sub("", _MORE.sub("", " ".join(text.split())), count=1)
        if not text:
            return
        bare = text.replace(CODE_MARK, "")
        if _NOTICE.fullmatch(bare) or _FIELDS.fullmatch(bare):
            self.left_out[FURNITURE] += 1
        elif _CHANGE.fullmatch(bare):
            self.left_out[CHANGES] += 1
        elif _DEFINITION.fullmatch(bare):
            self.left_out[ENTRIES] += 1
        elif len(_WORD.findall(text.replace(GAP, " "))) < _FEWEST_WORDS or _NAME.fullmatch(bare):
            # a bold word may be the only heading of a list of references
            self._is_list |= find_matter(text) == REFERENCES
            self.left_out[NO_WORDS] += 1
        elif self._is_list and is_entry(text):
            self.left_out[REFERENCES] += 1
        else:
            self._paragraphs.append(text)

    def end(self, title: str = "", pages: int = 0) -> FileContent:
        """Return the content, without references, tables of contents and revision notes."""
        self._close()
        # headings wrongly nested below such a list at the start are sections of the text
        total = sum(each.size for each in self._found)
        trusted = {
            kind
            for kind in (REFERENCES, CHANGES)
            if sum(each.size for each in self._found if kind in each.matters) <= _MOST * total
        }
        anchors: Counter[str] = Counter()
        sections: list[Section] = []
        for found in self._found:
            paragraphs = found.keep(trusted, self.left_out)
            if paragraphs:
                anchor = found.anchor or str(len(sections) + 1)
                anchors[anchor] += 1
                anchor = f"{anchor}.{anchors[anchor]}" if anchors[anchor] > 1 else anchor
                sections.append(Section(anchor, found.headings, "\n\n".join(paragraphs)))
        gaps = sum(each.text.count(GAP) for each in sections)
        left_out = +self.left_out  # without reasons that left nothing out
        return FileContent(" ".join(title.split()), sections, pages, left_out, gaps, self.characters)

    def _close(self) -> None:
        """End the open section; drop it if it has no text."""
        if self._paragraphs:
            headings = tuple(text for _, text, _ in self._stack if text)
            matters = tuple(matter for _, _, matter in self._stack)
            self._found.append(_Found(self._anchor, headings, matters, self._paragraphs))
        self._paragraphs = []
        self._anchor = ""
        self._is_list = False


@dataclass(frozen=True)
class _Found:
    """A section as found; `matters` says what each heading above it introduces."""

    anchor: str
    headings: tuple[str, ...]
    matters: tuple[str, ...]
    paragraphs: list[str]

    @property
    def size(self) -> int:
        """Number of characters of its paragraphs."""
        return sum(map(len, self.paragraphs))

    def keep(self, trusted: set[str], left_out: Counter[str]) -> list[str]:
        """Return the paragraphs that are prose; count the others."""
        own = self.matters[-1] if self.matters else ""
        above = [each for each in self.matters[:-1] if each in (REFERENCES, CHANGES)]
        kept = self.paragraphs
        if own in (REFERENCES, CHANGES) or any(each in trusted for each in above):
            kept = []
        elif own == CONTENTS:
            kept = [each for each in self.paragraphs if reads_as_sentences(each)]
        elif REFERENCES in above:
            kept = [each for each in self.paragraphs if not is_entry(each)]
        reason = own or next(iter(above), "")
        left_out[reason] += len(self.paragraphs) - len(kept)
        return kept


def reads_as_sentences(text: str) -> bool:
    """Say whether a paragraph has at least eight words and ends like a sentence."""
    return _SENTENCE.fullmatch(text) is not None


def count_characters(text: str) -> int:
    """Return the number of characters of a text without spaces."""
    return len(_BLANKS.sub("", text))


def is_entry(paragraph: str) -> bool:
    """Say whether a paragraph reads like an entry of a list of references."""
    return _ENTRY.search(paragraph) is not None
