"""Documents from a folder of files: HTML, PDF, DOCX and others.

Headings that repeat across files are not titles, and repeated paragraphs are not prose.
"""

import gzip
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from fathom.config.corpus import Selection
from fathom.corpus.characters import CODE_MARK
from fathom.corpus.chosen import Choice
from fathom.corpus.corpus_files import FoundFile, Skipped, list_documents, take_part, write_name
from fathom.corpus.documents import reading_process
from fathom.corpus.documents.reading_process import ReadingProcess
from fathom.corpus.documents.sections import FileContent
from fathom.corpus.records import Document, clean_line, part_name, read_beginning
from fathom.errors import InputError
from fathom.io.files import hash_file, hash_text, write_atomically
from fathom.jobs.program import log, show_progress
from fathom.jobs.program_modules import describe_method

_PACKAGES = (
    "charset-normalizer", "lxml", "mammoth", "markdown-it-py", "mdit-py-plugins", "pylatexenc", "pypdfium2",
    "webencodings",
)  # fmt: skip


OTHER_LANGUAGE = "other language"
LITTLE_PROSE = 0.2
"""Files of which a smaller share of characters became prose are named."""


@dataclass
class _Read:
    """Content of the files of a part."""

    contents: dict[str, FileContent] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)
    reused: int = 0


def read_folder(
    part: str, entries: Sequence[str], selection: Selection, output: Path, kept: Path
) -> dict[str, Any]:
    """Write the documents of one part of a folder's files; return the report.

    A document is the text below one heading. Its id is the file's path with the heading's anchor, its
    category the sub-folder, its abstract its beginning. Unreadable files are counted and named; the others
    are read.

    Parameters
    ----------
    kept : Path
        Cache of each file's content, so that only changed files are read again.

    Raises
    ------
    InputError
        If there is no document at all.
    """
    listed, not_read = list_documents(entries)
    files, first = take_part(listed, part)
    read = _read_files(files, selection.corpus.max_file_mb, kept)
    if first:  # count files that no part reads only once
        for reason, count in not_read.counts.items():
            read.skipped.counts[reason] += count
            read.skipped.examples[reason] = not_read.examples[reason]
    choice = Choice(selection)
    paragraphs: Counter[str] = Counter()
    for content in read.contents.values():
        paragraphs.update(content.left_out)
    choice.write(_iterate_records(files, read.contents, paragraphs, choice), output)
    shares = {name: round(content.prose_share, 3) for name, content in read.contents.items()}
    return {
        "door": "folder",
        "part": part_name(output),
        "input": _describe_input(part, files, read.hashes),
        "files": {
            "read": len(read.contents),
            "reused": read.reused,
            "skipped": read.skipped.report(),
            "little_prose": {name: each for name, each in sorted(shares.items()) if each < LITTLE_PROSE},
        },
        "gaps": sum(content.gaps for content in read.contents.values()),
        "pages": sum(content.pages for content in read.contents.values()),
        "records": choice.records,
        "paragraphs_left_out": dict(sorted(paragraphs.items())),
        **choice.report(),
    }


def _read_files(files: Sequence[FoundFile], max_mb: int, kept: Path) -> _Read:
    """Read files, from the cache if their bytes are known."""
    read = _Read()
    method = orjson.dumps(
        [describe_method(Path(reading_process.__file__), _PACKAGES), max_mb], option=orjson.OPT_SORT_KEYS
    ).decode()
    known = _load(kept, method)
    contents: dict[str, FileContent] = {}
    with ReadingProcess(max_mb) as process:
        for file in show_progress(files, "files", len(files)):
            try:
                digest = hash_text(hash_file(file.path), file.path.name)
                read.hashes[file.name] = digest
                if digest in known:
                    read.reused += 1
                content = known.get(digest) or process.read(file.path)
            except (InputError, OSError) as error:
                what = error.what if isinstance(error, InputError) else f"cannot be read: {error.strerror}"
                read.skipped.add(what.partition(":")[0], file.name)
                log.warning("%s: left out: %s", file.name, what)
                continue
            contents[digest] = content
            read.contents[file.name] = content
    _save(kept, method, contents)
    return read


def _load(kept: Path, method: str) -> dict[str, FileContent]:
    if not kept.is_file():
        return {}
    found: dict[str, FileContent] = {}
    with gzip.open(kept) as stream:
        if orjson.loads(stream.readline()) != method:
            return {}
        for line in stream:
            row = orjson.loads(line)
            found[row["hash"]] = FileContent.restore(row["content"])
    return found


def _save(kept: Path, method: str, contents: Mapping[str, FileContent]) -> None:
    with (
        write_atomically(kept) as temporary,
        temporary.open("wb") as file,
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as stream,  # no name and no date
    ):
        stream.write(orjson.dumps(method) + b"\n")
        for digest, content in contents.items():
            stream.write(orjson.dumps({"hash": digest, "content": content}) + b"\n")


