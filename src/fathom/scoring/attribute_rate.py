"""Last-layer attribute rate: how many likely next tokens belong to the keyword [RawCorpora, App. A.3.3]."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.scoring import AttributeRate
from fathom.errors import InputError
from fathom.io.contracts.scoring import ATTRIBUTE_RATES, TOKEN_LISTS
from fathom.io.files import hash_file, write_json
from fathom.io.tables import write_table
from fathom.jobs.program import log, show_progress
from fathom.models.loading import find_context_length
from fathom.models.open_model import Measurement, OpenModel
from fathom.models.placement import find_input_device
from fathom.models.text_model import count_alike, find_long_length
from fathom.models.tokens import encode_prompts, uses_bos
from fathom.scoring.logits import (
    Projection,
    choose_projection,
    describe_non_finite,
    evaluate_models,
    make_batch,
)
from fathom.scoring.scored_sequences import ScoredSequence
from fathom.scoring.token_lists import list_keyword_tokens, scan_sentences

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor


def plan_attribute_rate(
    name: str,
    sentences: Path,
    stopwords: Path,
    output: Path,
    settings: AttributeRate,
    overlap: Path | None = None,
) -> Measurement:
    """Return how the attribute rate is measured on the keywords of a domain's matched sentences.

    To `output` go rates by keyword; the keywords' token lists and a report lie beside it. For `overlap` see
    :func:`fathom.scoring.token_lists.scan_sentences`.
    """

    def measure(model: OpenModel, outputs: Sequence[Path], resume: object) -> None:
        rates, lists, report = _measure_sentences(model, (sentences, overlap), stopwords, settings)
        write_table(outputs[0], rates, ATTRIBUTE_RATES)
        write_table(outputs[1], lists, TOKEN_LISTS)
        write_json(outputs[2], report)

    stem = output.name.removesuffix(output.suffix)
    outputs = [output, output.with_name(f"{stem}.token-lists.parquet"), output.with_name(f"{stem}.json")]
    inputs = [sentences, stopwords, *([overlap] if overlap else [])]
    return Measurement(name, __file__, inputs, outputs, settings, measure)


def _measure_sentences(
    model: OpenModel, files: tuple[Path, Path | None], stopwords: Path, settings: AttributeRate
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]:
    """Return rates by keyword, the keywords' token lists under the model's tokenizer, and a report.

    `files`: matched sentences, and those that are left out.
    """
    sentences, overlap = files
    counts = {keyword: len(group) for keyword, group in scan_sentences(sentences)}
    left = {keyword: len(group) for keyword, group in scan_sentences(*files)}
    keywords = sorted(left)
    if not keywords:
        hint = "all occur in training text; train on other documents" if counts else "see sentences.json"
        raise InputError("no keyword has a sentence", str(sentences), hint)
    content, lists, owned = list_keyword_tokens(
        model.tokenizer, sentences, stopwords, settings.list_length, overlap
    )
    add_bos = model.pointer.add_bos
    prompts = dict(zip(keywords, encode_prompts(model.tokenizer, keywords, add_bos), strict=True))
    rates = measure_attribute_rates(
        model.model, prompts, owned, content, settings.k, model.batch_tokens, model.pointer.name
    )
    report = {
        **model.description,
        "sentences_sha256": hash_file(sentences),
        "stopwords_sha256": hash_file(stopwords),
        "bos": uses_bos(model.tokenizer, add_bos),
        "k": settings.k,
        "list_length": settings.list_length,
        "content_tokens": int(content.sum()),
        "keywords": len(rates),
        "keywords_overlap": len(counts) - len(left),
        "sentences_overlap": sum(counts.values()) - sum(left.values()),
        "lists_shorter_than_k": int((rates["list_length"] < settings.k).sum()),
        "attribute_rate": rates["rate"].mean(),
    }
    log.info(
        "%s: attribute rate %.3f over %s keywords, %s with a token list shorter than k",
        *(report[key] for key in ("model", "attribute_rate", "keywords", "lists_shorter_than_k")),
    )
    return rates, lists, report


def measure_attribute_rates(
    model: Any,
    prompts: Mapping[str, Sequence[int]],
    lists: Mapping[str, Collection[int]],
    content: "NDArray[np.bool_]",
    k: int,
    batch_tokens: int,
    name: str = "the model",
) -> pl.DataFrame:
    """Return the share of the k most likely content tokens after each keyword that its token list contains.

    Parameters
    ----------
    prompts : mapping of str to sequence of int
        Token ids of each keyword, with a BOS token first if the model uses one.
    content : ndarray of shape (n_tokens,), bool
        Which tokens are content words; further entries of the model are not.
    k : int
        Number of most likely content tokens to count, ties broken by id; all content words if there are
        fewer.

    Returns
    -------
    DataFrame
        Under contract ATTRIBUTE_RATES, by keyword.

    Raises
    ------
    InputError
        If a keyword is longer than the model's context, or logits are not finite.
    """
    import numpy as np
    import torch

    content_ids = np.flatnonzero(content)
    if len(content_ids) < k:
        log.info("the vocabulary has only %s content words: k = %s is lowered", f"{len(content_ids):,}", k)
    check_keyword_lengths(model, prompts, name, "attribute rate")
    keywords = sorted(prompts)
    hits: dict[str, int] = {}
    with evaluate_models([model]):
        top = _find_top_tokens(model, prompts, torch.from_numpy(content_ids), (k, batch_tokens), name)
        for keyword, tokens in show_progress(top, "keywords", len(keywords)):
            hits[keyword] = len(set(lists.get(keyword, ())).intersection(tokens))
    columns = {
        "keyword": pl.Series(keywords, dtype=pl.String),
        "rate": pl.Series([hits[word] / min(k, len(content_ids)) for word in keywords], dtype=pl.Float64),
        "hits": pl.Series([hits[word] for word in keywords], dtype=pl.Int32),
        "list_length": pl.Series([len(lists.get(word, ())) for word in keywords], dtype=pl.Int32),
    }
    return pl.DataFrame(columns)


def check_keyword_lengths(model: Any, prompts: Mapping[str, Sequence[int]], name: str, where: str) -> None:
    """Raise `InputError` if a keyword is longer than the model's context."""
    context = find_context_length(model)
    for keyword, ids in prompts.items():
        if context is not None and len(ids) > context:
            raise InputError(
                f"keyword {keyword!r} has {len(ids)} tokens, the context of {name} is {context}", where
            )


