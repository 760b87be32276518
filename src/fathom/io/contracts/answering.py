"""Contracts of multiple-choice questions and of what models answer, and headers of their tables."""

import pyarrow as pa

from fathom.io.contracts.column import (
    BOOL,
    DOUBLE,
    FROM_ONE,
    INT32,
    NOT_NEGATIVE,
    STRING,
    STRINGS,
    Check,
    Column,
    Contract,
)

_OR_NONE = Check(at_least=-1)

CHOICE_QUESTIONS: Contract = (
    Column("item_id", STRING, "hash of the question and its options"),
    Column("split", STRING, "dev: shown as an example, or test: asked"),
    Column("question", STRING, "what is asked"),
    Column("options", STRINGS, "answers to choose from, as shipped"),
    Column("right", INT32, "which of them is right, from 0", NOT_NEGATIVE),
)
"""A set of multiple-choice questions, examples first, in the order of its files."""

CHOICE_ANSWERS: Contract = (
    Column("item_id", STRING, "the question"),
    Column("variation", STRING, "how it was asked: as-shipped, right-A, order-1, style-minimal, ..."),
    Column("factor", STRING, "what is varied: examples, options, styles, orders; empty for a baseline"),
    Column("baseline", STRING, "variation that it is compared with"),
    Column("way", STRING, "letter: the most likely one; text: the one in what the model wrote"),
    Column("order", pa.list_(INT32), "which of the shipped options stands at each place", NOT_NEGATIVE),
    Column("right", INT32, "place of the right option", NOT_NEGATIVE),
    Column("chosen", INT32, "place of the chosen option, -1 where no letter was found", _OR_NONE),
    Column("option", INT32, "the chosen option as shipped, -1 where no letter was found", _OR_NONE),
    Column("is_right", BOOL, "whether it is the right one"),
    Column("log_probabilities", pa.list_(DOUBLE), "of the letters, in nats; empty for text"),
    Column("text", STRING, "what the model wrote; empty for letters"),
    Column("shots", INT32, "examples that stood before the question", NOT_NEGATIVE),
    Column("cut", INT32, "tokens that the question lost because the context is too short", NOT_NEGATIVE),
    Column("options", INT32, "number of options", FROM_ONE),
    Column("longest", INT32, "the longest option as shipped, -1 where several are", _OR_NONE),
)
"""Answers of one model to one set of questions, asked in all variations, way by way."""

EVERY_SET = "all"
"""In place of the name of a set: all questions together."""

CHOICE_ACCURACY_COLUMNS = (
    "model", "questions", "way", "factor", "variation", "accuracy", "ci_low", "ci_high", "baseline", "change",
    "change_low", "change_high", "apart", "items", "no_letter", "shots", "cut",
)  # fmt: skip
"""Header of accuracy.csv: the share of right answers of each model in each variation, and its change from the
baseline. `no_letter` and `cut` count questions, `shots` is the mean number of examples that fitted.
"""

CHOICE_ORDER_COLUMNS = (
    "model", "questions", "way", "statistic", "value", "ci_low", "ci_high", "orders", "items",
)  # fmt: skip
"""Header of orders.csv: what holds over all cyclic orders of the options."""

CHOICE_RANKING_COLUMNS = (
    "questions", "way", "factor", "first", "second", "tau", "ci_low", "ci_high", "p", "models",
)  # fmt: skip
"""Header of rankings.csv: Kendall's tau of the ranking of models between two variations."""

CHOICE_DIAGNOSIS_COLUMNS = (
    "model", "way", "finding", "detail", "value", "ci_low", "ci_high", "chance", "found", "items",
)  # fmt: skip
"""Header of diagnosis.csv: whether a model favours a letter or the longest option, and whether it knows."""
