"""Settings of rankings: tables of scores, their benchmarks, families of models."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from fathom.config.scoring import Summary
from fathom.config.section import Name, Positive, Section


class ScoreFile(Section):
    """One condition in which models were scored: a table in the folder of scores."""

    name: Name = Field(description="name of the condition in tables and figures")
    file: str = Field(
        description="CSV without its ending; FILE_stderr.csv holds standard errors, FILE_examples/ examples"
    )


class RankedBenchmark(Section):
    """A benchmark of a table of scores."""

    title: str = Field("", description="name in figures; the benchmark's own name if empty")
    category: str = Field("", description="group of benchmarks that it belongs to, such as Math")
    lower_is_better: bool | None = Field(None, description="true: a low score is good; null: by its metric")
    corpus: bool | None = Field(
        None,
        description="true: perplexity or bits per byte on a corpus; null: by its metric",
    )


class Ranking(Section):
    """How rankings of models are compared [TrainBeforeTest]."""

    conditions: list[ScoreFile] = Field(
        [],
        description="conditions in a folder of scores, the one to begin from first; empty: every table of it",
    )
    benchmarks: dict[str, RankedBenchmark] = Field(
        {}, description="benchmarks by their column; what is not said here is taken from metadata.json"
    )
    categories: list[str] = Field([], description="categories in the order of figures; empty: of the table")
    families: dict[str, list[str]] = Field(
        {}, description="families of models that figures show, each of one or more families of models.tsv"
    )
    one_family: str = Field("", description="family whose table is analysed on its own as well; empty: none")
    aligned: Annotated[list[str], Field(max_length=2)] = Field(
        [], description="two benchmarks to draw side by side; empty: the two that agree least"
    )
    components: Positive = Field(5, description="principal components to report")
    significance: float = Field(
        0.05, gt=0.0, lt=1.0, description="differences with a two-sided p above this count as ties"
    )

    @model_validator(mode="after")
    def _make_sense(self) -> Self:
        names = [each.name for each in self.conditions]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"conditions: {', '.join(twice)} stands twice")
        if len(self.aligned) == 1 or len(set(self.aligned)) < len(self.aligned):
            raise ValueError(f"aligned = {self.aligned}: two different benchmarks are needed, or none")
        if self.one_family and self.families and self.one_family not in self.families:
            raise ValueError(f"one_family = {self.one_family!r}: known: {', '.join(self.families)}")
        return self


class RankingSettings(Section):
    """What programs that rank models obey."""

    ranking: Ranking = Ranking()
    summary: Summary = Summary()
