"""Attribute rates and probability sums by layer, for every k and length of list.

Source: [BeyondBenchmarks, Secs. 2.8, 3.3.1], after [AttributeRate].

The most likely tokens of each layer are kept once, with their places in the keyword's token list; rates for
any k and any length of the list follow from them without the model.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.layers import Layers
from fathom.errors import InputError
from fathom.io.contracts.layers import LAYER_RATES, LAYER_TOKENS
from fathom.io.tables import make_empty_table
from fathom.layers.projection import LayerReader, open_layer_reader, read_hidden_states
from fathom.models.loading import find_context_length
from fathom.numerics.matrix_products import prepack_models
from fathom.running.program import log
from fathom.scoring.scored_sequences import ScoredSequence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

GEVA_DEPTH = 500
"""Most likely tokens that Geva et al. take, before stopwords and short ones are out."""


class TokenLists(NamedTuple):
    """Which tokens count.

    Attributes
    ----------
    content : ndarray, shape (tokens,), dtype bool
        Content words; what the model has beyond the tokenizer's entries is none.
    owned : mapping of str to sequence of int
        Token list of each keyword, most frequent first.
    """

    content: "NDArray[np.bool_]"
    owned: Mapping[str, Sequence[int]]


def collect_top_tokens(
    model: Any,
    prompts: Mapping[str, Sequence[int]],
    lists: TokenLists,
    settings: Layers,
    batch_tokens: int,
    name: str = "the model",
) -> pl.DataFrame:
    """Read each keyword once and keep the most likely tokens of every layer at its last token.

    Parameters
    ----------
    model : transformers causal language model
    prompts : mapping of str to sequence of int
        Token ids of each keyword, a BOS token first where the model wants one.
    lists : TokenLists
    settings : Layers
        Keeps as many tokens as the largest k asks for.
    batch_tokens : int
        Tokens in a batch, padding counted.
    name : str
        Name of the model for messages.

    Returns
    -------
    DataFrame
        Under contract LAYER_TOKENS, by keyword, layer, projection. Of equally likely tokens the first by id.

    Raises
    ------
    InputError
        If a keyword is longer than the model's context, logits are no finite numbers, or the architecture is
        not known.
    """
    import torch

    _check_lengths(model, prompts, name)
    order = sorted(prompts, key=lambda keyword: (-len(prompts[keyword]), keyword))
    sequences = [
        ScoredSequence(tuple(prompts[keyword]), [(len(prompts[keyword]) - 1, 0)]) for keyword in order
    ]
    layers = open_layer_reader(model, sequences[0].ids, name)
    keeper = _Keeper(lists, max(settings.all_k), layers.head.entries)
    rows: list[dict[str, Any]] = []
    done = 0
    with torch.inference_mode(), prepack_models([model]):
        for states, _ in read_hidden_states(layers, sequences, batch_tokens, "keywords"):
            keywords = order[done : done + states.shape[1]]
            done += len(keywords)
            for layer, projection, logits, piece in _project(layers, states, settings):
                if not bool(logits.isfinite().all()):
                    where = f"layer {layer} of {name}, keywords {', '.join(map(repr, keywords[piece]))}"
                    raise InputError(
                        "logits are no finite numbers",
                        where,
                        "a corrupt checkpoint, or float16 overflows: use float32 or bfloat16",
                    )
                kept = keeper.keep(logits.cpu().numpy(), keywords[piece])
                rows += [
                    {"keyword": keyword, "layer": layer, "projection": projection, **values}
                    for keyword, values in zip(keywords[piece], kept, strict=True)
                ]
    frame = pl.DataFrame(rows, schema=make_empty_table(LAYER_TOKENS).schema)
    return frame.sort("keyword", "layer", "projection")


def _project(
    layers: LayerReader, states: "Tensor", settings: Layers
) -> Iterator[tuple[int, str, "Tensor", slice]]:
    """Yield the logits of each layer under each projection, some rows at a time."""
    wanted = set(settings.projections)
    for layer in range(layers.count):
        for piece in layers.slice_rows(states.shape[1]):
            if "normed" in wanted:
                yield layer, "normed", layers.to_logits(states[layer, piece]), piece
            if wanted & {"raw", "geva"}:
                yield layer, "raw", layers.to_logits(states[layer, piece], normed=False), piece


class _Keeper:
    """Picks the most likely tokens from rows of logits."""

    def __init__(self, lists: TokenLists, k: int, entries: int) -> None:
        import numpy as np

        self._known = np.flatnonzero(lists.content[:entries])
        self._content = np.zeros(entries, dtype=np.bool_)
        self._content[self._known] = True
        self._owned = lists.owned
        self._k, self._depth = k, max(k, GEVA_DEPTH)
        self._rank = np.zeros(entries, dtype=np.int32)
        self._place = np.zeros(entries, dtype=np.int32)

    def keep(self, logits: "NDArray[np.float32]", keywords: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield what is kept of each row, under the list columns of LAYER_TOKENS."""
        import numpy as np

        for row, keyword in zip(logits, keywords, strict=True):
            top = row.max()
            shares = np.exp(row - top)
            total = shares.sum(dtype=np.float64)
            best = find_top_k(row, self._depth)
            self._rank[best] = np.arange(1, len(best) + 1)
            owned = np.asarray(self._owned.get(keyword, ()), dtype=np.int64)
            self._place[owned] = np.arange(1, len(owned) + 1)
            tokens = self._known[find_top_k(row[self._known], self._k)]
            others = best[: self._k][~self._content[best[: self._k]]]
            yield {
                "tokens": tokens.tolist(),
                "probabilities": (shares[tokens] / total).tolist(),
                "ranks": self._rank[tokens].tolist(),
                "places": self._place[tokens].tolist(),
                "others": others.tolist(),
                "other_probabilities": (shares[others] / total).tolist(),
                "other_ranks": self._rank[others].tolist(),
            }
            self._rank[best] = 0
            self._place[owned] = 0


