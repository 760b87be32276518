"""Which fonts of a PDF are monospaced, bold, or for formulas."""

import re
import statistics
from collections import defaultdict

_MONOSPACED = re.compile(
    r"mono|monl|courier|typewriter|consol|cmtt|sltt|ectt|cmvtt|inconsolata|menlo|terminal|firacode|andale|lettergothic|"
    r"(?:^|\+)(?:t1x|tx|px|lm|ae)b?tt",
    re.IGNORECASE,
)
_FORMULA = re.compile(
    r"(?:^|\+)(?:CMMI|CMMIB|CMSY|CMBSY|CMEX|MSAM|MSBM|EUFM|EUSM|RSFS|LMMathItalic|LMMathSymbols|LMMathExtension|"
    r"eufm|stmary|MTSY|MTMI|MathJax_(?:Math|Size|AMS))|Math(?:-|$|Italic|Regular)|^(?:[A-Z]{6}\+)?Symbol",
)
_BOLD = re.compile(r"bold|black|heavy|demi|(?:^|\+)CMB(?!R)|-Bd|-Medi(?!um)", re.IGNORECASE)
_FEWEST = 5
"""Letters whose widths show whether a font is monospaced."""
_NARROW = set("fijltrI")
_SPREAD = 0.01
_MOST = 0.7
"""Share of letters of one width, at least: the boxes of slanted letters and of some others are wider."""


class Fonts:
    """The fonts of one PDF, classified by their names and the widths of letters."""

    def __init__(self) -> None:
        self._widths: dict[str, dict[str, float]] = defaultdict(dict)
        self._fixed: set[str] = set()

    def add_width(self, font: str, letter: str, width: float) -> None:
        """Note how wide a letter is, as a share of its size."""
        if letter.isascii() and letter.isalpha():
            self._widths[font].setdefault(letter, width)

    def add_fixed(self, font: str) -> None:
        """Note that the file declares a font as fixed pitch."""
        self._fixed.add(font)

    def is_monospaced(self, font: str) -> bool:
        """Say whether a font is monospaced: by its name, or because narrow letters are as wide as others."""
        if font in self._fixed or _MONOSPACED.search(font):
            return True
        widths = self._widths.get(font, {})
        letters = widths.keys()
        if len(letters) < _FEWEST or not letters & _NARROW or not letters - _NARROW:
            return False
        middle = statistics.median(widths.values())
        alike = {each for each, width in widths.items() if abs(width - middle) <= _SPREAD * middle}
        return len(alike) >= _MOST * len(letters) and bool(alike & _NARROW)


def is_bold(font: str) -> bool:
    """Say whether a font is bold, by its name."""
    return _BOLD.search(font) is not None


def sets_formulas(font: str) -> bool:
    """Say whether a font is for formulas, by its name."""
    return _FORMULA.search(font) is not None
