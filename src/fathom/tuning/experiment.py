"""Score one model on one task, directly and after tuning [TrainBeforeTest, Sec. 3.1]."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import polars as pl

from fathom.config.tuning import Lora, Metric, Task
from fathom.errors import InputError
from fathom.jobs.devices import pick_device
from fathom.jobs.program import log
from fathom.jobs.resume import Resume, State
from fathom.models.loading import Pointer, describe_loaded, load_model
from fathom.models.lora import add_adapter
from fathom.models.tokens import EncodedPair
from fathom.statistics.metrics import METRICS
from fathom.tuning.fine_tuning import Tuned, measure_loss, tune
from fathom.tuning.harness import evaluate_generation, load_task
from fathom.tuning.task_scores import (
    Encoder,
    compute_score,
    compute_standard_error,
    evaluate_examples,
)

CURVE_COLUMNS = ("template", "step", "loss", "learning_rate")
"""Header of a tuning's curve: one line for each step."""


class Result(NamedTuple):
    """One model on one task, without or with its chat template.

    Attributes
    ----------
    chat : bool
        Whether prompts were in the chat template.
    before : float
        Validation score before tuning.
    scores : list of float
        Validation score or loss after each epoch, by `lora.epoch_by`.
    epoch : int
        The best of them, from 1.
    validated : float
        Validation score of the best epoch.
    direct, tuned : DataFrame
        Outcomes of the test split before tuning, and with the weights of the best epoch.
    curve : list of tuples
        Under CURVE_COLUMNS.
    cut : int
        Encoded training and test prompts that lost their beginning.
    """

    chat: bool
    before: float
    scores: list[float]
    epoch: int
    validated: float
    direct: pl.DataFrame
    tuned: pl.DataFrame
    curve: list[tuple[str, int, float, float]]
    cut: int


def run_variants(
    pointer: Pointer, examples: pl.DataFrame, task: Task, settings: Lora, resume: Resume
) -> tuple[list[Result], dict[str, Any]]:
    """Run the experiment without the chat template and, for a chat model on a task with prompts, with it.

    Parameters
    ----------
    pointer, examples, task, settings
        See :func:`run_experiment`.
    resume : Resume
        Where the states of the tunings are saved, each as a part.

    Returns
    -------
    results : list of Result
    description : dict
        The model that was loaded, see :func:`fathom.models.loading.describe_loaded`.
    """
    description, results = dict[str, Any](), list[Result]()
    for chat in [False, True] if pointer.kind == "chat" and task.kind != "text" else [False]:
        state = resume.part("chat" if chat else "plain")
        description, result = run_experiment(pointer, examples, task, settings, chat, state)
        results.append(result)
    return results, description


def run_experiment(
    pointer: Pointer, examples: pl.DataFrame, task: Task, settings: Lora, chat: bool, resume: Resume
) -> tuple[dict[str, Any], Result]:
    """Score a model on a task's test split, tune it on the training split, score it again.

    Parameters
    ----------
    pointer : Pointer
    examples : DataFrame
        Under contract EXAMPLES.
    task : Task
    settings : Lora
    chat : bool
        Put prompts into the chat template.
    resume : Resume
        Where the state of the tuning is saved.

    Returns
    -------
    description : dict
        The model that was loaded, see :func:`fathom.models.loading.describe_loaded`.
    result : Result

    Raises
    ------
    InputError
        If the model's files have changed, or the task has too few validation examples.
    """
    metric = task.scored_by
    model, tokenizer = load_model(pointer, settings.dtype, pick_device("auto", "train_before_test"))
    description = describe_loaded(pointer, model, settings.dtype)
    encoder = Encoder(model, tokenizer, settings, pointer.add_bos, chat)
    parts = {split: examples.filter(pl.col("split") == split) for split in ("train", "valid", "test")}
    if len(parts["valid"]) < settings.batch:
        raise InputError(
            f"{len(parts['valid'])} validation examples are fewer than one batch of {settings.batch}",
            "train_before_test",
            "too few to choose an epoch: give the task more examples, or lower lora.batch",
        )
    generated = load_task(task.task or "") if metric == "exact_match" else None

    def evaluate(split: str) -> pl.DataFrame:
        if generated is not None:
            return evaluate_generation(model, encoder, generated, parts[split], task.filter)
        return evaluate_examples(model, parts[split], encoder, metric, settings.batch_tokens)

    direct, before = _score_directly(evaluate, parts["test"], metric, resume.part(f"{_name(chat)}.direct"))
    log.info("%s before tuning: %s %.4g on the validation split", pointer.name, metric, before)
    add_adapter(model, settings, pointer.name)
    encoder.cut = 0
    training = encode_training(parts["train"], encoder, task, settings)
    cut = encoder.cut
    by_loss = settings.epoch_by == "loss"
    if by_loss:
        held_out = encode_training(parts["valid"], encoder, task, settings)
        tuned = tune(
            model,
            training,
            lambda: measure_loss(model, held_out, settings.batch_tokens),
            settings,
            "loss",
            resume,
        )
        validated = compute_score(evaluate("valid"), metric)
    else:
        tuned = tune(
            model, training, lambda: compute_score(evaluate("valid"), metric), settings, metric, resume
        )
        validated = tuned.scores[tuned.epoch - 1]
    encoder.cut = 0
    after = evaluate("test")
    curve = _list_curve(tuned, settings, _name(chat))
    result = Result(
        chat, before, tuned.scores, tuned.epoch, validated, direct, after, curve, cut + encoder.cut
    )
    return description, result


