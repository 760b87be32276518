"""The language of a text, offline: py3langid, naive Bayes over sequences of bytes."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from fathom.config.language import ENGLISH
from fathom.corpus.paragraphs import iterate_paragraphs
from fathom.jobs.extras import explain_imports

_LOOKED_AT = 1500
"""Characters: more change no verdict, and each takes time."""
_FEWEST_WORDS = 30
"""Words of letters: names, code and lists of fewer words look like any language."""
_SURE = 0.99
"""Probability of another language from which a text is left out: a doubtful one stays."""
_FEWEST_WORDS_OF_PARAGRAPHS, _RATHER_SURE = 8, 0.7
"""The same for a paragraph: of 17,000 of English manuals none is taken for another language."""
_NO_LANGUAGE = "zxx"  # numbers and marks
_WORD = re.compile(r"[^\W\d_]{2,}")


def find_other_language(text: str) -> str:
    """Return the code of the language of a text, empty if it is English or may be.

    Parameters
    ----------
    text : str
        Its first 1,500 characters count; a text of under 30 words is never judged.

    Raises
    ------
    InputError
        If the detector is not installed.
    """
    return _judge(text) or ""


def find_other_languages(texts: Sequence[str]) -> list[str]:
    """Return the languages of the sections of a file, each as :func:`find_other_language` does.

    A section too short to be judged has the language that most of the file's judged sections have, or, where
    all are too short, that of all together.

    Parameters
    ----------
    texts : sequence of str of shape (n_sections,)

    Returns
    -------
    list of str of shape (n_sections,)
    """
    judged = [_judge(text) for text in texts]
    known = [each for each in judged if each is not None] or [_judge("\n".join(texts)) or ""]
    most, count = Counter(known).most_common(1)[0]
    usual = most if 2 * count > len(known) else ""
    return [usual if each is None else each for each in judged]


def keep_english(text: str) -> tuple[str, int]:
    """Return a text without its paragraphs in other languages, and how many those are.

    A translation that is not finished has both in one section.
    """
    paragraphs = list(iterate_paragraphs(text))
    kept = [paragraph for paragraph in paragraphs if not _is_foreign(paragraph)]
    dropped = len(paragraphs) - len(kept)
    return ("\n\n".join(kept) if dropped else text), dropped


def list_languages() -> frozenset[str]:
    """Return the codes of the languages that can be told, of two letters mostly (ISO 639-1)."""
    return frozenset(map(str, _load().labels))


def _is_foreign(paragraph: str) -> bool:
    start = paragraph[:_LOOKED_AT]
    if len(_WORD.findall(start)) < _FEWEST_WORDS_OF_PARAGRAPHS:
        return False
    language, probability = _load().classify(start)
    return language not in (ENGLISH.code, _NO_LANGUAGE) and probability >= _RATHER_SURE


def _judge(text: str) -> str | None:
    """Return the language of a text, empty if it is English or may be; None if it is too short."""
    start = text[:_LOOKED_AT]
    if len(_WORD.findall(start)) < _FEWEST_WORDS:
        return None
    language, probability = _load().classify(start)
    return "" if language == ENGLISH.code or probability < _SURE else str(language)


@cache
def _load() -> Any:
    """Return the detector; its model is part of the package."""
    with explain_imports("corpus.language"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
