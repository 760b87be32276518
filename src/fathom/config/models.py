"""Settings of models: trained here, adapted, scored."""

from typing import Literal

from pydantic import Field

from fathom.config.section import Name, Positive, Section, Share, Text


class Adapter(Section):
    """A low-rank adapter [LoRA] in place of all weights."""

    targets: Literal["all", "attention", "peft"] = Field(
        "all",
        description="matrices with an adapter; all: of attention and MLP; attention: of attention; "
        "peft: PEFT's default for the architecture, as published",
    )
    rank: Positive = Field(8, description="rank of the adapter's matrices")
    alpha: float = Field(32.0, gt=0, description="the adapter's output is scaled by alpha / rank")
    dropout: Share = Field(0.1, description="dropout before the adapter")
    dtype: Literal["float32", "bfloat16"] = Field(
        "float32", description="number format of the model's own weights; the adapter's are float32"
    )
    seed: int = Field(0, description="for the adapter's initial weights")


class Computation(Section):
    """How training is computed; what is learned stays the same but for rounding."""

    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="number format of products; weights and optimiser are float32. auto: bfloat16 on a GPU "
        "that has it, float32 elsewhere",
    )
    batch_tokens: Positive = Field(
        8192, description="tokens in a micro-batch, halved when GPU memory runs out; a step's batch stays"
    )
    checkpointing: Literal["auto", "always", "never"] = Field(
        "auto",
        description="compute activations again in the backward pass instead of keeping them; auto: for "
        "models of 1 billion parameters or more, and once GPU memory has run out",
    )


class Training(Computation):
    """A small model that the workflow trains from scratch on the text of one domain."""

    architecture: Literal["gpt2", "llama"] = Field("gpt2", description="architecture of the model")
    domain: Name = Field(description="domain whose adapt-train fold is the text")
    layers: Positive = Field(4, description="transformer blocks")
    width: Positive = Field(192, description="width of the hidden states, an even multiple of heads")
    heads: Positive = Field(4, description="attention heads in a block")
    vocabulary: Positive = Field(4096, description="entries of its byte-level BPE tokenizer")
    context: Positive = Field(256, description="context length in tokens")
    steps: Positive = Field(700, description="optimiser steps")
    batch: Positive = Field(16, description="sequences in a step")
    sequence: Positive = Field(128, description="tokens in a training sequence")
    learning_rate: float = Field(1e-3, gt=0, description="peak learning rate")
    seed: int = Field(0, description="for initial weights and the order of sequences")


class Adaptation(Computation):
    """Further training of a model on domains, one stage after the other [RawCorpora, Sec. 4.1]."""

    base: Name = Field(description="model to start from: trained here or in models.tsv")
    paths: list[list[Name]] = Field(
        min_length=1,
        description="lists of domains, such as [cs.AI] and [cs.AI, cond-mat]; prefixes are shared",
    )
    steps: Positive = Field(150, description="optimiser steps of each stage")
    batch: Positive = Field(16, description="sequences in a step")
    sequence: Positive = Field(128, description="tokens in a training sequence")
    learning_rate: float = Field(5e-4, gt=0, description="peak learning rate")
    dropout: Share = Field(0.0, description="dropout while adapting; 0.2 in [RawCorpora, App. A.5]")
    seed: int = Field(0, description="for the order of sequences")
    lora: Adapter | None = Field(
        None,
        description="train an adapter, which is merged at the end; {} for its defaults, null: all weights",
    )
    score: bool = Field(True, description="false: not scored, only measured layer by layer on request")


class Models(Section):
    """Which models there are, and which of them are scored."""

    registry: Text = Field("config/models.tsv", description="table of models from the hub or local folders")
    train: dict[Name, Training] = Field({}, description="small models trained from scratch, by name")
    adapt: list[Adaptation] = Field([], description="adapted models, named base+domain+domain")
    score: list[Text] = Field(
        [], description="models of the registry to score as well; NAME@chat: inside its chat template"
    )
    on_disk: int = Field(
        0,
        ge=0,
        description="fetched models that lie on the disk at a time: each is deleted after its last job, then"
        " another one is fetched; 0: all stay, in the cache of the hub",
    )
    max_characters: Positive = Field(
        30_000_000, description="characters of a domain's text that models are trained on, in whole documents"
    )

    @property
    def adapted(self) -> dict[str, tuple[str, str, Adaptation]]:
        """Adapted models by name, each with the model it starts from, its last domain and its settings."""
        found: dict[str, tuple[str, str, Adaptation]] = {}
        for adaptation in self.adapt:
            for path in adaptation.paths:
                for end in range(1, len(path) + 1):
                    parent = "+".join([adaptation.base, *path[: end - 1]])
                    # a prefix that two paths share is trained once, as the first entry says
                    found.setdefault(f"{parent}+{path[end - 1]}", (parent, path[end - 1], adaptation))
        return found

    @property
    def scored(self) -> list[str]:
        """Names of all models that are scored: trained, adapted, and from the registry."""
        adapted = [name for name, (_, _, adaptation) in self.adapted.items() if adaptation.score]
        return list(dict.fromkeys([*self.train, *adapted, *self.score]))

    @property
    def every(self) -> list[str]:
        """Names of all models: those that are scored, and those that are only measured layer by layer."""
        return list(dict.fromkeys([*self.scored, *self.adapted]))

    def find_references(self, name: str) -> list[str]:
        """Return the models that an adapted model comes from: the first base, then its parent."""
        if name not in self.adapted:
            return []
        parent = self.adapted[name][0]
        return [*dict.fromkeys([*self.find_references(parent)[:1], parent])]
