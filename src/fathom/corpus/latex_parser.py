r"""pylatexenc's parser with the same result in half the time.

It takes text one sign at a time, tries each special sequence at every one, and builds its list of macros
anew for every text. Here a run of plain words is one token, and the list is made once. That leans on how the
parser's methods call each other, so any other version than the one it was held against parses in its own way.
"""

import re
from functools import cache
from typing import Any

import pylatexenc
from pylatexenc.latexwalker import LatexToken, LatexWalker, get_default_latex_context_db

KNOWN_VERSION = "2.11"
"""The version of pylatexenc whose result this is known to give."""
# signs that mean nothing but themselves, words of them with single blanks between
_PLAIN_RUN = re.compile(r" ?[\w,.;:=+*/@|\"]+(?: [\w,.;:=+*/@|\"]+)*")


def parse_latex(text: str) -> Any:
    """Return the nodes of a piece of LaTeX, as pylatexenc's own parser finds them with its defaults."""
    known = pylatexenc.__version__ == KNOWN_VERSION
    return (PlainRunWalker(text) if known else LatexWalker(text)).get_latex_nodes()[0]


class PlainRunWalker(LatexWalker):  # type: ignore[misc]
    """A parser of one piece of LaTeX, for :meth:`get_latex_nodes`.

    Parameters
    ----------
    text : str
        What is parsed, with pylatexenc's default macros and flags.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text, latex_context=_make_context())

    def get_token(self, pos: int, *arguments: Any, **options: Any) -> LatexToken:
        """Return the token at a place, several plain words as one where the loop over nodes asks."""
        # all others that ask want one sign, and none of them gives both of these
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
    """Return the default macros, specials tried only where one can begin."""
    context = get_default_latex_context_db()
    starts = {special[0] for category in context.category_list for special in context.d[category]["specials"]}
    find = context.test_for_specials

    def test_for_specials(s: str, pos: int, parsing_state: Any = None) -> Any:
        return find(s, pos, parsing_state) if s[pos] in starts else None

    context.test_for_specials = test_for_specials
    return context
