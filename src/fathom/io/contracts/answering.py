"""Contracts of multiple-choice questions and of models' answers."""

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Check, Column, Contract, count, count32, flag, number, numbers, text

_OR_NONE = Check(at_least=-1)

CHOICE_QUESTIONS = Contract(
    paths.CHOICE_QUESTIONS,
    "A set of multiple-choice questions, examples first, in the order of its files.",
    text("item_id", "hash of the question and its options"),
    text("split", "dev: shown as an example, or test: asked"),
    text("question", "what is asked"),
    Column("options", column.STRINGS, "answers to choose from, as shipped"),
    count32("right", "which of them is right, from 0"),
)

CHOICE_ANSWERS = Contract(
    paths.CHOICE_ANSWERS,
    "Answers of one model to one set of questions, asked in all variations, way by way.",
    text("item_id", "the question"),
    text("variation", "how it was asked: as-shipped, right-A, order-1, style-minimal, ..."),
    text("factor", "what is varied: examples, options, styles, orders; empty for a baseline"),
    text("baseline", "variation that it is compared with"),
    text("way", "letter: the most likely one; text: the one in what the model wrote"),
    Column("order", column.INTS, "which of the shipped options stands at each place", column.NOT_NEGATIVE),
    count32("right", "place of the right option"),
    count32("chosen", "place of the chosen option, -1 if no letter was found", _OR_NONE),
    count32("option", "the chosen option as shipped, -1 if no letter was found", _OR_NONE),
    flag("is_right", "whether it is the right one"),
    Column("log_probabilities", column.DOUBLES, "of the letters, in nats; empty for text"),
    text("text", "what the model wrote; empty for letters"),
    count32("shots", "examples that stood before the question"),
    count32("cut", "tokens that the question lost because the context is too short"),
    count32("options", "number of options", column.FROM_ONE),
    count32("longest", "the longest option as shipped, -1 if there are several", _OR_NONE),
)

EVERY_SET = "all"
"""In place of the name of a set: all questions together."""

_SET = text("questions", "the set, or all: all sets together")
_WAY = text("way", "letter or text")
_FACTOR = text("factor", "what is varied; empty: a baseline")
_ITEMS = count("items", "number of questions")

CHOICE_ACCURACY = Contract(
    (paths.CHOICES.of(table="accuracy"), "figures/choices.{factor}.{way}.csv"),
    "The share of right answers of each model in each variation, and its change from the baseline.",
    *(column.MODEL, _SET, _WAY, _FACTOR),
    text("variation", "how it is varied"),
    *numbers("accuracy", "ci_low", "ci_high", about="share of right answers"),
    text("baseline", "variation that it is compared with"),
    *numbers(
        "change", "change_low", "change_high", about="accuracy less the baseline's on the same questions"
    ),
    *numbers(
        *("relative_change", "relative_low", "relative_high"),
        about="the change as a share of the baseline's accuracy; empty if that is 0",
    ),
    column.P,
    number("p_adjusted", "p corrected for all changes on the same questions together", column.SHARE_OR_NAN),
    Column(
        "apart", column.YES_NO, "whether p_adjusted is at most 0.05; empty for a baseline", column.ANY_OR_NAN
    ),
    _ITEMS,
    count("no_letter", "answers in which no letter was found"),
    number("shots", "mean number of examples that fitted", column.NOT_NEGATIVE),
    count("cut", "questions that lost their beginning"),
)

CHOICE_ORDERS = Contract(
    paths.CHOICES.of(table="orders"),
    "Statistics over all cyclic orders of the options.",
    *(column.MODEL, _SET, _WAY),
    text("statistic", "score, alike or always_right"),
    *column.ESTIMATE,
    count("orders", "number of orders"),
    _ITEMS,
)

CHOICE_RANKINGS = Contract(
    paths.CHOICES.of(table="rankings"),
    "Kendall's tau of the ranking of models between two variations.",
    *(_SET, _WAY, _FACTOR),
    text("first", "a variation"),
    text("second", "another one"),
    *numbers("tau", "ci_low", "ci_high", about="tau of the models' accuracies"),
    *(column.P, column.MODEL_COUNT),
)

CHOICE_DIAGNOSIS = Contract(
    paths.CHOICES.of(table="diagnosis"),
    "Whether a model favours a letter or the longest option, and whether it knows.",
    *(column.MODEL, _WAY),
    text("finding", "favourite letter, longest option, knowledge, knowledge elsewhere, or verdict"),
    text("detail", "the letter, or the verdict"),
    *column.ESTIMATE,
    *numbers("chance", about="value by chance"),
    column.P,
    number("p_adjusted", "p corrected for the four findings of the model together", column.SHARE_OR_NAN),
    Column(
        "found",
        column.YES_NO,
        "whether the value is above chance and p_adjusted at most 0.05; empty for a verdict",
        column.ANY_OR_NAN,
    ),
    count("items", "number of questions; empty for a verdict", column.NOT_NEGATIVE_OR_NAN),
)
