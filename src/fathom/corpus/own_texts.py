"""Texts named by a user: a folder or file of documents, a table, or a data set of the hub."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from fathom.config.corpus import Columns, DataSet, Selection, TextSource
from fathom.errors import InputError
from fathom.io.contracts.corpus import DOCUMENTS
from fathom.io.files import hash_text
from fathom.io.tables import read_table

HUB = "hub:"
_HUB_NAME = re.compile(r"hub:([^:@]+)(?::([^:@]+))?(?:@([0-9a-f]{40}))?")
EVERYTHING = Selection.model_validate(
    {"domains": {"all": {"categories": ["*"]}}, "corpus": {"language": "any"}}
)
"""Selects every document."""


def find_door(source: str) -> tuple[str, list[str]]:
    """Return whether a path holds a `table` or a `folder` of documents, and what to read."""
    from fathom.corpus.corpus_files import is_table

    path = Path(source)
    if not source or not path.exists():
        raise InputError("there is no such file or folder", source, "a data set of the hub is hub:OWNER/NAME")
    if not path.is_dir():
        return "table" if is_table(path.name) else "folder", [source]
    entries = sorted(each for each in path.iterdir() if not each.name.startswith("."))
    tables = [str(each) for each in entries if each.is_file() and is_table(each.name)]
    if tables and not any(_may_hold_documents(each) for each in entries):
        return "table", tables
    return "folder", [source]


def _may_hold_documents(path: Path) -> bool:
    """Say whether this is a document, or a folder with other files than results."""
    from fathom.corpus.corpus_files import is_written_to
    from fathom.corpus.documents.formats import find_format

    return not is_written_to(path) if path.is_dir() else bool(find_format(path.name))


def name_dataset(source: str) -> DataSet:
    """Return the data set that `hub:NAME[:CONFIGURATION][@COMMIT]` names, at its newest commit by default.

    Raises
    ------
    InputError
        If the name is invalid, or the hub lacks the data set or cannot be reached.
    """
    match = _HUB_NAME.fullmatch(source)
    if match is None:
        raise InputError(
            "not the name of a data set", source, "write hub:OWNER/NAME[:CONFIGURATION][@COMMIT]"
        )
    name, configuration, commit = match.groups()
    return DataSet(name=name, configuration=configuration, revision=commit or _resolve(name, source))


def _resolve(name: str, source: str) -> str:
    """Return the newest commit of a data set; the key of a private one comes from the environment."""
    import httpx2
    from huggingface_hub import HfApi, errors

    try:
        return str(HfApi().dataset_info(name).sha)
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        hint = "check the name; a private one needs `hf auth login`, or a key in HF_TOKEN"
        raise InputError("the data set is not on the hub, or is private", source, hint) from error
    except (OSError, httpx2.HTTPError, errors.HfHubHTTPError) as error:
        what = f"the hub cannot be reached: {(str(error).strip() or type(error).__name__).splitlines()[0]}"
        raise InputError(what, source, "check the network; @COMMIT names a commit that is cached") from error


def stream_dataset(dataset: DataSet, where: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a data set as they come from the hub."""
    from fathom.corpus.text_sources import read_rows

    source = TextSource(dataset=dataset.name, subset=dataset.configuration, revision=dataset.revision)
    return read_rows(source, where)


def read_texts(
    sources: Sequence[str], columns: Mapping[str, str], max_characters: int
) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """Read documents with the readers of a corpus, in any language; duplicates once.

    Parameters
    ----------
    max_characters : int
        Of a data set, only first rows are read, up to so many characters.

    Returns
    -------
    DataFrame
        Columns doc_id, file (the row itself, of a table) and text.
    list of dict
        Of each source: its name, documents, those left out by reason; the commit of a data set.

    Raises
    ------
    InputError
        If a source does not exist, cannot be read, or holds no text.
    """
    chosen = {"columns": Columns.model_validate(dict(columns)), "language": "any"}
    selection = EVERYTHING.model_copy(update={"corpus": EVERYTHING.corpus.model_copy(update=chosen)})
    seen: set[str] = set()
    rows: list[tuple[str, str, str]] = []
    reports = []
    for source in sources:
        with TemporaryDirectory() as folder:
            found, told = _read_source(source, selection, Path(folder), max_characters)
        left_out = Counter(told.pop("left_out"))
        before = len(rows)
        for doc_id, file, text in found:
            if not text.strip() or (digest := hash_text(text)) in seen:
                left_out["a repeated text" if text.strip() else "no text"] += 1
                continue
            seen.add(digest)
            prefix = f"{source}: " if len(sources) > 1 else ""
            rows.append((f"{prefix}{doc_id}", f"{prefix}{file}", text))
        if len(rows) == before:
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(left_out.items()))
            raise InputError(
                "there is no text to measure", source, f"left out: {reasons}" if reasons else "it is empty"
            )
        counts = dict(sorted(left_out.items()))
        reports.append({**told, "documents": len(rows) - before, "left_out": counts})
    schema = dict.fromkeys(("doc_id", "file", "text"), pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row"), reports


def _read_source(
    source: str, selection: Selection, folder: Path, max_characters: int
) -> tuple[list[tuple[str, str, str]], dict[str, Any]]:
    from fathom.corpus.corpus_files import list_documents, name_parts_of_folder
    from fathom.corpus.folder import read_folder
    from fathom.corpus.table_rows import read_table_documents, write_row_documents

    told: dict[str, Any] = {"source": source}
    tables: list[tuple[str, Path]] = []
    reports = []
    if source.startswith(HUB):
        dataset = name_dataset(source)
        told["commit"] = dataset.revision
        table = folder / "rows.parquet"
        rows = _take_first(stream_dataset(dataset, source), max_characters)
        reports.append(write_row_documents(rows, selection, dataset.name, table))
        tables.append(("", table))
    else:
        door, files = find_door(source)
        if door == "folder":
            for part in name_parts_of_folder(list_documents(files)[0]):
                tables.append(("#", folder / f"{part}.parquet"))
                reports.append(read_folder(part, files, selection, tables[-1][1], folder / "kept.gz"))
        else:
            for number, file in enumerate(files):
                tables.append(("", folder / f"{number}.parquet"))
                reports.append(read_table_documents(Path(file), selection, tables[-1][1]))
    found = [
        (doc_id, doc_id.partition(mark)[0] if mark else doc_id, text or abstract or title)
        for mark, table in tables
        for doc_id, text, abstract, title in read_table(table, DOCUMENTS)
        .select("doc_id", "text", "abstract", "title")
        .iter_rows()
    ]
    return found, told | {"left_out": _count_left_out(reports)}


def _take_first(rows: Iterable[Mapping[str, Any]], max_characters: int) -> Iterator[Mapping[str, Any]]:
    taken = 0
    for row in rows:
        yield row
        taken += sum(len(each) for each in row.values() if isinstance(each, str))
        if taken >= max_characters:
            return


def _count_left_out(reports: Iterable[Mapping[str, Any]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for report in reports:
        counts.update(report["left_out"])
        if malformed := report.get("malformed", {}).get("count"):
            counts["malformed lines"] += malformed
        for reason, each in report.get("files", {}).get("skipped", {}).items():
            counts[f"files: {reason}"] += each["count"]
        for reason, count in report.get("paragraphs_left_out", {}).items():
            counts[f"paragraphs: {reason}"] += count
    return +counts
