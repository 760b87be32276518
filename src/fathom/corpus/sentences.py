"""Documents to sentences: paragraphs, then spaCy, then cleaning [RawCorpora, App. A.2], [SpaCy].

spaCy's sentencizer ends a sentence at every full stop that is a token, and attaches following marks to the
sentence before: `He left. "` and `Go," she said.` It never ends one after an abbreviation: `in the U.S.
The`. Both are corrected here.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import polars as pl

from fathom.config.benchmark import RULES, Characters, Sentences
from fathom.config.language import ENGLISH
from fathom.corpus.characters import CODE_MARK, GAP, spell_plainly
from fathom.corpus.installed_pipelines import is_installed
from fathom.corpus.latex import Markup, clean_sentence, decide
from fathom.corpus.latex_documents import latex_to_prose
from fathom.corpus.records import clean_line, iterate_paragraphs
from fathom.errors import InputError
from fathom.io.contracts.corpus import SENTENCE_COUNTS, SENTENCES
from fathom.io.files import hash_text
from fathom.io.tables import make_empty_table

LONGEST_CHUNK = 20_000
"""Characters passed to spaCy at once; its own limit is 1,000,000, which takes a gigabyte of memory."""
LONGEST_WORD = 500
"""Longer words, in characters, are data, not prose; spaCy's tokenizer takes quadratic time for them."""
_AT_ONCE = 50_000
"""Most sentences kept as Python objects, which take several times the memory of a table."""

_WORD = re.compile(r"\S+")


Cleaned = tuple[str | None, Counter[str]]
"""A cleaned sentence, None if it is dropped, and its counts."""
Examples = dict[str, list[str]]
"""Sentences that are left out, by reason."""
_EXAMPLES, _SHOWN = 5, 200


@dataclass(frozen=True)
class Splitter:
    """A spaCy pipeline that only finds sentences, and its name in a report.

    `load`: returns the pipeline; called with the first document, because spaCy takes seconds to import.
    `correct`: corrects the pipeline's starts of sentences, given a text and those starts.
    """

    load: Callable[[], Any]
    name: str
    correct: Callable[[str, list[int]], list[int]] | None = None

    @cached_property
    def pipeline(self) -> Any:
        """The pipeline."""
        return self.load()


def load_splitter(splitter: str) -> Splitter:
    """Load the spaCy pipeline that splits text, with only the components that find sentences.

    Parameters
    ----------
    splitter : str
        `rules`, the name of an installed package, or a folder. `rules` is blank English with spaCy's
        rule-based `sentencizer`, the abbreviations of scientific text, and the corrections of
        :mod:`fathom.corpus.sentences`.
    """
    if splitter == RULES:
        name = f"blank English with sentencizer (spaCy {version('spacy')}), ends corrected"
        return Splitter(_make_rules, name, correct_starts)
    where = f"sentences.splitter = {splitter}"
    hint = f"give {RULES}, an installed package such as {ENGLISH.papers_splitter}, or a folder with one"
    if not is_installed(splitter):
        problem = "spaCy cannot load this splitter: no folder or package of this name has a meta.json"
        raise InputError(problem, where, hint)
    import spacy

    try:
        pipeline = spacy.load(splitter)
    except (OSError, ValueError) as error:
        problem = f"spaCy cannot load this splitter: {str(error).splitlines()[0]}"
        raise InputError(problem, where, hint) from error
    components = _keep_splitting_components(pipeline, splitter)
    meta = pipeline.meta
    name = f"{meta['lang']}_{meta['name']} {meta['version']}"
    return Splitter(lambda: pipeline, f"{name}, {'+'.join(components)} (spaCy {spacy.__version__})")


def _make_rules() -> Any:
    import spacy

    pipeline = spacy.blank(ENGLISH.code)
    pipeline.add_pipe("sentencizer")
    written = ENGLISH.abbreviations.split()
    for abbreviation in dict.fromkeys([*written, *(each[:1].upper() + each[1:] for each in written)]):
        pipeline.tokenizer.add_special_case(abbreviation, [{"ORTH": abbreviation}])
    return pipeline


