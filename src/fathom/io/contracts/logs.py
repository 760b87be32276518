"""Contract of models' scores from other programs, item by item."""

from fathom.io.contracts.column import ANY_MODEL, BOOL, DOUBLE, INT64, STRING, Column, Contract

ITEMS = Contract(
    "logs, in memory only",
    "Scores of models on the items of tasks, from logs of any program.",
    (
        Column("task", STRING, "benchmark or data set"),
        Column("metric", STRING, "what the score is, such as acc or exact_match"),
        ANY_MODEL,
        Column("item", STRING, "id of the item, the same for all models of a task"),
        Column("cluster", STRING, "items that are not independent have one in common; empty: none"),
        Column("group", STRING, "part of the task, such as a subject; empty: none"),
        Column("score", DOUBLE, "score of the model on the item, the mean over its repetitions"),
        Column("higher_is_better", BOOL, "whether a high score is good"),
        Column("prompt", STRING, "end of the question, shortened; may be empty"),
        Column("target", STRING, "right answer; may be empty"),
        Column("answer", STRING, "answer of the model; may be empty"),
        Column("options", INT64, "how many answers were offered, one of them right; 0 if unknown"),
    ),
)
