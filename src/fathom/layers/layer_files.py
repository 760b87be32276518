"""Measurements inside a model on one domain, from files to files: rates, a tuned lens, targets."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.layers import Layers, TunedLens
from fathom.errors import InputError
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.layers import LAYER_EXAMPLES, LAYER_RATES, LAYER_TARGETS, LAYER_TOKENS
from fathom.io.contracts.scoring import TOKEN_LISTS
from fathom.io.delimited import read_rows, write_rows
from fathom.io.files import hash_file, write_json
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.jobs.program import log
from fathom.layers.projection import (
    LayerReader,
    load_lens,
    open_layer_reader,
    read_hidden_states,
    save_lens,
    train_lens,
)
from fathom.layers.target_ranks import ForwardSettings, measure_targets, sample_pairs
from fathom.models.open_model import Measurement, OpenModel
from fathom.models.tokens import encode_keywords, show_vocabulary, uses_bos
from fathom.scoring.attribute_rate import check_keyword_lengths, list_keyword_tokens
from fathom.scoring.logits import describe_non_finite, evaluate_models
from fathom.scoring.pair_files import read_pairs
from fathom.scoring.scored_sequences import ScoredSequence

if TYPE_CHECKING:
    from torch import Tensor


GEVA_DEPTH = 500
"""Most likely tokens that Geva et al. take, before they drop stopwords and short tokens."""


class TokenLists(NamedTuple):
    """Content words, of shape (n_tokens,), bool, and the tokens of each keyword, most frequent first.

    Further entries of the model are not content words.
    """

    content: NDArray[np.bool_]
    by_keyword: Mapping[str, Sequence[int]]


def collect_top_tokens(
    model: Any,
    prompts: Mapping[str, Sequence[int]],
    lists: TokenLists,
    settings: Layers,
    batch_tokens: int,
    name: str = "the model",
) -> pl.DataFrame:
    """Read each keyword once and return the most likely next tokens at every layer, under LAYER_TOKENS.

    Prompts have a BOS token first if the model uses one. The largest k of the settings determines how many
    tokens are stored; ties are broken by token id. Raise `InputError` if a keyword is longer than the model's
    context, logits are not finite, or the architecture is unknown.
    """
    check_keyword_lengths(model, prompts, name, "layers")
    order = sorted(prompts, key=lambda keyword: (-len(prompts[keyword]), keyword))
    sequences = [
        ScoredSequence(tuple(prompts[keyword]), [(len(prompts[keyword]) - 1, 0)]) for keyword in order
    ]
    reader = open_layer_reader(model, sequences[0].ids, name)
    selector = _TokenSelector(lists, max(settings.all_k), reader.output_layer.entries)
    rows: list[dict[str, Any]] = []
    done = 0
    with evaluate_models([model]):
        for states, _ in read_hidden_states(reader, sequences, batch_tokens, "keywords"):
            keywords = order[done : done + states.shape[1]]
            done += len(keywords)
            for layer, projection, logits, part in _project(reader, states, settings):
                if not bool(logits.isfinite().all()):
                    item = f"one of the keywords {', '.join(map(repr, keywords[part]))}"
                    raise describe_non_finite(name, item, f"layer {layer}")
                selected = selector.select(logits.cpu().numpy(), keywords[part])
                rows += [
                    {"keyword": keyword, "layer": layer, "projection": projection, **values}
                    for keyword, values in zip(keywords[part], selected, strict=True)
                ]
    frame = pl.DataFrame(rows, schema=make_empty_table(LAYER_TOKENS).schema)
    return frame.sort("keyword", "layer", "projection")


def _project(
    reader: LayerReader, states: "Tensor", settings: Layers
) -> Iterator[tuple[int, str, "Tensor", slice]]:
    """Yield the logits of each layer under each projection, a slice of rows at a time."""
    wanted = set(settings.projections)
    for layer in range(reader.n_layers):
        for part in reader.slice_rows(states.shape[1]):
            if "normed" in wanted:
                yield layer, "normed", reader.to_logits(states[layer, part]), part
            if wanted & {"raw", "geva"}:
                yield layer, "raw", reader.to_logits(states[layer, part], normed=False), part


class _TokenSelector:
    """Selects the most likely tokens from rows of logits."""

    def __init__(self, lists: TokenLists, k: int, entries: int) -> None:
        self._content_ids = np.flatnonzero(lists.content[:entries])
        self._content = np.zeros(entries, dtype=np.bool_)
        self._content[self._content_ids] = True
        self._lists = lists.by_keyword
        self._k, self._depth = k, max(k, GEVA_DEPTH)
        self._rank = np.zeros(entries, dtype=np.int32)
        self._list_rank = np.zeros(entries, dtype=np.int32)

    def select(self, logits: NDArray[np.float32], keywords: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the list columns of LAYER_TOKENS for each row of logits."""
        for row, keyword in zip(logits, keywords, strict=True):
            exponentials = np.exp(row - row.max())
            total = exponentials.sum(dtype=np.float64)
            top = find_top_k(row, self._depth)
            self._rank[top] = np.arange(1, len(top) + 1)
            listed = np.asarray(self._lists.get(keyword, ()), dtype=np.int64)
            self._list_rank[listed] = np.arange(1, len(listed) + 1)
            tokens = self._content_ids[find_top_k(row[self._content_ids], self._k)]
            others = top[: self._k][~self._content[top[: self._k]]]
            yield {
                "tokens": tokens.tolist(),
                "probabilities": (exponentials[tokens] / total).tolist(),
                "ranks": self._rank[tokens].tolist(),
                "places": self._list_rank[tokens].tolist(),
                "others": others.tolist(),
                "other_probabilities": (exponentials[others] / total).tolist(),
                "other_ranks": self._rank[others].tolist(),
            }
            self._rank[top] = 0
            self._list_rank[listed] = 0


