r"""Is a text LaTeX? A converter of LaTeX spoils plain text: `--clean`, `a && b`, `$1`, `\copy`."""

import re
from typing import Literal

Markup = Literal["latex", "plain", "auto"]

_EVIDENCE = re.compile(
    r"\\(?:begin|end|emph|text[a-z]{2}|section|subsection|subsubsection|paragraph|footnote|caption|label|ref|"
    r"eqref|[a-z]*cite[a-z]*|frac|sqrt|math[a-z]{2,4}|mbox|hat|tilde|bar|vec|overline|operatorname)\*?\s?[\[{]"
    r"|\\(?:alpha|beta|gamma|delta|epsilon|varepsilon|lambda|mu|nu|pi|rho|sigma|theta|phi|psi|omega|Delta|Gamma|"
    r"Lambda|Omega|Phi|Sigma|infty|partial|nabla|cdot|cdots|ldots|leq|geq|approx|sim|rightarrow|times|otimes|"
    r"sum|int|prod|mathbb|mathcal|mathrm|mathbf|em|it|bf|rm)(?![A-Za-z\\])"
    r"|\\[\"'`^~=.Hcuv]\{[A-Za-z\\]|(?<=[A-Za-z])\\[\"'`^][aeiou](?=[a-z])"
    r"|\[\\(?:[a-z]*cite[a-z]*|[a-z]*ref)=|\{\{cite:"
    # formulas between dollar signs, but not variables of a shell
    r"|(?<![\\\w$])\$(?![\s${?]|[A-Z]{3})[^$\n'\"`;]{0,200}?[\\^_=<>{}+][^$\n'\"`;]{0,200}?(?<=[^\s$])\$(?!\w)"
    r"|(?<![\\\w$])\$(?![A-Za-z]{4})[A-Za-z0-9+\-*/().,]{1,20}\$(?![\w{(])"
)
_CHARACTERS = 4000
"""A text has LaTeX in it if there is a sign of it in so many characters."""


def is_latex(text: str) -> bool:
    """Say whether a text is LaTeX: commands with arguments, Greek letters, formulas between dollar signs.

    A sign in every 4,000 characters is needed: papers have hundreds, and manuals name a command now and then.
    """
    if "\\" not in text and "$" not in text:
        return False
    needed = 1 + len(text) // _CHARACTERS
    found = _EVIDENCE.finditer(text)
    return all(next(found, None) is not None for _ in range(needed))


def decide(markup: Markup, text: str) -> bool:
    """Say whether a document is to be converted from LaTeX."""
    return is_latex(text) if markup == "auto" else markup == "latex"
