r"""LaTeX sources: sections by command, paragraphs converted to plain text. Nothing is included or run."""

import re
from collections import Counter

from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.sections import FileContent, Outline
from fathom.corpus.latex import convert_latex
from fathom.errors import InputError

_LEVELS = {"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6}
_COMMENT = re.compile(r"(?<!\\)%.*")
_BODY = re.compile(r"\\begin\s*\{document\}(?P<body>.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
_DROPPED = re.compile(
    r"\\begin\s*\{(?P<name>equation|align|eqnarray|gather|multline|displaymath|math|figure|table|tabular|"
    r"tabularx|longtable|verbatim|Verbatim|lstlisting|minted|algorithm|algorithmic|tikzpicture|picture|"
    r"thebibliography|comment|array)(?P<star>\*?)\}.*?\\end\s*\{(?P=name)(?P=star)\}",
    re.DOTALL,
)
_DISPLAY = re.compile(r"\\\[.*?\\\]|\$\$.*?\$\$", re.DOTALL)
_HEADING = re.compile(
    rf"\\(?P<command>{'|'.join(_LEVELS)})\*?\s*(?:\[[^\]]*\])?\s*\{{(?P<title>(?:[^{{}}]|\{{[^{{}}]*\}})*)\}}"
)
_TITLE = re.compile(r"\\title\s*(?:\[[^\]]*\])?\s*\{(?P<title>(?:[^{}]|\{[^{}]*\})*)\}")
_BEFORE_MARK = re.compile(r"\s+(?=[.,;:!?](?:\s|$))")
"""Blanks that a citation leaves before a mark."""
_ITEM = re.compile(
    r"\\item\b(?:\s*\[[^\]]*\])?|\\(?:begin|end)\s*\{[^}]*\}(?:\[[^\]]*\])?|\\maketitle|\\par\b"
)


def read_latex(data: bytes) -> FileContent:
    """Read a LaTeX source into sections; a piece without `document` is read whole.

    Raises
    ------
    InputError
        If it is no text.
    """
    text = _COMMENT.sub("", decode_text(data))
    found = _BODY.search(text)
    title = _TITLE.search(text)
    body = found["body"] if found else text
    if not body.strip():
        raise InputError("there is no text in this LaTeX source")
    body = _DISPLAY.sub(" ", _DROPPED.sub(" ", body))
    outline = Outline()
    start = 0
    for match in _HEADING.finditer(body):
        _add_paragraphs(body[start : match.start()], outline)
        outline.add_heading(_LEVELS[match["command"]], _convert(match["title"], outline))
        start = match.end()
    _add_paragraphs(body[start:], outline)
    return outline.end(_convert(title["title"], outline) if title else "")


def _add_paragraphs(text: str, outline: Outline) -> None:
    for paragraph in re.split(r"\n\s*\n", _ITEM.sub("\n\n", text)):
        outline.add_paragraph(_convert(paragraph, outline))


def _convert(text: str, outline: Outline) -> str:
    """Return plain text; what cannot be converted stays and is counted."""
    counts: Counter[str] = Counter()
    plain = convert_latex(text, counts)
    outline.left_out.update(counts)
    return _BEFORE_MARK.sub("", plain)
