r"""LaTeX to plain text; text that the converter cannot handle is left unchanged and counted.

pylatexenc raises on a bare `\sqrt` or `\verb`, overflows the stack on nested braces, leaves `%s` for a
`\frac` that lacks an argument, and reads an unescaped `%` as the start of a comment [Pylatexenc]. It
corrupts plain text (`--clean`, `a && b`, `$1`, `\copy`), so a text must be recognized as LaTeX first.
"""

import logging
import re
from collections import Counter
from functools import cache, partial
from string import printable
from typing import Any, Literal

from fathom.config.benchmark import Characters
from fathom.corpus.characters import GAP, find_foreign, spell_plainly
from fathom.io.bounded_requests import BoundError
from fathom.jobs.bounded_calls import interrupt_after

LONGEST_INPUT = 20_000
"""Longer pieces of text, in characters, are not converted."""

TIME_LIMIT = 1.0
"""Seconds of processor time, not of wall time, so that a busy machine gives the same text."""

_OPTIONS = r"(?:\s{0,9}\[[^\[\]]{0,300}\]){0,3}"
_ARGUMENT = r"\s{0,9}\{[^{}]{0,1000}(?:\}|$)"
_CITE = r"(?:[Cc]ite[A-Za-z]*|(?:no|paren|text|auto|foot|super|full|online)cites?)"
_REF = r"(?!hyperref|href|eqref)[A-Za-z]{0,20}refs?"
CITATION = re.compile(
    rf"\[\\{_CITE}=[^\[\]\s]{{0,1000}}\]"  # [\cite=resnet], from text taken out of TeX
    r"|\{\{cite:[^{}]{0,1000}\}\}"  # {{cite:9a0e...}}, from unarXive
    rf"|\\{_CITE}(?![A-Za-z])\*?(?:{_OPTIONS}{_ARGUMENT})?"
    rf"|\\(?:label|index){_ARGUMENT}"
)
REFERENCE = re.compile(
    rf"\[\\(?:eq|page)?ref=[^\[\]\s]{{0,1000}}\]|\\{_REF}(?:range)?\*?(?:{_ARGUMENT}){{1,2}}"
)
_COMMENT_SIGN = re.compile(r"(?<=[{}])%")
_PERCENT = re.compile(r"(?<!\\)%")
# everything special to the default converter
_LATEX = re.compile(r"[\\{}$%~&]|--|``|''|[?!]`|\n\s*\n")
_NOT_ALLOWED = re.compile(f"[^{re.escape(printable)}]")


def clean_sentence(
    text: str, counts: Counter[str] | None = None, *, latex: bool = True, characters: Characters = "ascii"
) -> str | None:
    """Clean a sentence; return None if it is dropped [RawCorpora, App. A.2].

    Citations are removed, LaTeX becomes text, white space becomes single blanks. A sentence is dropped if
    nothing is left, or for its characters.

    Parameters
    ----------
    counts : Counter, optional
        Counts `dropped_characters`, `dropped_script`, `dropped_unreadable`, `dropped_symbols`,
        `dropped_empty`, and what :func:`convert_latex` counts.
    characters : str, default="ascii"
        `ascii` drops any character other than ASCII letters, digits, white space and punctuation, as the
        papers do. `text` spells typographic ones in ASCII and keeps letters with accents; see
        :mod:`fathom.corpus.characters`.
    """
    counts = Counter() if counts is None else counts
    clean = convert_latex(text, counts) if latex else text
    clean = " ".join((spell_plainly(clean) if characters == "text" else clean).split())
    if not clean:
        counts["dropped_empty"] += 1
        return None
    if characters == "text":
        reason = find_foreign(clean)
    else:
        reason = "dropped_characters" if _NOT_ALLOWED.search(clean) else ""
    if reason:
        counts[reason] += 1
        return None
    return clean


def convert_latex(text: str, counts: Counter[str]) -> str:
    r"""Remove citations and convert LaTeX to text; on failure only remove citations.

    `\cref`, `\autoref` and the like become `<ref>`, as `\ref` does. A percent sign stays a percent sign:
    the text has no comments any more.

    Parameters
    ----------
    counts : Counter
        Counts unchanged texts by reason: `latex_failed`, `latex_too_slow`, `latex_too_long` and
        `latex_bad_result`.
    """
    text = REFERENCE.sub(GAP, CITATION.sub("", text))
    converted = try_to_convert(text, counts)
    return text if converted is None else converted