def _iterate_records(
    files: Sequence[FoundFile],
    contents: Mapping[str, FileContent],
    paragraphs: Counter[str],
    choice: Choice,
) -> Iterator[Document]:
    """Yield id, title, text and categories of each document, and its language."""
    repeats = find_repeats(contents)
    for file in files:
        if file.name not in contents:
            continue
        passages = join_sections(contents[file.name], repeats, paragraphs)
        texts = [passage.text.replace(CODE_MARK, "") for passage in passages]
        for passage, language in zip(passages, choice.find_languages(texts), strict=True):
            anchor = f"#{write_name(passage.anchor)}" if len(passages) > 1 else ""
            marked, dropped = (passage.text, 0) if language else choice.keep_english(passage.text)
            paragraphs.update({OTHER_LANGUAGE: dropped} if dropped else {})
            yield {
                "doc_id": file.name + anchor,
                "title": clean_line(passage.title),
                "abstract": read_beginning(marked),
                "categories": file.categories,
                "date": "",
                "text": marked.replace(CODE_MARK, ""),
                "language": language,
            }


def _describe_input(part: str, files: Sequence[FoundFile], hashes: Mapping[str, str]) -> dict[str, Any]:
    pieces = [piece for file in files for piece in (file.name, hashes.get(file.name, ""))]
    size = sum(file.size for file in files)
    return {"file": f"{part} ({len(files):,} files)", "bytes": size, "sha256": hash_text(*pieces)}


_FEWEST_PLACES, _PLACES_SHARE = 10, 0.0025
"""A heading over so many different texts, and such a share of all sections, is not a title."""
_FEWEST_FILES, _FILES_SHARE = 10, 0.3
"""A paragraph in so many files, and such a share of all, is boilerplate."""
_MOST_BOILERPLATE = 0.5
"""If more of all words were boilerplate, the files are versions of one document, and none is."""
_SHORTEST = 80
"""Sections of fewer characters belong to the section above them."""


@dataclass
class Repeats:
    """Headings and paragraphs that repeat across the files of a part.

    `headings`: those over many different texts, in lower case, such as `description` or `notes`.
    `paragraphs`: those in a large share of all files, such as a licence.
    """

    headings: set[str] = field(default_factory=set)
    paragraphs: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Passage:
    """A document: the text below one heading, and below headings under it that are not titles."""

    anchor: str
    title: str
    text: str


def find_repeats(contents: Mapping[str, FileContent]) -> Repeats:
    """Find the headings and paragraphs that repeat across files; `contents` are files by name."""
    places: dict[str, set[tuple[str, ...]]] = {}
    sections = 0
    files_of: Counter[str] = Counter()
    words_of: Counter[str] = Counter()
    for name, content in contents.items():
        inside: set[str] = set()
        for section in content.sections:
            sections += 1
            if section.headings:
                # versions of a page have the same titles: they are one place
                above = (content.title, *section.headings[:-1])
                places.setdefault(section.headings[-1].lower(), set()).add(above)
            for paragraph in section.text.split("\n\n"):
                inside.add(paragraph)
                words_of[paragraph] += paragraph.count(" ") + 1
        if content.title:
            places.setdefault(content.title.lower(), set()).add((name,))
        files_of.update(inside)
    needed = max(_FEWEST_PLACES, _PLACES_SHARE * sections)
    headings = {heading for heading, above in places.items() if len(above) >= needed}
    limit = max(_FEWEST_FILES, _FILES_SHARE * len(contents))
    paragraphs = {each for each, count in files_of.items() if count >= limit}
    repeated = sum(words_of[each] for each in paragraphs)
    if repeated > _MOST_BOILERPLATE * words_of.total():
        paragraphs = set()
    return Repeats(headings, paragraphs)


def join_sections(content: FileContent, repeats: Repeats, left_out: Counter[str]) -> list[Passage]:
    """Return the documents of a file in order.

    A section without a title, or of under 80 characters, joins the nearest one above that has a title.
    `left_out` counts paragraphs of `boilerplate`.
    """
    grouped: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for section in content.sections:
        paragraphs = section.text.split("\n\n")
        kept = [each for each in paragraphs if each not in repeats.paragraphs]
        left_out["boilerplate"] += len(paragraphs) - len(kept)
        if kept:
            key = tuple(each for each in section.headings if each.lower() not in repeats.headings)
            text = "\n\n".join(kept)
            if key and len(text) < _SHORTEST:
                key = key[:-1]
            grouped.setdefault(key, []).append((section.anchor, text))
    title = "" if content.title.lower() in repeats.headings else content.title
    return [
        Passage(pieces[0][0], key[-1] if key else title, "\n\n".join(text for _, text in pieces))
        for key, pieces in grouped.items()
    ]
