"""Contracts of tunings and rankings."""

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Column, Contract, count, count32, flag, number, numbers, text

EXAMPLES = Contract(
    paths.TASK_EXAMPLES,
    "Examples of one task that models are tuned for and scored on, by split and a hash of example_id.",
    text("example_id", "unique in a task; the pair's or document's id where it comes from one"),
    text(
        "keyword",
        "what a bootstrap draws: the pair's keyword, its document where there are no two; empty: itself",
    ),
    text("split", "train, valid or test; those of one document are in one"),
    Column("prompts", column.STRINGS, "prompt of each option; empty where text alone is predicted"),
    Column("targets", column.STRINGS, "what continues each prompt"),
    count32("gold", "which of them is right, from 0"),
)

OUTCOMES = Contract(
    (paths.TUNED, paths.PREPARED),
    "Outcomes of one model on each test example of a task, before and after tuning, in the order of "
    "examples.",
    text("example_id", "example of the test split"),
    text("keyword", "what a bootstrap draws, as in the table of examples"),
    text("condition", "direct, or tuned"),
    number("value", "rank of the target, 1 or 0 for a right or wrong answer, or bits of the text"),
    number("weight", "UTF-8 bytes of a text, else 1", column.NOT_NEGATIVE),
    count32("gold", "the right option, from 0"),
    count32("chosen", "the option that the model found most likely; 0 where there is one"),
)

RANKED_SCORES = Contract(
    paths.RANKED_SCORES,
    "A row for every condition, model and benchmark that rankings are made from, in the order of the table.",
    text("condition", "how models were prepared, such as direct"),
    text("model", "model as the table of scores names it"),
    text("benchmark", "benchmark as the table of scores names it"),
    number(
        "score", "score as it came, whether high or low is good; NaN where there is none", column.ANY_OR_NAN
    ),
    number("standard_error", "its standard error; NaN where there is none", column.ANY_OR_NAN),
)

PAIRED_TESTS = Contract(
    paths.RANKED_PAIRS,
    "One row for every two models on a benchmark whose examples were scored one by one; no row elsewhere.",
    text("condition", "how models were prepared"),
    text("benchmark", "benchmark that both models were scored on"),
    text("better", "the model that is ahead"),
    text("worse", "the other one"),
    flag("apart", "significantly different by a paired test on examples"),
)

_TITLE = text("title", "what it is called")

RANKED_MODELS = Contract(
    paths.RANKED_MODELS,
    "A line for each ranked model, whatever the condition; unknown fields are empty.",
    *(column.ANY_MODEL, _TITLE, column.FAMILY, column.KIND),
    number("parameters", "number of parameters", column.NOT_NEGATIVE_OR_NAN, ".10g"),
    number("tokens", "number of training tokens", column.NOT_NEGATIVE_OR_NAN, ".10g"),
)

RANKED_BENCHMARKS = Contract(
    paths.RANKED_BENCHMARKS,
    "A line for each benchmark that models are ranked on, whatever the condition.",
    text("benchmark", "name of the benchmark"),
    _TITLE,
    text("category", "its category"),
    Column("corpus", column.YES_NO, "whether it is text on which perplexity is measured"),
    Column("lower_is_better", column.YES_NO, "whether a low score is good"),
    text("metric", "what its scores are"),
    count("training_examples", "number of examples to train on; empty: unknown", column.NOT_NEGATIVE_OR_NAN),
)

KEYWORD, WEIGHT = "keyword", "weight"
"""Optional columns of a CSV of examples: what a bootstrap draws, how much an example weighs in the score."""

_SCORE = number("{benchmark}", "score on this benchmark; empty: none", column.ANY_OR_NAN, "")

SCORE_TABLE = Contract(
    "tuning/scores/{condition}.csv, tuning/scores/{condition}_stderr.csv, {run}.csv, {run}_stderr.csv",
    "A line for each model: scores, or their standard errors, by benchmark. Rankings read it.",
    *(column.ANY_MODEL, _SCORE),
)

EXAMPLE_SCORES = Contract(
    "tuning/scores/{condition}/{benchmark}.csv",
    "A line for each example of a benchmark: scores by model. Rankings read it.",
    text("example", "name of the example"),
    text("keyword", "what a bootstrap draws; empty: the example itself"),
    number("weight", "how much it weighs in the score", column.NOT_NEGATIVE, ""),
    number("{model}", "score of this model", digits=""),
)

_CONDITION = text(
    "condition",
    "how models were prepared; `B - A`: the change from A to B; `A > B`: perplexity in A, benchmarks in B",
)
_STATISTIC = text("statistic", "tau, tau_significant, tau_paired, ... (docs/ranking.md)")
_GROUP = text("group", "group of models: all, base, chat, or a family")
_FIRST = text("first", "a benchmark or category")
_SECOND = text("second", "another one; in means.csv `others`")
_BENCHMARK_COUNT = count("benchmarks", "number of benchmarks")

