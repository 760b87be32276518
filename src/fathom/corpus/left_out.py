"""Why paragraphs of a document are left out: what reports call the reasons."""

LINKS, REPEATED, NO_WORDS = "links", "repeated", "too few words"
CODE, FURNITURE, ENTRIES = "code or table", "page furniture", "entries of lists"
DIRECTIVES, FORMULAS, TERMS = "directives and comments", "formulas", "terms"
REFERENCES, CONTENTS, CHANGES = "references", "contents", "revisions"
"""Lists of other texts, of places in a text, and of its changes."""
