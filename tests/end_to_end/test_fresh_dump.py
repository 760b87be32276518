"""A newer dump: what an earlier run did on equal documents is taken over, and changes no byte."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.end_to_end.project import PAIRS, copy_project, run_snakemake, write_shards, write_tiny_config
from tests.tables import read_delimited

from fathom.io.files import hash_file

CHANGED, NEW = 5, 12


def run(folder: Path, shards: list[Path], name: str, *targets: str, **changes: Any) -> None:
    """Run the benchmark of one dump, and what is asked for beside it."""
    config = write_tiny_config(folder, shards, run=name, **changes)
    pairs = [f"results/{name}/{file}" for file in PAIRS]
    run_snakemake(folder, "-c1", "--configfile", config, "--", *pairs, *targets)


def hash_run(top: Path) -> dict[str, str]:
    """Return the sha256 of each table of sentences and splits, embeddings, and pairs of a run."""
    files = [*top.glob("corpus/s*/*.parquet"), *top.glob("corpus/named_embeddings/*.npy"),
             *top.glob("near/**/pairs.*")]  # fmt: skip
    kept = [file for file in files if file.name != "pairs.json"]
    return {str(file.relative_to(top)): hash_file(file) for file in sorted(kept)}


@pytest.fixture(scope="module")
def dumps(tmp_path_factory, records, from_scratch):
    """Run dump A, then dump B with `previous`: other shards, some documents changed, some new."""
    folder = copy_project(tmp_path_factory.mktemp("project"))
    # as in a dump that grows, ids of new documents are larger
    new = {record["id"] for record in [each for each in records if each["categories"] == ["near"]][-NEW:]}
    old = [dict(record) for record in records if record["id"] not in new]
    for record in old[:CHANGED]:
        record["text"] = f"{record['text']}\n\nThis sentence stood in the first version of {record['id']}."
    run(folder, write_shards(old, folder / "a", ["b.jsonl.gz"]), "first")
    shards = [shutil.copy(from_scratch / "input" / name, folder) for name in ("b.jsonl.gz", "z.jsonl")]
    run(folder, shards, "second", "results/second/changes.csv", previous="first")
    return folder, shards, old, records


def read_benchmark_split(run: Path) -> set[str]:
    """Return the ids of the documents that the benchmark is made from."""
    index = pl.read_parquet(run / "corpus" / "index.parquet")
    chosen = (pl.col("split") == "benchmark") & pl.col("domains").list.contains("near")
    return set(index.filter(chosen)["doc_id"])


def read_counts(folder: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    rows = read_delimited(folder / "results" / "second" / "changes.csv", ",")
    return {(row["domain"], row["what"], row["variant"]): row for row in rows}


def test_the_result_is_that_of_a_run_from_scratch(dumps, from_scratch):
    found = hash_run(dumps[0] / "results" / "second")
    assert len(found) == 2 + 2 + 2 + len(PAIRS)
    assert found == hash_run(from_scratch / "results" / "tiny")


def test_only_new_and_changed_documents_are_split_and_embedded_again(dumps):
    folder, _, old, new = dumps
    before = {record["id"]: record["text"] for record in old}
    corpus = folder / "results" / "second" / "corpus"
    splits = [json.loads(path.read_text()) for path in corpus.glob("sentences/*.json")]
    assert sum(report["documents"] for report in splits) > 30
    again = sum(report["documents"] - report["reused_documents"] for report in splits)
    fresh = {record["id"] for record in new if before.get(record["id"]) != record["text"]}
    assert len(fresh) == NEW + CHANGED
    first, second = (read_benchmark_split(folder / "results" / name) for name in ("first", "second"))
    assert again == len((second - first) | (second & fresh)) > 0
    vectors = [json.loads(path.read_text()) for path in corpus.glob("named_embeddings/*.json")]
    reused, every = (sum(report[name] for report in vectors) for name in ("reused_sentences", "sentences"))
    assert 0.7 * every < reused < every


def test_the_report_says_what_changed(dumps):
    folder, _, old, new = dumps
    counts = read_counts(folder)
    documents = counts["", "documents", ""]
    wanted = {"previous": len(old), "now": len(new), "changed": CHANGED, "new": NEW, "gone": 0}
    assert {name: int(documents[name]) for name in wanted} == wanted
    files = counts["", "input files", ""]
    assert (files["previous"], files["now"], files["kept"], files["changed"]) == ("1", "2", "0", "1")
    for variant in ("tf", "tfidf"):
        pairs = counts["near", "pairs", variant]
        lines = [
            {json.loads(line)["pair_id"] for line in path.read_text().splitlines()}
            for path in (
                folder / f"results/{name}/near/benchmark/{variant}/pairs.jsonl"
                for name in ("first", "second")
            )
        ]
        assert int(pairs["kept"]) == len(lines[0] & lines[1])
        assert int(pairs["new"]) == len(lines[1] - lines[0])
        assert float(pairs["overlap"]) == pytest.approx(
            len(lines[0] & lines[1]) / len(lines[0] | lines[1]), abs=1e-4
        )
    page = (folder / "results" / "second" / "changes.md").read_text()
    assert "keywords gained" in page and "keywords lost" in page
    assert f"documents split: {counts['', 'documents split', '']['kept']} of" in page


def test_both_benchmarks_stay_and_naming_the_earlier_run_reruns_nothing(dumps):
    folder, shards, _, _ = dumps
    assert all((folder / "results/first" / name).is_file() for name in PAIRS)
    pairs = [f"results/second/{name}" for name in PAIRS]
    for changes in ({}, {"previous": "first"}):
        config = write_tiny_config(folder, shards, run="second", **changes)
        done = run_snakemake(folder, "-n", "-c1", "--configfile", config, "--", *pairs)
        assert "Nothing to be done" in done.stdout + done.stderr


def test_unknown_earlier_run_is_named(dumps):
    folder, shards, _, _ = dumps
    config = write_tiny_config(folder, shards, run="fourth", previous="nothing")
    done = run_snakemake(folder, "-n", "--configfile", config, code=1)
    message = done.stdout + done.stderr
    assert "results/nothing/corpus/index.parquet: no earlier run" in message and "Hint: " in message
    assert "Traceback" not in message
