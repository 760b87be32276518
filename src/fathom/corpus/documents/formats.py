"""File endings of documents."""

import re

FORMATS = (
    ".html", ".htm", ".xhtml", ".pdf", ".docx", ".epub", ".md", ".markdown", ".rst", ".txt", ".text", ".tex"
)  # fmt: skip
"""Endings of readable files, each also with `.gz`."""
_ENDING = re.compile(r"(\.[a-z]+)(\.gz)?$")


def find_format(name: str) -> str:
    """Return the ending that gives a file's format, without `.gz`; empty if none does."""
    found = _ENDING.search(name.lower())
    return found[1] if found and found[1] in FORMATS else ""
