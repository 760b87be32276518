"""The lines of a PDF: their text, place, size, fonts and cells, by PDFium."""

import ctypes
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from fathom.corpus.documents.pdf_columns import Box, order_columns
from fathom.corpus.documents.pdf_fonts import Fonts
from fathom.corpus.documents.pdf_letters import forget_unnamed, to_text
from fathom.corpus.documents.plain import measure_signs
from fathom.errors import InputError

FindBox = Callable[[int], Box]
"""Finds the box of a character by its number."""
_PASSWORD_ERROR = 4
_FIXED_PITCH = 1
_SAMPLES, _SPREAD = 16, 5
_FIRST = 5
"""Number of first words of a line whose fonts are all recorded."""
_CELL = 1.5
"""Narrowest gap between cells of a table, in font sizes."""
_MOSTLY = 0.75
_TYPESCRIPT = 0.9
"""Share of monospaced letters from which the whole is a typescript, where fonts do not mark code."""
_LISTING = 0.14
"""Signs of code per word from which it is a listing instead."""


@dataclass
class Line:
    """A line of a page; places in points from the lower left corner.

    `fonts` are those of the first letters of words (of the first five and of some others), `inner` those of
    letters spread over the line, `cells` where it goes on after a wide gap, `code` says that it is
    typewritten, `mixed` that words of it are not.
    """

    text: str
    left: float
    right: float
    bottom: float
    size: float
    fonts: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    cells: tuple[float, ...] = ()
    code: bool = False
    mixed: bool = False


class Bookmark(NamedTuple):
    """An entry of a PDF's outline; `page` counts from 0, `top` is its position, if any."""

    level: int
    title: str
    page: int


class Pdf:
    """An open PDF.

    Raise `InputError` if it is broken or needs a password. `data`: the whole file.
    """

    def __init__(self, data: bytes) -> None:
        import pypdfium2

        self._raw = pypdfium2.raw
        try:
            self._document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            locked = self._raw.FPDF_GetLastError() == _PASSWORD_ERROR or "assword" in str(error)
            what = "this PDF needs a password" if locked else f"this PDF is broken: {error}"
            raise InputError(what) from error
        self.title = self._document.get_metadata_value("Title") or ""
        self.is_typescript = False
        self._fonts = Fonts()
        self._number, self._nameless = 0, dict[int, str]()

    def __len__(self) -> int:
        return len(self._document)

    def list_bookmarks(self) -> list[Bookmark]:
        """Return the entries of the outline that lead to a page, in order."""
        found = []
        for entry in self._document.get_toc():
            destination = entry.get_dest()
            page = destination.get_index() if destination is not None else None
            if page is not None and entry.get_title():
                found.append(Bookmark(entry.level + 1, entry.get_title().strip(), page))
        return found

    def read_pages(self) -> list[list[Line]]:
        """Return the lines of each page; an unreadable page has none.

        If most is monospaced but not a listing, sets `is_typescript`, and fonts do not mark code.
        """
        pages = list(self._iterate_pages())
        used = Counter(font for page in pages for line in page for font in line.inner)
        typed = {font for font in used if self._fonts.is_monospaced(font)}
        if sum(used[font] for font in typed) > _TYPESCRIPT * used.total():
            text = "\n".join(line.text for page in pages for line in page)
            self.is_typescript = measure_signs(text) < _LISTING
        if self.is_typescript:
            return pages
        return [[_mark_code(line, typed) for line in page] for page in pages]

    def _iterate_pages(self) -> Iterator[list[Line]]:
        import pypdfium2

        for number in range(len(self._document)):
            self._number, self._nameless = number, {}
            try:
                page = self._document[number]
                text = page.get_textpage()
            except pypdfium2.PdfiumError:
                yield []
                continue
            try:
                yield self._read_lines(text.raw)
            finally:
                text.close()
                page.close()

    def _read_lines(self, page: Any) -> list[Line]:
        raw = self._raw
        places = range(raw.FPDFText_CountChars(page))
        read, fails = raw.FPDFText_GetUnicode, raw.FPDFText_HasUnicodeMapError
        codes = forget_unnamed([read(page, each) for each in places], [fails(page, each) for each in places])
        runs: list[list[int]] = []
        start = 0
        for place, code in enumerate([*codes, 10]):
            if code == 10:
                inside = [each for each in range(start, place) if codes[each] > 32]
                runs += [inside] if inside else []
                start = place + 1
        find_box = cache(partial(self._find_box, page))
        ordered = order_columns(runs, find_box)
        return [self._measure(page, codes, run, find_box) for run in ordered]

    def _measure(self, page: Any, codes: Sequence[int], inside: list[int], find_box: FindBox) -> Line:
        starts = [inside[0], *(after for before, after in pairwise(inside) if after - before > 1)]
        samples = [*starts[:_FIRST], *starts[_FIRST :: len(starts) // _SAMPLES + 1]]
        spread = inside[:: max(1, len(inside) // _SPREAD)]
        sizes = [self._raw.FPDFText_GetFontSize(page, each) for each in spread]
        size = round(statistics.median(sizes), 1)
        fonts = tuple(self._find_font(page, each) for each in samples)
        # signs such as `<` may come from another font than the code around them
        letters = [each for each in inside if chr(codes[each]).isalnum()] or inside
        within = letters[:: max(1, len(letters) // _SPREAD)]
        inner = tuple(self._find_font(page, each) for each in within)
        for each, font in zip([*samples, *within], [*fonts, *inner], strict=True):
            left, right, _ = find_box(each)
            own = self._raw.FPDFText_GetFontSize(page, each)
            self._fonts.add_width(font, chr(codes[each]), (right - left) / max(own, 1))
        ends = {after: before for before, after in pairwise(inside)}
        cells = tuple(
            find_box(each)[0]
            for each in starts[1:]
            if find_box(each)[0] - find_box(ends[each])[1] > _CELL * size
        )
        left, _, bottom = find_box(inside[0])
        text = to_text(codes[inside[0] : inside[-1] + 1])
        return Line(text, left, find_box(inside[-1])[1], bottom, size, fonts, inner, cells)

    def _find_box(self, page: Any, place: int) -> Box:
        """Return left, right and bottom (the line's, not the letter's) of a character."""
        box = self._raw.FS_RECTF()
        self._raw.FPDFText_GetLooseCharBox(page, place, ctypes.byref(box))
        return box.left, box.right, box.bottom

    def _find_font(self, page: Any, place: int) -> str:
        """Return the name of a character's font; one that the file says to be typewritten is noted."""
        flags = ctypes.c_int()
        name = ctypes.create_string_buffer(128)
        self._raw.FPDFText_GetFontInfo(page, place, name, 128, ctypes.byref(flags))
        font = sys.intern(name.value.decode("utf-8", "replace")) or self._tell_nameless(page, place)
        if flags.value & _FIXED_PITCH:
            self._fonts.add_fixed(font)
        return font

    def _tell_nameless(self, page: Any, place: int) -> str:
        """Return what distinguishes a font without a name, such as a bitmap, from others on its page."""
        written = self._raw.FPDFText_GetTextObject(page, place)
        font = self._raw.FPDFTextObj_GetFont(written) if written else None
        if not font:
            return ""
        name = f"{self._number}-{len(self._nameless)}"
        return self._nameless.setdefault(ctypes.addressof(font.contents), name)


def _mark_code(line: Line, typed: set[str]) -> Line:
    share = sum(map(typed.__contains__, line.inner)) / len(line.inner)
    return replace(line, code=share >= _MOSTLY, mixed=not typed.issuperset(line.fonts))
