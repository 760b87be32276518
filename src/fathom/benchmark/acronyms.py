"""Whether a prompt spells a target out: by its abbreviation, or by the words that it abbreviates."""

import re

_WORDS = re.compile(r"[^\W\d_]+")
_LEAST = 2
"""Fewest letters of an abbreviation."""


def spells_out(prompt: str, target: str) -> bool:
    """Return whether a prompt spells a target out.

    It does if the target is an abbreviation of words in a row (`convolutional neural network` gives `CNN`),
    or if the prompt has an abbreviation of its own last words and the target (`GUI (graphical user` gives
    `interface`). Parts of hyphenated words are words.

    Parameters
    ----------
    prompt : str
        The sentence up to the target.
    target : str
        The target, with or without its leading blank.
    """
    words, wanted = _WORDS.findall(prompt), _WORDS.findall(target)
    if not words or not wanted:
        return False
    initials = "".join(word[0] for word in words).lower()
    short = _find_letters(wanted[0])
    if short and len(wanted) == 1 and short in initials:
        return True
    ending = initials + wanted[0][0].lower()
    return any(
        ending.endswith(letters[:count])
        for letters in map(_find_letters, words)
        for count in range(_LEAST, len(letters) + 1)
    )


def _find_letters(word: str) -> str:
    """Return the letters of an abbreviation, in lower case; nothing for another word."""
    word = word.removesuffix("s")
    return word.lower() if word.isupper() and len(word) >= _LEAST else ""
