"""PDF: lines to paragraphs, pages to sections by the outline or the size of headings."""

import math
import re
import statistics
from collections import Counter
from dataclasses import replace
from itertools import pairwise

from fathom.corpus.characters import GAP, UNREADABLE_LETTER
from fathom.corpus.documents.pdf_displays import Kind, join_fragments, measure_margins, tell_kinds
from fathom.corpus.documents.pdf_fonts import is_bold
from fathom.corpus.documents.pdf_pages import Bookmark, Line, Pdf
from fathom.corpus.documents.plain import count_words, is_prose, join_lines, key_of_line, reads_as_code
from fathom.corpus.documents.sections import REPEATED, FileContent, Outline, clean_heading
from fathom.errors import InputError

_REPEATS = 3
_UNREADABLE = 0.1
"""Share of unreadable letters from which a paragraph is no text."""
_EDGE = 2
_PAGE_NUMBER = re.compile(
    r"[\s\-–—|]*(?:page\s+)?(?:\d{1,4}|[ivxlc]{1,7}|[A-Z]-?\d{1,3})[\s\-–—|]*", re.IGNORECASE
)
_SHORTEST_HEADING = 12
"""Characters of a line in capitals that is no abbreviation, but a heading."""
_DEFINED = re.compile(r"\[(?:Function|Macro|Variable|Constant|Data type|Command|Option|Context struct)s?\]")
"""What Texinfo sets in the margin of a signature."""
_MOST_LINES = 4
"""Further lines of a signature."""
_LEADER = re.compile(r"(?:\.\s?){4,}\s*\S{0,6}$|(?:\s\.){4,}")
_SOFT_HYPHEN = re.compile(r"(\w+)\xad\s*(\w+)?")
_ENDS = (".", "!", "?", ":", '."', ".”", ".)", ".’")
_SENTENCE_END = re.compile(r"[.!?:][)\]\"'”’]*(?=\s|$)")
_BULLET = re.compile(r"^(?:[•·‣▪◦∗–—*-]|\(?\d{1,2}[.)](?!\d))\s*(?=\S)")
_ELLIPSIS = re.compile(r"(?<=\S)\s?\.(?:\s\.){2}(?!\s?\.)")
_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})+\.?|(?:Chapter|Section|Part|Appendix)\s\w{1,3}[.:]?)\s")
_LONGEST_LABEL = 8
"""Words of a line alone that has no end: more may be a sentence that goes on elsewhere."""
_SHORT = 0.7
"""Share of the width of the text that a line takes that is followed by another of its list."""
_LETTERS = re.compile(r"[^\W_]+")


