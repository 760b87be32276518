"""Knowledge or style, by rank in the vocabulary and among rivals, of models that a run has adapted.

Scores the models of a run (`{run}/models/NAME`) on the TF and TF-IDF pairs of a domain, each pair once, and
prints what share of the gain each control keeps, and how far statistics differ in that, by the code of
`snakemake follow`; with several seeds, the gain and the share of each. Then the same for other choices of
rivals: words that can be of the target's part of speech, words about as frequent in the domain's text, and
all words without their mean over the prompts, or with the mean over other keywords' prompts; and how many
pairs each needs to tell every two models apart.
"""

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.benchmark.wordlists import find_kinds, gives_away
from fathom.config.benchmark import VARIANTS
from fathom.config.models import Point
from fathom.config.scoring import Scoring, Summary
from fathom.io.contracts.benchmark import PAIRS, VOCABULARY
from fathom.io.contracts.studies import AS_IS, BOTH
from fathom.io.delimited import read_rows
from fathom.io.files import hash_text
from fathom.io.tables import read_table
from fathom.models.loading import read_pointer
from fathom.models.open_model import OpenModel
from fathom.scoring import ranks
from fathom.statistics.aggregates import GEOMETRIC_MEAN
from fathom.statistics.bootstrap import Resampled
from fathom.statistics.clustered_tests import correct_family
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.metrics import METRICS, RIVAL_RANK
from fathom.statistics.summaries import resample_values, select_known
from fathom.studies.controls import compare_conditions, compare_shares
from fathom.studies.following import CONTROLLED, Measured, average_seeds, measure_pairs

NORMAL = 1.959964 + 0.841621
FREQUENCY = 3.0
"""Rivals of the same frequency occur at most so many times as often as the target, or as seldom."""
ALL = "all targets"
Array = NDArray[np.float64]


class Prompts(NamedTuple):
    """What a model gives rivals after each prompt: words, place of the target or -1, log-probabilities."""

    words: list[str]
    places: NDArray[np.int64]
    logs: Array


def read_domain(run: Path, domain: str) -> pl.DataFrame:
    """Return the TF and TF-IDF pairs of a domain, each prompt and target once."""
    files = [run / domain / "benchmark" / variant / "pairs.parquet" for variant in VARIANTS]
    pairs = pl.concat([read_table(file, PAIRS) for file in files])
    return pairs.unique(["prompt", "target"], keep="first", maintain_order=True).sort("pair_id")


def open_model(run: Path, name: str, threads: int) -> OpenModel:
    """Open a model of a run."""
    return OpenModel(read_pointer(run / "models" / name / "model.json"), Scoring(), threads, 0)


def read_terms(run: Path, domain: str) -> list[str]:
    """Return the terms of a domain's vocabularies, each with its blank."""
    files = [run / domain / "benchmark" / variant / "vocabulary.tsv" for variant in VARIANTS]
    return sorted({row["term"] for file in files for row in read_rows(file, VOCABULARY, ["term"])})


def draw_terms(run: Path, domain: str, targets: Sequence[str]) -> list[str]:
    """Return terms of the domain's vocabularies that are no forms of targets, as many as these at most."""
    words = sorted(set(targets))
    others = [term for term in read_terms(run, domain) if not any(gives_away(term, word) for word in words)]
    drawn = np.random.default_rng(0).permutation(len(others))[: len(words)]
    return [others[place] for place in sorted(drawn)]


def score_models(
    run: Path, domain: str, models: Sequence[str], threads: int
) -> tuple[dict[str, pl.DataFrame], dict[str, Prompts]]:
    """Score models on the pairs of a domain, and note what they give targets, and as many other terms."""
    texts = read_domain(run, domain)
    more = draw_terms(run, domain, texts["target"].to_list())
    # pairs of their own make them rivals; prompts that benchmarks share are read once
    added = {"pair_id": [f"more {word}" for word in more], "keyword": "more", "prompt": "a", "target": more}
    scores, read = {}, {}
    for name in models:
        frame, words, logs = score_once(run, name, threads, texts, pl.DataFrame(added))
        scores[name] = frame
        places = {word: place for place, word in enumerate(words)}
        found = np.array([places.get(each, -1) for each in texts["target"]])
        read[name] = Prompts(words, found, logs.astype(float))
    return scores, read


