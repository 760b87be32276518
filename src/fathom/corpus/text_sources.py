"""Training text from data sets of the Hugging Face hub and from files, read as a stream.

The library `datasets` reads them: parquet, JSON, CSV and text; a data set's own code is never run.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.corpus import TextSource
from fathom.config.section import refuse_unknown
from fathom.corpus.texts import HELD_OUT, HELD_OUT_SHARE, TRAIN
from fathom.errors import InputError
from fathom.io.delimited import read_header, require_distinct
from fathom.io.files import hash_text
from fathom.io.names import show_count
from fathom.jobs.program import explain_imports, log, show_progress

_READERS = {".parquet": "parquet", ".jsonl": "json", ".json": "json", ".csv": "csv", ".txt": "text"}
_ARCHIVES = {".tar": "tar", ".tar.gz": "tar", ".tgz": "tar", ".zip": "zip"}
_DIGITS = 8  # of a hash that decides on the split
_NETWORK = "check the network and the names, and start again"
_KEY = "`hf auth login`, or a key in HF_TOKEN"
_DUPLICATE = "duplicate column: rename or remove one of them"
_HINTS = {
    "Bad split": "set `split` to one of these",
    "specified twice": _DUPLICATE,
    "Multiple matches": _DUPLICATE,
    "Couldn't cast": "its splits and files need the same columns, of the same kinds",
    "scripts": "its code is never run: download its files and give their folder, or use `files` of"
    " models.texts",
    "gated": f"ask for access on its page on the hub; then {_KEY}",
}
"""By words of an error."""


def read_source(source: TextSource, where: str) -> Iterator[str | None]:
    """Yield the text of each row, in the order of the source; None where a row has none.

    Raises
    ------
    InputError
        If the source, its revision, split or column does not exist, it cannot be read, or is data-set code.
    """
    for place, row in enumerate(read_rows(source, where)):
        if not place and source.column not in row:
            raise refuse_unknown("column", source.column, row, where)
        text = row[source.column]
        if text is not None and not isinstance(text, str):
            what = f"column {source.column!r} holds no text but {type(text).__name__}"
            raise InputError(what, where, "set `column` to the one that holds the text")
        yield text


def read_rows(source: TextSource, where: str, keep: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a source with all their columns; see :func:`read_source`.

    With `keep`, first store the whole split in the cache of `datasets`, for use without a network.
    """
    with _explain(source, where):
        rows = iter(_open_source(source, where, keep))
        first = next(rows, None)
    if first is None:
        raise InputError(f"split {source.split!r} is empty", where, "choose another split or other files")
    yield first
    with _explain(source, where):
        yield from rows