def try_to_convert(text: str, counts: Counter[str]) -> str | None:
    """Convert LaTeX to text without citations; return None on failure, which is counted."""
    text = CITATION.sub("", text)
    if not _LATEX.search(text):
        return text
    if len(text) > LONGEST_INPUT:
        counts["latex_too_long"] += 1
        return None
    try:
        marked = _PERCENT.sub(r"\\%", _COMMENT_SIGN.sub("", text))
        converted = interrupt_after(TIME_LIMIT, partial(_run_converter, marked), processor=True)
    except BoundError:
        counts["latex_too_slow"] += 1
        return None
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        counts["latex_failed"] += 1
        return None
    if converted.count("%s") > text.count("%s"):  # a format string that lacked its argument
        counts["latex_bad_result"] += 1
        return None
    return converted


def _run_converter(text: str) -> str:
    """Convert with pylatexenc's defaults; its own errors become `ValueError`."""
    from pylatexenc.latexwalker import LatexWalkerError

    from fathom.corpus.latex_parser import parse_latex

    try:
        return str(_make_converter().nodelist_to_text(parse_latex(text)))
    except LatexWalkerError as error:
        raise ValueError(str(error)) from error


@cache
def _make_converter() -> Any:
    from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

    logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)  # its warnings are counted, not printed
    known = get_default_latex_context_db()
    same_every_day = [MacroTextSpec("today", simplify_repl=GAP), MacroTextSpec("maketitle", discard=True)]
    known.add_context_category("days", macros=same_every_day, prepend=True)
    return LatexNodes2Text(latex_context=known)


Markup = Literal["latex", "plain", "auto"]

_EVIDENCE = re.compile(
    r"\\(?:begin|end|emph|text[a-z]{2}|section|subsection|subsubsection|paragraph|footnote|caption|label|ref|"
    r"eqref|href|url|"
    r"[a-z]*cite[a-z]*|frac|sqrt|math[a-z]{2,4}|mbox|hat|tilde|bar|vec|overline|operatorname)\*?\s?[\[{]"
    r"|\\(?:alpha|beta|gamma|delta|epsilon|varepsilon|lambda|mu|nu|pi|rho|sigma|theta|phi|psi|omega|Delta|Gamma|"
    r"Lambda|Omega|Phi|Sigma|infty|partial|nabla|cdot|cdots|ldots|leq|geq|approx|sim|rightarrow|times|otimes|"
    r"sum|int|prod|mathbb|mathcal|mathrm|mathbf|em|it|bf|rm|item)(?![A-Za-z\\])"
    r"|\\[\"'`^~=.Hcuv]\{[A-Za-z\\]|(?<=[A-Za-z])\\[\"'`^][aeiou](?=[a-z])"
    r"|\[\\(?:[a-z]*cite[a-z]*|[a-z]*ref)=|\{\{cite:"
    # formulas between dollar signs, but not variables of a shell
    r"|(?<![\\\w$])\$(?![\s${?]|[A-Z]{3})[^$\n'\"`;]{0,200}?[\\^_=<>{}+][^$\n'\"`;]{0,200}?(?<=[^\s$])\$(?!\w)"
    r"|(?<![\\\w$])\$(?![A-Za-z]{4})[A-Za-z0-9+\-*/().,]{1,20}\$(?![\w{(])"
)
_CHARACTERS = 4000
"""A text is LaTeX if it has at least one mark of LaTeX in so many characters."""


def is_latex(text: str) -> bool:
    """Say whether a text is LaTeX: commands with arguments, Greek letters, formulas between dollar signs.

    One mark per 4,000 characters is needed: papers have hundreds, manuals name a command now and then.
    """
    if "\\" not in text and "$" not in text:
        return False
    needed = 1 + len(text) // _CHARACTERS
    found = _EVIDENCE.finditer(text)
    return all(next(found, None) is not None for _ in range(needed))


def decide(markup: Markup, text: str) -> bool:
    """Say whether a document is to be converted from LaTeX."""
    return is_latex(text) if markup == "auto" else markup == "latex"
