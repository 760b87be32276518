"""PDF: lines to paragraphs, pages to sections by the outline or the size of headings."""

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from fathom.config.language import ENGLISH
from fathom.corpus.characters import GAP, UNREADABLE_LETTER
from fathom.corpus.documents.pdf_displays import Kind, join_fragments, measure_margins, tell_kinds
from fathom.corpus.documents.pdf_fonts import is_bold
from fathom.corpus.documents.pdf_pages import Bookmark, Line, Pdf
from fathom.corpus.documents.pdf_references import drop_lists
from fathom.corpus.documents.plain import count_words, is_prose, join_lines, key_of_line, reads_as_code
from fathom.corpus.documents.sections import FileContent, Outline
from fathom.corpus.headings import clean_heading, find_matter
from fathom.corpus.left_out import LINKS, REPEATED
from fathom.errors import InputError

_REPEATS = 3
_UNREADABLE = 0.1
"""Share of unreadable letters from which a paragraph is not text."""
_EDGE = 2
_APART, _MOSTLY = 1.8, 0.5
"""Least distance of a header from the text, in font sizes; least share of headers at their height."""
_PAGE_NUMBER = re.compile(
    r"[\s\-–—|]*(?:page\s+)?(?:\d{1,4}|[ivxlc]{1,7}|[A-Z]-?\d{1,3})[\s\-–—|]*", re.IGNORECASE
)
_SHORTEST_HEADING = 12
"""Characters from which a line in capitals is a heading, not an abbreviation."""
_DEFINED = re.compile(
    r"\[(?:\w+ )?(?:Function|Macro|Variable|Constant|Data type|Command|Option|Context struct)s?\]"
)
"""Texinfo's label in the margin of a signature."""
_MOST_LINES = 4
"""Further lines of a signature."""
_LEADER = re.compile(r"(?:\.\s?){4,}\s*\S{0,6}$|(?:\s\.){4,}")
_CUT_LEADER = re.compile(r"(?:\s\.)+\s*$")
_LEADERS = 0.3
"""Least share of lines with leaders on a page of contents."""
_MATTER_LEVEL = 9
"""Level of headings of lists that are not in the outline: below all that are."""
_SOFT_HYPHEN = re.compile(r"(\w+)\xad\s*(\w+)?")
_BULLET = re.compile(
    r"^(?:(?:[\u25a0-\u27bf]\s*)+|(?:(?:[•·‣∗–—*-]|\(?\d{1,2}[.)](?!\d))\s*|\(?[a-z][.)]\s+)(?=\S))"
)
"""Signs of notes and warnings too, such as a pointing hand in a frame."""
_ELLIPSIS = re.compile(r"(?<=\S)\s?\.(?:\s\.){2}(?!\s?\.)")
_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})+\.?|(?:Chapter|Section|Part|Appendix)\s\w{1,3}[.:]?)\s")
_LONGEST_LABEL = 8
"""Most words of a lone line without an end: more may be a sentence that continues elsewhere."""
_SHORT = 0.7
"""Share of the text's width that a line of a list fills before the next item."""
_LETTERS = re.compile(r"[^\W_]+")


