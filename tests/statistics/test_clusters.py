"""What the bootstrap draws where keywords are missing: documents, then pairs; intervals that hold."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.programs import STATISTICS, run_program
from tests.scores import tabulate_scores
from tests.tables import read_delimited

from fathom.benchmark.reference import ReferencePair, make_reference_pairs
from fathom.config.scoring import Summary
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.tables import write_table
from fathom.statistics.clusters import choose_clusters, number_clusters
from fathom.statistics.summaries import split_by_date, summarize_values


@pytest.mark.parametrize(
    ("keywords", "documents", "kind", "alike"),
    [
        ("bab", "xyy", "keywords", {(0, 2)}),
        ("aaa", "xyy", "documents", {(1, 2)}),
        ("   ", "xyy", "documents", {(1, 2)}),
        ("aaa", "xxx", "pairs", set()),
        ("aaa", "   ", "pairs", set()),
        ("ab ", "xyy", "keywords", set()),
        ("a  ", "x y", "documents", set()),
        ("aaa", None, "pairs", set()),
        ("aba", None, "keywords", {(0, 2)}),
    ],
)
def test_keywords_are_drawn_or_else_documents_or_else_pairs(keywords, documents, kind, alike):
    columns = {"keyword": keywords} | ({"doc_id": documents} if documents else {})
    frame = pl.DataFrame(
        {"pair_id": list("123")} | {name: [each.strip() for each in text] for name, text in columns.items()}
    )
    found = choose_clusters(frame)
    same = {(a, b) for a in range(3) for b in range(a + 1, 3) if found.names[a] == found.names[b]}
    assert (found.kind, same) == (kind, alike)


@pytest.mark.parametrize(
    ("names", "numbers"),
    [(["b", "a", "b"], [1, 0, 1]), (["a"] * 3, [0, 1, 2]), ([""] * 2, [0, 1]), (["a", ""], [0, 1])],
)
def test_examples_of_a_single_keyword_are_drawn_alone(names, numbers):
    assert number_clusters(names).tolist() == numbers


def draw_documents(seed: int, documents: int, each: int) -> tuple[np.ndarray, list[str]]:
    """Return values around 50 whose documents differ as much as their pairs do, and documents."""
    random = np.random.default_rng(seed)
    values = 50 + random.normal(0, 1, documents).repeat(each) + random.normal(0, 1, documents * each)
    return values, [f"d{number // each:03d}" for number in range(documents * each)]


def measure_mean(values: np.ndarray, documents: list[str] | None, rounds: int = 300):
    columns = {"pair_id": [f"{place:04d}" for place in range(len(values))], "keyword": [""] * len(values)}
    clusters = choose_clusters(pl.DataFrame(columns | ({"doc_id": documents} if documents else {})))
    return summarize_values(values, clusters.names, Summary(rounds=rounds))["mean"]


def test_an_interval_by_documents_is_wider_and_holds():
    covered = {"documents": 0, "pairs": 0}
    for seed in range(200):
        values, documents = draw_documents(seed, 60, 10)
        found = {"documents": measure_mean(values, documents), "pairs": measure_mean(values, None)}
        for kind, each in found.items():
            covered[kind] += each.low <= 50 <= each.high
        widths = {kind: each.high - each.low for kind, each in found.items()}
        assert widths["documents"] > 1.3 * widths["pairs"]
    assert 180 <= covered["documents"] <= 198
    assert covered["pairs"] < 150


def write_benchmark(folder: Path) -> list[str]:
    """Write 2,000 pairs of 100 documents without keywords, and two models, one ten times worse everywhere."""
    entries = [ReferencePair(1, "", f"Sentence {number} ends in a", " word") for number in range(2000)]
    documents = [f"d{number % 100:02d}" for number in range(2000)]
    pairs = make_reference_pairs(entries).with_columns(keyword=pl.lit(""), doc_id=pl.Series(documents))
    write_table(folder / "pairs.parquet", pairs, PAIRS)
    ranks = np.random.default_rng(0).lognormal(3, 1, 2000) + 1
    command = ["--pairs", f"law/tf={folder / 'pairs.parquet'}"]
    for model, factor in {"good": 1, "bad": 10}.items():
        scores = tabulate_scores(pairs["pair_id"], pairs["keyword"], factor * ranks)
        write_table(folder / f"{model}.parquet", scores, SCORES)
        command += ["--scores", f"law/tf/{model}={folder / model}.parquet"]
    return command


def test_pairs_without_keywords_have_intervals_and_letters_by_document(tmp_path: Path):
    command = [*write_benchmark(tmp_path), "--settings", '{"rounds": 200}']
    tables = {name: tmp_path / f"{name}.csv" for name in ("summary", "comparisons", "groups", "correlations")}
    run_program("summarize_scores", *command, "--summary", tables["summary"], imports=STATISTICS)
    outputs = [part for name, path in tables.items() for part in (f"--{name}", path)]
    run_program("compare_models", *command, *outputs, imports=STATISTICS)
    rows = {name: read_delimited(tables[name], ",") for name in ("summary", "comparisons", "groups")}
    assert {row["clusters"] for table in rows.values() for row in table} == {"documents"}
    assert all(float(row["ci_low"]) < float(row["ci_high"]) for row in rows["summary"])
    assert all(row["apart"] == "yes" for row in rows["comparisons"])
    assert [row["groups"] for row in rows["groups"] if row["metric"] == "rank"] == ["a", "b", "a", "b"]


def test_a_part_with_a_single_keyword_is_drawn_by_document():
    count = 40
    frame = pl.DataFrame({
        "pair_id": [f"{place:02d}" for place in range(count)],
        "keyword": ["k"] * count,
        "doc_id": [f"d{place % 8}" for place in range(count)],
        "rank": np.arange(1.0, count + 1),
    })  # fmt: skip
    dates = frame.select("pair_id").with_columns(date=pl.lit("2024-01-01"))
    rows = split_by_date({"m": frame}, dates, {"m": "2024-06-01"}, Summary(rounds=100))
    assert rows and all(float(row[4]) < float(row[5]) and row[-1] == "documents" for row in rows)
