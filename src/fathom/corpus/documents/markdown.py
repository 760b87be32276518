"""Markdown, through the HTML that it stands for."""

import re
from dataclasses import replace

from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.html_pages import read_markup
from fathom.corpus.documents.sections import FileContent

_FRONT = re.compile(r"\A---\n(?P<fields>.*?)\n(?:---|\.\.\.)\n", re.DOTALL)
_TITLE = re.compile(r"""^title:\s*["']?(?P<title>.*?)["']?\s*$""", re.MULTILINE)


def read_markdown(data: bytes) -> FileContent:
    """Read Markdown (CommonMark with tables) into sections; front matter gives the title."""
    from markdown_it import MarkdownIt

    text = decode_text(data)
    front = _FRONT.match(text)
    title = _TITLE.search(front["fields"]) if front else None
    body = text[front.end() :] if front else text
    content = read_markup(
        f"<html><body>{MarkdownIt('commonmark').enable('table').render(body)}</body></html>"
    )
    return replace(content, title=title["title"] if title else "")
