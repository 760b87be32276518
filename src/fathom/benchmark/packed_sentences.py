"""Sentences one after another in a batch, without padding, through a BERT on a processor.

Linear layers treat each token alone, so they need no sentences, only a fixed number of rows; attention runs
over sentences of one length at a time and needs no mask.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor

Tokens = npt.NDArray[np.int32]


class Run(NamedTuple):
    """Sentences of one length that stand one after another.

    Attributes
    ----------
    start : int
        Row of the first token.
    """

    start: int
    sentences: int
    length: int


class Pack(NamedTuple):
    """Sentences that are computed together.

    Attributes
    ----------
    members : array of int64 of shape (n_sentences,)
        Which sentences, the longest first.
    ids, positions : arrays of int64 of shape (n_rows,)
        Token ids, and the place of each token in its sentence. Rows behind the last sentence are zero.
    runs : list of Run
        Where the sentences stand, in the order of `members`.
    """

    members: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    runs: list[Run]


def pack_sentences(tokens: list[Tokens], rows: int) -> Iterator[Pack]:
    """Yield packs of sentences, the longest first.

    Every pack has the same number of rows, so that a sentence's vector does not depend on the others. Only a
    sentence with more tokens than that stands in a pack of its own length.
    """
    lengths = np.array([len(ids) for ids in tokens], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    first = 0
    while first < len(order):
        ends = np.cumsum(lengths[order[first : first + rows]])
        count = max(1, int(np.searchsorted(ends, rows, side="right")))
        members = order[first : first + count]
        yield _make_pack(members, [tokens[member] for member in members], max(rows, int(ends[0])))
        first += count


def _make_pack(members: npt.NDArray[np.int64], tokens: list[Tokens], rows: int) -> Pack:
    ids, positions = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    lengths = np.array([len(each) for each in tokens])
    used = int(lengths.sum())
    ids[:used] = np.concatenate(tokens)
    positions[:used] = np.concatenate([np.arange(length) for length in lengths])
    runs, start = [], 0
    for length in sorted(set(lengths.tolist()), reverse=True):
        runs.append(Run(start, int((lengths == length).sum()), length))
        start += runs[-1].sentences * length
    return Pack(members, ids, positions, runs)


def embed_pack(network: Any, pack: Pack) -> "Tensor":
    """Return the mean hidden state of each sentence's tokens.

    Returns
    -------
    tensor of shape (n_sentences, dimension)
        In the order of the pack's members, of the network's type.
    """
    import torch

    hidden = network.embeddings(
        input_ids=torch.from_numpy(pack.ids)[None], position_ids=torch.from_numpy(pack.positions)[None]
    )[0]
    for layer in network.encoder.layer:
        attended = layer.attention.output(_attend(layer.attention.self, hidden, pack.runs), hidden)
        hidden = layer.output(layer.intermediate(attended), attended)
    return torch.cat([_divide(hidden, run).mean(dim=1) for run in pack.runs])


def _attend(attention: Any, hidden: "Tensor", runs: list[Run]) -> "Tensor":
    """Return what attention makes of each token, of shape (n_rows, dimension)."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    parts = [part(hidden) for part in (attention.query, attention.key, attention.value)]
    attended = torch.zeros_like(hidden)  # rows behind the last sentence stay finite
    # one kernel whatever the machine's settings are
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        for run in runs:
            query, key, value = (
                _divide(part, run).view(*run[1:], attention.num_attention_heads, -1).transpose(1, 2)
                for part in parts
            )
            found = torch.nn.functional.scaled_dot_product_attention(query, key, value)
            _divide(attended, run).copy_(found.transpose(1, 2).flatten(2))
    return attended


def _divide(rows: "Tensor", run: Run) -> "Tensor":
    some = rows[run.start : run.start + run.sentences * run.length]
    return some.view(run.sentences, run.length, -1)
