"""Is knowledge in bits what it says? Zeros, other candidates, and what tells two models apart.

Scores the models of a run (`{run}/models/NAME`) on the TF and TF-IDF pairs of domains, each pair once, and
prints for each: bits with the interval over keywords; with the prompts of other pairs (shuffled); at a
sharpness of 1; among half of the candidates, twice as many (terms of the vocabularies that are no targets),
those of the same part of speech, and those about as frequent; how many pairs share the target's first token
with a candidate, and what that can cost; Kendall's tau of the models' order with that by all targets, of
each domain and their mean. Then, for every two models, how many pairs tell them apart with a power of 80 %
by bits, by both ranks and by log-probability, and how many tokens that is; by bits per byte, how many
documents and tokens, where the run has measured perplexity. What controls keep of the gain is printed by
`perf.studies.rivals`.
"""

import argparse
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from perf.studies.rivals import (
    ALL,
    NORMAL,
    Prompts,
    list_choices,
    make_parser,
    open_model,
    read_domain,
    score_models,
)

from fathom.config.scoring import Summary
from fathom.io.contracts.scoring import PERPLEXITY
from fathom.io.tables import read_table
from fathom.scoring.bits import FOLDS, SHARPNESSES, choose_fold
from fathom.scoring.ranks import encode_benchmarks
from fathom.statistics.aggregates import MEAN
from fathom.statistics.baselines import resample_likelihood
from fathom.statistics.bootstrap import Resampled
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.correlations import correlate_rows
from fathom.statistics.metrics import BITS, BITS_PER_BYTE
from fathom.statistics.summaries import resample_values, select_known

Array = NDArray[np.float64]
HALF, TWICE = "half of the candidates", "twice as many"


class Study(NamedTuple):
    """A domain: its models' scores, what they give candidates, and which of these count for which target.

    Attributes
    ----------
    scores : dict of str to DataFrame
        By model.
    read : dict of str to Prompts
    choices : dict of str to ndarray of shape (n_words, n_words), bool
    keywords, clusters : list of str
        Of each pair.
    """

    scores: dict[str, pl.DataFrame]
    read: dict[str, Prompts]
    choices: dict[str, NDArray[np.bool_]]
    keywords: list[str]
    clusters: list[str]


def measure(
    prompts: Prompts, keywords: Sequence[str], allowed: NDArray[np.bool_], sharpness: float = 0
) -> Array:
    """Return bits of each pair among some candidates, by plain loops; 0: the sharpness is fitted."""
    codes = np.unique(keywords, return_inverse=True)[1]
    sums = np.stack([prompts.logs[codes == code].sum(axis=0) for code in range(codes.max() + 1)])
    left = (len(codes) - np.bincount(codes))[codes][:, None]
    favour = prompts.logs - (sums.sum(axis=0) - sums)[codes] / left
    rows, among = np.arange(len(codes)), allowed[prompts.places] & (prompts.places >= 0)[:, None]
    among[rows, prompts.places] = True

    def count(power: float) -> Array:
        scaled = np.where(among, power * favour, -np.inf)
        most = scaled.max(axis=1)
        shares = scaled[rows, prompts.places] - most - np.log(np.exp(scaled - most[:, None]).sum(axis=1))
        return np.asarray(
            np.where(prompts.places < 0, np.nan, np.log2(among.sum(axis=1)) + shares / np.log(2))
        )

    if sharpness:
        return count(sharpness)
    tried = np.stack([count(power) if power else np.zeros(len(codes)) for power in SHARPNESSES])
    folds, found = np.array([choose_fold(name) for name in keywords]), np.full(len(codes), np.nan)
    for fold in range(FOLDS):
        found[folds == fold] = tried[np.nanmean(tried[:, folds != fold], axis=1).argmax(), folds == fold]
    return found


def average(values: Array, clusters: list[str], fitted_on: float = 0.0) -> Resampled:
    """Return the mean of the values that there are, with its resamples of keywords."""
    known, names = select_known(values, clusters)
    return resample_values(known, names, Summary(), [MEAN.name], fitted_on)[MEAN.name]


def tell(found: Resampled) -> str:
    """Return a number with its interval."""
    value, low, high = found.estimate(Summary().confidence)
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def count_needed(gap: Resampled, items: float) -> float:
    """Return how many items tell a difference from 0 with a power of 80 %, given that of so many."""
    return float((NORMAL * gap.drawn.std(ddof=1) / gap.value) ** 2 * items)


def read_study(run: Path, domain: str, models: Sequence[str], threads: int) -> Study:
    """Score models on a domain, and find the candidates of each target."""
    targets = read_domain(run, domain)["target"].to_list()
    frames, read = score_models(run, domain, models, threads)
    words = next(iter(read.values())).words
    usual = np.isin(words, targets)
    found = list_choices(words, run / "corpus" / "texts" / f"{domain}.parquet")
    half = np.random.default_rng(0).random(len(words)) < 0.5
    choices = {name: allowed & usual for name, allowed in found.items()}
    choices |= {HALF: choices[ALL] & half, TWICE: found[ALL]}
    first = next(iter(frames.values()))
    return Study(frames, read, choices, first["keyword"].to_list(), choose_clusters(first).names)


