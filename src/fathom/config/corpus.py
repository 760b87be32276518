"""Settings of the corpus and its domains."""

from datetime import date
from typing import Literal, Self

from pydantic import Field, model_validator

from fathom.config.section import Name, Positive, Section, Share


class Folds(Section):
    """Shares of documents by fold; a document's fold follows from a hash of its id alone."""

    benchmark: Share = Field(0.6, description="documents that benchmarks are made from")
    adapt_train: Share = Field(0.3, alias="adapt-train", description="documents that models are trained on")
    adapt_valid: Share = Field(0.05, alias="adapt-valid", description="held out while training")
    adapt_test: Share = Field(0.05, alias="adapt-test", description="held out for perplexity")

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        total = self.benchmark + self.adapt_train + self.adapt_valid + self.adapt_test
        if abs(total - 1.0) > 1e-9:
            raise ValueError(f"the four shares add up to {total:g}, not to 1")
        return self


class Corpus(Section):
    """Where documents come from."""

    source: Literal["docstrings", "arxiv", "jsonl"] = Field(
        "docstrings", description="which door: installed packages, an arXiv dump, or one's own JSON lines"
    )
    packages: list[Name] = Field(
        ["sklearn", "scipy", "numpy", "matplotlib"], description="packages whose docstrings are read"
    )
    files: list[str] = Field([], description="JSON lines files (.jsonl, .gz, .zst) or folders of them")
    require_fulltext: bool = Field(False, description="leave out documents that have an abstract only")
    primary_only: bool = Field(False, description="count a document only for its first category")
    since: date | None = Field(None, description="leave out documents before this day")
    until: date | None = Field(None, description="leave out documents after this day")
    folds: Folds = Folds()
    abstract_parts: Positive = Field(4, description="parts, so jobs, for documents without full text")
    max_malformed: Share = Field(0.01, description="share of malformed lines above which a file is refused")


class Domain(Section):
    """A set of documents, by category and date."""

    categories: list[str] = Field(
        min_length=1, description="categories; `cs.*` takes `cs` and all that begin with `cs.`, `*` every one"
    )
    exclude: list[str] = Field([], description="leave out documents with any of these categories")
    since: date | None = Field(None, description="leave out documents before this day")
    until: date | None = Field(None, description="leave out documents after this day")
    benchmark: bool = Field(True, description="build a benchmark; false: only a domain to train on")
    title: str = Field("", description="name in figures and cards; the domain's own name if empty")


class Selection(Section):
    """What decides which documents enter a corpus: the door's settings and the domains."""

    corpus: Corpus = Corpus()
    domains: dict[Name, Domain]
