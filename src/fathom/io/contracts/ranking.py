"""Contracts of tunings and rankings."""

from fathom.io import paths
from fathom.io.contracts.column import (
    ANY_MODEL,
    ANY_OR_NAN,
    BOOL,
    DOUBLE,
    ESTIMATE,
    FAMILY,
    FROM_ONE,
    INT32,
    INT64,
    KIND,
    MODEL_COUNT,
    NOT_NEGATIVE,
    STRING,
    STRINGS,
    YES_NO,
    Check,
    Column,
    Contract,
    describe_numbers,
)

EXAMPLES = Contract(
    paths.TASK_EXAMPLES,
    "Examples of one task that models are tuned for and scored on, by split and a hash of example_id.",
    (
        Column("example_id", STRING, "unique in a task; the pair's or document's id where it comes from one"),
        Column(
            "keyword",
            STRING,
            "what a bootstrap draws: the pair's keyword, its document where there are no two; empty: itself",
        ),
        Column("split", STRING, "train, valid or test; those of one document are in one"),
        Column("prompts", STRINGS, "prompt of each option; empty where text alone is predicted"),
        Column("targets", STRINGS, "what continues each prompt"),
        Column("gold", INT32, "which of them is right, from 0", NOT_NEGATIVE),
    ),
)

OUTCOMES = Contract(
    (paths.TUNED, paths.PREPARED),
    "Outcomes of one model on each test example of a task, before and after tuning, in the order of "
    "examples.",
    (
        Column("example_id", STRING, "example of the test split"),
        Column("keyword", STRING, "what a bootstrap draws, as in the table of examples"),
        Column("condition", STRING, "direct, or tuned"),
        Column(
            "value", DOUBLE, "rank of the target, 1 or 0 for a right or wrong answer, or bits of the text"
        ),
        Column("weight", DOUBLE, "UTF-8 bytes of a text, else 1", NOT_NEGATIVE),
        Column("gold", INT32, "the right option, from 0", NOT_NEGATIVE),
        Column(
            "chosen", INT32, "the option that the model found most likely; 0 where there is one", NOT_NEGATIVE
        ),
    ),
)

RANKED_SCORES = Contract(
    paths.RANKED_SCORES,
    "A row for every condition, model and benchmark that rankings are made from, in the order of the table.",
    (
        Column("condition", STRING, "how models were prepared, such as direct"),
        Column("model", STRING, "model as the table of scores names it"),
        Column("benchmark", STRING, "benchmark as the table of scores names it"),
        Column(
            "score",
            DOUBLE,
            "score as it came, whether high or low is good; NaN where there is none",
            ANY_OR_NAN,
        ),
        Column("standard_error", DOUBLE, "its standard error; NaN where there is none", ANY_OR_NAN),
    ),
)

PAIRED_TESTS = Contract(
    paths.RANKED_PAIRS,
    "One row for every two models on a benchmark whose examples were scored one by one; no row elsewhere.",
    (
        Column("condition", STRING, "how models were prepared"),
        Column("benchmark", STRING, "benchmark that both models were scored on"),
        Column("better", STRING, "the model that is ahead"),
        Column("worse", STRING, "the other one"),
        Column("apart", BOOL, "significantly different by a paired test on examples"),
    ),
)

_KNOWN = Check(at_least=0, nan=True)
_TITLE = Column("title", STRING, "what it is called")

RANKED_MODELS = Contract(
    paths.RANKED_MODELS,
    "A line for each ranked model, whatever the condition; unknown fields are empty.",
    (
        *(ANY_MODEL, _TITLE, FAMILY, KIND),
        Column("parameters", DOUBLE, "number of parameters", _KNOWN, ".10g"),
        Column("tokens", DOUBLE, "number of training tokens", _KNOWN, ".10g"),
    ),
)

RANKED_BENCHMARKS = Contract(
    paths.RANKED_BENCHMARKS,
    "A line for each benchmark that models are ranked on, whatever the condition.",
    (
        Column("benchmark", STRING, "name of the benchmark"),
        _TITLE,
        Column("category", STRING, "its category"),
        Column("corpus", YES_NO, "whether it is text on which perplexity is measured"),
        Column("lower_is_better", YES_NO, "whether a low score is good"),
        Column("metric", STRING, "what its scores are"),
        Column("training_examples", INT64, "number of examples to train on; empty: unknown", _KNOWN),
    ),
)

