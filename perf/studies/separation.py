"""Measure how many tokens a statistic needs for a significant difference, and what 5 % broken pairs do.

Reads the scores, pairs and likelihoods of a finished run (`make demo`). Draws clozes, single random words,
from the held-out text that perplexity is measured on, and scores the run's models on them; `--clozes` keeps
both. For every two models the paired bootstrap over keywords (over documents for held-out text and clozes)
gives the standard error of their difference. It falls with the square root of the number of keywords, so the
tokens for a two-sided test at 95 % with a power of 80 % follow: those of the whole benchmark, times (2.80
standard errors / difference) squared. The power is then checked by drawing benchmarks of that size. Prints
tables, and writes the numbers by pair of models.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from perf.turns import DEMO, ROOT

from fathom.config.scoring import Summary
from fathom.io.contracts.benchmark import OVERLAP
from fathom.io.tables import read_table
from fathom.jobs.program import run_program
from fathom.models.folders import load_tokenizer
from fathom.models.tokens import encode_pairs
from fathom.scoring.pair_files import read_pairs
from fathom.scoring.scored_sequences import plan_sequences
from fathom.statistics.aggregates import GEOMETRIC_MEAN, MEAN, TRIMMED_MEAN, Resamples
from fathom.statistics.bootstrap import Resampled, draw_resamples
from fathom.statistics.metrics import RIVAL_RANK

NORMAL = 1.959964 + 0.841621
BROKEN, DRAWS, FEWEST = 0.05, 20, 10
COLUMNS = ("benchmark", "statistic", "better", "worse", "difference", "error", "tokens", "clusters", "power")
Array = NDArray[np.float64]
Counts = NDArray[np.int32]


class Place(NamedTuple):
    """Which benchmark is read: results of a run, a domain, and the model whose tokenizer counts."""

    run: Path
    domain: str
    tokenizer: str


class Metric(NamedTuple):
    """A statistic of a benchmark: values by model, clusters, tokens read, how resamples are summed up."""

    name: str
    values: Mapping[str, Array]
    clusters: NDArray[np.int64]
    tokens: int
    measure: Callable[[Array, Counts], Array]


def sum_up(statistic: Any, logarithm: bool) -> Callable[[Array, Counts], Array]:
    """Return what computes a statistic of resamples; its logarithm for a scale of factors."""

    def measure(values: Array, copies: Counts) -> Array:
        order = np.argsort(values, kind="stable")
        found = statistic.measure(Resamples(values[order], copies[:, order], Summary().trim))
        return np.asarray(np.log(found) if logarithm else found)

    return measure


def score_clozes(place: Place, folder: Path, count: int) -> None:
    """Draw clozes from the held-out text, and score all models of the run, unless the folder has them."""
    run, domain, tokenizer = place
    pairs, scripts = folder / "pairs.parquet", ROOT / "scripts"
    if not pairs.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        settings = {"pairs": {"tokenizer": tokenizer, "max_tokens": 256}}
        call(
            scripts / "benchmark" / "draw_clozes.py",
            *("--texts", run / "corpus" / "texts" / f"{domain}.parquet", "--split", "adapt-test"),
            *("--index", run / "corpus" / "index.parquet", "--wordlists", ROOT / "config" / "wordlists"),
            *("--tokenizer", run / "models" / tokenizer / "tokenizer", "--count", count),
            *("--settings", json.dumps(settings), "--pairs", pairs),
            *("--lines", folder / "pairs.jsonl", "--report", folder / "pairs.json"),
        )
        call(
            scripts / "benchmark" / "find_overlap.py",
            *("--pairs", pairs, "--texts", *sorted((run / "corpus" / "texts").glob("*.parquet"))),
            *("--overlap", folder / "overlap.parquet", "--report", folder / "overlap.json"),
        )
    for path in sorted((run / domain / "scores" / "tf").glob("*.parquet")):
        scores = folder / "scores" / path.name
        if not scores.is_file():
            scores.parent.mkdir(exist_ok=True)
            call(
                scripts / "scoring" / "score_model.py",
                *(
                    "--model",
                    run / "models" / path.stem / "model.json",
                    "--pairs",
                    f"{domain}/clozes={pairs}",
                ),
                *("--scores", scores),
                *("--wordlists", ROOT / "config" / "wordlists"),
                *("--finished", folder / "finished" / path.stem),
            )


def call(*parts: object) -> None:
    """Run a program of the project."""
    subprocess.run([sys.executable, *map(str, parts)], check=True)


def read_benchmark(scored: Path, pairs_file: Path, place: Place) -> tuple[dict[str, pl.DataFrame], int]:
    """Return the scores of all models, by pair id, and the tokens that a model reads for them.

    Pairs that occur in training text are left out, as summaries leave them out.
    """
    overlap = read_table(pairs_file.with_name("overlap.parquet"), OVERLAP)
    kept = overlap.filter(~pl.col(Summary().overlap)).select("pair_id")
    scores = {
        path.stem: pl.read_parquet(path).join(kept, on="pair_id", how="semi").sort("pair_id")
        for path in sorted(scored.glob("*.parquet"))
    }
    pairs = read_pairs(pairs_file).join(kept, on="pair_id", how="semi")
    tokenizer = load_tokenizer(place.run / "models" / place.tokenizer / "tokenizer")
    encoded = encode_pairs(tokenizer, pairs["prompt"].to_list(), pairs["target"].to_list())
    return scores, sum(len(sequence.ids) for sequence in plan_sequences(encoded).sequences)


def list_metrics(scores: Mapping[str, pl.DataFrame], tokens: int, ratios: bool) -> list[Metric]:
    """Return the statistics to be compared: ratios of ranks, or their differences; log-probabilities."""
    keywords = next(iter(scores.values()))["keyword"].to_numpy()
    clusters = np.unique(keywords, return_inverse=True)[1]
    ranks = {model: frame["rank"].to_numpy() for model, frame in scores.items()}
    logs = {model: frame["log_probability"].to_numpy() for model, frame in scores.items()}
    among = {model: frame[RIVAL_RANK.name].to_numpy() for model, frame in scores.items()}
    known = ~np.isnan(np.stack(list(among.values()))).any(axis=0)
    among = {model: each[known] for model, each in among.items()}
    drawn = np.unique(keywords[known], return_inverse=True)[1]
    return [
        Metric("trimmed mean rank", ranks, clusters, tokens, sum_up(TRIMMED_MEAN, ratios)),
        Metric("geometric mean rank", ranks, clusters, tokens, sum_up(GEOMETRIC_MEAN, ratios)),
        Metric("mean log-probability", logs, clusters, tokens, sum_up(MEAN, False)),
        Metric(RIVAL_RANK.describe(TRIMMED_MEAN), among, drawn, tokens, sum_up(TRIMMED_MEAN, ratios)),
        Metric(RIVAL_RANK.describe(GEOMETRIC_MEAN), among, drawn, tokens, sum_up(GEOMETRIC_MEAN, ratios)),
    ]


def read_text(place: Place) -> Metric:
    """Return bits per byte of held-out text; its values are nats and bytes, weighted by documents drawn."""
    frames = {
        path.stem: pl.read_parquet(path).sort("doc_id")
        for path in sorted((place.run / place.domain / "scores" / "perplexity").glob("*.parquet"))
    }
    first = next(iter(frames.values()))

    def measure(values: Array, copies: Counts) -> Array:
        nats, size = (copies @ values).T
        return np.asarray(np.log(nats / size))

    values = {
        model: frame.select("nats", "bytes").to_numpy().astype(float) for model, frame in frames.items()
    }
    # what occurs in training text does not count, but is read
    tokens = int((first["tokens"] + first["tokens_overlap"]).sum())
    return Metric("bits per byte", values, np.arange(len(first)), tokens, measure)


def separate(metric: Metric, first: str, second: str, settings: Summary) -> tuple[float, float]:
    """Return the difference of two models, and its standard error."""
    counts = draw_resamples(int(metric.clusters.max()) + 1, settings)[:, metric.clusters]
    once = np.ones((1, len(metric.clusters)), dtype=np.int32)
    whole, drawn = (
        metric.measure(metric.values[second], copies) - metric.measure(metric.values[first], copies)
        for copies in (once, counts)
    )
    return float(whole[0]), float(drawn.std(ddof=1))


def check_power(metric: Metric, first: str, second: str, clusters: int, checks: int) -> float:
    """Return the share of drawn benchmarks of some clusters whose 95 % interval leaves out 0."""
    random, apart = np.random.default_rng(0), 0
    members = [np.flatnonzero(metric.clusters == place) for place in range(int(metric.clusters.max()) + 1)]
    for number in range(checks):
        chosen = random.integers(len(members), size=clusters)
        rows = np.concatenate([members[place] for place in chosen])
        names = np.arange(clusters).repeat([len(members[place]) for place in chosen])
        counts = draw_resamples(clusters, Summary(rounds=200, seed=number))[:, names]
        part = metric._replace(values={key: metric.values[key][rows] for key in (first, second)})
        drawn = part.measure(part.values[second], counts) - part.measure(part.values[first], counts)
        once = np.ones((1, len(names)), dtype=np.int32)
        value = part.measure(part.values[second], once) - part.measure(part.values[first], once)
        found = Resampled.join(float(value[0]), drawn, freedom=clusters - 1)
        apart += found.estimate(Summary().confidence).apart
    return apart / checks


def tabulate(metric: Metric, benchmark: str, checks: int) -> list[tuple[Any, ...]]:
    """Return a row for every two models."""
    settings, rows = Summary(), []
    count = int(metric.clusters.max()) + 1
    for first, second in combinations(metric.values, 2):
        difference, error = separate(metric, first, second, settings)
        # models that are equal to the last digit are never told apart
        share = (NORMAL * error / difference) ** 2 if difference else math.inf
        # few clusters have no interval to speak of, and more than there are would be drawn twice
        due = checks and FEWEST <= share * count <= count
        power = check_power(metric, first, second, round(share * count), checks) if due else math.nan
        sign = difference > 0 if metric.name != "mean log-probability" else difference < 0
        names = (first, second) if sign else (second, first)
        numbers = (abs(difference), error, share * metric.tokens, share * count, power)
        rows.append((benchmark, metric.name, *names, *(f"{each:.4g}" for each in numbers)))
    return rows


def break_pairs(metric: Metric, ranks: Mapping[str, Array], entries: int, seed: int) -> Metric:
    """Return a metric with the ranks of some pairs replaced by uniform ones, for each model by its own draw.

    A log-probability becomes that of the model's pair whose rank is nearest to the drawn one.
    """
    random, values = np.random.default_rng(seed), {}
    count = len(metric.clusters)
    rows = random.permutation(count)[: round(BROKEN * count)]
    for model, own in metric.values.items():
        drawn, order = random.integers(1, entries + 1, len(rows)), np.argsort(ranks[model])
        copy = own.copy()
        copy[rows] = drawn
        if metric.name == "mean log-probability":
            copy[rows] = np.interp(drawn, ranks[model][order], own[order])
        values[model] = copy
    return metric._replace(values=values)


def describe_broken(metric: Metric, ranks: Mapping[str, Array], entries: int) -> str:
    """Return how far the statistic and the tokens needed move, and how many pairs of models stay in order."""
    once, settings = np.ones((1, len(metric.clusters)), dtype=np.int32), Summary(rounds=200)
    clean = {pair: separate(metric, *pair, settings) for pair in combinations(metric.values, 2)}
    moved, ratios, kept = [], [], []
    for seed in range(DRAWS):
        broken = break_pairs(metric, ranks, entries, seed)
        moved += [
            float(metric.measure(broken.values[model], once)[0] - metric.measure(own, once)[0])
            for model, own in metric.values.items()
        ]
        for pair, (difference, error) in clean.items():
            found, noise = separate(broken, *pair, settings)
            kept.append((found > 0) == (difference > 0))
            ratios.append((noise / found) ** 2 / (error / difference) ** 2)
    change = f"{np.mean(moved):+.2f} nats" if metric.name == "mean log-probability" else (
        f"{np.expm1(np.mean(moved)):+.1%}"
    )  # fmt: skip
    return f"| {metric.name} | {change} | {statistics.median(ratios):.2f} | {np.mean(kept):.1%} |"


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the tables, and write the numbers by pair of models."""
    rows: list[tuple[Any, ...]] = []
    broken: list[str] = []
    place = Place(arguments.run, arguments.domain, arguments.tokenizer)
    folder = place.run / place.domain
    places = {name: (folder / "scores" / name, folder / "benchmark" / name) for name in ("tf", "tfidf")}
    with tempfile.TemporaryDirectory() as temporary:
        clozes = arguments.clozes or Path(temporary)
        if arguments.count:
            score_clozes(place, clozes, arguments.count)
            places["clozes"] = clozes / "scores", clozes
        read = {
            name: read_benchmark(scored, pairs / "pairs.parquet", place)
            for name, (scored, pairs) in places.items()
        }
    for variant, (scores, tokens) in read.items():
        ranks = {model: frame["rank"].to_numpy() for model, frame in scores.items()}
        entries = round(
            float((next(iter(scores.values())).select(pl.col("rank") / pl.col("rank_share"))).item(0, 0))
        )
        for metric in list_metrics(scores, tokens, arguments.scale == "ratio"):
            rows += tabulate(metric, variant, arguments.checks)
            if variant == "tf" and arguments.scale == "ratio" and RIVAL_RANK.label not in metric.name:
                broken.append(describe_broken(metric, ranks, entries))
        print(f"{variant}: {tokens:,} tokens read, {len(next(iter(scores.values()))):,} pairs")
    rows += tabulate(read_text(place), "text", arguments.checks)
    pl.DataFrame(rows, COLUMNS, orient="row").write_csv(arguments.table)
    print_tokens(rows, FEWEST)
    print_tokens(rows, 0)
    print("\n| statistic | moved by | tokens, broken / clean | order kept |\n|---|--:|--:|--:|")
    print("\n".join(broken))