def read_pdf(data: bytes) -> FileContent:
    """Read a PDF into sections.

    A section begins at each entry of the outline; without an outline, at each line larger than the text;
    without such lines, at each page. Headers, footers, page numbers, monospaced lines (code), tables,
    tables of contents, labels, headings of the text's size, and unreadable paragraphs are left out; a
    displayed formula inside a sentence becomes the mark of a gap.

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
            hint="run OCR on it first, for example ocrmypdf",
        )
    outline = Outline()
    pages = _drop_leaders(_drop_running_lines(pages, outline), outline)
    lines = [line for page in pages for line in page]
    outline.characters += sum(len(word) for line in lines for word in line.text.split())
    if not lines:  # only page numbers, headers and footers
        return outline.end(pdf.title, len(pdf))
    written = [line for line in lines if not line.code] or lines  # listings may be most of it, and small
    body = statistics.mode(round(line.size) for line in written for _ in range(len(line.text) // 10 + 1))
    words = count_words("\n".join(line.text for line in lines))
    bookmarks = pdf.list_bookmarks()
    writer = _Writer(outline, words, _Type(body, _measure_gap(pages), pdf.is_typescript))
    if bookmarks:
        _add_by_outline(pages, bookmarks, writer)
    else:
        _add_by_size(pages, body, writer)
    writer.end_paragraph()
    return outline.end(pdf.title, len(pdf))


class _Type(NamedTuple):
    """How a PDF is set: size of its text, usual distance of lines, whether all of it is monospaced."""

    size: float
    gap: float
    is_typescript: bool


class _Writer:
    def __init__(self, outline: Outline, words: Counter[str], typed: _Type) -> None:
        self._outline, self._words, self._type = outline, words, typed
        self._margin = math.inf
        self._lines: list[Line] = []
        self._open = 0
        self._formula: Line | None = None
        self._listing: Line | None = None
        self._was_cut = self._is_cut = False

    def add_heading(self, level: int, text: str, anchor: str) -> None:
        """Begin a section."""
        self.end_paragraph()
        self._was_cut = False
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
                self._cut()
            else:
                self._add_line(line)
            self._margin = margins[round(line.left)]

    def _add_formula(self, line: Line) -> None:
        """Replace a formula inside a sentence by the mark of a gap and its final punctuation."""
        if not self._lines or self._listing or self._lines[-1].text.rstrip().endswith((".", "!", "?")):
            self._cut()
            return
        self._formula = line
        before = self._lines[-1]
        text = before.text.rstrip().rstrip(".,;")
        if not text.endswith(GAP):
            text = f"{before.text.rstrip()} {GAP}"
        mark = line.text.rstrip()[-1:]
        self._lines[-1] = replace(before, text=text + mark if mark in {".", ",", ";"} else text)

    def _add_line(self, line: Line) -> None:
        in_signature = self._continues_signature(line.text)
        is_code = (line.code and not self._is_inside(line)) or (
            self._type.is_typescript and reads_as_code(line.text)
        )
        if in_signature or is_code or _LEADER.search(line.text):
            self._outline.left_out["code" if in_signature or is_code else "leaders"] += 1
            if is_code and self._is_open():
                self._listing = line
            else:
                self._cut()
            return
        if self._is_heading_of_list(line):
            self.add_heading(_MATTER_LEVEL, line.text, "")
            return
        if self._formula is not None:
            if not self._goes_on_after_formula(line, self._formula):
                self.end_paragraph()
        elif self._listing is not None:
            self._go_on_after_listing(line, self._listing)
        elif self._lines and (self._is_below_heading(line) or self._begins(line)):
            self.end_paragraph()
        self._formula = self._listing = None
        if not self._lines:
            self._is_cut, self._was_cut = self._was_cut or bool(_BULLET.match(line.text)), False
        self._lines.append(line)

    def _cut(self) -> None:
        self.end_paragraph()
        self._was_cut = True

    def _is_open(self) -> bool:
        return bool(self._lines) and not self._lines[-1].text.rstrip().endswith((".", "!", "?"))

    def _is_heading_of_list(self, line: Line) -> bool:
        set_so = line.size > 1.05 * self._type.size or all(map(is_bold, line.fonts)) or line.text.isupper()
        return set_so and not self._is_open() and find_matter(line.text) != ""

    def _go_on_after_listing(self, line: Line, listing: Line) -> None:
        """Replace a listing inside a sentence by the mark of a gap; else end the paragraph."""
        near = 0 < listing.bottom - line.bottom < 4 * line.size or listing.bottom < line.bottom
        before = self._lines[-1]
        if not (line.text[:1].islower() and near) or before.text.rstrip().endswith(":"):
            self._cut()
            return
        self._lines[-1] = replace(before, text=f"{before.text.rstrip()} {GAP}")

    def _goes_on_after_formula(self, line: Line, formula: Line) -> bool:
        before = self._lines[-1].text
        return (
            not before.endswith(".")
            and (line.text[:1].islower() or before.endswith((",", ";", ":")))
            and (0 < formula.bottom - line.bottom < 4 * line.size or formula.bottom < line.bottom)
        )

    def _is_inside(self, line: Line) -> bool:
        """Say whether a monospaced line continues a sentence: the line before is full and has no end."""
        if not self._lines or self._formula is not None or self._listing is not None:
            return False
        before = self._lines[-1]
        right = max(each.right for each in self._lines)
        drop = before.bottom - line.bottom
        return (
            not before.text.rstrip().endswith(ENDS)
            and abs(line.left - before.left) < 1
            and 0 < drop < 1.2 * max(self._type.gap, 1.05 * line.size)
            and (line.mixed or before.right > right - 4 * line.size)
        )

    def _continues_signature(self, text: str) -> bool:
        """Say whether a line belongs to a signature, which continues until its brackets close."""
        if _DEFINED.search(text):
            self._open = _MOST_LINES if text.count("(") > text.count(")") else 0
            return True
        inside = self._open > 0
        self._open = 0 if ")" in text else max(self._open - 1, 0)
        return inside

    def _is_below_heading(self, line: Line) -> bool:
        """Say whether all before a line is a heading of the text's size, bold or in capitals."""
        if not any(map(is_bold, line.fonts)) and not line.text[:1].islower() and self._is_bold():
            return True
        before = " ".join(each.text for each in self._lines)
        return len(before) > _SHORTEST_HEADING and before.isupper() and not line.text.isupper()

    def _begins(self, line: Line) -> bool:
        before = self._lines[-1]
        ended = before.text.rstrip().endswith(ENDS)
        if _BULLET.match(line.text) and abs(line.bottom - before.bottom) > 1:
            return ended or line.left <= before.left
        if abs(line.size - before.size) > 0.15 * max(before.size, 1):
            # small print inside a line, such as an exponent, is not a paragraph
            return abs(line.bottom - before.bottom) > 0.5 * before.size
        if not ended and (
            line.text[:1].islower() or (not line.text[:1].isdigit() and self._is_short(before, line))
        ):
            return not line.text[:1].islower()
        drop = before.bottom - line.bottom
        if drop < -before.size:  # a new column or page
            return ended and (line.text[:1].isupper() or not line.text[:1].isalpha())
        if drop > 1.45 * max(self._type.gap, 1.05 * line.size):
            return True
        right = max(each.right for each in self._lines)
        indented = line.left > before.left + 0.8 * line.size and drop > 1
        short = before.right < right - 4 * line.size or (ended and before.right < right - 1.5 * line.size)
        return ended and (indented or short)

    def _is_short(self, line: Line, following: Line) -> bool:
        """Say whether a line ends so far from the right margin that the next word would have fitted."""
        word = len(following.text.partition(" ")[0]) / max(1, len(following.text))
        return (
            not line.text.rstrip().endswith((",", "-", "\xad", ";"))
            and line.right - line.left < _SHORT * (self._margin - line.left) < math.inf
            and line.right + word * (following.right - following.left) < self._margin
        )

    def end_paragraph(self) -> None:
        """Add the paragraph to the outline."""
        if self._lines:
            text, lists = drop_lists(self._join_lines())
            self._outline.left_out[LINKS] += lists
            if text or not lists:
                self._add_prose(text)
        self._lines = []
        self._formula = self._listing = None

    def _add_prose(self, text: str) -> None:
        """Add what a paragraph has of whole sentences to the outline, and count what it has else."""
        reason = self._find_fault(text)
        rest = drop_caption(text)
        whole = "" if reason else keep_whole_sentences(rest, self._is_cut)
        self._was_cut = bool(reason) or not text.endswith(ENDS)
        if whole != text:
            self._outline.left_out[reason or ("cut sentences" if rest == text else "captions")] += 1
        if whole:
            self._outline.add_paragraph(whole)

    def _join_lines(self) -> str:
        """Return the paragraph on one line, without its bullet and a term before its first sentence."""
        texts = [_BULLET.sub("", line.text) for line in self._lines]
        texts[0] = _drop_term(texts[0], self._lines[0])
        text = join_lines(texts, self._words)
        return _ELLIPSIS.sub(" ...", _SOFT_HYPHEN.sub(self._join_word, text))

    def _find_fault(self, text: str) -> str:
        """Return why a paragraph is not text; empty if it is."""
        if text.count(UNREADABLE_LETTER) > _UNREADABLE * len(text):
            return "unreadable letters"
        if reads_as_code(text) or (
            self._type.is_typescript and not is_prose([each.text for each in self._lines])
        ):
            return "code"
        ended = text.endswith(ENDS) or GAP in text
        label = len(self._lines) == 1 and not ended and len(text.split()) <= _LONGEST_LABEL
        numbered = _NUMBERED.match(text) and is_bold(self._lines[0].fonts[0]) and len(self._lines) == 1
        if label or numbered or (self._is_bold() and not ended):
            return "labels"
        return ""

    def _is_bold(self) -> bool:
        return all(is_bold(font) for line in self._lines for font in line.fonts)

    def _join_word(self, match: re.Match[str]) -> str:
        """Return a word broken at a line end, with a hyphen only if the text has one elsewhere."""
        first, second = match[1], match[2] or ""
        keep = self._words[f"{first}-{second}".lower()] > self._words[(first + second).lower()]
        return f"{first}-{second}" if keep or not second else first + second


