"""A second measure of knowledge, without other targets: a prompt against itself with other terms.

Each vocabulary term of a prompt is exchanged for another one of its kind, as for `terms-exchanged` texts,
several times over; then log2 of the target's probability after the prompt less log2 of its mean over the
exchanged prompts is what the prompt's own terms tell the model of the target. Nothing is trained, and no
rival is needed. Scores the models of a run on TF and TF-IDF pairs of a domain, drawn by a hash, and prints
for each model the measure and bits with intervals over keywords, and how far the two agree over pairs; then
Kendall's tau of the two orders of models; what controls keep of the gain by both; and how many pairs tell
every two models apart. Pairs without a term in their prompt, and exchanges that put a form of the target
there, do not count, and are counted.
"""

import argparse
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from perf.studies.bits import average, count_needed, tell
from perf.studies.rivals import make_parser, read_domain, read_terms, score_models, score_once

from fathom.benchmark.control_texts import exchange_terms
from fathom.benchmark.wordlists import gives_away
from fathom.config.scoring import Summary
from fathom.corpus.texts import TRAIN
from fathom.io.files import hash_text
from fathom.statistics.bootstrap import Resampled, draw_resamples
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.correlations import correlate_rows
from fathom.statistics.metrics import BITS

Array = NDArray[np.float64]
SPARE = 2
"""Times as many exchanges are drawn as wanted, for some have a form of the target."""


def draw_pairs(pairs: pl.DataFrame, count: int) -> pl.DataFrame:
    """Return so many pairs, those with the lowest hashes."""
    keys = [hash_text(*texts) for texts in pairs.select("prompt", "target").iter_rows()]
    return pairs.with_columns(key=pl.Series(keys)).sort("key").head(count).drop("key").sort("pair_id")


def exchange_prompts(pairs: pl.DataFrame, terms: Sequence[str], count: int) -> tuple[pl.DataFrame, str]:
    """Return the exchanged prompts of pairs, `count` of each, and a sentence on what was left out.

    Parameters
    ----------
    pairs : DataFrame
        Under contract PAIRS.
    terms : sequence of str
        Of the vocabularies, without blanks.
    count : int

    Returns
    -------
    exchanged : DataFrame
        Columns pair_id (that of the pair and a number), keyword, prompt, target, source (the pair's).
    summary : str
    """
    rows = [
        (f"{row['pair_id']} {number}", row["keyword"], row["prompt"], row["target"], row["pair_id"])
        for row in pairs.iter_rows(named=True)
        for number in range(SPARE * count)
    ]
    drawn = pl.DataFrame(rows, ["pair_id", "keyword", "text", "target", "source"], orient="row")
    texts = drawn.select(pl.col("pair_id").alias("doc_id"), "text", split=pl.lit(TRAIN))
    drawn = drawn.with_columns(prompt=exchange_terms(texts, terms)["text"])
    changed = drawn.filter(pl.col("prompt") != pl.col("text"))
    kept = [
        not any(gives_away(word, target) for word in set(prompt.split()) - set(text.split()))
        for prompt, text, target in changed.select("prompt", "text", "target").iter_rows()
    ]
    exchanged = changed.filter(pl.Series(kept, dtype=pl.Boolean)).unique(
        ["source", "prompt"], keep="first", maintain_order=True
    )
    exchanged = exchanged.filter(pl.int_range(pl.len()).over("source") < count)
    exchanged = exchanged.filter(pl.len().over("source") == count)
    sources, gave = exchanged["source"].n_unique(), len(kept) - sum(kept)
    summary = (
        f"{sources:,} of {len(pairs):,} pairs have {count} exchanged prompts;"
        f" {len(pairs) - changed['source'].n_unique():,} have no term in their prompt;"
        f" {gave:,} of {len(kept):,} exchanges put a form of the target there, which leaves others too few"
    )
    return exchanged.drop("text"), summary