KEYWORD, WEIGHT = "keyword", "weight"
"""Optional columns of a CSV of examples: what a bootstrap draws, how much an example weighs in the score."""

_SCORE = Column("{benchmark}", DOUBLE, "score on this benchmark; empty: none", ANY_OR_NAN, "")

SCORE_TABLE = Contract(
    "tuning/scores/{condition}.csv, tuning/scores/{condition}_stderr.csv, {run}.csv, {run}_stderr.csv",
    "A line for each model: scores, or their standard errors, by benchmark. Rankings read it.",
    (ANY_MODEL, _SCORE),
)

EXAMPLE_SCORES = Contract(
    "tuning/scores/{condition}/{benchmark}.csv",
    "A line for each example of a benchmark: scores by model. Rankings read it.",
    (
        Column("example", STRING, "name of the example"),
        Column("keyword", STRING, "what a bootstrap draws; empty: the example itself"),
        Column("weight", DOUBLE, "how much it weighs in the score", NOT_NEGATIVE, ""),
        Column("{model}", DOUBLE, "score of this model", digits=""),
    ),
)

_CONDITION = Column(
    "condition",
    STRING,
    "how models were prepared; `B - A`: the change from A to B; `A > B`: perplexity in A, benchmarks in B",
)
_STATISTIC = Column("statistic", STRING, "tau, tau_significant, tau_paired, ... (docs/ranking.md)")
_GROUP = Column("group", STRING, "group of models: all, base, chat, or a family")
_FIRST = Column("first", STRING, "a benchmark or category")
_SECOND = Column("second", STRING, "another one; in means.csv `others`")
_BENCHMARK_COUNT = Column("benchmarks", INT64, "number of benchmarks", NOT_NEGATIVE)

AGREEMENT = Contract(
    paths.RANKING.of(table="agreement"),
    "A line for each number that a whole condition comes down to.",
    (
        *(_CONDITION, _STATISTIC, *ESTIMATE),
        Column(
            "pairs",
            INT64,
            "pairs of benchmarks that count, in a change those with a tau in both; empty: no mean over pairs",
            _KNOWN,
        ),
    ),
    key=("condition", "statistic"),
)

PAIRWISE = Contract(
    (
        paths.RANKING.of(table="pairwise"),
        paths.RANKING.of(table="means"),
        "figures/ranking.mean-tau.csv",
        "figures/ranking.mean-tau-significant.csv",
        "figures/ranking.tau.{condition}.csv",
        "figures/ranking.tau-significant.{condition}.csv",
    ),
    "A line for every two benchmarks, or for each benchmark with all others.",
    (_CONDITION, _STATISTIC, _FIRST, _SECOND, *ESTIMATE, MODEL_COUNT),
)

CATEGORIES = Contract(
    (
        paths.RANKING.of(table="categories"),
        "figures/ranking.categories.csv",
        "figures/ranking.categories-significant.csv",
    ),
    "A line for every two categories of benchmarks.",
    (
        *(_CONDITION, _STATISTIC, _FIRST, _SECOND, *ESTIMATE),
        Column("pairs", INT64, "number of pairs of benchmarks", NOT_NEGATIVE),
    ),
)

CORPUS_AGREEMENT = Contract(
    (
        paths.RANKING.of(table="perplexity"),
        "figures/ranking.perplexity.csv",
        "figures/ranking.perplexity-before.csv",
    ),
    "A line for every corpus and benchmark, by group of models.",
    (
        *(_CONDITION, _GROUP),
        Column("corpus", STRING, "text on which perplexity is measured"),
        Column("benchmark", STRING, "benchmark that it is compared with"),
        *(*ESTIMATE, MODEL_COUNT),
    ),
)

COMPONENTS = Contract(
    (paths.RANKING.of(table="pca"), "figures/ranking.pca.csv", "figures/ranking.pca-family.csv"),
    "A line for each principal component, and one for all that are listed.",
    (
        *(_CONDITION, _GROUP),
        Column("component", STRING, "PC1, PC2, ..., or their sum"),
        *describe_numbers("share", "ci_low", "ci_high", about="share of the variance"),
        *(MODEL_COUNT, _BENCHMARK_COUNT),
    ),
)

