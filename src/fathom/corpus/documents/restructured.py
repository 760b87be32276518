"""reStructuredText, with or without Sphinx: sections by adornment, prose as of docstrings.

docutils knows none of Sphinx's directives and roles, reports each as an error in the text, and can include
files, so the rules of :mod:`fathom.corpus.prose` read it instead.
"""

import re
from itertools import islice

from fathom.corpus.characters import CODE_MARK, GAP
from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.html_formulas import spell_tex
from fathom.corpus.documents.sections import FileContent, Outline, count_characters
from fathom.corpus.prose import docstring_to_text

_HEADING = re.compile(
    r"^(?:(?P<over>(?P<sign>[!-/:-@\[-`{-~])(?P=sign){2,})[ ]*\n)?"
    r"[ ]*(?P<title>\S[^\n]*?)[ ]*\n"
    r"(?P<under>(?P<mark>[!-/:-@\[-`{-~])(?P=mark){2,})[ ]*$",
    re.MULTILINE,
)
_ROLE = re.compile(r":[\w:+-]+:`~?([^`<]*?)\s*(?:<[^`>]*>)?`|``?([^`]*?)``?_{0,2}")
_CODE = re.compile(r"``[^`]+``|:(?:\w+:)?(?:attr|class|const|data|exc|func|meth|mod|obj):`")
_MARKUP = re.compile(rb"^ *\.\. [a-z][\w:-]*::(?:\s|$)|:[a-z][\w:+-]*:`[^`\n]+`", re.MULTILINE)
_FEWEST = 3
_MATH = re.compile(r":math:`(?P<source>[^`]+)`")
_REFERENCE = re.compile(
    r"(?P<kept>``.*?``|`[^`]*`_{0,2})|(?<![\w`.])(?P<word>[A-Za-z]\w*?(?:-\w+?)*)__?(?!\.?\w|[`(\[])"
)
_ABOUT = re.compile(
    r"^:(?:Authors?|Address|Contact|Copyright|Date|Organization|Revision|Status|Version|Last-Modified):.*\n"
    r"(?: +\S.*\n)*",
    re.MULTILINE,
)
_TERM = re.compile(
    r"(?P<term>(?:(?<=\n\n)|\A)(?P<indent> *)(?![-*+>.|]|:(?![\w:+-]+:`)|\(?[0-9a-z]{1,2}[.)] |.*: )"
    r"\S+(?: \S+){0,4}(?<![.,;:])\n)(?=(?P=indent) +\S)"
)
"""A short line right above an indented one."""
_LINE_BLOCK = re.compile(r"^( *)\| (?=\S)(?![^\n]*\|[ ]*$)", re.MULTILINE)
_TEMPLATE = re.compile(r"^ *\{%[^\n]*%\} *$", re.MULTILINE)
_SUBSTITUTION = re.compile(
    r"^ *\.\. \|(?P<name>[^|\n]+)\| (?P<kind>[\w-]+)::[ ]*(?P<text>[^\n]*(?:\n +[^\s:][^\n]*)*)[^\n]*\n?",
    re.MULTILINE,
)
_SUBSTITUTED = re.compile(r"(?<![\w|`])\|(?P<name>\w(?:[^|\n]*[^|\s])?)\|_{0,2}(?![\w|])")
_BUILT_IN = dict.fromkeys(("version", "release", "today"), GAP)
"""Substitutions that Sphinx defines, different in each version."""
_LABEL = re.compile(r"^\.\. _([^:\n]+):\s*$", re.MULTILINE)


def is_restructured(data: bytes) -> bool:
    """Say whether plain text is reStructuredText, by its directives and roles."""
    return sum(1 for _ in islice(_MARKUP.finditer(data), _FEWEST)) == _FEWEST


def read_restructured(data: bytes) -> FileContent:
    """Read reStructuredText into sections."""
    text = decode_text(data).expandtabs()
    outline = Outline()
    outline.characters += count_characters(text)
    text = _substitute(_TEMPLATE.sub("", _LINE_BLOCK.sub(r"\1", text)))
    styles: list[tuple[str, bool]] = []
    start = 0
    for match in _HEADING.finditer(text):
        title, under, over = match["title"], match["under"], match["over"]
        # a line of a table is not an underline, nor is one much shorter than the line above
        if len(under) + 3 < len(title) or re.fullmatch(r"[=\-+| ]+", title) or (over and over[0] != under[0]):
            continue
        _add_body(text[start : match.start()], outline)
        style = (under[0], bool(over))
        if style not in styles:
            styles.append(style)
        outline.add_heading(
            styles.index(style) + 1, _ROLE.sub(r"\1\2", title), _find_label(text, match.start())
        )
        start = match.end()
    _add_body(text[start:], outline)
    return outline.end()


def _substitute(text: str) -> str:
    known = _BUILT_IN | {
        found["name"]: " ".join(found["text"].split()) if found["kind"] == "replace" else GAP
        for found in _SUBSTITUTION.finditer(text)
    }
    return _SUBSTITUTED.sub(lambda found: known.get(found["name"], found[0]), _SUBSTITUTION.sub("", text))


def _add_body(body: str, outline: Outline) -> None:
    spelt = _MATH.sub(lambda found: spell_tex(found["source"]), _ABOUT.sub("", body))
    marked = _CODE.sub(rf"{CODE_MARK}\g<0>", _REFERENCE.sub(r"\g<kept>\g<word>", spelt))
    # a term is not part of the sentence that defines it
    for paragraph in docstring_to_text(_TERM.sub(r"\g<term>\n", marked), outline.left_out).split("\n\n"):
        outline.add_paragraph(paragraph)


def _find_label(text: str, place: int) -> str:
    labels = _LABEL.findall(text[max(0, place - 200) : place].rstrip() + "\n")
    above = text[max(0, place - 200) : place].rstrip().rpartition("\n")[2]
    return labels[-1] if labels and above.startswith(".. _") else ""
