"""What kinds of word a word can be, by spaCy's tables of English lemmas [SpaCy]; no tagger is needed."""

import gzip
import json
from functools import cache
from importlib.resources import files
from typing import Any

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
