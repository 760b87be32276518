"""Word lists that exclude phrases from the keywords, and lemmas for looking up words."""

import gzip
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from fathom.config.language import ENGLISH
from fathom.errors import InputError
from fathom.io.contracts.benchmark import MANUAL_PHRASES
from fathom.io.delimited import read_rows
from fathom.io.files import BYTE_ORDER_MARK, require_file

LISTS = ("stopwords", "function", "quantity", "academic")
"""Names of the four lists; each is the file `{name}.txt` in the folder of word lists."""

LEMMA_SOURCE = "lemma_lookup of spacy-lookups-data"

_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_ENTRY = re.compile(r"\+?[^\W_]+(?:[ '-][^\W_]+)*")
_HINT = "one lower-case entry per line; comments begin with #"


@dataclass(frozen=True)
class WordLists:
    """Words and phrases that no keyword may contain.

    `lists`: entries by the name of their list; an entry is one word, or several separated by single spaces.
    `kept`: words that are allowed although their lemma is on a list, as `mining`, whose lemma is `mine`.
    `manuals`: for two lemmas in a row, the share of manuals of programs that have them, and their mean uses
    per million words.
    """

    lists: Mapping[str, frozenset[str]]
    kept: frozenset[str]
    lemmas: Mapping[str, str]  # a word without an entry is its own lemma
    manuals: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)

    def find_lemma(self, word: str) -> str:
        """Return the lemma of a word; in an unknown hyphenated word the last part is lemmatised."""
        head, hyphen, last = word.rpartition("-")
        return self.lemmas.get(word) or head + hyphen + self.lemmas.get(last, last)

    def find_fault(self, phrase: str) -> str | None:
        """Return why a phrase cannot be a keyword: `not alphabetic` or the name of a list; None if it can.

        A word is on a list if the word itself or its lemma is; a hyphenated word also if each of its parts
        is. An entry of several words excludes every phrase that contains these words, or words with their
        lemmas, in sequence.
        """
        words = phrase.split(" ")
        if not all(_WORD.fullmatch(word) for word in words):
            return "not alphabetic"
        single = next((fault for word in words if (fault := self._find_list(word))), None)
        if single or len(words) == 1:
            return single
        lemmas = self._join_lemmas(words)
        return next((name for name, entry in self._sequences if entry in lemmas), None)

    def _find_list(self, word: str) -> str | None:
        lemma = word if word in self.kept else self.find_lemma(word)
        for name, entries in self.lists.items():
            if word in entries or lemma in entries:
                return name
        parts = word.split("-")
        if len(parts) > 1:
            faults = [self._find_list(part) for part in parts]
            return faults[0] if all(faults) else None
        return None

    @cached_property
    def _sequences(self) -> list[tuple[str, str]]:
        """The lemmas of each entry of several words, with the name of its list."""
        return [
            (name, self._join_lemmas(entry.split(" ")))
            for name, entries in self.lists.items()
            for entry in sorted(entries)
            if " " in entry
        ]

    def _join_lemmas(self, words: Sequence[str]) -> str:
        return f" {' '.join(word if word in self.kept else self.find_lemma(word) for word in words)} "


def read_word_lists(folder: Path | str, manuals: Path | str | None = None) -> WordLists:
    """Read the four word lists of a folder, the table of manuals, if any, and spaCy's English lemmas [SpaCy].

    The table does not depend on the spaCy pipelines installed, so keywords are the same on every machine.
    Raise `InputError` if a list is missing or not UTF-8, or a line is not a valid entry.
    """
    entries = {name: _read_entries(Path(folder) / f"{name}.txt") for name in LISTS}
    lists = {name: frozenset(entry for entry in found if entry[0] != "+") for name, found in entries.items()}
    kept = frozenset(entry[1:] for found in entries.values() for entry in found if entry[0] == "+")
    rows = [] if manuals is None else read_rows(manuals, MANUAL_PHRASES)
    shares = {tuple(row["words"].split(" ")): (row["share"], row["per_million"]) for row in rows}
    return WordLists(lists, kept, load_lemmas(), shares)


def read_word_list(path: Path | str) -> frozenset[str]:
    """Read the single words of one list, such as the stopwords, which cannot be targets."""
    return frozenset(entry for entry in _read_entries(path) if entry[0] != "+" and " " not in entry)


def _read_entries(path: Path | str) -> frozenset[str]:
    hint = f"the folder of word lists needs {', '.join(f'{name}.txt' for name in LISTS)}"
    content = require_file(path, hint).read_bytes().removeprefix(BYTE_ORDER_MARK)
    entries = set()
    for number, raw in enumerate(content.splitlines(), start=1):
        where = f"{path}, line {number}"
        try:
            entry = raw.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            raise InputError(
                f"the line is not UTF-8: {error.reason}", where, "save the file as UTF-8"
            ) from error
        if not entry or entry.startswith("#"):
            continue
        if entry != entry.lower():
            raise InputError(f"{entry!r} is not in lower case", where, _HINT)
        if not _ENTRY.fullmatch(entry):
            raise InputError(f"{entry!r} is not words separated by single spaces", where, _HINT)
        entries.add(entry)
    return frozenset(entries)


def load_lemmas() -> Mapping[str, str]:
    """Return spaCy's lookup table of English lemmas, without importing spaCy, which takes seconds."""
    table: Mapping[str, str] = _read_table(ENGLISH.lemmas)
    return table


# the parts of `RidgeClassifier.fit_intercept`, `scikit-learn` and `HTTPServer`
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_WORDS = re.compile(r"\w+(?:-\w+)*")
_MIN_STEM = 5
"""Fewest letters of a stem to be found in another: `form` is not `formal`."""

# longer than remains of most other words; without `re`, as `research` is not `search`
_PREFIXES = (
    "anti", "auto", "dis", "hyper", "inter", "intra", "macro", "meta", "micro", "mis", "multi", "non", "over",
    "pre", "pseudo", "quasi", "semi", "sub", "super", "un", "under",
)  # fmt: skip
# endings that the stemmer leaves: `normal` + `is`, `theor` + `i` or `et`, `analy` + `si` or `t`
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
    ending (`theory`, `theoretical`) or prefix (`entangled`, `disentanglement`). `word`: a target, with or
    without its leading blank; of several words, one in the text is enough.
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
    """Return which of noun, adj and verb a word in lower case, or its last part, can be; often none."""
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
    found = {word, *_read_table("en_lemma_exc.json.gz").get(kind, {}).get(word, ())}
    found |= {
        word.removesuffix(old) + new
        for old, new in _read_table("en_lemma_rules.json.gz").get(kind, ())
        if word.endswith(old)
    }
    return found & _read_index()[kind]


@cache
def _read_index() -> dict[str, frozenset[str]]:
    return {kind: frozenset(lemmas) for kind, lemmas in _read_table("en_lemma_index.json.gz").items()}


@cache
def _read_table(name: str) -> Any:
    import spacy_lookups_data

    packed = (files(spacy_lookups_data) / "data" / name).read_bytes()
    return json.loads(gzip.decompress(packed))