def _score_directly(
    evaluate: Callable[[str], pl.DataFrame], test: pl.DataFrame, metric: Metric, resume: Resume
) -> tuple[pl.DataFrame, float]:
    """Return the outcomes of the test split and the validation score before tuning.

    Both are saved: a run that resumes does not score again.
    """
    saved = resume.load()
    if saved:
        columns = {name: pl.Series(array) for name, array in saved.arrays.items()}
        return test.select("example_id", "keyword", "gold").with_columns(**columns), saved.values["before"]
    direct = evaluate("test")
    before = compute_score(evaluate("valid"), metric)
    arrays = {name: direct[name].to_numpy() for name in ("value", "weight", "chosen")}
    resume.save(State({"before": before}, arrays))
    return direct, before


def encode_training(
    examples: pl.DataFrame, encoder: Encoder, task: Task, settings: Lora
) -> list[EncodedPair]:
    """Encode the correct continuation of each example; a text in windows.

    Generated answers get the tokens that end an answer, so that the model learns to stop. With `lora.loss:
    all` every example gets them, as in the released code, which trains with TRL.
    """
    targets = [targets[gold] for targets, gold in examples.select("targets", "gold").iter_rows()]
    if task.kind == "text":
        return [piece for text in targets for piece in encoder.encode_text(text)]
    prompts = [prompts[gold] for prompts, gold in examples.select("prompts", "gold").iter_rows()]
    whole = settings.loss == "all"
    pairs = encoder.encode(prompts, targets, ended=whole or task.scored_by == "exact_match")
    return [EncodedPair(pair.ids, 1, pair.backed_off) for pair in pairs] if whole else pairs


def _list_curve(tuned: Tuned, settings: Lora, template: str) -> list[tuple[str, int, float, float]]:
    """Return a line under CURVE_COLUMNS for each step."""
    total = len(tuned.losses)
    return [
        (template, step + 1, loss, settings.learning_rate * (1 - step / total))
        for step, loss in enumerate(tuned.losses)
    ]


def choose_results(results: Sequence[Result], metric: Metric) -> tuple[Result, Result]:
    """Return the variants that validate best before and after tuning; the first of ties."""
    direct = tuned = results[0]
    for result in results[1:]:
        if METRICS[metric].is_better(result.before, direct.before):
            direct = result
        if METRICS[metric].is_better(result.validated, tuned.validated):
            tuned = result
    return direct, tuned


def join_outcomes(results: Sequence[Result], metric: Metric) -> pl.DataFrame:
    """Return the outcomes of the chosen variants under contract OUTCOMES, first direct, then tuned."""
    direct, tuned = choose_results(results, metric)
    before = direct.direct.with_columns(condition=pl.lit("direct"))
    after = tuned.tuned.with_columns(condition=pl.lit("tuned"))
    return pl.concat([before.select(after.columns), after])  # a saved state has its own order of columns


def describe_results(results: Sequence[Result], metric: Metric) -> dict[str, Any]:
    """Return test scores before and after tuning, their standard errors, and what was chosen.

    `tuned` is the score of the epoch that validates best, whatever it is; `chosen` falls back to the
    direct score where no epoch validates better than the model as it was; `floored` is the better of
    direct and tuned on the test split, as published [TrainBeforeTest, App. A.3].
    """
    direct, tuned = choose_results(results, metric)
    scores = {"direct": compute_score(direct.direct, metric), "tuned": compute_score(tuned.tuned, metric)}
    improved = METRICS[metric].is_better(tuned.validated, direct.before)
    better = METRICS[metric].is_better(scores["tuned"], scores["direct"])
    errors = {
        "direct_error": compute_standard_error(direct.direct, metric),
        "tuned_error": compute_standard_error(tuned.tuned, metric),
    }
    return {
        "metric": metric,
        **scores,
        "chosen": scores["tuned" if improved else "direct"],
        "floored": scores["tuned" if better else "direct"],
        **errors,
        "chosen_error": errors["tuned_error" if improved else "direct_error"],
        "improved": improved,
        "templates": {"direct": _name(direct.chat), "tuned": _name(tuned.chat)},
        "validation": {_name(result.chat): [result.before, result.validated] for result in results},
        "epochs": {_name(result.chat): result.scores for result in results},
        "epoch": tuned.epoch,
        "prompts_cut": {_name(result.chat): result.cut for result in results},
        "test_examples": direct.direct.height,
    }


def _name(chat: bool) -> str:
    """Return the name of a variant."""
    return "chat" if chat else "plain"
