"""How far models are ahead of one of them, field by field, with paired intervals.

Reads the scores of a finished run. Prints a table for each statistic, fields by models: the factor by which a
rank or the bits per byte fall (above 1: better), or the gain in log-probability, in nats.
"""

import argparse
from pathlib import Path

import numpy as np
from perf.studies.separation import Metric, Place, list_metrics, read_benchmark, read_text

from fathom.config.scoring import Summary
from fathom.jobs.program import run_program
from fathom.statistics.bootstrap import Resampled, draw_resamples


def compare(metric: Metric, model: str, other: str) -> tuple[float, float, float]:
    """Return how far a model is ahead of another one, with a paired interval; positive is better."""
    clusters = int(metric.clusters.max()) + 1
    counts = draw_resamples(clusters, Summary())[:, metric.clusters]
    once = np.ones((1, len(metric.clusters)), dtype=np.int32)
    sign = 1 if metric.name == "mean log-probability" else -1
    value, drawn = (
        sign * (metric.measure(metric.values[model], copies) - metric.measure(metric.values[other], copies))
        for copies in (once, counts)
    )
    found = Resampled.join(float(value[0]), drawn, freedom=clusters - 1).estimate(Summary().confidence)
    return found.value, found.low, found.high


def main(arguments: argparse.Namespace) -> None:
    """Print the tables."""
    rows: dict[str, list[str]] = {}
    for domain in arguments.domains:
        place = Place(arguments.run, domain, arguments.tokenizer)
        folder = place.run / domain
        metrics = {"text: bits per byte": read_text(place)}
        for variant in ("tf", "tfidf"):
            pairs = folder / "benchmark" / variant / "pairs.parquet"
            scores, tokens = read_benchmark(folder / "scores" / variant, pairs, place)
            metrics |= {f"{variant}: {each.name}": each for each in list_metrics(scores, tokens, ratios=True)}
        for name, metric in metrics.items():
            models = [each for each in metric.values if each != arguments.base]
            rows.setdefault(
                name, ["| field | " + " | ".join(models) + " |", "|---" * (len(models) + 1) + "|"]
            )
            plain = name.endswith("probability")
            cells = [compare(metric, model, arguments.base) for model in models]
            shown = (each if plain else np.exp(each) for each in cells)
            rows[name].append(
                f"| {domain} | "
                + " | ".join("{:.3g} [{:.3g}, {:.3g}]".format(*each) for each in shown)
                + " |"
            )
    for name, lines in rows.items():
        print(f"\n{name}\n", *lines, sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="results of a run")
    parser.add_argument("--base", required=True, help="model that the others are compared with")
    parser.add_argument(
        "--tokenizer", required=True, help="model whose tokenizer counts, as in pairs.tokenizer"
    )
    parser.add_argument("--domains", nargs="+", required=True, help="domains with a benchmark")
    run_program(parser, main)
