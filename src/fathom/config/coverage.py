"""Settings of coverage: densities of embeddings, expansion of a corpus [CompComp, Sec. 3]."""

from typing import Annotated, Literal

from pydantic import Field

from fathom.config.benchmark import Embedding
from fathom.config.questions import Asking, Evaluation, QuestionSet
from fathom.config.section import Device, Name, Positive, Section, Share, Text


class Ablation(Section):
    """Other thresholds to try [CompComp, Sec. 5.5]."""

    max_correlation: list[Annotated[float, Field(ge=-1, le=1)]] = Field(
        [], description="further values of t_c to expand each domain of `expand` with"
    )
    gap_percentile: list[Share] = Field(
        [], description="further values of t_d to ask each set of questions with"
    )


class OtherBenchmark(Section):
    """A benchmark that others made: where its questions are read."""

    file: Text = Field(description="JSON lines (.jsonl) or CSV with a header (.csv), a question a line")
    column: Text = Field("question", description="key or column with the question's text")


class Coverage(Section):
    """How far benchmarks cover their domains; corpora without redundancy [CompComp, Sec. 3]."""

    benchmarks: bool = Field(
        False,
        description="measure how far each benchmark covers its domain: adds a part to its card, and a map",
    )
    expand: list[Name] = Field(
        [], description="domains whose documents are gathered into a corpus without redundancy"
    )
    others: dict[Name, dict[Text, OtherBenchmark]] = Field(
        {},
        description="benchmarks by others, by domain and name: their questions are placed on one map of the "
        "domain; no model is scored on them",
    )
    bandwidth: Annotated[float, Field(gt=0)] | Literal["scott"] = Field(
        5.0, description="h of the Gaussian kernel, a number above 0, or scott: Scott's rule for the domain"
    )
    length: float = Field(
        15.0,
        gt=0,
        description="length that embeddings are scaled to, as the paper's h is for vectors that are not "
        "normalised. 1: unit vectors",
    )
    max_correlation: float = Field(
        0.05,
        ge=-1,
        le=1,
        description="t_c: documents join a corpus if their density correlates less with that of the corpus",
    )
    gap_percentile: Share = Field(
        0.6, description="t_d: a gap is large if its difference of log-densities is above this share of all"
    )
    sentences: Positive = Field(
        50_000, description="most sentences of a domain to use, from documents drawn by a hash"
    )
    points: Positive = Field(
        5_000, description="most of these sentences to compare densities at, drawn by a hash"
    )
    own_points: bool = Field(
        False,
        description="also compare a document with a corpus at its own sentences; documents with more of the "
        "points then join more often",
    )
    documents: Positive = Field(1, description="documents that join a corpus, or not, as one batch")
    device: Device = Field(
        "cpu", description="cpu, cuda, cuda:N or auto; other devices change the last digits of densities"
    )
    ablation: Ablation = Ablation()
    questions: dict[Name, QuestionSet] = Field(
        {}, description="sets of questions about tables, see [coverage.questions](#coveragequestionsname)"
    )
    evaluation: Evaluation = Evaluation()

    @property
    def scores_thresholds(self) -> bool:
        """Whether models also answer with other thresholds: with the nearest records before each question."""
        asks = bool(self.questions and self.evaluation.models and "rag" in self.evaluation.promptings)
        return asks and bool(self.ablation.max_correlation or self.ablation.gap_percentile)


class CoverageSettings(Section):
    """Settings of the programs that measure coverage."""

    coverage: Coverage = Coverage()
    embedding: Embedding = Embedding()


class QuestionSettings(Section):
    """Settings of the programs that ask questions."""

    coverage: Coverage = Coverage()
    questions: Asking = Asking()
    embedding: Embedding = Embedding()
