"""Settings of rankings: tables of scores, their benchmarks, families of models."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from fathom.config.scoring import Summary
from fathom.config.section import Name, Positive, Section, Text, Title, describe_unknown, find_repeated


class ScoreFile(Section):
    """One condition in which models were scored: a table in the folder of scores."""

    name: Name = Field(description="name of the condition in tables and figures")
    file: Text = Field(
        description="CSV without its ending; FILE_stderr.csv holds standard errors, FILE_examples/ examples"
    )


class RankedBenchmark(Section):
    """A benchmark of a table of scores."""

    title: Title = Field("", description="title in figures; empty: the name of the benchmark")
    category: str = Field("", description="category of the benchmark, such as Math")
    lower_is_better: bool | None = Field(
        None, description="true: low scores are better; null: decided by its metric"
    )
    corpus: bool | None = Field(
        None, description="true: perplexity or bits per byte on a corpus; null: decided by its metric"
    )


class CorpusTable(Section):
    """A table of some models' scores on corpora [TrainBeforeTest, Table 3]."""

    models: list[Text] = Field(
        [],
        description="models in the order of rows, each by its name or the part after a slash; empty: no "
        "such table",
    )
    corpora: list[Text] = Field([], description="corpora in the order of columns; empty: all")
    condition: str = Field("", description="condition of the scores; empty: the baseline")


class Ranking(Section):
    """How rankings of models are compared [TrainBeforeTest]."""

    conditions: list[ScoreFile] = Field(
        [],
        description="conditions in a folder of scores, the baseline first; empty: every table of the folder",
    )
    benchmarks: dict[str, RankedBenchmark] = Field(
        {}, description="benchmarks by column; metadata.json has what is not given here"
    )
    categories: list[str] = Field(
        [], description="categories in the order of figures; empty: as in the table"
    )
    families: dict[str, list[str]] = Field(
        {}, description="families of models in figures, each made of families of models.tsv"
    )
    one_family: str = Field("", description="family that is also analysed on its own; empty: none")
    aligned: Annotated[list[str], Field(max_length=2)] = Field(
        [], description="two benchmarks to draw side by side; empty: the two that agree least"
    )
    corpus_table: CorpusTable = CorpusTable()
    components: Positive = Field(5, description="principal components to report")
    forecast: list[Annotated[int, Field(ge=3)]] = Field(
        [], description="numbers of models for which to forecast the change of tau, such as [5, 10, 20, 40]"
    )
    significance: float = Field(
        0.05, gt=0.0, lt=1.0, description="two-sided p above which a difference counts as a tie"
    )

    @model_validator(mode="after")
    def _make_sense(self) -> Self:
        names = [each.name for each in self.conditions]
        if twice := find_repeated(names):
            raise ValueError(f"conditions: duplicate name {', '.join(twice)}")
        condition = self.corpus_table.condition
        if condition and names and condition not in names:
            raise ValueError(f"corpus_table.condition: {describe_unknown('condition', condition, names)}")
        if len(self.aligned) == 1 or len(set(self.aligned)) < len(self.aligned):
            raise ValueError(f"aligned = {self.aligned}: give two different benchmarks, or none")
        if self.one_family and self.families and self.one_family not in self.families:
            raise ValueError(f"one_family: {describe_unknown('family', self.one_family, self.families)}")
        return self


class RankingSettings(Section):
    """Settings of the programs that rank models."""

    ranking: Ranking = Ranking()
    summary: Summary = Summary()
