"""Settings of the corpus and its domains."""

import re
from datetime import date
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from fathom.config.section import Name, Positive, Section, Share, Text, Title, check_dates
from fathom.io.files import LINE_MB


class Splits(Section):
    """Shares of documents by split."""

    benchmark: Share = Field(0.6, description="documents to build benchmarks from")
    adapt_train: Share = Field(0.3, alias="adapt-train", description="documents to train models on")
    adapt_valid: Share = Field(0.05, alias="adapt-valid", description="held out while training")
    adapt_test: Share = Field(0.05, alias="adapt-test", description="held out to measure perplexity")

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        total = self.benchmark + self.adapt_train + self.adapt_valid + self.adapt_test
        if abs(total - 1.0) > 1e-9:
            raise ValueError(f"the four shares add up to {total:g} instead of 1")
        return self


class Grouping(Section):
    """Which documents count as sharing text, and so go into one split, if `corpus.splits_by` is content."""

    min_words: Positive = Field(8, description="ignore shorter sentences")
    max_documents: int = Field(
        20, ge=2, description="ignore sentences in more documents: boilerplate, such as licences"
    )
    max_share: Share = Field(
        0.01,
        description="largest group that shared sentences may make, as a share of all documents; weaker "
        "joins are left out, but near-duplicates always stay together",
    )


_COPIED = ("jsonl", "folder", "table", "dataset")
"""Sources that may contain a text twice; in a dump each id is one text."""
_MARKUP: dict[str, Literal["latex", "plain", "auto"]] = {"arxiv": "latex", "jsonl": "auto", "dataset": "auto"}


class Columns(Section):
    """The columns of a table or data set; null: the column of that name, if any."""

    id: Text | None = Field(None, description="unique text or number; without it, the row's number")
    title: Text | None = Field(None, description="title")
    abstract: Text | None = Field(
        None, description="abstract; without it, the beginning of the text serves for keywords"
    )
    text: Text | None = Field(None, description="the full text")
    categories: Text | None = Field(
        None,
        description="categories: a list, or a text separated by `;`, `,` or `|`; spaces inside a category "
        "become hyphens",
    )
    date: Text | None = Field(None, description="date, or a time, whose date counts")


class DataSet(Section):
    """A data set of the hub whose rows are documents."""

    name: Text = Field(description="id on the hub, with `revision`; or a folder that holds a copy")
    revision: str | None = Field(
        None, pattern=r"^[0-9a-f]{40}$", description="commit of the data set on the hub, all 40 digits"
    )
    configuration: Text | None = Field(None, description="configuration (subset) of the data set")
    split: Text = Field("train", description="split of the data set")


class Corpus(Section):
    """Where documents come from."""

    source: Literal["docstrings", "arxiv", "jsonl", "folder", "table", "dataset"] = Field(
        "docstrings",
        description="docstrings of installed packages, an arXiv dump, JSON lines of your own, a folder of"
        " documents, tables, or a data set of the hub",
    )
    packages: list[Name] = Field(
        ["sklearn", "scipy", "numpy", "matplotlib"], description="packages whose docstrings to read"
    )
    files: list[Text] = Field(
        [],
        description="for `jsonl`: JSON lines files (.jsonl, .gz, .zst) or folders of them; for `folder`: "
        "folders of HTML, PDF, DOCX, EPUB, Markdown, reStructuredText, text and LaTeX, or single files; "
        "for `table`: .jsonl, .csv, .tsv, each plain, .gz or .zst, and .parquet",
    )
    columns: Columns = Columns()
    dataset: DataSet | None = Field(None, description="the data set, if `source` is dataset")
    language: Literal["en", "any"] = Field(
        "en",
        description="en: leave out documents of `jsonl`, `table`, `dataset` and `folder` that are surely in "
        "another language, as the steps are made for English; any: do not check",
    )
    markup: Literal["latex", "plain", "auto"] | None = Field(
        None,
        description="format of texts. latex: convert to plain text; plain: do not; auto: test each "
        "document; null: latex for a dump, auto for JSON lines and data sets, plain for others",
    )
    require_fulltext: bool = Field(False, description="leave out documents that have only an abstract")
    primary_only: bool = Field(False, description="count a document only under its first category")
    since: date | None = Field(None, description="leave out documents before this day")
    until: date | None = Field(None, description="leave out documents after this day")
    splits: Splits = Splits()
    splits_by: Literal["content", "id"] = Field(
        "content",
        description="what decides a document's split. content: documents that share text go into one split; "
        "id: a hash of its id alone",
    )
    grouping: Grouping = Grouping()
    near_copies: bool | None = Field(
        None,
        description="count as separate documents near-duplicates of a longer document of the same domains,"
        " and documents with four fifths of their sentences in others; splits_by: id does not look for them;"
        " null: not for JSON lines, folders, tables and data sets",
    )
    abstract_parts: Positive = Field(
        4, description="number of parts, and so of jobs, for documents without full text"
    )
    slice_mb: Positive | None = Field(
        None,
        description="uncompressed megabytes above which several jobs share an input file; results do not "
        "depend on it; null: 10 for JSON lines; shards of a dump stay whole",
    )
    max_malformed: Share = Field(
        0.01, description="largest share of malformed lines; above it, a file is refused"
    )
    max_line_mb: Positive = Field(
        LINE_MB,
        description="most megabytes of a line of JSON; longer lines count as malformed and are never loaded",
    )

    max_file_mb: Positive = Field(
        200,
        description="most megabytes of a document of `folder`, also unpacked; larger ones are left out to "
        "bound memory",
    )

    @property
    def drops_copies(self) -> bool:
        """Whether copies of documents are left out."""
        keeps = self.source not in _COPIED if self.near_copies is None else self.near_copies
        return self.splits_by == "content" and not keeps

    @model_validator(mode="after")
    def _check_dates(self) -> Self:
        check_dates(self.since, self.until)
        return self

    @model_validator(mode="after")
    def _require_dataset(self) -> Self:
        if self.source == "dataset" and self.dataset is None:
            raise ValueError("dataset: source is dataset, so one is needed: {name: ID, revision: COMMIT}")
        return self

    @property
    def has_dates(self) -> bool:
        """Whether documents of this source can have dates."""
        return self.source not in ("docstrings", "folder")

    @property
    def text_markup(self) -> Literal["latex", "plain", "auto"]:
        """The format of texts, by its key or else by the source."""
        return self.markup or _MARKUP.get(self.source, "plain")


