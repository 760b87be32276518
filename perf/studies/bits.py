"""Is knowledge in bits what it says? Zeros, other candidates, and pairs that tell two models apart.

Scores the models of a run (`{run}/models/NAME`) on the TF and TF-IDF pairs of a domain, each pair once, and
prints for each: bits with the interval over keywords; with the prompts of other pairs (shuffled); at a
sharpness of 1; among half of the candidates, those of the same part of speech, and those about as frequent;
how many pairs share the target's first token with a candidate, and what that can cost. Then, for every two
models, how many pairs tell them apart with a power of 80 % by bits, by both ranks and by log-probability.
What controls keep of the gain is printed by `perf.studies.rivals`.
"""

import argparse
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from perf.studies.rivals import NORMAL, Prompts, list_choices, make_parser, score_models

from fathom.config.scoring import Summary
from fathom.scoring.bits import FOLDS, SHARPNESSES, choose_fold
from fathom.statistics.aggregates import MEAN
from fathom.statistics.bootstrap import Resampled
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.summaries import resample_values, select_known

Array = NDArray[np.float64]


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


def average(values: Array, clusters: list[str]) -> Resampled:
    """Return the mean of the values that there are, with its resamples of keywords."""
    return resample_values(*select_known(values, clusters), Summary(), [MEAN.name])[MEAN.name]


def tell(found: Resampled) -> str:
    """Return a number with its interval."""
    value, low, high = found.estimate(Summary().confidence)
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def print_controls(
    read: Mapping[str, Prompts],
    keywords: Sequence[str],
    clusters: list[str],
    choices: Mapping[str, NDArray[np.bool_]],
) -> None:
    """Print bits of each model as they are, and by each change."""
    random = np.random.default_rng(0)
    turned = random.permutation(len(keywords))
    (whole, *others) = choices.values()
    half = whole & (random.random(len(whole)) < 0.5)
    ceiling = np.log2(whole[next(iter(read.values())).places].sum(axis=1) + 1).mean()
    print(f"\n{len(keywords)} pairs, {len(set(keywords))} keywords; ceiling {ceiling:.2f} bits")
    heads = [
        "bits",
        "prompts shuffled",
        "sharpness 1",
        "half of the candidates",
        *list(choices)[1:],
        "ties: pairs",
        "cost",
    ]
    print("| model |", " | ".join(heads), "|\n|---|" + "--:|" * len(heads))
    for model, each in read.items():
        moved = each._replace(logs=each.logs[turned])
        tied = (each.logs == each.logs[np.arange(len(keywords)), each.places][:, None]) & whole[each.places]
        cost = np.log2(1 + tied.sum(axis=1))
        columns = [
            measure(each, keywords, whole), measure(moved, keywords, whole),
            measure(each, keywords, whole, 1.0), measure(each, keywords, half),
            *(measure(each, keywords, some) for some in others),
        ]  # fmt: skip
        cells = [tell(average(column, clusters)) for column in columns]
        print("|", " | ".join([model, *cells, f"{(cost > 0).mean():.1%}", f"{cost.mean():.3f}"]), "|")


def main(arguments: argparse.Namespace) -> None:
    """Score, measure, print."""
    scores, read = score_models(arguments.run, arguments.domain, arguments.model, arguments.threads)
    frames = {key[2]: frame for key, frame in scores.items()}
    first = next(iter(frames.values()))
    keywords, clusters = first["keyword"].to_list(), choose_clusters(first).names
    texts = arguments.run / "corpus" / "texts" / f"{arguments.domain}.parquet"
    choices = list_choices(next(iter(read.values())).words, texts)
    print_controls(read, keywords, clusters, choices)
    values = {
        "bits": {model: frame["bits"].to_numpy() for model, frame in frames.items()},
        "ln rank among rivals": {
            model: np.log(frame["rival_rank"].to_numpy()) for model, frame in frames.items()
        },
        "ln rank": {model: np.log(frame["rank"].to_numpy()) for model, frame in frames.items()},
        "log-probability": {model: frame["log_probability"].to_numpy() for model, frame in frames.items()},
    }
    print("\n| first | second |", " | ".join(f"pairs needed by {name}" for name in values), "|")
    print("|---|---|" + "--:|" * len(values))
    for one, other in combinations(frames, 2):
        needed = []
        for each in values.values():
            gap = average(each[one] - each[other], clusters)
            needed.append((NORMAL * gap.drawn.std(ddof=1) / gap.value) ** 2 * len(keywords))
        print("|", " | ".join([one, other, *(f"{number:,.0f}" for number in needed)]), "|")


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--model", action="append", required=True, help="a model of the run; may be repeated")
    main(parser.parse_args())
