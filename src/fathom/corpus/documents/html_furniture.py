"""What surrounds the prose of a page: navigation, banners, forms, data tables, listings, hidden elements.

Names are no proof: a form, a banner or a hidden element may hold the whole page. Elements with most of a
page's text are read.
"""

import re
from collections import Counter
from typing import Any

from fathom.corpus.documents.sections import reads_as_sentences

_NEVER = {"script", "style", "head", "math", "option", "optgroup", "datalist", "rt", "rp", "title"}
"""Elements that never contain a page's text."""
_TAGS = {
    "noscript", "template", "svg", "nav", "form", "button", "select", "textarea", "iframe", "object",
    "embed", "applet", "audio", "video", "canvas", "map", "menu", "footer", "dt", "input", "progress",
    "meter", "dialog", "del", "s", "strike",
}  # fmt: skip
_INLINE = {
    "svg", "button", "select", "textarea", "iframe", "object", "embed", "applet", "audio", "video",
    "canvas", "input", "img", "span", "progress", "meter", "i", "b", "em",
}  # fmt: skip
HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
BLOCKS = {
    "p", "div", "li", "dd", "dl", "ul", "ol", "section", "article", "main", "body", "blockquote", "header",
    "aside", "figure", "figcaption", "table", "tr", "td", "th", "tbody", "thead", "caption", "center", "hr",
    "address", "details", "summary", "fieldset", "html", "hgroup", "form", "nav", "footer", "menu",
    "template", "noscript", "dt", "pre", "listing", "xmp", "plaintext",
}  # fmt: skip
_VERBATIM = {"pre", "listing", "xmp", "plaintext"}
_ROLES = {
    "navigation", "banner", "contentinfo", "search", "menu", "menubar", "complementary", "doc-toc", "dialog",
    "alertdialog",
}  # fmt: skip
_SHOWN_LATER = {"tabpanel", "region"}
"""Roles of parts that a tab or a heading opens: text, though hidden at first."""
_NAVIGATION = {
    "nav", "navbar", "navigation", "navheader", "navfooter", "nav-panel", "sidebar", "sphinxsidebar", "toc",
    "breadcrumb", "breadcrumbs", "menu", "related", "footer", "copyright", "region-contents",
    "contents_element", "element-contents", "navbox", "catlinks", "printfooter", "pagination",
    "genindex-jumpbox", "indextable", "modindextable", "wy-nav-side", "md-sidebar", "ltx_toc",
    "toctree-wrapper", "mdbook-help-container", "mdbook-help-popup",
}  # fmt: skip
_REFERENCES = {
    "reflist", "references", "mw-references-wrap", "refbegin", "bibliography", "ltx_bibliography",
    "csl-bib-body", "doc-bibliography", "doc-endnotes",
}  # fmt: skip
_SIGNS = {
    "headerlink", "permalink", "copiable-link", "skip-link", "mw-jump-link", "footnote-backref",
    "mw-editsection", "mw-cite-backlink", "anchorjs-link", "zeroclipboard-container", "copybutton",
    "sr-only", "visually-hidden",
}  # fmt: skip
"""Small links and labels beside the text."""
_LISTINGS = {
    "code", "codehilite", "sourcecode", "source-code", "codeblock", "code-block", "code_block",
    "code-listing", "codelisting", "programlisting", "listing", "listingblock", "literal-block", "verbatim",
    "console", "terminal", "screen", "shell-session", "doctest", "prettyprint", "syntaxhighlighter",
    "crayon-syntax", "hljs", "codemirror", "ace_editor", "highlighttable", "input_area", "output_area",
    "ltx_listing", "ltx_lstlisting", "blob-code", "blob-wrapper", "mw-highlight", "geshi", "wp_syntax",
}  # fmt: skip
_LISTING = re.compile(r"(?:^|[-_])(?:code-|codeblock|rouge|shiki|prism|linenums|highlight-source)")
_KEEPS_LINES = re.compile(r"white-space\s*:\s*pre\b(?!-)", re.IGNORECASE)
FENCED = "fathom-fenced"
"""Class of what Markdown fences: code, even if it holds the page."""
_GENERATED = {
    FENCED,
    "memproto", "memname", "ttc",  # Doxygen
    "member-signature", "type-signature", "summary-table",  # Javadoc
    "item-decl", "stab", "tsd-signature", "method-callseq",  # rustdoc, TypeDoc, RDoc
}  # fmt: skip
"""Signatures, tables of them and labels in pages made of source code; code in pages made of Markdown."""
_SURE = {"generated", "sign"}
"""Elements that may make up a whole page, which is then not read."""
_FOOTNOTE = re.compile(r"\s*\[?(?:\d{1,3}|[a-z]|[*†‡])\]?\s*")
_NOTE_REFERENCES = {"noteref", "doc-noteref"}
_BACK = re.compile(r"\s*[↑↩⤴^]\ufe0e?\s*")
"""Link from a note to where it is named."""
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_NOT_DISPLAYED = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_DISPLAYED_AS_BLOCK = re.compile(r"display\s*:\s*(?:block|flex|grid|table|list-item)", re.IGNORECASE)
_DISPLAYED_IN_LINE = re.compile(r"display\s*:\s*inline\s*(?:;|!|$)", re.IGNORECASE)
_MONOSPACE = re.compile(r"monospace|courier|consolas|menlo|monaco", re.IGNORECASE)
_CODE_TAGS = {"code", "kbd", "samp", "tt", "var"}
_LONG_CELL = 400
_MOST = 0.5
"""Largest share of a page's text in furniture."""
_NAMED = {
    "select", "textarea", "button", "dt", "nav", "menu", "footer", "navigation", "references", *_VERBATIM,
}  # fmt: skip
"""Elements of which only sentences are read, if they hold a page's text."""


