"""The whole configuration: what `config/*.yaml` is read into, and how its parts refer to each other.

`config/schema.json` and `config/README.md` are generated from it (`python scripts/write_schema.py`). Unknown
keys are refused. Science stands here, machines in profiles.
"""

import difflib
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from fathom.config.benchmark import Embedding, Keywords, Matches, Pairs, Sentences, Vocabulary
from fathom.config.corpus import Corpus, Domain
from fathom.config.models import Models
from fathom.config.scoring import AttributeRate, Perplexity, Scoring, Summary
from fathom.config.section import Name, Section, describe_errors
from fathom.errors import InputError
from fathom.files import require_file


class Config(Section):
    """The whole configuration."""

    run: Name = Field("demo", description="name of the run: results lie in results/{run}")
    dump: str | None = Field(None, description="folder of an arXiv dump (corpus.source: arxiv)")
    previous: Name | None = Field(
        None,
        description="an earlier run: what it split and embedded is taken over where content is the same",
    )
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
        if self.previous == self.run:
            raise ValueError(f"previous = {self.previous!r}: this is the run itself: give each dump its own")
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


def _hint(error: ValidationError) -> str:
    """Return what to do about wrong values."""
    kinds = {problem["type"] for problem in error.errors()}
    if "extra_forbidden" in kinds:
        return "config/README.md lists every key"
    return "config/README.md says what each key takes"
