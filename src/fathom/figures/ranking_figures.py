"""Entries of the catalogue: agreement of rankings."""

from fathom.figures.entry import Figure, Shown
from fathom.io import paths
from fathom.io.run_path import RunPath

_PAPER = "TrainBeforeTest"


def _name_tables(*names: str) -> dict[str, RunPath]:
    return {name: paths.RANKING.of(table=name) for name in ("models", "benchmarks", *names)}


RANKING_FIGURES = (
    Figure(
        "ranking-alignment", "Aligned rankings", "ranking.alignment", "ranking_alignment",
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
        "ranking-means", "Agreement of benchmarks", "ranking.{figure}", "ranking_agreement",
        reads=_name_tables("means", "categories"), of={"": "rankings"}, target="rankings",
        section="Rankings", made_by="rankings",
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
        How far benchmarks order the models alike.

        Kendall's tau-b is 1 where two benchmarks order all models alike, 0 where they are unrelated, and
        negative where they disagree. mean-tau shows the mean of each benchmark with all others,
        categories the means over pairs of benchmarks within and between categories. Names that end in
        significant treat two models as tied unless their difference is significant at 95 %: by a paired
        test where single examples were scored, otherwise by both standard errors.

        Whiskers are 95 % intervals from a bootstrap over models; those of categories are in the CSV beside
        the figure.""",
    ),
    Figure(
        "ranking-tau", "Every two benchmarks", "ranking.{statistic}.{condition}", "ranking_agreement",
        reads=_name_tables("pairwise", "agreement", "means"), of={"condition": "conditions"},
        target="rankings", section="Rankings", made_by="rankings",
        values={"statistic": {"tau": "tau", "tau-significant": "tau of significant differences"}},
        shown=(Shown("every two benchmarks", _PAPER, "Figs. 9, 10", {"statistic": "tau"}),
               Shown("as Figs. 9, 10, of significant differences", _PAPER, "Figs. 14, 15",
                     {"statistic": "tau-significant"})),
        caption="""
        How far every two benchmarks order the models alike in one condition: {condition}.

        Kendall's tau-b is 1 where two benchmarks order all models alike, 0 where they are unrelated, and
        negative where they disagree. tau-significant treats two models as tied unless their difference is
        significant at 95 %: by a paired test where single examples were scored, otherwise by both
        standard errors. The title has the mean over all pairs of benchmarks, and in brackets its 95 %
        interval from a bootstrap over models.""",
    ),
    Figure(
        "ranking-perplexity", "Perplexity and tasks", "ranking.{figure}", "ranking_perplexity",
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
        "ranking-components", "Principal components", "ranking.{figure}", "ranking_components",
        reads=_name_tables("pca", "pc1", "agreement", "means"), of={"figure": "component_figures"},
        target="rankings", section="Rankings", made_by="rankings", settings=("ranking",),
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
        "ranking-forecast", "Forecast", "ranking.forecast", "ranking_forecast",
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
        "ranking-preparation", "Preparation", "ranking.preparation", "ranking_preparation",
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
