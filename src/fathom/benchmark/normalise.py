"""Normalisation of abstracts: running text becomes runs of tokens, which phrases do not cross."""

import html
import re
import unicodedata

from fathom.corpus.characters import CODE_MARK

Run = list[str]
"""Consecutive tokens with no punctuation between them; phrases are found within a run."""

_BREAK = " ; "  # any character that is neither part of a token nor white space ends a run

_QUOTES = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2010": "-", "\u00ad": None, CODE_MARK: _BREAK}
)
_ADDRESSES = re.compile(
    r"\b(?:https?|ftp)://\S+|\bwww\.\S+|\bdoi:\s?\S+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TAGS = re.compile(r"</?[a-z][^<>]{0,300}>|<!--.{0,1000}?-->", re.DOTALL)
_ACCENTS = re.compile(r"\{?\\(?:['\"`^~=.]|[hcuvk](?=[\s{]))\s?\{?\\?([a-z])\}?\}?")
_MATH = re.compile(
    r"\\begin\{(?:equation|align|math|displaymath|eqnarray)\*?\}.{0,4000}?\\end\{[a-z]+\*?\}"
    r"|\\\(.{0,1000}?\\\)|\\\[.{0,4000}?\\\]|\$\$[^$]{0,4000}\$\$"
    # a dollar sign before a space, or a closing one before a digit, is a currency sign
    r"|(?<!\\)\$(?=\S)[^$]{0,999}(?<=[^\s\\])\$(?!\d)",
    re.DOTALL,
)
_JOINED_TO_MATH = re.compile(r"(?<!\S)[\w-]*\x1d[\w\x1d-]*")  # the `-means` of `$k$-means` is not a word
_STYLED = re.compile(
    r"\\(?:emph|text[a-z]{0,6}|underline|mbox)\s?\{([^{}]*)\}|\{\\(?:em|it|bf|tt|sc|sl|rm)\b([^{}]*)\}"
)
_COMMANDS = re.compile(r"\\[a-z]+\*?|\\.")
_BRACKETS = re.compile(r"[()\[\]{}]")
_CLOSES = {")": "(", "]": "[", "}": "{"}
_TOKENS = re.compile(r"(\w+(?:[-']\w+)*)|\S")

_WHOLE = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not",
    "let's": "let us", "it's": "it is", "he's": "he is", "she's": "she is", "that's": "that is",
    "this's": "this is", "there's": "there is", "here's": "here is", "what's": "what is", "who's": "who is",
    "where's": "where is", "when's": "when is", "how's": "how is", "why's": "why is", "y'all": "you all",
    "ma'am": "madam", "o'clock": "of the clock",
}  # fmt: skip
_ENDINGS = {"re": "are", "ve": "have", "ll": "will", "d": "would", "m": "am"}


def split_into_runs(text: str) -> list[Run]:
    """Normalise a text and split it into runs of tokens [RawCorpora, App. A.1].

    Text is lower-cased and loses its accents, as in the sentence encoder's own tokenizer. Bracketed text,
    mathematics, LaTeX commands, HTML tags, URLs and e-mail addresses are dropped, and so are possessive
    endings. Contractions are expanded. Tokens keep inner hyphens. Dropped text and punctuation end a run.
    Returned: non-empty runs of tokens. A token may contain digits, underscores or letters of any script; a
    later step decides whether it may be part of a keyword.
    """
    runs: list[Run] = [[]]
    for match in _TOKENS.finditer(_clean(text)):
        if match[1] is None:
            runs.append([])
        else:
            runs[-1].extend(_expand(match[1]))
    return [run for run in runs if run]


def _clean(text: str) -> str:
    text = _split(html.unescape(text) if "&" in text else text)
    if "\\" in text:
        text = _ACCENTS.sub(r"\1", text)
    text = _ADDRESSES.sub(_BREAK, text)
    if "$" in text or "\\" in text:
        text = _JOINED_TO_MATH.sub(_BREAK, _MATH.sub("\x1d", text))
        text = _STYLED.sub(lambda match: f" {match[1] or match[2] or ''} ", text)
    if "<" in text:
        text = _TAGS.sub(_BREAK, text)
    text = _drop_brackets(text)
    return _COMMANDS.sub(_BREAK, text) if "\\" in text else text


def _split(text: str) -> str:
    """Return text in lower case and NFKD form, without accents, with spaces for control characters."""
    text = unicodedata.normalize("NFKD", _CONTROL.sub(" ", text.translate(_QUOTES))).lower()
    if not text.isascii():
        # NFKD and lower-casing can each produce characters that the other changes
        text = unicodedata.normalize("NFKD", text).translate(_QUOTES)
        text = "".join(" " if unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Co", "Cn"} else sign
                       for sign in text if unicodedata.category(sign) not in {"Mn", "Me", "Mc"})  # fmt: skip
    return text


def _drop_brackets(text: str) -> str:
    """Drop bracketed text, nested brackets included; an unbalanced bracket becomes a break.

    A single pass with a stack: applying a pattern until nothing changes is quadratic in the nesting depth.
    """
    pieces: list[str] = []
    opened: list[tuple[str, int]] = []
    last = 0
    for match in _BRACKETS.finditer(text):
        pieces.append(text[last : match.start()])
        last = match.end()
        sign = match[0]
        if sign not in _CLOSES:
            opened.append((sign, len(pieces)))
        elif opened and opened[-1][0] == _CLOSES[sign]:
            del pieces[opened.pop()[1] :]
        pieces.append(_BREAK)
    return "".join([*pieces, text[last:]])


def _expand(token: str) -> list[str]:
    """Return the words of a token: its contraction expanded, its possessive ending dropped."""
    after: list[str] = []
    while True:
        if token in _WHOLE:
            return [*_WHOLE[token].split(), *after]
        head, apostrophe, tail = token.rpartition("'")
        if not apostrophe:
            break
        if tail == "s":
            token = head
        elif tail == "t" and head.endswith("n") and len(head) > 1:
            token, after = head[:-1], ["not", *after]
        elif tail in _ENDINGS:
            token, after = head, [_ENDINGS[tail], *after]
        else:
            break
    return [token, *after]
