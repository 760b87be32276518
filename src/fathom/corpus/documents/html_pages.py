"""HTML and XHTML: prose by heading, without navigation, code and tables. Nothing is fetched or run."""

import re
from typing import Any

from fathom.corpus.characters import CODE_MARK
from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.plain import add_plain_text
from fathom.corpus.documents.sections import LINKS, FileContent, Outline
from fathom.errors import InputError

_DROPPED = {
    "script", "style", "noscript", "template", "svg", "math", "nav", "form", "button", "select", "textarea",
    "iframe", "object", "embed", "applet", "audio", "video", "canvas", "map", "head", "menu", "footer", "dt",
}  # fmt: skip
_BLOCKS = {
    "p", "div", "li", "dd", "dl", "ul", "ol", "section", "article", "main", "body", "blockquote", "header",
    "aside", "figure", "figcaption", "table", "tr", "td", "th", "tbody", "thead", "caption", "center", "hr",
    "address", "details", "summary", "fieldset", "html", "hgroup",
}  # fmt: skip
_CODE = {"code", "kbd", "samp", "tt", "var"}
_BLANK = f" \t\r\n{CODE_MARK}"
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_ROLES = {"navigation", "banner", "contentinfo", "search", "menu", "menubar", "complementary", "doc-toc"}
_NAVIGATION = {
    "nav", "navbar", "navigation", "navheader", "navfooter", "nav-panel", "sidebar", "sphinxsidebar", "toc",
    "breadcrumb", "breadcrumbs", "menu", "related", "footer", "headerlink", "permalink", "copiable-link",
    "copyright", "skip-link", "region-contents", "element-contents", "contents_element", "footnote-backref",
}  # fmt: skip
_FOOTNOTE = re.compile(r"\s*\[?(?:\d{1,3}|[*†‡])\]?\s*")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_PROLOGUE = re.compile(r"^\s*<\?xml[^>]*\?>")
_LINK_SHARE = 0.7
_LABEL_AND_COMMAS = re.compile(r"[\w\s]{0,40}:(?:[^\w]|\b(?:see|also|and|or)\b)*", re.IGNORECASE)
"""All that a row of links has beside them, such as `See also: a, b and c.`"""
_LONG_CELL = 400
_PRE_SHARE = 0.6
"""Above this share of its text in `pre`, a page is plain text that someone put into HTML, such as an RFC."""


def read_html(data: bytes) -> FileContent:
    """Read HTML; see :func:`read_markup`."""
    return read_markup(decode_text(data, markup=True))


def read_markup(text: str) -> FileContent:
    """Read HTML into sections.

    Left out are scripts, styles, forms, navigation, code, tables of data, footers and what is hidden.

    Parameters
    ----------
    text : str
        A page or a piece of one.

    Raises
    ------
    InputError
        If it holds no element.
    """
    outline = Outline()
    title = add_markup(text, outline)
    return outline.end(title)


def add_markup(text: str, outline: Outline) -> str:
    """Add the sections of a page to an outline; return its title."""
    root = _parse(text)
    if root is None:
        raise InputError("there is no HTML in this file")
    found = root.find(".//title")
    title = " ".join((found.text_content() if found is not None else "").split())
    every = len("".join(root.itertext()))
    verbatim = root.findall(".//pre")
    if every and sum(len(each.text_content()) for each in verbatim) > _PRE_SHARE * every:
        for each in verbatim:
            add_plain_text(each.text_content(), outline)
        return title
    _Walker(outline).walk(root)
    return title


def _parse(text: str) -> Any:
    """Return the root element of HTML; entities beyond those of HTML stay as they are."""
    from lxml import etree, html

    # a string must not declare an encoding
    text = _PROLOGUE.sub("", text, count=1)
    parser = html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, huge_tree=False)
    try:
        return html.document_fromstring(text, parser=parser, ensure_head_body=True)
    except (etree.ParserError, etree.XMLSyntaxError, AssertionError) as error:
        raise InputError(f"this HTML cannot be read: {error}") from error


