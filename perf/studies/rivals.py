"""Knowledge or style, by rank in the vocabulary and among rivals, of models that a run has adapted.

Scores the models of a run (`{run}/models/NAME`) on the TF and TF-IDF pairs of a domain, each pair once, and
prints what share of the gain each control keeps, and how far statistics differ in that, by the code of
`snakemake follow`. One seed of each: intervals count keywords only.
"""

import argparse
from pathlib import Path

import polars as pl

from fathom.config.benchmark import VARIANTS
from fathom.config.following import Point
from fathom.config.scoring import Scoring, Summary
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.studies import AS_IS, BOTH
from fathom.io.tables import read_table
from fathom.models.loading import read_pointer
from fathom.models.open_model import OpenModel
from fathom.scoring.ranks import score_benchmarks
from fathom.studies.controls import compare_conditions, compare_shares
from fathom.studies.following import CONTROLLED, measure_pairs


def score_models(
    run: Path, domain: str, models: list[str], threads: int
) -> dict[tuple[str, str, str], pl.DataFrame]:
    """Score models on the pairs of a domain; each prompt and target once."""
    files = [run / domain / "benchmark" / variant / "pairs.parquet" for variant in VARIANTS]
    pairs = pl.concat([read_table(file, PAIRS) for file in files])
    pairs = pairs.unique(["prompt", "target"], keep="first", maintain_order=True)
    scores = {}
    for name in models:
        opened = OpenModel(read_pointer(run / "models" / name / "model.json"), Scoring(), threads, 0)
        (found,) = score_benchmarks(opened.copies, opened.tokenizer, [pairs], Scoring(), opened.pointer)
        scores[domain, BOTH, name] = found.sort("pair_id")
    return scores


def main(arguments: argparse.Namespace) -> None:
    """Score, compare, print."""
    conditions = {AS_IS: arguments.as_is} | dict(each.split("=", 1) for each in arguments.control)
    models = [arguments.base, *conditions.values()]
    scores = score_models(arguments.run, arguments.domain, models, arguments.threads)
    tracks = {
        name: [Point(model=arguments.base), Point(model=name, seed="1", step=1, tokens=1)]
        for name in conditions.values()
    }
    settings, measured = Summary(), measure_pairs(scores, Summary(), CONTROLLED)
    gains, contrasts = compare_conditions(arguments.domain, conditions, tracks, measured, settings)
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
    for row in compare_shares(arguments.domain, conditions, tracks, measured, settings):
        names = [f"{row[at + 1]}, {row[at + 2]}" for at in (3, 6)]
        print("|", " | ".join([row[2], *names, f"{row[9]} [{row[10]}, {row[11]}]", row[13]]), "|")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--run", type=Path, required=True, help="folder of the run, such as results/real-models"
    )
    parser.add_argument("--domain", required=True)
    parser.add_argument("--base", required=True, help="model before its adaptations")
    parser.add_argument("--as-is", required=True, help="the model that read the domain's text as it is")
    parser.add_argument(
        "--control", action="append", default=[], help="NAME=MODEL, such as far=base+plotting"
    )
    parser.add_argument("--threads", type=int, default=1)
    main(parser.parse_args())
