"""The whole configuration, as read from `config/*.yaml`, and references between its sections.

`make docs` generates `config/schema.json` and `config/README.md` from it. Settings of science belong here,
those of machines in profiles.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import chain
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from fathom.config.benchmark import REFERENCE, Embedding, Keywords, Matches, Pairs, Sentences, Vocabulary
from fathom.config.choices import Choices
from fathom.config.claims import Claims, list_conditions
from fathom.config.corpus import Corpus, Domain
from fathom.config.coverage import Coverage
from fathom.config.examples import Examples
from fathom.config.layers import Layers, TunedLens
from fathom.config.models import Adaptation, Models
from fathom.config.questions import TEXTS
from fathom.config.ranking import Ranking
from fathom.config.scoring import AttributeRate, Perplexity, Scoring, Summary, Targets
from fathom.config.section import (
    Name,
    Section,
    Text,
    check_case,
    check_dates,
    describe_errors,
    describe_unknown,
)
from fathom.config.served import Served
from fathom.config.short_names import clean_name, name_set
from fathom.config.tuning import TrainBeforeTest
from fathom.errors import InputError


class Config(Section):
    """The whole configuration."""

    run: Name = Field("demo", description="name of the run: results lie in results/{run}")
    dump: Text | None = Field(None, description="folder of an arXiv dump (corpus.source: arxiv)")
    previous: Name | None = Field(
        None,
        description="an earlier run whose sentences and embeddings are reused if their content is the same",
    )
    scores: Text | None = Field(
        None,
        description="folder of tables of scores to rank models by; without domains, the run makes nothing "
        "else",
    )
    ranking: Ranking = Ranking()
    train_before_test: TrainBeforeTest = TrainBeforeTest()
    coverage: Coverage = Coverage()
    choices: Choices = Choices()
    corpus: Corpus = Corpus()
    domains: dict[Name, Domain] = Field(
        {}, validate_default=True, description="see [domains](#domainsname); needed unless `scores` is given"
    )
    keywords: Keywords = Keywords()
    sentences: Sentences = Sentences()
    embedding: Embedding = Embedding()
    matches: Matches = Matches()
    vocabulary: Vocabulary = Vocabulary()
    pairs: Pairs | None = Field(
        None, validate_default=True, description="see [pairs](#pairs); needed where there are domains"
    )
    models: Models = Models()
    scoring: Scoring = Scoring()
    perplexity: Perplexity = Perplexity()
    attribute_rate: AttributeRate = AttributeRate()
    served: Served = Served()
    summary: Summary = Summary()
    targets: Targets = Targets()
    claims: Claims = Claims()
    layers: Layers = Layers()
    lens: TunedLens = TunedLens()
    references: dict[Name, Annotated[dict[Name, Text], Field(min_length=1)]] = Field(
        {},
        description="reference benchmarks by domain and name: files (.jsonl or .csv) of category, prompt,"
        " target. The first leads unless `lead_reference` names another; references.csv has the others. In"
        " its place `--config references=FOLDER` may name a folder of files DOMAIN.NAME.csv or .jsonl",
    )
    lead_reference: Name | None = Field(
        None,
        description="name of the reference that leads in every domain that has it: figures and tables "
        "compare models with it; null: the first of a domain, which is `expert` in a folder",
    )
    examples: Examples = Examples()

    @field_validator("domains")
    @classmethod
    def _need_domains(cls, value: dict[str, Domain], info: ValidationInfo) -> dict[str, Domain]:
        if not value and info.data.get("scores") is None and not _needs_no_domain(info):
            if _names_tables(info):
                what = "none are given, but ranking.conditions names tables of scores"
                raise ValueError(f"{what}: add --config scores=FOLDER")
            raise PydanticCustomError("missing", "at least one is needed")
        return value

    @field_validator("pairs")
    @classmethod
    def _need_pairs(cls, value: Pairs | None, info: ValidationInfo) -> Pairs | None:
        # only a table of scores that lies there already can be ranked without making benchmarks
        alone = info.data.get("scores") is not None or _names_tables(info) or _needs_no_domain(info)
        if value is None and (info.data.get("domains") or not alone):
            raise PydanticCustomError("missing", "its tokenizer is needed")
        return value

    @model_validator(mode="after")
    def _refer_to_what_exists(self) -> Self:
        texts = {**self.domains, **self.models.texts, **self.list_question_texts()}
        for name, training in self.models.train.items():
            _require([training.domain], texts, f"models.train.{name}.domain")
        for place, adaptation in enumerate(self.models.adapt):
            for domain in dict.fromkeys(chain.from_iterable(adaptation.paths)):
                _require([domain], texts, f"models.adapt.{place}.paths")
                if adaptation.text != "as-is" and domain not in self.benchmark_domains:
                    key = f"models.adapt.{place}.text = {adaptation.text}"
                    raise ValueError(f"{key}: {domain} has no benchmark, so no terms")
        _check_trained_once(self.models)
        self._check_studies(texts)
        self._check_claims(texts)
        if self.corpus.source == "arxiv" and self.dump is None:
            raise ValueError("dump: corpus.source is arxiv, so a dump folder is needed: --config dump=FOLDER")
        if self.previous == self.run:
            raise ValueError(f"previous = {self.previous!r} is the run itself: give each dump its own run")
        self._check_references()
        self._require_benchmarks(self.perplexity.texts, "perplexity.texts")
        self._check_coverage()
        check_case(texts, "domains")
        for key, section in self.domains.items():
            check_dates(section.since, self.corpus.until, (f"domains.{key}.since", "corpus.until"))
            check_dates(self.corpus.since, section.until, ("corpus.since", f"domains.{key}.until"))
        if self.domains and not self.benchmark_domains:
            raise ValueError("domains: every domain has benchmark: false, so there is nothing to build")
        return self

    def _require_benchmarks(self, domains: Iterable[str], key: str) -> None:
        _require(domains, self.benchmark_domains, key, "domain with a benchmark")

    def _check_references(self) -> None:
        self._require_benchmarks(self.references, "references")
        self._require_benchmarks(self.examples.domains, "examples")
        named = {name: file for files in self.references.values() for name, file in files.items()}
        if self.lead_reference is not None and named:
            _require([self.lead_reference], named, "lead_reference", "reference")

    def name_references(self, domain: str) -> list[tuple[str, str]]:
        """Return variant and name of every reference of a domain, as they are configured.

        The leading one, which models are compared with, has the plain variant.
        """
        names = self.references.get(domain, {})
        lead = self.lead_reference if self.lead_reference in names else next(iter(names), None)
        return [(REFERENCE if name == lead else f"{REFERENCE}-{name}", name) for name in names]

    @property
    def reference_names(self) -> dict[str, dict[str, str]]:
        """What references are called, by domain and variant."""
        return {domain: dict(self.name_references(domain)) for domain in self.references}

    def name_all_references(self) -> list[tuple[str, str]]:
        """Return variant and name of the references of all domains; a variant may have several names."""
        found: dict[str, list[str]] = {}
        for domain in self.benchmark_domains:
            for variant, name in self.name_references(domain):
                found.setdefault(variant, []).append(name)
        return [(variant, " or ".join(dict.fromkeys(names))) for variant, names in found.items()]

    def _check_coverage(self) -> None:
        for place, name in enumerate(self.coverage.expand):
            self._require_benchmarks([name], f"coverage.expand.{place}")
        self._require_benchmarks(self.coverage.others, "coverage.others")
        for name, chosen in self.coverage.questions.items():
            domains = (benchmark.split("/")[0] for benchmark in chosen.pairs)
            self._require_benchmarks(domains, f"coverage.questions.{name}.pairs")
        check_case(self.coverage.questions, "coverage.questions")
        for name, (chosen_set, _) in self.list_question_texts().items():
            if name in self.domains or name in self.models.texts:
                raise ValueError(
                    f"coverage.questions.{chosen_set}: its text is called {name}, and so is a domain; rename "
                    "one of them"
                )

    def _check_answering(self, scored: Collection[str]) -> None:
        known = [*scored, *self.models.speaking]
        _require(self.coverage.evaluation.models, known, "coverage.evaluation.models", "scored model")
        for name, chosen in self.coverage.questions.items():
            if chosen.writer is not None:
                key = f"coverage.questions.{name}.writer"
                _require([chosen.writer], scored, key, "scored model")
                if chosen.writer in {*self.models.train, *self.models.adapted}:
                    raise ValueError(f"{key} = {chosen.writer}: it is trained here; name one of models.score")

    def _check_speaking(self) -> None:
        """Raise `ValueError` if a speaking model has another's name, or is asked only for letters."""
        others = {*self.models.every, *self.models.followed, *self.models.bases}
        for name in self.models.speaking:
            if name in others:
                raise ValueError(f"models.speaking.{name}: another model has this name; rename it")
            if name in self.choices.models and "text" not in self.choices.ways:
                raise ValueError(f"choices.ways: {name} gives no probabilities and only writes; add text")

    def _check_studies(self, texts: Collection[str]) -> None:
        for name, study in self.models.continual.items():
            key = f"models.continual.{name}"
            if name in texts:
                raise ValueError(f"{key}: a domain has this name; rename the study")
            self._require_benchmarks([study.evaluation_domain], f"{key}.evaluation_domain")
            candidates = study.candidates if study.candidates != "all" else []
            _require(candidates, texts, f"{key}.candidates")
            _require(study.order, texts, f"{key}.order")

    def _check_claims(self, texts: Collection[str]) -> None:
        for name, others in self.claims.near.items():
            self._require_benchmarks([name], "claims.near")
            _require(others, texts, f"claims.near.{name}")
            if name in others:
                raise ValueError(f"claims.near.{name}: this is the domain itself; name others")
        if self.claims.clozes and not self.corpus.splits.adapt_valid:
            raise ValueError("claims.clozes: corpus.splits.adapt-valid is 0: no text to draw from")
        # cards of benchmarks are written without models, so there is nothing to check
        if self.claims.variants and self.models != Models() and not list_conditions(self.models):
            raise ValueError(
                "claims: no entry of models.adapt has several seeds or checkpoints to check them on"
            )

    @model_validator(mode="after")
    def _compare_what_exists(self) -> Self:
        check_case([*self.models.every, *self.models.followed, *self.models.speaking], "models")
        self._check_speaking()
        check_case(self.train_before_test.tasks, "train_before_test.tasks")
        models = dict.fromkeys([*self.models.every, *self.models.followed])
        _require(self.layers.models, models, "layers.models", "model")
        for name, other in self.layers.against.items():
            _require([name, other], models, "layers.against", "model")
            if other in self.layers.against:
                raise ValueError(f"layers.against: {other} itself has a reference; name that one")
        scored = dict.fromkeys([*self.models.scored, *self.models.offered])
        measured = scored | dict.fromkeys(self.models.followed)
        for pair in self.targets.against.items():
            _require(pair, measured, "targets.against", "scored model")
        self._require_benchmarks(self.targets.phrases, "targets.phrases")
        for name, task in self.train_before_test.tasks.items():
            key, domains = f"train_before_test.tasks.{name}.domain", [task.domain] if task.domain else []
            if task.kind == "text":
                _require(domains, self.domains, key)
            else:
                self._require_benchmarks(domains, key)
        _require(self.train_before_test.models, scored, "train_before_test.models", "scored model")
        for place, name in enumerate(self.choices.models):
            _require([name], [*scored, *self.models.speaking], f"choices.models.{place}", "scored model")
        if self.choices.questions and not self.asked_models:
            raise ValueError("choices.questions: no model to ask; name some in models.score")
        self._check_answering(scored)
        return self

    @property
    def benchmark_domains(self) -> list[str]:
        """Names of the domains with a benchmark, in the order of the file."""
        return [name for name, domain in self.domains.items() if domain.benchmark]

    def list_question_texts(self) -> dict[str, tuple[str, str]]:
        """Return sets of questions and the kind of text of each by the name under which it is trained on."""
        return {f"{name}.{kind}": (name, kind) for name in self.coverage.questions for kind in TEXTS}

    @property
    def titles(self) -> dict[str, str]:
        """What each domain, and each text to train models on, is called: its title, else its name.

        A title that several have is followed by the name.
        """
        texts = {name: text.title or name for name, text in self.models.texts.items()}
        asked = {
            name: name_set(chosen) if kind == "questions" else f"{kind} of {chosen}"
            for name, (chosen, kind) in self.list_question_texts().items()
        }
        own = {name: domain.title or texts.get(name, name) for name, domain in self.domains.items()}
        # domains first, and by their own titles
        found = {name: clean_name(title) for name, title in (own | texts | asked | own).items()}
        shared = Counter(found.values())
        return {name: f"{title} ({name})" if shared[title] > 1 else title for name, title in found.items()}

    def list_compared(self, study: str) -> list[str]:
        """Return the domains that a continual pretraining compares with its evaluation domain, each once."""
        section = self.models.continual[study]
        every = [name for name in (*self.domains, *self.models.texts) if name != section.evaluation_domain]
        chosen = every if section.candidates == "all" else section.candidates
        return list(dict.fromkeys([*chosen, *section.order]))

    @property
    def compared_models(self) -> dict[str, str]:
        """Models whose targets are compared with another model's: ends of paths, and `targets.against`."""
        measured = {*self.models.scored, *self.models.followed}
        against = self.targets.against.items()
        return self.models.path_ends | {name: other for name, other in against if {name, other} <= measured}

    @property
    def asked_speakers(self) -> list[str]:
        """Models behind a service that are asked multiple-choice questions."""
        return [name for name in self.asked_models if name in self.models.speaking]

    @property
    def answering_speakers(self) -> list[str]:
        """Models behind a service that answer sets of questions."""
        return [name for name in self.coverage.evaluation.models if name in self.models.speaking]

    @property
    def asked_models(self) -> list[str]:
        """Models that are asked multiple-choice questions; none without questions."""
        return (self.choices.models or self.models.scored) if self.choices.questions else []

    @property
    def layer_models(self) -> list[str]:
        """Models measured layer by layer, and those that they are compared with."""
        chosen = self.layers.models or self.models.only or self.models.every
        others = [other for name in chosen for other in self._list_references(name)]
        return list(dict.fromkeys([*chosen, *others]))

    @property
    def layer_references(self) -> list[tuple[str, str]]:
        """Pairs of models compared layer by layer: a model and one that it was trained from."""
        models = self.layer_models
        return [(name, other) for name in models for other in self._list_references(name) if other in models]

    @property
    def layer_families(self) -> dict[str, list[str]]:
        """Models measured layer by layer, by the model that they were trained from, which comes first."""
        first: dict[str, str] = {}
        for name, other in self.layer_references:
            first.setdefault(name, other)
        families = {name: [name] for name in self.layer_models if name not in first}
        for name, other in first.items():
            families[first.get(other, other)].append(name)
        return families

    def _list_references(self, name: str) -> list[str]:
        """Return the models that a model is compared with, its first base first."""
        found = self.models.find_references(name)
        return found or ([self.layers.against[name]] if name in self.layers.against else [])


