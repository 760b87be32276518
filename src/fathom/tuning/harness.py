"""Tasks of EleutherAI's lm-evaluation-harness (0.4) as examples [EvalHarness], [TrainBeforeTest, Sec. 3.1].

Prompts, options and answers are the harness's own; a task may also be a YAML file of the user's.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.tuning import Metric
from fathom.errors import InputError
from fathom.io.contracts.ranking import EXAMPLES
from fathom.io.files import hash_text, read_plain_text
from fathom.io.tables import make_empty_table
from fathom.jobs.program import explain_imports, log
from fathom.models.tokens import render_chat_prompt, uses_bos
from fathom.tuning.task_scores import Encoder

METRICS_BY_OUTPUT: dict[str, tuple[Metric, ...]] = {
    "multiple_choice": ("acc", "acc_norm", "mcc"),
    "loglikelihood": ("acc",),
    "generate_until": ("exact_match",),
}
"""Metrics that score what a task's `output_type` gives."""

_WHERE = "train_before_test.tasks"


def load_task(name: str) -> Any:
    """Load a task of the harness by its name, or by the path of its YAML file."""
    with explain_imports(_WHERE):
        from lm_eval.tasks import TaskManager
    own = Path(name).suffix in (".yaml", ".yml")
    if own and not Path(name).is_file():
        raise InputError("there is no such task file", name, "check train_before_test.tasks")
    manager = TaskManager(include_path=str(Path(name).parent) if own else None, include_defaults=not own)
    wanted = _read_name(name) if own else name
    if wanted not in manager.all_subtasks:
        hint = "`lm_eval ls tasks` lists them; a group is not a task"
        raise InputError(f"the harness has no task {wanted!r}", _WHERE, hint)
    try:
        return next(iter(manager.load([wanted])["tasks"].values()))
    except (OSError, ValueError) as error:
        what = f"the data of task {wanted!r} are not available: {str(error).splitlines()[0]}"
        raise InputError(what, _WHERE, "prepare the task once on a machine with network access") from error


def _read_name(path: str) -> str:
    for line in read_plain_text(path).splitlines():
        key, _, value = line.partition(":")
        if key == "task":
            return value.strip().strip("'\"")
    raise InputError("this file does not name a task", path, "it needs a line `task: NAME`")


def make_examples(task: Any, metric: Metric) -> pl.DataFrame:
    """Return the examples of a task, under contract EXAMPLES.

    A question has a prompt and target for each option; for a generated answer the target is the first correct
    answer. Raise `InputError` if the task has no training data, or the metric does not score what it gives.
    """
    name = task.task_name
    if metric not in METRICS_BY_OUTPUT.get(task.OUTPUT_TYPE, ()):
        what = f"task {name!r} gives {task.OUTPUT_TYPE}, which {metric} does not score"
        hint = "; ".join(f"{kind}: {', '.join(metrics)}" for kind, metrics in METRICS_BY_OUTPUT.items())
        raise InputError(what, _WHERE, hint)
    rows = [
        _make_row(task, doc, f"{split}-{place}", split)
        for split, docs in split_documents(task).items()
        for place, doc in enumerate(docs)
    ]
    found = [row for row in rows if row is not None]
    if left := len(rows) - len(found):
        log.info("%s documents of %s have an empty prompt or answer and are left out", f"{left:,}", name)
    return pl.DataFrame(found, schema=make_empty_table(EXAMPLES).schema, orient="row")


def split_documents(task: Any) -> dict[str, Any]:
    """Return the documents of a task by split; test documents are in no other split.

    Where the task names the same part for validation and test, or has no test part, its validation part is
    the test split, and there is no validation split.
    """
    name, config = task.task_name, task.config
    if not task.has_training_docs():
        raise InputError(f"task {name!r} has no training data", _WHERE, "leave it out")
    tested = config.test_split if task.has_test_docs() else config.validation_split
    if config.training_split == tested:
        hint = "name another training_split in its YAML file, or leave it out"
        raise InputError(f"task {name!r} trains on {tested!r}, its test part", _WHERE, hint)
    splits = {"train": task.training_docs()}
    if task.has_validation_docs() and config.validation_split not in (tested, config.training_split):
        splits["valid"] = task.validation_docs()
    if task.has_test_docs() or task.has_validation_docs():
        splits["test"] = task.test_docs() if task.has_test_docs() else task.validation_docs()
    return splits


