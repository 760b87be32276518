"""`fathom score`: a model and files of pairs in, scores beside them and a line for each out."""

import re
import subprocess
from pathlib import Path

import polars as pl
import pytest
from tests.programs import MODELS, run_command
from tests.refusals import refuses
from tests.scoring.sentences import cut_sentences, make_tokenizer
from transformers import GPT2Config, GPT2LMHeadModel, set_seed

from fathom.io.contracts.scoring import SCORES
from fathom.io.files import read_json, write_json_lines
from fathom.io.tables import read_table
from fathom.models.folders import save_model
from fathom.scoring.pair_files import read_pairs
from fathom.statistics.summaries import describe_ranks, format_value


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model and files of pairs: with keywords, with nothing, with documents alone."""
    folder = tmp_path_factory.mktemp("score")
    set_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=62, n_positions=40, n_embd=16, n_layer=1, n_head=2))
    save_model(folder / "org" / "tiny", model, make_tokenizer())
    pairs = pl.concat([cut_sentences(name, [2, 4]).with_columns(keyword=pl.lit(name)) for name in ("a", "b")])
    write_json_lines(folder / "keyed.jsonl", pairs.iter_rows(named=True))
    write_json_lines(folder / "plain.jsonl", pairs.select("prompt", "target").unique().iter_rows(named=True))
    documents = pairs.select("prompt", "target").unique(maintain_order=True).with_row_index("doc_id")
    documents = documents.with_columns(pl.col("doc_id").cast(pl.String).str.head(1))
    write_json_lines(folder / "documents.jsonl", documents.iter_rows(named=True))
    return folder


def score(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run_command("score", *arguments, folder=folder, imports=MODELS)


def test_scores_lie_beside_the_pairs(files: Path) -> None:
    done = score(files, "org/tiny", "keyed.jsonl", "plain.jsonl", "documents.jsonl", "--device", "cpu")
    first, second, third = done.stdout.splitlines()
    assert re.fullmatch(
        r"keyed.jsonl: (no bits|[-\d.]+ \[[-\d., ]+\] bits of at most [\d.]+), "
        r"trimmed mean rank [\d.]+ \[[\d.]+, [\d.]+\], geometric mean rank [\d.]+ "
        r"\[[\d.]+, [\d.]+\], geometric mean rank among rivals [\d.]+ \[[\d.]+, [\d.]+\], \d+ pairs; "
        r"scores in keyed.tiny.parquet",
        first,
    )
    assert re.fullmatch(
        r"plain.jsonl: .*\], \d+ pairs \(intervals over pairs\); scores in plain.tiny.parquet", second
    )
    assert "pairs (intervals over documents); scores in documents.tiny.parquet" in third
    scores = read_table(files / "keyed.tiny.parquet", SCORES)
    report = read_json(files / "keyed.tiny.json")
    assert (report["model"], report["pairs"], report["dtype"]) == ("tiny", len(scores), "float32")
    assert describe_ranks(scores, read_pairs(files / "keyed.jsonl")) in first


def test_outputs_are_where_they_are_wanted(files: Path, tmp_path: Path) -> None:
    done = score(files, files / "org" / "tiny", "keyed.jsonl", "--output", tmp_path / "new" / "s.parquet",
                 "--dtype", "bfloat16", "--device", "cpu", "--log", tmp_path / "log")  # fmt: skip
    assert read_json(tmp_path / "new" / "s.json")["dtype"] == "bfloat16"
    assert done.stderr.endswith((tmp_path / "log").read_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["org/tiny", "keyed.jsonl", "--output", "."], "this is a folder; a file is needed"),
     (["org/tiny", "keyed.jsonl", "--output", "plain.jsonl/s"], "plain.jsonl: this is a file; a folder"),
     (["org/tiny", "keyed.jsonl", "plain.jsonl", "--output", "s"], "needs its own output and report"),
     (["org/tiny", "keyed.jsonl", "--output", "keyed.jsonl"], "needs its own output and report"),
     (["org/tiny", "none.jsonl"], "none.jsonl: there is no such file"),
     (["org/tiny", "keyed.jsonl", "--dtype", "int8"], "dtype 'int8'"),
     (["./tiny", "keyed.jsonl"], "no folder or GGUF file ./tiny"),
     (["gpt2", "keyed.jsonl"], "models.tsv, row gpt2: model 'gpt2' "),
     (["org/none", "keyed.jsonl"], "model 'org/none', which is no file or folder, cannot be fetched")],
)  # fmt: skip
def test_bad_input_gives_one_message(files: Path, arguments: list[str], message: str) -> None:
    before = sorted(files.iterdir())
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(files / "none")}
    with refuses(message):
        run_command("score", *arguments, folder=files, environment=offline)
    assert sorted(files.iterdir()) == before


def test_ranks_in_words() -> None:
    assert format_value("rank", 9.96, 1, 12.34) == "10.0 [1.0, 12.3]"
    assert format_value("rank", 1234.5, 100, 2000) == "1,234 [100, 2,000]"
    assert format_value("rank", 3, float("nan"), 4) == "3.0"
    assert format_value("rank", -135.2, float("nan"), 4) == "-135"
