r"""pylatexenc's parser with the same result in half the time.

pylatexenc reads one character at a time, tries every special sequence at each, and builds its list of macros
again for each text. Here a run of plain words is one token, and the list is built once. This relies on how
the parser's methods call each other, so every version of pylatexenc but the tested one parses unchanged.
"""

import re
from functools import cache
from typing import Any

import pylatexenc
from pylatexenc.latexwalker import LatexToken, LatexWalker, get_default_latex_context_db

KNOWN_VERSION = "2.11"
"""The version of pylatexenc that this parser was tested against."""
# words of characters without a special meaning, separated by single blanks
_PLAIN_RUN = re.compile(r" ?[\w,.;:=+*/@|\"]+(?: [\w,.;:=+*/@|\"]+)*")


def parse_latex(text: str) -> Any:
    """Return the nodes of a piece of LaTeX, as pylatexenc's own parser does by default."""
    known = pylatexenc.__version__ == KNOWN_VERSION
    return (PlainRunParser(text) if known else LatexWalker(text)).get_latex_nodes()[0]


class PlainRunParser(LatexWalker):  # type: ignore[misc]
    """A parser of one text for :meth:`get_latex_nodes`, with pylatexenc's default macros and flags."""

    def __init__(self, text: str) -> None:
        super().__init__(text, latex_context=_make_context())

    def get_token(self, pos: int, *arguments: Any, **options: Any) -> LatexToken:
        """Return the token at a position; for the loop over nodes, a run of plain words is one token."""
        # the other callers need single characters, and none of them passes both of these
        if options.keys() == {"include_brace_chars", "parsing_state"}:
            run = _PLAIN_RUN.match(self.s, pos)
            if run is not None:
                text = run.group()
                blank = " " if text[0] == " " else ""
                start = pos + len(blank)
                return LatexToken("char", text[len(blank) :], start, len(text) - len(blank), blank)
        return super().get_token(pos, *arguments, **options)


@cache
def _make_context() -> Any:
    """Return the default macros; special sequences are tried only where one can begin."""
    context = get_default_latex_context_db()
    starts = {special[0] for category in context.category_list for special in context.d[category]["specials"]}
    find = context.test_for_specials

    def test_for_specials(s: str, pos: int, parsing_state: Any = None) -> Any:
        return find(s, pos, parsing_state) if s[pos] in starts else None

    context.test_for_specials = test_for_specials
    return context
