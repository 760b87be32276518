"""Settings of the corpus and its domains."""

import re
from datetime import date
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from fathom.config.section import Name, Positive, Section, Share, Text, Title, check_dates
from fathom.io.files import LINE_MB


class Splits(Section):
    """Shares of documents by split."""

    benchmark: Share = Field(0.6, description="documents that benchmarks are built from")
    adapt_train: Share = Field(0.3, alias="adapt-train", description="documents that models are trained on")
    adapt_valid: Share = Field(0.05, alias="adapt-valid", description="held out while training")
    adapt_test: Share = Field(0.05, alias="adapt-test", description="held out for perplexity")

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        total = self.benchmark + self.adapt_train + self.adapt_valid + self.adapt_test
        if abs(total - 1.0) > 1e-9:
            raise ValueError(f"the four shares add up to {total:g} instead of 1")
        return self


class Grouping(Section):
    """Which documents share text and so go into one split, if `corpus.splits_by` is content."""

    min_words: Positive = Field(8, description="shorter sentences join no documents")
    max_documents: int = Field(
        20, ge=2, description="sentences in more documents join none: boilerplate, such as licences"
    )
    max_share: Share = Field(
        0.01,
        description="most documents of a group that sentences make, as a share of all; weaker joins are left"
        " out, but near-duplicates always go together",
    )


_COPIED = ("jsonl", "folder", "table", "dataset")
"""Sources that may hold a text twice; of a dump each id is one text."""
_MARKUP: dict[str, Literal["latex", "plain", "auto"]] = {"arxiv": "latex", "jsonl": "auto", "dataset": "auto"}


class Columns(Section):
    """Which columns of a table or data set hold what; null: the one of that name, if there is one."""

    id: Text | None = Field(None, description="unique text or number; without one, the number of the row")
    title: Text | None = Field(None, description="title")
    abstract: Text | None = Field(
        None, description="abstract; without one, the beginning of the text is used for keywords"
    )
    text: Text | None = Field(None, description="the full text")
    categories: Text | None = Field(
        None,
        description="categories: a list, or one text, in which `;`, `,` or `|` separate them; blanks inside a"
        " category become hyphens",
    )
    date: Text | None = Field(None, description="day; of a time, its day counts")


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
        ["sklearn", "scipy", "numpy", "matplotlib"], description="packages whose docstrings are read"
    )
    files: list[Text] = Field(
        [],
        description="JSON lines files (.jsonl, .gz, .zst) or folders of them; of `folder`: folders of HTML,"
        " PDF, DOCX, EPUB, Markdown, reStructuredText, text and LaTeX, or single files;"
        " of `table`: .jsonl, .csv, .tsv, each plain, .gz or .zst, and .parquet",
    )
    columns: Columns = Columns()
    dataset: DataSet | None = Field(None, description="the data set, if `source` is dataset")
    language: Literal["en", "any"] = Field(
        "en",
        description="en: documents of `jsonl`, `table`, `dataset` and `folder` that are surely in another"
        " language are left out, for the steps are made for English; any: none is looked at",
    )
    markup: Literal["latex", "plain", "auto"] | None = Field(
        None,
        description="what texts are. latex: converted to plain text; plain: not; auto: a test of each"
        " document decides; null: latex for a dump, auto for JSON lines, data sets; plain for others",
    )
    require_fulltext: bool = Field(False, description="leave out documents that have only an abstract")
    primary_only: bool = Field(False, description="count a document only under its first category")
    since: date | None = Field(None, description="leave out documents before this day")
    until: date | None = Field(None, description="leave out documents after this day")
    splits: Splits = Splits()
    splits_by: Literal["content", "id"] = Field(
        "content",
        description="what decides a document's split. content: documents that share text are in one split;"
        " id: a hash of its id alone",
    )
    grouping: Grouping = Grouping()
    near_copies: bool | None = Field(
        None,
        description="whether near-duplicates of a longer document of the same domains, and documents of which"
        " four fifths stand in others, count as documents of their own; where splits_by is id, none are"
        " looked for; null: not in JSON lines, folders, tables and data sets",
    )
    abstract_parts: Positive = Field(4, description="parts, and so jobs, for documents without full text")
    slice_mb: Positive | None = Field(
        None,
        description="uncompressed megabytes above which several jobs split, embed and match an input file;"
        " results do not depend on it; null: 10 for JSON lines, and shards of a dump stay whole",
    )
    max_malformed: Share = Field(0.01, description="share of malformed lines above which a file is refused")
    max_line_mb: Positive = Field(
        LINE_MB, description="megabytes of a line of JSON; longer ones are malformed, and are never in memory"
    )

    max_file_mb: Positive = Field(
        200,
        description="megabytes of a document of `folder`, and of what it unpacks to; larger ones are left"
        " out, so that memory is bounded",
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
        """Whether documents of this source can have a date."""
        return self.source not in ("docstrings", "folder")

    @property
    def text_markup(self) -> Literal["latex", "plain", "auto"]:
        """What texts are, by the key or else by the source."""
        if self.markup is not None:
            return self.markup
        return _MARKUP.get(self.source, "plain")


def _check_category(pattern: str) -> str:
    """Return a pattern of categories; refuse a star that is neither alone nor after the last dot."""
    if not re.fullmatch(r"\*|[^*\s]+?(\.\*)?", pattern):
        raise ValueError(f"{pattern!r} is not a category; write cs.AI, or cs.* for all of cs, or *")
    return pattern


Category = Annotated[Text, AfterValidator(_check_category)]
"""A category of documents; `cs.*` stands for `cs` and all that begin with `cs.`, `*` for all."""


class Domain(Section):
    """A set of documents, by category and date."""

    categories: list[Category] = Field(
        min_length=1,
        description="categories; `cs.*` stands for `cs` and all that begin with `cs.`, `*` for all",
    )
    exclude: list[Category] = Field([], description="leave out documents with any of these categories")
    since: date | None = Field(None, description="leave out documents before this day")
    until: date | None = Field(None, description="leave out documents after this day")
    benchmark: bool = Field(True, description="build a benchmark; false: a domain to train on only")
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
        None, description="file to read inside each of `files`, which are then archives: .tar, .tar.gz, .zip"
    )
    split: Text = Field("train", description="split of the data set")
    column: Text = Field("text", description="column that holds the text; of .txt it is `text`")
    rows: Literal["document", "paragraph", "line"] = Field(
        "document", description="what counts as a document in a .txt"
    )
    valid: Share = Field(
        0.02, description="share of documents, by a hash of their text, that training is validated on"
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
        """Files and folders of the user's own that it is read from."""
        if self.is_fetched:
            return []
        if self.dataset is None:
            return self.files
        return [f"{self.dataset}/{file}" for file in self.files] or [self.dataset]


class Selection(Section):
    """What decides which documents enter a corpus: its source and the domains."""

    corpus: Corpus = Corpus()
    domains: dict[Name, Domain]
