"""Entries of the catalogue: models over their training, continual pretraining, controls, claims."""

from fathom.figures.entry import Figure, Shown
from fathom.io import paths
from fathom.statistics.aggregates import STATISTICS

_STATISTICS = {each.name: each.label for each in STATISTICS.values()}
_FOLLOW = "follow, following-demo; OLMo-2: hub"
_CONTINUAL = "follow, continual-demo"
_PATHS = "follow, figures-demo"
_STAGES = "twelve domains of our own choice: only the paper's picture names its own"

STUDY_FIGURES = (
    Figure(
        "following", "Over training", "{domain}.following.{track}", "following",
        reads={"following": paths.FOLLOWING}, of={"domain": "domains", "track": "tracks"}, target="follow",
        section="Models", made_by=_FOLLOW, settings=("summary", "title"),
        shown=(Shown("one training, or list of checkpoints, by every metric"),),
        caption="""
        A model over its training, measured on {domain} at every checkpoint.

        Each panel is a metric. A path that was trained here has one axis of steps across its stages; a
        vertical line marks where a stage ends and the next domain begins, and at 0 is the model that it
        started from. Models from elsewhere are drawn over the tokens that they have seen. Low is best for
        ranks, perplexity and bits per byte; high is best for probabilities and the attribute rate.

        Bands are intervals from a bootstrap over keywords, or over documents for perplexity and bits per
        byte. Where a path was trained with several seeds, the thick line is their mean, its band counts
        the seeds too, and each seed has a thin line. Checkpoints are in no other table or figure of the
        run.""",
    ),
    Figure(
        "checkpoints", "Checkpoints of others", "{domain}.checkpoints.{statistic}", "checkpoints",
        reads={"following": paths.FOLLOWING}, of={"domain": "followed_domains"}, target="follow",
        section="Models", made_by="hub", settings=("summary", "title", "members"),
        values={"statistic": _STATISTICS},
        shown=(
            Shown("checkpoints of OLMo-2, the first 50 and equally spaced ones: ranks and probabilities",
                  "RawCorpora", "Figs. 5, 16", {"statistic": "trimmed_mean"}),
            Shown("checkpoints of OLMo-2, the first 50 and equally spaced ones: ranks and probabilities",
                  "BeyondBenchmarks", "Figs. 6, 15", {"statistic": "median"})),
        caption="""
        Checkpoints of models from elsewhere, measured on {domain}.

        Each column is a list of models.follow. Its models stand at equal distances in the order of the
        list, whatever number of tokens they have seen, so that checkpoints with as many tokens stay apart.
        Above are ranks of the target, where low is best; below its probabilities, where high is best.

        Bands are intervals from a bootstrap over keywords.""",
    ),
    Figure(
        "paths", "Paths of adaptation", "{domain}.paths.{base}.{statistic}", "paths",
        reads={"following": paths.FOLLOWING}, of={"domain": "domains", "base": "path_families"},
        target="follow", section="Models", made_by=_PATHS, settings=("summary", "title", "titles", "members"),
        values={"statistic": _STATISTICS}, unreferenced="no panel of its rank",
        shown=(Shown("paths of adaptation over steps on the last domain", "RawCorpora", "Fig. 9",
                     {"statistic": "trimmed_mean"}),
               Shown("paths of adaptation over steps on the last domain", "BeyondBenchmarks", "Fig. 5",
                     {"statistic": "median"})),
        caption="""
        Paths of adaptation from one base over each other, measured on {domain} at every checkpoint.

        Each panel is a metric, each line a path, named by its beginning and its end. Steps are counted on
        the last domain: a path of two domains begins where the model adapted to the first one stands.
        Dotted lines are the base and, where a path goes from it to {domain} alone, the end of that path.
        Lines are means over seeds where there are several; bands are intervals over keywords or
        documents, and over seeds.""",
    ),
    Figure(
        "order", "Domains by similarity", "order.{study}", "domain_order", reads={"order": paths.ORDER},
        of={"study": "orders"}, target="order", section="Models", made_by=_CONTINUAL,
        shown=(Shown("domains by similarity to the evaluation domain"),),
        caption="""
        Domains by similarity to the evaluation domain of the study {study}: the cosine of the mean
        embeddings of their abstracts.

        Filled points are trained on, in the order of their numbers: the least similar first. They lie at
        even distances in the order of all domains, unless the configuration gives another order.""",
    ),
    Figure(
        "stages", "Stages of training", "stages.{track}.{kind}", "stages",
        reads={"following": paths.FOLLOWING, "order": paths.ORDER, "relations": paths.RELATIONS},
        of={"track": "stage_tracks"}, target="follow", section="Models", made_by=_CONTINUAL,
        settings=("summary", "title"), unreferenced="metrics are held against similarity",
        values={"kind": {"trimmed-mean": "trimmed mean", "geometric-mean": "geometric mean", "mean": "mean",
                         "median": "median", "trimmed-mean-probability": "trimmed mean probability",
                         "mean-probability": "mean probability", "median-probability": "median probability",
                         "log-probability": "log-probability"}},
        shown=(Shown("continual pretraining by five metrics after each stage, each against the reference",
                     "RawCorpora", "Fig. 6", {"kind": "trimmed-mean"}, differs=_STAGES),
               Shown("as Fig. 6, with trimmed means of the target's probability", "RawCorpora", "Fig. 17",
                     {"kind": "trimmed-mean-probability"}, differs=_STAGES),
               Shown("as Fig. 6, with plain means", "RawCorpora", "Fig. 18", {"kind": "mean"},
                     differs=_STAGES),
               Shown("as Fig. 17, with plain means", "RawCorpora", "Fig. 19", {"kind": "mean-probability"},
                     differs=_STAGES),
               Shown("one model on many domains in turn, extrema marked", "BeyondBenchmarks",
                     "Fig. 4", {"kind": "median"}, preset="beyond-benchmarks-continual",
                     differs="150 categories of arXiv in an order of our own, not M2D2's 165 domains, of"
                     " which the paper gives neither names nor order"),
               Shown("metrics after stages, by median probability of the targets",
                     values={"kind": "median-probability"}),
               Shown("metrics after stages, by log-probability of the targets",
                     values={"kind": "log-probability"}),
               Shown("metrics after stages, with geometric means", values={"kind": "geometric-mean"})),
        caption="""
        Continual pretraining {track}, measured on its evaluation domain after each stage.

        Left: each metric over the stages. The colour of a point is the similarity of the stage's domain
        to that domain; triangles are minima (pointing down) and maxima (pointing up). The dotted line is
        the model that the training starts from. Right: the same metric against the rank on the reference
        benchmark, or, without one, against similarity. Low is best for ranks, perplexity and bits per
        byte.

        Bands are intervals of the metric. Above each panel stand its correlation with similarity, and how
        much more similar the domains at minima are than those at maxima. Correlations are over stages,
        which follow each other in one training: their intervals are narrower than they should be.""",
    ),
    Figure(
        "controls", "Knowledge or style", "{domain}.controls", "controls",
        reads={"controls": paths.CONTROLS, "contrasts": paths.CONTROL_CONTRASTS},
        of={"domain": "controlled_domains"}, target="follow", section="Models",
        made_by="follow with `config/controls-demo.yaml`", settings=("summary", "title"),
        shown=(Shown("knowledge or style"),),
        caption="""
        What a model gains from a domain's text, and from controls of it, by every metric.

        A metric of knowledge puts text as it is and sentences with terms ahead of terms exchanged (the
        style stays, the knowledge goes) and of other domains. Below each panel is in how many of these
        comparisons the paired difference says so, and in how many it says the opposite: significantly, all
        of a metric together. Right is better in every panel; the vertical line is the base. Intervals hold
        for one number, over items and seeds.""",
    ),
    Figure(
        "claims", "The papers' claims", "{domain}.claims", "claims",
        reads={"claims": paths.CLAIMS, "correlations": paths.CLAIM_CORRELATIONS},
        of={"domain": "claimed_domains"}, target="follow", section="Models",
        made_by="follow with `config/claims-demo.yaml`", settings=("summary", "title"),
        shown=(Shown("the papers' claims, one by one"),),
        caption="""
        Left: how each metric goes with the rank on references, over all adapted models and their base; 1
        if both order them alike. Right: the papers' claims. Points right of the vertical line are as
        claimed. Intervals hold for one claim; a verdict is significant, all claims together.

        The claims are in a CSV file beside the figure, with what each number is.""",
    ),
)  # fmt: skip
