"""Settings of models: trained here, adapted, scored, followed while they learn."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from fathom.config.adapter import Adapter
from fathom.config.corpus import TextSource
from fathom.config.model_names import ModelName, TrainingText
from fathom.config.section import Name, Positive, Section, Share, Text, find_repeated
from fathom.config.served import Speaker


class Point(Section):
    """A model at one point of its training."""

    model: str = Field(description="model that is scored")
    seed: str = Field("", description="seed of the training; empty for models from elsewhere")
    stage: int = Field(0, ge=0, description="stage of the path; 0 for the model that it starts from")
    domain: str = Field("", description="domain that the stage trains on")
    step: int = Field(0, ge=0, description="optimiser steps since the start of the path")
    stand_in: str = Field("", description="model measured in its place, if its weights are corrupt")
    tokens: int = Field(0, ge=0, description="tokens seen since then, or in total for models from elsewhere")
    revision: str = Field("", description="revision on the hub, of models from elsewhere")


Decay = Annotated[float, Field(ge=0, lt=1)]
"""Decay of a running mean in each step."""


class Computation(Section):
    """How training is computed; results are the same but for rounding."""

    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="number format of matrix products; weights and optimiser are float32. auto: bfloat16 on "
        "GPUs that support it, float32 elsewhere",
    )
    batch_tokens: Positive = Field(
        8192,
        description="tokens in a micro-batch, halved when GPU memory runs out; the batch of a step stays "
        "the same",
    )
    checkpointing: Literal["auto", "always", "never"] = Field(
        "auto",
        description="recompute activations in the backward pass instead of keeping them; auto: for models "
        "of 1 billion parameters or more unless they fit into the GPU, and once its memory has run out",
    )


class Training(Computation):
    """A small model that the workflow trains from scratch on the text of one domain."""

    architecture: Literal["gpt2", "llama"] = Field("gpt2", description="architecture of the model")
    domain: Name = Field(description="domain whose adapt-train split to train on")
    layers: Positive = Field(4, description="transformer blocks")
    width: Positive = Field(192, description="width of the hidden states, an even multiple of heads")
    heads: Positive = Field(4, description="attention heads in a block")
    vocabulary: Positive = Field(4096, description="entries of its byte-level BPE tokenizer")
    context: Positive = Field(256, description="context length in tokens")
    steps: Positive = Field(700, description="optimiser steps")
    batch: Positive = Field(16, description="sequences in a step")
    sequence: Positive = Field(128, description="tokens in a training sequence")
    learning_rate: float = Field(1e-3, gt=0, description="peak learning rate")
    seed: int = Field(0, description="for initial weights and for the order of sequences")


class StageTraining(Computation):
    """How each stage of a path is trained; all stages have the same number of steps."""

    base: Text = Field(description="model to start from: trained here, or as under models.score")
    steps: Positive = Field(150, description="optimiser steps of each stage")
    batch: Positive = Field(16, description="sequences in a step")
    sequence: Positive = Field(128, description="tokens in a training sequence")
    learning_rate: float = Field(5e-4, gt=0, description="peak learning rate")
    betas: list[Decay] = Field(
        [0.9, 0.95],
        min_length=2,
        max_length=2,
        description="decay of AdamW's two moments; the second as for language models [GPT3], as short "
        "trainings have few steps; Adam's defaults are 0.9 and 0.999",
    )
    weight_decay: float = Field(
        0.1,
        ge=0,
        description="weight decay of AdamW, on matrices, as for language models [GPT3]; 0: Adam, as published"
        " [BeyondBenchmarks, Sec. 2.2.1]",
    )
    dropout: Share = Field(0.0, description="dropout while adapting; 0.2 in [BeyondBenchmarks, Sec. 2.2.1]")
    seed: int = Field(0, description="for the order of sequences")
    seeds: int | list[int] = Field(
        1,
        description="number of trainings of each path, with seeds from `seed` on, or a list of seeds; "
        "models of all but the first are named NAME@seedN and only followed",
    )
    checkpoints: Positive | None = Field(
        None, description="steps between two checkpoints, NAME@stepN, which are only followed; null: none"
    )
    frozen: list[Annotated[int, Field(ge=0)]] = Field(
        [],
        description="blocks to freeze, or to give no adapter, counted from 0 at the embeddings, such as "
        "those that hold knowledge [BeyondBenchmarks, Sec. 5]; [] for none",
    )
    lora: Adapter | None = Field(
        None,
        description="train an adapter, stored beside its base; {}: with defaults; null: train all weights",
    )

    @model_validator(mode="after")
    def _follow_what_is_trained(self) -> Self:
        if self.checkpoints is not None and self.checkpoints > self.steps:
            raise ValueError(f"checkpoints = {self.checkpoints}: a stage has only steps = {self.steps}")
        if not self.list_seeds():
            raise ValueError(f"seeds = {self.seeds}: at least one is needed")
        if len(set(self.list_seeds())) < len(self.list_seeds()):
            raise ValueError(f"seeds = {self.seeds}: name each seed once")
        if len(set(self.frozen)) < len(self.frozen):
            raise ValueError(f"frozen = {self.frozen}: name each block once")
        if isinstance(self.seeds, list) and "seed" in self.model_fields_set:
            raise ValueError(f"seed = {self.seed}: seeds = {self.seeds} says which; remove one of the two")
        return self

    def list_seeds(self) -> list[int]:
        """Return the seeds that each path is trained with."""
        if isinstance(self.seeds, list):
            return self.seeds
        return [self.seed + place for place in range(self.seeds)]

    def list_checkpoints(self) -> list[int]:
        """Return the steps of a stage with a checkpoint, without the last."""
        return list(range(self.checkpoints, self.steps, self.checkpoints)) if self.checkpoints else []

    def mark_seed(self, seed: int) -> int | None:
        """Return the seed that the names of its models say; none for the first."""
        return None if seed == self.list_seeds()[0] else seed


class Adaptation(StageTraining):
    """Further training of a model on domains, one stage after the other [RawCorpora, Sec. 4.1]."""

    paths: list[Annotated[list[Name], Field(min_length=1)]] = Field(
        min_length=1,
        description="lists of domains, such as [cs.AI] and [cs.AI, cond-mat]; prefixes are shared",
    )
    text: TrainingText = Field(
        "as-is",
        description="terms-exchanged: every term of the benchmark's vocabularies is replaced by another of "
        "its kind; terms-only: only the sentences with terms; models are named base+domain.terms-only",
    )
    score: bool = Field(
        True,
        description="false: do not compare these models; only follow them, with checkpoints or seeds, or "
        "measure them layer by layer on request",
    )

    @model_validator(mode="after")
    def _check_paths(self) -> Self:
        for path in self.paths:
            if again := find_repeated(path):
                raise ValueError(f"paths: {' > '.join(path)} has {again[0]!r} twice; name each domain once")
        return self

    @property
    def is_followed(self) -> bool:
        """Whether models are scored during training: at checkpoints, or with several seeds."""
        return self.checkpoints is not None or len(self.list_seeds()) > 1

    def name_stages(self, path: list[str], seed: int) -> list[str]:
        """Return the names of the models of a path, one for each stage."""
        end = ModelName(self.base, tuple(path), self.text, seed=self.mark_seed(seed))
        return [str(replace(end, path=end.path[:count])) for count in range(1, len(path) + 1)]


class Continual(StageTraining):
    """A model trained on domains in turn, starting with the least similar to one [RawCorpora, Sec. 4.3]."""

    evaluation_domain: Name = Field(description="domain with a benchmark to compare all others with")
    candidates: Literal["all"] | list[Name] = Field(
        "all", description="domains to choose from; all: every domain but this one"
    )
    count: Annotated[int, Field(ge=2)] | None = Field(
        12,
        description="number of stages: domains evenly spaced in the order of similarity; null: all "
        "candidates",
    )
    abstracts: Positive = Field(
        5000, description="abstracts of each domain whose embeddings are averaged, drawn by a hash"
    )
    order: list[Name] = Field(
        [],
        description="domains in the order of training; `snakemake order` writes them to a file for "
        "`--configfile`; empty: not known yet, nothing is trained",
    )

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if again := find_repeated(self.order):
            raise ValueError(f"order: {again[0]!r} is named twice; name each domain once")
        if self.candidates != "all" and (again := find_repeated(self.candidates)):
            raise ValueError(f"candidates: {again[0]!r} is named twice; name each once")
        return self

    def name_stages(self, name: str, seed: int) -> list[str]:
        """Return the names of the models of a study, one for each stage."""
        track = ModelName(self.base, (name,), seed=self.mark_seed(seed))
        return [str(replace(track, stage=stage)) for stage in range(1, len(self.order) + 1)]

    def train_on(self, domain: str, seed: int) -> Adaptation:
        """Return one stage as an adaptation."""
        shared = self.model_dump(include={*StageTraining.model_fields})
        return Adaptation(**{**shared, "seed": seed, "seeds": 1, "paths": [[domain]]})


class Adapted(NamedTuple):
    """An adapted model: its parent, its last domain, and how it is trained there."""

    parent: str
    domain: str
    settings: Adaptation


def _list_checkpoints(name: str, training: StageTraining) -> list[tuple[str, int]]:
    end = ModelName.parse(name)
    return [(str(replace(end, step=step)), step) for step in training.list_checkpoints()]


def _list_points(base: str, stages: Sequence[str], seed: int, adapted: Mapping[str, Adapted]) -> list[Point]:
    """Return the models of one path and seed to score: base, checkpoints, and the end of each stage."""
    points = [Point(model=base, seed=str(seed))]
    step = tokens = 0
    for stage, name in enumerate(stages, start=1):
        _, domain, own = adapted[name]
        size = own.batch * own.sequence
        models = [*_list_checkpoints(name, own), (name, own.steps)]
        points += [
            Point(model=model, seed=str(seed), stage=stage, domain=domain,
                  step=step + each, tokens=tokens + each * size)
            for model, each in models
        ]  # fmt: skip
        step, tokens = step + own.steps, tokens + own.steps * size
    return points


def _is_compared(name: str) -> bool:
    parts = ModelName.parse(name)
    return parts.seed is None and parts.stage is None


class Models(Section):
    """The models, and which of them are scored."""

    registry: Text = Field(
        "config/models.tsv", description="table of models from the hub or from local folders"
    )
    train: dict[Name, Training] = Field({}, description="small models trained from scratch, by name")
    adapt: list[Adaptation] = Field([], description="adapted models, named base+domain+domain")
    continual: dict[Name, Continual] = Field(
        {}, description="continual pretraining by the name of the study; models are named base+study@stageN"
    )
    score: list[Text] = Field(
        [],
        description="models to score as well: rows of the registry, or ids on the hub with @REVISION or"
        " /FILE.gguf if need be, folders, GGUF files, adapters, ADDRESS#ID. NAME@chat: inside its chat"
        " template",
    )
    optional: list[Text] = Field(
        [],
        description="models of the registry to leave out of a run, with all that depends on them, until "
        "`snakemake fetch` has fetched them",
    )
    speaking: dict[Name, Speaker] = Field(
        {},
        description="chat models behind a service, by a name of your choice, see "
        "[models.speaking](#modelsspeakingname); `coverage.evaluation.models` and `choices.models` may "
        "name them; they answer in writing",
    )
    only: list[Text] = Field(
        [],
        description="score only these models of this file or of the registry; empty: all. `--config "
        "models=[NAME,NAME]` sets it",
    )
    follow: dict[Name, Annotated[list[Text], Field(min_length=2)]] = Field(
        {},
        description="lists of models of the registry, such as checkpoints of one training, by the name of "
        "their figure; scored, and drawn over the tokens that they have seen",
    )
    on_disk: int = Field(
        0,
        ge=0,
        description="most fetched models on disk at a time: each is deleted after its last job before "
        "another is fetched; 0: all stay, in the cache of the hub",
    )
    texts: dict[Name, TextSource] = Field(
        {},
        description="training text from outside the corpus, by domain, which may be one that the corpus "
        "lacks",
    )
    max_characters: Positive = Field(
        30_000_000, description="most characters of a domain's text to train models on, in whole documents"
    )

    @field_validator("follow")
    @classmethod
    def _follow_each_once(cls, value: dict[str, list[str]]) -> dict[str, list[str]]:
        for name, models in value.items():
            if again := find_repeated(models):
                raise ValueError(f"{name} names {again[0]!r} twice")
        return value

    @cached_property
    def adapted(self) -> dict[str, Adapted]:
        """Adapted models by name, each with its own seed; names with further seeds end in @seedN."""
        found: dict[str, Adapted] = {}
        for adaptation in self.adapt:
            for path in adaptation.paths:
                for seed in adaptation.list_seeds():
                    own = adaptation.model_copy(update={"seed": seed, "seeds": 1})
                    names = [adaptation.base, *adaptation.name_stages(path, seed)]
                    for parent, name, domain in zip(names, names[1:], path, strict=False):
                        # a shared prefix of two paths is trained once, as in the first entry
                        found.setdefault(name, Adapted(parent, domain, own))
        for study, continual in self.continual.items():
            for seed in continual.list_seeds():
                stages = continual.name_stages(study, seed)
                parents = [continual.base, *stages]
                for parent, name, domain in zip(parents, stages, continual.order, strict=False):
                    found[name] = Adapted(parent, domain, continual.train_on(domain, seed))
        return found

    @property
    def bases(self) -> list[str]:
        """Models that others start from, each once."""
        return list(dict.fromkeys(each.base for each in (*self.adapt, *self.continual.values())))

    @property
    def studies(self) -> dict[str, Continual]:
        """Studies of continual pretraining whose order is known, by their track."""
        return {f"{each.base}+{name}": each for name, each in self.continual.items() if each.order}

    @cached_property
    def checkpoints(self) -> dict[str, tuple[str, int]]:
        """Checkpoints by name, each with its final model and the steps of its last stage."""
        return {
            checkpoint: (name, step)
            for name, (_, _, adaptation) in self.adapted.items()
            for checkpoint, step in _list_checkpoints(name, adaptation)
        }

    @cached_property
    def tracks(self) -> dict[str, list[Point]]:
        """Followed models in the order of their training, by the name of the final model.

        Paths of `adapt` with checkpoints or several seeds that are no prefix of another; studies of
        continual pretraining; and lists of `follow`, whose tokens only the registry knows.
        """
        followed: dict[str, tuple[str, dict[int, list[str]]]] = {}  # base, and the stages by seed
        for adaptation in (each for each in self.adapt if each.is_followed):
            for path in adaptation.paths:
                if not any(other[: len(path)] == path != other for other in adaptation.paths):
                    stages = {seed: adaptation.name_stages(path, seed) for seed in adaptation.list_seeds()}
                    followed[next(iter(stages.values()))[-1]] = adaptation.base, stages
        for track, continual in self.studies.items():
            study = track.removeprefix(f"{continual.base}+")
            stages = {seed: continual.name_stages(study, seed) for seed in continual.list_seeds()}
            followed[track] = continual.base, stages
        found: dict[str, list[Point]] = {}
        for name, (base, stages) in followed.items():
            points = (_list_points(base, names, seed, self.adapted) for seed, names in stages.items())
            found[name] = list(chain.from_iterable(points))
        return found | {name: [Point(model=model) for model in rows] for name, rows in self.follow.items()}

    @property
    def path_ends(self) -> dict[str, str]:
        """The last model of each scored path, of its first seed, with the model that the path starts from."""
        return {
            adaptation.name_stages(path, adaptation.list_seeds()[0])[-1]: adaptation.base
            for adaptation in self.adapt
            for path in adaptation.paths
            if adaptation.score and self._is_chosen(adaptation, path)
        }

    def _is_chosen(self, adaptation: Adaptation, path: list[str]) -> bool:
        """Say whether both ends of a path are compared if `only` names some models."""
        ends = {adaptation.base, adaptation.name_stages(path, adaptation.list_seeds()[0])[-1]}
        return not self.only or ends <= set(self.only)

    @property
    def scored(self) -> list[str]:
        """Models that summaries and rankings compare: all, or `only`."""
        return list(dict.fromkeys(self.only)) or self.offered

    @property
    def offered(self) -> list[str]:
        """Models that are scored unless `only` names some: trained, adapted, and from the registry."""
        adapted = [name for name, each in self.adapted.items() if each.settings.score and _is_compared(name)]
        return list(dict.fromkeys([*self.train, *adapted, *self.score]))

    @property
    def followed(self) -> list[str]:
        """Models that are scored only because they are followed."""
        scored = set(self.scored)
        names = dict.fromkeys(point.model for track in self.tracks.values() for point in track)
        return [name for name in names if name not in scored]

    @property
    def every(self) -> list[str]:
        """Names of all models: scored ones, and those only measured layer by layer."""
        adapted = [name for name in self.adapted if _is_compared(name)]
        return list(dict.fromkeys([*self.scored, *self.offered, *adapted]))

    def find_references(self, name: str) -> list[str]:
        """Return the models that a model or checkpoint comes from: the first base, then its parent."""
        made = self.checkpoints[name][0] if name in self.checkpoints else name
        if made not in self.adapted:
            return []
        parent = self.adapted[made][0]
        return [*dict.fromkeys([*self.find_references(parent)[:1], parent])]
