"""The true target at every layer, and how near the layer is to the last [BeyondBenchmarks, Sec. 3.3.3].

Each beginning is read once, as for scores; at every layer the rank comes from counting larger logits. The
same rows of logits give what users of logit lenses look at: entropy, agreement, divergence.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.layers import Layers
from fathom.errors import InputError
from fathom.io.contracts.layers import LAYER_TARGETS
from fathom.io.files import hash_text
from fathom.io.tables import make_empty_table
from fathom.layers.projection import LayerReader, open_layer_reader, read_hidden_states
from fathom.models.tokens import encode_pairs
from fathom.numerics.matrix_products import prepack_models
from fathom.running.program import log
from fathom.scoring.logits import count_larger
from fathom.scoring.ranks import check_lengths, check_pairs
from fathom.scoring.scored_sequences import plan_sequences

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from fathom.layers.lens import Translators

MEASURES = ("rank", "probability", "entropy", "agreement", "divergence")


class ForwardSettings(NamedTuple):
    """How a model is read: tokens in a batch, whether a BOS token comes first, its name for messages."""

    batch_tokens: int
    add_bos: bool | None = None
    name: str = "the model"


def sample_pairs(pairs: pl.DataFrame, settings: Layers) -> pl.DataFrame:
    """Choose some keywords and some pairs of each, by a hash of their names: the same for every model.

    Keywords with enough pairs come first; where they are too few, those with the most pairs follow.

    Parameters
    ----------
    pairs : DataFrame
        Columns pair_id, keyword and more.
    settings : Layers
        Uses `keywords`, `pairs`, `seed`.

    Raises
    ------
    InputError
        If there is no pair.
    """
    if pairs.is_empty():
        raise InputError("there is no pair whose target could be followed", "layers", "see the card")
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
        "%s pairs of %s keywords, %s of them with fewer than %s",
        f"{len(kept):,}",
        len(chosen),
        fewer,
        settings.pairs,
    )
    return kept


def measure_targets(
    model: Any,
    tokenizer: Any,
    pairs: pl.DataFrame,
    device: ForwardSettings,
    maps: "Translators | None" = None,
) -> pl.DataFrame:
    """Return rank and probability of every target at every layer, with entropy, agreement and divergence.

    Parameters
    ----------
    model, tokenizer : transformers causal language model and its tokenizer
    pairs : DataFrame
        Columns pair_id, keyword, prompt, target.
    device : ForwardSettings
    maps : Translators, optional
        A tuned lens, to be measured beside the plain one.

    Returns
    -------
    DataFrame
        Under contract LAYER_TARGETS, by pair, lens and layer; the plain last layer is the model's output.

    Raises
    ------
    InputError
        If a pair cannot be encoded or is too long, or logits are no finite numbers.
    """
    import numpy as np
    import torch

    check_pairs(pairs)
    encoded = encode_pairs(tokenizer, pairs["prompt"].to_list(), pairs["target"].to_list(), device.add_bos)
    names = pairs["pair_id"].to_list()
    check_lengths(model, encoded, names, device.name)
    plan = plan_sequences(encoded)
    layers = open_layer_reader(model, plan.sequences[0].ids, device.name)
    parts = []
    with torch.inference_mode(), prepack_models([model]):
        for states, target in read_hidden_states(layers, plan.sequences, device.batch_tokens, "sequences"):
            parts.append(measure_target_tokens(layers, states, target, maps))
    values = np.concatenate(parts, axis=2)  # [lens, layer, token, measure]
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=(0, 1, 3)))
    if len(wrong):
        name = next(name for name, rows in zip(names, plan.rows, strict=True) if int(wrong[0]) in rows)
        raise InputError(
            f"{device.name} gives logits that are no finite numbers on pair {name!r}",
            "layers",
            "a corrupt checkpoint, or float16 overflows: use float32 or bfloat16",
        )
    return _make_frame(pairs, plan.rows, values)


def measure_target_tokens(
    layers: LayerReader, states: "Tensor", target: "Tensor", maps: "Translators | None" = None
) -> "NDArray[np.float64]":
    """Return all measures of some places at every layer.

    Parameters
    ----------
    layers : LayerReader
    states : Tensor, shape (layers, places, width)
    target : Tensor, shape (places,)
        The true token.
    maps : Translators, optional
        A tuned lens, to be measured beside the plain one.

    Returns
    -------
    ndarray, shape (lenses, layers, places, measures)
    """
    import numpy as np

    lenses = 1 if maps is None else 2
    found = np.empty((lenses, layers.count, len(target), len(MEASURES)))
    for piece in layers.slice_rows(len(target)):
        logits = layers.to_logits(states[-1, piece])
        last = summarize_last_layer(logits.clone())
        found[:, -1, piece] = measure_rows(logits, last, target[piece])  # no map leads from it
        for some in layers.slice_layers(len(target[piece])):
            for lens, tuned in enumerate((None, maps)[:lenses]):
                rows = states[some, piece]
                rows = rows if tuned is None else tuned.apply_each(rows, some.start)
                for layer, logits in enumerate(layers.to_logits(rows), start=some.start):
                    found[lens, layer, piece] = measure_rows(logits, last, target[piece])
    return found


class LastLayer(NamedTuple):
    """What the last layer says at some places.

    Attributes
    ----------
    logs, shares : Tensor, shape (rows, entries)
        Log-probabilities and probabilities.
    best : Tensor, shape (rows, 1)
        The most likely token.
    """

    logs: "Tensor"
    shares: "Tensor"
    best: "Tensor"


def summarize_last_layer(logits: "Tensor") -> LastLayer:
    """Return what the last layer says, from its logits, which are overwritten."""
    best = _find_best(logits)
    logits.sub_(logits.gather(1, best))
    logs = _normalize(logits, logits.exp())
    return LastLayer(logs, logs.exp(), best)


def _find_best(logits: "Tensor") -> "Tensor":
    """Return the place of the largest logit of each row, shape (rows, 1)."""
    import torch

    if logits.device.type == "cpu":  # numpy finds it several times as fast as torch
        return torch.from_numpy(logits.numpy().argmax(1))[:, None]
    return logits.argmax(1, keepdim=True)


def _normalize(logits: "Tensor", powers: "Tensor") -> "Tensor":
    """Turn logits up to 0 into log-probabilities, in their place; `powers` are their exponentials."""
    return logits.sub_(powers.sum(1, keepdim=True).double().log().float())


def measure_rows(logits: "Tensor", last: LastLayer, target: "Tensor") -> "NDArray[np.float64]":
    """Return the measures of each row of a layer's logits, which are overwritten.

    Parameters
    ----------
    logits : Tensor, shape (rows, entries)
    last : LastLayer
        Of the same places.
    target : Tensor, shape (rows,)
        The true token.

    Returns
    -------
    ndarray, shape (rows, measures)
        In the order of MEASURES.
    """
    import numpy as np
    import torch

    own = logits.gather(1, target[:, None])
    rank = 1 + count_larger(logits, own)
    best = _find_best(logits)
    top = logits.gather(1, best)
    logits.sub_(top)
    share = logits.exp()
    total = share.sum(1).double()
    logs = total.log()
    probability = ((own.double() - top.double())[:, 0] - logs).exp()
    # both parts are positive: no digits are lost; what is worked with lies in memory that is held already
    _normalize(logits, share)
    entropy = -share.mul_(logits).sum(1).double() / total
    divergence = torch.sub(last.logs, logits, out=share).mul_(last.shares).sum(1).clamp_min_(0.0)
    agreement = (best == last.best)[:, 0]
    columns = [values.double().cpu().numpy() for values in (probability, entropy, agreement, divergence)]
    return np.stack([rank, *columns], axis=1)


def _make_frame(
    pairs: pl.DataFrame, rows: Sequence[Sequence[int]], values: "NDArray[np.float64]"
) -> pl.DataFrame:
    """Return means over each target's tokens, one row for each pair, lens and layer."""
    import numpy as np

    lenses, layers = values.shape[:2]
    means = np.stack(
        [values[:, :, list(places)].mean(axis=2) for places in rows]
    )  # [pair, lens, layer, measure]
    each = lenses * layers
    columns: dict[str, Any] = {
        "pair_id": np.repeat(pairs["pair_id"].to_numpy(), each),
        "keyword": np.repeat(pairs["keyword"].to_numpy(), each),
        "lens": np.tile(np.repeat(["plain", "tuned"][:lenses], layers), len(pairs)),
        "layer": np.tile(np.arange(layers), len(pairs) * lenses),
        "tokens": np.repeat([len(places) for places in rows], each),
    }
    columns |= {name: means[..., place].ravel() for place, name in enumerate(MEASURES)}
    empty = make_empty_table(LAYER_TARGETS)
    return pl.DataFrame(columns).cast(empty.schema).select(empty.columns)
