"""A run made in code: benchmarks, scores and tables as the workflow writes them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from fathom.config.scoring import Summary
from fathom.explorer.tables import Benchmark, Run, benchmark_scores
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.scoring import (
    COMPARISON_COLUMNS,
    CORRELATION_COLUMNS,
    GROUP_COLUMNS,
    SCORES,
    SUMMARY_COLUMNS,
)
from fathom.io.files import write_delimited, write_json
from fathom.io.tables import write_table
from fathom.scoring.comparisons import resample_scores, tabulate_comparisons
from fathom.scoring.overlap import leave_out_overlap
from fathom.scoring.summaries import read_scores, summarize_scores

SETTINGS = Summary(rounds=100)
SCRIPT = "</script><script>window.planted = 1</script><img src=x onerror=window.planted=1>"
"""What a paper could say to break a page."""
MODELS = {"alpha": 10.0, "beta": 10.2, "gamma+fine-tuned": 60.0}
"""Models by the factor on their ranks."""


def write_run(
    folder: Path,
    models: dict[str, float] = MODELS,
    keywords: int = 12,
    each: int = 10,
    variants: Sequence[str] = ("tf", "tfidf"),
    planted: str = "",
) -> Path:
    """Write a run with one domain, tables included.

    The first pair of the first keyword stands in training text; `planted` is put into its prompt and target,
    the first keyword and the title.
    """
    domain, files = folder / "physics", []
    names = [f"keyword {number:03d}{planted if number == 0 else ''}" for number in range(keywords)]
    random = np.random.default_rng(3)
    vectors = (
        random.normal(size=(keywords, 8)) * 0.3 + np.repeat(np.eye(8), -(-keywords // 8), axis=0)[:keywords]
    )
    domain.mkdir(parents=True)
    np.save(domain / "keywords.npy", vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    write_delimited(domain / "keywords.tsv", ["keyword", "words"], [[name, 2] for name in names])
    for variant in variants:
        pairs = make_pairs(names, each, variant, planted)
        benchmark = domain / "benchmark" / variant
        write_table(benchmark / "pairs.parquet", pairs, PAIRS)
        flags = pl.Series(range(len(pairs))) == 0
        overlap = pairs.select("pair_id").with_columns(sentence=flags, ending=flags)
        write_table(benchmark / "overlap.parquet", overlap, OVERLAP)
        write_json(benchmark / "manifest.json", make_manifest(f"Physics {planted}".strip()))
        hard = random.lognormal(0, 1, size=len(pairs))
        for model, factor in models.items():
            path = domain / "scores" / variant / f"{model}.parquet"
            write_table(
                path, make_scores(pairs, 1 + factor * hard * random.lognormal(0, 0.5, len(pairs))), SCORES
            )
            files.append(("physics", variant, model, str(path)))
    write_summary(
        folder,
        files,
        [("physics", name, str(domain / "benchmark" / name / "overlap.parquet")) for name in variants],
    )
    return folder


def make_pairs(names: Sequence[str], each: int, variant: str, planted: str) -> pl.DataFrame:
    """Return pairs under contract PAIRS, sorted by keyword."""
    said, day = {(0, 0): planted}, "2024-{:02d}-01"
    rows = [
        {
            "pair_id": f"{variant}{number:03d}{place:04d}", "keyword": name, "variant": variant,
            "prompt": f"Sentence {place} on {name} says{said.get((number, place), '')} the",
            "target": f" target{place % 7}{said.get((number, place), '')}",
            "doc_id": f"{1000 + place:04d}.{number:05d}", "date": day.format(1 + place % 12), "cosine": 0.6,
            "target_in_prompt": False, "target_in_keyword": place % 2 == 0,
        }
        for number, name in enumerate(names)
        for place in range(each)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def make_scores(pairs: pl.DataFrame, ranks: np.ndarray) -> pl.DataFrame:
    """Return scores under contract SCORES with the given ranks."""
    return pairs.select("pair_id", "keyword").with_columns(
        tokens=pl.lit(1), rank=pl.Series(ranks), rank_midpoint=pl.Series(ranks), rank_first=pl.lit(1),
        rank_share=pl.lit(0.5), ties=pl.lit(0), probability=pl.Series(1 / (1 + ranks)),
        log_probability=pl.lit(-1.0), backed_off=pl.lit(False),
    )  # fmt: skip


def make_manifest(title: str) -> dict[str, object]:
    """Return what a page reads of a manifest."""
    return {
        "files": {"pairs.parquet": "0" * 64}, "inputs": [{"file": "metadata.json", "sha256": "1" * 64}],
        "packages": {"fathom": "0.1.0"},
        "parameters": {"corpus": {"source": "arxiv"}, "domain": {"title": title}},
    }  # fmt: skip


def write_summary(
    folder: Path, files: Sequence[tuple[str, str, str, str]], overlap: Sequence[tuple[str, str, str]]
) -> None:
    """Write summary.csv, comparisons.csv, groups.csv and correlations.csv as the workflow does.

    Bits per byte put the models in the reverse of their names' order.
    """
    scores = leave_out_overlap(read_scores(files), overlap, SETTINGS)
    summary = [tuple(map(str, row)) for row in summarize_scores(scores, SETTINGS)]
    models = sorted({file[2] for file in files})
    for place, model in enumerate(models):
        value = 2.0 - 0.1 * place
        numbers = (f"{value}", f"{value - 0.01:.3f}", f"{value + 0.01:.3f}", "20")
        summary.append(("physics", "text", model, "bits_per_byte", "mean", *numbers))
    comparisons, groups = tabulate_comparisons(resample_scores(scores, SETTINGS), SETTINGS)
    for name, columns, rows in (
        ("summary", SUMMARY_COLUMNS, summary),
        ("comparisons", COMPARISON_COLUMNS, comparisons),
        ("groups", GROUP_COLUMNS, groups),
        ("correlations", CORRELATION_COLUMNS, []),
    ):
        write_delimited(folder / f"{name}.csv", columns, rows, ",")


def make_large(folder: Path, models: int = 20, keywords: int = 300, each: int = 100) -> Run:
    """Return a ranked run of 30,000 pairs and 20 models, made in memory."""
    random = np.random.default_rng(0)
    pairs = make_pairs([f"keyword number {number}" for number in range(keywords)], each, "tf", "")
    words = np.array([f"{'abcdefghij'[number % 10]}{number:x}word" for number in range(5000)])
    prompts = [" ".join(words[random.integers(5000, size=24)]) for _ in range(len(pairs))]
    pairs = pairs.with_columns(prompt=pl.Series(prompts))
    hard = random.lognormal(3, 2, len(pairs))
    ranks = {
        f"model-{number:02d}": 1 + 1.01**number * hard * random.lognormal(0, 1, len(pairs))
        for number in range(models)
    }
    left_out = np.zeros(len(pairs), dtype=bool)
    benchmark = Benchmark("physics", "tf", pairs, left_out, ranks, make_manifest("Physics"))
    scores = {
        ("physics", "tf", model): benchmark_scores(benchmark, model).with_columns(probability=pl.lit(0.5))
        for model in ranks
    }
    settings = Summary(rounds=2)
    comparisons, groups = tabulate_comparisons(resample_scores(scores, settings), settings)
    named = [dict(zip(COMPARISON_COLUMNS, map(str, row), strict=True)) for row in comparisons]
    ranked = [dict(zip(GROUP_COLUMNS, map(str, row), strict=True)) for row in groups]
    return Run(folder, [benchmark], [], named, ranked)
