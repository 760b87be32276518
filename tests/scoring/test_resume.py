"""A run that is stopped goes on where it was, and ends with the same bytes."""

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.programs import MODELS, find_program, find_python
from tests.scoring.sentences import cut_many_sentences, cut_sentences, make_tokenizer
from tests.tiny import make_config, make_model
from transformers import PreTrainedTokenizerFast

from fathom.config.scoring import Scoring
from fathom.io.files import write_json_lines
from fathom.jobs import resume
from fathom.jobs.resume import Resume, State
from fathom.models.folders import save_model
from fathom.scoring import batches, ranks
from fathom.scoring.scored_sequences import TokenScores

ROOT = Path(__file__).resolve().parents[2]

KILLS = 5

# forks runs of the program, each killed when some more sequences are saved, and a random moment later
DRIVER = """
import json, os, random, runpy, signal, sys, time
from pathlib import Path
from safetensors import safe_open
import torch, transformers.models.gpt2.modeling_gpt2
import fathom.jobs.resume as resume
import fathom.scoring.batches as batches

folder, points, program, *arguments = sys.argv[1:]
resume.INTERVAL = 0
true = batches.score_batch

def count_sequences():
    state = Path(folder, "state.safetensors")
    if not state.exists():
        return 0
    with safe_open(state, "numpy") as saved:
        return json.loads(saved.metadata()["values"])["sequences"]

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
    until = count_sequences() + more
    while count_sequences() < until:
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "the run ended too early"
        time.sleep(0.002)
    time.sleep(moment / 50)
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    print(count_sequences())
"""


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_tokenizer()


CONFIG = make_config("gpt2", 62, 40)


@pytest.fixture
def files(tokenizer: Any, tmp_path: Path) -> Path:
    save_model(tmp_path / "model", make_model(CONFIG), tokenizer)
    for variant, cuts in (("tf", [2, 4]), ("tfidf", [3, 6])):
        pairs = cut_many_sentences(variant, cuts)
        write_json_lines(tmp_path / f"{variant}.jsonl", pairs.iter_rows(named=True))
    return tmp_path


def drive(files: Path, name: str, points: list[float]) -> list[int]:
    """Run the program once for each point, -1 to the end; return how many sequences were saved at each kill.

    The whole part of a point is the number of sequences that are saved before the kill, the rest is time.
    """
    settings = '{"scoring": {"batch_tokens": 12, "device": "cpu"}}'
    arguments = ["--model", str(files / "model"), "--settings", settings]
    arguments += ["--finished", str(files / f"{name}-finished")]
    for variant in ("tf", "tfidf"):
        scores = files / f"{name}-{variant}.parquet"
        arguments += ["--pairs", f"x/{variant}={files / variant}.jsonl", "--scores", str(scores)]
    folder = files / f".{name}-tf.parquet.partial"
    driver = files / "driver.py"
    driver.write_text(DRIVER)
    done = subprocess.run(
        [find_python(MODELS), driver, folder, ",".join(map(str, points)),
         find_program("score_model"), *arguments, "--log", files / f"{name}.log"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not folder.exists()
    return [int(line) for line in done.stdout.split()]


def test_killed_at_random_points_it_ends_with_the_same_bytes(files):
    assert drive(files, "whole", [-1]) == []
    points = [random.uniform(1, 4) for _ in range(KILLS)]
    sequences = drive(files, "killed", [*points, -1])
    assert len(sequences) == KILLS
    assert [0, *sequences] == sorted({0, *sequences})  # each run resumed where the one before was killed
    assert "resuming a stopped run: " in (files / "killed.log").read_text()
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

    def score(project: Any, batch: Any, *more: Any) -> TokenScores:
        if len(sizes) == count:
            raise StoppedError
        sizes.append(len(batch))
        return true(project, batch, *more)

    monkeypatch.setattr(resume, "INTERVAL", 0)
    monkeypatch.setattr(batches, "score_batch", score)
    return sizes


def test_finished_batches_are_not_scored_again(tokenizer, tmp_path, monkeypatch):
    model, pairs, settings = make_model(CONFIG), [cut_sentences("tf", [2, 7])], Scoring(batch_tokens=30)
    with monkeypatch.context() as patch:
        sizes = stop_after(patch, 99)
        (whole,) = ranks.score_benchmarks(model, tokenizer, pairs, settings)
    with monkeypatch.context() as patch:
        first = stop_after(patch, 2)
        with pytest.raises(StoppedError):
            ranks.score_benchmarks(
                model, tokenizer, pairs, settings, resume=Resume(tmp_path / "s.parquet", "k")
            )
    with monkeypatch.context() as patch:
        second = stop_after(patch, 99)
        saved = Resume(tmp_path / "s.parquet", "k")
        (resumed,) = ranks.score_benchmarks(model, tokenizer, pairs, settings, resume=saved)
    assert first + second == sizes
    assert len(first) == 2
    assert resumed.equals(whole)
    saved.remove()
    assert not list(tmp_path.iterdir())


def test_a_resumed_run_keeps_smaller_batches_of_one_that_ran_out_of_memory(tokenizer, tmp_path, monkeypatch):
    model, pairs, settings = make_model(CONFIG), [cut_sentences("tf", [2, 7])], Scoring(batch_tokens=30)
    saved = Resume(tmp_path / "s.parquet", "k")
    with monkeypatch.context() as patch:
        first = stop_after(patch, 2)
        with pytest.raises(StoppedError):
            ranks.score_benchmarks(model, tokenizer, pairs, settings, resume=saved)
    state = saved.load()
    assert state is not None
    assert (state.values["sequences"], state.values["budget"]) == (sum(first), 30)
    saved.save(State({**state.values, "budget": 1}, state.arrays))
    sizes = stop_after(monkeypatch, 99)
    ranks.score_benchmarks(model, tokenizer, pairs, settings, resume=saved)
    assert set(sizes) == {1}
    assert max(first) > 1
