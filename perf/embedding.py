"""Time sentence embedding against sentence-transformers, and check that matches stay identical.

Uses the sentences and keywords of a finished run. All columns of the matches are compared: sentence, keyword,
cosine to three decimals. bfloat16 is also measured as a filter: sentences that it cannot decide are embedded
again in float32. A second table starts from the sentences of full texts: the baseline embeds each of them;
the workflow cleans them first and embeds the distinct ones that name a keyword. Runs on one thread,
alternates between the ways, and prints tables of median processor times.
"""

import argparse
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
from perf.turns import DEMO, clock, measure_peak, note, print_table, take_turns

from fathom.benchmark.embedding import Computation, SentenceEncoder, Vectors
from fathom.benchmark.embedding_models import DEFAULT_MODEL, find_packaged_model
from fathom.benchmark.gathered_matches import divide_by_keyword
from fathom.benchmark.matches import decide_matches, is_uncertain, match_sentences
from fathom.benchmark.named_keywords import find_named, keep_named
from fathom.config.benchmark import Embedding, Matches
from fathom.corpus.latex import clean_sentence
from fathom.corpus.sentences import load_splitter, split_document
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS
from fathom.io.delimited import read_rows
from fathom.jobs.program import run_program


def embed_plainly(model: Any, sentences: list[str]) -> Vectors:
    """Embed with sentence-transformers as its documentation does."""
    found: Vectors = model.encode(sentences, normalize_embeddings=True, show_progress_bar=False)
    return found


def read_sentences(run: Path, count: int) -> list[str]:
    """Return distinct sentences of a run, evenly from its parts."""
    paths = sorted((run / "corpus" / "sentences").glob("*.parquet"))
    every = (
        pl.concat([pl.read_parquet(path, columns=["sentence"]) for path in paths])["sentence"].unique().sort()
    )
    return every.sample(min(count, len(every)), seed=0).to_list()


def find_matches(
    sentences: list[str], vectors: Vectors, keywords: list[str], encoder: SentenceEncoder
) -> pl.DataFrame:
    """Match as the workflow does."""
    table = pl.DataFrame(
        {"doc_id": ["d"] * len(sentences), "position": range(len(sentences)), "sentence": sentences}
    ).with_columns(pl.col("sentence").alias("clean"), pl.col("position").alias("row"))
    exact = dict(zip(keywords, encoder.encode_exactly(keywords), strict=True))
    border = Matches().min_cosine
    candidates = match_sentences(table, vectors, keywords, np.stack(list(exact.values())), border)
    decided = [
        decide_matches(rows, exact[keyword], encoder.encode_exactly, border)
        for keyword, rows in divide_by_keyword(candidates)
    ]
    return pl.concat(decided)


def print_matching(
    vectors: dict[str, Vectors], sentences: list[str], keywords: list[str], encoder: SentenceEncoder
) -> dict[str, pl.DataFrame]:
    """Match with the vectors of each way; print the times, return the matches."""
    border = Matches().min_cosine
    found, seconds = {}, 0.0
    for name, each in vectors.items():
        seconds, found[name] = clock(partial(find_matches, sentences, each, keywords, encoder))
    cosines = vectors["ours"] @ encoder.encode(keywords).T
    values = cosines[cosines >= border].astype(np.float64)
    again = int(is_uncertain(values, border).sum())
    print(f"\nMatching {len(sentences):,} sentences with {len(keywords)} keywords: {seconds:.1f} s, ", end="")
    print(f"{len(values):,} matches, of which {again:,} lie on a border and were computed again in float64")
    return found


def read_uncleaned(run: Path, count: int) -> list[str]:
    """Return all sentences of some full texts of a run, duplicates and formulas included."""
    splitter, texts = load_splitter("rules"), []
    for path in sorted((run / "corpus" / "sentences").glob("*.parquet")):
        ids = pl.read_parquet(path, columns=["doc_id"])["doc_id"].unique().implode()
        documents = pl.read_parquet(run / "corpus" / "documents" / path.name)
        texts += documents.filter(pl.col("doc_id").is_in(ids), pl.col("characters") > 0).to_dicts()
    Random(0).shuffle(texts)
    found: list[str] = []
    while texts and len(found) < count:
        found += split_document(texts.pop(), splitter)
    return found[:count]


def embed_named(
    encoder: SentenceEncoder, sentences: list[str], keywords: list[str]
) -> tuple[list[str], Vectors]:
    """Clean sentences as the workflow does, embed the distinct ones that name a keyword; return both."""
    cleaned = pl.Series(clean_all(sentences))
    kept = cleaned.gather(find_named(cleaned, keywords)["place"].unique().sort()).to_list()
    return kept, encoder.encode(kept)


def clean_all(sentences: list[str]) -> list[str]:
    """Return the distinct sentences that survive cleaning."""
    return [each for each in dict.fromkeys(sentences) if clean_sentence(each) is not None]


def find_named_matches(
    sentences: list[str], vectors: Vectors, keywords: list[str], encoder: SentenceEncoder
) -> pl.DataFrame:
    """Match as the workflow does, and keep the matches that name their keyword."""
    found = keep_named(find_matches(sentences, vectors, keywords, encoder))
    return found.select("keyword", "clean", "cosine").sort("keyword", "clean")


