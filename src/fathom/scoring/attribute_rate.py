"""Last-layer attribute rate: how many likely next tokens belong to the keyword [RawCorpora, App. A.3.3]."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.errors import InputError
from fathom.models.loading import find_context_length
from fathom.numerics.matrix_products import prepack_models
from fathom.running.program import log, show_progress
from fathom.scoring.logits import choose_projection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor


def measure_attribute_rates(
    model: Any,
    prompts: Mapping[str, Sequence[int]],
    lists: Mapping[str, Collection[int]],
    content: "NDArray[np.bool_]",
    k: int,
    batch_tokens: int,
    name: str = "the model",
) -> pl.DataFrame:
    """Return the share of the k most likely content tokens after each keyword that are in its token list.

    Parameters
    ----------
    model : transformers causal language model
    prompts : mapping of str to sequence of int
        Token ids of each keyword, a BOS token first where the model wants one.
    lists : mapping of str to collection of int
        Token list of each keyword; a keyword without one has none of its tokens.
    content : ndarray, shape (tokens,), dtype bool
        Which tokens are content words; what the model has beyond them is none.
    k : int
        Tokens that are looked at, once all others than content words are out; of equally likely ones the
        first by id. All content words, where there are fewer.
    batch_tokens : int
        Tokens in a batch, padding counted.
    name : str
        Name of the model for messages.

    Returns
    -------
    DataFrame
        Under contract ATTRIBUTE_RATES, by keyword.

    Raises
    ------
    InputError
        If a keyword is longer than the model's context, or logits are no finite numbers.
    """
    import numpy as np
    import torch

    known = np.flatnonzero(content)
    if len(known) < k:
        log.info("the vocabulary has %s content words: all are looked at, not %s", f"{len(known):,}", k)
    _check_lengths(model, prompts, name)
    keywords = sorted(prompts)
    hits: dict[str, int] = {}
    training = model.training
    model.eval()
    with torch.inference_mode(), prepack_models([model]):
        found = _rank_tokens(model, prompts, torch.from_numpy(known), (k, batch_tokens), name)
        for keyword, best in show_progress(found, "keywords", len(keywords)):
            hits[keyword] = len(set(lists.get(keyword, ())).intersection(best))
    model.train(training)
    columns = {
        "keyword": pl.Series(keywords, dtype=pl.String),
        "rate": pl.Series([hits[word] / min(k, len(known)) for word in keywords], dtype=pl.Float64),
        "hits": pl.Series([hits[word] for word in keywords], dtype=pl.Int32),
        "list_length": pl.Series([len(lists.get(word, ())) for word in keywords], dtype=pl.Int32),
    }
    return pl.DataFrame(columns)


def _check_lengths(model: Any, prompts: Mapping[str, Sequence[int]], name: str) -> None:
    """Raise `InputError` if a keyword does not fit the model's context."""
    context = find_context_length(model)
    for keyword, ids in prompts.items():
        if context is not None and len(ids) > context:
            raise InputError(
                f"keyword {keyword!r} has {len(ids)} tokens, the context of {name} is {context}",
                "attribute rate",
            )


def _rank_tokens(
    model: Any, prompts: Mapping[str, Sequence[int]], known: "Tensor", limits: tuple[int, int], name: str
) -> Iterator[tuple[str, list[int]]]:
    """Yield each keyword with its most likely next tokens among those known; longest prompt first."""
    import torch

    k, budget = limits
    order = sorted(prompts, key=lambda keyword: (-len(prompts[keyword]), keyword))
    project = choose_projection(model, prompts[order[-1]], name)
    done = 0
    while done < len(order):
        longest = len(prompts[order[done]])
        batch = order[done : done + max(1, budget // longest)]
        ids = torch.zeros((len(batch), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, keyword in enumerate(batch):
            ids[row, : len(prompts[keyword])] = torch.tensor(list(prompts[keyword]))
            mask[row, : len(prompts[keyword])] = 1
        places = (torch.arange(len(batch)), mask.sum(1) - 1)
        hidden = project.run(ids.to(model.device), mask.to(model.device), places)
        for keyword, state in zip(batch, hidden, strict=True):
            logits = project.to_logits(state[None])[0].cpu()
            if not bool(logits.isfinite().all()):
                raise InputError(
                    f"{name} gives logits that are no finite numbers on keyword {keyword!r}",
                    "attribute rate",
                    "a corrupt checkpoint, or float16 overflows: use float32 or bfloat16",
                )
            best = logits[known].sort(descending=True, stable=True).indices[:k]
            yield keyword, known[best].tolist()
        done += len(batch)
