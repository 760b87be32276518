"""The records that become documents of a corpus, for all readers of people's own texts.

Languages are found offline, by py3langid: naive Bayes over sequences of bytes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from fathom.config.corpus import Selection
from fathom.config.language import ENGLISH
from fathom.corpus.records import Document, add_text, count_top, iterate_paragraphs, write_documents
from fathom.corpus.selection import EMPTY, NO_FULL_TEXT, DomainSelector, SplitChooser
from fathom.io.contracts.corpus import DOCUMENTS
from fathom.io.tables import write_table_in_batches
from fathom.jobs.program import explain_imports, log

_MOST = 0.5  # share of documents in another language from which the log warns


@dataclass
class Choice:
    """Chooses records, and counts them."""

    selection: Selection
    categories: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    records: int = 0
    documents: int = 0

    def write(self, records: Iterable[dict[str, Any]], output: Path) -> None:
        """Write the records that become documents (DOCUMENTS), in their order.

        A record has `doc_id`, `title`, `abstract`, `categories`, `date`, `text`, and `language`, empty for
        English, where it is known.
        """
        with write_table_in_batches(output, DOCUMENTS) as writer:
            write_documents(writer, self._choose(records))
            self.documents = writer.rows
        foreign = {reason: count for reason, count in self.left_out.items() if reason.startswith("language")}
        if sum(foreign.values()) > _MOST * self.records:
            log.warning(
                "%s of %s documents are not in English and are left out (%s); corpus.language: any keeps "
                "them, but the steps are made for English",
                f"{sum(foreign.values()):,}",
                f"{self.records:,}",
                ", ".join(f"{reason} {count:,}" for reason, count in sorted(foreign.items())),
            )

    def find_languages(self, texts: Sequence[str]) -> list[str]:
        """Return the languages of a file's sections; empty for English, or if any language will do."""
        any_will_do = self.selection.corpus.language == "any"
        return [""] * len(texts) if any_will_do else find_other_languages(texts)

    def keep_english(self, text: str) -> tuple[str, int]:
        """Return a text without its paragraphs in other languages, and their number."""
        return (text, 0) if self.selection.corpus.language == "any" else keep_english(text)

    def report(self) -> dict[str, Any]:
        """Return counts of what was left out and kept."""
        return {
            "left_out": dict(self.left_out),
            **({"notes": dict(self.notes)} if self.notes else {}),
            "documents": self.documents,
            "categories": count_top(self.categories),
        }

    def _choose(self, records: Iterable[dict[str, Any]]) -> Iterator[Document]:
        """Yield documents; count the other records by reason."""
        selector = DomainSelector(self.selection)
        splits = SplitChooser(self.selection.corpus.splits)
        for record in records:
            self.records += 1
            self.categories.update(record["categories"])
            domains, reason = selector.select(record["categories"], record["date"])
            text, language = record.pop("text"), record.pop("language", None)
            reason = reason or self._find_fault(record, text, language)
            if reason:
                self.left_out[reason] += 1
            else:
                yield add_text({**record, "domains": domains, "split": splits.choose(record["doc_id"])}, text)

    def _find_fault(self, record: dict[str, Any], text: str, language: str | None) -> str:
        """Return why a record of a domain is not a document; empty if it is."""
        corpus = self.selection.corpus
        if not (record["title"] or record["abstract"] or text):
            return EMPTY
        if corpus.require_fulltext and not text:
            return NO_FULL_TEXT
        if language is None:
            (language,) = self.find_languages([text or record["abstract"] or record["title"]])
        return f"language: {language}" if language else ""


_LOOKED_AT = 1500
"""Characters to look at: more change no verdict and take time."""
_FEWEST_WORDS = 30
"""Fewest words to judge: names, code and short lists look like any language."""
_SURE = 0.99
"""Probability of another language above which a text is left out: doubtful ones stay."""
_FEWEST_WORDS_OF_PARAGRAPHS, _RATHER_SURE = 8, 0.7
"""The same for a paragraph: none of 17,000 in English manuals is taken for another language."""
_NO_LANGUAGE = "zxx"  # numbers and marks
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

    A section too short to be judged has the language of most judged sections of the file, or of all
    sections together if all are too short.
    """
    judged = [_judge(text) for text in texts]
    known = [each for each in judged if each is not None] or [_judge("\n".join(texts)) or ""]
    most, count = Counter(known).most_common(1)[0]
    usual = most if 2 * count > len(known) else ""
    return [usual if each is None else each for each in judged]


def keep_english(text: str) -> tuple[str, int]:
    """Return a text without its paragraphs in other languages, and their number.

    An unfinished translation has both languages in one section.
    """
    paragraphs = list(iterate_paragraphs(text))
    kept = [paragraph for paragraph in paragraphs if not _is_foreign(paragraph)]
    dropped = len(paragraphs) - len(kept)
    return ("\n\n".join(kept) if dropped else text), dropped


def list_languages() -> frozenset[str]:
    """Return the codes of the known languages, mostly of two letters (ISO 639-1)."""
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
    with explain_imports("corpus.language"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