def measure_models(
    arguments: argparse.Namespace, pairs: pl.DataFrame, exchanged: pl.DataFrame
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the second measure and bits of each model, by pair; bits are among all targets of the domain."""
    scores, _ = score_models(arguments.run, arguments.domain, arguments.model, arguments.threads)
    second, bits = {}, {}
    for model, frame in scores.items():
        moved, *_ = score_once(arguments.run, model, arguments.threads, exchanged)
        mean = pl.col("log_probability").exp().mean().log().alias("usual")
        usual = moved.with_columns(exchanged["source"]).group_by("source").agg(mean)
        both = pairs.select("pair_id").join(frame, on="pair_id", how="left", maintain_order="left")
        both = both.join(usual, left_on="pair_id", right_on="source", how="left", maintain_order="left")
        second[model] = ((both["log_probability"] - both["usual"]) / np.log(2)).to_numpy()
        bits[model] = both["bits"].to_numpy()
    return second, bits


def correlate_pairs(first: Array, second: Array, clusters: Sequence[str], statistic: str) -> Resampled:
    """Return a correlation over pairs; the bootstrap draws keywords."""
    codes = np.unique(clusters, return_inverse=True)[1]
    groups = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    rows = [correlate_rows(statistic, first[None], second[None])[0]]
    for counts in draw_resamples(len(groups), Summary()):
        drawn = np.concatenate([np.tile(each, times) for each, times in zip(groups, counts, strict=True)])
        rows.append(correlate_rows(statistic, first[None, drawn], second[None, drawn])[0])
    return Resampled(np.array(rows), len(first), len(groups) - 1)


def print_models(
    second: Mapping[str, Array], bits: Mapping[str, Array], clusters: list[str]
) -> tuple[dict[str, Resampled], dict[str, Resampled]]:
    """Print both measures of each model and their agreement; return both."""
    means = {}, {}
    print("| model | exchanged prompts | bits | Pearson over pairs | Spearman |\n|---|--:|--:|--:|--:|")
    for model, values in second.items():
        known = ~np.isnan(bits[model])
        means[0][model] = average(values, clusters)
        means[1][model] = average(bits[model], clusters, BITS.fitted_on)
        some = [name for name, has in zip(clusters, known, strict=True) if has]
        agreed = [
            correlate_pairs(values[known], bits[model][known], some, each) for each in ("pearson", "spearman")
        ]
        cells = [tell(each) for each in (means[0][model], means[1][model], *agreed)]
        print("|", " | ".join([model, *cells]), "|")
    rows = [np.stack([each.rows for each in mean.values()], axis=1) for mean in means]
    print("\ntau of the two orders of models:", tell(Resampled(correlate_rows("kendall", *rows))))
    return means


def print_contrasts(means: Sequence[Mapping[str, Resampled]], base: str, adapted: str, pairs: int) -> None:
    """Print what models keep of the gain of the adapted one, and pairs needed, by both measures."""
    names = ("exchanged prompts", "bits")
    print("\n| model | " + " | ".join(f"share of the gain, {name}" for name in names) + " |\n|---|--:|--:|")
    for model in means[0]:
        if model in (base, adapted):
            continue
        shares = [(mean[model] - mean[base]) / (mean[adapted] - mean[base]) for mean in means]
        cells = [tell(Resampled(100 * each.rows, freedom=each.freedom)) for each in shares]
        print("|", " | ".join([model, *cells]), "|")
    print("\n| first | second | " + " | ".join(f"pairs needed by {name}" for name in names) + " |")
    print("|---|---|--:|--:|")
    for one, other in combinations(means[0], 2):
        needed = [count_needed(mean[one] - mean[other], pairs) for mean in means]
        print("|", " | ".join([one, other, *(f"{number:,.0f}" for number in needed)]), "|")


def main(arguments: argparse.Namespace) -> None:
    """Exchange, score, compare, print."""
    pairs = draw_pairs(read_domain(arguments.run, arguments.domain), arguments.pairs)
    terms = [term.strip() for term in read_terms(arguments.run, arguments.domain)]
    exchanged, summary = exchange_prompts(pairs, terms, arguments.exchanges)
    print(f"{arguments.domain}: {summary}\n")
    pairs = pairs.filter(pl.col("pair_id").is_in(exchanged["source"].implode()))
    print(f"{len(pairs)} pairs of {pairs['keyword'].n_unique()} keywords\n")
    second, bits = measure_models(arguments, pairs, exchanged)
    clusters = choose_clusters(pairs).names
    means = print_models(second, bits, clusters)
    base, adapted = arguments.model[:2]
    print_contrasts(means, base, adapted, len(clusters))


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--domain", required=True)
    parser.add_argument(
        "--model",
        action="append",
        required=True,
        help="a model of the run, two or more: first the base, then the one that read the text as it is",
    )
    parser.add_argument("--pairs", type=int, default=400, help="how many are drawn")
    parser.add_argument("--exchanges", type=int, default=4, help="exchanged prompts of each pair")
    main(parser.parse_args())
