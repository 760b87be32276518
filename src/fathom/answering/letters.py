"""The letters that an answer in words names."""

import re

from fathom.answering.items import LETTERS

# `A` before a word is an article, but for a few words
_ARTICLE = r"(?!\s+(?!(?:and|or|is|because)\b)[a-z])"
_NAMED = r"(?:(?:answers?|options?|choices?)(?:\s+(?:is|are))?\s*:?\s*)"


def parse_letter(text: str, count: int) -> int | None:
    """Return the place of the option that an answer names, None if it names none, or several.

    These count, in this order: a letter that the answer begins with, alone or before a mark; a letter after
    `answer`, `option` or `choice`; the only letter that stands by itself. `A` before most words is an
    article.
    """
    plain = re.sub(r"[*_`\"']", "", text).strip()
    letters = LETTERS[:count]
    first = re.match(rf"[(\[]?([{letters}{letters.lower()}])(?:[)\].:,;]|\s*$|\s*\n)", plain)
    first = first or re.match(rf"([{letters[1:] or '!'}])(?![\w+#-])", plain)
    if first:
        return LETTERS.index(first[1].upper())
    both = rf"(?!\s+(?:and|or)\s+[{letters}]\b)"
    named = set(re.findall(rf"(?i:{_NAMED})[(\[]?([{letters}])(?![\w+#-]){_ARTICLE}{both}", plain))
    alone = set(re.findall(rf"(?<![\w-])([{letters}])(?![\w+#-]){_ARTICLE}", plain))
    for found in (named, alone):
        if found:
            return LETTERS.index(found.pop()) if len(found) == 1 else None
    return None


def parse_letters(text: str, count: int) -> tuple[int, ...]:
    """Return the places of all options that the first line of an answer names, sorted."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    found = re.findall(rf"(?<![\w-])([{LETTERS[:count]}])(?![\w+#-]){_ARTICLE}", line.replace("*", ""))
    return tuple(sorted({LETTERS.index(letter) for letter in found}))
