"""Contracts of tunings and rankings, and headers of their tables."""

from fathom.io.contracts.column import (
    ANY_OR_NAN,
    BOOL,
    DOUBLE,
    INT32,
    NOT_NEGATIVE,
    STRING,
    STRINGS,
    Column,
    Contract,
)

EXAMPLES: Contract = (
    Column("example_id", STRING, "unique in a task; the pair's or document's id where it comes from one"),
    Column("keyword", STRING, "keyword that the example belongs to, or empty: what a bootstrap draws"),
    Column("split", STRING, "train, valid or test; those of one document are in one"),
    Column("prompts", STRINGS, "prompt of each option; empty where text alone is predicted"),
    Column("targets", STRINGS, "what continues each prompt"),
    Column("gold", INT32, "which of them is right, from 0", NOT_NEGATIVE),
)
"""Examples of one task that models are tuned for and scored on, by split and a hash of example_id."""

OUTCOMES: Contract = (
    Column("example_id", STRING, "example of the test split"),
    Column("keyword", STRING, "keyword that it belongs to, or empty"),
    Column("condition", STRING, "direct, or tuned"),
    Column("value", DOUBLE, "rank of the target, 1 or 0 for a right or wrong answer, or bits of the text"),
    Column("weight", DOUBLE, "UTF-8 bytes of a text, else 1", NOT_NEGATIVE),
    Column("gold", INT32, "the right option, from 0", NOT_NEGATIVE),
    Column(
        "chosen", INT32, "the option that the model found most likely; 0 where there is one", NOT_NEGATIVE
    ),
)
"""What one model made of each test example of one task, before and after tuning, in the order of examples."""

RANKED_SCORES: Contract = (
    Column("condition", STRING, "how models were prepared, such as direct"),
    Column("model", STRING, "model as the table of scores names it"),
    Column("benchmark", STRING, "benchmark as the table of scores names it"),
    Column(
        "score", DOUBLE, "score as it came, whether high or low is good; NaN where there is none", ANY_OR_NAN
    ),
    Column("standard_error", DOUBLE, "its standard error; NaN where there is none", ANY_OR_NAN),
)
"""One row for every condition, model and benchmark that rankings are made from, in the order of the table."""

PAIRED_TESTS: Contract = (
    Column("condition", STRING, "how models were prepared"),
    Column("benchmark", STRING, "benchmark that both models were scored on"),
    Column("better", STRING, "the model that is ahead"),
    Column("worse", STRING, "the other one"),
    Column("apart", BOOL, "significantly different by a paired test on examples"),
)
"""One row for every two models on a benchmark whose examples were scored one by one; no row elsewhere."""

RANKED_MODEL_COLUMNS = ("model", "title", "family", "kind", "parameters", "tokens")
"""Header of ranking/models.csv: one line for each ranked model; a field is empty where nothing is known."""

RANKED_BENCHMARK_COLUMNS = (
    "benchmark", "title", "category", "corpus", "lower_is_better", "metric", "training_examples",
)  # fmt: skip
"""Header of ranking/benchmarks.csv: one line for each benchmark that models are ranked on."""

KEYWORD, WEIGHT = "keyword", "weight"
"""Optional columns of a CSV of examples: what a bootstrap draws, how much an example weighs in the score."""

AGREEMENT_COLUMNS = ("condition", "statistic", "value", "ci_low", "ci_high")
"""Header of ranking/agreement.csv: one line for each number that a whole condition comes down to."""

PAIRWISE_COLUMNS = ("condition", "statistic", "first", "second", "value", "ci_low", "ci_high", "models")
"""Header of ranking/pairwise.csv: one line for every two benchmarks; in means.csv second is `others`."""

CATEGORY_COLUMNS = ("condition", "statistic", "first", "second", "value", "ci_low", "ci_high", "pairs")
"""Header of ranking/categories.csv: one line for every two categories of benchmarks."""

CORPUS_AGREEMENT_COLUMNS = (
    "condition", "group", "corpus", "benchmark", "value", "ci_low", "ci_high", "models",
)  # fmt: skip
"""Header of ranking/perplexity.csv: one line for every corpus and benchmark, by group of models."""

COMPONENT_COLUMNS = ("condition", "group", "component", "share", "ci_low", "ci_high", "models", "benchmarks")
"""Header of ranking/pca.csv: one line for each principal component, and one for all that are listed."""

FIRST_COMPONENT_COLUMNS = ("condition", "group", "model", "score", "ci_low", "ci_high", "log10_compute")
"""Header of ranking/pc1.csv: one line for each model: its score on the first principal component."""

FORECAST_COLUMNS = (
    "condition", "models", "change", "ci_low", "ci_high", "interval_width", "significant", "samples",
)  # fmt: skip
"""Header of ranking/forecast.csv: one line for each size of a sample of the models."""

PREPARATION_COLUMNS = (
    "preparation", "examples", "epochs", "mean_tau", "ci_low", "ci_high", "change", "change_low",
    "change_high", "missing", "missing_low", "missing_high",
)  # fmt: skip
"""Header of ranking/preparation.csv: one line for each preparation, none first, the whole one last."""

ALIGNMENT_COLUMNS = (
    "condition", "first", "second", "model", "place_first", "place_second", "best_first", "worst_first",
    "best_second", "worst_second",
)  # fmt: skip
"""Header of ranking/alignment.csv: one line for each model: its places after the greedy alignment."""
