"""Targets through the layers: rank and probability at each, and its distance from the last.

Source: [BeyondBenchmarks, Sec. 3.3.3].

Shared prefixes are read once, as in scoring. The rank at a layer comes from counting larger logits. The same
logits give the usual measures of logit lenses: entropy, agreement and divergence.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.layers import Layers
from fathom.errors import InputError
from fathom.io.contracts.layers import LAYER_TARGETS
from fathom.io.files import hash_text
from fathom.io.tables import make_empty_table
from fathom.jobs.program import log
from fathom.layers.projection import LayerReader, Translators, open_layer_reader, read_hidden_states
from fathom.models.text_model import find_long_length
from fathom.models.tokens import encode_pairs
from fathom.numerics.precision import widen
from fathom.scoring.logits import count_larger, describe_non_finite, evaluate_models
from fathom.scoring.ranks import check_lengths, check_pairs
from fathom.scoring.scored_sequences import plan_sequences

if TYPE_CHECKING:
    from torch import Tensor

MEASURES = ("rank", "probability", "entropy", "agreement", "divergence")


class ForwardSettings(NamedTuple):
    """Tokens per batch, including padding, and a BOS token or not; None: the tokenizer's default."""

    batch_tokens: int
    add_bos: bool | None = None
    name: str = "the model"


def sample_pairs(pairs: pl.DataFrame, settings: Layers) -> pl.DataFrame:
    """Sample keywords and pairs of each, by a hash of their names: the same sample for every model.

    Keywords with enough pairs come first. If they are too few, those with the most pairs follow.
    """
    if pairs.is_empty():
        raise InputError("the benchmark has no pairs", "layers", "see its card")
    seed = str(settings.seed)
    counts = dict(pairs.group_by("keyword").len().rows())
    order = sorted(counts, key=lambda word: (-min(counts[word], settings.pairs), hash_text(seed, word)))
    chosen = order[: settings.keywords]
    keys = [hash_text(seed, pair_id) for pair_id in pairs["pair_id"]]
    kept = (
        pairs.with_columns(pl.Series("order", keys, dtype=pl.String))
        .filter(pl.col("keyword").is_in(chosen))
        .sort("keyword", "order")
        .group_by("keyword", maintain_order=True)
        .head(settings.pairs)
        .drop("order")
    )
    fewer = sum(counts[word] < settings.pairs for word in chosen)
    log.info(
        "%s pairs of %s keywords, %s of which have fewer than %s pairs",
        f"{len(kept):,}", len(chosen), fewer, settings.pairs,
    )  # fmt: skip
    return kept


def measure_targets(
    model: Any,
    tokenizer: Any,
    pairs: pl.DataFrame,
    settings: ForwardSettings,
    translators: Translators | None = None,
) -> pl.DataFrame:
    """Return rank and probability of every target at every layer, with entropy, agreement and divergence.

    Under LAYER_TARGETS, by pair, lens and layer; the last layer of the plain lens is the model's output. A
    tuned lens, `translators`, is measured in addition to the logit lens. Raise `InputError` if a pair cannot
    be encoded or is too long, or logits are not finite.
    """
    check_pairs(pairs)
    encoded = encode_pairs(tokenizer, pairs["prompt"].to_list(), pairs["target"].to_list(), settings.add_bos)
    names = pairs["pair_id"].to_list()
    check_lengths(model, encoded, names, settings.name)
    plan = plan_sequences(encoded, find_long_length(model))
    reader = open_layer_reader(model, plan.sequences[0].ids, settings.name)
    parts = []
    with evaluate_models([model]):
        for states, targets in read_hidden_states(reader, plan.sequences, settings.batch_tokens, "sequences"):
            parts.append(measure_target_tokens(reader, states, targets, translators))
    values = np.concatenate(parts, axis=2)  # of shape (n_lenses, n_layers, n_tokens, n_measures)
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=(0, 1, 3)))
    if len(wrong):
        name = next(name for name, rows in zip(names, plan.rows, strict=True) if int(wrong[0]) in rows)
        raise describe_non_finite(settings.name, f"pair {name!r}", "layers")
    return _make_frame(pairs, plan.rows, values)


