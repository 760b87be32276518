"""What the reports of steps, JSON files, hold: only the keys that others read; a report may say more.

A report of another version, or of a damaged run, is refused by its key where it is read.
"""
# ruff: noqa: D101 -- most names say what the keys are of

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from fathom.errors import InputError
from fathom.io.files import read_object

Counts = dict[str, int]


class Shape(BaseModel):
    """Keys of a JSON object with the kinds of their values; those with a default may be absent."""

    model_config = ConfigDict(strict=True)


class Content(Shape):
    bytes: int
    sha256: str


class Input(Content):
    file: str


class OnContent(Shape):
    input: Content = Content(bytes=0, sha256="")


class Hashed(Shape):
    file: str
    sha256: str


class OnFile(Shape):
    input: Hashed = Hashed(file="", sha256="")


class Remembered(Shape):
    """What is remembered of a file, so that it is not read again."""

    bytes: int
    mtime_ns: int
    sha256: str


class Line(Shape):
    file: str
    line: int


class Malformed(Shape):
    count: int
    first: list[Line]


class Reading(Shape):
    """What the reports on all inputs may hold."""

    door: str = ""
    input: Input = Input(file="", bytes=0, sha256="")
    malformed: Malformed = Malformed(count=0, first=[])
    left_out: Counts = {}
    categories: Counts = {}
    records: int = 0
    restored_ids: int = 0


class Rows(Reading):
    """A part of JSON lines or of a table."""

    door: Literal["jsonlines", "table"]


class Shard(Reading):
    """A part of an arXiv dump with full texts."""

    door: Literal["join"]
    fulltext_only: int
    left_out: Counts


class Abstracts(Reading):
    """A part of an arXiv dump with abstracts alone."""

    door: Literal["abstracts"]
    metadata_only: int


class Docstrings(Reading):
    """A package."""

    door: Literal["docstrings"]
    duplicates: int
    import_errors: list[str]


class Metadata(Reading):
    """The metadata of an arXiv dump."""

    door: Literal["metadata"]
    input: Input
    records: int
    duplicates: int


class Skipped(Shape):
    count: int
    examples: list[str] = Field(min_length=1)


class FolderFiles(Shape):
    read: int
    skipped: dict[str, Skipped]
    little_prose: dict[str, float]


class Folder(Reading):
    door: Literal["folder"]
    files: FolderFiles
    paragraphs_left_out: Counts
    gaps: int


Part = Annotated[Rows | Shard | Abstracts | Docstrings | Metadata | Folder, Field(discriminator="door")]
"""The report on one input of a corpus; its `door` says of which kind."""


class LittleProse(Shape):
    count: int
    files: dict[str, float]


class JoinedFiles(Shape):
    skipped: dict[str, Skipped]
    little_prose: LittleProse


class CopiedFile(Shape):
    file: str
    documents: int
    copies: int
    of: str
    of_it: int
    others: int = 0


class Copies(Shape):
    documents: int
    files: list[CopiedFile]


class Groups(Shape):
    copies: Copies = Copies(documents=0, files=[])


class Join(Shape):
    files: JoinedFiles
    groups: Groups = Groups()


class Sources(Shape):
    inputs: list[dict[str, Any]] = []


class Reuse(Shape):
    """A step that takes over what an earlier run has made by the same method."""

    method: Any = None
    limited: bool = False


class SplitDocuments(Reuse):
    documents: int
    reused_documents: int


class EmbeddedSentences(Reuse):
    sentences: int
    reused_sentences: int


class Precision(Shape):
    precision: str


class Templates(Shape):
    direct: str
    tuned: str


class Prepared(Shape):
    direct: float
    chosen: float


class Tuned(Prepared):
    metric: str
    templates: Templates
    tuned: float
    floored: float
    direct_error: float
    tuned_error: float
    chosen_error: float
    improved: bool
    epoch: int
    test_examples: int


class ExpandedCorpus(Shape):
    documents: int
    share: float
    coverage: float


class Redundancy(Shape):
    """Shares of near pairs among the sentences of the domain and of what is kept."""

    domain: float | None
    corpus: float | None


class Expansion(Shape):
    rounds: list[Any]
    corpus: ExpandedCorpus
    redundancy: Redundancy


class QuestionRound(Shape):
    large_gaps: float | None
    redundancy: float | None


class Questions(Shape):
    rounds: list[QuestionRound]
    share_of_possible: float | None


@cache
def _find_checker(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def read_report(path: Path | str, shape: Any) -> dict[str, Any]:
    """Read the report of a step.

    Raise `InputError` if it is missing, no JSON object, or lacks a key, or one has a value of another kind.
    """
    found = read_object(path)
    try:
        _find_checker(shape).validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the report"
        hint = "it is damaged, or of another version: remove it, and start the same command again"
        raise InputError(f"{key}: {first['msg'][:1].lower()}{first['msg'][1:]}", str(path), hint) from error
    return found