def _check_category(pattern: str) -> str:
    if not re.fullmatch(r"\*|[^*\s]+?(\.\*)?", pattern):
        raise ValueError(f"{pattern!r} is not a category; write cs.AI, or cs.* for all of cs, or *")
    return pattern


Category = Annotated[Text, AfterValidator(_check_category)]
"""A category of documents; `cs.*` stands for `cs` and all that begin with `cs.`, `*` for any."""


class Domain(Section):
    """A set of documents, by category and date."""

    categories: list[Category] = Field(
        min_length=1,
        description="categories; `cs.*` stands for `cs` and all that begin with `cs.`, `*` for all",
    )
    exclude: list[Category] = Field([], description="leave out documents in any of these categories")
    since: date | None = Field(None, description="leave out documents before this day")
    until: date | None = Field(None, description="leave out documents after this day")
    benchmark: bool = Field(True, description="build a benchmark; false: only train on the domain")
    title: Title = Field("", description="title in figures and cards; empty: the name of the domain")

    @model_validator(mode="after")
    def _check_dates(self) -> Self:
        check_dates(self.since, self.until)
        return self


class TextSource(Section):
    """Training text of a domain from elsewhere: a data set of the hub, a copy of one, or files."""

    dataset: Text | None = Field(
        None, description="id of a data set on the hub, with `revision`; or a folder that holds a copy of one"
    )
    revision: str | None = Field(
        None, pattern=r"^[0-9a-f]{40}$", description="commit of the data set on the hub, all 40 digits"
    )
    subset: Text | None = Field(None, description="subset (configuration) of the data set")
    files: list[Text] = Field(
        [], description="files of the data set, or, without `dataset`, of your own: .parquet, .jsonl, .csv,"
        " .txt, each plain or .gz, or archives",
    )  # fmt: skip
    member: Text | None = Field(
        None, description="file to read inside each of `files`, which are then archives (.tar, .tar.gz, .zip)"
    )
    split: Text = Field("train", description="split of the data set")
    column: Text = Field("text", description="column that holds the text; of .txt it is `text`")
    rows: Literal["document", "paragraph", "line"] = Field(
        "document", description="what counts as a document in a .txt"
    )
    valid: Share = Field(
        0.02, description="share of documents to validate training on, drawn by a hash of their text"
    )
    title: Title = Field(
        "", description="title of the domain in figures; empty: that under `domains`, or its name"
    )

    @model_validator(mode="after")
    def _say_where(self) -> Self:
        if self.dataset is None and not self.files:
            raise ValueError("neither dataset nor files: one is needed")
        if self.revision is not None and self.dataset is None:
            raise ValueError(f"revision = {self.revision}: only a data set has one; name it, or remove this")
        if self.member is not None and not self.files:
            raise ValueError(f"member = {self.member}: it lies in archives; name them under files")
        if self.subset is not None and self.files:
            raise ValueError(f"subset = {self.subset}: files say what is read; remove one of the two")
        return self

    @property
    def is_fetched(self) -> bool:
        """Whether it comes from the hub."""
        return self.revision is not None

    @property
    def local_paths(self) -> list[str]:
        """The user's own files and folders that it is read from."""
        if self.is_fetched:
            return []
        if self.dataset is None:
            return self.files
        return [f"{self.dataset}/{file}" for file in self.files] or [self.dataset]


class Selection(Section):
    """What decides which documents enter a corpus: its source and the domains."""

    corpus: Corpus = Corpus()
    domains: dict[Name, Domain]
