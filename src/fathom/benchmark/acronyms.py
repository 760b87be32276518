"""Whether a prompt spells a target out: by its abbreviation, or by the words that it abbreviates."""

import re

_WORDS = re.compile(r"[^\W\d_]+")
_LEAST = 2
"""Fewest letters of an abbreviation."""
_SMALL = 3
"""Most letters of words that an abbreviation may pass over."""


def spells_out(prompt: str, target: str) -> bool:
    """Return whether a prompt spells a target out.

    It does if the target is an abbreviation of words in a row (`convolutional neural network` gives `CNN`),
    or if the prompt has an abbreviation of its own last words and the target (`GUI (graphical user` gives
    `interface`). Parts of hyphenated words are words.
    """
    words, wanted = _WORDS.findall(prompt), _WORDS.findall(target)
    if not words or not wanted:
        return False
    short = _find_letters(wanted[0]) if len(wanted) == 1 else ""
    known = [letters for letters in map(_find_letters, words) if letters]
    # `SNR` has no letter for `to`, and `ROC` has one for `of`
    for kept in (words, [word for word in words if len(word) > _SMALL]):
        initials = "".join(word[0] for word in kept).lower()
        if short and short in initials:
            return True
        ending = initials + wanted[0][0].lower()
        if any(
            ending.endswith(letters[:count]) for letters in known for count in range(_LEAST, len(letters) + 1)
        ):
            return True
    return False


def _find_letters(word: str) -> str:
    word = word.removesuffix("s")
    return word.lower() if word.isupper() and len(word) >= _LEAST else ""
