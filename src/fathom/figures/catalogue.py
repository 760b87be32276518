"""All kinds of figures, with their names, contents and sources.

Here are those of coverage, questions, multiple choice and rankings.
"""

from fathom.figures.entry import Figure, Shown
from fathom.figures.model_figures import MODEL_FIGURES, STUDY_FIGURES
from fathom.io import paths
from fathom.io.run_path import RunPath

_PAPER = "TrainBeforeTest"


def _name_tables(*names: str) -> dict[str, RunPath]:
    return {name: paths.RANKING.of(table=name) for name in ("models", "benchmarks", *names)}


RANKING_FIGURES = (
    Figure(
        "ranking-alignment", "Aligned rankings", "ranking.alignment",
        "ranking_agreement.draw_alignment_figure",
        reads=_name_tables("alignment", "agreement", "means"), of={"": "rankings"}, target="rankings",
        section="Rankings", made_by="rankings",
        shown=(Shown("aligned rankings side by side", _PAPER, "Fig. 1"),),
        caption="""
        Two rankings of the same models side by side, one panel for each condition. A line joins the two
        places of a model.

        The rankings are first brought as close to each other as significant differences allow: a model is
        never placed above one that is significantly better on that benchmark. Lines that still cross show
        a real disagreement of the two benchmarks, or nearly so: the order is found greedily from the top.
        Models that move by no more than a twentieth of all places are grey; the others have the colour of
        their family.

        The CSV beside the figure holds the places, and for each model the best and the worst place that
        significant differences allow.""",
    ),
    Figure(
        "ranking-means", "Agreement of benchmarks", "ranking.{figure}", "ranking_agreement.draw_figure",
        reads=_name_tables("means", "categories", "agreement"), of={"": "rankings"}, target="rankings",
        section="Rankings", made_by="rankings", settings=("summary",),
        values={"figure": {
            "mean-tau": "mean tau of each",
            "mean-tau-significant": "mean tau of each, significant differences",
            "categories": "within and between categories",
            "categories-significant": "within and between categories, significant differences"}},
        shown=(Shown("mean Kendall's tau of each benchmark", _PAPER, "Fig. 2", {"figure": "mean-tau"}),
               Shown("as Fig. 2, of significant differences", _PAPER, "Fig. 12",
                     {"figure": "mean-tau-significant"}),
               Shown("agreement within and between categories", _PAPER, "Fig. 3", {"figure": "categories"}),
               Shown("as Fig. 3, of significant differences", _PAPER, "Fig. 13",
                     {"figure": "categories-significant"})),
        caption="""
        How far benchmarks agree on the order of models.

        Kendall's tau-b is 1 where two benchmarks order all models alike, 0 where they are unrelated, and
        negative where they disagree. mean-tau shows the mean of each benchmark with all others,
        categories the means over pairs of benchmarks within and between categories. Names that end in
        significant treat two models as tied unless their difference is significant at 95 %: by a paired
        test where single examples were scored, otherwise by both standard errors.

        Whiskers are 95 % intervals from a bootstrap over models; those of categories are in the CSV beside
        the figure.""",
    ),
    Figure(
        "ranking-tau", "Every two benchmarks", "ranking.{statistic}.{condition}",
        "ranking_agreement.draw_figure",
        reads=_name_tables("pairwise", "agreement", "means"), of={"condition": "conditions"},
        target="rankings", section="Rankings", made_by="rankings", settings=("summary",),
        values={"statistic": {"tau": "tau", "tau-significant": "tau of significant differences"}},
        shown=(Shown("every two benchmarks", _PAPER, "Figs. 9, 10", {"statistic": "tau"}),
               Shown("as Figs. 9, 10, of significant differences", _PAPER, "Figs. 14, 15",
                     {"statistic": "tau-significant"})),
        caption="""
        How far every two benchmarks agree on the order of models in one condition: {condition}.

        Kendall's tau-b is 1 where two benchmarks order all models alike, 0 where they are unrelated, and
        negative where they disagree. tau-significant treats two models as tied unless their difference is
        significant at 95 %: by a paired test where single examples were scored, otherwise by both
        standard errors. The title has the mean over all pairs of benchmarks, and in brackets its 95 %
        interval from a bootstrap over models.""",
    ),
    Figure(
        "ranking-perplexity", "Perplexity and tasks", "ranking.{figure}",
        "ranking_agreement.draw_perplexity_figure",
        reads=_name_tables("perplexity", "means"), of={"figure": "perplexity_figures"}, target="rankings",
        section="Rankings", made_by="rankings",
        values={"figure": {"perplexity": "in one condition",
                           "perplexity-before": "before tuning with tasks after it"}},
        shown=(Shown("perplexity against benchmarks", _PAPER, "Fig. 4", {"figure": "perplexity"}),
               Shown("perplexity before tuning against benchmarks after it", _PAPER, "Fig. 5",
                     {"figure": "perplexity-before"})),
        caption="""
        How far perplexity on plain text orders the models as tasks do.

        Each cell is Kendall's tau-b between a corpus and a benchmark, over the models that have a
        perplexity on every corpus. Low perplexity and a high score count as agreement. perplexity
        compares both under the same condition; perplexity-before compares perplexity before any tuning
        with tasks after it, for base and chat models separately.""",
    ),
    Figure(
        "ranking-components", "Principal components", "ranking.{figure}",
        "ranking_agreement.draw_components_figure",
        reads=_name_tables("pca", "pc1", "agreement", "means"), of={"figure": "component_figures"},
        target="rankings", section="Rankings", made_by="rankings", settings=("ranking", "summary"),
        values={"figure": {"pca": "of all models", "pca-family": "of one family",
                           "pc1-compute": "the first against compute", "pc1-scores": "the first by model"}},
        shown=(Shown("principal components of all models", _PAPER, "Fig. 6", {"figure": "pca"}),
               Shown("first component against compute", _PAPER, "Fig. 7", {"figure": "pc1-compute"}),
               Shown("principal components of one family", _PAPER, "Fig. 8", {"figure": "pca-family"}),
               Shown("first component by model", _PAPER, "Fig. 11", {"figure": "pc1-scores"})),
        caption="""
        Principal components of the scores, models by tasks, with each task standardised.

        pca shows the share of variance that each component explains, pca-family the same for one family
        of models. A first share near 1 means that a single number for each model says nearly all that the
        tasks say. pc1-scores shows this number by model, pc1-compute against training compute (6 x
        parameters x tokens) where both are known. Chat models are hollow.

        Whiskers are 95 % intervals from a bootstrap over models; with few models they are too narrow.""",
    ),
    Figure(
        "ranking-forecast", "Forecast", "ranking.forecast", "ranking_agreement.draw_forecast_figure",
        reads=_name_tables("forecast"), of={"": "forecasts"}, target="rankings", section="Rankings",
        made_by="rankings",
        shown=(Shown("agreement by number of models"),),
        caption="""
        How many models a comparison needs: samples of each size are drawn from the models of the table,
        without replacement. Left: the change of mean tau that they find; the band holds 95 % of them.
        Right: the share whose interval leaves out 0. The last point is the whole table. Only pairs of
        benchmarks with a tau in both conditions count; column pairs of the CSV says how many.""",
    ),
    Figure(
        "ranking-preparation", "Preparation", "ranking.preparation",
        "ranking_agreement.draw_preparations_figure",
        reads=_name_tables("preparation"), of={"": "preparations"}, target="rankings", section="Rankings",
        made_by="rankings",
        shown=(Shown("agreement by preparation"),),
        caption="""
        How much preparation is enough: mean tau-b of two benchmarks after fewer training examples (left)
        and fewer epochs (right).

        0 is no preparation, all the whole training part. A preparation suffices where it comes as high as
        the whole one. Whiskers are 95 % intervals from a bootstrap over models; numbers are the pairs of
        benchmarks that have a tau.""",
    ),
)  # fmt: skip


