"""Entries of the catalogue: scored models, by rank, metric, size and layer, and over their training."""

from fathom.figures.entry import Figure, Shown
from fathom.io import paths
from fathom.statistics.aggregates import STATISTICS

_STATISTICS = {each.name: each.label for each in STATISTICS.values()}
_LAYERS = "beyond-benchmarks-layers"
_FIGURES = "compare, figures-demo"
_BY_METRIC = """
    Models on {domain} by several metrics.

    Top: each metric by model, with intervals over keywords or documents; low is best but for the attribute
    rate. Bottom: each metric against the first one, which is the reference where the configuration has one
    and the TF rank otherwise; Pearson's correlation over models, its p-value, and its interval from a
    bootstrap over models. A handful of models says little: read the interval.

    There is a figure for each way to sum up the ranks: trimmed mean, geometric mean, mean, median.
"""
_AGAINST_TF = "metrics are held against the TF rank"
_FIVE = """
    The metrics are the rank on a reference, if there is one, on TF and on TF-IDF, perplexity, and the
    attribute rate.
"""
_IN_ORDER = "Models stand in the order of the configuration."

MODEL_FIGURES = (
    Figure(
        "knowledge", "Models by knowledge", "{domain}.knowledge", "knowledge.draw_figure",
        reads={"summary": paths.SUMMARY, "pairs": paths.PAIRS.of(variant="tf")},
        of={"domain": "led_domains"}, target="compare", section="Models", made_by="figures",
        settings=("summary", "title", "titles", "references"),
        shown=(Shown("what models know, in bits"),),
        caption="""
        Models on {domain}, best at the top.

        Each row is a model. The mark is how many bits a prompt tells it of the word that the author
        wrote, among the benchmark's other words, the whisker its interval over keywords. At 0 the prompt
        tells it nothing; at the ceiling, that of the TF benchmark, it is always sure. Filled circles are the
        TF benchmark, open squares TF-IDF, filled triangles a reference benchmark. Models are ordered by TF.
        Names are shortened; the table beside the figure has the whole ones.""",
    ),
    Figure(
        "fluency", "Knowledge and fluency", "{domain}.fluency", "knowledge.draw_fluency_figure",
        reads={"summary": paths.SUMMARY}, of={"domain": "led_domains"}, target="compare", section="Models",
        made_by="figures", settings=("summary", "title", "titles"),
        shown=(Shown("what models know, against how fluent they are"),),
        caption="""
        What models know of {domain}, and how fluent they are in it.

        Each point is a model: its bits on the TF benchmark, upwards, against bits per byte of held-out text,
        fewer to the right; whiskers are intervals. The best model stands at the top right. One at the
        bottom right sounds like the field and does not know its words. A hollow point shows no knowledge:
        its interval holds 0. A colour and a thin line join what was adapted to the model that it comes from.
        Names are shortened; the table beside the figure has the whole ones.""",
    ),
    Figure(
        "model-ranks", "Models by rank", "{domain}.model-ranks", "model_ranks.draw_figure",
        reads={"summary": paths.SUMMARY}, of={"domain": "domains"}, target="compare", section="Models",
        made_by="figures", settings=("summary", "title", "titles", "references"),
        shown=(Shown("the ranking, and TF against TF-IDF"),),
        caption="""
        Models on {domain}, best at the top.

        Top: each row is a model. The mark is the trimmed mean of the target's rank over all pairs of a
        benchmark, the whisker its interval. Lower is better: at rank 1 the true word is the model's first
        guess. Filled circles are the TF benchmark, open squares TF-IDF, filled triangles a reference
        benchmark. Models are ordered by TF rank. The axis is logarithmic where the largest rank is more
        than 20 times the smallest. Below, with the models in the same order: the geometric mean of the
        same ranks.

        Bottom: each point is a model: its TF rank against its TF-IDF rank, with the least-squares line;
        the title gives Pearson's r and its p-value. An r near 1 means that the two benchmarks order the
        models alike. With few models p means little; with fewer than three there is no correlation. A
        reference benchmark adds a panel of TF rank against reference rank; its title also gives the
        correlation of TF-IDF with the reference.

        Intervals come from a bootstrap over keywords, because pairs of one keyword are not independent.
        Models with overlapping intervals need not be equally good: all models are scored on the same
        pairs, so a difference between two of them is known more precisely than either rank. Compare ranks
        with care where vocabularies differ in size, or where a tokenizer splits targets into more tokens.""",
    ),
    Figure(
        "metrics", "By metric", "{domain}.metrics.{group}.{statistic}", "metric_agreement.draw_figure",
        reads={"summary": paths.SUMMARY}, of={"domain": "domains", "group": "groups"}, target="compare",
        section="Models", made_by="figures", settings=("summary", "title", "titles", "members", "references"),
        values={"statistic": _STATISTICS, "group": {"base": "base", "chat": "chat", "all": "all"}},
        unreferenced=_AGAINST_TF,
        shown=(Shown("base models by five metrics, each against the reference", "RawCorpora", "Fig. 20",
                     {"group": "base", "statistic": "trimmed_mean"}, _FIGURES),
               Shown("chat models by five metrics, with each way to sum up ranks", values={"group": "chat"},
                     made_by="hub"),
               Shown("eight base models by five metrics with medians", "BeyondBenchmarks", "Figs. 7, 18",
                     {"group": "base", "statistic": "median"}, _FIGURES),
               Shown("below: each of these metrics against the reference", "BeyondBenchmarks", "Figs. 8, 19",
                     {"group": "base", "statistic": "median"}, _FIGURES),
               Shown("as Figs. 7, 18, with plain means", "BeyondBenchmarks", "Figs. 16, 20",
                     {"group": "base", "statistic": "mean"}, _FIGURES),
               Shown("as Figs. 8, 19, with plain means", "BeyondBenchmarks", "Figs. 17, 21",
                     {"group": "base", "statistic": "mean"}, _FIGURES),
               Shown("all models by five metrics, with each way to sum up ranks", values={"group": "all"})),
        caption=_BY_METRIC + _FIVE + f"    {_IN_ORDER}" + """
        Of the groups, base has models as they come from their training, chat those tuned for chat, and all
        has both, and models adapted here.""",
    ),
    Figure(
        "base-and-chat", "Base and chat models", "{domain}.base-and-chat.{statistic}",
        "metric_agreement.draw_sides_figure",
        reads={"summary": paths.SUMMARY}, of={"domain": "paired_domains"}, target="compare",
        section="Models", made_by="hub", settings=("summary", "title", "titles", "chat_pairs", "references"),
        values={"statistic": _STATISTICS}, unreferenced=_AGAINST_TF,
        shown=(Shown("base models left, chat models right: ranks, each against the reference", "RawCorpora",
                     "Figs. 7, 21, 23", {"statistic": "trimmed_mean"}),
               Shown("as Figs. 7, 21, 23, on CS.AI", "RawCorpora", "Fig. 22", {"statistic": "trimmed_mean"})),
        caption="""
        Base models on {domain} left, the chat models that were made from them right, in the same order.

        Top: ranks on the reference, if there is one, on TF and on TF-IDF, with intervals over keywords; low
        is best. Bottom: each rank against the first one, with Pearson's correlation over models, its
        p-value, and its interval from a bootstrap over models. A handful of models says little: read the
        interval.""",
    ),
    Figure(
        "adapted", "Adapted models", "{domain}.adapted.{base}.{statistic}", "metric_agreement.draw_figure",
        reads={"summary": paths.SUMMARY}, of={"domain": "domains", "base": "families"}, target="figures",
        section="Models", made_by="figures",
        settings=("summary", "title", "titles", "members", "references"),
        values={"statistic": _STATISTICS}, unreferenced=_AGAINST_TF,
        shown=(Shown("Llama-2-7B and what was adapted from it by five metrics, each against the reference",
                     "RawCorpora", "Fig. 4", {"statistic": "trimmed_mean"}),
               Shown("as Fig. 4, of GPT-2 XL", "RawCorpora", "Fig. 8", {"statistic": "trimmed_mean"}),
               Shown("as Fig. 8, with plain means", "RawCorpora", "Fig. 10", {"statistic": "mean"}),
               Shown("adapted models by five metrics with medians", "BeyondBenchmarks", "Fig. 2",
                     {"statistic": "median"}),
               Shown("below: each of these metrics against the reference", "BeyondBenchmarks", "Fig. 3 left",
                     {"statistic": "median"}),
               Shown("as Fig. 2, with plain means", "BeyondBenchmarks", "Fig. 13", {"statistic": "mean"}),
               Shown("as Fig. 3 left, with plain means", "BeyondBenchmarks", "Fig. 14",
                     {"statistic": "mean"}),
               Shown("adapted models with geometric means", values={"statistic": "geometric_mean"})),
        caption=_BY_METRIC + _FIVE + """
        The models are {base} and what was adapted from it, by nearness to the domain: what was trained on
        it, then on near domains (claims.near), what came there from far ones, the base, what ended in far
        ones.""",
    ),
    Figure(
        "references", "References", "{domain}.references.{group}.{statistic}", "metric_agreement.draw_figure",
        reads={"summary": paths.SUMMARY, "references": paths.REFERENCES},
        of={"domain": "referenced_domains", "group": "reference_groups"}, target="compare", section="Models",
        made_by=_FIGURES, settings=("summary", "title", "titles", "members", "references"),
        unreferenced="not drawn without two of one domain",
        values={"statistic": _STATISTICS,
                "group": {"base": "base", "chat": "chat", "all": "all", "paired": "with a chat model"}},
        shown=(Shown("base models by several references, TF and TF-IDF rank, and their correlations",
                     "RawCorpora", "Fig. 3, right", {"group": "paired", "statistic": "trimmed_mean"}, "hub"),
               Shown("the same of all base models", values={"group": "base"})),
        caption=f"{_BY_METRIC}The metrics are ranks: on several references, on TF and on TF-IDF. {_IN_ORDER}"
        " Paired are base models whose chat models are scored, too.",
    ),
    Figure(
        "chat-models", "Chat models less their bases", "chat-models", "chat_models.draw_figure",
        reads={"comparisons": paths.COMPARISONS}, of={"": "chat_pairs"}, target="compare", section="Models",
        made_by="hub", settings=("summary", "titles", "chat_pairs", "references"),
        shown=(Shown("chat models less their bases, TF left, TF-IDF right", "RawCorpora", "Fig. 24"),),
        caption="""
        What alignment costs: the rank of each chat model less that of the model that it was made from.

        Each panel is a benchmark, each column a pair of models, each mark a domain. Above 0 the chat model
        knows the domain's words less well than its base, below 0 better. The mark is the difference of
        trimmed means on the same pairs, the whisker the interval of the paired bootstrap over keywords, for
        each pair of models alone. Which differ significantly if all are compared: column apart. NAME@chat
        is a chat model inside its template.""",
    ),
    Figure(
        "sizes", "By size", "{domain}.sizes", "sizes.draw_figure", reads={"summary": paths.SUMMARY},
        of={"domain": "sized_domains"}, target="compare", section="Models", made_by="figures",
        settings=("summary", "title", "titles", "sizes"),
        shown=(Shown("ranks over parameters and tokens"),),
        caption="""
        Models on {domain} by size: the rank of the target over a model's parameters, and over the tokens
        that it was trained on where they are known. Low is best.

        The colour and marker are the family's; chat models are hollow; the whisker is the interval. A
        model low on the left gives most for its size. Models of unknown size are left out. Parameters and
        tokens come from the table of models, or from how a model was trained here.""",
    ),
    Figure(
        "dates", "Before and after the end of the training text", "{domain}.dates",
        "model_ranks.draw_dates_figure",
        reads={"dates": paths.DATES}, of={"domain": "dated_domains"}, target="compare", section="Models",
        made_by="compare, models whose cut-off is known, dated documents",
        settings=("summary", "title", "titles"),
        shown=(Shown("ranks before and after the end of the training text"),),
        caption="""
        Ranks on documents from before and after the last day of each model's training text, as the table
        of models gives it.

        A model can have read the documents up to that day, but not the later ones. A rank that is much
        worse on later documents than that of models whose text reaches further is a sign that the model
        remembers rather than knows. Later documents may be harder for every model: compare models, not
        the two marks of one. Marks are trimmed means on the TF benchmark, whiskers intervals; the two
        parts hold different pairs. Pairs without a date are left out; the log counts them.""",
    ),
    Figure(
        "targets", "Best and worst targets", "{domain}.targets.{model}", "study_figures.draw_targets_figure",
        reads={"targets": paths.TARGET_CHANGES, "groups": paths.TARGET_GROUPS},
        of={"domain": "domains", "model": "compared_models"}, target="figures", section="Models",
        made_by="figures", settings=("summary", "title", "titles", "references", "share"),
        shown=(Shown("nearness of the best and the worst quarter of the targets to the domain", "RawCorpora",
                     "Fig. 15"),
               Shown("as Fig. 15 of RawCorpora", "BeyondBenchmarks", "Fig. 3 right")),
        caption="""
        Which targets a model predicts better than the model that it comes from, and how near these are to
        the domain's name.

        Pairs with one target are averaged. The score of a target is its mean gain in probability and in
        rank, each in standard deviations over targets, times the logarithm of its frequency. Top and
        bottom are the quarters with the best and the worst score (targets.share). A model that has
        learned the domain should have gained on targets that are near to its name: the left violin lies
        higher. One that was adapted to something else should not.

        The interval of Cohen's d is the wider one of two bootstraps, over targets and over keywords. The t
        test takes all targets for independent, and is given because the paper gives it.""",
    ),
    Figure(
        "layers", "Layers", "{domain}.layers.{model}.{figure}", "layer_figures.draw_figure",
        reads={"summary": paths.LAYERS, "changes": paths.LAYER_CHANGES, "rates": paths.LAYER_RATES},
        of={"domain": "domains", "model": "layer_families"}, target="layers", section="Layers",
        made_by="layers", settings=("layers", "summary", "title", "titles", "members"),
        values={"figure": {"norm": "with and without the final norm",
                           "sums": "probability inside and outside the list",
                           "variations": "sizes of both lists",
                           "rates": "attribute rates, changed by adaptation",
                           "targets": "targets, changed by adaptation", "keywords": "by keyword",
                           "lens": "lenses"}},
        shown=(Shown("attributes by layer with and without the final norm", "BeyondBenchmarks", "Fig. 9",
                     {"figure": "norm"}, preset=_LAYERS),
               Shown("probability inside and outside the token list", "BeyondBenchmarks", "Fig. 10",
                     {"figure": "sums"}, preset=_LAYERS),
               Shown("attribute rate and probability, changed by adaptation", "BeyondBenchmarks",
                     "Figs. 11, 23", {"figure": "rates"}, preset=_LAYERS),
               Shown("rank and probability of the target, changed by adaptation", "BeyondBenchmarks",
                     "Figs. 12, 24", {"figure": "targets"}, preset=_LAYERS),
               Shown("attribute rate by sizes of both lists", "BeyondBenchmarks", "Fig. 22",
                     {"figure": "variations"}, preset=_LAYERS,
                     differs="sizes of our own: only the paper's picture says which it has"),
               Shown("attribute rate by keyword and layer", values={"figure": "keywords"}),
               Shown("plain and tuned lens", values={"figure": "lens"})),
        caption="""
        Hidden states of every layer on {domain}, projected through the model's own output layer: what the
        model would predict if it stopped there. Layer 0 is the output of the embedding; the last layer is
        the model's prediction.

        After each keyword, the most likely content words are compared with the words that belong to the
        keyword. The attribute rate is the share that belongs, the probability sum their probability.
        Figures: norm compares projections as in Geva et al., without the final norm and with it; sums
        shows probability inside and outside the keyword's list; variations uses other numbers of tokens
        and list lengths; rates shows all models of a family and their change from the first; targets
        shows rank and probability of the true target by layer; keywords shows the rate by keyword and
        layer; lens shows entropy, agreement with the last layer and divergence from it, for the plain and
        the tuned lens.

        Bands come from a bootstrap over keywords (95 % by default). Those of changes are simultaneous: a
        band leaves out 0 at any layer of an unchanged model in 5 % of cases. The others are pointwise: each
        layer by itself. Comparisons of two models draw the same keywords for both.""",
    ),
)  # fmt: skip