def gather_texts(rows: Iterable[str | None], valid: float, max_characters: int, where: str) -> pl.DataFrame:
    """Return the documents of a source that models are trained and validated on.

    They are taken in the source's order, whole, up to the first that would exceed the limit; at least one. A
    hash of the text alone decides which are for validation. Documents without text and repeated ones are
    left out, and all are counted in the log.

    Parameters
    ----------
    valid : float
        Share of documents for validation, at most a tenth of the limit's characters.

    Returns
    -------
    DataFrame
        Under contract TEXTS, by a hash of doc_id; doc_id is a hash of the text.

    Raises
    ------
    InputError
        If no document has text.
    """
    found: dict[str, tuple[str, str]] = {}
    sizes, left_out = Counter[str](), Counter[str]()
    limits = {TRAIN: max_characters, HELD_OUT[0]: max_characters // HELD_OUT_SHARE}
    for text in show_progress(rows, "documents"):
        if text is None or not text.strip():
            left_out["empty"] += 1
            continue
        doc_id = hash_text(text)
        if doc_id in found:
            left_out["repeated"] += 1
            continue
        drawn = int(doc_id[:_DIGITS], 16) < valid * 16**_DIGITS
        split = HELD_OUT[0] if drawn else TRAIN
        if sizes[split] and sizes[split] + len(text) > limits[split]:
            if split == TRAIN:
                log.info("limit of %s characters reached: the rest is not read", f"{max_characters:,}")
                break
            left_out["over the limit for validation"] += 1
            continue
        sizes[split] += len(text)
        found[doc_id] = (split, text)
    if not found:
        raise InputError("no row has any text", where, "choose another column, split or other files")
    for split in limits:
        count = sum(each == split for each, _ in found.values())
        log.info("%s of %s, %s characters", show_count(count, "document"), split, f"{sizes[split]:,}")
    for reason, number in sorted(left_out.items()):
        log.info("%s left out: %s", show_count(number, "document"), reason)
    order = sorted(found, key=hash_text)
    columns = {
        "doc_id": order,
        "split": [found[doc_id][0] for doc_id in order],
        "text": [found[doc_id][1] for doc_id in order],
    }
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def _open_source(source: TextSource, where: str, keep: bool) -> Iterable[Mapping[str, Any]]:
    with explain_imports(where):
        import datasets
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    if source.is_fetched and not keep:  # cached, so found without a network
        from huggingface_hub import HfApi

        HfApi().dataset_info(str(source.dataset), revision=source.revision)
    if source.files:
        reader = _choose_reader(source, where)
        paths = {source.split: [_locate(file, source, where) for file in source.files]}
        how: dict[str, Any] = {
            "data_files": paths,
            **({"sample_by": source.rows} if reader == "text" else {}),
        }
    else:
        reader = str(source.dataset)
        how = {"name": source.subset, "revision": source.revision}
    builder = datasets.load_dataset_builder(reader, **how)
    _require_distinct_columns(builder.config)
    if keep:
        builder.download_and_prepare()
    rows: Iterable[Mapping[str, Any]] = (
        builder.as_dataset(split=source.split) if keep else builder.as_streaming_dataset(split=source.split)
    )
    return rows


def _require_distinct_columns(config: Any) -> None:
    """Raise `InputError` if the CSV or TSV files of a data set name a column twice.

    The library would rename the second one; in JSON and parquet it refuses them itself. Files of a split
    have the same columns, so the first one is enough.
    """
    import fsspec

    if not hasattr(config, "sep"):
        return
    for files in (config.data_files or {}).values():
        file = str(files[0])
        packed = "gzip" if file.partition("::")[0].endswith(".gz") else None
        with fsspec.open(file, "rt", encoding="utf-8-sig", compression=packed, newline="") as stream:
            header = read_header(stream, config.sep)
        require_distinct(header, file)


def _choose_reader(source: TextSource, where: str) -> str:
    names = [source.member] if source.member else source.files
    endings = {Path(name.removesuffix(".gz")).suffix for name in names}
    if len(endings) > 1 or not endings <= _READERS.keys():
        hint = f"give files of one kind: {', '.join(_READERS)}; for archives, name a `member`"
        raise InputError(f"cannot read these files: {', '.join(sorted(endings))}", where, hint)
    return _READERS[endings.pop()]


def _locate(file: str, source: TextSource, where: str) -> str:
    """Return the address of a file; an archive of the hub is fetched, for its members cannot be streamed."""
    if source.is_fetched and source.member:
        from huggingface_hub import hf_hub_download

        address: str = hf_hub_download(
            str(source.dataset), file, repo_type="dataset", revision=source.revision
        )
    elif source.is_fetched:
        address = f"hf://datasets/{source.dataset}@{source.revision}/{file}"
    else:
        address = str(Path(source.dataset or "", file).absolute())
    if source.member is None:
        return address
    kind = next((kind for ending, kind in _ARCHIVES.items() if file.endswith(ending)), None)
    if kind is None:
        hint = f"one of {', '.join(_ARCHIVES)}"
        raise InputError(f"{file} is not an archive, but `member` names a file in it", where, hint)
    return f"{kind}://{source.member}::{address}"


@contextmanager
def _explain(source: TextSource, where: str) -> Iterator[None]:
    """Turn errors of opening or reading a source into an `InputError`."""
    with explain_imports(where):
        import datasets
    import httpx2
    import pyarrow as pa
    from huggingface_hub import errors

    what = source.dataset if source.is_fetched else ", ".join(source.local_paths)
    try:
        yield
    except errors.RevisionNotFoundError as error:
        message = f"{what} has no revision {source.revision}"
        raise InputError(message, where, "give a commit of its page on the hub") from error
    except errors.GatedRepoError as error:
        raise InputError(f"{what} is a gated dataset on the hub", where, _find_hint("gated")) from error
    except errors.RepositoryNotFoundError as error:
        hint = f"check the id; a private one needs {_KEY}"
        raise InputError(f"{what} is not on the hub, or is private", where, hint) from error
    except (
        OSError,
        ValueError,
        RuntimeError,
        pa.ArrowException,
        httpx2.HTTPError,
        errors.HfHubHTTPError,
        datasets.exceptions.DatasetsError,
    ) as error:
        # when caching, the library hides the reason in the cause of its error
        reason = error.__cause__ if isinstance(error.__cause__, Exception) else error
        text = (str(reason).strip() or type(reason).__name__).splitlines()[0]
        raise InputError(f"{what} cannot be read: {text}", where, _find_hint(text)) from error


def _find_hint(text: str) -> str:
    return next((hint for words, hint in _HINTS.items() if words in text), _NETWORK)