def find_top_k(values: "NDArray[np.float32]", k: int) -> "NDArray[np.intp]":
    """Return the places of the k largest values, best first; of equal ones the first. As a stable sort does.

    Only what is as large as the k-th largest value is sorted.
    """
    import numpy as np

    if k < len(values):
        least = np.partition(values, len(values) - k)[len(values) - k]
        found = np.flatnonzero(values >= least)
    else:
        found = np.arange(len(values))
    return found[np.argsort(-values[found], kind="stable")[:k]]


def measure_rates(tokens: pl.DataFrame, settings: Layers) -> pl.DataFrame:
    """Return rates and probability sums for every k and length of list, from the tokens that were kept.

    Parameters
    ----------
    tokens : DataFrame
        Under contract LAYER_TOKENS.
    settings : Layers
        Uses `projections`, `all_k`, `all_lengths`. Projection `geva` looks at layers from 0 to the last but
        one, without the norm, and at those of the k content tokens that are among the 500 most likely tokens.

    Returns
    -------
    DataFrame
        Under contract LAYER_RATES.
    """
    last = tokens["layer"].max()
    parts = [make_empty_table(LAYER_RATES)]
    for projection in settings.projections:
        chosen = tokens.filter(projection="normed" if projection == "normed" else "raw")
        if projection == "geva":
            chosen = chosen.filter(pl.col("layer") < last)
        if chosen.is_empty():
            continue
        kept = _Kept(chosen, GEVA_DEPTH if projection == "geva" else None)
        for k in settings.all_k:
            for length in settings.all_lengths:
                sums = {name: pl.Series(values) for name, values in kept.sum_likelihoods(k, length).items()}
                named = chosen.select("keyword", "layer").with_columns(
                    projection=pl.lit(projection), k=pl.lit(k), list_length=pl.lit(length), **sums
                )
                parts.append(named.select(parts[0].columns).cast(parts[0].schema))
    return pl.concat(parts).sort("keyword", "projection", "k", "list_length", "layer")


class _Kept:
    """The kept tokens of some rows as arrays [rows, k]; short rows are filled with what never counts."""

    def __init__(self, rows: pl.DataFrame, depth: int | None) -> None:
        import numpy as np

        def stack(name: str, fill: float) -> Any:
            lists = rows[name].to_list()
            array = np.full((len(lists), max(1, *map(len, lists))), fill, np.float64)
            for place, values in enumerate(lists):
                array[place, : len(values)] = values
            return array

        self.share, self.place, self.rank = stack("probabilities", 0), stack("places", 0), stack("ranks", 0)
        self.other_share, self.other_rank = stack("other_probabilities", 0), stack("other_ranks", np.inf)
        self.real = stack("tokens", -1) >= 0
        if depth is not None:
            self.real &= (self.rank > 0) & (self.rank <= depth)

    def sum_likelihoods(self, k: int, length: int) -> dict[str, Any]:
        """Return hits, rate and the probability sums of every row."""
        import numpy as np

        real, share = self.real[:, :k], self.share[:, :k]
        listed = (self.place > 0) & (self.place <= length)
        hit = real & listed[:, :k]
        near = (self.rank > 0) & (self.rank <= k)
        any_kind = np.where(near & ~listed, self.share, 0).sum(1)
        any_kind += np.where(self.other_rank <= k, self.other_share, 0).sum(1)
        hits = hit.sum(1)
        return {
            "rate": hits / min(k, self.real.shape[1]),
            "hits": hits,
            "inside": np.where(hit, share, 0).sum(1),
            "outside": np.where(real & ~hit, share, 0).sum(1),
            "outside_any": any_kind,
        }