class _Walker:
    """Walks over a page and gives its paragraphs to an outline."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._pieces: list[str] = []
        self._unlinked: list[str] = []
        self._linked = self._links = 0
        self._in_link = 0
        self._is_entry = False
        self._anchor = ""

    def walk(self, root: Any) -> None:
        """Visit an element and all below it, without recursion: pages may be nested deeply."""
        waiting: list[tuple[Any, bool]] = [(root, False)]
        while waiting:
            element, leaving = waiting.pop()
            if leaving:
                self._leave(element)
            elif self._enter(element):
                waiting.append((element, True))
                waiting.extend((child, False) for child in reversed(element))
            else:
                self._add(element.tail)
        self._flush()

    def _enter(self, element: Any) -> bool:
        """Begin an element; return whether its children are to be visited."""
        tag = element.tag if isinstance(element.tag, str) else ""
        if not tag or _is_dropped(element, tag):
            if tag in {"pre", "table", "dt"}:
                self._flush()
            return False
        if tag in _HEADINGS:
            self._flush()
            text = _get_heading(element)
            if text:
                self._outline.add_heading(_HEADINGS[tag], text, _find_anchor(element) or self._anchor)
            return False
        if tag in _BLOCKS:
            self._flush()
        elif tag == "br":
            self._break_line(element)
        elif tag == "a":
            is_link = element.get("href") is not None
            self._in_link += is_link
            self._links += is_link
            self._is_entry |= not "".join(self._pieces).strip(_BLANK) and _names_its_address(element)
        elif tag in _CODE or "code" in (element.get("class") or "").split():
            self._add(CODE_MARK)
        if tag in {"section", "div", "a", "span"} and element.get("id"):
            self._anchor = element.get("id")
        self._add(element.text)
        return True

    def _leave(self, element: Any) -> None:
        """End an element."""
        if element.tag in _BLOCKS:
            self._flush()
        elif element.tag == "a":
            self._in_link -= element.get("href") is not None
        self._add(element.tail)

    def _break_line(self, element: Any) -> None:
        """Two breaks end a paragraph, one does not."""
        following = element.getnext()
        empty = not (element.tail or "").strip()
        if empty and following is not None and following.tag == "br":
            self._flush()
        else:
            self._pieces.append(" ")

    def _add(self, text: str | None) -> None:
        if text:
            self._pieces.append(text)
            self._linked += len(text.strip()) if self._in_link else 0
            self._unlinked += [] if self._in_link else [text]

    def _flush(self) -> None:
        """Give the paragraph to the outline, unless it is a list or row of links or an entry of an index."""
        text = " ".join("".join(self._pieces).split())
        is_list = self._is_entry or self._linked > _LINK_SHARE * len(text)
        is_row = self._links > 1 and _LABEL_AND_COMMAS.fullmatch("".join(self._unlinked).strip())
        if text and (is_row or (is_list and text[-1] not in ".!?")):
            self._outline.left_out[LINKS] += 1
        else:
            self._outline.add_paragraph(text)
        self._pieces, self._unlinked, self._linked, self._links, self._is_entry = [], [], 0, 0, False


def _is_dropped(element: Any, tag: str) -> bool:
    """Say whether an element holds no prose."""
    hidden = element.get("hidden") is not None or element.get("aria-hidden") == "true"
    if hidden or tag in _DROPPED or tag == "pre":
        return True
    if tag == "table":
        return not _is_layout(element)
    if tag in {"sup", "a"} and _FOOTNOTE.fullmatch(element.text_content()):
        return tag == "sup" or "footnote" in (element.get("class") or "")
    if (element.get("role") or "").lower() in _ROLES or _HIDDEN.search(element.get("style") or ""):
        return True
    return _is_navigation(element, tag)


def _names_its_address(link: Any) -> bool:
    """Say whether a link's text is where it leads: programs write such lists of pages, `a.html → title`."""
    return "".join(link.itertext()).strip() == (link.get("href") or "").strip() != ""


def _is_navigation(element: Any, tag: str) -> bool:
    """Say whether an element leads to other places, by its class or id."""
    names = {*(element.get("class") or "").lower().split(), (element.get("id") or "").lower()}
    # the tables of contents of docutils, and the line of links that texinfo puts above each node
    if {"contents", "topic"} <= names or ("header" in names and _is_mostly_linked(element)):
        return True
    return bool(names & _NAVIGATION) and tag not in {"body", "main", "article"} and _is_small(element)


def _is_small(element: Any) -> bool:
    """Say whether an element is a piece of its page: some pages call all of their content `menu`."""
    body = element.getroottree().getroot()
    return len(element.text_content()) < 0.5 * len(body.text_content())


def _is_mostly_linked(element: Any) -> bool:
    linked = sum(len(link.text_content()) for link in element.iter("a"))
    return linked > 0.4 * len(element.text_content().strip())


def _is_layout(table: Any) -> bool:
    """Say whether a table only places the parts of a page."""
    if table.get("role") == "presentation" or any(table.find(f".//{tag}") is not None for tag in _HEADINGS):
        return True
    cells = [*table.iter("td")]
    return any(len(cell.text_content()) > _LONG_CELL for cell in cells) and len(cells) <= 4


def _get_heading(element: Any) -> str:
    """Return the words of a heading, without links to it."""
    pieces = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and not _is_dropped(child, child.tag):
            pieces.append(_get_heading(child))
        pieces.append(child.tail or "")
    return " ".join("".join(pieces).split())


def _find_anchor(heading: Any) -> str:
    """Return the anchor of a heading: its own, that of a link in it, or of the section that it begins."""
    own = heading.get("id")
    if own:
        return str(own)
    for link in heading.iter("a"):
        name = link.get("id") or link.get("name")
        if name:
            return str(name)
    parent = heading.getparent()
    first = parent is not None and parent.get("id") and parent[0] is heading
    return str(parent.get("id")) if first else ""