def score_once(
    run: Path, name: str, threads: int, pairs: pl.DataFrame, more: pl.DataFrame | None = None
) -> tuple[pl.DataFrame, list[str], NDArray[np.float32]]:
    """Return a model's scores of pairs, the targets of these and more, and what the prompts give them.

    What was scored before is read from `{run}/studies`.
    """
    columns = ["pair_id", "keyword", "prompt", "target"]
    benchmarks = [pairs.select(columns)]
    if more is not None:
        benchmarks.append(pl.concat([benchmarks[0], more.select(columns)]))
    pointer = (run / "models" / name / "model.json").read_text(encoding="utf-8")
    kept = run / "studies" / hash_text(pointer, *(text for row in benchmarks[-1].iter_rows() for text in row))
    if not kept.with_suffix(".parquet").exists():
        opened = open_model(run, name, threads)
        with patch.object(ranks, "rank_among_rivals", wraps=ranks.rank_among_rivals) as ranked:
            found = ranks.score_benchmarks(
                opened.copies, opened.tokenizer, benchmarks, Scoring(), opened.pointer
            )
        rivals, _, _, others = ranked.call_args[0]
        kept.parent.mkdir(exist_ok=True)
        np.savez(kept.with_suffix(".npz"), words=np.array(rivals.words), logs=others[: len(pairs)])
        found[0].write_parquet(kept.with_suffix(".parquet"))
    with np.load(kept.with_suffix(".npz")) as arrays:
        return pl.read_parquet(kept.with_suffix(".parquet")), arrays["words"].tolist(), arrays["logs"]


def keep_targets(prompts: Prompts) -> Prompts:
    """Return prompts without the words that are no targets."""
    wanted = np.unique(prompts.places[prompts.places >= 0])
    places = np.where(prompts.places < 0, -1, np.searchsorted(wanted, prompts.places))
    return Prompts([prompts.words[place] for place in wanted], places, prompts.logs[:, wanted])


def list_choices(words: Sequence[str], texts: Path) -> dict[str, NDArray[np.bool_]]:
    """Return which words are rivals of which, of shape (n_words, n_words), by choice."""
    counts = Counter(
        re.findall(r"[^\W_]+(?:-[^\W_]+)*", " ".join(pl.read_parquet(texts, columns=["text"])["text"]))
    )
    logs = np.log1p([counts[word.strip()] for word in words])
    kinds = [find_kinds(word.strip().lower()) for word in words]
    other = np.array([[not gives_away(one, each) for each in words] for one in words])
    same = np.array([[bool(one & each) or one == each for each in kinds] for one in kinds])
    near = np.abs(logs[:, None] - logs[None, :]) <= np.log(FREQUENCY)
    return {
        ALL: other,
        "same part of speech": other & same,
        "same frequency": other & near,
        "same part of speech and frequency": other & same & near,
    }


def rank_targets(prompts: Prompts, rivals: NDArray[np.bool_], usual: Array) -> Array:
    """Return the rank of each target among its rivals, by log-probabilities less what is usual."""
    favour = prompts.logs - usual
    rows = np.arange(len(favour))
    wanted = favour[rows, prompts.places][:, None]
    among = np.where(rivals[prompts.places], favour, -np.inf)
    found = 1 + (among > wanted).sum(axis=1) + (among == wanted).sum(axis=1) / 2
    return np.where(prompts.places < 0, np.nan, found)


