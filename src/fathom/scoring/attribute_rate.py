"""Last-layer attribute rate: how many likely next tokens belong to the keyword [RawCorpora, App. A.3.3].

First selects the content words of a vocabulary, and those that belong to a keyword [RawCorpora, App. A.3.1].
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.benchmark.wordlists import read_word_list
from fathom.config.scoring import AttributeRate
from fathom.errors import InputError
from fathom.io.contracts.benchmark import SENTENCE_OVERLAP
from fathom.io.contracts.scoring import ATTRIBUTE_RATES, TOKEN_LISTS
from fathom.io.files import hash_file, write_json
from fathom.io.row_groups import scan_groups
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.jobs.program import log, show_progress
from fathom.models.loading import find_context_length
from fathom.models.open_model import Measurement, OpenModel
from fathom.models.placement import find_input_device
from fathom.models.text_model import count_alike, find_long_length
from fathom.models.tokens import (
    REPLACEMENT,
    count_entries,
    decode_texts,
    encode_prompts,
    encode_texts,
    uses_bos,
)
from fathom.scoring.logits import (
    Projection,
    choose_projection,
    describe_non_finite,
    evaluate_models,
    make_batch,
)
from fathom.scoring.scored_sequences import ScoredSequence

if TYPE_CHECKING:
    from torch import Tensor


def plan_attribute_rate(
    name: str,
    sentences: Path,
    stopwords: Path,
    output: Path,
    settings: AttributeRate,
    overlap: Path | None = None,
) -> Measurement:
    """Return the measurement of the attribute rate on the keywords of a domain's matched sentences.

    Writes rates by keyword to `output`, and the keywords' token lists and a report beside it. For `overlap`
    see :func:`fathom.scoring.attribute_rate.scan_sentences`.
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

    `files`: matched sentences, and those to leave out.
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
    content: NDArray[np.bool_],
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
        Whether each token is a content word; further entries of the model are not.
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


MIN_CHARACTERS = 3
_SENTENCES = 4096  # encoded in one call


class KeywordTokens(NamedTuple):
    """Content words among the tokens, of shape (n_tokens,), bool, and the tokens of each keyword."""

    content: NDArray[np.bool_]
    lists: pl.DataFrame
    owned: Mapping[str, list[int]]


def list_keyword_tokens(
    tokenizer: Any, sentences: Path, stopwords: Path, length: int, overlap: Path | None = None
) -> KeywordTokens:
    """Return content words and token lists, `length` entries at most, under a tokenizer.

    For `overlap` see :func:`scan_sentences`.
    """
    names = decode_vocabulary(tokenizer)
    content = find_content_tokens(names, read_word_list(stopwords))
    groups = scan_sentences(sentences, overlap)
    lists = make_token_lists(tokenizer, groups, names, content, length)
    owned = {str(keyword): group["token_id"].to_list() for (keyword,), group in lists.group_by("keyword")}
    return KeywordTokens(content, lists, owned)


def scan_sentences(sentences: Path, overlap: Path | None = None) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield keywords with their counted sentences, column `clean`; keywords without any are left out.

    Sentences of `overlap`, under SENTENCE_OVERLAP, occur in training text and do not count.
    """
    occurring = None if overlap is None else read_table(overlap, SENTENCE_OVERLAP)["clean"].implode()
    for keyword, group in scan_groups(sentences, "keyword", ["clean"]):
        kept = group if occurring is None else group.filter(~pl.col("clean").is_in(occurring))
        if len(kept):
            yield keyword, kept


def decode_vocabulary(tokenizer: Any) -> list[str]:
    """Return the text of every token by id, without markers of spaces or word continuations.

    Special tokens, such as `</s>`, have an empty text.
    """
    from tokenizers import decoders

    ids = [[number] for number in range(count_entries(tokenizer))]
    texts = decode_texts(tokenizer, ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    continuation = "##" if isinstance(tokenizer.backend_tokenizer.decoder, decoders.WordPiece) else ""
    return [text.replace(REPLACEMENT, "").strip().removeprefix(continuation) for text in texts]


def find_content_tokens(names: Collection[str], stopwords: Collection[str]) -> NDArray[np.bool_]:
    """Return whether each token, given its text by id, is a content word, of shape (n_tokens,), bool.

    They have at least three characters and are not stopwords, given in lower case. Raise `InputError` if
    there is none.
    """
    found = [len(name) >= MIN_CHARACTERS and name.lower() not in stopwords for name in names]
    if not any(found):
        raise InputError(
            f"no token of the vocabulary has {MIN_CHARACTERS} characters and is not a stopword",
            "attribute rate",
            "use a tokenizer with a larger vocabulary",
        )
    return np.array(found, dtype=np.bool_)


def make_token_lists(
    tokenizer: Any,
    sentences: Iterable[tuple[str, pl.DataFrame]],
    names: list[str],
    content: NDArray[np.bool_],
    length: int,
) -> pl.DataFrame:
    """List the most frequent content tokens of each keyword's clean sentences, under TOKEN_LISTS.

    Keywords come sorted. At most `length` tokens, by decreasing count; ties by text, then by id.
    """
    parts = [make_empty_table(TOKEN_LISTS)]
    for keyword, group in show_progress(sentences, "keywords"):
        counts = _count_tokens(tokenizer, group["clean"], len(names))
        tokens = [token for token in counts.nonzero()[0].tolist() if content[token]]
        tokens.sort(key=lambda token: (-counts[token], names[token], token))
        tokens = tokens[:length]
        rows = {
            "keyword": [keyword] * len(tokens),
            "token_id": tokens,
            "token": [names[token] for token in tokens],
            "count": [int(counts[token]) for token in tokens],
        }
        parts.append(pl.DataFrame(rows, schema=parts[0].schema))
    return pl.concat(parts)


def _count_tokens(tokenizer: Any, texts: pl.Series, size: int) -> NDArray[np.int64]:
    """Return how often each token occurs in some texts, as an array of shape (size,)."""
    counts = np.zeros(size, dtype=np.int64)
    for start in range(0, len(texts), _SENTENCES):
        encoded = encode_texts(tokenizer, texts[start : start + _SENTENCES].to_list())
        counts += np.bincount(np.array([i for ids in encoded for i in ids], dtype=np.int64), minlength=size)
    return counts
