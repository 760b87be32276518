"""Measure the coverage of the summaries' confidence intervals on simulated ranks.

Keywords are clusters of pairs: the log of a rank is the sum of a mean, a keyword effect and a pair effect, so
ranks are heavy-tailed and those of a keyword are correlated. A second model shares most of both effects. The
true value is the trimmed mean of a population of a million keywords. Prints a table, and writes it as CSV
with a figure.
"""

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.scoring import Summary
from fathom.figures.style import make_figure, save_figure, use_style
from fathom.jobs.program import log, run_program
from fathom.statistics.aggregates import TRIMMED_MEAN, measure_values
from fathom.statistics.summaries import resample_values

KEYWORDS = (20, 50, 100, 200, 300)
VOCABULARY = 50_000
COLUMNS = ("what", "keywords", "runs", "coverage", "coverage_low", "coverage_high", "below", "above", "width")
Array = NDArray[np.float64]


def draw_ranks(random: np.random.Generator, keywords: int, quota: int = 50) -> tuple[Array, Array, list[str]]:
    """Return the ranks of two models on the same pairs, and the keywords of the pairs, 1 to 50 pairs each."""
    pairs = np.minimum(quota, random.geometric(1 / 40, keywords))
    effects = random.normal(0, 0.8, (3, keywords)).repeat(pairs, axis=1)
    noise = random.normal(0, 1.8, (3, int(pairs.sum())))
    shared = 0.9 * (effects[0] + noise[0])
    logs = [
        mean + shared + math.sqrt(1 - 0.9**2) * (effects[k] + noise[k]) for k, mean in ((1, 4.0), (2, 4.1))
    ]
    first, second = (np.minimum(np.floor(np.exp(each)) + 1, VOCABULARY) for each in logs)
    names = [f"{number:07d}" for number in np.arange(keywords).repeat(pairs)]
    return first, second, names


def study(keywords: int, runs: int, truths: dict[str, float]) -> list[tuple[Any, ...]]:
    """Return a row per kind of interval: how many of `runs` cover the true value, and how the others miss."""
    low: dict[str, list[float]] = {name: [] for name in truths}
    high: dict[str, list[float]] = {name: [] for name in truths}
    for run in range(runs):
        first, second, names = draw_ranks(np.random.default_rng([keywords, run]), keywords)
        settings = Summary(seed=run)  # independent resamples for each benchmark
        drawn = [resample_values(values, names, settings)["trimmed_mean"].drawn for values in (first, second)]
        for name, values in (("trimmed mean", drawn[0]), ("difference of two", drawn[1] - drawn[0])):
            ends = np.quantile(values, [0.025, 0.975])
            low[name].append(float(ends[0]))
            high[name].append(float(ends[1]))
    rows = []
    for name, truth in truths.items():
        above, below = np.mean(np.array(low[name]) > truth), np.mean(np.array(high[name]) < truth)
        share = 1 - above - below
        error = 1.96 * math.sqrt(share * (1 - share) / runs)
        width = np.mean(np.array(high[name]) - np.array(low[name]))
        numbers = (share, share - error, share + error, below, above, width)
        rows.append((name, keywords, runs, *(f"{number:.4g}" for number in numbers)))
    return rows


def draw_figure(rows: list[tuple[Any, ...]], path: Path) -> None:
    """Draw coverage by number of keywords, with the error of the simulation."""
    with use_style():
        figure = make_figure(5.2, 3.2)
        axes = figure.subplots()
        axes.axhspan(0.93, 0.97, color="0.92", linewidth=0)
        axes.axhline(0.95, color="0.4", linewidth=0.8)
        looks = {"trimmed mean": ("o", "#0072B2", 0.98), "difference of two": ("s", "#D55E00", 1.02)}
        for name, (marker, color, shift) in looks.items():
            some = [row for row in rows if row[0] == name]
            share = np.array([[float(row[k]) for k in (3, 4, 5)] for row in some])
            axes.errorbar(
                [row[1] * shift for row in some],
                share[:, 0],
                yerr=np.abs(share[:, 1:] - share[:, :1]).T,
                marker=marker,
                color=color,
                linestyle="none",
                capsize=2,
                label=name,
            )
        axes.set(xscale="log", xlabel="keywords", ylabel="share of intervals that hold the truth")
        axes.set(ylim=(0.85, 1.0), xticks=KEYWORDS, xticklabels=[str(number) for number in KEYWORDS])
        axes.minorticks_off()
        axes.legend(frameon=False, loc="lower right")
        save_figure(figure, None, path)


def main(arguments: argparse.Namespace) -> None:
    """Simulate; print the table, and write it and the figure."""
    settings = Summary()
    first, second, _ = draw_ranks(np.random.default_rng(2026), 1_000_000)
    truths = {"trimmed mean": measure_values(first, TRIMMED_MEAN, settings.trim)}
    truths["difference of two"] = measure_values(second, TRIMMED_MEAN, settings.trim) - truths["trimmed mean"]
    log.info("truth: %s", {name: round(value, 3) for name, value in truths.items()})
    rows: list[tuple[Any, ...]] = []
    print("  ".join(f"{name:>17}" for name in COLUMNS))
    for keywords in KEYWORDS:
        started = time.monotonic()
        for row in study(keywords, arguments.runs, truths):
            rows.append(row)
            print("  ".join(f"{value!s:>17}" for value in row), flush=True)
        log.info("%s keywords: %.0f s", keywords, time.monotonic() - started)
    pl.DataFrame(rows, COLUMNS, orient="row").write_csv(arguments.table)
    draw_figure(rows, arguments.figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="simulated benchmarks of each size")
    parser.add_argument("--table", type=Path, default=Path("docs/results/interval-coverage.csv"))
    parser.add_argument("--figure", type=Path, default=Path("docs/results/interval-coverage.png"))
    run_program(parser, main)