def average_others(logs: Array, keywords: Sequence[str]) -> Array:
    """Return the mean of each word over the prompts of all other keywords, by prompt."""
    codes = np.unique(keywords, return_inverse=True)[1]
    sums = np.stack([logs[codes == code].sum(axis=0) for code in range(codes.max() + 1)])
    left = len(logs) - np.bincount(codes)
    return np.asarray((sums.sum(axis=0) - sums)[codes] / left[codes][:, None])


def rank_by_choices(
    read: Mapping[str, Prompts], keywords: Sequence[str], texts: Path
) -> dict[str, dict[str, Array]]:
    """Return ranks among rivals by choice and model."""
    words = next(iter(read.values())).words
    found = {
        name: {model: rank_targets(each, rivals, each.logs.mean(axis=0)) for model, each in read.items()}
        for name, rivals in list_choices(words, texts).items()
    }
    whole = list_choices(words, texts)[ALL]
    found["all targets, without the mean"] = {
        model: rank_targets(each, whole, np.zeros(1)) for model, each in read.items()
    }
    found["all targets, mean over other keywords"] = {
        model: rank_targets(each, whole, average_others(each.logs, keywords)) for model, each in read.items()
    }
    return found


def print_choices(
    found: Mapping[str, Mapping[str, Array]],
    scores: Mapping[tuple[str, str, str], pl.DataFrame],
    base: str,
    conditions: Mapping[str, list[str]],
) -> None:
    """Print what controls keep of the gain, and the pairs that tell two models apart, by choice of rivals."""
    settings, keywords = Summary(), next(iter(scores.values()))["keyword"].to_list()
    names = choose_clusters(next(iter(scores.values()))).names
    controls = [name for name in conditions if name != AS_IS]
    ends = [models[0] for models in conditions.values()]
    shares: dict[str, dict[str, Resampled]] = {name: {} for name in controls}
    print(f"\n{len(names)} pairs, {len(set(keywords))} keywords; geometric means")
    print("| rivals | base | as it is | gain |", *(f"share, {name} |" for name in controls), "pairs needed |")
    for choice, ranked in found.items():
        drawn = {}
        for model, values in ranked.items():
            known, own = select_known(values, names)
            drawn[model] = resample_values(known, own, settings, [GEOMETRIC_MEAN.name])[GEOMETRIC_MEAN.name]
        means = {
            name: average_seeds([drawn[model] for model in models], settings)
            for name, models in conditions.items()
        }
        gains = {name: RIVAL_RANK.measure_gain(each, drawn[base]) for name, each in means.items()}
        for name in controls:
            shares[name][choice] = gains[name] / gains[AS_IS]
        needed = []
        for first, second in combinations([base, *ends], 2):
            gap = np.log(drawn[first].rows / drawn[second].rows)
            needed.append((NORMAL * gap[1:].std(ddof=1) / gap[0]) ** 2 * len(names))
        cells = [f"{drawn[base].value:.1f}", f"{means[AS_IS].value:.1f}", _tell(gains[AS_IS], 1)]
        cells += [_tell(shares[name][choice], 100) for name in controls]
        print("|", " | ".join([choice, *cells, f"{np.median(needed):,.0f}"]), "|")
    print("\n| control | rivals | share less that among all targets | p corrected |\n|---|---|--:|--:|")
    for name in controls:
        others = [choice for choice in found if choice != ALL]
        gaps = [shares[name][choice] - shares[name][ALL] for choice in others]
        for choice, gap, (_, p) in zip(
            others, gaps, correct_family([(gap, 0.0) for gap in gaps]), strict=True
        ):
            print("|", " | ".join([name, choice, _tell(gap, 100), f"{p:.2g}"]), "|")


def _tell(found: Resampled, times: float) -> str:
    """Return a number with its interval."""
    value, low, high = (times * each for each in found.estimate(Summary().confidence))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]" if times == 1 else f"{value:.0f} [{low:.0f}, {high:.0f}]"


