"""What the reports of steps, JSON files, hold: only the keys that others read; a report may say more.

A report of another version, or of a damaged run, is refused by its key where it is read.
"""

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
    """What a file held when it was read."""

    bytes: int
    sha256: str


class Input(Content):
    """A file that was read."""

    file: str


class OnContent(Shape):
    """A report on a file's content."""

    input: Content = Content(bytes=0, sha256="")


class Hashed(Shape):
    """A file's name and content."""

    file: str
    sha256: str


class OnFile(Shape):
    """A report on a file of some name."""

    input: Hashed = Hashed(file="", sha256="")


class Remembered(Shape):
    """What is remembered of a file, so that it is not read again."""

    bytes: int
    mtime_ns: int
    sha256: str


class Line(Shape):
    """A malformed line."""

    file: str
    line: int


class Malformed(Shape):
    """Lines that could not be read."""

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
    """Files of a folder that were not read, for one reason."""

    count: int
    examples: list[str] = Field(min_length=1)


class FolderFiles(Shape):
    """Files of a part of a folder."""

    read: int
    skipped: dict[str, Skipped]
    little_prose: dict[str, float]


class Folder(Reading):
    """A part of a folder of files."""

    door: Literal["folder"]
    files: FolderFiles
    paragraphs_left_out: Counts
    gaps: int


Part = Annotated[Rows | Shard | Abstracts | Docstrings | Metadata | Folder, Field(discriminator="door")]
"""The report on one input of a corpus; its `door` says of which kind."""


class LittleProse(Shape):
    """How many files gave little prose, and the worst of them."""

    count: int
    files: dict[str, float]


class JoinedFiles(Shape):
    """Files of all folders."""

    skipped: dict[str, Skipped]
    little_prose: LittleProse


class CopiedFile(Shape):
    """A file with documents that are copies of others."""

    file: str
    documents: int
    copies: int
    of: str
    of_it: int
    others: int = 0


class Copies(Shape):
    """Documents that are copies of others."""

    documents: int
    files: list[CopiedFile]


class Groups(Shape):
    """Documents that share text."""

    copies: Copies = Copies(documents=0, files=[])


class Join(Shape):
    """The report on a corpus: what became no documents."""

    files: JoinedFiles
    groups: Groups = Groups()


class Sources(Shape):
    """The report on a corpus: what it was read from."""

    inputs: list[dict[str, Any]] = []


class Reuse(Shape):
    """A step that takes over what an earlier run has made by the same method."""

    method: Any = None
    limited: bool = False


class SplitDocuments(Reuse):
    """Documents that were split into sentences."""

    documents: int
    reused_documents: int


class EmbeddedSentences(Reuse):
    """Sentences that were embedded."""

    sentences: int
    reused_sentences: int


class Precision(Shape):
    """How embeddings are stored."""

    precision: str


class Templates(Shape):
    """Whether a model was asked in its chat template."""

    direct: str
    tuned: str


class Prepared(Shape):
    """Scores of a model on a task without and with a preparation."""

    direct: float
    chosen: float


class Tuned(Prepared):
    """A model on a task before and after it was tuned for it."""

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
    """The documents that an expansion keeps."""

    documents: int
    share: float
    coverage: float


class Redundancy(Shape):
    """Shares of near pairs among the sentences of the domain and of what is kept."""

    domain: float | None
    corpus: float | None


class Expansion(Shape):
    """An expansion of a corpus."""

    rounds: list[Any]
    corpus: ExpandedCorpus
    redundancy: Redundancy


class QuestionRound(Shape):
    """A round of questions."""

    large_gaps: float | None
    redundancy: float | None


class Questions(Shape):
    """Rounds of questions."""

    rounds: list[QuestionRound]
    share_of_possible: float | None


@cache
def _find_checker(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def read_report(path: Path | str, shape: Any) -> dict[str, Any]:
    """Read the report of a step.

    Raises
    ------
    InputError
        If it is missing, no JSON object, or lacks a key, or one has a value of another kind.
    """
    found = read_object(path)
    try:
        _find_checker(shape).validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the report"
        raise InputError(
            f"{key}: {first['msg'][:1].lower()}{first['msg'][1:]}",
            str(path),
            "it is damaged, or of another version: remove it, and start the same command again",
        ) from error
    return found
