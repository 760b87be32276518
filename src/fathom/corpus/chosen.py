"""Which records become documents of a corpus: one place for all readers of people's own texts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fathom.config.corpus import Selection
from fathom.corpus.detection import find_other_languages, keep_english
from fathom.corpus.records import Document, add_text, count_top, write_documents
from fathom.corpus.selection import EMPTY, NO_FULL_TEXT, DomainSelector, SplitChooser
from fathom.io.contracts.corpus import DOCUMENTS
from fathom.io.tables import write_table_in_batches
from fathom.jobs.program import log

_MOST = 0.5  # share of documents in another language from which the log warns


@dataclass
class Choice:
    """Chooses records, and counts them.

    Parameters
    ----------
    selection : Selection
        The domains, dates, splits and language.
    """

    selection: Selection
    categories: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    records: int = 0
    documents: int = 0

    def write(self, records: Iterable[dict[str, Any]], output: Path) -> None:
        """Write the records that become documents (DOCUMENTS), in their order.

        Parameters
        ----------
        records : iterable of dict
            `doc_id`, `title`, `abstract`, `categories`, `date` and `text` of each; `language`, empty for
            English, where it is known.
        output : Path
            Table to write.
        """
        with write_table_in_batches(output, DOCUMENTS) as writer:
            write_documents(writer, self._choose(records))
            self.documents = writer.rows
        foreign = {reason: count for reason, count in self.left_out.items() if reason.startswith("language")}
        if sum(foreign.values()) > _MOST * self.records:
            log.warning(
                "%s of %s documents are not in English and are left out (%s); the steps are made for English;"
                " corpus.language: any keeps them",
                f"{sum(foreign.values()):,}",
                f"{self.records:,}",
                ", ".join(f"{reason} {count:,}" for reason, count in sorted(foreign.items())),
            )

    def find_languages(self, texts: Sequence[str]) -> list[str]:
        """Return the languages of a file's sections, empty for English, and where any language will do."""
        any_will_do = self.selection.corpus.language == "any"
        return [""] * len(texts) if any_will_do else find_other_languages(texts)

    def keep_english(self, text: str) -> tuple[str, int]:
        """Return a text without its paragraphs in other languages, and their number."""
        return (text, 0) if self.selection.corpus.language == "any" else keep_english(text)

    def report(self) -> dict[str, Any]:
        """Return what was left out and kept."""
        return {
            "left_out": dict(self.left_out),
            **({"notes": dict(self.notes)} if self.notes else {}),
            "documents": self.documents,
            "categories": count_top(self.categories),
        }

    def _choose(self, records: Iterable[dict[str, Any]]) -> Iterator[Document]:
        """Yield documents; count the records that are none, by reason."""
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
        """Return why a record of a domain is no document; empty if it is one."""
        corpus = self.selection.corpus
        if not (record["title"] or record["abstract"] or text):
            return EMPTY
        if corpus.require_fulltext and not text:
            return NO_FULL_TEXT
        if language is None:
            (language,) = self.find_languages([text or record["abstract"] or record["title"]])
        return f"language: {language}" if language else ""