def print_uncleaned(
    plain: Any, encoder: SentenceEncoder, sentences: list[str], keywords: list[str], rounds: int
) -> None:
    """Print how long embedding takes, starting from the sentences of full texts."""
    name = "sentence-transformers"
    ways = {
        name: partial(embed_plainly, plain, sentences),
        "ours": partial(embed_named, encoder, sentences, keywords),
    }
    seconds, found = take_turns(ways, rounds)
    kept, vectors = found["ours"]
    cleaned, places = clean_all(sentences), {sentence: row for row, sentence in enumerate(sentences)}
    of_plain = found[name][[places[sentence] for sentence in cleaned]]
    matches = [
        find_named_matches(texts, each, keywords, encoder)
        for texts, each in ((kept, vectors), (cleaned, of_plain))
    ]
    same = "same" if matches[0].equals(matches[1]) else "NOT the same"
    print(f"\nFull texts: {len(sentences):,} sentences, {len(kept):,} of them embedded\n")
    rows = [
        [way, f"{len(sentences) / spent:.0f}", f"{seconds[name] / spent:.2f}", same]
        for way, spent in seconds.items()
    ]
    print_table(["way", "sentences/s", "ratio", f"matches ({len(matches[0]):,})"], rows)
    ratio = seconds[name] / seconds["ours"]
    note(
        "embedding, from full texts on", f"{name}, each sentence", f"{ratio:.1f}", ">= 3",
        ratio >= 3 and same == "same", exact=f"{same} matches",
    )  # fmt: skip


def print_filter(half: Vectors, ours: Vectors, known: Vectors, rates: dict[str, float]) -> None:
    """Print how much a bfloat16 filter before float32 would save."""
    border = Matches().min_cosine
    low, high = half @ known.T, ours @ known.T
    error = float(np.abs(low - high).max())
    again = float(((low >= border - 2 * error).any(axis=1)).mean())
    flips = int(((low >= border) != (high >= border)).sum())
    rate = 1 / (1 / rates["bfloat16 alone"] + again / rates["ours"])
    print(
        f"\nbfloat16: cosines off by up to {error:.4f}, {flips:,} decisions changed. As a filter it leaves ",
        end="",
    )
    print(
        f"{again:.0%} of the sentences to float32, since their cosines are kept with three decimals: ", end=""
    )
    print(f"{rate:.0f} sentences/s in all, {rate / rates['sentence-transformers']:.1f} times the plain way")


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the tables."""
    import torch
    from sentence_transformers import SentenceTransformer

    settings, sentences = Embedding(), read_sentences(arguments.run, arguments.sentences)
    keywords = sorted(
        {
            row["keyword"]
            for path in sorted(arguments.run.glob("*/keywords.tsv"))
            for row in read_rows(path, DOMAIN_KEYWORDS, ["keyword"])
        }
    )
    encoder, half = SentenceEncoder(settings), SentenceEncoder(settings, Computation(precision="bfloat16"))
    padded, by_mkl = SentenceEncoder(settings), SentenceEncoder(settings)
    padded._packs = False
    by_mkl._fast_network = by_mkl._model.network
    plain = SentenceTransformer(find_packaged_model() or DEFAULT_MODEL, device="cpu")
    ways = {
        "sentence-transformers": partial(embed_plainly, plain, sentences),
        "ours, products by MKL": partial(by_mkl.encode, sentences),
        "ours, padded batches": partial(padded.encode, sentences),
        "ours": partial(encoder.encode, sentences),
        "bfloat16 alone": partial(half.encode, sentences),
    }
    seconds, vectors = take_turns(ways, arguments.rounds)
    rates = {name: len(sentences) / spent for name, spent in seconds.items()}
    found = encoder._tokenize(sentences)
    tokens = sum(map(len, found))
    padding = sum(rows * length for _, rows, length in padded._make_batches(found)) / tokens
    weights = sum(
        each.numel() for name, each in encoder._model.network.named_parameters() if ".layer." in name
    )
    peak = measure_peak()
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    print(
        f"{len(sentences):,} sentences, {tokens:,} tokens; float32 product {peak / 1e9:.0f} GFLOP/s; ", end=""
    )
    print(f"AMX {'there' if 'amx_bf16' in flags else 'not there'}, ", end="")
    print(f"GPU {'there' if torch.cuda.is_available() else 'not there: not run'}\n")
    matches = print_matching(vectors, sentences, keywords, encoder)
    exact = matches["sentence-transformers"]
    print()
    rows = []
    for name in ways:
        limit = "" if "bfloat" in name else f"{2 * tokens * weights / seconds[name] / peak:.0%}"
        same = "same" if matches[name].equals(exact) else "NOT the same"
        ratio = rates[name] / rates["sentence-transformers"]
        rows.append([name, f"{rates[name]:.0f}", f"{ratio:.2f}", limit, same])
        if name == "ours":
            note(
                "embedding, the 0.5 decision", "sentence-transformers", f"{ratio:.1f}", ">= 1.3 in float32",
                ratio >= 1.3 and same == "same", exact=f"{same} matches", share=limit,
            )  # fmt: skip
    print_table(["way", "sentences/s", "ratio", "share of limit", "matches"], rows)
    ratio = rates["ours"] / rates["ours, padded batches"]
    same = "same" if matches["ours"].equals(matches["ours, padded batches"]) else "NOT the same"
    # without padding no more is saved than padding adds
    note(
        "embedding, without padding", "padded batches", f"{ratio:.2f} of {padding:.2f}", ">= 1.3",
        ratio >= 1.3 and same == "same", exact=f"{same} matches", share=f"{ratio / padding:.0%}",
    )  # fmt: skip
    print_filter(vectors["bfloat16 alone"], vectors["ours"], encoder.encode(keywords), rates)
    uncleaned = read_uncleaned(arguments.run, arguments.sentences)
    print_uncleaned(plain, encoder, uncleaned, keywords, arguments.rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=DEMO, help="run with the sentences")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    run_program(parser, main)
