"""A run that is stopped goes on where it was, and ends with the same bytes."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from tests.programs import find_program
from tests.scoring.sentences import WORDS, cut_sentences, make_tokenizer
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from fathom.config.scoring import Scoring
from fathom.io.files import write_json_lines
from fathom.models.loading import save_model
from fathom.scoring import batches, partial, ranks
from fathom.scoring.partial import Partial, TokenScores

ROOT = Path(__file__).resolve().parents[2]

KILLS = 5

# forks runs of the program, each killed some written chunks after the last one, and a random moment more
DRIVER = """
import os, random, runpy, signal, sys, time
from pathlib import Path
import torch, transformers.models.gpt2.modeling_gpt2
import fathom.scoring.partial as partial
import fathom.scoring.batches as batches
from tests.programs import find_program

folder, points, program, *arguments = sys.argv[1:]
chunks = lambda: len(list(Path(folder).glob("*.parquet")))
partial.EVERY = 0
true = batches.score_batch

def slow(*values):
    time.sleep(0.01)
    return true(*values)

batches.score_batch = slow
for point in map(float, points.split(",")):
    child = os.fork()
    if not child:
        sys.argv = [program, *arguments]
        runpy.run_path(program, run_name="__main__")
        os._exit(0)
    if point < 0:
        assert os.waitpid(child, 0)[1] == 0
        continue
    more, moment = divmod(point, 1)
    until = chunks() + more
    while chunks() < until:
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "the run ended too early"
        time.sleep(0.002)
    time.sleep(moment / 50)
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    print(chunks())
"""


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_tokenizer()


def make_model() -> Any:
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=62, n_positions=40, n_embd=32, n_layer=2, n_head=4)).eval()


@pytest.fixture
def files(tokenizer: Any, tmp_path: Path) -> Path:
    save_model(tmp_path / "model", make_model(), tokenizer)
    for variant, cuts in (("tf", [2, 4]), ("tfidf", [3, 6])):
        several = [
            cut_sentences(f"{variant}{word}", cuts).with_columns(prompt=pl.lit(f"{word} ") + pl.col("prompt"))
            for word in WORDS[:4]
        ]
        pairs = pl.concat(several)
        write_json_lines(tmp_path / f"{variant}.jsonl", pairs.iter_rows(named=True))
    return tmp_path


def drive(files: Path, name: str, points: list[float]) -> list[int]:
    """Run the program once for each point, -1 to the end; return how many chunks lay there at each kill.

    The whole part of a point is the chunks that are written before the kill, the rest is time.
    """
    arguments = ["--model", str(files / "model"), "--settings", '{"batch_tokens": 12, "device": "cpu"}']
    for variant in ("tf", "tfidf"):
        arguments += ["--pairs", str(files / f"{variant}.jsonl")]
        arguments += ["--output", str(files / f"{name}-{variant}.parquet")]
        arguments += ["--report", str(files / f"{name}-{variant}.json")]
    folder = files / f".{name}-tf.parquet.partial"
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, folder, ",".join(map(str, points)),
         find_program("score_pairs"), *arguments, "--log", files / f"{name}.log"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not folder.exists()
    return [int(line) for line in done.stdout.split()]


def test_killed_at_random_points_it_ends_with_the_same_bytes(files: Path) -> None:
    assert drive(files, "whole", [-1]) == []
    points = [random.uniform(1, 4) for _ in range(KILLS)]
    chunks = drive(files, "killed", [*points, -1])
    assert len(chunks) == KILLS
    assert [0, *chunks] == sorted({0, *chunks})  # each run went on where the one before was killed
    assert "goes on where a stopped run was: " in (files / "killed.log").read_text()
    for variant in ("tf", "tfidf"):
        for ending in ("parquet", "json"):
            whole, killed = (files / f"{name}-{variant}.{ending}" for name in ("whole", "killed"))
            assert whole.read_bytes() == killed.read_bytes()
    report = json.loads((files / "whole-tf.json").read_text())
    other = json.loads((files / "whole-tfidf.json").read_text())
    assert report["together_with"] == [other["pairs_sha256"]]


class StoppedError(Exception):
    """What stands for a kill."""


def stop_after(monkeypatch: pytest.MonkeyPatch, count: int) -> list[int]:
    """Let scoring stop after some batches; return the list that takes the size of each."""
    true, sizes = batches.score_batch, list[int]()

    def score(project: Any, batch: Any, device: Any) -> TokenScores:
        if len(sizes) == count:
            raise StoppedError
        sizes.append(len(batch))
        return true(project, batch, device)

    monkeypatch.setattr(partial, "EVERY", 0)
    monkeypatch.setattr(batches, "score_batch", score)
    return sizes


def test_finished_batches_are_not_scored_again(
    tokenizer: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, pairs, settings = make_model(), [cut_sentences("tf", [2, 7])], Scoring(batch_tokens=30)
    with monkeypatch.context() as patch:
        sizes = stop_after(patch, 99)
        (whole,) = ranks.score_benchmarks(model, tokenizer, pairs, settings)
    with monkeypatch.context() as patch:
        first = stop_after(patch, 2)
        with pytest.raises(StoppedError):
            ranks.score_benchmarks(
                model, tokenizer, pairs, settings, partial=Partial(tmp_path / "s.parquet", "k")
            )
    with monkeypatch.context() as patch:
        second = stop_after(patch, 99)
        kept = Partial(tmp_path / "s.parquet", "k")
        (resumed,) = ranks.score_benchmarks(model, tokenizer, pairs, settings, partial=kept)
    assert first + second == sizes
    assert len(first) == 2
    assert resumed.equals(whole)
    kept.remove()
    assert not list(tmp_path.iterdir())


def tokens(*values: float) -> TokenScores:
    return TokenScores(
        np.array([1] * len(values)), np.array([0] * len(values)), np.array(values, dtype=np.float64)
    )


def test_smaller_batches_after_memory_ran_out_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partial, "EVERY", 0)
    kept = Partial(tmp_path / "s.parquet", "k")
    kept.add(tokens(-1.0), 9, 64)
    kept.add(tokens(-2.0, -3.0), 10, 32)
    parts, sequences, budget = Partial(tmp_path / "s.parquet", "k").load(64)
    assert (sequences, budget) == (10, 32)
    assert [part.log_probability.tolist() for part in parts] == [[-1.0], [-2.0, -3.0]]


def test_nothing_is_written_before_it_is_time(tmp_path: Path) -> None:
    Partial(tmp_path / "s.parquet", "k").add(tokens(-1.0), 1, 64)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["key", "chunk", "no key"])
def test_what_does_not_fit_is_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    monkeypatch.setattr(partial, "EVERY", 0)
    kept = Partial(tmp_path / "s.parquet", "k")
    kept.add(tokens(-1.0), 1, 64)
    if damage == "chunk":
        next(kept.folder.glob("*.parquet")).write_bytes(b"PAR1")
    if damage == "no key":
        (kept.folder / "key.json").unlink()
    with caplog.at_level("INFO", "fathom"):
        found = Partial(tmp_path / "s.parquet", "other" if damage == "key" else "k").load(64)
    assert found == ([], 0, 64)
    assert "scores of a stopped run are thrown away: " in caplog.text
    assert ("it was made from other inputs or settings" in caplog.text) == (damage == "key")
    assert not kept.folder.exists()