AGREEMENT = Contract(
    paths.RANKING.of(table="agreement"),
    "A line for each number that a whole condition comes down to.",
    *(_CONDITION, _STATISTIC, *column.ESTIMATE),
    count(
        "pairs",
        "pairs of benchmarks that count, in a change those with a tau in both; empty: no mean over pairs",
        column.NOT_NEGATIVE_OR_NAN,
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
    *(_CONDITION, _STATISTIC, _FIRST, _SECOND, *column.ESTIMATE, column.MODEL_COUNT),
)

CATEGORIES = Contract(
    (
        paths.RANKING.of(table="categories"),
        "figures/ranking.categories.csv",
        "figures/ranking.categories-significant.csv",
    ),
    "A line for every two categories of benchmarks.",
    *(_CONDITION, _STATISTIC, _FIRST, _SECOND, *column.ESTIMATE),
    count("pairs", "number of pairs of benchmarks"),
)

CORPUS_AGREEMENT = Contract(
    (
        paths.RANKING.of(table="perplexity"),
        "figures/ranking.perplexity.csv",
        "figures/ranking.perplexity-before.csv",
    ),
    "A line for every corpus and benchmark, by group of models.",
    *(_CONDITION, _GROUP),
    text("corpus", "text on which perplexity is measured"),
    text("benchmark", "benchmark that it is compared with"),
    *(*column.ESTIMATE, column.MODEL_COUNT),
)

COMPONENTS = Contract(
    (paths.RANKING.of(table="pca"), "figures/ranking.pca.csv", "figures/ranking.pca-family.csv"),
    "A line for each principal component, and one for all that are listed.",
    *(_CONDITION, _GROUP),
    text("component", "PC1, PC2, ..., or their sum"),
    *numbers("share", "ci_low", "ci_high", about="share of the variance"),
    *(column.MODEL_COUNT, _BENCHMARK_COUNT),
)

FIRST_COMPONENT = Contract(
    (paths.RANKING.of(table="pc1"), "figures/ranking.pc1-compute.csv", "figures/ranking.pc1-scores.csv"),
    "A line for each model.",
    *(_CONDITION, _GROUP, column.ANY_MODEL),
    *numbers("score", "ci_low", "ci_high", about="its score on the first principal component"),
    *numbers("log10_compute", about="logarithm of its training compute"),
)

FORECAST = Contract(
    (paths.RANKING.of(table="forecast"), "figures/ranking.forecast.csv"),
    "A line for each size of a sample of the models (with `ranking.forecast`).",
    *(_CONDITION, column.MODEL_COUNT),
    *numbers("change", "ci_low", "ci_high", about="change of mean tau over samples"),
    *numbers("interval_width", about="width of the interval of one sample"),
    *numbers("significant", about="share of samples whose interval leaves out 0"),
    count("samples", "number of samples"),
    *numbers("pairs", about="pairs of benchmarks that have a tau in both conditions, mean over samples"),
)

PREPARATION = Contract(
    (paths.RANKING.of(table="preparation"), "figures/ranking.preparation.csv"),
    "A line for each preparation, none first, the whole one last (with `train_before_test.preparations`).",
    text("preparation", "name of the preparation"),
    count("examples", "number of training examples; empty: all", column.NOT_NEGATIVE_OR_NAN),
    count("epochs", "number of epochs", column.NOT_NEGATIVE_OR_NAN),
    *numbers("mean_tau", "ci_low", "ci_high", about="mean tau"),
    count("pairs", "pairs of benchmarks that it is over"),
    *numbers("change", "change_low", "change_high", about="its change from no preparation"),
    count("change_pairs", "pairs with a tau in both"),
    *numbers("missing", "missing_low", "missing_high", about="shortfall from the full one"),
    count("missing_pairs", "pairs with a tau in both"),
)

ALIGNMENT = Contract(
    (paths.RANKING.of(table="alignment"), "figures/ranking.alignment.csv"),
    "A line for each model: its places after the greedy alignment.",
    *(_CONDITION, _FIRST, _SECOND, column.ANY_MODEL),
    count("place_first", "place on the first benchmark", column.FROM_ONE),
    count("place_second", "place on the second one", column.FROM_ONE),
    count(
        "best_first", "best place that significant differences allow on the first benchmark", column.FROM_ONE
    ),
    count("worst_first", "worst one", column.FROM_ONE),
    count("best_second", "best place that they leave on the second one", column.FROM_ONE),
    count("worst_second", "worst one", column.FROM_ONE),
)

SELECTION = Contract(
    paths.RANKING.of(table="selection"),
    "A line for each benchmark: whether the rules of [TrainBeforeTest, App. A.1] would leave it out.",
    text("benchmark", "name of the benchmark"),
    count("training_examples", "number of examples to train on; empty: unknown", column.NOT_NEGATIVE_OR_NAN),
    count("models", "models with a score in every condition"),
    count(
        "unimproved",
        "of them, those no better in the last condition than in the first; empty: there is one condition",
        column.NOT_NEGATIVE_OR_NAN,
    ),
    count("others", "other benchmarks with a tau in the first condition"),
    count("opposed", "of them, those with a negative one"),
    text("left_out_for", "the rules that it breaks; empty: none"),
)

RANKING_TABLES = Contract(
    "ranking/table-{table}.csv",
    "Tables 1 to 4 of [TrainBeforeTest], as on the page tables.md; numbers are rounded for reading. "
    "corpora-chosen: with `ranking.corpus_table`.",
    text("{heading}", "as the heading says"),
)