class Page:
    """Finds the elements of a page that are not prose."""

    def __init__(self, root: Any) -> None:
        self._weights: dict[Any, int] = {}
        self._reasons: dict[Any, str] = {}
        self._doubted: set[str] = set()
        self._weigh(root)

    def find_reason(self, element: Any, tag: str) -> str:
        """Return in one word why an element is left out; empty if it is read."""
        reason = self._look_up(element, tag)
        return "" if reason in self._doubted else reason

    def is_doubtful(self, element: Any, tag: str) -> bool:
        """Say whether to read only sentences of an element that is furniture by name."""
        if not self._doubted:
            return False
        if tag in {"td", "th"} and "table" in self._doubted:
            return self._weights[element] <= _LONG_CELL
        reason = self._look_up(element, tag)
        return reason in self._doubted and reason in _NAMED

    def _look_up(self, element: Any, tag: str) -> str:
        if element not in self._reasons:
            self._reasons[element] = _find_reason(element, tag)
        return self._reasons[element]

    def _weigh(self, root: Any) -> None:
        """Find out which kinds of furniture hold most of the page's text."""
        elements = [each for each in root.iter() if isinstance(each.tag, str)]
        above: dict[Any, frozenset[str] | None] = {}
        weights = self._weights
        outermost: list[tuple[str, Any]] = []
        for element in elements:
            parent = element.getparent()
            outer = above.get(parent, frozenset())
            if outer is None or element.tag in _NEVER or (element.tag == "a" and element.get("href")):
                above[element] = None  # neither the page's text nor prose in links
                weights[element] = 0
            else:
                reason = self._look_up(element, element.tag)
                above[element] = outer | {reason} if reason and reason not in outer else outer
                if reason and reason not in outer:
                    outermost.append((reason, element))
                weights[element] = len((element.text or "").strip())
            if outer is not None and parent is not None:
                weights[parent] = weights.get(parent, 0) + len((element.tail or "").strip())
        for element in reversed(elements):
            parent = element.getparent()
            if parent is not None:
                weights[parent] += weights[element]
        sums: Counter[str] = Counter()
        for reason, element in outermost:
            sums[reason] += weights[element]
        self._doubted = {
            each for each, count in sums.items() if count > _MOST * max(weights[root], 1)
        } - _SURE


def is_inside_sentence(element: Any, tag: str) -> bool:
    """Say whether leaving out an element may leave a gap in a sentence, as it shows something inline."""
    if tag not in _INLINE or element.get("alt") == "" or _is_icon(element):
        return False
    hidden = element.get("aria-hidden") == "true"
    if hidden and tag in {"svg", "i"}:
        return False
    if element.get("hidden") is not None or _HIDDEN.search(element.get("style") or ""):
        return False
    if tag == "input":
        return (element.get("type") or "text").lower() not in {"hidden", "checkbox", "radio"}
    # an arrow or a bullet is only decoration
    shown = any(letter.isalnum() for letter in "".join(element.itertext()))
    return shown or tag not in {"span", "i", "b", "em", "button"}


def is_block(element: Any, tag: str) -> bool:
    """Say whether an element is a block."""
    style = element.get("style") or ""
    if tag == "div" and _DISPLAYED_IN_LINE.search(style):
        return False
    return tag in BLOCKS or _DISPLAYED_AS_BLOCK.search(style) is not None


def breaks_a_line(element: Any, tag: str) -> bool:
    """Say whether an element that is left out ends the paragraph before it, as visible blocks do."""
    if tag not in BLOCKS or tag in {"noscript", "template"}:
        return False
    return element.get("hidden") is None and not _NOT_DISPLAYED.search(element.get("style") or "")


def _is_icon(element: Any) -> bool:
    names = f"{element.get('class') or ''} {element.get('role') or ''}".lower()
    return any(each in names for each in ("icon", "emoji", "logo", "presentation", "external", "smiley"))


