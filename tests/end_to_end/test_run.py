"""The workflow from raw text to the summary, run as a user runs it."""

import gzip
import itertools
import json
import re
from pathlib import Path

import polars as pl
import pytest
from tests.end_to_end.project import (
    HASH_SEED,
    PAIRS,
    copy_project,
    run_snakemake,
    write_shards,
    write_tiny_config,
)
from tests.programs import MODELS, find_python
from tests.tables import read_delimited

from fathom.io.contracts.statistics import SUMMARY
from fathom.io.files import hash_file

EXPERT = """\
category,prompt,target,source
Linear regression,The usual fit of a line minimises the residual sum of, squares,a textbook
Linear regression,The constant term of a linear model is called the, intercept,a textbook
Sparse models,The penalty that sets many coefficients to exactly zero is the, lasso,a textbook
Sparse models,A mixture of both penalties is known as the elastic, net,
"Classification, linear",A linear classifier that gives probabilities is called logistic, regression,
"""


def configure(folder: Path, shards: list[Path], **changes: object) -> Path:
    """Write the configuration of this module: two models, and pairs of an expert beside TF and TF-IDF."""
    (folder / "expert.csv").write_text(EXPERT)
    return write_tiny_config(folder, shards, references={"near": {"expert": "expert.csv"}}, **changes)


def hash_pairs(folder: Path) -> dict[str, str]:
    run = folder / "results" / "tiny"
    return {name: hash_file(run / name) for name in PAIRS}


def planned(folder: Path, config: Path) -> set[str]:
    """Return the names of the rules that a dry run would run."""
    done = run_snakemake(folder, "-n", "-c1", "--configfile", config)
    return set(re.findall(r"^(?:localrule|rule) (\w+):", done.stdout, re.MULTILINE)) - {"all"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, records):
    """Run everything once, on one core."""
    folder = copy_project(tmp_path_factory.mktemp("project"))
    shards = write_shards(records, folder / "input", ["a.jsonl", "b.jsonl.gz"])
    config = configure(folder, shards)
    # `make cluster` does the same with a Python started for every job
    python = find_python(MODELS)
    run_snakemake(folder, "-c1", "--configfile", config, python=python, PYTHONHASHSEED="0")
    return folder, config


def test_everything_that_others_rely_on_is_there(finished):
    folder, _ = finished
    run = folder / "results" / "tiny"
    for name in ("corpus/join_report.json", "near/keywords.tsv", "near/benchmark/tf/manifest.json",
                 "near/benchmark/tfidf/README.md", "near/scores/tf/tiny.parquet",
                 "near/scores/tfidf/tiny+near.parquet", "near/scores/perplexity/tiny.parquet",
                 "near/scores/attribute-rate/tiny+near.parquet",
                 "near/scores/attribute-rate/tiny.token-lists.parquet", "summary.csv", "comparisons.csv",
                 "groups.csv", "correlations.csv", "near/benchmark/tf/lm-eval/fathom_near_tf.yaml",
                 "figures/near.model-ranks.pdf"):  # fmt: skip
        assert (run / name).is_file(), name
    assert (run / "near" / "keywords.tsv").read_text().startswith("keyword\t")
    rows = read_delimited(run / "summary.csv", ",")
    assert list(rows[0]) == SUMMARY.names
    assert {row["model"] for row in rows} == {"tiny", "tiny+near"}
    assert {row["metric"] for row in rows} >= {"rank", "perplexity", "bits_per_byte", "attribute_rate"}
    for row in rows:
        assert float(row["ci_low"]) <= float(row["value"]) <= float(row["ci_high"])


def test_the_reference_goes_all_the_way(finished):
    folder, _ = finished
    run = folder / "results" / "tiny"
    benchmark = run / "near" / "benchmark" / "reference"
    for name in ("lm-eval/fathom_near_reference.yaml", "pairs.parquet"):
        assert (benchmark / name).is_file(), name
    pairs = [json.loads(line) for line in (benchmark / "pairs.jsonl").read_text().splitlines()]
    assert {row["keyword"] for row in pairs} == {
        "linear regression", "sparse models", "classification, linear"}  # fmt: skip
    card = (benchmark / "README.md").read_text()
    assert "5 prompt-target pairs of 3 categories" in card and "expert.csv" in card
    report = json.loads((run / "near/scores/reference/tiny+near.json").read_text())
    assert report["pairs"] == 5
    rows = [row for row in read_delimited(run / "summary.csv", ",") if row["variant"] == "reference"]
    assert {(row["model"], row["pairs"]) for row in rows} == {("tiny", "5"), ("tiny+near", "5")}
    assert {row["metric"] for row in rows} >= {"rank", "probability"}
    for name in ("comparisons", "groups"):
        found = {row["variant"] for row in read_delimited(run / f"{name}.csv", ",")}
        assert found >= {"tf", "tfidf", "reference"}, name
    compared = {(row["x"], row["y"]) for row in read_delimited(run / "correlations.csv", ",")}
    assert ("tf rank", "reference rank") in compared or ("reference rank", "tf rank") in compared
    table = read_delimited(run / "figures/near.model-ranks.csv", ",")
    assert [row["reference_pairs"] for row in table] == ["5", "5"]
    assert all(float(row["reference_rank"]) >= 1 for row in table)
    assert not (run / "far" / "benchmark").exists()


