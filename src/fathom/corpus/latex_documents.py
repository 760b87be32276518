r"""LaTeX documents to headings and paragraphs of plain text.

What stands inside a sentence and is no text leaves one mark, `<ref>`: a formula that is set apart, a
reference, a citation that is read as a word, a macro whose definition is not there. Prompts with the mark can
be left out (`pairs.gap_in_prompt`).
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from fathom.corpus.characters import GAP
from fathom.corpus.documents.sections import is_no_prose
from fathom.corpus.latex_macros import BLOCK, Ends, Source, drop_code, drop_false_branches, expand_macros
from fathom.corpus.latex_names import DISPLAYS, ENVIRONMENT_ARGUMENTS, FLOATS, HEADINGS, LEFT_OUT
from fathom.corpus.latex_paragraphs import convert_paragraph

GAPS, _REFERENCES = "gaps", "references"
"""What marks, and paragraphs below headings such as References, are counted as."""
_DEEPEST = 3
_WHOLE = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}|\\endinput(?![A-Za-z])")
_TITLE = re.compile(r"\\title\*?(?![A-Za-z])")
_STRUCTURE = re.compile(
    r"\\(?P<escaped>[\\%{}$&#_])"
    r"|\\begin\s{0,9}\{(?P<begin>[^{}\n]{1,60})\}|(?P<end>\\end\s{0,9}\{[^{}\n]{1,60}\})"
    r"|(?P<display>\\\[|\$\$)"
    rf"|\\(?P<heading>{'|'.join(HEADINGS)})\*?(?![A-Za-z])"
    r"|\\(?P<aside>footnote|footnotetext|sidenote|marginnote|endnote|caption|captionof|subcaption)"
    r"\*?(?![A-Za-z])"
    r"|(?P<short>\\b(?P<kind>e[aq]?[nqas]{0,3})(?![A-Za-z]))"
    r"|(?P<item>\\item(?![A-Za-z]))"
    rf"|(?P<break>\\par(?![A-Za-z])|\n[^\S\n]*\n\s*)|(?P<block>{BLOCK})"
)
_CAPTION = re.compile(r"\\caption(?P<of>of)?\*?(?![A-Za-z])")
_MATH_END = re.compile(r"(?:\\(?:label|tag)\s*\{[^{}]*\}|\\(?:nonumber|notag|qquad|quad|[,;!\\ ])|[\s}&~])*$")
_LABEL = re.compile(r"\s*\\label\s*\{[^{}]*\}")
_UNARXIVE = re.compile(r"\{\{cite:|\bFORMULA\b|\\cite\{[0-9a-f]{12}\}")
_UNARXIVE_MARK = re.compile(r"\b(?:FORMULA|REF)\b")
"""Marks of unarXive for what it left out."""
_INTERRUPT = frozenset(
    [
        "tabular",
        "tabularx",
        "tabulary",
        "tabu",
        "tblr",
        "NiceTabular",
        "tikzpicture",
        "pgfpicture",
        "picture",
        "pspicture",
        "tabbing",
    ]
)
"""What is left out and stands in the line, where floats stand elsewhere."""


class Heading(NamedTuple):
    """A heading; levels count from 1, the outermost."""

    level: int
    title: str


def read_title(source: str) -> str:
    r"""Return what `\title` of a source says, as LaTeX; empty without one."""
    found = _TITLE.search(source)
    if found is None:
        return ""
    groups, _ = Source.of(source[found.start() : found.start() + 5000]).take_groups(len(found.group()), 1)
    return groups[0] if groups else ""


def read_pieces(text: str, counts: Counter[str], comments: bool | None = None) -> Iterator[Heading | str]:
    r"""Yield the headings and paragraphs of a source as plain text; footnotes and captions are paragraphs.

    Parameters
    ----------
    comments : bool, optional
        Whether a `%` begins a comment; by default if this is a whole source, with `\documentclass`.
    """
    text = text.replace(BLOCK, "").replace("\r\n", "\n").replace("\r", "\n")
    if comments is None:
        comments = "\\documentclass" in text or "\\documentstyle" in text
    text = expand_macros(drop_false_branches(drop_code(text, comments)))
    if _UNARXIVE.search(text):
        text = _UNARXIVE_MARK.sub(GAP, text)
    begin, end = _WHOLE.search(text), _END.search(text)
    text = text[begin.end() if begin else 0 : end.start() if end else len(text)]
    for piece in _Structure(text).read():
        if isinstance(piece, Heading):
            title = " ".join(convert_paragraph(piece.title, counts))
            yield Heading(piece.level, title)
        else:
            for plain in convert_paragraph(piece, counts):
                if GAP in plain:
                    counts[GAPS] += plain.count(GAP)
                yield plain


def latex_to_prose(text: str, counts: Counter[str]) -> str:
    """Return a document's headings and paragraphs, each on one line, with blank lines between.

    Below headings such as `References` nothing is prose; see :func:`read_pieces` for what is counted.
    """
    kept: list[str] = []
    outer = 0
    for piece in read_pieces(text, counts):
        if isinstance(piece, Heading):
            if outer and piece.level > outer:
                continue
            outer = piece.level if is_no_prose(piece.title) else 0
            kept += [piece.title] if piece.title and not outer else []
        elif outer:
            counts[_REFERENCES] += 1
        else:
            kept.append(piece)
    return "\n\n".join(kept)


class _Structure:
    """Cuts a source into headings and paragraphs, both still LaTeX."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self._source, self._ends, self._depth = Source.of(text), Ends(text), depth
        self._paragraph: list[str] = []
        self._asides: list[str] = []
        self._out: list[Heading | str] = []

    def read(self) -> list[Heading | str]:
        """Return the pieces."""
        text, place = self._source.text, 0
        for match in _STRUCTURE.finditer(text):
            if match.start() < place or match["escaped"]:
                continue
            self._paragraph.append(text[place : match.start()])
            place = self._take(match)
        self._paragraph.append(text[place:])
        self._flush()
        return self._out

    def _take(self, match: re.Match[str]) -> int:
        """Take one sign of structure; return where the text goes on."""
        kind, place = match.lastgroup, match.end()
        if match["begin"]:
            return self._take_environment(match["begin"].strip(), match)
        if match["heading"]:
            return self._take_heading(match["heading"], place)
        if match["aside"]:
            groups, end = self._source.take_groups(place, 2 if match["aside"] == "captionof" else 1)
            self._asides += groups[-1:]
            return end if groups else place
        if match["display"] or match["short"]:
            return self._take_display(match)
        if kind == "block":
            self._interrupt("", place)
            return place
        self._flush()
        return self._source.skip_options(place) if kind == "item" else place

    def _take_heading(self, name: str, place: int) -> int:
        groups, end = self._source.take_groups(place, 1)
        if not groups:
            return place
        self._flush()
        self._out.append(Heading(HEADINGS[name], groups[0]))
        label = _LABEL.match(self._source.text, end)
        return label.end() if label else end

    def _take_environment(self, name: str, match: re.Match[str]) -> int:
        bare = name.rstrip("*")
        left_out = bare in FLOATS or bare in LEFT_OUT
        end = self._ends.find(name, match.end()) if left_out or bare in DISPLAYS else None
        if end is not None:
            inside = self._source.text[match.end() : end[0]]
            if bare in DISPLAYS:
                self._interrupt(_read_end_mark(inside), end[1], formula=True)
            else:
                self._take_captions(inside)
                if bare in _INTERRUPT:
                    self._interrupt("", end[1])
            return end[1]
        self._flush()
        place = self._source.skip_options(match.end())
        return self._source.take_groups(place, ENVIRONMENT_ARGUMENTS.get(bare, 0))[1]

    def _take_captions(self, inside: str) -> None:
        if "\\caption" not in inside:
            return
        source = Source.of(inside)
        for match in _CAPTION.finditer(inside):
            groups, _ = source.take_groups(match.end(), 2 if match["of"] else 1)
            self._asides += groups[-1:]

    def _take_display(self, match: re.Match[str]) -> int:
        r"""Take a formula between `\[` and `\]`, two dollar signs, or a usual short form of an equation."""
        text, start = self._source.text, match.end()
        close = {"\\[": "\\]", "$$": "$$"}.get(match.group(), f"\\e{match['kind']}")
        end = text.find(close, start, start + 10_000)
        if end < 0 or (match["short"] and text[end + len(close) : end + len(close) + 1].isalpha()):
            self._paragraph.append("" if match["display"] else match.group())
            return start
        place = end + len(close)
        self._interrupt(_read_end_mark(text[start:end]), place, formula=True)
        return place

    def _interrupt(self, mark: str, place: int, formula: bool = False) -> None:
        """Leave a gap where the sentence goes on after what is left out, else end the paragraph."""
        rest = self._source.text[place : place + 300].lstrip(" \t")
        following = rest[1:].lstrip(" \t") if rest[:1] == "\n" else rest
        goes_on = following[:1].islower() or following[:1] in {",", ";", ".", "$", "("}
        if goes_on and mark == ".":
            mark = ""
        if formula or goes_on:
            self._paragraph.append(f" {GAP}{mark} ")
        if not goes_on and not (formula and mark):
            self._flush()

    def _flush(self) -> None:
        """End the paragraph; what stood beside it follows."""
        paragraph = "".join(self._paragraph).strip()
        asides, self._asides, self._paragraph = self._asides, [], []
        if paragraph:
            self._out.append(paragraph)
        for aside in asides:
            inner = _Structure(aside, self._depth + 1).read() if self._depth < _DEEPEST else [aside]
            self._out += [piece.title if isinstance(piece, Heading) else piece for piece in inner]


def _read_end_mark(formula: str) -> str:
    """Return the punctuation at the end of a formula, which is the sentence's."""
    bare = formula[-500:]
    end = _MATH_END.search(bare)
    last = bare[: end.start()][-1:] if end else ""
    return last if last in {".", ",", ";", ":"} else ""
