"""Markdown, through the HTML that it stands for; with what MyST and GitHub add to it."""

import re
from dataclasses import replace
from typing import Any

from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.html_formulas import spell_tex
from fathom.corpus.documents.html_pages import read_markup
from fathom.corpus.documents.sections import FileContent
from fathom.corpus.prose import PROSE_DIRECTIVES

_FRONT = re.compile(r"\A---\n(?P<fields>.*?)\n(?:---|\.\.\.)\n", re.DOTALL)
_TITLE = re.compile(r"""^title:\s*["']?(?P<title>.*?)["']?\s*$""", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}[^\n]*\n(?P<body>.*?)^(?P=fence)[^\S\n]*$",
    re.MULTILINE | re.DOTALL,
)
_OPTION = re.compile(r"^:[\w-]+:.*\n", re.MULTILINE)
_DEFINITION = re.compile(r"^(?: {4}|:[^\S\n]+)", re.MULTILINE)
_COLONS = re.compile(r"^:{3,}[^\S\n]*(?:\{?\w[^\n]*)?$", re.MULTILINE)
_ROLE = re.compile(r"\{(?P<name>[A-Za-z][\w:.+-]*)\}$")
_TITLED = re.compile(r"(?P<title>.+?)\s*<[^<>]+>", re.DOTALL)
_CODE_ROLES = {"attr", "class", "code", "const", "data", "exc", "func", "meth", "mod", "obj"}
_ALERT = re.compile(r"\[!\w+\]\s*")


def read_markdown(data: bytes) -> FileContent:
    """Read Markdown (CommonMark with tables) into sections; front matter gives the title.

    Of MyST, notes and glossaries are prose, and roles are their text; of GitHub, the sign of an alert goes.
    """
    from markdown_it import MarkdownIt

    text = decode_text(data)
    front = _FRONT.match(text)
    title = _TITLE.search(front["fields"]) if front else None
    body = text[front.end() :] if front else text
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.push("roles", _spell_extensions)
    page = parser.render(_COLONS.sub("", _DIRECTIVE.sub(_open_directive, body)))
    return replace(read_markup(f"<html><body>{page}</body></html>"), title=title["title"] if title else "")


def _open_directive(found: re.Match[str]) -> str:
    """Return what stands in a directive if it is prose; else the directive, which is read as code."""
    name = found["name"]
    if name not in PROSE_DIRECTIVES and name != "glossary":
        return found[0]
    body = _OPTION.sub("", found["body"])
    return "\n" + (_DEFINITION.sub("", body) if name == "glossary" else body)


def _spell_extensions(state: Any) -> None:
    """Make text of roles, and drop the signs of alerts."""
    for number, token in enumerate(state.tokens):
        if token.type != "inline" or not token.children:
            continue
        first = token.children[0]
        if number > 1 and state.tokens[number - 2].type == "blockquote_open" and first.type == "text":
            first.content = _ALERT.sub("", first.content, count=1)
        for before, code in zip(token.children, token.children[1:], strict=False):
            role = _ROLE.search(before.content) if before.type == "text" else None
            if role and code.type == "code_inline":
                before.content = before.content[: role.start()]
                _spell_role(role["name"], code)


def _spell_role(name: str, token: Any) -> None:
    """Make a token the text of a role; that of an object stays code."""
    source = token.content
    titled = _TITLED.fullmatch(source)
    if titled:
        token.type, token.content = "text", titled["title"]
    elif name == "math":
        token.type, token.content = "text", spell_tex(source)
    elif name.rpartition(":")[2] in _CODE_ROLES:
        token.content = source.rpartition(".")[2] if source.startswith("~") else source.lstrip("!.")
    else:
        token.type = "text"
