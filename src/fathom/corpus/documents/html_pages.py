"""HTML and XHTML: prose by heading, without navigation, code and tables. Nothing is fetched or run."""

import re
from typing import Any

from fathom.corpus.characters import CODE_MARK, GAP
from fathom.corpus.documents import html_furniture as furniture
from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.html_formulas import is_formula, spell_formula, spell_tex_in_text
from fathom.corpus.documents.plain import add_plain_text, reads_as_code
from fathom.corpus.documents.sections import FileContent, Outline, count_characters, reads_as_sentences
from fathom.corpus.left_out import CODE, FURNITURE, LINKS, REFERENCES
from fathom.errors import InputError

_BLANK = f" \t\r\n{CODE_MARK}"
_PROLOGUE = re.compile(r"^\s*<\?xml[^>]*>")
_LINK_SHARE = 0.7
_CODE_SHARE = 0.7
_LABEL_AND_COMMAS = re.compile(r"[\w\s]{0,40}:(?:[^\w]|\b(?:see|also|and|or)\b)*", re.IGNORECASE)
"""The only text between links of a row, such as `See also: a, b and c.`"""
_PRE_SHARE = 0.6
"""Share of text in `pre` above which a page is plain text in HTML, such as an RFC."""
_CODE_IN_TEXT = 0.3
_PLACE = "\0"
"""Marks a possible gap in a sentence; decoded text has no such character."""
_GAPS = re.compile(rf"{GAP}(?:\s*{GAP})+")
_INSIDE = re.compile(rf"(?<=[^\s.!?:{_PLACE}])(\s*){_PLACE}(?:\s*{_PLACE})*(?=\s*[^\s{_PLACE}])")
_UNSEEN = {"script", "style", "head", "svg", "option", "template"}
_CONTAINERS = re.compile(
    r"<(/?)(?!(?:html|head|body|title|script|style|template|h[1-6]|pre|code|kbd|samp|tt|p|br|hr|img|input|"
    r"select|option|textarea|button|svg|m(?!ain|ark|enu)[a-z]+|(?:annotation|semantics)[\w-]*)\b)[a-z][\w-]*\b[^<>]*>",
    re.IGNORECASE,
)
"""Elements that only group or style others."""
_IGNORED = re.compile(r"</?noframes\b[^<>]*>|</(?:body|html)\s*>", re.IGNORECASE)
"""Tags without which a page is read as browsers show it: the parser drops what follows the end of HTML."""
_COUNTED = {
    "references": REFERENCES,
    **dict.fromkeys(("listing", "generated", "table", "pre"), CODE),
}


def read_html(data: bytes) -> FileContent:
    """Read HTML; see :func:`read_markup`."""
    return read_markup(decode_text(data, markup=True))


def read_markup(text: str) -> FileContent:
    """Read HTML into sections.

    Scripts, styles, forms, navigation, code, data tables, footers and hidden elements are left out unless
    they hold most of the page. A formula that is no line of text leaves a mark.

    Raises
    ------
    InputError
        If it has no element, or over 2,000 levels of elements that do more than group.
    """
    outline = Outline()
    title = add_markup(text, outline)
    return outline.end(title)


def add_markup(text: str, outline: Outline) -> str:
    """Add the sections of a page to an outline; return its title."""
    root = _parse(text)
    if root is None:
        raise InputError("no HTML in this file")
    found = root.find(".//title")
    title = " ".join(("".join(found.itertext()) if found is not None else "").split())
    outline.characters += sum(count_characters(each) for each in _iterate_texts(root))
    every = len("".join(root.itertext()))
    verbatim = [each for each in root.iter("pre") if _is_text(each)]
    if every and sum(len("".join(each.itertext())) for each in verbatim) > _PRE_SHARE * every:
        for each in verbatim:
            add_plain_text("".join(each.itertext()), outline)
        return title
    _Walker(outline, furniture.Page(root)).walk(root)
    return title


def _parse(text: str) -> Any:
    """Return the root element of HTML; unknown entities stay."""
    # a string must not declare an encoding
    text = _IGNORED.sub("", _PROLOGUE.sub("", text, count=1))
    root, is_cut = _parse_whole(text)
    if is_cut:  # only grouping elements are nested so deeply
        root, is_cut = _parse_whole(_CONTAINERS.sub(r"<\1p>", text))
    if is_cut:
        raise InputError("this HTML is nested too deeply")
    return root


def _parse_whole(text: str) -> tuple[Any, bool]:
    """Return the root element, and whether the parser gave up before the end of the text."""
    from lxml import etree, html

    # the size of the text is bounded where files are read
    parser = html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = html.document_fromstring(text, parser=parser, ensure_head_body=True)
    except (etree.ParserError, etree.XMLSyntaxError, AssertionError) as error:
        raise InputError(f"this HTML cannot be read: {error}") from error
    return root, any(each.level_name == "FATAL" for each in parser.error_log)


def _is_text(verbatim: Any) -> bool:
    """Say whether a `pre` holds text: it is no listing, has no `code` in it, and does not read as code."""
    if verbatim.find(".//code") is not None or furniture.is_listing(verbatim):
        return False
    text = "".join(verbatim.itertext())
    blocks = [block for block in re.split(r"\n[^\S\n]*\n", text) if block.strip()]
    code = sum(len(block) for block in blocks if reads_as_code(" ".join(block.split())))
    return code <= _CODE_IN_TEXT * len(text)


def _iterate_texts(root: Any) -> Any:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag not in _UNSEEN and isinstance(element.tag, str):
            yield element.text or ""
            waiting.extend(element)
        yield element.tail or ""


