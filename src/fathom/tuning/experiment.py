"""Score one model on one task, directly and after tuning [TrainBeforeTest, Sec. 3.1]."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from fathom.config.tuning import Lora, Metric, Task
from fathom.errors import InputError
from fathom.io.names import show_count
from fathom.jobs.devices import pick_device
from fathom.jobs.program import log
from fathom.jobs.resume import Resume, State
from fathom.models.adapters import add_adapter
from fathom.models.loading import Pointer, describe_loaded, load_model
from fathom.models.tokens import EncodedPair
from fathom.statistics.metrics import METRICS
from fathom.tuning.examples import SPLITS
from fathom.tuning.fine_tuning import measure_loss, tune
from fathom.tuning.harness import evaluate_generation, load_task
from fathom.tuning.task_scores import Encoder, compute_score, compute_standard_error, evaluate_examples


class Result(NamedTuple):
    """One model on one task, without or with its chat template.

    `scores`: validation score or loss after each epoch, by `lora.epoch_by`; `epoch`: the best of them, from
    1; `validated`: validation score of the best epoch; `direct`, `tuned`: outcomes of the test split before
    tuning, and with the weights of the best epoch; `curve`: under TUNING_CURVE; `cut`: encoded training and
    test prompts that lost their beginning.
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


class Candidate:
    """A model with a task that it is scored on and tuned for.

    `trim`: share that a trimmed mean cuts from each end. `chat`: whether prompts are in the chat template.
    """

    def __init__(
        self, pointer: Pointer, examples: pl.DataFrame, task: Task, lora: Lora, trim: float, chat: bool
    ) -> None:
        self.model, tokenizer = load_model(pointer, lora.dtype, pick_device("auto", "train_before_test"))
        self.description = describe_loaded(pointer, self.model, lora.dtype)
        self.encoder = Encoder(self.model, tokenizer, lora, pointer.add_bos, chat)
        self.name, self.chat, self.task, self.metric = pointer.name, chat, task, task.scored_by
        self.parts = {split: examples.filter(split=split) for split in SPLITS}
        self.lora, self._trim = lora, trim
        self._generated = load_task(task.task or "") if self.metric == "exact_match" else None

    def evaluate(self, split: str) -> pl.DataFrame:
        """Return the outcomes of the examples of a split."""
        some = self.parts[split]
        if self._generated is not None:
            return evaluate_generation(self.model, self.encoder, self._generated, some, self.task.filter)
        return evaluate_examples(self.model, some, self.encoder, self.metric, self.lora.batch_tokens)

    def validate(self) -> float:
        """Return the score of the validation split."""
        return compute_score(self.evaluate("valid"), self.metric, self._trim)

    def encode_examples(self, split: str) -> list[EncodedPair]:
        """Encode the correct continuations of a split, as :func:`encode_training` does."""
        return encode_training(self.parts[split], self.encoder, self.task, self.lora.loss)


def run_variants(
    pointer: Pointer, examples: pl.DataFrame, task: Task, lora: Lora, trim: float, resume: Resume
) -> tuple[list[Result], dict[str, Any]]:
    """Run the experiment without the chat template and, for a chat model on a task with prompts, with it.

    The states of the tunings are saved in `resume`, each as a part. The model that was loaded is described,
    too, see :func:`fathom.models.loading.describe_loaded`.
    """
    description, results = dict[str, Any](), list[Result]()
    for chat in [False, True] if pointer.kind == "chat" and task.kind != "text" else [False]:
        candidate = Candidate(pointer, examples, task, lora, trim, chat)
        results.append(run_experiment(candidate, resume.part(_name(chat))))
        description = candidate.description
        del candidate  # one model at a time lies in memory
    return results, description