FIRST_COMPONENT = Contract(
    (paths.RANKING.of(table="pc1"), "figures/ranking.pc1-compute.csv", "figures/ranking.pc1-scores.csv"),
    "A line for each model.",
    (
        *(_CONDITION, _GROUP, ANY_MODEL),
        *describe_numbers("score", "ci_low", "ci_high", about="its score on the first principal component"),
        *describe_numbers("log10_compute", about="logarithm of its training compute"),
    ),
)

FORECAST = Contract(
    (paths.RANKING.of(table="forecast"), "figures/ranking.forecast.csv"),
    "A line for each size of a sample of the models (with `ranking.forecast`).",
    (
        *(_CONDITION, MODEL_COUNT),
        *describe_numbers("change", "ci_low", "ci_high", about="change of mean tau over samples"),
        *describe_numbers("interval_width", about="width of the interval of one sample"),
        *describe_numbers("significant", about="share of samples whose interval leaves out 0"),
        Column("samples", INT64, "number of samples", NOT_NEGATIVE),
        *describe_numbers(
            "pairs", about="pairs of benchmarks that have a tau in both conditions, mean over samples"
        ),
    ),
)

PREPARATION = Contract(
    (paths.RANKING.of(table="preparation"), "figures/ranking.preparation.csv"),
    "A line for each preparation, none first, the whole one last (with `train_before_test.preparations`).",
    (
        Column("preparation", STRING, "name of the preparation"),
        Column("examples", INT64, "number of training examples; empty: all", _KNOWN),
        Column("epochs", INT64, "number of epochs", _KNOWN),
        *describe_numbers("mean_tau", "ci_low", "ci_high", about="mean tau"),
        Column("pairs", INT64, "pairs of benchmarks that it is over", NOT_NEGATIVE),
        *describe_numbers("change", "change_low", "change_high", about="its change from no preparation"),
        Column("change_pairs", INT64, "pairs with a tau in both", NOT_NEGATIVE),
        *describe_numbers("missing", "missing_low", "missing_high", about="shortfall from the full one"),
        Column("missing_pairs", INT64, "pairs with a tau in both", NOT_NEGATIVE),
    ),
)

ALIGNMENT = Contract(
    (paths.RANKING.of(table="alignment"), "figures/ranking.alignment.csv"),
    "A line for each model: its places after the greedy alignment.",
    (
        *(_CONDITION, _FIRST, _SECOND, ANY_MODEL),
        *(
            Column(name, INT64, about, FROM_ONE)
            for name, about in (
                ("place_first", "place on the first benchmark"),
                ("place_second", "place on the second one"),
                ("best_first", "best place that significant differences allow on the first benchmark"),
                ("worst_first", "worst one"),
                ("best_second", "best place that they leave on the second one"),
                ("worst_second", "worst one"),
            )
        ),
    ),
)

SELECTION = Contract(
    paths.RANKING.of(table="selection"),
    "A line for each benchmark: whether the rules of [TrainBeforeTest, App. A.1] would leave it out.",
    (
        Column("benchmark", STRING, "name of the benchmark"),
        Column("training_examples", INT64, "number of examples to train on; empty: unknown", _KNOWN),
        Column("models", INT64, "models with a score in every condition", NOT_NEGATIVE),
        Column(
            "unimproved",
            INT64,
            "of them, those no better in the last condition than in the first; empty: there is one condition",
            _KNOWN,
        ),
        Column("others", INT64, "other benchmarks with a tau in the first condition", NOT_NEGATIVE),
        Column("opposed", INT64, "of them, those with a negative one", NOT_NEGATIVE),
        Column("left_out_for", STRING, "the rules that it breaks; empty: none"),
    ),
)

RANKING_TABLES = Contract(
    "ranking/table-{table}.csv",
    "Tables 1 to 4 of [TrainBeforeTest], as on the page tables.md; numbers are rounded for reading. "
    "corpora-chosen: with `ranking.corpus_table`.",
    (Column("{heading}", STRING, "as the heading says"),),
)
