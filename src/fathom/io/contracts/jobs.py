"""Contracts of time and resources, of models' training, and of the table of models."""

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Column, Contract, count, flag, number, text


def _describe_sums(**columns: str) -> tuple[Column, ...]:
    return tuple(number(name, about, column.NOT_NEGATIVE, "") for name, about in columns.items())


RESOURCES = Contract(
    paths.RESOURCES,
    "A line for each rule, most time first.",
    text("rule", "name of the rule"),
    count("jobs", "how often it ran", column.FROM_ONE),
    *_describe_sums(
        seconds="time on the clock of all jobs",
        median_seconds="that of the median job",
        max_seconds="that of the longest job",
        cpu_seconds="processor time of all jobs",
        max_memory_mb="largest memory of a job",
        read_mb="read from disk",
        written_mb="written to disk",
        megabytes="text that the jobs went over: of their part, or of the whole corpus",
    ),
)

RATES = Contract(
    "config/rates.tsv",
    "Cost of a job of each rule, before a run has measured it.",
    text("rule", "name of the rule"),
    number("seconds_per_job", "time of a job without any text", column.NOT_NEGATIVE_OR_NAN),
    number("seconds_per_megabyte", "time for each megabyte of text", column.NOT_NEGATIVE_OR_NAN),
    number(
        "seconds_per_gigaparameter",
        "time for each billion parameters of the model",
        column.NOT_NEGATIVE_OR_NAN,
    ),
    number("disk_per_megabyte", "megabytes written for each megabyte of text", column.NOT_NEGATIVE_OR_NAN),
    number("memory_mb", "memory of a job", column.NOT_NEGATIVE_OR_NAN),
    text("source", "where the numbers come from"),
    hint="write numbers, or leave the field empty",
)

_STEP = count("step", "optimiser step", column.FROM_ONE)
_LOSS = number("loss", "training loss", digits="")
_LEARNING_RATE = number("learning_rate", "learning rate of the step", digits="")

TRAINING_CURVE = Contract(
    paths.CURVE,
    "A line for each step of a training.",
    *(_STEP, _LOSS),
    number("valid_loss", "loss on adapt-valid; empty between measurements", column.ANY_OR_NAN, ""),
    _LEARNING_RATE,
)

TUNING_CURVE = Contract(
    (paths.TUNED.ending(".csv"), paths.PREPARED.ending(".csv")),
    "A line for each step of a tuning.",
    *(text("template", "plain, or chat"), _STEP, _LOSS, _LEARNING_RATE),
)


TUNING = Contract(
    paths.TUNING,
    "A line for each model and task of train before test.",
    column.MODEL,
    text("task", "name of the task"),
    column.METRIC,
    number("direct", "score before tuning", column.ANY_OR_NAN, ""),
    number("tuned", "score after it", column.ANY_OR_NAN, ""),
    number("chosen", "the better of both on the validation split", column.ANY_OR_NAN, ""),
    number("floored", "chosen, but no worse than direct", column.ANY_OR_NAN, ""),
    number("direct_error", "standard error of direct", column.ANY_OR_NAN, ""),
    number("tuned_error", "standard error of tuned", column.ANY_OR_NAN, ""),
    number("chosen_error", "standard error of chosen", column.ANY_OR_NAN, ""),
    count("epoch", "epoch that is kept; 0: none"),
    flag("improved", "whether tuning improved the validation score"),
    text("direct_template", "prompts before tuning: plain or chat"),
    text("tuned_template", "prompts after it: plain or chat"),
    count("test_examples", "number of test examples"),
)

MODELS = Contract(
    "config/models.tsv, models.tsv",
    "The table of models, and a run's own.",
    text("name", "name in the configuration and in paths"),
    text("family", "models of one family share a tokenizer and its conventions"),
    text("source", "id on the hub, path of a folder or GGUF file, `package:NAME==VERSION`, ADDRESS#NAME"),
    text("revision", "commit of the repository; empty: the newest"),
    column.KIND,
    text("base_of", "for a chat model, the name of its base model, if known"),
    count("parameters", "number of parameters", column.NOT_NEGATIVE_OR_NAN),
    count("tokens", "number of training tokens", column.NOT_NEGATIVE_OR_NAN),
    text("dtype", "data type that the model was published in"),
    text("adapter_of", "for a LoRA adapter, the model that it is applied to", optional=True),
    text("quantization", "how the weights are quantised; empty: as stored", optional=True),
    text("stand_in", "the model that takes this one's place if its weights are corrupt", optional=True),
    text("cutoff", "last day of the text that it was pretrained on, YYYY-MM-DD", optional=True),
    text("original", "the row of the same model before it was converted, quantised or served", optional=True),
    text("weights", "`pickled`: the source has no weights in safetensors or GGUF", optional=True),
    text(
        "asked",
        "the name that the row was made for, if not its own: an id, a folder, an address",
        optional=True,
    ),
    hint="write numbers out: 7000000000",
    by_hand=True,
)
