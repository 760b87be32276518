"""The lines of a PDF: their text, place, size and whether they are typewritten, by PDFium."""

import ctypes
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

from fathom.corpus.documents.pdf_columns import order_columns
from fathom.corpus.documents.pdf_letters import forget_unnamed, to_text
from fathom.errors import InputError

_PASSWORD_ERROR = 4
_FIXED_PITCH = 1
_MONOSPACED = ("mono", "courier", "typewriter", "consol", "cmtt", "sltt", "ectt", "inconsolata")


@dataclass
class Line:
    """A line of a page; places in points from the lower left corner."""

    text: str
    left: float
    right: float
    bottom: float
    size: float
    code: bool


class Bookmark(NamedTuple):
    """An entry of a PDF's outline; `page` counts from 0, `top` is its place, None if it has none."""

    level: int
    title: str
    page: int


class Pdf:
    """An open PDF.

    Parameters
    ----------
    data : bytes
        The whole file.

    Raises
    ------
    InputError
        If it is broken or needs a password.
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

    def __len__(self) -> int:
        return len(self._document)

    def list_bookmarks(self) -> list[Bookmark]:
        """Return the entries of the outline that lead to a page, in their order."""
        found = []
        for entry in self._document.get_toc():
            destination = entry.get_dest()
            page = destination.get_index() if destination is not None else None
            if page is not None and entry.get_title():
                found.append(Bookmark(entry.level + 1, entry.get_title().strip(), page))
        return found

    def iterate_pages(self) -> Iterator[list[Line]]:
        """Yield the lines of each page; a page that cannot be read has none."""
        import pypdfium2

        for number in range(len(self._document)):
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
        """Return the lines of a page, in the order of its content; columns one after the other."""
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
        ordered = order_columns(runs, cache(partial(self._find_box, page)))
        return [self._measure(page, to_text(codes[run[0] : run[-1] + 1]), run) for run in ordered]

    def _measure(self, page: Any, text: str, inside: list[int]) -> Line:
        """Return a line whose visible characters have these numbers."""
        left, _, bottom = self._find_box(page, inside[0])
        _, right, _ = self._find_box(page, inside[-1])
        samples = inside[:: max(1, len(inside) // 5)]
        sizes = [self._raw.FPDFText_GetFontSize(page, each) for each in samples]
        code = sum(self._is_monospaced(page, each) for each in samples) * 4 >= len(samples) * 3
        return Line(text, left, right, bottom, round(statistics.median(sizes), 1), code)

    def _find_box(self, page: Any, place: int) -> tuple[float, float, float]:
        """Return left, right and bottom (the line's, not the letter's) of a character."""
        box = self._raw.FS_RECTF()
        self._raw.FPDFText_GetLooseCharBox(page, place, ctypes.byref(box))
        return box.left, box.right, box.bottom

    def _is_monospaced(self, page: Any, place: int) -> bool:
        """Say whether a character is typewritten."""
        flags = ctypes.c_int()
        name = ctypes.create_string_buffer(128)
        self._raw.FPDFText_GetFontInfo(page, place, name, 128, ctypes.byref(flags))
        font = name.value.decode("utf-8", "replace").lower()
        return bool(flags.value & _FIXED_PITCH) or any(each in font for each in _MONOSPACED)
