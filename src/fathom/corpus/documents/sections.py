"""What every format is read into: sections of prose below their headings."""

import re
from collections import Counter
from dataclasses import dataclass, field

_NUMBER = re.compile(
    r"^(?:(?:chapter|section|part|appendix)\s+)?"
    r"(?:\d{1,3}(?:\.\d+)*\.(?=[^\W\d])|(?:\d{1,3}(?:\.\d+)+\.?|\d{1,3}[.:)]|[A-Z](?:\.\d+)+\.?|[A-Z][.:]|[IVX]+\.|"
    r"\d{1,2}(?=\s+[A-Z]))\s+)",
    re.IGNORECASE,
)
_ANCHOR_SIGNS = "¶§#\N{LINK SYMBOL}\N{VARIATION SELECTOR-16} \t\n\xa0"
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST_WORDS = 3
# their paragraphs are lists of other texts or of places in this one
_NO_PROSE = {
    "references", "bibliography", "works cited", "literature cited", "contents", "table of contents", "index",
    "list of figures", "list of tables", "list of examples",
}  # fmt: skip

REFERENCES, LINKS, REPEATED, NO_WORDS = "references", "links", "repeated", "too few words"
"""Why paragraphs are left out."""


@dataclass(frozen=True)
class Section:
    """The prose below one heading.

    Attributes
    ----------
    anchor : str
        What tells it from the other sections of its file: an anchor of the file, or a number.
    headings : tuple of str
        The headings above it, the outermost first, its own last; empty for what precedes the first heading.
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
    title : str
        Title of the whole file, empty if it has none.
    sections : list of Section
        In the file's order; each has text.
    pages : int
        Pages of a PDF; 0 for other formats.
    left_out : Counter
        Paragraphs that are no prose, by reason.
    """

    title: str
    sections: list[Section]
    pages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


class Outline:
    """Gathers headings and paragraphs in a file's order."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self.characters = 0
        self._stack: list[tuple[int, str]] = []
        self._anchor = ""
        self._anchors: Counter[str] = Counter()
        self._paragraphs: list[str] = []
        self._sections: list[Section] = []

    def add_heading(self, level: int, text: str, anchor: str = "") -> None:
        """Begin the section of a heading; levels count from 1, the outermost."""
        self._close()
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        self._stack.append((level, clean_heading(text)))
        self._anchor = anchor

    def add_paragraph(self, text: str) -> None:
        """Add a paragraph to the section, unless it is no prose."""
        text = " ".join(text.split())
        if not text:
            return
        if any(heading.lower() in _NO_PROSE for _, heading in self._stack):
            self.left_out[REFERENCES] += 1
        elif len(_WORD.findall(text)) < _FEWEST_WORDS:
            self.left_out[NO_WORDS] += 1
        else:
            self._paragraphs.append(text)

    def end(self, title: str = "", pages: int = 0) -> FileContent:
        """Return what was gathered."""
        self._close()
        return FileContent(" ".join(title.split()), self._sections, pages, self.left_out)

    def _close(self) -> None:
        """End the section that is open; one without text is dropped."""
        if self._paragraphs:
            anchor = self._anchor or str(len(self._sections) + 1)
            self._anchors[anchor] += 1
            if self._anchors[anchor] > 1:
                anchor = f"{anchor}.{self._anchors[anchor]}"
            headings = tuple(text for _, text in self._stack if text)
            self._sections.append(Section(anchor, headings, "\n\n".join(self._paragraphs)))
        self._paragraphs = []
        self._anchor = ""


def clean_heading(text: str) -> str:
    """Return a heading on one line, without its number and the sign of a link to it."""
    text = " ".join(text.split()).strip(_ANCHOR_SIGNS)
    return _NUMBER.sub("", text, count=1) or text


def is_no_prose(heading: str) -> bool:
    """Say whether what stands below a heading is no prose: references, an index, a table of contents."""
    return clean_heading(heading).lower() in _NO_PROSE
