"""Contracts of time and resources, of models' training, and of the table of models."""

from fathom.io import paths
from fathom.io.contracts.column import (
    ANY_OR_NAN,
    BOOL,
    DOUBLE,
    FROM_ONE,
    INT64,
    KIND,
    METRIC,
    MODEL,
    NOT_NEGATIVE,
    STRING,
    Check,
    Column,
    Contract,
)

_SUM_OR_EMPTY = Check(at_least=0, nan=True)


def _describe_sums(**columns: str) -> tuple[Column, ...]:
    return tuple(Column(name, DOUBLE, text, NOT_NEGATIVE, digits="") for name, text in columns.items())


RESOURCES = Contract(
    paths.RESOURCES,
    "A line for each rule, most time first.",
    (
        Column("rule", STRING, "name of the rule"),
        Column("jobs", INT64, "how often it ran", FROM_ONE),
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
    ),
)

RATES = Contract(
    "config/rates.tsv",
    "Cost of a job of each rule, before a run has measured it.",
    (
        Column("rule", STRING, "name of the rule"),
        *(
            Column(name, DOUBLE, text, _SUM_OR_EMPTY)
            for name, text in (
                ("seconds_per_job", "time of a job without any text"),
                ("seconds_per_megabyte", "time for each megabyte of text"),
                ("seconds_per_gigaparameter", "time for each billion parameters of the model"),
                ("disk_per_megabyte", "megabytes written for each megabyte of text"),
                ("memory_mb", "memory of a job"),
            )
        ),
        Column("source", STRING, "where the numbers come from"),
    ),
    "write numbers, or leave the field empty",
)

_STEP = Column("step", INT64, "optimiser step", FROM_ONE)
_LOSS = Column("loss", DOUBLE, "training loss", digits="")
_LEARNING_RATE = Column("learning_rate", DOUBLE, "learning rate of the step", digits="")

TRAINING_CURVE = Contract(
    paths.CURVE,
    "A line for each step of a training.",
    (
        *(_STEP, _LOSS),
        Column("valid_loss", DOUBLE, "loss on adapt-valid; empty between measurements", ANY_OR_NAN, ""),
        _LEARNING_RATE,
    ),
)

TUNING_CURVE = Contract(
    (paths.TUNED.ending(".csv"), paths.PREPARED.ending(".csv")),
    "A line for each step of a tuning.",
    (Column("template", STRING, "plain, or chat"), _STEP, _LOSS, _LEARNING_RATE),
)

_SCORE = Check(nan=True)

TUNING = Contract(
    paths.TUNING,
    "A line for each model and task of train before test.",
    (
        MODEL,
        Column("task", STRING, "name of the task"),
        METRIC,
        Column("direct", DOUBLE, "score before tuning", _SCORE, ""),
        Column("tuned", DOUBLE, "score after it", _SCORE, ""),
        Column("chosen", DOUBLE, "the better of both on the validation split", _SCORE, ""),
        Column("floored", DOUBLE, "chosen, but no worse than direct", _SCORE, ""),
        Column("direct_error", DOUBLE, "standard error of direct", _SCORE, ""),
        Column("tuned_error", DOUBLE, "standard error of tuned", _SCORE, ""),
        Column("chosen_error", DOUBLE, "standard error of chosen", _SCORE, ""),
        Column("epoch", INT64, "epoch that is kept; 0: none", NOT_NEGATIVE),
        Column("improved", BOOL, "whether tuning improved the validation score"),
        Column("direct_template", STRING, "prompts before tuning: plain or chat"),
        Column("tuned_template", STRING, "prompts after it: plain or chat"),
        Column("test_examples", INT64, "number of test examples", NOT_NEGATIVE),
    ),
)

MODELS = Contract(
    "config/models.tsv, models.tsv",
    "The table of models, and a run's own.",
    (
        Column("name", STRING, "name in the configuration and in paths"),
        Column("family", STRING, "models of one family share a tokenizer and its conventions"),
        Column(
            "source",
            STRING,
            "id on the hub, path of a folder or GGUF file, `package:NAME==VERSION`, ADDRESS#NAME",
        ),
        Column("revision", STRING, "commit of the repository; empty: the newest"),
        KIND,
        Column("base_of", STRING, "for a chat model, the name of its base model, if known"),
        Column("parameters", INT64, "number of parameters", _SUM_OR_EMPTY),
        Column("tokens", INT64, "number of training tokens", _SUM_OR_EMPTY),
        Column("dtype", STRING, "data type that the model was published in"),
        *(
            Column(name, STRING, text, optional=True)
            for name, text in (
                ("adapter_of", "for a LoRA adapter, the model that it is applied to"),
                ("quantization", "how the weights are quantised; empty: as stored"),
                ("stand_in", "the model that takes this one's place if its weights are corrupt"),
                ("cutoff", "last day of the text that it was pretrained on, YYYY-MM-DD"),
                ("original", "the row of the same model before it was converted, quantised or served"),
                (
                    "weights",
                    "`pickled`: the source has no weights in safetensors or GGUF",
                ),
                ("asked", "the name that the row was made for, if not its own: an id, a folder, an address"),
            )
        ),
    ),
    "write numbers out: 7000000000",
    by_hand=True,
)
