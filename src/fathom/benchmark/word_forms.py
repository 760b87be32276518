"""What is known of English words without a tagger: forms that give them away, and kinds.

Kinds are those of spaCy's tables of lemmas [SpaCy].
"""

import gzip
import json
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from fathom.benchmark.wordlists import load_lemmas
from fathom.config.language import ENGLISH

# the parts of `RidgeClassifier.fit_intercept`, `scikit-learn` and `HTTPServer`
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_WORDS = re.compile(r"\w+(?:-\w+)*")
_MIN_STEM = 5
"""Fewest letters of a stem that another may share or have a prefix before: `form` is not `formal`."""

# longer than what stays behind of most other words; `re` is left out: `research` is not `search`
_PREFIXES = (
    "anti", "auto", "dis", "hyper", "inter", "intra", "macro", "meta", "micro", "mis", "multi", "non", "over",
    "pre", "pseudo", "quasi", "semi", "sub", "super", "un", "under",
)  # fmt: skip
# what the stemmer leaves of endings: `normal` + `is`, `theor` + `i` or `et`, `analy` + `si` or `t`
_ENDINGS = frozenset(
    {("", ending) for ending in ("al", "ar", "atur", "e", "ian", "ic", "if", "ifi", "is", "ism", "ist", "iz")}
    | {("", ending) for ending in ("or", "ous", "u", "um", "ur")}
    | {(letter, f"{letter}i") for letter in "ghmnpr"}
    | {
        ("a", "um"), ("al", "um"), ("bl", "bil"), ("bl", "bilist"), ("c", "tif"), ("e", "ic"), ("eti", "al"),
        ("es", "et"), ("i", "et"), ("i", "ic"), ("l", "il"), ("l", "ilist"), ("s", "tic"), ("si", "t"),
        ("is", "t"), ("is", "iz"), ("ism", "ist"), ("al", "ic"), ("i", "ist"), ("r", "ris"),
        ("e", "abl"), ("e", "ag"),
    }
)  # fmt: skip


def gives_away(text: str, word: str) -> bool:
    """Return whether a text has a word, or another form of it.

    Case, accents, hyphens and the parts of identifiers do not matter: `RidgeClassifier` gives `ridge` away.
    Forms are those with the same lemma or the same stem [Snowball], or with stems that differ in a known
    ending (`theory`, `theoretical`) or prefix (`entangled`, `disentanglement`).

    Parameters
    ----------
    word : str
        A target, with or without its leading blank; of several words, one in the text is enough.
    """
    wanted = _find_forms(word)
    found = _find_forms(text)
    if wanted & found:
        return True
    return any(_are_related(one, other) for one in wanted for other in found)


def _find_forms(text: str) -> frozenset[str]:
    return frozenset().union(*(_find_word_forms(word) for word in _WORDS.findall(drop_accents(text))))


def drop_accents(text: str) -> str:
    """Return a text with letters in place of accented ones."""
    if text.isascii():
        return text
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


@cache
def _find_word_forms(word: str) -> frozenset[str]:
    """Return the forms of a word of a text, of its parts, and of all parts joined, in lower case."""
    parts = [part.lower() for part in _PARTS.findall(word)]
    whole = word.replace("-", "").replace("_", "").lower()
    return frozenset(form for part in {*parts, whole} if part for form in _list_forms(part))


def _list_forms(word: str) -> Iterator[str]:
    lemma = load_lemmas().get(word, word)
    yield from (word, lemma, _load_stemmer().stemWord(word), find_stem(word))


@cache
def find_stem(word: str) -> str:
    """Return the stem of a word's lemma [Snowball]; the word is in lower case and has no accents."""
    stem: str = _load_stemmer().stemWord(load_lemmas().get(word, word))
    return stem


@cache
def _load_stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(ENGLISH.stemmer)


@cache
def _are_related(one: str, other: str) -> bool:
    """Return whether two stems differ in a known ending or prefix only."""
    if len(one) > len(other):
        one, other = other, one
    if len(one) < _MIN_STEM - 1:
        return False
    if other.endswith(one):
        return len(one) >= _MIN_STEM and other.removesuffix(one) in _PREFIXES
    shared = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    return any(
        cut >= _MIN_STEM - 1
        and ((one[cut:], other[cut:]) in _ENDINGS or (other[cut:], one[cut:]) in _ENDINGS)
        for cut in range(shared, _MIN_STEM - 2, -1)
    )


_KINDS = ("noun", "adj", "verb")


@cache
def find_kinds(word: str) -> frozenset[str]:
    """Return which of noun, adj and verb a word in lower case can be, or its last part; often nothing."""
    last = word.rpartition("-")[2]
    return frozenset(kind for kind in _KINDS if _list_lemmas(last, kind))


def is_verb_only(word: str) -> bool:
    """Return whether a word can only be a verb in the present tense, such as `predicts`; not a participle."""
    if find_kinds(word) != {"verb"}:
        return False
    return bool(_list_lemmas(word, "verb") & {word, word.removesuffix("s"), word.removesuffix("es")})


def is_no_noun(word: str) -> bool:
    """Return whether a word can only be an adjective, a participle or an adverb; false for unknown words."""
    if kinds := find_kinds(word):
        return "noun" not in kinds and not word.endswith("ing")
    return word.endswith("ly") and "adj" in find_kinds(word.removesuffix("ly"))


def _list_lemmas(word: str, kind: str) -> set[str]:
    found = {word, *_read_table("exc").get(kind, {}).get(word, ())}
    found |= {
        word.removesuffix(old) + new for old, new in _read_table("rules").get(kind, ()) if word.endswith(old)
    }
    return found & _read_index()[kind]


@cache
def _read_index() -> dict[str, frozenset[str]]:
    return {kind: frozenset(lemmas) for kind, lemmas in _read_table("index").items()}


@cache
def _read_table(name: str) -> Any:
    import spacy_lookups_data

    packed = (files(spacy_lookups_data) / "data" / f"en_lemma_{name}.json.gz").read_bytes()
    return json.loads(gzip.decompress(packed))
