"""Knowledge of a domain while a model learns: for any training loop, and for transformers' Trainer.

The model is scored by the same code as `fathom.score` and left unchanged: training continues bit for bit as
without it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.scoring import Scoring, Summary
from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.jobs.program import log
from fathom.models.loading import Pointer
from fathom.models.tokens import encode_pairs
from fathom.models.undisturbed import follow_first, leave_undisturbed, unwrap_model
from fathom.scoring.bits import find_known
from fathom.scoring.pair_files import take_pairs
from fathom.scoring.ranks import check_pairs, score_benchmarks
from fathom.statistics.aggregates import GEOMETRIC_MEAN, MEAN
from fathom.statistics.bootstrap import Estimate, Resampled
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.metrics import BITS, RANK, RANKS, RIVAL_RANK, Metric
from fathom.statistics.summaries import resample_values, select_known

EVERY, PAIRS = 100, 200
"""Steps from one measurement to the next, and pairs in each, by default."""

SHARE = 0.02
"""Share of the training time from which to warn that measurements are expensive."""

Pairs = pl.DataFrame | Path | str | Sequence[Mapping[str, Any]]


class Patience(NamedTuple):
    """When a model's knowledge of a domain counts as flat.

    `min_change`: an improvement counts if it is more than this since the last one, with the whole interval of
    the change, by paired bootstrap over keywords: in bits; by rank, as a share of the geometric mean rank.
    """

    patience: int | None = None  # so many measurements in a row without an improvement; None: never
    min_change: float = 0.0
    lead: Literal["bits", "rank"] = "bits"


class Improving(TypedDict, total=False):
    """The fields of :class:`Patience` as options."""

    patience: int | None
    min_change: float
    lead: Literal["bits", "rank"]


@dataclass(frozen=True)
class DomainRankPoint:
    """A measurement.

    `ranks`, `rival_ranks`: trimmed and geometric mean rank with their intervals, by name of the statistic;
    the same among rivals, the targets of these pairs. `change`: bits gained since the last improvement; by
    rank, the share by which the geometric mean rank is lower. Paired interval.
    """

    step: int
    ranks: dict[str, Estimate]
    rival_ranks: dict[str, Estimate]
    bits: Estimate | None  # mean knowledge in bits; None where pairs have none
    log_probability: float  # mean over the pairs of the target's log-probability, in nats
    change: Estimate
    improved: bool  # whether that counts as an improvement; the first measurement does
    scores: pl.DataFrame  # scores of all pairs under contract SCORES, as :func:`fathom.score` gives them

    def as_log(self) -> dict[str, float]:
        """Return the numbers to log beside the loss."""
        ranks = {
            f"domain_{name}_{metric.name}": estimate.value
            for metric, found in zip(RANKS, (self.ranks, self.rival_ranks), strict=True)
            for name, estimate in found.items()
        }
        known = {} if self.bits is None else {f"domain_{BITS.name}": self.bits.value}
        return {**known, **ranks, "domain_log_probability": self.log_probability}


class DomainRank:
    """Measures what a model knows of a domain at intervals during a training, in bits and by ranks.

    Parameters
    ----------
    pairs : DataFrame, Path, str, or list of dict
        As for :func:`fathom.score`: `prompt` and `target`, and `keyword`, over which intervals are drawn.
    tokenizer : transformers tokenizer
        The model's.
    every : int, default=100
        Steps from one measurement to the next.
    count : int, default=200
        Pairs to score, drawn by a hash of their ids, equally from all keywords.
    add_bos : bool, optional
        Whether a BOS token comes first; by default the tokenizer decides.
    patience : int, optional
        Measurements without an improvement after which it is flat.
    min_change : float, default=0.0
        Bits that an improvement gains, with the whole interval of the change; by rank, share by which the
        geometric mean rank has to fall.
    lead : {"bits", "rank"}, default="bits"
        Metric of improvement. Pairs without bits, as they lack two keywords or different targets, use ranks.

    Attributes
    ----------
    points : list of DomainRankPoint
        Measurements.

    Raises
    ------
    InputError
        If there are no pairs, no tokenizer, or a target has no token of its own.

    Examples
    --------
    >>> from transformers import AutoModelForCausalLM, AutoTokenizer
    >>> import fathom
    >>> model, tokenizer = (each.from_pretrained("gpt2") for each in (AutoModelForCausalLM, AutoTokenizer))
    >>> learned = {"prompt": "The agent learns a", "target": " policy", "keyword": "agent"}
    >>> pairs = [learned, {"prompt": "Its weights minimise a", "target": " loss", "keyword": "weights"}]
    >>> domain = fathom.DomainRank(pairs, tokenizer, every=2)
    >>> for step in range(5):  # a training loop
    ...     point = domain(model, step)
    >>> [point.step for point in domain.points]
    [0, 2, 4]
    >>> for name in sorted(point.as_log()):
    ...     print(name)
    domain_bits
    domain_geometric_mean_rank
    domain_geometric_mean_rival_rank
    domain_log_probability
    domain_trimmed_mean_rank
    domain_trimmed_mean_rival_rank
    """

    def __init__(
        self,
        pairs: Pairs,
        tokenizer: Any,
        *,
        every: int = EVERY,
        count: int = PAIRS,
        add_bos: bool | None = None,
        **improving: Unpack[Improving],
    ) -> None:
        self.patience = Patience(**improving)
        if self.patience.lead not in (BITS.name, RANK.name):
            raise InputError(f"lead = {self.patience.lead!r}", "DomainRank", "give 'bits' or 'rank'")
        if tokenizer is None:
            raise InputError("there is no tokenizer", "DomainRank", "give the model's tokenizer")
        for name, value in {"every": every, "count": count, "patience": self.patience.patience}.items():
            if value is not None and value < 1:
                raise InputError(f"{name} = {value}", "DomainRank", "give 1 or more")
        complete = take_pairs(pairs)
        check_pairs(complete)
        self.pairs = draw_pairs(complete, count)
        encode_pairs(tokenizer, self.pairs["prompt"].to_list(), self.pairs["target"].to_list(), add_bos)
        self.tokenizer, self.every = tokenizer, every
        self.points: list[DomainRankPoint] = []
        self._reference: Resampled | None = None
        self._pointer = Pointer("the model", Path(), add_bos=add_bos)
        self._clusters = choose_clusters(self.pairs).names
        known = find_known(self.pairs["target"].to_list(), self.pairs["keyword"].to_list())
        self._by_bits = self.patience.lead == BITS.name and bool(known.any())
        if self.patience.lead == BITS.name and not self._by_bits:
            log.info(
                "these pairs have no bits, which need two keywords and different targets: comparing by rank"
            )

    def __call__(self, model: Any, step: int) -> DomainRankPoint | None:
        """Measure if it is due at this step; return the measurement, or None."""
        if step % self.every or (self.points and self.points[-1].step == step):
            return None
        return self.measure(model, step)

    def measure(self, model: Any, step: int) -> DomainRankPoint:
        """Score the pairs on the current model, and leave everything unchanged.

        Parameters
        ----------
        model : transformers causal language model
            In any mode, on any device, also inside data parallelism, `torch.compile` or PEFT.

        Raises
        ------
        InputError
            If a pair is longer than the model's context, logits are not finite, or weights are divided among
            processes.
        """
        inner = unwrap_model(model)
        with leave_undisturbed(inner):
            scores = score_benchmarks(inner, self.tokenizer, [self.pairs], Scoring(), self._pointer)[0]
        found = {metric: self._resample(scores[metric.name].to_numpy(), metric) for metric in (BITS, *RANKS)}
        self._by_bits &= bool(found[BITS])
        change, improved = self._compare(found)
        summed = {
            metric: {name: each.estimate(Summary().confidence) for name, each in drawn.items()}
            for metric, drawn in found.items()
        }
        point = DomainRankPoint(
            step, summed[RANK], summed[RIVAL_RANK], summed[BITS].get(MEAN.name),
            float(scores["log_probability"].to_numpy().mean()), change, improved, scores,
        )  # fmt: skip
        self.points.append(point)
        return point

    @property
    def flat(self) -> bool:
        """Whether knowledge has not improved for as many measurements as patience allows."""
        allowed = self.patience.patience
        since = next((back for back, point in enumerate(reversed(self.points)) if point.improved), 0)
        return allowed is not None and since >= allowed

    def _compare(self, found: "Mapping[Metric, Mapping[str, Resampled]]") -> tuple[Estimate, bool]:
        """Return the change since the last improvement, and whether it is an improvement."""
        now = found[BITS][MEAN.name] if self._by_bits else found[RANK][GEOMETRIC_MEAN.name]
        if self._reference is None:
            self._reference = now
            return Estimate(0.0, 0.0, 0.0), True
        then = self._reference
        rows = now.rows - then.rows if self._by_bits else 1 - now.rows / then.rows
        change = now.combine(then, rows).estimate(Summary().confidence)
        # with a single cluster the interval has no width and proves nothing
        improved = len(set(self._clusters)) > 1 and change.low > self.patience.min_change
        if improved:
            self._reference = now
        return change, improved

    def _resample(self, values: NDArray[np.float64], metric: Metric) -> dict[str, Resampled]:
        known, clusters = select_known(values, self._clusters)
        names = [statistic.name for statistic in metric.compared]
        if not len(known):
            return {}
        return resample_values(known, clusters, Summary(), names, metric.fitted_on)


def draw_pairs(pairs: pl.DataFrame, count: int) -> pl.DataFrame:
    """Return pairs drawn by a hash of their ids, as equally from all keywords as possible.

    The result does not depend on the order of the pairs, and fewer pairs are a part of more.
    """
    hashed = pairs.with_columns(
        _hash=pl.Series([hash_text(name) for name in pairs["pair_id"]], dtype=pl.String),
        _group=pl.Series([hash_text(name) for name in pairs["keyword"]], dtype=pl.String),
    ).sort("_hash", "pair_id")
    turns = hashed.with_columns(_turn=pl.int_range(pl.len()).over("keyword"))
    drawn = turns.sort("_turn", "_group", "_hash", "pair_id").head(count)
    return drawn.select(pl.exclude("_hash", "_group", "_turn"))


class DomainRankCallback:
    """A callback of transformers' Trainer: logs knowledge of a domain beside the loss; can stop training.

    It measures before the first step, every `every` steps, and at the end. `domain_bits`,
    `domain_trimmed_mean_rank`, `domain_geometric_mean_rank`, the same of `rival_rank`, and
    `domain_log_probability` go to the Trainer's log history and, after `attach`, to where it reports:
    TensorBoard, Weights & Biases and others.

    Parameters
    ----------
    pairs : DataFrame, list of dict or path
        See :class:`DomainRank`.
    tokenizer : transformers tokenizer, optional
        By default the Trainer's `processing_class`.
    log : callable, optional
        Takes the numbers of a measurement instead of the Trainer.
    **options
        `every`, `count`, `patience`, `min_change`, `lead` and `add_bos` of :class:`DomainRank`. With
        `patience`, training stops once knowledge of the domain is flat.

    Attributes
    ----------
    domain : DomainRank or None
        The measuring object; set when training begins.
    share : float
        Share of the training time that measurements have taken.

    Raises
    ------
    InputError
        If there are no pairs or no tokenizer, or a target has no token of its own: before the first step.
    """

    def __init__(
        self,
        pairs: Pairs,
        tokenizer: Any = None,
        *,
        log: Callable[[dict[str, float]], Any] | None = None,
        **options: Any,
    ) -> None:
        self.log, self.share = log, 0.0
        self.domain: DomainRank | None = None
        self._pairs, self._options = take_pairs(pairs), options
        self._began = self._spent = 0.0
        self._handler: Any = None
        if tokenizer is not None:
            self._start(tokenizer)

    def attach(self, trainer: Any) -> "DomainRankCallback":
        """Add this callback to a Trainer, and report where the Trainer does; return the callback.

        A Trainer does not tell its callbacks where it reports, so `callbacks=[callback]` alone reaches only
        the log history.
        """
        self._handler = trainer.callback_handler
        if self not in self._handler.callbacks:
            trainer.add_callback(self)
        return self

    def _start(self, tokenizer: Any) -> DomainRank:
        if self.domain is None:
            self.domain = DomainRank(self._pairs, tokenizer, **self._options)
        return self.domain

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Do nothing at all other events: a subclass of TrainerCallback would import transformers."""
        if name.startswith("on_"):
            return lambda *given, **named: None
        raise AttributeError(name)

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Measure the model before its first step; a resumed training begins where it is."""
        self._start(given.get("processing_class"))
        self._began = time.perf_counter()
        self._spent = 0.0
        self._measure(args, state, control, given["model"], due=True)

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Measure if due, or at the last step, as reporters may close when training ends."""
        self._measure(args, state, control, given["model"], due=control.should_training_stop)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Measure the last step if another callback has ended training after it."""
        self._measure(args, state, control, given["model"], due=True)

    def _measure(self, args: Any, state: Any, control: Any, model: Any, due: bool) -> None:
        domain = self._start(None)
        step, started = state.global_step, time.perf_counter()
        if due and (not domain.points or domain.points[-1].step != step):
            point: DomainRankPoint | None = domain.measure(model, step)
        else:
            point = domain(model, step)
        if point is None:
            return
        now = time.perf_counter()
        self._spent += now - started
        self._report(point, args, state, control)
        self.share = self._spent / (now - self._began)
        if step and self.share > SHARE and len(domain.points) == 3:
            log.warning(
                "measuring the domain takes %.1f %% of the training time: raise every or lower count",
                100 * self.share,
            )
        if follow_first(domain.flat, model) and not control.should_training_stop:
            # without logging set up a script shows warnings alone
            log.warning("step %s: knowledge of the domain no longer grows, stopping the training", step)
            control.should_training_stop = True

    def _report(self, point: DomainRankPoint, args: Any, state: Any, control: Any) -> None:
        """Pass a measurement to `log`, or to the Trainer's log history and reporters."""
        if self.log is not None:
            self.log(point.as_log())
            return
        logs = {**point.as_log(), "epoch": state.epoch}
        state.log_history.append({**logs, "step": point.step})
        if self._handler is not None:
            # not `trainer.log`: TRL's resets its means of the last steps there; and the event says that
            # the Trainer has logged, so it would leave out the loss of this step
            due = control.should_log
            self._handler.on_log(args, state, control, logs)
            control.should_log = due