def _needs_no_domain(info: ValidationInfo) -> bool:
    tasks = "train_before_test" in info.data and info.data["train_before_test"].tasks
    sections = [info.data[name] for name in ("coverage", "choices") if name in info.data]
    return bool(tasks or any(section.questions for section in sections))


def _names_tables(info: ValidationInfo) -> bool:
    return bool("ranking" in info.data and info.data["ranking"].conditions)


def _check_trained_once(models: Models) -> None:
    """Raise `ValueError` if an entry of `adapt` trains a model differently from an earlier one."""
    compared = {*Adaptation.model_fields} - {"paths", "seed", "seeds", "score"}
    for place, adaptation in enumerate(models.adapt):
        for path in adaptation.paths:
            name = adaptation.name_stages(path, adaptation.list_seeds()[0])[-1]
            first = models.adapted[name].settings
            other = sorted(key for key in compared if getattr(first, key) != getattr(adaptation, key))
            if other:
                raise ValueError(
                    f"models.adapt.{place}: an earlier entry trains {name} differently ({', '.join(other)}); "
                    "to have both, add a domain with the same categories and another name"
                )


def _require(names: Iterable[str], known: Collection[str], key: str, what: str = "domain") -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{key}: {describe_unknown(what, name, known)}")


def read_config(values: dict[str, Any], source: str) -> Config:
    """Check the values of configuration files and of `--config`.

    Parameters
    ----------
    source : str
        Name of the file, for the message.

    Raises
    ------
    InputError
        With every wrong key, its value and a hint.
    """
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise InputError(describe_errors(error, Config), source, _hint(error)) from None


def _hint(error: ValidationError) -> str:
    is_unknown = any(problem["type"] == "extra_forbidden" for problem in error.errors())
    return f"config/README.md {'lists every key' if is_unknown else 'says what each key takes'}"