def measure_target_tokens(
    reader: LayerReader, states: "Tensor", targets: "Tensor", translators: Translators | None = None
) -> NDArray[np.float64]:
    """Return all measures of target tokens, shape (n_lenses, n_layers, n_tokens, n_measures), float64.

    `states` are the hidden states at the positions that predict the targets, of shape (n_layers, n_tokens,
    n_features); `targets` are the true tokens, of shape (n_tokens,), int64.
    """
    n_lenses = 1 if translators is None else 2
    values = np.empty((n_lenses, reader.n_layers, len(targets), len(MEASURES)))
    for rows in reader.slice_rows(len(targets)):
        logits = reader.to_logits(states[-1, rows])
        last = summarize_last_layer(logits.clone())
        values[:, -1, rows] = measure_rows(logits, last, targets[rows])  # the last layer has no translator
        for layers in reader.slice_layers(len(targets[rows])):
            for lens, tuned in enumerate((None, translators)[:n_lenses]):
                chosen = states[layers, rows]
                chosen = chosen if tuned is None else tuned.apply_each(chosen, layers.start)
                for layer, logits in enumerate(reader.to_logits(chosen), start=layers.start):
                    values[lens, layer, rows] = measure_rows(logits, last, targets[rows])
    return values


class LastLayer(NamedTuple):
    """The last layer's predictions at some positions."""

    log_probabilities: "Tensor"  # of shape (n_rows, n_entries), float32
    probabilities: "Tensor"  # of the same shape
    top: "Tensor"  # of shape (n_rows, 1), int64: the most likely token


def summarize_last_layer(logits: "Tensor") -> LastLayer:
    """Return the last layer's predictions from its logits, which are overwritten."""
    top = _find_top(logits)
    logits.sub_(logits.gather(1, top))
    log_probabilities = _normalize(logits, logits.exp())
    return LastLayer(log_probabilities, log_probabilities.exp(), top)


def _find_top(logits: "Tensor") -> "Tensor":
    import torch

    if logits.device.type == "cpu":  # NumPy is several times as fast as PyTorch here
        return torch.from_numpy(logits.numpy().argmax(1))[:, None]
    return logits.argmax(1, keepdim=True)


def _normalize(logits: "Tensor", exponentials: "Tensor") -> "Tensor":
    return logits.sub_(widen(exponentials.sum(1, keepdim=True)).log().to(logits))


def measure_rows(logits: "Tensor", last: LastLayer, targets: "Tensor") -> NDArray[np.float64]:
    """Return the measures of each row of a layer's logits, which are overwritten, in the order of MEASURES.

    Logits are of shape (n_rows, n_entries), float32, targets of shape (n_rows,), int64; the result of shape
    (n_rows, n_measures), float64.
    """
    columns = measure_row_tensors(logits, last, targets)
    return np.stack([column.cpu().double().numpy() for column in columns], axis=1)


def measure_row_tensors(logits: "Tensor", last: LastLayer, targets: "Tensor") -> list["Tensor"]:
    """Return the measures of :func:`measure_rows` on the device of the logits, each of shape (n_rows,)."""
    import torch

    own = logits.gather(1, targets[:, None])
    rank = 1 + count_larger(logits, own)
    top = _find_top(logits)
    maximum = logits.gather(1, top)
    logits.sub_(maximum)
    exponentials = logits.exp()
    total = widen(exponentials.sum(1))
    log_total = total.log()
    probability = ((widen(own) - widen(maximum))[:, 0] - log_total).exp()
    # both terms of the entropy are positive: no cancellation; below, memory is reused
    _normalize(logits, exponentials)
    entropy = -widen(exponentials.mul_(logits).sum(1)) / total
    difference = torch.sub(last.log_probabilities, logits, out=exponentials)
    divergence = difference.mul_(last.probabilities).sum(1).clamp_min_(0.0)
    agreement = (top == last.top)[:, 0]
    return [rank, probability, entropy, agreement, divergence]


def _make_frame(
    pairs: pl.DataFrame, rows: Sequence[Sequence[int]], values: NDArray[np.float64]
) -> pl.DataFrame:
    """Return means over each target's tokens, one row per pair, lens and layer."""
    n_lenses, n_layers = values.shape[:2]
    # of shape (n_pairs, n_lenses, n_layers, n_measures)
    means = np.stack([values[:, :, list(tokens)].mean(axis=2) for tokens in rows])
    repeats = n_lenses * n_layers
    columns: dict[str, Any] = {
        "pair_id": np.repeat(pairs["pair_id"].to_numpy(), repeats),
        "keyword": np.repeat(pairs["keyword"].to_numpy(), repeats),
        "lens": np.tile(np.repeat(["plain", "tuned"][:n_lenses], n_layers), len(pairs)),
        "layer": np.tile(np.arange(n_layers), len(pairs) * n_lenses),
        "tokens": np.repeat([len(tokens) for tokens in rows], repeats),
    }
    columns |= {name: means[..., index].ravel() for index, name in enumerate(MEASURES)}
    empty = make_empty_table(LAYER_TARGETS)
    return pl.DataFrame(columns).cast(empty.schema).select(empty.columns)
