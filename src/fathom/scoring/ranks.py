"""Rank and probability of every target, one teacher-forced pass for each pair (000: 2.6; spec 2.1).

A target token's logit must come from the same float32 matrix product as all others: a product of its own, or
one in bfloat16, moves a large share of ranks. So hidden states are taken at target positions only, and the
output layer is applied to them in float32; that this is what the model gives is checked before scoring.
"""

import inspect
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config import Scoring
from fathom.errors import InputError
from fathom.models.tokens import Encoded, encode_pairs
from fathom.program import log, show_progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

COLUMNS = ("pair_id", "keyword", "prompt", "target")
_LOGIT_BYTES = 1 << 25  # float32 logits that are held at once
# how far the output layer in float32 may be from the model's own logits, by the model's number type
_TOLERANCE = {"float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}


class _Rows(NamedTuple):
    """Scores of single target tokens, one entry a token."""

    rank: "NDArray[np.int64]"
    ties: "NDArray[np.int64]"
    log_probability: "NDArray[np.float64]"


def score_pairs(
    model: Any,
    tokenizer: Any,
    pairs: pl.DataFrame,
    settings: Scoring,
    add_bos: bool | None = None,
    name: str = "the model",
) -> pl.DataFrame:
    """Score a model on prompt-target pairs.

    Parameters
    ----------
    model, tokenizer : transformers causal language model and its tokenizer
    pairs : DataFrame
        Columns pair_id, keyword, prompt, target; more are ignored.
    settings : Scoring
        Uses `batch_tokens`; halved, and halved again, while a GPU's memory runs out.
    add_bos : bool, optional
        Whether a BOS token comes first; None asks the tokenizer.
    name : str
        Name of the model for messages.

    Returns
    -------
    DataFrame
        Under contract SCORES, in the order of `pairs`.

    Raises
    ------
    InputError
        If pair ids stand twice, a pair is longer than the model's context, or logits are no finite numbers.
    """
    import torch

    check_pairs(pairs)
    encoded = encode_pairs(tokenizer, pairs["prompt"].to_list(), pairs["target"].to_list(), add_bos)
    names = pairs["pair_id"].to_list()
    _check_lengths(model, encoded, names, name)
    training = model.training
    model.eval()
    rows: list[_Rows | None] = [None] * len(encoded)
    with torch.inference_mode():
        scored = _score_batches(model, encoded, names, settings.batch_tokens)
        for index, found in show_progress(scored, "pairs", len(encoded)):
            _check_finite(found, names[index], name)
            rows[index] = found
    model.train(training)
    return _make_frame(pairs, encoded, [found for found in rows if found is not None])


def check_pairs(pairs: pl.DataFrame) -> None:
    """Raise `InputError` if pairs lack a column or a pair id stands twice."""
    missing = [column for column in COLUMNS if column not in pairs.columns]
    if missing:
        raise InputError(f"pairs lack: {', '.join(missing)}", "pairs", f"they need {', '.join(COLUMNS)}")
    twice = pairs.filter(pairs["pair_id"].is_duplicated())["pair_id"]
    if len(twice):
        raise InputError(f"pair {twice[0]!r} stands twice", "pairs", "each pair needs its own pair_id")


def _check_lengths(model: Any, encoded: Sequence[Encoded], names: Sequence[str], name: str) -> None:
    """Raise `InputError` if a pair does not fit the model's context."""
    context = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if not isinstance(context, int):
        return
    for pair, pair_name in zip(encoded, names, strict=True):
        if len(pair.ids) - 1 > context:
            raise InputError(
                f"pair {pair_name!r} has {len(pair.ids)} tokens, the context of {name} is {context}",
                "pairs",
                "make pairs with the tokenizer of the smallest model, or lower pairs.max_tokens",
            )


def _check_finite(found: _Rows, pair: str, name: str) -> None:
    """Raise `InputError` if a log-probability is no finite number."""
    import numpy as np

    if not np.isfinite(found.log_probability).all():
        raise InputError(
            f"{name} gives logits that are no finite numbers on pair {pair!r}",
            "scores",
            "a corrupt checkpoint, or float16 overflows: use float32 or bfloat16",
        )


def _score_batches(
    model: Any, encoded: Sequence[Encoded], names: Sequence[str], budget: int
) -> Iterator[tuple[int, _Rows]]:
    """Yield each pair's place and its tokens' scores, longest first; halve batches if memory runs out."""
    import torch

    order = sorted(range(len(encoded)), key=lambda place: (-len(encoded[place].ids), names[place]))
    if not order:
        return
    project = _choose_projection(model, encoded[order[0]])
    done = 0
    while done < len(order):
        size = max(1, budget // max(1, len(encoded[order[done]].ids) - 1))
        batch = order[done : done + size]
        found = _try_batch(model, project, [encoded[place] for place in batch])
        if found is None:
            if len(batch) == 1:
                raise InputError(
                    "the GPU's memory does not hold one pair", "scoring", "use a larger GPU or dtype bfloat16"
                )
            budget = budget // 2
            torch.cuda.empty_cache()
            log.info("out of GPU memory: batches of %s tokens from here on", budget)
            continue
        yield from zip(batch, found, strict=True)
        done += len(batch)


def _try_batch(model: Any, project: Any, batch: Sequence[Encoded]) -> list[_Rows] | None:
    """Return the scores of a batch, or None if the GPU's memory ran out."""
    import torch

    try:
        return _score_batch(model, project, batch)
    except torch.cuda.OutOfMemoryError:
        return None


def _score_batch(model: Any, project: Any, batch: Sequence[Encoded]) -> list[_Rows]:
    """Return the scores of the target tokens of each pair of a batch."""
    import numpy as np
    import torch

    longest = max(len(pair.ids) for pair in batch) - 1  # the last token predicts nothing that is scored
    ids = np.zeros((len(batch), longest), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, pair in enumerate(batch):
        ids[row, : len(pair.ids) - 1] = pair.ids[:-1]
        mask[row, : len(pair.ids) - 1] = 1
    places = [
        (row, i - 1, pair.ids[i]) for row, pair in enumerate(batch) for i in range(pair.start, len(pair.ids))
    ]
    index, position, target = torch.tensor(places, device=model.device).T
    hidden = project.run(
        torch.from_numpy(ids).to(model.device), torch.from_numpy(mask).to(model.device), (index, position)
    )
    step = max(1, _LOGIT_BYTES // (4 * project.entries))
    parts = [
        _score_rows(project.to_logits(some), wanted)
        for some, wanted in zip(hidden.split(step), target.split(step), strict=True)
    ]
    rank, ties, logs = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    ends = np.cumsum([len(pair.ids) - pair.start for pair in batch])[:-1]
    return [_Rows(*columns) for columns in zip(*(np.split(a, ends) for a in (rank, ties, logs)), strict=True)]


def _score_rows(
    logits: "Tensor", target: "Tensor"
) -> tuple["NDArray[np.int64]", "NDArray[np.int64]", "NDArray[np.float64]"]:
    """Return rank, ties and log-probability of one target token for each row of logits."""
    own = logits.gather(1, target[:, None])
    rank = 1 + (logits > own).sum(1)
    ties = (logits == own).sum(1) - 1
    logs = own[:, 0].double() - logits.double().logsumexp(1)
    return rank.cpu().numpy(), ties.cpu().numpy(), logs.cpu().numpy()


class _HiddenStates:
    """Hidden states of the last layer at chosen positions, and the output layer in float32."""

    def __init__(self, model: Any) -> None:
        config = model.config.get_text_config()
        head = model.get_output_embeddings()
        self.base = model.base_model
        self.weight = head.weight.detach().float()
        self.bias = None if getattr(head, "bias", None) is None else head.bias.detach().float()
        self.scale = getattr(config, "logit_scale", None)
        self.cap = getattr(config, "final_logit_softcapping", None)
        self.entries = self.weight.shape[0]
        self.takes_positions = "position_ids" in inspect.signature(self.base.forward).parameters

    def run(self, ids: "Tensor", mask: "Tensor", places: tuple["Tensor", "Tensor"]) -> "Tensor":
        """Return hidden states, shape (places, width)."""
        import torch

        more = {}
        if self.takes_positions:
            more["position_ids"] = torch.arange(ids.shape[1], device=ids.device)[None].expand_as(ids)
        # a mask costs time, and where nothing is padded it says nothing
        padded = None if bool(mask.all()) else mask
        output = self.base(input_ids=ids, attention_mask=padded, use_cache=False, **more)
        found: Tensor = output.last_hidden_state[places]
        return found

    def to_logits(self, hidden: "Tensor") -> "Tensor":
        """Return logits in float32, shape (rows, entries), with the model's own scale and soft cap."""
        from torch.nn.functional import linear

        logits = linear(hidden.float(), self.weight, self.bias)
        if self.scale is not None:
            logits = logits * self.scale
        if self.cap is not None:
            logits = (logits / self.cap).tanh() * self.cap
        return logits


class _OwnLogits:
    """The model's own logits at chosen positions: slower, more memory, right for any model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.entries = model.config.get_text_config().vocab_size

    def run(self, ids: "Tensor", mask: "Tensor", places: tuple["Tensor", "Tensor"]) -> "Tensor":
        """Return logits, shape (places, entries)."""
        found: Tensor = self.model(input_ids=ids, attention_mask=mask, use_cache=False).logits[places]
        return found

    def to_logits(self, hidden: "Tensor") -> "Tensor":
        """Return the same logits in float32."""
        return hidden.float()


def _choose_projection(model: Any, pair: Encoded) -> _HiddenStates | _OwnLogits:
    """Return the output layer in float32 if it gives the model's own logits on a pair, else the model's own.

    A model may do more between its last hidden state and its logits than is known here.
    """
    import torch

    if model.get_output_embeddings() is None:
        return _OwnLogits(model)
    ids = torch.tensor([pair.ids[:-1]], device=model.device)
    place = (torch.zeros(1, dtype=torch.long), torch.tensor([ids.shape[1] - 1]))
    mask = torch.ones_like(ids)
    quick, own = _HiddenStates(model), _OwnLogits(model)
    mine = quick.to_logits(quick.run(ids, mask, place))
    theirs = own.to_logits(own.run(ids, mask, place))
    tolerance = _TOLERANCE.get(str(model.dtype).removeprefix("torch."), 1e-4)
    if mine.shape == theirs.shape:
        furthest = (mine - theirs).abs().max()
        # numbers that are not finite are found, with their pair, when it is scored
        if not bool(furthest > tolerance * max(1.0, float(theirs.abs().max()) / 10)):
            return quick
    log.info("the output layer alone does not give this model's logits: its own are used, which takes longer")
    return own


def _make_frame(pairs: pl.DataFrame, encoded: Sequence[Encoded], rows: Sequence[_Rows]) -> pl.DataFrame:
    """Return scores by pair: means of ranks and probabilities over a target's tokens."""
    import numpy as np

    columns: dict[str, tuple[Any, Any]] = {
        "tokens": ([len(row.rank) for row in rows], pl.Int32),
        "rank": ([float(row.rank.mean()) for row in rows], pl.Float64),
        "rank_midpoint": ([float((row.rank + row.ties / 2).mean()) for row in rows], pl.Float64),
        "rank_first": ([int(row.rank[0]) for row in rows], pl.Int64),
        "ties": ([int(row.ties.sum()) for row in rows], pl.Int64),
        "probability": ([float(np.exp(row.log_probability).mean()) for row in rows], pl.Float64),
        "log_probability": ([float(row.log_probability.sum()) for row in rows], pl.Float64),
        "backed_off": ([pair.backed_off for pair in encoded], pl.Boolean),
    }
    series = [pl.Series(name, values, dtype=dtype) for name, (values, dtype) in columns.items()]
    return pairs.select("pair_id", "keyword").with_columns(series)