def print_controls(domain: str, study: Study) -> None:
    """Print bits of each model as they are, and by each change."""
    turned = np.random.default_rng(0).permutation(len(study.keywords))
    whole, places = study.choices[ALL], next(iter(study.read.values())).places
    counts = {name: allowed[places].sum(axis=1) + 1 for name, allowed in study.choices.items()}
    print(f"\n{domain}: {len(study.keywords)} pairs, {len(set(study.keywords))} keywords; ", end="")
    print(
        "ceilings in bits:", ", ".join(f"{name} {np.log2(each).mean():.2f}" for name, each in counts.items())
    )
    heads = ["bits", "prompts shuffled", "sharpness 1", *list(study.choices)[1:], "ties: pairs", "cost"]
    print("| model |", " | ".join(heads), "|\n|---|" + "--:|" * len(heads))
    for model, each in study.read.items():
        moved = each._replace(logs=each.logs[turned])
        rows = each.logs[np.arange(len(study.keywords)), each.places][:, None]
        cost = np.log2(1 + ((each.logs == rows) & whole[each.places]).sum(axis=1))
        columns = [
            measure(each, study.keywords, whole),
            measure(moved, study.keywords, whole),
            measure(each, study.keywords, whole, 1.0),
            *(measure(each, study.keywords, some) for some in list(study.choices.values())[1:]),
        ]
        fitted = [0.0 if place == 2 else BITS.fitted_on for place in range(len(columns))]
        found = (
            average(column, study.clusters, share) for column, share in zip(columns, fitted, strict=True)
        )
        cells = [tell(mean) for mean in found]
        print("|", " | ".join([model, *cells, f"{(cost > 0).mean():.1%}", f"{cost.mean():.3f}"]), "|")


def find_orders(study: Study) -> dict[str, Array]:
    """Return Kendall's tau of the models' order by each choice with that by all targets, and of resamples."""
    rows = {
        name: np.stack(
            [
                average(measure(each, study.keywords, allowed), study.clusters).rows
                for each in study.read.values()
            ],
            axis=1,
        )
        for name, allowed in study.choices.items()
    }
    return {name: correlate_rows("kendall", rows[ALL], each) for name, each in rows.items() if name != ALL}


def print_orders(orders: Mapping[str, Mapping[str, Array]]) -> None:
    """Print the taus of each domain, and their means."""
    print("\n| candidates |", " | ".join([f"tau, {domain}" for domain in orders]), "| mean |")
    print("|---|" + "--:|" * (len(orders) + 1))
    for name in next(iter(orders.values())):
        rows = [each[name] for each in orders.values()]
        cells = [tell(Resampled(each)) for each in (*rows, np.mean(rows, axis=0))]
        print("|", " | ".join([name, *cells]), "|")


def count_tokens(run: Path, domain: str, model: str, threads: int) -> float:
    """Return how many tokens a model reads for a pair, in the mean."""
    opened = open_model(run, model, threads)
    encoded = encode_benchmarks(opened.tokenizer, read_domain(run, domain), opened.pointer)
    return float(np.mean([len(pair.ids) - 1 for pair in encoded]))


def print_prices(run: Path, domain: str, study: Study, tokens: float) -> None:
    """Print what tells every two models apart."""
    values = {
        "bits": {model: frame["bits"].to_numpy() for model, frame in study.scores.items()},
        "ln rank among rivals": {
            model: np.log(frame["rival_rank"].to_numpy()) for model, frame in study.scores.items()
        },
        "ln rank": {model: np.log(frame["rank"].to_numpy()) for model, frame in study.scores.items()},
        "log-probability": {
            model: frame["log_probability"].to_numpy() for model, frame in study.scores.items()
        },
    }
    folder = run / domain / "scores" / "perplexity"
    texts = {
        model: read_table(folder / f"{model}.parquet", PERPLEXITY).sort("doc_id")
        for model in study.scores
        if (folder / f"{model}.parquet").exists()
    }
    heads = [f"pairs needed by {name}" for name in values]
    heads += [f"thousands of tokens by {name}" for name in (*values, "bits per byte")]
    print(f"\n{domain}: {tokens:.0f} tokens a pair, {len(next(iter(texts.values()), ()))} documents")
    print("| first | second |", " | ".join([*heads, "documents needed by bits per byte"]), "|")
    print("|---|---|" + "--:|" * (len(heads) + 1))
    for one, other in combinations(study.scores, 2):
        gaps = [average(each[one] - each[other], study.clusters) for each in values.values()]
        needed = [count_needed(gap, len(study.keywords)) for gap in gaps]
        cells = [f"{number:,.0f}" for number in needed]
        cells += [f"{number * tokens / 1000:,.1f}" for number in needed]
        if {one, other} <= texts.keys():
            first, second = (
                resample_likelihood(texts[each], Summary())[BITS_PER_BYTE.name] for each in (one, other)
            )
            documents = count_needed(first - second, len(texts[one]))
            mean = float(texts[one]["tokens"].to_numpy().mean())
            cells += [f"{documents * mean / 1000:,.1f}", f"{documents:,.0f}"]
        else:
            cells += ["", ""]
        print("|", " | ".join([one, other, *cells]), "|")


def main(arguments: argparse.Namespace) -> None:
    """Score, measure, print."""
    orders = {}
    for domain in arguments.domain:
        study = read_study(arguments.run, domain, arguments.model, arguments.threads)
        print_controls(domain, study)
        orders[domain] = find_orders(study)
        tokens = count_tokens(arguments.run, domain, arguments.model[0], arguments.threads)
        print_prices(arguments.run, domain, study, tokens)
    print_orders(orders)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--domain", action="append", required=True, help="may be repeated")
    parser.add_argument("--model", action="append", required=True, help="a model of the run; may be repeated")
    main(parser.parse_args())