def print_tokens(rows: list[tuple[Any, ...]], fewest: float) -> None:
    """Print by statistic the tokens needed, and the trimmed mean's divided by them: medians and quartiles.

    Only pairs of models count for which the trimmed mean needs at least `fewest` keywords.
    """
    needed: dict[tuple[str, str], dict[frozenset[str], float]] = {}
    ours = [row for row in rows if row[:2] in (("tf", "trimmed mean rank"), ("tfidf", "trimmed mean rank"))]
    close = {frozenset(row[2:4]) for row in ours if float(row[7]) >= fewest}
    print(f"\n{len(close)} pairs of models")
    for row in rows:
        if frozenset(row[2:4]) not in close:
            continue
        needed.setdefault(row[:2], {})[frozenset(row[2:4])] = float(row[6])
    print("\n| benchmark | statistic | tokens: median (quartiles) | trimmed mean / this | power |")
    print("|---|---|--:|--:|--:|")
    for (benchmark, name), found in needed.items():
        base = needed["tfidf" if benchmark == "tfidf" else "tf", "trimmed mean rank"]
        low, middle, high = np.quantile(list(found.values()), [0.25, 0.5, 0.75])
        least, ratio, most = np.quantile([base[pair] / found[pair] for pair in found], [0.25, 0.5, 0.75])
        powers = [float(row[8]) for row in rows if row[:2] == (benchmark, name) and row[8] != "nan"]
        power = f"{np.mean(powers):.0%} of {len(powers)}" if powers else ""
        print(
            f"| {benchmark} | {name} | {middle:,.0f} ({low:,.0f} to {high:,.0f}) |"
            f" {ratio:.2f} ({least:.2f} to {most:.2f}) | {power} |"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=DEMO, help="results of a run")
    parser.add_argument("--domain", default="machine-learning", help="domain whose benchmark is read")
    parser.add_argument(
        "--tokenizer", default="toy-gpt2", help="model whose tokenizer counts, as in pairs.tokenizer"
    )
    parser.add_argument(
        "--count", type=int, default=1000, help="clozes at most, one for each sentence; 0: none"
    )
    parser.add_argument("--table", type=Path, default=Path("separation.csv"))
    parser.add_argument("--clozes", type=Path, help="folder of clozes and their scores; made where missing")
    parser.add_argument(
        "--scale", choices=("ratio", "difference"), default="ratio", help="how two ranks are compared"
    )
    parser.add_argument(
        "--checks", type=int, default=200, help="benchmarks drawn to check the power; 0: none"
    )
    run_program(parser, main)
