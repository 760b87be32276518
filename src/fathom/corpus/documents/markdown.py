"""Markdown by way of HTML, with the extensions of MyST, GitHub and others."""

import re
from dataclasses import replace
from typing import Any

from fathom.corpus.characters import GAP
from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.html_formulas import FORMULA, spell_tex
from fathom.corpus.documents.html_furniture import FENCED
from fathom.corpus.documents.html_pages import read_markup
from fathom.corpus.documents.sections import FileContent
from fathom.corpus.prose import PROSE_DIRECTIVES

_FRONT = re.compile(
    r"\A(?P<sign>---|\+\+\+)[^\S\n]*\n(?P<fields>\s*(?:#[^\n]*\n\s*)*[\w\"'.-]+[^\S\n]*[:=].*?|\s*\[.*?)\n"
    r"(?:(?P=sign)|\.\.\.)[^\S\n]*\n",
    re.DOTALL,
)
"""Fields at the beginning of a page, or a table of them; between other signs is text."""
_TITLE = re.compile(r"""^title\s*[:=]\s*["']?(?P<title>.*?)["']?\s*$""", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"^(?P<fence>(?P<ticks>`{3,})|:{3,})\{(?P<name>[\w:-]+)\}[^\n]*\n(?P<body>.*?)"
    r"(?:^(?P=fence)[`:]*[^\S\n]*$|(?(ticks)\Z|(?!)))",
    re.MULTILINE | re.DOTALL,
)
"""One of backticks that nothing closes goes on to the end of the page."""
_OPTION = re.compile(r"^:[\w-]+:.*\n", re.MULTILINE)
_DEFINITION = re.compile(r"^(?: {4}|:[^\S\n]+)", re.MULTILINE)
_ROLE = re.compile(r"\{(?P<name>[A-Za-z][\w:.+-]*)\}$")
_TITLED = re.compile(r"(?P<title>.+?)\s*<[^<>]+>", re.DOTALL)
_CODE_ROLES = {"attr", "class", "code", "const", "data", "exc", "func", "meth", "mod", "obj"}
_ALERT = re.compile(r"\[![\w-]+\][+-]?.*")
_TEX = re.compile(r"[\\^_=<>]")
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#])")

_TEMPLATE_CODE = re.compile(
    r"^[^\S\n]*\{[{%][<%-]?\s*(?P<name>highlight|code\w*|prism|terminal|console|mermaid|comment)\b[^\n]*?[%>]\}\}?"
    r"(?P<body>.{0,20000}?)\{[{%][<%-]?\s*(?:end|/\s*)(?P=name)\s*-?[%>]\}\}?",
    re.MULTILINE | re.DOTALL,
)
"""Code between the tags of Hugo's, Jekyll's and GitBook's templates."""
_WHOLE_LINES = re.compile(
    r"^(?:[^\S\n]*(?:\{\{[<%][^\n]*[%>]\}\}|\{%[^\n]*%\}|\{:[^{}\n]*\}|\{/\*.*?\*/\}|;?-+8<-+[^\n]*)"
    r"|(?<![^\n]\n)%[^\S\n][^\n]*"
    r"|import\s(?:[^\n]*?\sfrom\s+)?['\"][^'\"\n]+['\"];?"
    r"|\*\[[^\]\n]+\]:[^\n]*|:{3,}[^\S\n]*(?:\{[^\n]*\}|\w[^\n]*)?)"
    r"[^\S\n]*$",
    re.MULTILINE,
)
"""Tags of templates, lines of MDX, colon fences, attributes, snippets, abbreviations: no text of the page."""
_TABS = re.compile(r"^([^\S\n]*)===[!+]*[^\S\n]+(?:\"[^\"\n]*\"|'[^'\n]*')[^\S\n]*$", re.MULTILINE)
_HEADING_ATTRIBUTES = re.compile(r"^(#{1,6}[^\n]*?)[^\S\n]*\{:?[^\S\n]*[#.][^{}\n]*\}[^\S\n]*$", re.MULTILINE)
_BOX = re.compile(r"^([^\S\n]*(?:[-*+]|\d{1,3}[.)])[^\S\n]+)\[[ xX]\][^\S\n]+", re.MULTILINE)
_IN_LINES = re.compile(
    r"\$`(?P<gitlab>[^`\n]+)`\$"
    r"|(?P<code>(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`))"
    r"|\\{1,2}[(\[](?P<bracketed>(?:(?!\\[()\[\]])[^\n]){1,400})\\{1,2}[)\]]"
    rf"|(?P<formula>{FORMULA})"
    r"|(?P<gap>\{\{[^{}\n]+\}\}|\{%[^\n]*?%\})|(?P<picture>!\[\[[^\[\]\n]+\]\])"
    r"|(?<![\w\]])\[\[(?P<page>[^\W\d][^\[\]|\n#]*)(?:#[^\[\]|\n]*)?(?:\\?\|(?P<shown>[^\[\]\n]+))?\]\](?!\()"
    r"|(?<![=\w])==(?=[^\s=])(?P<marked>[^=\n]+?)(?<=[^\s=])==(?![=\w])"
    r"|(?P<nothing>%%[^%\n]+%%|(?<=[\])`])\{:?\s*[#.][^{}\n]*\}|[^\S\n]\^[A-Za-z][\w-]{2,}[^\S\n]*$"
    r"|(?<![\w:]):[a-z][a-z0-9_+-]+:(?![\w:`])(?:\{[^{}\n]*\})?[^\S\n]?)",
    re.MULTILINE,
)
"""Inline, but not in code: formulas, templates, wiki markup, attributes, names of emoji."""
_MARK = "\ue000"
"""Stands for a gap until the page is rendered: a private-use character, which does not break links."""


