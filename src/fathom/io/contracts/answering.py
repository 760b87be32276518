"""Contracts of multiple-choice questions and of models' answers."""

from fathom.io import paths
from fathom.io.contracts.column import (
    ANY_OR_NAN,
    BOOL,
    DOUBLE,
    DOUBLES,
    ESTIMATE,
    FROM_ONE,
    INT32,
    INT64,
    INTS,
    MODEL,
    MODEL_COUNT,
    NOT_NEGATIVE,
    STRING,
    STRINGS,
    YES_NO,
    Check,
    Column,
    Contract,
    P,
    describe_numbers,
)

_OR_NONE = Check(at_least=-1)

CHOICE_QUESTIONS = Contract(
    paths.CHOICE_QUESTIONS,
    "A set of multiple-choice questions, examples first, in the order of its files.",
    (
        Column("item_id", STRING, "hash of the question and its options"),
        Column("split", STRING, "dev: shown as an example, or test: asked"),
        Column("question", STRING, "what is asked"),
        Column("options", STRINGS, "answers to choose from, as shipped"),
        Column("right", INT32, "which of them is right, from 0", NOT_NEGATIVE),
    ),
)

CHOICE_ANSWERS = Contract(
    paths.CHOICE_ANSWERS,
    "Answers of one model to one set of questions, asked in all variations, way by way.",
    (
        Column("item_id", STRING, "the question"),
        Column("variation", STRING, "how it was asked: as-shipped, right-A, order-1, style-minimal, ..."),
        Column("factor", STRING, "what is varied: examples, options, styles, orders; empty for a baseline"),
        Column("baseline", STRING, "variation that it is compared with"),
        Column("way", STRING, "letter: the most likely one; text: the one in what the model wrote"),
        Column("order", INTS, "which of the shipped options stands at each place", NOT_NEGATIVE),
        Column("right", INT32, "place of the right option", NOT_NEGATIVE),
        Column("chosen", INT32, "place of the chosen option, -1 if no letter was found", _OR_NONE),
        Column("option", INT32, "the chosen option as shipped, -1 if no letter was found", _OR_NONE),
        Column("is_right", BOOL, "whether it is the right one"),
        Column("log_probabilities", DOUBLES, "of the letters, in nats; empty for text"),
        Column("text", STRING, "what the model wrote; empty for letters"),
        Column("shots", INT32, "examples that stood before the question", NOT_NEGATIVE),
        Column("cut", INT32, "tokens that the question lost because the context is too short", NOT_NEGATIVE),
        Column("options", INT32, "number of options", FROM_ONE),
        Column("longest", INT32, "the longest option as shipped, -1 if there are several", _OR_NONE),
    ),
)

EVERY_SET = "all"
"""In place of the name of a set: all questions together."""

_SET = Column("questions", STRING, "the set, or all: all sets together")
_WAY = Column("way", STRING, "letter or text")
_FACTOR = Column("factor", STRING, "what is varied; empty: a baseline")
_ITEMS = Column("items", INT64, "number of questions", NOT_NEGATIVE)

CHOICE_ACCURACY = Contract(
    (paths.CHOICES.of(table="accuracy"), "figures/choices.{factor}.{way}.csv"),
    "The share of right answers of each model in each variation, and its change from the baseline.",
    (
        *(MODEL, _SET, _WAY, _FACTOR),
        Column("variation", STRING, "how it is varied"),
        *describe_numbers("accuracy", "ci_low", "ci_high", about="share of right answers"),
        Column("baseline", STRING, "variation that it is compared with"),
        *describe_numbers(
            "change", "change_low", "change_high", about="accuracy less the baseline's on the same questions"
        ),
        *describe_numbers(
            *("relative_change", "relative_low", "relative_high"),
            about="the change as a share of the baseline's accuracy; empty if that is 0",
        ),
        P,
        Column("p_adjusted", DOUBLE, "p corrected for all changes on the same questions together", P.check),
        Column("apart", YES_NO, "whether p_adjusted is at most 0.05; empty for a baseline", ANY_OR_NAN),
        _ITEMS,
        Column("no_letter", INT64, "answers in which no letter was found", NOT_NEGATIVE),
        Column("shots", DOUBLE, "mean number of examples that fitted", NOT_NEGATIVE),
        Column("cut", INT64, "questions that lost their beginning", NOT_NEGATIVE),
    ),
)

CHOICE_ORDERS = Contract(
    paths.CHOICES.of(table="orders"),
    "Statistics over all cyclic orders of the options.",
    (
        *(MODEL, _SET, _WAY),
        Column("statistic", STRING, "score, alike or always_right"),
        *ESTIMATE,
        Column("orders", INT64, "number of orders", NOT_NEGATIVE),
        _ITEMS,
    ),
)

CHOICE_RANKINGS = Contract(
    paths.CHOICES.of(table="rankings"),
    "Kendall's tau of the ranking of models between two variations.",
    (
        *(_SET, _WAY, _FACTOR),
        Column("first", STRING, "a variation"),
        Column("second", STRING, "another one"),
        *describe_numbers("tau", "ci_low", "ci_high", about="tau of the models' accuracies"),
        *(P, MODEL_COUNT),
    ),
)

CHOICE_DIAGNOSIS = Contract(
    paths.CHOICES.of(table="diagnosis"),
    "Whether a model favours a letter or the longest option, and whether it knows.",
    (
        *(MODEL, _WAY),
        Column(
            "finding", STRING, "favourite letter, longest option, knowledge, knowledge elsewhere, or verdict"
        ),
        Column("detail", STRING, "the letter, or the verdict"),
        *ESTIMATE,
        *describe_numbers("chance", about="value by chance"),
        P,
        Column("p_adjusted", DOUBLE, "p corrected for the four findings of the model together", P.check),
        Column(
            "found",
            YES_NO,
            "whether the value is above chance and p_adjusted at most 0.05; empty for a verdict",
            ANY_OR_NAN,
        ),
        Column("items", INT64, "number of questions; empty for a verdict", Check(at_least=0, nan=True)),
    ),
)