def run_experiment(candidate: Candidate, resume: Resume) -> Result:
    """Score a model on a task's test split, tune it in place on the training split, score it again.

    Raise `InputError` if the task has too few validation examples.
    """
    metric, encoder, held_out = candidate.metric, candidate.encoder, candidate.parts["valid"]
    lora = candidate.lora
    if len(held_out) < lora.batch:
        what = f"{show_count(len(held_out), 'validation example')}, fewer than one batch of {lora.batch}"
        hint = "too few to choose an epoch: give the task more examples, or lower lora.batch"
        raise InputError(what, "train_before_test", hint)
    direct, before = _score_directly(candidate, resume.part(f"{_name(candidate.chat)}.direct"))
    log.info("%s before tuning: %s %.4g on the validation split", candidate.name, metric, before)
    add_adapter(candidate.model, lora, candidate.name)
    encoder.cut = 0
    training = candidate.encode_examples("train")
    cut = encoder.cut
    by_loss = lora.epoch_by == "loss"
    validate: Callable[[], float] = candidate.validate
    if by_loss:
        validate = partial(
            measure_loss, candidate.model, candidate.encode_examples("valid"), lora.batch_tokens
        )
    tuned = tune(candidate.model, training, validate, lora, "loss" if by_loss else metric, resume)
    validated = candidate.validate() if by_loss else tuned.scores[tuned.epoch - 1]
    encoder.cut = 0
    after = candidate.evaluate("test")
    steps = enumerate(zip(tuned.losses, tuned.rates, strict=True), start=1)
    curve = [(_name(candidate.chat), step, *point) for step, point in steps]
    return Result(
        candidate.chat, before, tuned.scores, tuned.epoch, validated, direct, after, curve, cut + encoder.cut
    )


def _score_directly(candidate: Candidate, resume: Resume) -> tuple[pl.DataFrame, float]:
    """Return the outcomes of the test split and the validation score before tuning.

    Both are saved: a run that resumes does not score again.
    """
    saved = resume.load()
    if saved:
        columns = {name: pl.Series(array) for name, array in saved.arrays.items()}
        test = candidate.parts["test"].select("example_id", "keyword", "gold")
        return test.with_columns(**columns), saved.values["before"]
    direct, before = candidate.evaluate("test"), candidate.validate()
    arrays = {name: direct[name].to_numpy() for name in ("value", "weight", "chosen")}
    resume.save(State({"before": before}, arrays))
    return direct, before


def encode_training(examples: pl.DataFrame, encoder: Encoder, task: Task, loss: str) -> list[EncodedPair]:
    """Encode the correct continuation of each example; a text in windows.

    Generated answers get the tokens that end an answer, so that the model learns to stop. With `lora.loss:
    all` every example gets them, as in the released code, which trains with TRL.
    """
    targets = [targets[gold] for targets, gold in examples.select("targets", "gold").iter_rows()]
    if task.kind == "text":
        return [piece for text in targets for piece in encoder.encode_text(text)]
    prompts = [prompts[gold] for prompts, gold in examples.select("prompts", "gold").iter_rows()]
    whole = loss == "all"
    pairs = encoder.encode(prompts, targets, ended=whole or task.scored_by == "exact_match")
    return [EncodedPair(pair.ids, 1, pair.backed_off) for pair in pairs] if whole else pairs


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


def describe_results(results: Sequence[Result], metric: Metric, trim: float) -> dict[str, Any]:
    """Return test scores before and after tuning, their standard errors, and what was chosen.

    `tuned` is the score of the epoch that validates best, whatever it is; `chosen` falls back to the
    direct score where no epoch validates better than the model as it was; `floored` is the better of
    direct and tuned on the test split, as published [TrainBeforeTest, App. A.3].
    """
    direct, tuned = choose_results(results, metric)
    outcomes = {"direct": direct.direct, "tuned": tuned.tuned}
    scores = {name: compute_score(frame, metric, trim) for name, frame in outcomes.items()}
    improved = METRICS[metric].is_better(tuned.validated, direct.before)
    better = METRICS[metric].is_better(scores["tuned"], scores["direct"])
    errors = {
        f"{name}_error": compute_standard_error(frame, metric, trim) for name, frame in outcomes.items()
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
    return "chat" if chat else "plain"