def _find_top_tokens(
    model: Any,
    prompts: Mapping[str, Sequence[int]],
    content_ids: "Tensor",
    limits: tuple[int, int],
    name: str,
) -> Iterator[tuple[str, list[int]]]:
    """Yield each keyword with its most likely content tokens, longest keyword first.

    `limits`: k, and the tokens per batch.
    """
    k, budget = limits
    order = sorted(prompts, key=lambda keyword: (-len(prompts[keyword]), keyword))
    projection = choose_projection(model, prompts[order[-1]], name)
    done, long = 0, find_long_length(model)
    ids = [prompts[keyword] for keyword in order]
    while done < len(order):
        size = count_alike(ids, done, max(1, budget // len(ids[done])), long)
        batch = order[done : done + size]
        read = read_next_logits(model, projection, [prompts[keyword] for keyword in batch])
        for keyword, row in zip(batch, read, strict=True):
            logits = row.cpu()
            if not bool(logits.isfinite().all()):
                raise describe_non_finite(name, f"keyword {keyword!r}", "attribute rate")
            top = logits[content_ids].sort(descending=True, stable=True).indices[:k]
            yield keyword, content_ids[top].tolist()
        done += len(batch)


def read_next_logits(
    model: Any, projection: Projection, prompts: Sequence[Sequence[int]]
) -> Iterator["Tensor"]:
    """Yield the float32 logits of the next token after each prompt, of shape (n_entries,)."""
    # the last token of a prompt predicts the next one, whose id is not needed
    sequences = [ScoredSequence(tuple(ids), [(len(ids) - 1, 0)]) for ids in prompts]
    batch = make_batch(sequences, find_input_device(model))
    for state in projection.run(batch.ids, batch.mask, batch.positions):
        yield projection.to_logits(state[None])[0]