def list_examples(tokens: pl.DataFrame, names: Sequence[str], k: int, length: int) -> list[tuple[Any, ...]]:
    """Return, by keyword, which of the k most likely tokens of the last layer are in its list.

    Source: [BeyondBenchmarks, Table 5].

    Returns
    -------
    list of tuples
        keyword, number in the list, tokens in it, tokens not in it; tokens of any kind, best first, with a
        blank between them, and `␣` for a blank of their own.
    """
    last = tokens.filter(pl.col("layer") == tokens["layer"].max(), projection="normed")
    rows: list[tuple[Any, ...]] = []
    for row in last.sort("keyword").iter_rows(named=True):
        ranked = [(rank, token, place) for rank, token, place in
                  zip(row["ranks"], row["tokens"], row["places"], strict=True) if 0 < rank <= k]  # fmt: skip
        ranked += [(rank, token, 0) for rank, token in zip(row["other_ranks"], row["others"], strict=True)
                   if rank <= k]  # fmt: skip
        sides: tuple[list[str], list[str]] = ([], [])
        for _, token, place in sorted(ranked):
            text = names[token] if token < len(names) else f"<{token}>"
            shown = text.encode("unicode_escape").decode() if not text.isprintable() else text
            sides[not 0 < place <= length].append(shown.replace(" ", "␣"))
        rows.append((row["keyword"], len(sides[0]), " ".join(sides[0]), " ".join(sides[1])))
    return rows


def choose_prompts(
    prompts: Mapping[str, Sequence[int]], owned: Mapping[str, Sequence[int]], settings: Layers
) -> tuple[dict[str, Sequence[int]], dict[str, list[str]]]:
    """Leave out keywords that cannot be measured; say which, and why.

    Parameters
    ----------
    prompts : mapping of str to sequence of int
        Token ids of every keyword of the domain; none where the tokenizer gives it none.
    owned : mapping of str to sequence of int
        Token list of each keyword that has clean sentences.
    settings : Layers
        Uses `max_keyword_tokens`, `k`.

    Returns
    -------
    chosen : dict of str to sequence of int
    report : dict of str to list of str
        Keywords by what is wrong with them. Those with a list shorter than k are measured: they cannot reach
        a rate of 1.

    Raises
    ------
    InputError
        If no keyword is left, or none has a list of k tokens.
    """
    report: dict[str, list[str]] = {
        "without_sentences": sorted(word for word in prompts if word not in owned),
        "without_tokens": sorted(word for word, ids in prompts.items() if not ids),
        "of_too_many_tokens": sorted(
            word for word, ids in prompts.items() if len(ids) > settings.max_keyword_tokens
        ),
    }
    out = {word for words in report.values() for word in words}
    chosen = {word: prompts[word] for word in sorted(prompts) if word not in out}
    report["with_a_short_list"] = [word for word in chosen if len(owned[word]) < settings.k]
    reasons = {
        "without_sentences": "keywords have no clean sentence, so no token list: left out",
        "without_tokens": "keywords are nothing to the tokenizer: left out",
        "of_too_many_tokens": f"keywords are more than {settings.max_keyword_tokens} tokens: left out",
        "with_a_short_list": f"keywords have a token list shorter than k = {settings.k}, and cannot reach 1",
    }
    for reason, words in report.items():
        if words:
            log.info("%s of %s %s: %s", len(words), len(prompts), reasons[reason], _shorten(words))
    if not chosen:
        counts = ", ".join(f"{len(words)} {reason.replace('_', ' ')}" for reason, words in report.items())
        raise InputError(f"no keyword can be measured: {counts}", "layers", "see max_keyword_tokens")
    if len(report["with_a_short_list"]) == len(chosen):
        longest = max(len(owned[word]) for word in chosen)
        raise InputError(
            f"every token list is shorter than k = {settings.k}, the longest has {longest}",
            "layers.k",
            "lower k, or give the keywords more sentences",
        )
    return chosen, report


def _shorten(words: Sequence[str], most: int = 5) -> str:
    """Return the first of some words, and how many more there are."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(map(repr, words[:most])) + more


def _check_lengths(model: Any, prompts: Mapping[str, Sequence[int]], name: str) -> None:
    """Raise `InputError` if a keyword does not fit the model's context."""
    context = find_context_length(model)
    for keyword, ids in prompts.items():
        if context is not None and len(ids) > context:
            raise InputError(
                f"keyword {keyword!r} has {len(ids)} tokens, the context of {name} is {context}", "layers"
            )