def _make_row(task: Any, doc: Any, name: str, split: str) -> tuple[Any, ...] | None:
    """Return a document as an example; None if a prompt or target is empty."""
    context = task.fewshot_context(doc, 0)
    asked = task.construct_requests(doc, context, metadata=(task.task_name, 0, 1))
    requests = asked if isinstance(asked, list) else [asked]
    if task.OUTPUT_TYPE == "generate_until":
        answer = task.doc_to_target(doc)
        pairs = [(requests[0].args[0], str(answer[0] if isinstance(answer, list) else answer))]
    else:
        pairs = [(request.args[0], request.args[1]) for request in requests]
    # one space between them, at the target
    prompts = [prompt.rstrip(" ") for prompt, _ in pairs]
    targets = [f" {target.lstrip(' ')}" for _, target in pairs]
    if not all(prompt.strip() for prompt in prompts) or not all(target.strip() for target in targets):
        return None
    gold = _find_gold(task, doc) if task.OUTPUT_TYPE == "multiple_choice" else 0
    return (name, "", split, prompts, targets, gold)


def _find_gold(task: Any, doc: Any) -> int:
    gold = task.doc_to_text(doc) if task.multiple_input else task.doc_to_target(doc)
    return int(task.doc_to_choice(doc).index(gold) if isinstance(gold, str) else gold)


def evaluate_generation(
    model: Any, encoder: Encoder, task: Any, examples: pl.DataFrame, name: str | None = None
) -> pl.DataFrame:
    """Generate answers and score them as the harness does: exact_match after one of its filters.

    `name` is that of the filter; None: the task's first one. The outcomes are as
    :func:`fathom.tuning.task_scores.evaluate_examples` gives them. Raise `InputError` if the task has no such
    filter, or does not give exact_match.
    """
    from lm_eval.models.huggingface import HFLM

    add_bos = uses_bos(encoder.tokenizer, encoder.add_bos) and not encoder.chat
    reader: Any = HFLM(pretrained=model, tokenizer=encoder.tokenizer, batch_size=8, add_bos_token=add_bos)
    documents = _find_documents(task, examples)
    asked = []
    for place, doc in enumerate(documents):
        context = task.fewshot_context(doc, 0)
        if encoder.chat:
            context = render_chat_prompt(encoder.tokenizer, context)
        asked.append(task.construct_requests(doc, context, metadata=(task.task_name, place, 1)))
    training = model.training
    model.eval()
    for request, answer in zip(asked, reader.generate_until(asked, disable_tqdm=True), strict=True):
        request.resps.append(answer)
    model.train(training)
    task._instances = asked  # what its filters are applied to
    task.apply_filters()
    known = list(asked[0].filtered_resps)
    if name is not None and name not in known:
        hint = f"known: {', '.join(known)}"
        raise InputError(f"task {task.task_name!r} has no filter {name!r}", _WHERE, hint)
    values = []
    for doc, request in zip(documents, asked, strict=True):
        found = task.process_results(doc, [request.filtered_resps[name or known[0]]])
        if "exact_match" not in found:
            raise InputError(f"task {task.task_name!r} gives {', '.join(found)}, no exact_match", _WHERE)
        values.append(float(found["exact_match"]))
    return examples.select("example_id", "keyword", "gold").with_columns(
        value=pl.Series(values, dtype=pl.Float64), weight=pl.lit(1.0), chosen=pl.lit(0, dtype=pl.Int32)
    )


def _find_documents(task: Any, examples: pl.DataFrame) -> Sequence[Any]:
    lists = {split: list(docs) for split, docs in split_documents(task).items()}
    places = (example_id.rsplit("-", 1) for example_id in examples["example_id"])
    return [lists[split][int(place)] for split, place in places]


def describe_task(task: Any) -> str:
    """Return a hash of the task's configuration, for the record of a run."""
    return hash_text(str(sorted(task.dump_config().items(), key=lambda item: item[0])))