_PRESET = "raw-corpora-choices"
_ARXIV = "about papers of arXiv, not the staff and courses of a university"
_FEWER = "a higher t_d asks fewer questions, as Eq. 8 says, not more"

QUESTION_FIGURES = (
    Figure(
        "coverage", "Coverage of the domain", "{domain}.coverage.{variant}", "coverage_figures.draw_figure",
        reads={"map": paths.COVERAGE_MAP}, of={"domain variant": "benchmarks"}, target="coverage",
        section="Benchmark", made_by="coverage", settings=("title", "references"),
        shown=(Shown("map of a domain and of the pairs about it, where they leave gaps"),),
        caption="""
        The sentences of {domain} and the pairs of its benchmark, by the first two principal components of
        their embeddings. A map of two dimensions shows a small part of what there is in hundreds: gaps
        are found in the whole space.

        A sentence is covered where the pairs are at least as dense as the domain, by a Gaussian kernel;
        elsewhere there is a gap. Gaps are large if their difference lies above the percentile
        coverage.gap_percentile of all differences.

        Coverage, correlation and redundancy are in coverage.json beside the pairs.""",
    ),
    Figure(
        "benchmarks", "Benchmarks on one map", "{domain}.benchmarks",
        "coverage_figures.draw_benchmarks_figure",
        reads={}, reads_each=paths.COVERAGE_MAP, of={"domain": "domains"}, target="coverage",
        section="Benchmark", made_by="coverage", settings=("title", "references"),
        shown=(Shown("pairs of a run's benchmarks, references among them, on one map of their domain"),),
        caption="""
        The pairs of the benchmarks of {domain} on one map of its sentences, a panel for each benchmark and
        one for all of them; reference benchmarks have the names that the configuration gives them. Axes
        are the first two principal components of the sentences' embeddings, the same in every panel. A
        benchmark is comprehensive where its pairs reach all sentences, and compact
        where they do not crowd [CompComp].

        Coverage, correlation and redundancy are in coverage.json beside the pairs of each.""",
    ),
    Figure(
        "others", "Benchmarks of others", "{domain}.others", "coverage_figures.draw_others_figure",
        reads={"map": paths.OTHERS_MAP}, of={"domain": "other_domains"}, target="coverage",
        section="Benchmark", made_by="coverage, with `coverage.others`", settings=("title",),
        shown=(Shown("benchmarks that others made on one map of their domain", "CompComp", "Fig. 1b",
                     differs="your copies of the benchmarks; the paper names four of its five"),),
        caption="""
        The questions of benchmarks that others made about {domain}, all on one map of its sentences; in
        brackets, how many questions each has. Small benchmarks are drawn over large ones. Places are the
        first two principal components of the embeddings of the domain's sentences. A benchmark is
        comprehensive where its questions reach all sentences, and compact where they do not crowd.

        Coverage, correlation and redundancy of each are in {domain}/coverage/others.json.""",
    ),
    Figure(
        "expansion", "Expansion of the corpus", "{domain}.expansion", "coverage_figures.draw_figure",
        reads={"map": paths.EXPANSION_MAP}, of={"domain": "expanded_domains"}, target="coverage",
        section="Corpus", made_by="coverage, with `coverage.expand`", settings=("title",),
        shown=(Shown("a corpus that grows where it has gaps, round by round"),),
        caption="""
        A corpus that grows from the documents of {domain}, round by round: documents join if their
        density correlates with that of the corpus less than coverage.max_correlation, at sentences of
        other documents. It is finished when nothing joins any more, or no gap is left. Places are the
        first two principal components of the sentences' embeddings.

        {domain}/coverage/expansion.parquet lists the documents, and expansion.json says how large the
        corpus is after each round, how much of the domain it covers and how much of it is said twice.""",
    ),
    Figure(
        "expansions", "Expansions of all corpora", "expansions", "coverage_figures.draw_expansions_figure",
        reads={}, reads_each=paths.EXPANSION_MAP, each="expanded_domains", of={"": "expanded_domains"},
        target="coverage", section="Corpus", made_by="coverage, with `coverage.expand`", settings=("titles",),
        shown=(Shown("corpora of all expanded domains, as they grow into gaps", "CompComp", "Fig. 3",
                     differs="one field of arXiv, not ten departments of a university"),),
        caption="""
        How the corpora of all expanded domains grow: a column for each domain; from above, what its first
        round added, what the second did, and all rounds after it. Numbers are the share of the sentences
        shown that the corpus then holds. Places are the first two principal components of the embeddings
        of a domain's sentences, so they say nothing about other domains.

        The figure of a single domain shows each of its rounds, and explains what joins.""",
    ),
    Figure(
        "thresholds", "Corpora by threshold", "{domain}.thresholds",
        "coverage_figures.draw_thresholds_figure",
        reads={"thresholds": paths.THRESHOLDS}, of={"domain": "varied_domains"}, target="coverage",
        section="Corpus", made_by="coverage, with `coverage.ablation`", settings=("title",),
        shown=(Shown("sizes by t_c", "CompComp", "Table 4", differs=_ARXIV),),
        caption="""
        The effect of t_c on a corpus of {domain}: how much of the domain an expansion keeps with each
        threshold, how much of it that covers, at sentences where no document was compared, and how much
        is said twice. Dashed lines of coverage and redundancy: as many sentences of documents drawn at
        random, the mean of five draws.""",
    ),
    Figure(
        "questions", "Map of questions", "{set}.questions",
        "coverage_figures.draw_figure", reads={"map": paths.PERCENTILE_MAP},
        of={"set": "varied_sets"}, target="questions", section="Questions", made_by="courses",
        shown=(Shown("questions, by t_d", "CompComp", "Fig. 4", differs=f"{_ARXIV}; {_FEWER}"),),
        caption="""
        Records and questions of {set}, for each t_d: the share of differences of log-densities above
        which a gap is large. Questions of the first round are about all records, later ones about records
        that were large gaps. Places are the first two principal components of the records' embeddings.

        questions/{set}/percentiles.csv says how many questions each t_d gives, and what gaps are left.""",
    ),
    Figure(
        "question-examples", "Examples of questions", "{set}.examples", "answer_figures.draw_examples_figure",
        reads={"questions": paths.QUESTIONS}, of={"set": "question_sets"}, target="questions",
        section="Questions", made_by="courses",
        shown=(Shown("a question of each form and level", "CompComp", "Fig. 5", differs=_ARXIV),),
        caption="""
        A question of each form and level of {set}, the first by its id: options, or the answer to an open
        question. Right answers are bold and have a star. Beside them: the number of questions of this form
        and level.

        `fathom questions` prints more of them; all are in questions/{set}/questions.parquet.""",
    ),
    Figure(
        "answers", "Answers to questions", "{set}.{figure}", "answer_figures.draw_answers_figure",
        reads={"scores": paths.QUESTION_SCORES}, of={"set": "answered_sets"}, target="questions",
        section="Questions", made_by="courses", settings=("bases", "summary", "titles"),
        values={"figure": {"scores": "scores by form and level", "radar": "radar charts"}},
        shown=(Shown("radar charts, frozen and trained models", "CompComp", "Fig. 6", {"figure": "radar"},
                     differs=_ARXIV),
               Shown("scores by form and prompting", "CompComp", "Tables 3, 5, 6", {"figure": "scores"},
                     differs=f"{_ARXIV}; GPT-3.5 and GPT-4 only with a key of yours")),
        caption="""
        How models answer the questions of {set}, by prompting: the question alone, after answered
        questions, and after the nearest records. In panels by form and level: accuracy, the mean F1 of
        the options, or BLEU-4, with 95 % intervals from a bootstrap over questions; dotted: chance. In
        radar charts, the columns of the paper's Table 3; dashed: trained. Trained models have learned from
        records and questions; the table beside the figure has their whole names.

        All scores are in question-scores.csv, paired differences in question-differences.csv.""",
    ),
    Figure(
        "answers-by-threshold", "Answers by threshold", "{set}.answers-by-threshold",
        "answer_figures.draw_thresholds_figure",
        reads={"scores": paths.QUESTION_THRESHOLDS}, of={"set": "threshold_sets"}, target="questions",
        section="Questions", made_by="courses", settings=("bases", "summary", "titles"),
        shown=(Shown("scores by t_d and t_c", "CompComp", "Table 4",
                     differs=f"{_ARXIV}; {_FEWER}; not without t_d"),),
        caption="""
        How the scores of models depend on both thresholds, each question asked after the records nearest
        to it. t_d: the set of questions that rounds with this threshold ask, without those that anyone
        was shown. t_c: the same questions, with records from a corpus that was gathered with this
        threshold; none: from all records. Below each threshold is how many questions or records there
        are. Intervals are 95 % intervals from a bootstrap over questions.

        All scores are in question-thresholds.csv.""",
    ),
    Figure(
        "choices", "Multiple choice", "choices.{factor}.{way}", "answer_figures.draw_choices_figure",
        reads={"accuracy": paths.CHOICES.of(table="accuracy")}, of={"factor way": "varied_choices"},
        target="choices", section="Multiple choice", made_by="choices, choices-demo",
        settings=("summary", "subjects"),
        values={"factor": {"examples": "order of options in the examples",
                           "options": "order of options in the questions", "styles": "styles of the prompt",
                           "orders": "orders of the options"},
                "way": {"letter": "by letter", "text": "by text"}},
        shown=(Shown("accuracy on multiple-choice questions by the order of options", "RawCorpora",
                     "Fig. 3, left", {"factor": "orders", "way": "letter"}, preset=_PRESET),
               Shown("multiple choice by the examples", "RawCorpora", "Fig. 11",
                     {"factor": "examples", "way": "letter"}, preset=_PRESET),
               Shown("multiple choice by the options", "RawCorpora", "Fig. 12",
                     {"factor": "options", "way": "letter"}, preset=_PRESET),
               Shown("multiple choice by the style of the prompt", "RawCorpora", "Fig. 13",
                     {"factor": "styles", "way": "letter"}, preset=_PRESET,
                     differs="styles in wording of our own; the paper's only from a file of yours"
                     " (`choices.styles`)")),
        caption="""
        Accuracy on multiple-choice questions, and its change from the baseline in black, by how they were
        asked.

        Each column is a model, each mark a variation, the whisker its interval: below, that of the paired
        bootstrap over questions. There a change is a share of the baseline's accuracy, and is left
        out where that is 0. Dashed lines are guessing, and no change. In the figure of orders
        each line is a model: where lines cross, the ranking of models depends on the order of the
        options.""",
    ),
)  # fmt: skip


CATALOGUE = {
    each.name: each for each in (*MODEL_FIGURES, *STUDY_FIGURES, *QUESTION_FIGURES, *RANKING_FIGURES)
}
"""Kinds of figures by name, in the order of the page."""


def find_figure(stem: str) -> tuple[Figure, dict[str, str]] | None:
    """Return the kind of a figure and the parts of its file's name, without its ending; None if unknown."""
    for figure in CATALOGUE.values():
        parts = figure.match(stem)
        if parts is not None:
            return figure, parts
    return None
