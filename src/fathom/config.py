"""Typed configuration: every key, its type, its default, and what is wrong with a value.

`config/*.yaml` is read into :class:`Config`; `config/schema.json` is generated from it
(`python scripts/write_schema.py`). Unknown keys are refused. Science stands here, machines in profiles.
"""

import difflib
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fathom.errors import InputError
from fathom.files import require_file

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
"""A name that becomes a folder: letters, digits, dot, underscore, hyphen."""

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]
Variant = Literal["tf", "tfidf"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
REFERENCE = "reference"
"""The variant of benchmarks that a person or another model wrote (spec 1.6)."""


class Section(BaseModel):
    """A part of the configuration: unknown keys are refused, values are not changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
    """Where documents come from (spec 1.1)."""

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
    abstract_parts: Positive = Field(4, description="parts that documents without full text are divided into")
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


class Keywords(Section):
    """Keyword extraction (000: 2.2, A.1)."""

    count: Positive = Field(300, description="keywords for each domain")
    shares: dict[Literal["2", "3", "4", "5+"], Share] = Field(
        {"2": 0.5, "3": 0.3, "4": 0.15, "5+": 0.05}, description="share of keywords by number of words"
    )
    min_count: Positive = Field(5, description="gensim Phrases: leave out what occurs less often")
    threshold: float = Field(10.0, ge=0.0, description="gensim Phrases: score above which words join")
    passes: Positive = Field(3, description="rounds of Phrases; candidates are collected after each")
    merge_above: Share = Field(0.85, description="cosine above which two keywords are merged")
    drop_truncated: Share | None = Field(
        0.9,
        description="drop a phrase when this share of its uses is inside one longer kept phrase; null: never",
    )


class Sentences(Section):
    """Sentence splitting and cleaning (000: 2.3, A.2)."""

    splitter: str = Field(
        "auto",
        description="spaCy pipeline, package or folder; auto: en_core_web_sm or else blank English",
    )
    max_characters: Positive = Field(
        2000, description="longer sentences are left out and counted: tables, data, failed splits"
    )


class Embedding(Section):
    """Sentence embeddings (000: 2.2, 2.3)."""

    model: str = Field(
        "all-MiniLM-L6-v2",
        description="sentence-transformers model: a hub id, a folder, or the packaged default",
    )
    batch_tokens: Positive = Field(1024, description="tokens in a batch, padding counted")


class Matches(Section):
    """Which sentences belong to a keyword (000: 2.3)."""

    min_cosine: Share = Field(0.5, description="cosine from which a sentence matches a keyword")


class Vocabulary(Section):
    """Target vocabularies (000: 2.4)."""

    max_share: dict[Variant, Share] = Field(
        {"tf": 0.8, "tfidf": 0.5}, description="leave out terms in more than this share of keyword documents"
    )
    min_cosine: Share = Field(0.3, description="cosine of term and keyword from which a term is kept")
    min_characters: Positive = Field(3, description="shortest term")


class Pairs(Section):
    """Prompt-target pairs (000: 2.5)."""

    per_keyword: Positive = Field(
        50, description="pairs for each keyword and variant, where there are enough"
    )
    min_characters: Positive = Field(40, description="shortest sentence")
    min_tokens: Positive = Field(10, description="shortest sentence; a target starts at or after this token")
    scan_from: int = Field(6, ge=0, description="token from which terms are looked for")
    earlier_terms: Literal["any", "adjacent"] = Field(
        "adjacent",
        description="which terms from scan_from on rule out a target behind them: any, or only one that ends "
        "right before it (001: 2.6)",
    )
    max_tokens: Positive = Field(1024, description="longest pair: the context of the smallest model")
    tokenizer: Name = Field(description="name of the model whose tokenizer counts: the smallest one")
    target_in_prompt: bool = Field(True, description="keep pairs whose target already stands in the prompt")
    target_in_keyword: bool = Field(True, description="keep pairs whose target is a word of the keyword")
    seed: int = Field(0, description="for the choice among several targets of a sentence")


class Training(Section):
    """A small model that the workflow trains from nothing, on one domain's text."""

    architecture: Literal["gpt2", "llama"] = Field("gpt2", description="shape of the model")
    domain: Name = Field(description="domain whose adapt-train fold is the text")
    layers: Positive = Field(4, description="transformer blocks")
    width: Positive = Field(192, description="size of the hidden states, an even multiple of heads")
    heads: Positive = Field(4, description="attention heads in a block")
    vocabulary: Positive = Field(4096, description="entries of the byte-level BPE trained with it")
    context: Positive = Field(256, description="longest input in tokens")
    steps: Positive = Field(700, description="optimiser steps")
    batch: Positive = Field(16, description="sequences in a step")
    sequence: Positive = Field(128, description="tokens in a training sequence")
    learning_rate: float = Field(1e-3, gt=0, description="highest learning rate")
    seed: int = Field(0, description="for first weights and the order of sequences")


class Adaptation(Section):
    """Further training of a model on domains, one stage after the other (000: 4.1; spec 3.1)."""

    base: Name = Field(description="model to start from")
    paths: list[list[Name]] = Field(
        min_length=1, description="each a list of domains: [cs.AI] or [cs.AI, cond-mat]; prefixes are shared"
    )
    steps: Positive = Field(150, description="optimiser steps of each stage")
    batch: Positive = Field(16, description="sequences in a step")
    sequence: Positive = Field(128, description="tokens in a training sequence")
    learning_rate: float = Field(5e-4, gt=0, description="highest learning rate")
    dropout: Share = Field(0.0, description="dropout while adapting; 0.2 in 000: A.5")
    seed: int = Field(0, description="for the order of sequences")


class Models(Section):
    """Which models there are and which are scored."""

    registry: str = Field("config/models.tsv", description="table of models from the hub or local paths")
    train: dict[Name, Training] = Field({}, description="small models trained from nothing, by name")
    adapt: list[Adaptation] = Field([], description="adapted models; named base+domain+domain")
    score: list[str] = Field([], description="further models of the registry to score")
    max_characters: Positive = Field(
        30_000_000, description="characters of a domain's text that models are trained on, whole documents"
    )

    @property
    def adapted(self) -> dict[str, tuple[str, str, Adaptation]]:
        """Adapted models by name, each with the model it starts from, its last domain, and its settings."""
        found: dict[str, tuple[str, str, Adaptation]] = {}
        for adaptation in self.adapt:
            for path in adaptation.paths:
                for end in range(1, len(path) + 1):
                    parent = "+".join([adaptation.base, *path[: end - 1]])
                    found[f"{parent}+{path[end - 1]}"] = (parent, path[end - 1], adaptation)
        return found

    @property
    def scored(self) -> list[str]:
        """Names of all models that are scored: trained, adapted, and from the registry."""
        return list(dict.fromkeys([*self.train, *self.adapted, *self.score]))


class Scoring(Section):
    """How pairs are scored (000: 2.6)."""

    batch_tokens: Positive = Field(1024, description="tokens in a batch, padding counted")
    device: str = Field("auto", description="auto, cpu, cuda or cuda:N")
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        "float32", description="number format of the forward pass; float32 on CPU is the reference"
    )