def test_benchmark_documents_are_never_trained_on(finished):
    folder, _ = finished
    run = folder / "results" / "tiny"
    trained = {doc_id for name in ("near", "far")
               for doc_id in pl.read_parquet(run / f"corpus/texts/{name}.parquet")["doc_id"]}  # fmt: skip
    asked = {
        json.loads(line)["doc_id"]
        for variant in ("tf", "tfidf")
        for line in (run / f"near/benchmark/{variant}/pairs.jsonl").read_text().splitlines()
    }
    assert asked and trained and not asked & trained


def test_second_run_does_nothing(finished):
    folder, config = finished
    assert planned(folder, config) == set()


@pytest.mark.parametrize(
    ("changed", "rerun", "kept"),
    [({"keywords": {"count": 8, "min_count": 3}},
      {"extract_keywords", "select_sentences", "match_sentences", "make_pairs", "score_model"},
      {"read_jsonlines", "split_sentences", "train_model", "import_reference"}),
     ({"pairs": {"tokenizer": "tiny", "per_keyword": 5, "max_tokens": 64, "min_association": 0,
        "gifts": True, "in_other_keyword": True}},
      {"make_pairs", "score_model"},
      {"extract_keywords", "match_sentences", "build_vocabulary", "embed_named", "train_model"})],
)  # fmt: skip
def test_a_changed_setting_reruns_what_depends_on_it(finished, changed, rerun, kept):
    folder, _ = finished
    shards = sorted((folder / "input").iterdir())
    try:
        names = planned(folder, configure(folder, shards, **changed))
    finally:
        configure(folder, shards)
    assert rerun <= names
    assert not names & kept


@pytest.mark.parametrize(
    ("module", "rerun", "kept"),
    [("benchmark/pairs.py",
      {"make_pairs", "score_model"},
      {"extract_keywords", "embed_named", "train_model"}),
     ("statistics/summaries.py", {"summarize_scores"}, {"score_model", "make_pairs", "train_model"})],
)  # fmt: skip
def test_changed_module_reruns_what_depends_on_it(finished, module, rerun, kept):
    folder, config = finished
    path = folder / "src" / "fathom" / module
    text = path.read_text()
    try:
        path.write_text(f"# changed\n{text}\n")
        of_comments = planned(folder, config)
        path.write_text(f"{text}\nCHANGED = True\n")
        names = planned(folder, config)
    finally:
        path.write_text(text)
    assert of_comments == set()
    assert rerun <= names
    assert not names & kept


def test_pairs_are_the_same_bytes_on_two_cores_with_shards_renamed_and_dealt_anew(finished, from_scratch):
    assert HASH_SEED != "0", "not that of the first run"
    assert hash_pairs(finished[0]) == hash_pairs(from_scratch)


def test_broken_input_ends_with_one_message_and_nothing_half_written(tmp_path, records):
    folder = copy_project(tmp_path)
    (shard,) = write_shards(records, folder / "input", ["a.jsonl.gz"])
    shard.write_bytes(shard.read_bytes()[:-2000])
    config = write_tiny_config(folder, [shard])
    done = run_snakemake(folder, "-c1", "--configfile", config, code=1)
    assert "a.jsonl.gz" in done.stderr and "Hint:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((folder / "results").rglob("*.parquet"))
    assert not list((folder / "results").rglob("*.tmp"))


def take_slice(source: Path, target: Path, lines: int) -> None:
    """Copy the first lines of a compressed file of JSON lines."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(source, "rb") as stream:
        target.write_bytes(gzip.compress(b"".join(itertools.islice(stream, lines)), mtime=0))


def test_slice_of_real_papers(shared, tmp_path):
    folder = copy_project(tmp_path)
    name = "arxiv-metadata-oai-snapshot.json.gz"
    with gzip.open(shared / "arxiv" / name, "rb") as stream:
        lines = list(itertools.islice((line for line in stream if b"physics.soc-ph" in line), 600))
        stream.rewind()
        lines += itertools.islice((line for line in stream if b'"cond-mat' in line), 200)
    (folder / "dump").mkdir()
    (folder / "dump" / name).write_bytes(gzip.compress(b"".join(lines), mtime=0))
    for shard in ("arxiv_002.jsonl.gz", "arxiv_010.jsonl.gz"):
        take_slice(shared / "arxiv" / "redpajama" / shard, folder / "dump" / "redpajama" / shard, 40)
    config = write_tiny_config(
        folder,
        [],
        dump="dump",
        corpus={"source": "arxiv", "abstract_parts": 2,
                "splits": {"benchmark": 0.3, "adapt-train": 0.6, "adapt-valid": 0.05, "adapt-test": 0.05}},
        domains={"near": {"categories": ["physics.soc-ph"]},
                 "far": {"categories": ["cond-mat", "cond-mat.*"], "benchmark": False}},
    )  # fmt: skip
    # models and their scores are as those of any other corpus
    wanted = "results/tiny/near/benchmark/tf/pairs.jsonl"
    run_snakemake(folder, "-c2", "--configfile", config, "--", wanted)
    report = json.loads((folder / "results/tiny/corpus/join_report.json").read_text())
    assert report["documents"] > 0
    pairs = (folder / "results/tiny/near/benchmark/tf/pairs.jsonl").read_text().splitlines()
    assert len(pairs) >= 30
