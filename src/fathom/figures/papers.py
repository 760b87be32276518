"""Tables of the papers, and what is not drawn and why; figures that are drawn are in the catalogue."""

from dataclasses import dataclass

PRESETS = {
    "RawCorpora": "raw-corpora",
    "BeyondBenchmarks": "beyond-benchmarks",
    "CompComp": "comp-comp",
    "TrainBeforeTest": "train-before-test",
}
"""The papers, and the configuration of `config/papers` that draws most of each."""


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper, and the files that hold ours.

    Attributes
    ----------
    preset : str
        Configuration of `config/papers`, where it is not the paper's own.
    differs : str
        What of the paper's table ours lacks or shows otherwise, as :class:`fathom.figures.entry.Shown`.
    """

    paper: str
    number: str
    shows: str
    files: tuple[str, ...]
    made_by: str
    preset: str = ""
    differs: str = ""


@dataclass(frozen=True)
class NotDrawn:
    """A figure or table of a paper that no run makes, and why."""

    paper: str
    number: str
    shows: str
    reason: str


_FOLLOW = "follow, following-demo; OLMo-2: hub"
_KEYWORDS = "examples/vocabularies.csv"
_ARXIV = "about papers of arXiv, not the staff and courses of a university"

TABLES = (
    PaperTable("RawCorpora", "Tables 1, 5", "targets of both vocabularies, and tokens, of some keywords",
               (_KEYWORDS,), "figures"),
    PaperTable("RawCorpora", "Tables 2, 3, 7, 8", "pairs; those of references too", ("examples/pairs.csv",),
               "figures"),
    PaperTable("RawCorpora", "Table 4", "ten keywords of each domain", ("examples/keywords.csv",), "figures"),
    PaperTable("RawCorpora", "Table 6", "six styles of the prompt", ("config/choices/styles.yaml",),
               "choices, choices-demo", "raw-corpora-choices",
               "wording of our own; the paper's only from a file of yours (`choices.styles`)"),
    PaperTable("RawCorpora", "Table 9", "the 100 best and worst targets",
               ("{domain}/targets/best-and-worst.csv",), "figures"),
    PaperTable("RawCorpora", "Table 10", "checkpoints that are followed", ("following/checkpoints.csv",),
               _FOLLOW),
    PaperTable("BeyondBenchmarks", "Table 1", "targets and tokens of some keywords", (_KEYWORDS,), "figures"),
    PaperTable("BeyondBenchmarks", "Table 2", "pairs", ("examples/pairs.csv",), "figures"),
    PaperTable("BeyondBenchmarks", "Table 3", "the 100 best and worst targets of an adapted model",
               ("{domain}/targets/best-and-worst.csv",), "figures"),
    PaperTable("BeyondBenchmarks", "Table 4", "checkpoints", ("following/checkpoints.csv",), _FOLLOW),
    PaperTable("BeyondBenchmarks", "Table 5", "most likely tokens after keywords, in the token list and not",
               ("{domain}/layers/{model}.examples.tsv",), "layers", "beyond-benchmarks-layers"),
    PaperTable("CompComp", "Table 1", "benchmarks of a run: domain, kind and size, as their cards say",
               ("examples/benchmarks.csv",), "figures",
               differs="the run's own benchmarks; the paper has six of others beside its own"),
    PaperTable("CompComp", "Table 2", "questions by form and level, and other sizes", ("sizes.csv",),
               "courses", differs=f"{_ARXIV}; without FAQ and forum"),
    PaperTable("CompComp", "Tables 3, 5, 6", "scores by form and prompting, and paired differences",
               ("question-scores.csv", "question-differences.csv"), "courses",
               differs=f"{_ARXIV}; GPT-3.5 and GPT-4 only with a key of yours"),
    PaperTable("CompComp", "Table 4", "scores by t_d and t_c; sizes by t_d",
               ("question-thresholds.csv", "questions/{set}/percentiles.csv"), "courses",
               differs=f"{_ARXIV}; a higher t_d asks fewer questions, as Eq. 8 says; not without t_d"),
    PaperTable("CompComp", "Table 4", "sizes by t_c", ("{domain}/coverage/correlations.csv",),
               "coverage, with `coverage.ablation`", differs=_ARXIV),
    PaperTable("TrainBeforeTest", "Tables 1, 2, 4", "benchmarks, models, compute", ("ranking/tables.md",),
               "rankings"),
    PaperTable("TrainBeforeTest", "Table 3", "bits per byte of Gemma's models and Pythia-410M",
               ("ranking/table-corpora-chosen.csv",), "rankings",
               differs="the published scores have none of Gemma's models"),
)  # fmt: skip
"""Tables of the papers, in their order."""

NOT_DRAWN = (
    NotDrawn("RawCorpora", "Figs. 1, 2", "faults of benchmarks, the pipeline", "drawings, without numbers"),
    NotDrawn("RawCorpora", "Fig. 14", "the prompt that asks a model for pairs",
             "a text: [`fathom request write`](reference.md#pairs-that-a-language-model-writes) writes ours"),
    NotDrawn("BeyondBenchmarks", "Fig. 1", "the pipeline", "a drawing, without numbers"),
    NotDrawn("CompComp", "Fig. 1a", "comprehensive and compact benchmarks", "a drawing, without numbers"),
    NotDrawn("CompComp", "Fig. 2", "the method", "a drawing, without numbers"),
)  # fmt: skip
"""What no run makes."""