class Perplexity(Section):
    """Perplexity and bits per byte on held-out text (spec 2.3)."""

    window: Positive = Field(1024, description="tokens given to a model at once, at most its context")
    stride: Positive = Field(
        512, description="tokens scored in each further window; shortened with the window, in proportion"
    )
    max_characters: Positive = Field(1_000_000, description="characters that are scored, whole documents")

    @model_validator(mode="after")
    def _stay_inside(self) -> Self:
        if self.stride > self.window:
            raise ValueError(f"stride {self.stride} is larger than window {self.window}")
        return self


class AttributeRate(Section):
    """Last-layer attribute rate (000: A.3; spec 1.4, 2.3)."""

    k: Positive = Field(50, description="most likely tokens after a keyword that are looked at")
    list_length: Positive = Field(1200, description="most frequent tokens of its sentences that count")


class Summary(Section):
    """How scores are summed up (000: 2.6; spec 2.2)."""

    trim: float = Field(0.2, ge=0.0, lt=0.5, description="share cut from each end for the trimmed mean")
    rounds: Positive = Field(1000, description="bootstrap rounds over keywords")
    confidence: float = Field(0.95, gt=0.0, lt=1.0, description="confidence of the intervals")
    seed: int = Field(0, description="for the bootstrap")


class Config(Section):
    """The whole configuration."""

    run: Name = Field("demo", description="name of the run: results lie in results/{run}")
    dump: str | None = Field(None, description="folder of an arXiv dump (corpus.source: arxiv)")
    corpus: Corpus = Corpus()
    domains: dict[Name, Domain] = Field(min_length=1)
    keywords: Keywords = Keywords()
    sentences: Sentences = Sentences()
    embedding: Embedding = Embedding()
    matches: Matches = Matches()
    vocabulary: Vocabulary = Vocabulary()
    pairs: Pairs
    models: Models = Models()
    scoring: Scoring = Scoring()
    perplexity: Perplexity = Perplexity()
    attribute_rate: AttributeRate = AttributeRate()
    summary: Summary = Summary()
    reference: dict[Name, str] = Field(
        {}, description="reference benchmarks by domain: a file (.jsonl or .csv) of category, prompt, target"
    )

    @model_validator(mode="after")
    def _refer_to_what_exists(self) -> Self:
        for name, training in self.models.train.items():
            _require(training.domain, self.domains, f"models.train.{name}.domain")
        for place, adaptation in enumerate(self.models.adapt):
            for domain in {domain for path in adaptation.paths for domain in path}:
                _require(domain, self.domains, f"models.adapt.{place}.paths")
        if self.corpus.source == "arxiv" and self.dump is None:
            raise ValueError("dump: corpus.source is arxiv, so a dump folder is needed: --config dump=FOLDER")
        for name in self.reference:
            _require(name, dict.fromkeys(self.benchmark_domains), "reference", "domain with a benchmark")
        if not self.benchmark_domains:
            raise ValueError("domains: every domain has benchmark: false, so there is nothing to build")
        return self

    @property
    def benchmark_domains(self) -> list[str]:
        """Names of the domains that benchmarks are built for, in the order of the file."""
        return [name for name, domain in self.domains.items() if domain.benchmark]


