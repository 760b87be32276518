"""Headings: their words, and what they introduce that is no prose."""

import re

from fathom.corpus.left_out import CHANGES, CONTENTS, REFERENCES

_NUMBER = re.compile(
    r"^(?:(?:chapter|section|part|appendix)\s+)?"
    r"(?:\d{1,3}(?:\.\d+)*\.(?=[^\W\d])|(?:\d{1,3}(?:\.\d+)+\.?|\d{1,3}[.:)]|[A-Z](?:\.\d+)+\.?|[A-Z][.:]|[IVX]+\.|"
    r"\d{1,2}(?=\s+[A-Z]))\s+)",
    re.IGNORECASE,
)
_ANCHOR_SIGNS = "¶§#\N{LINK SYMBOL}\N{VARIATION SELECTOR-16} \t\n\xa0"

_KINDS = {
    REFERENCES: r"(?:(?:selected|cited|key|general|additional|other|list of|recommended|suggested) )*"
    r"(?:references(?: cited)?|reference list|bibliograph(?:y|ies)|works cited|literature(?: cited)?|"
    r"citations|further reading|external links|see also)",
    CONTENTS: r"(?:table of |list of )?contents?|toc|(?:on|in) this page|"
    r"(?:(?:subject|author|general|name|alphabetical|keyword|function|module|term|topic|symbol) )?"
    r"ind(?:ex|exes|ices)(?: and tables)?|"
    r"list of (?:figures|tables|examples|illustrations|listings|algorithms)|quick links|navigation",
    CHANGES: r"(?:revision|change|version|document|release|edit|update)s? ?"
    r"(?:history|log|notes|record|table)|"
    r"changelog|revisions|changes|record of (?:changes|revisions)|history of (?:changes|revisions)",
}
_AND = (
    r"(?: ?(?:and|&|/|,) ?"
    r"(?:notes?|footnotes|further reading|bibliography|references?|links|resources|index|tables?))*"
)
_HEADINGS = {kind: re.compile(rf"(?:notes? (?:and|&) )?(?:{words}){_AND}") for kind, words in _KINDS.items()}
_LONGEST = 60
_BESIDE = re.compile(
    r"\[[^\[\]]{0,30}\]|\((?:edit|hide|show|optional|\d{1,4})\)|[\u00b6\u00a7#*_:.\N{LINK SYMBOL}]|"
    r"\{[^{}]{0,60}\}"
)
"""Extras in headings: a link to edit them, an anchor, emphasis, marks."""
_HEADING_NUMBER = re.compile(
    r"^(?:(?:chapter|section|part|appendix|annex) )?(?:\d{1,3}|[a-z]|[ivxl]{1,6})[.):]? (?=[a-z])"
)


def clean_heading(text: str) -> str:
    """Return a heading on one line, without its number and the sign of a link to it."""
    text = " ".join(text.split()).strip(_ANCHOR_SIGNS)
    return _NUMBER.sub("", text, count=1) or text


def is_no_prose(heading: str) -> bool:
    """Say whether a heading introduces no prose: references, an index, a table of contents."""
    return find_matter(clean_heading(heading)) != ""


def find_matter(heading: str) -> str:
    """Return what a heading introduces: references, contents or revisions; empty if prose."""
    if len(heading) > _LONGEST:
        return ""
    words = " ".join(_BESIDE.sub(" ", heading).lower().split())
    for text in (words, _HEADING_NUMBER.sub("", words)):
        for kind, pattern in _HEADINGS.items():
            if pattern.fullmatch(text):
                return kind
    return ""
