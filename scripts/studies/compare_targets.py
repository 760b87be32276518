"""Compare two models by target: which ones improved, and how near they are to the domain.

Source: [RawCorpora, App. A.9, Table 9]. Reads pairs and scores of one domain, writes all targets with their
gains, the contrast of the best and the worst with intervals, and a table of the best and the worst.
"""

import argparse
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.benchmark import Embedding
from fathom.config.scoring import Summary, Targets
from fathom.config.section import Section
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.scoring import EXTREME_COLUMNS, SCORES, TARGET_CHANGES, TARGET_GROUP_COLUMNS
from fathom.io.files import write_delimited
from fathom.io.tables import read_table, write_table_in_batches
from fathom.jobs.program import add_settings, add_tables, log, read_settings, run_program
from fathom.statistics.left_out_pairs import leave_out_overlap
from fathom.statistics.summaries import format_number
from fathom.studies.target_changes import (
    compare_similarities,
    contrast_groups,
    join_pairs,
    list_extremes,
    score_targets,
)


class Settings(Section):
    """Settings of this program."""

    targets: Targets = Targets()
    embedding: Embedding = Embedding()
    summary: Summary = Summary()


def main(arguments: argparse.Namespace) -> None:
    """Embed all targets once, compare every two models on every benchmark, write the tables."""
    settings = read_settings(arguments.settings, Settings)
    pairs = {
        variant: read_table(path, PAIRS, ["pair_id", "keyword", "target"])
        for variant, path in arguments.pairs
    }
    scores = {
        (variant, model): read_table(path, SCORES, ["pair_id", "rank", "probability"])
        for variant, model, path in arguments.scores
    }
    pairs, scores = leave_out(pairs, scores, arguments, settings.summary)
    similarities = measure_similarities(pairs, arguments.phrase, settings.embedding)
    groups: list[tuple[Any, ...]] = []
    extremes: list[tuple[Any, ...]] = []
    with write_table_in_batches(arguments.output, TARGET_CHANGES) as writer:
        for variant, frame in pairs.items():
            for model, other in arguments.compare:
                place = (variant, model, other)
                where = f"{arguments.domain}, {variant}: {model} and {other}"
                joined = join_pairs(scores[variant, model], scores[variant, other], frame, where)
                targets = score_targets(joined, similarities, settings.targets)
                names = zip(("variant", "model", "against"), place, strict=True)
                writer.write(targets.with_columns(pl.lit(value).alias(name) for name, value in names))
                extremes += [(*place, *row) for row in list_extremes(targets, settings.targets.listed)]
                found = contrast_groups(joined, similarities, settings.targets, settings.summary)
                value, low, high = found
                numbers = [*value[:3], low.difference, high.difference, value.d, low.d, high.d]
                numbers += compare_similarities(targets)
                counts = (len(targets), int((targets["group"] == "top").sum()))
                sizes = (len(joined), joined["keyword"].n_unique())
                begin = (arguments.domain, *place, arguments.phrase, *counts)
                groups.append((*begin, *map(format_number, numbers), *sizes))
                log.info("%s: Cohen's d %.2f, from %.2f to %.2f", where, value.d, low.d, high.d)
    write_delimited(arguments.groups, TARGET_GROUP_COLUMNS, groups, delimiter=",")
    write_delimited(arguments.extremes, EXTREME_COLUMNS, extremes, delimiter=",")


def leave_out(
    pairs: dict[str, pl.DataFrame],
    scores: dict[tuple[str, str], pl.DataFrame],
    arguments: argparse.Namespace,
    settings: Summary,
) -> tuple[dict[str, pl.DataFrame], dict[tuple[str, str], pl.DataFrame]]:
    """Return pairs and scores without the pairs that stand in training text."""
    tables = {(arguments.domain, *key): frame for key, frame in scores.items()}
    tables |= {(arguments.domain, variant, ""): frame for variant, frame in pairs.items()}
    files = [(arguments.domain, variant, path) for variant, path in arguments.overlap]
    kept = leave_out_overlap(tables, files, settings)
    found = {key[1:]: frame for key, frame in kept.items() if key[2]}
    return {variant: kept[arguments.domain, variant, ""] for variant in pairs}, found


def measure_similarities(
    pairs: dict[str, pl.DataFrame], phrase: str, settings: Embedding
) -> dict[str, float]:
    """Return the cosine of each target, without its blank, with the domain's phrase."""
    from fathom.benchmark.embedding import SentenceEncoder

    names = sorted({target.strip() for frame in pairs.values() for target in frame["target"]})
    vectors = SentenceEncoder(settings).encode([phrase, *names]).astype("float64")
    return dict(zip(names, (vectors[1:] @ vectors[0]).clip(-1, 1).tolist(), strict=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_tables(parser, "--pairs", ("VARIANT",), "pairs of one benchmark (parquet)", required=True)
    add_tables(parser, "--scores", ("VARIANT", "MODEL"), "scores of one model (parquet)", required=True)
    add_tables(parser, "--overlap", ("VARIANT",), "pairs of one benchmark that stand in training text")
    parser.add_argument(
        "--compare",
        nargs=2,
        action="append",
        required=True,
        metavar=("MODEL", "OTHER"),
        help="two models with scores on all benchmarks; repeat for each",
    )
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--phrase", required=True, help="what targets are near to or far from")
    parser.add_argument("--output", type=Path, required=True, help="targets with their gains (parquet)")
    parser.add_argument("--groups", type=Path, required=True, help="best against worst (CSV)")
    parser.add_argument("--extremes", type=Path, required=True, help="best and worst targets (CSV)")
    add_settings(parser, Settings)
    run_program(parser, main)