def _drop_term(text: str, line: Line) -> str:
    """Return the text of a line without bullet and without a term set in another font."""
    words = text.split()
    bullets = len(line.text.split()) - len(words)
    for _ in range(count_term(words, line.fonts[bullets:])):
        text = text.partition(" ")[2].lstrip()
    return text


def _drop_leaders(pages: list[list[Line]], outline: Outline) -> list[list[Line]]:
    """Return the pages without leaders of tables of contents and remains of them."""
    kept = []
    for page in pages:
        leaders = sum(_LEADER.search(line.text) is not None for line in page)
        is_list = leaders > _LEADERS * len(page)
        kept.append([line for line in page if not (is_list and _CUT_LEADER.search(line.text))])
        outline.left_out["leaders"] += len(page) - len(kept[-1])
    return kept


def _measure_gap(pages: list[list[Line]]) -> float:
    gaps = [
        before.bottom - line.bottom
        for page in pages
        for before, line in pairwise(page)
        if 0 < before.bottom - line.bottom < 3 * line.size
    ]
    return statistics.median(gaps) if gaps else 0.0


def _drop_running_lines(pages: list[list[Line]], outline: Outline) -> list[list[Line]]:
    """Return the pages without headers, footers and page numbers: lines at the edge of many pages.

    A line apart from the text, at a height where most such lines are so repeated, is one of them.
    """
    edges = []
    for page in pages:
        ordered = sorted(range(len(page)), key=lambda each: page[each].bottom)
        edges.append({*ordered[:_EDGE], *ordered[-_EDGE:]})
    keys = Counter(
        key
        for page, edge in zip(pages, edges, strict=True)
        for key in {key_of_line(page[each].text) for each in edge}
    )
    repeated = [
        {
            each
            for each in edge
            if keys[key_of_line(page[each].text)] >= _REPEATS or _PAGE_NUMBER.fullmatch(page[each].text)
        }
        for page, edge in zip(pages, edges, strict=True)
    ]
    apart = [
        {each for each in edge if _is_apart(page, each)} for page, edge in zip(pages, edges, strict=True)
    ]
    lines = _count_heights(pages, apart)
    headers = _count_heights(pages, [one & other for one, other in zip(apart, repeated, strict=True)])
    heights = {each for each, count in headers.items() if count >= max(_REPEATS, _MOSTLY * lines[each])}
    kept = []
    for page, alone, found in zip(pages, apart, repeated, strict=True):
        running = found | {each for each in alone if round(page[each].bottom) in heights}
        outline.left_out[REPEATED] += len(running)
        kept.append([line for each, line in enumerate(page) if each not in running])
    return kept