def _keep_splitting_components(pipeline: Any, splitter: str) -> list[str]:
    splits = next((n for n in ("senter", "parser", "sentencizer") if n in pipeline.component_names), None)
    if splits is None:
        hint = "it needs one of the components senter, parser, sentencizer"
        raise InputError("this spaCy pipeline finds no sentences", f"sentences.splitter = {splitter}", hint)
    if splits in pipeline.disabled:
        pipeline.enable_pipe(splits)
    model = getattr(pipeline.get_pipe(splits), "model", None)
    listens = model is not None and any("listener" in node.name for node in model.walk())
    feeds = [n for n in pipeline.pipe_names if listens and n in {"tok2vec", "transformer"}]
    keep = [*feeds, splits]
    for name in [n for n in pipeline.pipe_names if n not in keep]:
        pipeline.disable_pipe(name)
    return keep


def split_documents(
    documents: Iterable[Mapping[str, Any]],
    settings: Sentences,
    splitter: Splitter | None = None,
    markup: Markup = "latex",
    examples: Examples | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split documents into sentences and clean them.

    Parameters
    ----------
    documents : iterable of mapping
        `doc_id`, `title`, `abstract`, `text` and `text_hash` of each; one is in memory at a time.
    markup : str, default="latex"
        What texts are: `latex`, `plain`, or `auto`, which decides for each document.

    Returns
    -------
    sentences : pl.DataFrame
        Under SENTENCES, by doc_id and position; `row` numbers distinct sentences in that order.
    documents : pl.DataFrame
        Under SENTENCE_COUNTS, by doc_id: sentences of each, and sentences left out by reason.
    """
    splitter = splitter or load_splitter(settings.splitter)
    schema = {name: dtype for name, dtype in make_empty_table(SENTENCES).schema.items() if name != "row"}
    frames = [pl.DataFrame(schema=schema)]
    cleaner = _Cleaner(settings, {} if examples is None else examples)
    kept: list[tuple[str, int, str, str]] = []
    rows: list[dict[str, Any]] = []
    for document in documents:
        counts: Counter[str] = Counter()
        latex = decide(markup, join_parts(document))
        text = document if settings.titles else {**document, "title": ""}
        sentences = split_document(text, splitter, counts, settings.characters, latex)
        raw = latex and settings.characters == "ascii"
        kept.extend((document["doc_id"], *each) for each in cleaner.clean(sentences, raw, counts))
        counted = {column.name: counts[column.name] for column in SENTENCE_COUNTS.columns[2:]}
        rows.append({"doc_id": document["doc_id"], "content": hash_content(document), **counted})
        if len(kept) >= _AT_ONCE or len(cleaner.known) >= _AT_ONCE:
            frames.append(pl.DataFrame(kept, schema, orient="row"))
            cleaner.known.clear()
            kept.clear()
    frames.append(pl.DataFrame(kept, schema, orient="row"))
    sentence_counts = pl.DataFrame(rows, schema=make_empty_table(SENTENCE_COUNTS).schema)
    return number_rows(pl.concat(frames)), sentence_counts.sort("doc_id")


class _Cleaner:
    """Cleans sentences; `known` caches earlier ones."""

    def __init__(self, settings: Sentences, examples: Examples) -> None:
        self.known: dict[tuple[str, bool], Cleaned] = {}
        self._settings, self._examples = settings, examples

    def clean(
        self, sentences: Iterable[str], latex: bool, counts: Counter[str]
    ) -> Iterator[tuple[int, str, str]]:
        """Yield position, sentence and clean sentence of those of a document that are kept."""
        for position, sentence in enumerate(sentences):
            counts["sentences"] += 1
            clean, problems = self._clean_one(sentence, latex)
            counts.update(problems)
            if clean is not None:
                counts["kept"] += 1
                yield position, sentence, clean
                continue
            reason = next(each for each in problems if each.startswith("dropped"))
            examples = self._examples.setdefault(reason, [])
            if len(examples) < _EXAMPLES and sentence[:_SHOWN] not in examples:
                examples.append(sentence[:_SHOWN])

    def _clean_one(self, sentence: str, latex: bool) -> Cleaned:
        if len(sentence) > self._settings.max_characters:
            return None, Counter({"dropped_too_long": 1})
        key = sentence, latex
        if key not in self.known:
            problems: Counter[str] = Counter()
            characters = self._settings.characters
            self.known[key] = (
                clean_sentence(sentence, problems, latex=latex, characters=characters), problems
            )  # fmt: skip
        return self.known[key]


def hash_content(document: Mapping[str, Any]) -> str:
    """Return a hash of what a document's sentences depend on: title, abstract, and hash of the text."""
    return hash_text(document["title"], document["abstract"], document["text_hash"])


def number_rows(sentences: pl.DataFrame) -> pl.DataFrame:
    """Return rows under SENTENCES by doc_id and position, with equal numbers in `row` for equal sentences."""
    schema = make_empty_table(SENTENCES).schema
    table = sentences.select(name for name in schema if name != "row").sort("doc_id", "position")
    first = table.select("sentence").unique(maintain_order=True).with_row_index("row")
    numbered = table.join(first, on="sentence", how="left", maintain_order="left")
    return numbered.select(pl.col(name).cast(schema[name]) for name in schema)


def split_document(
    document: Mapping[str, Any],
    splitter: Splitter,
    counts: Counter[str] | None = None,
    characters: Characters = "ascii",
    latex: bool = False,
) -> Iterator[str]:
    """Yield a document's sentences with single blanks, in order; they depend on this document alone.

    Parameters
    ----------
    counts : Counter, optional
        Counts `dropped_long_words`, words that are data, and what
        :func:`fathom.corpus.latex_documents.latex_to_prose` counts.
    characters : str, default="ascii"
        `text` spells typographic characters in ASCII before anything else, and makes plain text of LaTeX;
        `ascii` leaves both to the cleaning of sentences, as the papers do.
    """
    counts = Counter() if counts is None else counts
    text = join_parts(document)
    if characters == "text":
        text = spell_plainly(latex_to_prose(text, counts) if latex else text)
    # the text of a parsed document would be put together again from its tokens
    chunks = ((chunk, chunk) for chunk in _cut_into_chunks(text, counts))
    for parsed, text in splitter.pipeline.pipe(chunks, batch_size=32, as_tuples=True):
        starts = [sentence.start_char for sentence in parsed.sents]
        if splitter.correct is not None:
            starts = splitter.correct(text, starts)
        for start, end in pairwise([*starts, len(text)]):
            sentence = " ".join(text[start:end].split())
            if sentence:
                yield sentence


def join_parts(document: Mapping[str, Any]) -> str:
    """Return a document's `title : abstract`, a blank line, and its full text; empty parts left out.

    An abstract that only repeats the beginning of the text is not read twice: the title is then a separate
    paragraph.
    """
    title, abstract, text = (document[name].strip() for name in ("title", "abstract", "text"))
    abstract = abstract.replace(CODE_MARK, "")
    if abstract and clean_line(text[: 4 * len(abstract) + 1000]).startswith(abstract):
        return f"{title}\n\n{text}" if title else text
    head = " : ".join(part for part in (title, abstract) if part)
    return "\n\n".join(part for part in (head, text) if part)


def _cut_into_chunks(text: str, counts: Counter[str]) -> Iterator[str]:
    """Yield paragraphs with single blanks, those too long for spaCy in several chunks."""
    for paragraph in iterate_paragraphs(text):
        words: list[str] = []
        length = 0
        for match in _WORD.finditer(paragraph):
            word = match.group()
            if len(word) > LONGEST_WORD:
                counts["dropped_long_words"] += 1
                yield from [" ".join(words)] if words else []
                words, length = [], 0
                continue
            if length + len(word) + 1 > LONGEST_CHUNK:
                # the last possible end of a sentence
                end = next((n for n in range(len(words), 0, -1) if words[n - 1][-1] in ".!?"), len(words))
                yield " ".join(words[:end])
                words = words[end:]
                length = sum(map(len, words)) + len(words)
            words.append(word)
            length += len(word) + 1
        if words:
            yield " ".join(words)


_OPENING = "\"'“‘«([{"
_CLOSING = "\"'”’»)]"
_BEFORE_SMALL = "?!\"'”’»)]"
_BEGINNING = re.compile(rf"[{re.escape(_OPENING)}]*(?:{'|'.join(ENGLISH.beginnings.split())})\b(?!\.)")
_BEFORE_NUMBERS = frozenset(ENGLISH.before_numbers.split())
_BEFORE_NAMES = frozenset(ENGLISH.before_names.split())
_AT_ENDS = frozenset(ENGLISH.at_ends.split())
_MAY_END = _AT_ENDS | {"etc.", "a.m.", "p.m.", "...", *ENGLISH.before_small.split()}
_STOP = re.compile(
    rf"\.(?:[{re.escape(_CLOSING)}]{{1,3}}|(?P<notes>(?:\[\d{{1,3}}(?:[,–-] ?\d{{1,3}})*\])+))? "
)
_LETTER = re.compile(rf"(?:.*[^A-Za-z])?[A-Z]\.|[a-z]\.|.*{GAP}s\.")
_ITEM = re.compile(r"[ivxl]+\.|\d{1,2}\)?\.")
_DOTTED = re.compile(r"(?:[A-Za-z]\.){2,}")
"""An abbreviation of single letters, such as `i.i.d.`"""
_ROMAN = re.compile(r"[IVXL]+\b")
_LONGEST = 16
"""Characters of the longest abbreviation, with marks around it."""


def correct_starts(text: str, starts: list[int]) -> list[int]:
    """Correct the sentencizer's starts of sentences in a paragraph; 0 comes first."""
    corrected = set(starts[:1])
    for start in starts[1:]:
        moved = start if text[start - 1] == " " else _move_before_opening(text, start)
        if not (_is_inside_name(text, moved) or _continues(text, moved)):
            corrected.add(moved)
    for stop in _STOP.finditer(text):
        place = stop.end()
        if place not in corrected and place < len(text) and _is_missed(text, place, stop):
            corrected.add(place)
    return sorted(corrected)


def _move_before_opening(text: str, start: int) -> int:
    """Return the start of a sentence with the quote or bracket that opens right before it."""
    place = start
    while place > 0 and text[place - 1] in _OPENING:
        place -= 1
    return place if place < start and place > 0 and text[place - 1] == " " else start


def _read_word(text: str, end: int) -> str:
    """Return the last word before a place, with its full stop and without marks around it."""
    begin = text.rfind(" ", max(0, end - _LONGEST), end)
    return text[max(begin + 1, end - _LONGEST) : end].lstrip(_OPENING).rstrip(_CLOSING)


def _is_inside_name(text: str, start: int) -> bool:
    """Say whether a place is inside a name or code, `os.PathLike`, `!=`: few sentences lack a space."""
    following = text[start : start + 1]
    inside = text[start - 1] in ".?!" and following.isascii() and following not in _OPENING
    return inside and _BEGINNING.match(text, start) is None


def _continues(text: str, start: int) -> bool:
    """Say whether the sentence continues after speech, brackets, an item's number or an abbreviation."""
    end = start - 1 if text[start - 1] == " " else start
    small = text[start : start + 1].islower()
    if small and text[end - 1 : end] in _BEFORE_SMALL:
        return True
    word = _read_word(text, end)
    if not word.endswith("."):
        return False
    if small and (word in _MAY_END or _ITEM.fullmatch(word) or _DOTTED.fullmatch(word)):
        return True
    if word in _BEFORE_NUMBERS and (text[start : start + 1].isdigit() or _ROMAN.match(text, start)):
        return True
    is_initial = len(word) == 2 and word[0].isupper()
    inside = word in _BEFORE_NAMES or word in _AT_ENDS or is_initial
    return inside and not _BEGINNING.match(text, start)


def _is_missed(text: str, place: int, stop: re.Match[str]) -> bool:
    """Say whether a sentence ends where the sentencizer finds no end.

    It may end after some abbreviations, a single letter (an initial, unit or formula), an ellipsis, a
    plural gap or numbers of notes.
    """
    word = _read_word(text, stop.start() + 1)
    if _BEGINNING.match(text, place) is None:
        return False
    if stop.start() < len(word) and not word.endswith("..."):  # the letter of an item
        return False
    return (
        stop["notes"] is not None or word in _MAY_END or word.endswith("...") or bool(_LETTER.fullmatch(word))
    )