def read_pdf(data: bytes) -> FileContent:
    """Read a PDF into sections.

    A section begins at each entry of the outline; without an outline at each line that is larger than the
    text; without such lines at each page. Left out are headers, footers, page numbers, typewritten lines
    (code), tables, tables of contents, labels, headings of the text's size, and paragraphs of letters
    without a name; a displayed formula inside a sentence becomes the mark of a gap.

    Parameters
    ----------
    data : bytes
        The whole file.

    Raises
    ------
    InputError
        If it is broken, needs a password, or has no text.
    """
    pdf = Pdf(data)
    pages = [join_fragments(page) for page in pdf.read_pages()]
    if not any(pages):
        raise InputError(
            "this PDF has no text: it is a scan",
            hint="recognise its text first, for example with ocrmypdf",
        )
    outline = Outline()
    pages = _drop_running_lines(pages, outline)
    lines = [line for page in pages for line in page]
    outline.characters += sum(len(word) for line in lines for word in line.text.split())
    if not lines:  # page numbers, headers and footers alone
        return outline.end(pdf.title, len(pdf))
    body = statistics.mode(round(line.size) for line in lines for _ in range(len(line.text) // 10 + 1))
    words = count_words("\n".join(line.text for line in lines))
    bookmarks = pdf.list_bookmarks()
    writer = _Writer(outline, words, _measure_gap(pages), pdf.is_typescript)
    if bookmarks:
        _add_by_outline(pages, bookmarks, writer)
    else:
        _add_by_size(pages, body, writer)
    writer.end_paragraph()
    return outline.end(pdf.title, len(pdf))


class _Writer:
    """Joins lines to paragraphs and gives them to an outline."""

    def __init__(self, outline: Outline, words: Counter[str], gap: float, is_typescript: bool) -> None:
        self._outline, self._words, self._gap = outline, words, gap
        self._is_typescript = is_typescript
        self._margin = math.inf
        self._lines: list[Line] = []
        self._open = 0
        self._formula: Line | None = None

    def add_heading(self, level: int, text: str, anchor: str) -> None:
        """Begin a section."""
        self.end_paragraph()
        self._outline.add_heading(level, text, anchor)

    def add_page(self, lines: list[Line]) -> None:
        """Add lines of one page."""
        margins = measure_margins(lines)
        for line, kind in zip(lines, tell_kinds(lines), strict=True):
            if kind is Kind.FORMULA:
                self._outline.left_out[kind.value] += 1
                self._add_formula(line)
            elif kind is Kind.TABLE:
                self._outline.left_out[kind.value] += 1
                self.end_paragraph()
            else:
                self._add_line(line)
            self._margin = margins[round(line.left)]

    def _add_formula(self, line: Line) -> None:
        """Put the mark of a gap where a formula stands inside a sentence, with the sign that ends it."""
        if not self._lines or self._lines[-1].text.rstrip().endswith((".", "!", "?")):
            self.end_paragraph()
            return
        self._formula = line
        before = self._lines[-1]
        text = before.text.rstrip().rstrip(".,;")
        if not text.endswith(GAP):
            text = f"{before.text.rstrip()} {GAP}"
        mark = line.text.rstrip()[-1:]
        self._lines[-1] = replace(before, text=text + mark if mark in {".", ",", ";"} else text)

    def _add_line(self, line: Line) -> None:
        """Add a line to the paragraph, or begin the next with it."""
        in_signature = self._continues_signature(line.text)
        is_code = (
            in_signature
            or (line.code and not self._is_inside(line))
            or (self._is_typescript and reads_as_code(line.text))
        )
        if is_code or _LEADER.search(line.text):
            self._outline.left_out["code" if is_code else "leaders"] += 1
            self.end_paragraph()
            return
        if self._formula is not None:
            if not self._goes_on_after_formula(line, self._formula):
                self.end_paragraph()
        elif self._lines and (self._is_below_heading(line) or self._begins(line)):
            self.end_paragraph()
        self._formula = None
        self._lines.append(line)

    def _goes_on_after_formula(self, line: Line, formula: Line) -> bool:
        """Say whether a sentence goes on below a displayed formula."""
        before = self._lines[-1].text
        return (
            not before.endswith(".")
            and (line.text[:1].islower() or before.endswith((",", ";", ":")))
            and (0 < formula.bottom - line.bottom < 4 * line.size or formula.bottom < line.bottom)
        )

    def _is_inside(self, line: Line) -> bool:
        """Say whether a typewritten line goes on with a sentence: the line before is full and has no end."""
        if not self._lines or self._formula is not None:
            return False
        before = self._lines[-1]
        right = max(each.right for each in self._lines)
        drop = before.bottom - line.bottom
        return (
            not before.text.rstrip().endswith(_ENDS)
            and abs(line.left - before.left) < 1
            and 0 < drop < 1.2 * max(self._gap, 1.05 * line.size)
            and (line.mixed or before.right > right - 4 * line.size)
        )

    def _continues_signature(self, text: str) -> bool:
        """Say whether a line belongs to a signature, which goes on until its brackets are closed."""
        if _DEFINED.search(text):
            self._open = _MOST_LINES if text.count("(") > text.count(")") else 0
            return True
        inside = self._open > 0
        self._open = 0 if ")" in text else max(self._open - 1, 0)
        return inside

    def _is_below_heading(self, line: Line) -> bool:
        """Say whether all before a line is a heading of the size of the text, bold or in capitals."""
        if not any(map(is_bold, line.fonts)) and not line.text[:1].islower() and self._is_bold():
            return True
        before = " ".join(each.text for each in self._lines)
        return len(before) > _SHORTEST_HEADING and before.isupper() and not line.text.isupper()

    def _begins(self, line: Line) -> bool:
        """Say whether a line begins a paragraph."""
        before = self._lines[-1]
        ended = before.text.rstrip().endswith(_ENDS)
        if _BULLET.match(line.text) and abs(line.bottom - before.bottom) > 1:
            return ended or line.left <= before.left
        if abs(line.size - before.size) > 0.15 * max(before.size, 1):
            # small print inside a line, such as an exponent, is no paragraph
            return abs(line.bottom - before.bottom) > 0.5 * before.size
        if not ended and (line.text[:1].islower() or (line.text[:1].isupper() and self._is_short(before))):
            return not line.text[:1].islower()
        drop = before.bottom - line.bottom
        if drop < -before.size:  # a new column or page
            return ended and (line.text[:1].isupper() or not line.text[:1].isalpha())
        if drop > 1.45 * max(self._gap, 1.05 * line.size):
            return True
        right = max(each.right for each in self._lines)
        indented = line.left > before.left + 0.8 * line.size and drop > 1
        short = before.right < right - 4 * line.size or (ended and before.right < right - 1.5 * line.size)
        return ended and (indented or short)

    def _is_short(self, line: Line) -> bool:
        """Say whether a line ends so far from the right margin that the next word had fitted."""
        return (
            not line.text.rstrip().endswith((",", "-", "\xad", ";"))
            and line.right - line.left < _SHORT * (self._margin - line.left) < math.inf
        )

    def end_paragraph(self) -> None:
        """Give the paragraph to the outline."""
        if self._lines:
            text = join_lines([_BULLET.sub("", line.text) for line in self._lines], self._words)
            text = _ELLIPSIS.sub(" ...", _SOFT_HYPHEN.sub(self._join_word, text))
            reason = self._find_fault(text)
            whole = "" if reason else _keep_whole_sentences(text)
            if whole != text:
                self._outline.left_out[reason or "cut sentences"] += 1
            if whole:
                self._outline.add_paragraph(whole)
        self._lines = []
        self._formula = None

    def _find_fault(self, text: str) -> str:
        """Return why a paragraph is no text; empty if it is."""
        if text.count(UNREADABLE_LETTER) > _UNREADABLE * len(text):
            return "unreadable letters"
        if reads_as_code(text) or (self._is_typescript and not is_prose([each.text for each in self._lines])):
            return "code"
        ended = text.endswith(_ENDS) or GAP in text
        label = len(self._lines) == 1 and not ended and len(text.split()) <= _LONGEST_LABEL
        numbered = _NUMBERED.match(text) and is_bold(self._lines[0].fonts[0]) and len(self._lines) == 1
        if label or numbered or (self._is_bold() and not ended):
            return "labels"
        return ""

    def _is_bold(self) -> bool:
        """Say whether the paragraph is bold."""
        return all(is_bold(font) for line in self._lines for font in line.fonts)

    def _join_word(self, match: re.Match[str]) -> str:
        """Return a word that a line end broke, with a hyphen only if the text has it so elsewhere."""
        first, second = match[1], match[2] or ""
        keep = self._words[f"{first}-{second}".lower()] > self._words[(first + second).lower()]
        return f"{first}-{second}" if keep or not second else first + second


def _keep_whole_sentences(text: str) -> str:
    """Return a paragraph without a last sentence that has no end: it was cut, or is an entry of a list."""
    if text.endswith((*_ENDS, GAP)):
        return text
    return text[: max((match.end() for match in _SENTENCE_END.finditer(text)), default=0)]


def _measure_gap(pages: list[list[Line]]) -> float:
    """Return the usual distance between lines, in points."""
    gaps = [
        before.bottom - line.bottom
        for page in pages
        for before, line in pairwise(page)
        if 0 < before.bottom - line.bottom < 3 * line.size
    ]
    return statistics.median(gaps) if gaps else 0.0


def _drop_running_lines(pages: list[list[Line]], outline: Outline) -> list[list[Line]]:
    """Return the pages without headers, footers and page numbers: what stands at the edge of many pages."""
    edges = []
    for page in pages:
        ordered = sorted(range(len(page)), key=lambda each: page[each].bottom)
        edges.append({*ordered[:_EDGE], *ordered[-_EDGE:]})
    keys = Counter(
        key
        for page, edge in zip(pages, edges, strict=True)
        for key in {key_of_line(page[each].text) for each in edge}
    )
    kept = []
    for page, edge in zip(pages, edges, strict=True):
        running = {
            each
            for each in edge
            if keys[key_of_line(page[each].text)] >= _REPEATS or _PAGE_NUMBER.fullmatch(page[each].text)
        }
        outline.left_out[REPEATED] += len(running)
        kept.append([line for each, line in enumerate(page) if each not in running])
    return kept


def _add_by_outline(pages: list[list[Line]], bookmarks: list[Bookmark], writer: _Writer) -> None:
    """Add sections that begin where the entries of the outline lead."""
    by_page: dict[int, list[Bookmark]] = {}
    for bookmark in bookmarks:
        by_page.setdefault(bookmark.page, []).append(bookmark)
    for number, page in enumerate(pages):
        waiting = list(by_page.get(number, []))
        place = 0
        for bookmark in waiting:
            found = _find_heading(page, bookmark.title, place)
            first, last = found or (place, place)
            writer.add_page(page[place:first])
            writer.add_heading(bookmark.level, bookmark.title, f"page={number + 1}")
            place = last
        writer.add_page(page[place:])


def _find_heading(page: list[Line], title: str, start: int) -> tuple[int, int] | None:
    """Return the lines that a heading takes on its page, None if it is not found there."""
    wanted = _squeeze(clean_heading(title))
    if not wanted:
        return None
    for place in range(start, len(page)):
        text = _squeeze(clean_heading(page[place].text))
        if text and (text == wanted or text.endswith(wanted)) and len(text) <= len(wanted) + 12:
            return place, place + 1
        following = place + 1 < len(page) and _squeeze(page[place + 1].text)
        if text and following and wanted.startswith(text) and text + following == wanted:
            return place, place + 2
    return None


def _squeeze(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return "".join(_LETTERS.findall(text.lower()))


def _add_by_size(pages: list[list[Line]], body: int, writer: _Writer) -> None:
    """Add sections that begin at lines larger than the text, or else at pages."""
    sizes = Counter(round(line.size) for page in pages for line in page if _is_large(line, body))
    levels = {size: level for level, size in enumerate(sorted(sizes, reverse=True), 1)}
    for number, page in enumerate(pages):
        anchor = f"page={number + 1}"
        if not levels:
            writer.add_heading(1, "", anchor)
        heading: list[Line] = []
        text: list[Line] = []
        for line in page:
            if _is_large(line, body) and (not heading or round(heading[-1].size) == round(line.size)):
                heading.append(line)
                continue
            if heading:
                writer.add_page(text)
                _begin(writer, heading, levels, anchor)
                heading, text = [line] if _is_large(line, body) else [], []
            if not heading:
                text.append(line)
        writer.add_page(text)
        if heading:
            _begin(writer, heading, levels, anchor)


def _is_large(line: Line, body: int) -> bool:
    """Say whether a line is a heading by its size."""
    return (
        round(line.size) > 1.12 * body
        and len(line.text) <= 120
        and bool(re.search(r"[^\W\d_]{2}", line.text))
    )


def _begin(writer: _Writer, heading: list[Line], levels: dict[int, int], anchor: str) -> None:
    text = " ".join(line.text for line in heading)
    writer.add_heading(levels[round(heading[0].size)], text, anchor)