def _count_heights(pages: list[list[Line]], chosen: list[set[int]]) -> Counter[int]:
    """Return how many of the chosen lines stand at each height, in points."""
    return Counter(
        round(page[each].bottom) for page, numbers in zip(pages, chosen, strict=True) for each in numbers
    )


def _is_apart(page: list[Line], number: int) -> bool:
    """Say whether a line is the first or last of its page, apart from the text, and no title or sentence."""
    line = page[number]
    others = [each for each in page if abs(line.bottom - each.bottom) > 1]
    size = max((each.size for each in others), default=line.size)
    if line.size > 1.05 * size or line.text.rstrip().endswith(ENDS):
        return False
    distances = [line.bottom - each.bottom for each in others]
    return not distances or min(distances) > _APART * line.size or max(distances) < -_APART * line.size


def _add_by_outline(pages: list[list[Line]], bookmarks: list[Bookmark], writer: _Writer) -> None:
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
    """Return the lines of a heading on its page, None if it is not found there."""
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
    return (
        round(line.size) > 1.12 * body
        and len(line.text) <= 120
        and bool(re.search(r"[^\W\d_]{2}", line.text))
    )


def _begin(writer: _Writer, heading: list[Line], levels: dict[int, int], anchor: str) -> None:
    text = " ".join(line.text for line in heading)
    writer.add_heading(levels[round(heading[0].size)], text, anchor)