class _Walker:
    def __init__(self, outline: Outline, page: furniture.Page) -> None:
        self._outline, self._page = outline, page
        self._in_link = self._in_code = self._doubtful = 0
        self._anchor = ""
        self._begin()

    def _begin(self) -> None:
        self._pieces: list[str] = []
        self._unlinked: list[str] = []
        self._linked = self._links = self._coded = 0
        self._is_entry = False

    def walk(self, root: Any) -> None:
        """Visit an element and all its descendants, without recursion: pages may be nested deeply."""
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
        """Begin an element; return whether to visit its children."""
        tag = element.tag if isinstance(element.tag, str) else ""
        if not tag:
            return False
        if is_formula(element, tag):
            self._pieces.append(spell_formula(element))
            return False
        reason = self._page.find_reason(element, tag)
        if reason:
            self._leave_out(element, tag, reason)
            return False
        if tag in furniture.HEADINGS:
            self._flush()
            text = self._get_heading(element)
            if text:
                self._outline.add_heading(
                    furniture.HEADINGS[tag], text, _find_anchor(element) or self._anchor
                )
            return False
        self._open(element, tag)
        return True

    def _leave_out(self, element: Any, tag: str, reason: str) -> None:
        """Skip an element; a block ends the paragraph, an inline element may leave a gap."""
        if furniture.breaks_a_line(element, tag):
            self._flush()
            if reason in _COUNTED:
                self._outline.left_out[_COUNTED[reason]] += 1
        elif furniture.is_inside_sentence(element, tag):
            self._pieces.append(_PLACE)

    def _open(self, element: Any, tag: str) -> None:
        self._doubtful += self._page.is_doubtful(element, tag)
        if furniture.is_block(element, tag):
            self._flush()
        elif tag == "br":
            self._break_line(element)
        elif tag == "a":
            is_link = element.get("href") is not None
            self._in_link += is_link
            self._links += is_link
            if not "".join(self._pieces).strip(_BLANK):  # a link that names its target, in a generated list
                self._is_entry |= (
                    "".join(element.itertext()).strip() == (element.get("href") or "").strip() != ""
                )
        elif tag == "img":
            self._pieces += [_PLACE] if furniture.is_inside_sentence(element, tag) else []
        elif tag == "sup" and furniture.is_exponent(element):
            self._pieces.append("^")
        elif tag == "q":
            self._pieces.append('"')
        if furniture.is_code(element, tag):
            self._add(CODE_MARK if tag not in furniture.BLOCKS else None)
            self._in_code += 1
        if tag in {"section", "div", "a", "span"} and element.get("id"):
            self._anchor = element.get("id")
        self._add(element.text)

    def _leave(self, element: Any) -> None:
        if furniture.is_block(element, element.tag):
            self._flush()
        elif element.tag == "a":
            self._in_link -= element.get("href") is not None
        elif element.tag == "q":
            self._pieces.append('"')
        self._in_code -= furniture.is_code(element, element.tag)
        self._doubtful -= self._page.is_doubtful(element, element.tag)
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
            # sentences in elements that a style sheet makes blocks
            if self._pieces and text[0].isupper() and reads_as_sentences(self._pieces[-1]):
                self._pieces.append(" ")
            self._pieces.append(text)
            length = len(text.strip())
            self._linked += length if self._in_link else 0
            self._coded += length if self._in_code else 0
            self._unlinked += [] if self._in_link else [text]

    def _flush(self) -> None:
        """Add the paragraph to the outline, unless it is a list or row of links or an entry of an index."""
        text = _join(self._pieces)
        ends = text[-1:] in {".", "!", "?"}
        is_list = self._is_entry or self._linked > _LINK_SHARE * len(text)
        is_row = self._links > 1 and _LABEL_AND_COMMAS.fullmatch("".join(self._unlinked).strip())
        if text and (is_row or (is_list and not ends)):
            self._outline.left_out[LINKS] += 1
        elif text and ((self._coded > _CODE_SHARE * len(text) and not ends) or reads_as_code(text)):
            self._outline.left_out[CODE] += 1
        elif text and self._doubtful and not reads_as_sentences(text):
            self._outline.left_out[FURNITURE] += 1
        else:
            self._outline.add_paragraph(text)
        self._begin()

    def _get_heading(self, heading: Any) -> str:
        """Return the words of a heading, without links to it."""
        pieces: list[str] = []
        waiting: list[Any] = [heading]
        while waiting:
            element = waiting.pop()
            if isinstance(element, str):
                pieces.append(element)
                continue
            if element is not heading:
                waiting.append(element.tail or "")
            tag = element.tag if isinstance(element.tag, str) else ""
            if tag and is_formula(element, tag):
                pieces.append(spell_formula(element))
            elif tag and (element is heading or not self._page.find_reason(element, tag)):
                waiting.extend(reversed(element))
                waiting.append(element.text or "")
        return _join(pieces)


def _join(pieces: list[str]) -> str:
    """Return the text of a paragraph on one line, with one mark for each gap in a sentence."""
    text = spell_tex_in_text("".join(pieces))
    if _PLACE in text:
        text = _INSIDE.sub(rf"\1{GAP}", text).replace(_PLACE, "")
    return _GAPS.sub(GAP, " ".join(text.split()))


def _find_anchor(heading: Any) -> str:
    """Return the anchor of a heading: its own, a link's in it, or that of its section."""
    own = heading.get("id")
    if own:
        return str(own)
    for link in heading.iter("a", "span"):
        name = link.get("id") or link.get("name")
        if name:
            return str(name)
    parent = heading.getparent()
    first = parent is not None and parent.get("id") and parent[0] is heading
    return str(parent.get("id")) if first else ""
