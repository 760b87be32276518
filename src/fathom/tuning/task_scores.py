"""Score examples of a task, and compute the task's score from them [TrainBeforeTest, Sec. 3.1]."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.tuning import Lora, Metric
from fathom.errors import InputError
from fathom.models.loading import find_context_length
from fathom.models.text_model import find_long_length
from fathom.models.tokens import (
    EncodedPair,
    encode_chat_pairs,
    encode_document,
    encode_pairs,
    find_answer_end,
)
from fathom.numerics.precision import use_full_precision
from fathom.scoring.batches import open_replica, score_sequences
from fathom.scoring.scored_sequences import TokenScores, join_token_scores, plan_sequences
from fathom.statistics.aggregates import TRIMMED_MEAN, measure_values
from fathom.statistics.clusters import number_clusters


class Encoder:
    """Encodes examples for one model, with its BOS token, chat template and length limit.

    Examples are no longer than the model's context, whatever `max_tokens`. None asks the tokenizer for a BOS
    token. In a chat each prompt is the user's message.
    """

    def __init__(
        self, model: Any, tokenizer: Any, settings: Lora, add_bos: bool | None = None, chat: bool = False
    ) -> None:
        self.tokenizer, self.add_bos, self.chat = tokenizer, add_bos, chat
        context = find_context_length(model)
        self.most = settings.max_tokens if context is None else min(settings.max_tokens, context)
        self.cut = 0
        """Encoded training and test prompts that lost their beginning."""

    def encode(
        self, prompts: Sequence[str], targets: Sequence[str], ended: bool = False
    ) -> list[EncodedPair]:
        """Encode prompts with their targets, if `ended` with the tokens that end an answer.

        See :func:`fathom.models.tokens.encode_pairs`. Raise `InputError` if a target alone exceeds the
        model's context.
        """
        encode = encode_chat_pairs if self.chat else encode_pairs
        pairs = encode(self.tokenizer, prompts, targets, self.add_bos)
        if ended:
            end = find_answer_end(self.tokenizer, self.chat)
            pairs = [EncodedPair([*pair.ids, *end], pair.start, pair.backed_off) for pair in pairs]
        return [self._shorten(pair) for pair in pairs]

    def encode_text(self, text: str) -> list[EncodedPair]:
        """Encode a document as consecutive windows, each token predicted in one of them."""
        document = encode_document(self.tokenizer, text, self.add_bos)
        before = [] if document.bos is None else [document.bos]
        room, pieces = self.most - len(before), list[EncodedPair]()
        done = document.start
        while done < len(document.ids):
            # without a BOS token the token before a piece stands in for it
            left = done if before else done - 1
            ids = [*before, *document.ids[left : left + room]]
            pieces.append(EncodedPair(ids, 1, False))
            done = left + room
        return pieces

    def _shorten(self, pair: EncodedPair) -> EncodedPair:
        """Cut tokens after the first one until a pair fits."""
        over = len(pair.ids) - self.most
        if over <= 0:
            return pair
        if over > pair.start - 2:
            what = f"a target of {len(pair.ids) - pair.start} tokens does not fit into {self.most}"
            hint = "raise max_tokens, or leave the task out"
            raise InputError(what, "train_before_test.lora.max_tokens", hint)
        self.cut += 1
        return EncodedPair([pair.ids[0], *pair.ids[1 + over :]], pair.start - over, pair.backed_off)


def evaluate_examples(
    model: Any, examples: pl.DataFrame, encoder: Encoder, metric: Metric, batch_tokens: int
) -> pl.DataFrame:
    """Score examples one by one, by the rank of the target, the most likely option, or the bits of the text.

    Columns example_id, keyword, value, weight, gold, chosen, in the order of `examples`. `batch_tokens` are
    those of a micro-batch, padding included.
    """
    if metric == "bits_per_byte":
        return _evaluate_texts(model, examples, encoder, batch_tokens)
    counts = [len(targets) for targets in examples["targets"]]
    encoded = encoder.encode(
        examples["prompts"].explode(empty_as_null=False).to_list(),
        examples["targets"].explode(empty_as_null=False).to_list(),
    )
    rows = iter(score_encoded(model, encoded, batch_tokens))
    values, chosen = list[float](), list[int]()
    for count, gold, targets in zip(counts, examples["gold"], examples["targets"], strict=True):
        options = [next(rows) for _ in range(count)]
        if metric == "trimmed_mean_rank":
            values.append(float(options[gold].rank.mean()))
            chosen.append(0)
            continue
        chosen.append(_choose(options, targets, metric))
        # one option is always the most likely one: its text must be what greedy decoding gives
        found = bool((options[0].rank == 1).all()) if count == 1 else chosen[-1] == gold
        values.append(float(found))
    return _make_outcomes(examples, values, [1.0] * len(values), chosen)


def _choose(options: Sequence[TokenScores], targets: Sequence[str], metric: Metric) -> int:
    """Return the most likely option, per character for acc_norm; the first of ties."""
    logs = np.array([option.log_probability.sum() for option in options])
    if metric == "acc_norm":
        logs /= [len(target.removeprefix(" ")) for target in targets]
    return int(logs.argmax())


def _evaluate_texts(model: Any, examples: pl.DataFrame, encoder: Encoder, batch_tokens: int) -> pl.DataFrame:
    texts = [targets[0] for targets in examples["targets"]]
    pieces = [encoder.encode_text(text) for text in texts]
    rows = iter(score_encoded(model, [piece for some in pieces for piece in some], batch_tokens))
    bits = [-sum(float(next(rows).log_probability.sum()) for _ in some) / math.log(2) for some in pieces]
    sizes = [float(encode_document(encoder.tokenizer, text, encoder.add_bos).size) for text in texts]
    return _make_outcomes(examples, bits, sizes, [0] * len(texts))


def score_encoded(model: Any, encoded: Sequence[EncodedPair], batch_tokens: int) -> list[TokenScores]:
    """Return rank and log-probability of the target tokens of encoded pairs, in their order."""
    import torch

    if not encoded:
        return []
    plan = plan_sequences(encoded, find_long_length(model))
    training = model.training
    model.eval()
    with torch.inference_mode(), use_full_precision():
        replica = open_replica(model, plan.sequences[0].ids, "the model")
        tokens = join_token_scores(list(score_sequences([replica], plan.sequences, batch_tokens, None)))
    model.train(training)
    if not np.isfinite(tokens.log_probability).all():
        hint = "a corrupt checkpoint, or the tuning diverged: lower lora.learning_rate"
        raise InputError("the model gives logits that are not finite", "train_before_test", hint)
    return [tokens.pick(rows) for rows in plan.rows]


def _make_outcomes(
    examples: pl.DataFrame, values: Sequence[float], weights: Sequence[float], chosen: Sequence[int]
) -> pl.DataFrame:
    return examples.select("example_id", "keyword", "gold").with_columns(
        value=pl.Series(values, dtype=pl.Float64),
        weight=pl.Series(weights, dtype=pl.Float64),
        chosen=pl.Series(chosen, dtype=pl.Int32),
    )


def compute_score(outcomes: pl.DataFrame, metric: Metric, trim: float) -> float:
    """Return the score of a task from those of its examples; `trim`: share that a trimmed mean cuts."""
    return _aggregate(metric, trim, *_columns(outcomes))


def compute_standard_error(
    outcomes: pl.DataFrame, metric: Metric, trim: float, rounds: int = 1000, seed: int = 0
) -> float:
    """Return the standard error of a score by a bootstrap over keywords, or over examples without one.

    Resamples of n keywords vary too little by the factor sqrt((n - 1) / n), which is made up for [Hesterberg,
    Sec. 5.3]. An interval takes Student's t with n - 1 degrees of freedom.
    """
    columns = _columns(outcomes)
    clusters = number_clusters(outcomes["keyword"].to_list())
    order = np.argsort(clusters, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(clusters))[:-1])
    random = np.random.default_rng(seed)
    found = []
    for _ in range(rounds):
        rows = np.concatenate([parts[place] for place in random.integers(len(parts), size=len(parts))])
        found.append(_aggregate(metric, trim, *(column[rows] for column in columns)))
    return float(np.std(found, ddof=1)) * math.sqrt(len(parts) / max(1, len(parts) - 1))


def _columns(outcomes: pl.DataFrame) -> tuple[NDArray[Any], ...]:
    return tuple(outcomes[name].to_numpy() for name in ("value", "weight", "gold", "chosen"))


def _aggregate(metric: Metric, trim: float, *columns: NDArray[Any]) -> float:
    value, weight, gold, chosen = columns
    if metric == "trimmed_mean_rank":
        return measure_values(value, TRIMMED_MEAN, trim)
    if metric == "bits_per_byte":
        return float(value.sum() / weight.sum())
    if metric == "mcc":
        from sklearn.metrics import matthews_corrcoef

        return float(matthews_corrcoef(gold, chosen))
    return float(value.mean())