ENDS = (".", "!", "?", ":", '."', ".”", ".)", ".’")
_END = re.compile(r"[.!?:][)\]\"'”’]*(?=\s|$)")
_NEXT = re.compile(r"[.!?][)\]\"'”’]*\s+(?=[^\Wa-z]|[(\[\"'“‘])")
"""The end of a first sentence without a beginning."""
_SIGNS = frozenset("-–—=<>:;,{}\\&|+*%@~^_!?)]»”•▷►▸●○■□")
"""Beginnings of options, code and partial lines, but not of sentences."""
_LABELLED = re.compile(r"\[[\w+:.-]{1,16}\]\s")
"""The label of an entry in a list of references."""
_DASH = re.compile(r"\S+(?:\s\S+){0,3}?(?:\s[-–—]\s|—(?=[a-z]))")
_ENTRY = re.compile(
    r"(?:[a-z][\w-]*\s){0,2}[a-z][\w-]*:\s|\S*[(=<_/]\S*:\s|\w[\w-]*[=<]\S*\s(?=[a-z])|"
    r"(?![AI]\s)[A-Z]\s(?=[A-Za-z][a-z]+\s)|\((?:[a-z]+\s|[\d.]+\)\s)"
)
"""A term with its colon, a setting, a variable of a formula, an open bracket."""
_SUBJECT = re.compile(
    r"\S+\s(?:(?:is|are|was|were|has|have|can|may|must|will|does|should)(?:n?['’]t)?|(?!as\b|its\b|this\b)[a-z]{2,}s)\s"
)
"""A first word followed by its verb: the name of a program."""
_LABEL = re.compile(r"(?:\S+\s)?\S+:")
_NOTE = re.compile(r"\d{1,2}(?=(?:[A-Z][a-z]{2,}|A[nst]?|By|I[fnt]|No|On|So|To|We)\s)")
"""The number of a footnote, right before its first word."""
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2})+\.?\s+[A-Z]|\d{1,2}(?:\.\d{1,2}){2,}\.?\s")
_NUMBER = re.compile(r"\d{1,4}\s+(?=([A-Z][a-z]*)\b)")
"""The number of an item, of an error, of a page."""
_CODE_NAME = re.compile(r"\w*[A-Z\d]_\w*|[A-Z\d]{4,}")
_CAPTION = re.compile(
    r"(?:Figure|Fig\.|Table|Listing|Algorithm|Plate)\s[\w.-]{1,6}\s?(?:[:–—]|(?<=[.:])\s)\s*", re.IGNORECASE
)
_BEGINNING = frozenset(ENGLISH.beginnings.split())
_ABBREVIATIONS = frozenset(ENGLISH.abbreviations.split())


def keep_whole_sentences(text: str, is_cut: bool) -> str:
    """Return a paragraph without an incomplete first or last sentence.

    Parameters
    ----------
    text : str
        The paragraph on one line.
    is_cut : bool
        Whether something was left out right before it, or it is an item: a small first letter then
        continues missing text; elsewhere it may begin the name of a program.
    """
    if _LABELLED.match(text):
        return ""
    text = text[note.end() :] if (note := _NOTE.match(text)) else text
    number = _NUMBER.match(text)
    text = text[number.end() :] if number and number[1] in _BEGINNING else text
    if _LABEL.fullmatch(text):
        return ""
    while text and _lacks_beginning(text, is_cut):
        text = text[next(_find_ends(_NEXT, text), len(text)) :]
        is_cut = False
    if text.endswith((*ENDS, GAP)):
        return text
    return text[: max(_find_ends(_END, text), default=0)]


def drop_caption(text: str) -> str:
    """Return a caption without its first phrase, which names a figure; other text unchanged."""
    label = _CAPTION.match(text)
    return text[next(_find_ends(_NEXT, text[label.end() :]), len(text)) + label.end() :] if label else text


def _find_ends(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    """Yield the ends of matches that are not the full stop of an abbreviation."""
    for match in pattern.finditer(text):
        word = text[: match.start() + 1].rpartition(" ")[2].lstrip("([")
        if word not in _ABBREVIATIONS:
            yield match.end()


def _lacks_beginning(text: str, is_cut: bool) -> bool:
    """Say whether a paragraph continues other text, or begins with the term of an entry."""
    if text[0] in _SIGNS or _ENTRY.match(text) or _NUMBER.match(text) or _SECTION.match(text):
        return True
    dash = _DASH.match(text)
    if dash and not re.search(r"\s[-–—]\s", text[dash.end() :].partition(". ")[0]):
        return True
    first = text.split(maxsplit=1)[0].rstrip(",;.")
    small = first[:1].islower() and first.replace("-", "").isalpha()
    return small and (is_cut or first.capitalize() in _BEGINNING or not _SUBJECT.match(text))


def count_term(words: Sequence[str], fonts: Sequence[str]) -> int:
    """Return the number of words of a term or heading in another font before a sentence.

    Parameters
    ----------
    words : sequence of str
        Of the line.
    fonts : sequence of str
        Of the first letters of its first words.
    """
    for count, (word, font) in enumerate(zip(words, fonts, strict=False)):
        if count and font != fonts[0] and font == fonts[-1]:
            named = word in _BEGINNING or (word[:1].isupper() and _CODE_NAME.fullmatch(words[0]))
            is_term = named and words[count - 1][-1] not in ".,;"
            return count if is_term and fonts[0] not in fonts[count:] else 0
    return 0