def find_top_k(values: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    """Return the indices of the k largest values, largest first, ties by index.

    Equal to a stable sort, but only values not smaller than the k-th largest are sorted.
    """
    if k < len(values):
        least = np.partition(values, len(values) - k)[len(values) - k]
        candidates = np.flatnonzero(values >= least)
    else:
        candidates = np.arange(len(values))
    return candidates[np.argsort(-values[candidates], kind="stable")[:k]]


def measure_rates(tokens: pl.DataFrame, settings: Layers) -> pl.DataFrame:
    """Compute rates and probability sums, under LAYER_RATES, for every k and list length from stored tokens.

    Projection `geva` has no final norm, leaves out the last layer, and counts only those of the k content
    tokens that are among the 500 most likely tokens.
    """
    last = tokens["layer"].max()
    parts = [make_empty_table(LAYER_RATES)]
    for projection in settings.projections:
        chosen = tokens.filter(projection="normed" if projection == "normed" else "raw")
        if projection == "geva":
            chosen = chosen.filter(pl.col("layer") < last)
        if chosen.is_empty():
            continue
        stored = _StoredTokens(chosen, GEVA_DEPTH if projection == "geva" else None)
        for k in settings.all_k:
            for length in settings.all_lengths:
                sums = {name: pl.Series(values) for name, values in stored.compute_rates(k, length).items()}
                named = chosen.select("keyword", "layer").with_columns(
                    projection=pl.lit(projection), k=pl.lit(k), list_length=pl.lit(length), **sums
                )
                parts.append(named.select(parts[0].columns).cast(parts[0].schema))
    return pl.concat(parts).sort("keyword", "projection", "k", "list_length", "layer")


class _StoredTokens:
    """The stored tokens of some rows as arrays of shape (n_rows, k), padded with values that never count."""

    def __init__(self, rows: pl.DataFrame, depth: int | None) -> None:
        def stack(name: str, fill: float) -> Any:
            lists = rows[name].to_list()
            array = np.full((len(lists), max(1, *map(len, lists))), fill, np.float64)
            for row, values in enumerate(lists):
                array[row, : len(values)] = values
            return array

        self.probability, self.list_rank = stack("probabilities", 0), stack("places", 0)
        self.rank = stack("ranks", 0)
        self.other_probability = stack("other_probabilities", 0)
        self.other_rank = stack("other_ranks", np.inf)
        self.counts = stack("tokens", -1) >= 0
        if depth is not None:
            self.counts &= (self.rank > 0) & (self.rank <= depth)

    def compute_rates(self, k: int, length: int) -> dict[str, Any]:
        """Return hits, rate and probability sums of every row."""
        counts, probability = self.counts[:, :k], self.probability[:, :k]
        listed = (self.list_rank > 0) & (self.list_rank <= length)
        hit = counts & listed[:, :k]
        in_top_k = (self.rank > 0) & (self.rank <= k)
        outside_any = np.where(in_top_k & ~listed, self.probability, 0).sum(1)
        outside_any += np.where(self.other_rank <= k, self.other_probability, 0).sum(1)
        hits = hit.sum(1)
        return {
            "rate": hits / min(k, self.counts.shape[1]),
            "hits": hits,
            "inside": np.where(hit, probability, 0).sum(1),
            "outside": np.where(counts & ~hit, probability, 0).sum(1),
            "outside_any": outside_any,
        }


def list_examples(tokens: pl.DataFrame, names: Sequence[str], k: int, length: int) -> list[tuple[Any, ...]]:
    """List, by keyword, the last layer's k most likely tokens that are in its token list.

    Rows of keyword, number of tokens in the list, these tokens, the other tokens [BeyondBenchmarks, Table 5].
    Tokens of any kind, most likely first, separated by spaces. `names`: of tokens by id, without spaces.
    """
    last = tokens.filter(pl.col("layer") == tokens["layer"].max(), projection="normed")
    rows: list[tuple[Any, ...]] = []
    for row in last.sort("keyword").iter_rows(named=True):
        ranked = [(rank, token, list_rank) for rank, token, list_rank in
                  zip(row["ranks"], row["tokens"], row["places"], strict=True) if 0 < rank <= k]  # fmt: skip
        ranked += [(rank, token, 0) for rank, token in zip(row["other_ranks"], row["others"], strict=True)
                   if rank <= k]  # fmt: skip
        sides: tuple[list[str], list[str]] = ([], [])
        for _, token, list_rank in sorted(ranked):
            name = names[token] if token < len(names) else f"<{token}>"
            sides[not 0 < list_rank <= length].append(name)
        rows.append((row["keyword"], len(sides[0]), " ".join(sides[0]), " ".join(sides[1])))
    return rows


def choose_prompts(
    prompts: Mapping[str, Sequence[int]], lists: Mapping[str, Sequence[int]], settings: Layers
) -> tuple[dict[str, Sequence[int]], dict[str, list[str]]]:
    """Leave out keywords that cannot be measured, and report them by problem.

    Those with a token list shorter than k are reported, too; they are measured but cannot reach a rate of 1.
    Raise `InputError` if no keyword is left, or all token lists are shorter than k.
    """
    report: dict[str, list[str]] = {
        "without_sentences": sorted(word for word in prompts if word not in lists),
        "without_tokens": sorted(word for word, ids in prompts.items() if not ids),
        "of_too_many_tokens": sorted(
            word for word, ids in prompts.items() if len(ids) > settings.max_keyword_tokens
        ),
    }
    left_out = {word for words in report.values() for word in words}
    chosen = {word: prompts[word] for word in sorted(prompts) if word not in left_out}
    report["with_a_short_list"] = [word for word in chosen if len(lists[word]) < settings.k]
    reasons = {
        "without_sentences": "keywords have no clean sentence, hence no token list: left out",
        "without_tokens": "keywords have no token: left out",
        "of_too_many_tokens": f"keywords have more than {settings.max_keyword_tokens} tokens: left out",
        "with_a_short_list": f"keywords have a token list shorter than k = {settings.k}: cannot reach 1",
    }
    for reason, words in report.items():
        if words:
            log.info("%s of %s %s: %s", len(words), len(prompts), reasons[reason], _shorten(words))
    if not chosen:
        counts = ", ".join(f"{len(words)} {reason.replace('_', ' ')}" for reason, words in report.items())
        raise InputError(f"no keyword can be measured: {counts}", "layers", "see max_keyword_tokens")
    if len(report["with_a_short_list"]) == len(chosen):
        longest = max(len(lists[word]) for word in chosen)
        what = f"every token list is shorter than k = {settings.k}, the longest has {longest}"
        raise InputError(what, "layers.k", "lower k, or give the keywords more sentences")
    return chosen, report


def _shorten(words: Sequence[str], limit: int = 5) -> str:
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return ", ".join(map(repr, words[:limit])) + more


class DomainFiles(NamedTuple):
    """The files of one domain; the names of all files to write begin with `prefix`.

    For `overlap` see :func:`fathom.scoring.attribute_rate.scan_sentences`.
    """

    name: str
    keywords: Path
    sentences: Path
    pairs: Path
    stopwords: Path
    prefix: str
    overlap: Path | None = None

    def name_output(self, ending: str) -> Path:
        """Return the name of a file to write."""
        return Path(f"{self.prefix}.{ending}")


def plan_layers(
    files: DomainFiles, layers: Layers, texts: Path | None = None, lens: TunedLens | None = None
) -> list[Measurement]:
    """Return all measurements inside a model on one domain.

    With `texts`, a tuned lens is trained on split adapt-train and applied to the targets.
    """

    def plan(
        kind: str, inputs: Sequence[Path | None], endings: Sequence[str], settings: Any, measure: Any
    ) -> Measurement:
        given, outputs = [path for path in inputs if path], [files.name_output(each) for each in endings]
        return Measurement(
            f"{files.name}.{kind}", __file__, given, outputs, settings,
            lambda model, outputs, resume: measure(model, outputs),
        )  # fmt: skip

    read = [files.sentences, files.keywords, files.stopwords, files.overlap]
    written: tuple[str, ...]
    written = ("rates.parquet", "tokens.parquet", "token-lists.parquet", "examples.tsv", "rates.json")
    planned = [plan("rates", read, written, layers, partial(_measure_rates, files, layers))]
    maps = None
    if texts is not None and lens is not None:
        maps = files.name_output("lens.safetensors")
        written = ("lens.safetensors", "lens.json")
        planned.append(plan("lens", [texts], written, lens, partial(_train_lens, texts, lens)))
    measure = partial(_measure_targets, files.pairs, maps, layers)
    written = ("targets.parquet", "targets.json")
    return [*planned, plan("targets", [files.pairs, maps], written, layers, measure)]


def _measure_rates(files: DomainFiles, settings: Layers, model: OpenModel, outputs: Sequence[Path]) -> None:
    keywords = [row["keyword"] for row in read_rows(files.keywords, DOMAIN_KEYWORDS, ["keyword"])]
    longest = max(settings.all_lengths)
    content, lists, owned = list_keyword_tokens(
        model.tokenizer, files.sentences, files.stopwords, longest, files.overlap
    )
    ids = encode_keywords(model.tokenizer, keywords, model.pointer.add_bos)
    prompts, left_out = choose_prompts(dict(zip(keywords, ids, strict=True)), owned, settings)
    tokens = collect_top_tokens(
        model.model, prompts, TokenLists(content, owned), settings, model.batch_tokens, model.pointer.name
    )
    report: dict[str, Any] = {
        **model.description,
        "sentences_sha256": hash_file(files.sentences),
        "keywords_sha256": hash_file(files.keywords),
        "stopwords_sha256": hash_file(files.stopwords),
        "architecture": model.model.config.get_text_config().model_type,
        "bos": uses_bos(model.tokenizer, model.pointer.add_bos),
        "blocks": tokens["layer"].max(),
        "keywords": len(prompts),
        **left_out,
    }
    log.info("%s: %s keywords, %s blocks", model.pointer.name, len(prompts), report["blocks"])
    write_table(outputs[0], measure_rates(tokens, settings), LAYER_RATES)
    write_table(outputs[1], tokens, LAYER_TOKENS)
    write_table(outputs[2], lists, TOKEN_LISTS)
    rows = list_examples(tokens, show_vocabulary(model.tokenizer), settings.k, settings.list_length)
    write_rows(outputs[3], rows, LAYER_EXAMPLES)
    write_json(outputs[4], report)


def _train_lens(texts: Path, settings: TunedLens, model: OpenModel, outputs: Sequence[Path]) -> None:
    pointer = model.pointer
    table = read_table(texts, TEXTS)
    maps, points = train_lens(model.model, model.tokenizer, table, settings, pointer.add_bos, pointer.name)
    for point in points:
        log.info("layer %s: divergence %.3f, tuned %.3f", *point)
    save_lens(outputs[0], maps, model.description["fingerprint"])
    values = [point._asdict() for point in points]
    write_json(outputs[1], {**model.description, "texts_sha256": hash_file(texts), "layers": values})


def _measure_targets(
    file: Path, lens: Path | None, settings: Layers, model: OpenModel, outputs: Sequence[Path]
) -> None:
    pairs = sample_pairs(read_pairs(file), settings)
    pointer, device = model.pointer, model.model.get_output_embeddings().weight.device
    maps = load_lens(lens, model.description["fingerprint"], device) if lens else None
    forward = ForwardSettings(model.batch_tokens, pointer.add_bos, pointer.name)
    found = measure_targets(model.model, model.tokenizer, pairs, forward, maps)
    report: dict[str, Any] = {
        **model.description,
        "pairs_sha256": hash_file(file),
        "lens_sha256": hash_file(lens) if lens else "",
        "bos": uses_bos(model.tokenizer, pointer.add_bos),
        "blocks": found["layer"].max(),
        "keywords": pairs["keyword"].n_unique(),
        "pairs": len(pairs),
    }
    log.info("%s: %s pairs of %s keywords", pointer.name, f"{len(pairs):,}", report["keywords"])
    write_table(outputs[0], found, LAYER_TARGETS)
    write_json(outputs[1], report)
