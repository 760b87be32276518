"""Settings of train-before-test: the same fine-tuning for every model, then scoring [TrainBeforeTest]."""

from typing import Literal, Self

from pydantic import Field, model_validator

from fathom.config.adapter import Adapter
from fathom.config.benchmark import Variant
from fathom.config.section import Name, Positive, Section, Text, describe_unknown, find_repeated

Metric = Literal["trimmed_mean_rank", "acc", "acc_norm", "mcc", "exact_match", "bits_per_byte"]
Criterion = Metric | Literal["loss"]
WHOLE = "whole"
"""Name of the full preparation, beside the shorter ones of `preparations`."""


class Lora(Adapter):
    """The adapter and its training: fixed, and the same for every model [TrainBeforeTest, App. A.3]."""

    dtype: Literal["float32", "bfloat16"] = Field(
        "bfloat16", description="number format of the model's own weights; the adapter's are float32"
    )
    seed: int = Field(0, description="for initial weights, dropout and order of examples")
    batch_tokens: Positive = Field(8192, description="tokens in a micro-batch, padding included")
    epoch_by: Literal["metric", "loss"] = Field(
        "metric", description="how the best epoch is chosen on the validation split: by metric or by loss"
    )
    learning_rate: float = Field(2e-5, gt=0, description="initial learning rate; decays linearly to 0")
    weight_decay: float = Field(0.01, ge=0, description="weight decay of AdamW")
    batch: Positive = Field(8, description="examples in a step, whatever the size of micro-batches")
    epochs: Positive = Field(5, description="passes over the training examples")
    loss: Literal["answer", "all"] = Field(
        "answer", description="tokens that are learned; all: of question and answer, as published"
    )
    max_tokens: Positive = Field(
        1024, description="most tokens of an example; longer prompts are cut at the beginning"
    )


class Limits(Section):
    """How many examples of a task are used [TrainBeforeTest, Sec. 3.1]."""

    train: Positive = Field(50_000, description="training examples at most")
    valid: Positive = Field(1_000, description="validation examples at most")
    test: Positive = Field(10_000, description="test examples at most")
    valid_share: float = Field(
        0.2,
        gt=0,
        lt=1,
        description="share of the training split for validation, if a task has no validation split",
    )


class Task(Section):
    """A benchmark that every model is fine-tuned for and scored on."""

    kind: Literal["completion", "choice", "text", "harness"] = Field(
        description="completion: pairs of a benchmark of this run; choice: multiple-choice questions made of "
        "them; text: held-out text of a domain; harness: a task of lm-evaluation-harness"
    )
    domain: Name | None = Field(None, description="domain of this run (completion, choice, text)")
    file: Text | None = Field(None, description="JSON lines with `text`, in place of a domain (text)")
    variant: Variant = Field("tf", description="variant of the benchmark (completion, choice)")
    options: int = Field(4, ge=2, description="options of a question, the target among them (choice)")
    task: Text | None = Field(None, description="name of the task, or path of its YAML file (harness)")
    filter: str | None = Field(
        None,
        description="filter of the task's answers (exact_match); null: its first one",
    )
    metric: Metric | None = Field(
        None, description="metric; null: trimmed_mean_rank, acc or bits_per_byte, by kind"
    )
    category: str = Field("", description="group of tasks, for agreement within groups")

    @model_validator(mode="after")
    def _say_where_it_comes_from(self) -> Self:
        needed = {"harness": "task", "text": "domain or file"}.get(self.kind, "domain")
        if all(getattr(self, key) is None for key in needed.split(" or ")):
            raise ValueError(f"a task of kind {self.kind} needs {needed}")
        allowed: dict[str, tuple[Metric, ...]] = {
            "completion": ("trimmed_mean_rank",),
            "choice": ("acc", "acc_norm", "mcc"),
            "text": ("bits_per_byte",),
            "harness": ("acc", "acc_norm", "mcc", "exact_match"),
        }
        if self.metric is not None and self.metric not in allowed[self.kind]:
            kind = f"metric of a task of kind {self.kind}"
            raise ValueError(describe_unknown(kind, self.metric, allowed[self.kind]))
        return self

    @property
    def scored_by(self) -> Metric:
        """The metric that is used."""
        defaults: dict[str, Metric] = {"completion": "trimmed_mean_rank", "text": "bits_per_byte"}
        return self.metric or defaults.get(self.kind, "acc")


class Preparation(Section):
    """A shorter fine-tuning."""

    examples: Positive | None = Field(None, description="training examples at most; null: all")
    epochs: Positive | None = Field(None, description="passes over the examples; null: lora.epochs")

    @property
    def name(self) -> str:
        """Name of the preparation in files and tables."""
        parts = {"examples": self.examples, "epochs": self.epochs}
        return "-".join(f"{count}-{part}" for part, count in parts.items() if count is not None)


class TrainBeforeTest(Section):
    """Tasks, limits, and how models are fine-tuned for them."""

    tasks: dict[Name, Task] = Field({}, description="tasks by name")
    models: list[str] = Field([], description="models to fine-tune; empty: all scored models")
    lora: Lora = Lora()
    limits: Limits = Limits()
    preparations: list[Preparation] = Field(
        [], description="shorter preparations, to see how agreement depends on cost, see docs/tuning.md"
    )

    @model_validator(mode="after")
    def _tell_preparations_apart(self) -> Self:
        names = [each.name for each in self.preparations]
        if "" in names:
            raise ValueError("preparations: each needs examples or epochs")
        if repeated := find_repeated(names):
            raise ValueError(f"preparations: {', '.join(repeated)} is listed twice")
        return self