def _require(name: str, known: dict[str, Any], key: str, what: str = "domain") -> None:
    """Raise `ValueError` if `name` is none of `known`, with the nearest one as a hint."""
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
        raise ValueError(f"{key}: there is no {what} {name!r}; {hint}")


def read_config(values: dict[str, Any], source: str) -> Config:
    """Check the values of configuration files and of `--config`.

    Parameters
    ----------
    values : dict
        What Snakemake or YAML read.
    source : str
        Name of the file, for the message.

    Raises
    ------
    InputError
        With every wrong key, its value, and a hint.
    """
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise InputError(describe_errors(error, Config), source, _hint(error)) from None


def read_config_file(path: Path | str) -> Config:
    """Read and check one YAML file."""
    import yaml

    path = Path(path)
    try:
        values = yaml.safe_load(require_file(path).read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError(f"this is no YAML: {error}", str(path)) from error
    return read_config(values or {}, str(path))


def describe_errors(error: ValidationError, model: type[BaseModel]) -> str:
    """Say what is wrong with each value: key, value, reason, and for an unknown key the nearest known one."""
    return "; ".join(_describe(problem, model) for problem in error.errors())


def _describe(problem: Any, model: type[BaseModel]) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        known = list(_known_keys(model, problem["loc"][:-1]))
        near = difflib.get_close_matches(str(problem["loc"][-1]), known, n=1)
        return f"unknown key {key}" + (
            f", did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"
        )
    if problem["type"] == "missing":
        return f"key {key} is missing"
    message = re.sub(r"^Value error, ", "", problem["msg"])
    if problem["type"] == "value_error":  # of a whole section, or of the top, whose messages name their key
        return f"{key}: {message}" if key else message
    return f"{key} = {problem['input']!r}: {message}"


def _known_keys(model: type[BaseModel], location: tuple[Any, ...]) -> Iterator[str]:
    """Yield the keys that are allowed where `location` leads to."""
    here: Any = model
    for part in location:
        if isinstance(here, type) and issubclass(here, BaseModel) and part in here.model_fields:
            here = here.model_fields[part].annotation
        else:  # a key of a mapping or a place in a list: go to what it holds
            here = next((kind for kind in get_args(here) if isinstance(kind, type)
                         and issubclass(kind, BaseModel)), here)  # fmt: skip
    if isinstance(here, type) and issubclass(here, BaseModel):
        yield from (field.alias or name for name, field in here.model_fields.items())


def _hint(error: ValidationError) -> str:
    """Return what to do about wrong values."""
    kinds = {problem["type"] for problem in error.errors()}
    if "extra_forbidden" in kinds:
        return "config/README.md lists every key"
    return "config/README.md says what each key takes"
