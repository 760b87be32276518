"""Whether a paragraph is a listing or a command, where nothing but its words says so."""

import re

_SIGN = re.compile(
    r"[\w>\])]\s?\(\)|\w\([^()]*[,=\"'][^()]*\)|\);|\w\.\w+\(|[=!<>+\-*/|&:]=|->|=>|<-|::|&&|"
    r"\|\||\+\+|(?<=\s)=(?=\s)|[{}]|"
    r"(?<=\s)--?[A-Za-z][\w-]*|\$\w|</?\w+[^<>]*>|\"\w+\"\s*:|;(?=\s*$)|\w=\w|"
    r"(?:^|\s)(?:\$|>>>|\.\.\.|#include|In \[\d+\]:|[A-Z]:\\>?|[\w.-]+@[\w.-]+:\S*[$#]|"
    r"def|elif|endif|return|void)(?=\s)"
)
_PROMPT = re.compile(r"(?:\$|>>>|In \[\d+\]:|[A-Z]:\\[^>\s]*>|[\w.-]+@[\w.-]+:\S*[$#])\s*\S")
_WORD = re.compile(r"(?<![\w.$-])[^\W\d_]{2,}(?![\w(=$-]|\.\w)|[\u3040-\u9fff]")
_FEWEST, _SHARE, _SHARE_IN_SENTENCE = 3, 0.3, 1.0


def reads_as_code(text: str) -> bool:
    """Say whether a paragraph on one line is code: a prompt begins it, or its signs are as frequent as words.

    A sentence that names functions and options has more words than signs.
    """
    ends = text[-1:] in {".", "!", "?"}
    if _PROMPT.match(text) and not ends:
        return True
    signs = len(_SIGN.findall(text))
    share = _SHARE_IN_SENTENCE if ends else _SHARE
    return signs >= _FEWEST and signs > share * len(_WORD.findall(text))


def measure_signs(text: str) -> float:
    """Return signs of code for each word of a text: up to 0.11 in manuals, 0.16 in makefiles."""
    return len(_SIGN.findall(text)) / max(1, len(_WORD.findall(text)))