_FOLLOW = "follow, following-demo; OLMo-2: hub"
_CONTINUAL = "follow, continual-demo"
_PATHS = "follow, figures-demo"
_STAGES = "twelve domains of our own choice: only the paper's picture names its own"

STUDY_FIGURES = (
    Figure(
        "following", "Over training", "{domain}.following.{track}", "following_figures.draw_figure",
        reads={"following": paths.FOLLOWING}, of={"domain": "domains", "track": "tracks"}, target="follow",
        section="Models", made_by=_FOLLOW, settings=("summary", "title", "titles", "references"),
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
        "checkpoints", "Checkpoints of others", "{domain}.checkpoints.{statistic}",
        "following_figures.draw_checkpoints_figure",
        reads={"following": paths.FOLLOWING}, of={"domain": "followed_domains"}, target="follow",
        section="Models", made_by="hub", settings=("summary", "title", "members", "references"),
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
        "paths", "Paths of adaptation", "{domain}.paths.{base}.{statistic}",
        "following_figures.draw_paths_figure",
        reads={"following": paths.FOLLOWING}, of={"domain": "domains", "base": "path_families"},
        target="follow", section="Models", made_by=_PATHS,
        settings=("summary", "title", "titles", "members", "references"),
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
        "order", "Domains by similarity", "order.{study}",
        "study_figures.draw_order_figure", reads={"order": paths.ORDER},
        of={"study": "orders"}, target="order", section="Models", made_by=_CONTINUAL,
        settings=("titles",),
        shown=(Shown("domains by similarity to the evaluation domain"),),
        caption="""
        Domains by similarity to the evaluation domain of the study {study}: the cosine of the mean
        embeddings of their abstracts.

        Filled points are trained on, in the order of their numbers: the least similar first. They lie at
        even distances in the order of all domains, unless the configuration gives another order.""",
    ),
    Figure(
        "stages", "Stages of training", "stages.{track}.{kind}", "study_figures.draw_stages_figure",
        reads={"following": paths.FOLLOWING, "order": paths.ORDER, "relations": paths.RELATIONS},
        of={"track": "stage_tracks"}, target="follow", section="Models", made_by=_CONTINUAL,
        settings=("summary", "title", "titles", "references"),
        unreferenced="metrics are held against similarity",
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
        to that domain; triangles are minima (pointing down) and maxima (pointing up). The diamond and
        the dotted line are the model that the training starts from. Right: the same metric against what
        the figure shows of the reference benchmark, or, without one, against similarity. Low is best for
        ranks, perplexity and bits per byte.

        Bands are intervals of the metric. Above each panel stand its correlation with similarity, and how
        much more similar the domains at minima are than those at maxima. Correlations are over stages,
        which follow each other in one training: their intervals are narrower than they should be.""",
    ),
    Figure(
        "controls", "Knowledge or style", "{domain}.controls", "study_figures.draw_controls_figure",
        reads={"controls": paths.CONTROLS, "contrasts": paths.CONTROL_CONTRASTS},
        of={"domain": "controlled_domains"}, target="follow", section="Models",
        made_by="follow with `config/controls-demo.yaml`",
        settings=("summary", "title", "titles", "references"),
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
        "claims", "The papers' claims", "{domain}.claims", "study_figures.draw_claims_figure",
        reads={"claims": paths.CLAIMS, "correlations": paths.CLAIM_CORRELATIONS},
        of={"domain": "claimed_domains"}, target="follow", section="Models",
        made_by="follow with `config/claims-demo.yaml`", settings=("summary", "title", "references"),
        shown=(Shown("the papers' claims, one by one"),),
        caption="""
        Left: how each metric goes with the rank on references, over all adapted models and their base; 1
        if both order them alike. Right: the papers' claims. Points right of the vertical line are as
        claimed. Intervals hold for one claim; a verdict is significant, all claims together.

        The claims are in a CSV file beside the figure, with what each number is.""",
    ),
)  # fmt: skip