def read_markdown(data: bytes) -> FileContent:
    """Read Markdown (CommonMark with tables) into sections; front matter gives the title.

    Admonitions, tabs, notes, definitions and formulas of the usual dialects are read as text: MyST, MkDocs,
    Docusaurus, Pandoc, GitHub, GitLab, Hugo, Jekyll, GitBook, Obsidian. Templates inside a sentence leave a
    mark.
    """
    text = decode_text(data)
    front = _FRONT.match(text)
    title = _TITLE.search(front["fields"]) if front else None
    body = text[front.end() :] if front else text
    page = _make_parser().render(_resolve_dialects(_DIRECTIVE.sub(_open_directive, body)))
    page = page.replace(_MARK, GAP.replace("<", "&lt;"))
    return replace(read_markup(f"<html><body>{page}</body></html>"), title=title["title"] if title else "")


def _make_parser() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.admon import admon_plugin
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(footnote_plugin).use(deflist_plugin).use(admon_plugin)
    parser.core.ruler.push("roles", _spell_extensions)
    parser.add_render_rule("fence", _render_fence)
    return parser


def _render_fence(renderer: Any, *code: Any) -> str:
    return f'<div class="{FENCED}">{renderer.fence(*code)}</div>'


def _resolve_dialects(text: str) -> str:
    text = _TEMPLATE_CODE.sub(lambda found: f"~~~~~\n{found['body']}\n~~~~~", text)
    text = _HEADING_ATTRIBUTES.sub(r"\1", _WHOLE_LINES.sub("", text))
    return _IN_LINES.sub(_resolve_in_line, _BOX.sub(r"\1", _TABS.sub(r"\1!!! tab", text)))


def _resolve_in_line(found: re.Match[str]) -> str:
    escaped = found["bracketed"] and not _TEX.search(found["bracketed"])
    if found["code"] or escaped:
        return found[0]
    formula = found["gitlab"] or found["bracketed"] or found["formula"]
    if formula:
        spelt = spell_tex(formula)
        return _MARK if spelt == GAP else _SIGNS.sub(r"\\\1", spelt)
    if found["picture"]:
        return '<img src="">'
    return _MARK if found["gap"] else found["shown"] or found["page"] or found["marked"] or ""


def _open_directive(found: re.Match[str]) -> str:
    """Return the content of a directive if it is prose; else the directive, which is read as code."""
    name = found["name"]
    if name not in PROSE_DIRECTIVES and name != "glossary":
        return found[0]
    body = _OPTION.sub("", found["body"])
    return "\n" + (_DEFINITION.sub("", body) if name == "glossary" else body)


def _spell_extensions(state: Any) -> None:
    """Turn roles into text, and drop the marks of alerts."""
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
    """Turn a token into the text of a role; names of objects stay code."""
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
