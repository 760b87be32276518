"""Formulas in HTML: MathML, output of KaTeX, MathJax and MediaWiki, TeX in scripts, pictures of formulas."""

import re
from typing import Any

from fathom.corpus.characters import GAP

_CONTAINER = re.compile(
    r"(?:^|[-_:]|ascii|text)math(?!emat)|mathphrase|katex|equation|formula(?!t)|(?:^|[-_])(?:la)?tex(?:html)?(?:$|[-_])"
)
"""Part of the name of a class or element that holds a formula."""
_TAGS = {"span", "img", "i", "em", "var"}
"""Tags that hold a formula if their class says so; even a whole page may have class `math`."""
_TEX = re.compile(r"\\[A-Za-z]+|[_^]\{|\$[^$]+\$|\w\^\w")
_SOURCE = re.compile(r"latex|codecogs|/math/|mathtex|mimetex|equation", re.IGNORECASE)
_STRUCTURE = {
    "msub", "msup", "msubsup", "mfrac", "msqrt", "mroot", "mover", "munder", "munderover", "mtable",
    "mmultiscripts", "msupsub", "sub", "sup", "sqrt", "frac", "table", "svg", "img",
    "vlist",  # KaTeX: anything stacked above something else
}  # fmt: skip
"""Elements, or classes of elements, that do not place signs one after another."""
_STYLE = re.compile(r"^\{?\\(?:display|text|script)style\s*(?P<body>.*?)\}?$", re.DOTALL)
_DELIMITERS = re.compile(r"^(?:\\[(\[]|\${1,2})(?P<body>.*?)(?:\\[)\]]|\${1,2})$", re.DOTALL)
FORMULA = (
    r"\\begin\{(?P<environment>[a-zA-Z]{2,12}\*?)\}(?s:.{1,2000}?)\\end\{(?P=environment)\}|\$\$[^$]{1,400}\$\$|"
    # between single signs a formula needs TeX, or is a letter or a number; `$HOME` and `$5` are none
    r"(?<![\w\\$])\$(?=[^\s$])[^$`]{0,200}?(?:\\[A-Za-z]{2,}|[\^_]\{|\w[\^_]\w)[^$`]{0,200}?(?<=[^\s\\])\$(?![\w$])|"
    r"(?<![\w\\$])\$(?:[A-Za-z]|\d{1,4})(?:\s?[=<>+-]\s?\w{1,4}){0,4}\$(?![\w$])"
)
"""A formula between dollar signs or in an environment, as MathJax finds it."""
_IN_TEXT = re.compile(rf"\\\(.{{1,400}}?\\\)|\\\[.{{1,400}}?\\\]|{FORMULA}")
_WORDS = re.compile(r"(?:[^\W\d_]{2,}\s+){5}")
"""Words from which a text is a sentence about a formula."""
_PLAIN = re.compile(r"\w{1,12}|[\w\s=+*/<>()|.,\u2212-]{1,30}")
"""A formula that also works as a line of text, such as `q = UA`."""


def is_formula(element: Any, tag: str) -> bool:
    """Say whether an element is a formula."""
    if tag.rpartition(":")[2] == "math" or tag == "mjx-container":
        return True
    if tag == "script":
        return (element.get("type") or "").lower().startswith("math/")
    if tag == "img" and _is_picture_of_formula(element):
        return True
    is_own = "-" in tag and _CONTAINER.search(tag) is not None
    named = tag in _TAGS and _CONTAINER.search((element.get("class") or "").lower()) is not None
    return (is_own or named) and _WORDS.search("".join(element.itertext())) is None


def _is_picture_of_formula(picture: Any) -> bool:
    alternative, source = picture.get("alt") or "", picture.get("src") or ""
    return bool(
        _TEX.search(alternative) or (("=" in alternative or not alternative) and _SOURCE.search(source))
    )


def spell_formula(element: Any) -> str:
    """Return a formula as a line of text if possible, else the mark of a gap; empty for an empty one."""
    source = _find_source(element)
    if source is None:
        source = "".join(element.itertext())
        if element.tag == "img" or any(_is_structure(each) for each in element.iter()):
            return GAP
        if not source.strip():
            return ""
    return spell_tex(source)


def _is_structure(element: Any) -> bool:
    """Say whether an element places signs above or around others: its tag, without a prefix, or a class."""
    if not isinstance(element.tag, str):
        return False
    tag = re.split("[:}]", element.tag)[-1].removeprefix("mjx-")
    return tag in _STRUCTURE or not _STRUCTURE.isdisjoint((element.get("class") or "").split())


def spell_tex(source: str) -> str:
    """Return the text of a formula in TeX if it needs no TeX, else the mark of a gap."""
    source = source.strip()
    if "</" in source:  # MathML in a script
        return GAP
    for pattern in (_DELIMITERS, _STYLE):
        found = pattern.match(source)
        source = found["body"].strip() if found else source
    return " ".join(source.split()) if _PLAIN.fullmatch(source) else GAP


def spell_tex_in_text(text: str) -> str:
    r"""Return text with formulas between MathJax's delimiters, such as `\(`, spelt out."""
    return _IN_TEXT.sub(lambda found: spell_tex(found[0]), text) if "\\" in text or "$" in text else text


def _find_source(element: Any) -> str | None:
    if element.tag == "script":
        return str(element.text or "")
    for each in element.iter():
        tag = each.tag if isinstance(each.tag, str) else ""
        source = (
            each.get("alttext")
            or (each.get("alt") if tag == "img" else None)
            or (each.text if "tex" in (each.get("encoding") or "") else None)
        )
        if source and source.strip():
            return str(source)
    return None
