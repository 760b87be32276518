"""What is in a folder of documents, a table or a data set of the hub: what `fathom build` finds."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.config.corpus import Columns, Corpus
from fathom.config.language import ENGLISH
from fathom.corpus.own_texts import EVERYTHING, HUB, find_door, name_dataset, stream_dataset
from fathom.errors import InputError

if TYPE_CHECKING:
    from fathom.corpus.documents.reading_process import ReadingProcess
    from fathom.corpus.documents.sections import FileContent
    from fathom.corpus.folder_files import FoundFile

_SAMPLE_FILES, _SAMPLE_ROWS = 24, 200
_SAMPLED_GROUPS, _FEWEST_SAMPLED = 12, 8
"""The largest sub-folders, and how many files of each are read at least."""
_SHOWN, _SHOWN_COLUMNS = 3, 12
_LOCALE = re.compile(r"(?P<code>[a-z]{2})(?P<region>[-_][A-Z]{2}|[-_][A-Z][a-z]{3})?")
_FEWEST_LOCALES = 3


@dataclass
class Found:
    """What is in a source.

    Attributes
    ----------
    corpus : dict
        Section `corpus` of the configuration.
    unit : str
        What is counted: files or rows.
    count, words : int
        How many there are; words are estimated from a sample.
    exact : bool
        Whether all were counted, or only the first ones.
    documents : int
        Rows, or sections of files, which are estimated from a sample.
    groups : Counter
        Documents by sub-folder or category, the outermost that tells them apart; of files' sections those in
        English.
    translations : Counter
        Those of the groups that hold the same in other languages, by their names; no part of `groups`.
    above : str
        Pattern of categories above the groups, with its dot.
    languages : Counter
        Codes of other languages in the sample, by documents; "en" for the rest.
    unread : list of str
        Files of the sample that cannot be read, and why.
    unused : list of str
        Columns of a table that hold nothing that is used.
    """

    corpus: dict[str, Any]
    unit: str
    count: int = 0
    words: int = 0
    exact: bool = True
    documents: int = 0
    groups: Counter[str] = field(default_factory=Counter)
    translations: Counter[str] = field(default_factory=Counter)
    above: str = ""
    languages: Counter[str] = field(default_factory=Counter)
    unread: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

    def describe(self) -> list[str]:
        """Return lines that say what was found."""
        from fathom.corpus.records import clean_line

        others = ", ".join(f"{code} {count}" for code, count in self.languages.most_common() if code != "en")
        share = f" in {self.languages['en']:,} of {self.languages.total():,}, else {others}"
        sections = f", about {self.documents:,} sections" if self.unit == "files" else ""
        size = f"{'' if self.exact else 'at least '}{self.count:,} {self.unit}{sections}"
        lines = [
            f"{size}, about {self.words:,} words",
            f"language of the sample: English{share if others else ''}",
        ]
        if columns := self.corpus.get("columns"):
            used = ", ".join(f"{purpose} from {clean_line(name)}" for purpose, name in columns.items())
            more = ", ..." if len(self.unused) > _SHOWN_COLUMNS else ""
            unused = ", ".join(map(clean_line, self.unused[:_SHOWN_COLUMNS]))
            lines.append(f"columns: {used}{f'; not used: {unused}{more}' if unused else ''}")
        if self.unread:
            more = ", ..." if len(self.unread) > _SHOWN else ""
            lines.append(f"cannot be read: {', '.join(self.unread[:_SHOWN])}{more}")
        if len(self.groups) > 1:
            shown = ", ".join(f"{name} ({count:,})" for name, count in self.groups.most_common(8))
            lines.append(f"could be domains: {shown}")
        if self.translations:
            lines.append(f"translations, by their names: {', '.join(sorted(self.translations))}")
        return lines


def look_at(source: str, columns: Mapping[str, str]) -> Found:
    """Return what is in a folder or file of documents, a table, or a data set of the hub.

    Parameters
    ----------
    source : str
        A path, or `hub:NAME[:CONFIGURATION][@COMMIT]`.
    columns : mapping of str to str
        Columns of a table that the user names, by what they hold.

    Raises
    ------
    InputError
        If it does not exist, is empty, or cannot be read.
    """
    if source.startswith(HUB):
        return _look_at_dataset(source, columns)
    door, files = find_door(source)
    return _look_at_tables(files, columns) if door == "table" else _look_at_folder(source)


def _look_at_folder(source: str) -> Found:
    """Return what is in a folder or file of documents; some files of each sub-folder are read."""
    from fathom.corpus.detection import find_other_languages
    from fathom.corpus.documents.reading_process import ReadingProcess
    from fathom.corpus.folder_files import list_documents

    files, _ = list_documents([source])
    found = Found({"source": "folder", "files": [source]}, "files", len(files))
    counts, found.above = _group(file.categories for file in files)
    sampled = {name for name, _ in counts.most_common(_SAMPLED_GROUPS)}
    level, groups = found.above.count("."), defaultdict(list)
    for file in files:
        parts = ".".join(file.categories).split(".")
        groups[parts[level] if len(parts) > level and parts[level] in sampled else ""].append(file)
    with ReadingProcess(Corpus().max_file_mb) as process:
        for name, members in sorted(groups.items()):
            contents = [
                *_read_sample(members, max(_FEWEST_SAMPLED, _SAMPLE_FILES // len(groups)), process, found)
            ]
            sections = [[section.text for section in content.sections] for content in contents]
            scale = len(members) / max(len(contents), 1)
            found.words += round(scale * sum(len(text.split()) for texts in sections for text in texts))
            found.documents += round(scale * sum(map(len, sections)))
            for texts in sections:
                _judge(" ".join(texts), found)
            if name:
                english = sum(find_other_languages(texts).count("") for texts in sections)
                found.groups[name] = round(scale * english)
    _set_translations_aside(found)
    if not found.documents:
        what = f"none of the {len(found.unread):,} files that were tried can be read"
        raise InputError(what, source, "; ".join(found.unread[:_SHOWN]))
    return found


def _read_sample(
    files: Sequence["FoundFile"], count: int, process: "ReadingProcess", found: Found
) -> Iterator["FileContent"]:
    """Yield what is in some of the files, small and large ones alike."""
    ordered = sorted(files, key=lambda file: (file.size, file.name))
    count = min(count, len(files))
    for number in range(count):
        file = ordered[(2 * number + 1) * len(files) // (2 * count)]
        try:
            yield process.read(file.path)
        except InputError as error:  # the others are read; the run counts and names it, too
            found.unread.append(f"{file.name} ({error.what})")


def _look_at_tables(files: Sequence[str], columns: Mapping[str, str]) -> Found:
    """Return what is in tables; their rows are counted."""
    from fathom.corpus.table_rows import find_columns, read_rows_of_table

    found = Found({"source": "table", "files": list(files)}, "rows")
    labels: list[list[str]] = []
    for file in files:
        rows, _ = read_rows_of_table(Path(file), EVERYTHING)
        first = next(rows, None)
        if first is None:
            raise InputError("the table has no rows", file, "give one that has")
        names = find_columns(first, Columns.model_validate(dict(columns)), file)
        _note_columns(found, first, names)
        _count_rows(first, rows, names, found, labels)
    found.groups, found.above = _group(labels)
    _set_translations_aside(found)
    return found


def _look_at_dataset(source: str, columns: Mapping[str, str]) -> Found:
    """Return what is in the first rows of a data set; its commit is resolved."""
    from fathom.corpus.table_rows import find_columns

    dataset = name_dataset(source)
    values = dataset.model_dump(exclude_none=True)
    found = Found({"source": "dataset", "dataset": values}, "rows", exact=False)
    rows = stream_dataset(dataset, source)
    first = next(rows)
    names = find_columns(first, Columns.model_validate(dict(columns)), source)
    labels: list[list[str]] = []
    _note_columns(found, first, names)
    _count_rows(first, islice(rows, _SAMPLE_ROWS), names, found, labels)
    found.groups, found.above = _group(labels)
    _set_translations_aside(found)
    return found


def _note_columns(found: Found, there: Iterable[str], names: Mapping[str, str]) -> None:
    """Note which columns hold what; where tables differ, each is left to find its own."""
    known = found.corpus.get("columns", names)
    found.corpus["columns"] = {each: name for each, name in known.items() if names.get(each) == name}
    spare = set(there) - set(names.values()) - set(found.unused)
    found.unused += [name for name in there if name in spare]


def _count_rows(
    first: Mapping[str, Any],
    rows: Iterator[Mapping[str, Any]],
    names: Mapping[str, str],
    found: Found,
    labels: list[list[str]],
) -> None:
    """Count rows, words and categories; judge the language of the first ones."""
    from fathom.corpus.table_rows import read_labels

    for number, row in enumerate([first, *rows]):
        found.count = found.documents = found.count + 1
        text = str(row.get(names.get("text") or names["abstract"]) or "")
        found.words += len(text.split())
        labels.append(read_labels(row.get(names["categories"])) if "categories" in names else [])
        if number < _SAMPLE_ROWS:
            _judge(text, found)


def _judge(text: str, found: Found) -> None:
    """Count the language of a text of the sample."""
    from fathom.corpus.detection import find_other_language

    found.languages[find_other_language(text) or "en"] += 1


def _set_translations_aside(found: Found) -> None:
    """Take groups named like languages (`es-ES`, `fr`) out, where they stand beside one for English."""
    from fathom.corpus.detection import list_languages

    codes = {
        name: match["code"]
        for name in found.groups
        if (match := _LOCALE.fullmatch(name)) and (match["region"] or match["code"] in list_languages())
    }
    if len(codes) >= _FEWEST_LOCALES and ENGLISH.code in codes.values():
        for name in [name for name, code in codes.items() if code != ENGLISH.code]:
            found.translations[name] = found.groups.pop(name)


def _group(categories: Iterable[Sequence[str]]) -> tuple[Counter[str], str]:
    """Return documents by the outermost part of their categories that tells them apart, and what is above."""
    known = [[each.split(".") for each in labels] for labels in categories]
    above: list[str] = []
    while True:
        level = len(above)
        fitting = [{parts[level] for parts in labels if len(parts) > level} for labels in known]
        counts = Counter(name for names in fitting for name in names)
        if len(counts) != 1 or any(not names for names in fitting):
            return counts, "".join(f"{name}." for name in above)
        above.append(next(iter(counts)))