def print_seeds(measured: Measured, base: str, conditions: Mapping[str, list[str]]) -> None:
    """Print each seed's gain, and what share a control keeps of the gain of the same seed's text as it is.

    The spread is the standard deviation over seeds; intervals are over keywords, without an error of seeds.
    """
    print("\n| metric | statistic | condition | gain of each seed | spread | share of each seed |")
    print("|---|---|---|--:|--:|--:|")
    for (_, _, metric, statistic), series in measured.items():
        gains = {
            name: [METRICS[metric].measure_gain(series[model], series[base]) for model in models]
            for name, models in conditions.items()
        }
        for name, own in gains.items():
            spread = f"{np.std([each.value for each in own], ddof=1):.2f}" if len(own) > 1 else ""
            pairs = zip(own, gains[AS_IS], strict=False)
            shares = [] if name == AS_IS else [_tell(one / whole, 100) for one, whole in pairs]
            cells = ["; ".join(_tell(each, 1) for each in own), spread, "; ".join(shares)]
            print("|", " | ".join([metric, statistic, name, *cells]), "|")


def main(arguments: argparse.Namespace) -> None:
    """Score, compare, print."""
    given = {AS_IS: arguments.as_is} | dict(each.split("=", 1) for each in arguments.control)
    conditions = {name: models.split(",") for name, models in given.items()}
    models = list(dict.fromkeys([arguments.base, *(each for some in conditions.values() for each in some)]))
    found, read = score_models(arguments.run, arguments.domain, models, arguments.threads)
    scores = {(arguments.domain, BOTH, name): frame for name, frame in found.items()}
    read = {name: keep_targets(each) for name, each in read.items()}
    tracks = {
        name: [
            Point(model=arguments.base),
            *(Point(model=each, seed=str(seed), step=1, tokens=1) for seed, each in enumerate(some)),
        ]
        for name, some in conditions.items()
    }
    settings, measured = Summary(), measure_pairs(scores, Summary(), CONTROLLED)
    same = {name: name for name in conditions}
    gains, contrasts = compare_conditions(arguments.domain, same, tracks, measured, settings)
    print("| metric | statistic | condition | value | gain | share | pairs |\n|---|---|---|--:|--:|--:|--:|")
    for row in gains:
        cells = [f"{row[at]} [{row[at + 1]}, {row[at + 2]}]" if row[at] else "" for at in (7, 10, 13)]
        print("|", " | ".join([row[2], row[3], row[5], *cells, str(row[16])]), "|")
    print(
        "\n| metric | statistic | ahead | of | gap | p corrected | verdict |\n|---|---|---|---|--:|--:|---|"
    )
    for row in contrasts:
        print("|", " | ".join([*row[2:4], *row[5:7], f"{row[7]} [{row[8]}, {row[9]}]", *row[11:13]]), "|")
    print("\n| control | first | second | first less second | p corrected |\n|---|---|---|--:|--:|")
    for row in compare_shares(arguments.domain, same, tracks, measured, settings):
        names = [f"{row[at + 1]}, {row[at + 2]}" for at in (3, 6)]
        print("|", " | ".join([row[2], *names, f"{row[9]} [{row[10]}, {row[11]}]", row[13]]), "|")
    if len(arguments.as_is.split(",")) > 1:
        print_seeds(measured, arguments.base, conditions)
    texts = arguments.run / "corpus" / "texts" / f"{arguments.domain}.parquet"
    keywords = next(iter(scores.values()))["keyword"].to_list()
    print_choices(rank_by_choices(read, keywords, texts), scores, arguments.base, conditions)


def make_parser(about: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options of a study of a finished run."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--run", type=Path, required=True, help="folder of the run, such as results/real-models"
    )
    parser.add_argument("--threads", type=int, default=1)
    return parser


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--domain", required=True)
    parser.add_argument("--base", required=True, help="model before its adaptations")
    parser.add_argument(
        "--as-is", required=True, help="models that read the domain's text as it is, by commas: one a seed"
    )
    parser.add_argument(
        "--control", action="append", default=[], help="NAME=MODELS, such as far=base+plotting"
    )
    main(parser.parse_args())