def is_code(element: Any, tag: str) -> bool:
    """Say whether an element's words are set as code."""
    if tag in _CODE_TAGS or "code" in (element.get("class") or "").lower().split():
        return True
    fonts = f"{element.get('style') or ''} {element.get('face') or ''}"
    return fonts != " " and _MONOSPACE.search(fonts) is not None


def _find_reason(element: Any, tag: str) -> str:
    if tag in _NEVER or tag in _VERBATIM:
        return tag
    if _is_hidden(element):
        return "hidden"
    if tag in _TAGS or (tag == "table" and not _is_layout(element)):
        return tag
    if tag in {"sup", "a"} and _is_footnote_sign(element, tag):
        return "sign"
    is_navigation = (element.get("role") or "").lower() in _ROLES
    return "navigation" if is_navigation else _find_named_reason(element, tag)


def is_listing(element: Any) -> bool:
    """Say whether an element, or one around it, is a listing by its class."""
    around = (element, *element.iterancestors())
    return any(_find_code_reason(each, {*(each.get("class") or "").lower().split()}) for each in around)


def _is_hidden(element: Any) -> bool:
    if element.get("role") in _SHOWN_LATER or element.get("hidden") == "until-found":
        return False
    hidden = element.get("hidden") is not None or element.get("aria-hidden") == "true"
    return hidden or _HIDDEN.search(element.get("style") or "") is not None


def _find_named_reason(element: Any, tag: str) -> str:
    names = {*(element.get("class") or "").lower().split()}
    if element.get("id") and not _is_named_by_heading(element):
        names.add(element.get("id").lower())
    if names & _SIGNS:
        return "sign"
    if tag not in BLOCKS or tag in {"html", "body", "main", "article"}:
        return ""
    # tables of contents of docutils, and the line of links above each node of texinfo
    if {"contents", "topic"} <= names or ("header" in names and _is_mostly_linked(element)):
        return "navigation"
    if names & _NAVIGATION:
        return "navigation"
    if names & _REFERENCES:
        return "references"
    return _find_code_reason(element, names)


def _is_named_by_heading(section: Any) -> bool:
    """Say whether a section's id comes from its heading: `menu` for a chapter called Menu."""
    heading = next((each for each in section[:2] if each.tag in HEADINGS), None)
    if heading is None:
        return False
    words, name = ("".join(filter(str.isalnum, each.lower())) for each in (
        "".join(heading.itertext()), section.get("id")
    ))  # fmt: skip
    return bool(name) and name in words


def _find_code_reason(element: Any, names: set[str]) -> str:
    if names & _GENERATED or ("fragment" in names and element.find("./div[@class='line']") is not None):
        return "generated"
    if names & _LISTINGS or any(_LISTING.search(name) for name in names):
        return "listing"
    if not _KEEPS_LINES.search(element.get("style") or ""):
        return ""
    return "" if reads_as_sentences(" ".join("".join(element.itertext()).split())) else "listing"


def _is_footnote_sign(element: Any, tag: str) -> bool:
    """Say whether a link or a superscript leads to a note or back; exponents do not."""
    text = "".join(element.itertext())
    if tag == "a" and (element.get("href") or "").startswith("#") and _BACK.fullmatch(text):
        return True
    if not _FOOTNOTE.fullmatch(text):
        return False
    if tag == "a":
        named = {element.get("epub:type"), element.get("role")}
        return not named.isdisjoint(_NOTE_REFERENCES) or "footnote" in (element.get("class") or "")
    return not is_exponent(element)


def is_exponent(sup: Any) -> bool:
    """Say whether a superscript is an exponent of the number or unit before it, as in `10<sup>6</sup>`."""
    if sup.find(".//a") is not None or "footnote" in (sup.get("class") or "") or "[" in (sup.text or ""):
        return False
    previous = sup.getprevious()
    before = (previous.tail if previous is not None else sup.getparent().text) or ""
    if not before and previous is not None and previous.tag in {"i", "em", "b", "var", "sub", "span"}:
        before = "".join(previous.itertext())
    word = re.search(r"[^\W_]+$|\)$", before)
    return word is not None and (len(word[0]) <= 2 or word[0].isdecimal())


def _is_mostly_linked(element: Any) -> bool:
    linked = sum(len("".join(link.itertext())) for link in element.iter("a"))
    return linked > 0.4 * len("".join(element.itertext()).strip())


def _is_layout(table: Any) -> bool:
    if table.get("role") == "presentation" or any(table.find(f".//{tag}") is not None for tag in HEADINGS):
        return True
    cells = [*table.iter("td")]
    rows = [len(row.findall("td")) + len(row.findall("th")) for row in table.iter("tr")]
    if len(rows) == 1 or max(rows, default=0) == 1:  # such as a note with its sign
        texts = [" ".join("".join(cell.itertext()).split()) for cell in cells]
        return any(reads_as_sentences(text) and not text[0].islower() for text in texts)
    return len(cells) <= 4 and any(len("".join(cell.itertext())) > _LONG_CELL for cell in cells)
