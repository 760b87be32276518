"""What stands below headings such as References, Contents, Index and Revision history, and is no prose."""

import re

REFERENCES, CONTENTS, CHANGES = "references", "contents", "revisions"
"""Lists of other texts, of places in this one, and of its own changes."""

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
"""What headings carry besides their words: a link to edit them, an anchor, emphasis, marks."""
_NUMBER = re.compile(
    r"^(?:(?:chapter|section|part|appendix|annex) )?(?:\d{1,3}|[a-z]|[ivxl]{1,6})[.):]? (?=[a-z])"
)
_ENTRY = re.compile(
    r"\((?:1[89]|20)\d\d[a-z]?\)|\b(?:pp?|vol|no|eds?)\.\s?\d|\bdoi\b|\bISBN\b|\bet al\.|\bRetrieved\b|https?://|"
    r"^\W*[A-Z]\w+,? [A-Z]\.|\b(?:1[89]|20)\d\d[a-z]?[.,;:]"
)
"""Signs of an entry of a list of references."""


def find_matter(heading: str) -> str:
    """Return what a heading stands over: references, contents or revisions; empty if it is prose."""
    if len(heading) > _LONGEST:
        return ""
    words = " ".join(_BESIDE.sub(" ", heading).lower().split())
    for text in (words, _NUMBER.sub("", words)):
        for kind, pattern in _HEADINGS.items():
            if pattern.fullmatch(text):
                return kind
    return ""


def is_entry(paragraph: str) -> bool:
    """Say whether a paragraph reads as an entry of a list of references."""
    return _ENTRY.search(paragraph) is not None
