"""The language of a text, offline: py3langid, naive Bayes over sequences of bytes."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from fathom.config.language import ENGLISH
from fathom.jobs.extras import explain_imports

_LOOKED_AT = 1500
"""Characters: more change no verdict, and each takes time."""
_FEWEST_WORDS = 30
"""Words of letters: names, code and lists of fewer words look like any language."""
_SURE = 0.99
"""Probability of another language from which a text is left out: a doubtful one stays."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def find_other_language(text: str) -> str:
    """Return the code of the language of a text, empty if it is English or may be.

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
    """
    judged = [_judge(text) for text in texts]
    known = [each for each in judged if each is not None] or [_judge("\n".join(texts)) or ""]
    most, count = Counter(known).most_common(1)[0]
    usual = most if 2 * count > len(known) else ""
    return [usual if each is None else each for each in judged]


def _judge(text: str) -> str | None:
    """Return the language of a text, empty if it is English or may be; None if it is too short."""
    start = text[:_LOOKED_AT]
    if len(_WORD.findall(start)) < _FEWEST_WORDS:
        return None
    language, probability = _load().classify(start)
    return "" if language == ENGLISH.code or probability < _SURE else str(language)


@cache
def _load() -> Any:
    with explain_imports("corpus.language"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
