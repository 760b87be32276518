"""`fathom watch`: checkpoints are scored once each, wrong ones are skipped, a stopped watch resumes."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from peft import LoraConfig, get_peft_model
from tests.programs import MODELS, find_python, run_command
from tests.refusals import refuses
from tests.scoring.sentences import cut_sentences, make_tokenizer
from tests.tiny import make_word_tokenizer
from transformers import GPT2Config, GPT2LMHeadModel, set_seed

import fathom
from fathom.config.scoring import Scoring
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.studies import FOLLOWING, WATCHED
from fathom.io.delimited import read_rows
from fathom.io.files import hash_folder, read_json_lines, write_json_lines
from fathom.io.tables import read_table
from fathom.models.arriving import find_lack, list_arrivals
from fathom.models.folders import save_model
from fathom.models.open_model import OpenModel
from fathom.studies.watching import Arrivals, Watch

ONCE = ("--idle", "0", "--every", "0.05", "--device", "cpu")
CODE = 3


def make_tiny(seed: int = 0, width: int = 16) -> GPT2LMHeadModel:
    set_seed(seed)
    return GPT2LMHeadModel(GPT2Config(vocab_size=62, n_positions=40, n_embd=width, n_layer=1, n_head=2))


def save(folder: Path, step: int, model: GPT2LMHeadModel | None = None, shift: float = 0.0) -> Path:
    """Write a checkpoint; `shift` moves one embedding, so that some targets are forgotten."""
    model = model or make_tiny()
    with torch.no_grad():
        model.transformer.wte.weight[30:] += shift
    save_model(folder / f"checkpoint-{step}", model, make_tokenizer())
    return folder / f"checkpoint-{step}"


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with four checkpoints in `run`, and `pairs.jsonl`."""
    folder = tmp_path_factory.mktemp("watch")
    for step in (2, 10, 30, 200):
        save(folder / "run", step, make_tiny(), step / 1e4)
    pairs = pl.concat([cut_sentences(name, [2, 4]).with_columns(keyword=pl.lit(name)) for name in ("a", "b")])
    write_json_lines(folder / "pairs.jsonl", pairs.iter_rows(named=True))
    return folder


@pytest.fixture(scope="module")
def watched(training: Path) -> tuple[Path, str]:
    """Return the folder of a whole watch, and what it printed."""
    done = watch(training, training / "whole" / "w")
    return training / "whole" / "w", done.stdout


def watch(folder: Path, output: Path, *more: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    options = ["run", "--pairs", folder / "pairs.jsonl", "--output", output, *ONCE, *more]
    return run_command("watch", *options, folder=folder, imports=MODELS, code=code)


def test_each_checkpoint_is_scored_once_with_the_scores_of_fathom_score(training, watched):
    output, said = watched
    lines = [json.loads(line) for line in said.splitlines()]
    assert [line["checkpoint"] for line in lines] == [f"checkpoint-{step}" for step in (2, 10, 30, 200)]
    assert lines == read_json_lines(output / "looks.jsonl")
    assert [line["look"] for line in lines] == [0, 1, 2, 3] and lines[-1]["step"] == 200
    expected = fathom.score(training / "run" / "checkpoint-30", training / "pairs.jsonl", device="cpu")
    assert read_table(output / "scores" / "checkpoint-30.parquet", SCORES).equals(expected)
    assert lines[2]["log_probability"] == pytest.approx(expected["log_probability"].mean(), rel=1e-5)
    assert lines[0]["noise"] is None and lines[3]["noise"] > 0


def test_page_and_tables_are_those_of_the_last_look(watched):
    output, _ = watched
    page = (output / "index.html").read_text()
    assert "checkpoint-200: of 2 keywords" in page and "since checkpoint-2." in page
    assert "data:image/png;base64," in page
    assert "%%" not in page and "<script" not in page
    keywords = read_rows(output / "keywords.csv", WATCHED)
    assert {row["keyword"] for row in keywords} == {"a", "b"}
    followed = read_table(output / "following.parquet", FOLLOWING)
    rank = followed.filter(metric="rank", aggregate="geometric_mean")
    assert rank["step"].to_list() == [2, 10, 30, 200]
    assert rank["noise"].is_nan().to_list() == [True, True, False, False]


def test_a_second_watch_has_nothing_to_do_and_changes_nothing(training, watched):
    output, _ = watched
    before = hash_folder(output)
    done = watch(training, output)
    assert done.stdout == "" and "no new checkpoint for 0 s" in done.stderr
    assert hash_folder(output) == before


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGTERM])
def test_a_stopped_watch_resumes_to_the_same_bytes(training, watched, kind, tmp_path):
    output = tmp_path / "w"
    command = [find_python(MODELS), "-m", "fathom.commands", "watch", "run", "--pairs", "pairs.jsonl",
               "--output", str(output), *ONCE]  # fmt: skip
    with subprocess.Popen(
        command, cwd=training, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(Path(fathom.__file__).parents[1])},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.readline()
        process.send_signal(kind)
        process.communicate()
    assert process.returncode in (-kind, 128 + kind)
    if kind == signal.SIGKILL:  # between the scores and their line
        lines = (output / "looks.jsonl").read_text().splitlines(keepends=True)
        (output / "looks.jsonl").write_text("".join(lines[:-1]))
    watch(training, output)
    assert hash_folder(output) == hash_folder(watched[0])


def test_what_cannot_be_scored_has_one_message_and_the_watch_goes_on(training, tmp_path):
    shutil.copytree(training / "run", tmp_path / "run")
    shutil.copy(training / "pairs.jsonl", tmp_path)
    run = tmp_path / "run"
    weights = (run / "checkpoint-10" / "model.safetensors").read_bytes()
    (run / "checkpoint-10" / "model.safetensors").write_bytes(weights[:-100])
    save(run, 40, make_tiny(width=8))
    save_model(
        run / "checkpoint-50",
        make_tiny(),
        make_word_tokenizer(f"w{number}" for number in reversed(range(60))),
    )
    (run / "checkpoint-60").mkdir()
    (run / "checkpoint-60" / "config.json").write_text("{}")
    (run / "checkpoint-60" / "pytorch_model.bin").write_bytes(b"pickle")
    (run / "tmp-checkpoint-70").mkdir()
    shutil.copytree(run / "checkpoint-2", run / "checkpoint-80", ignore=lambda *_: ["tokenizer.json"])
    done = watch(tmp_path, tmp_path / "w", "--idle", "0.3")
    scored = [json.loads(line)["checkpoint"] for line in done.stdout.splitlines()]
    assert scored == ["checkpoint-2", "checkpoint-30", "checkpoint-200"]
    for message in (
        "checkpoint-10 waits: model.safetensors is not whole",
        "checkpoint-40 is skipped: " + str(run / "checkpoint-40") + ": it has another architecture",
        "checkpoint-50 is skipped: ",
        "checkpoint-60 is skipped: ",
    ):
        assert done.stderr.count(message) == 1, done.stderr
    assert "another tokenizer" in done.stderr and "pickled" in done.stderr
    assert "checkpoint-70" not in done.stderr
    # once its last bytes are there, it is scored
    (run / "checkpoint-10" / "model.safetensors").write_bytes(weights)
    assert json.loads(watch(tmp_path, tmp_path / "w").stdout)["checkpoint"] == "checkpoint-10"


def test_pairs_that_no_checkpoint_can_be_scored_on_are_one_error(training, tmp_path):
    shutil.copytree(training / "run", tmp_path / "run")
    long = [{"prompt": "w1 " * 60 + f"w{place}", "target": f" w{place + 5}", "keyword": "ab"[place % 2]}
            for place in range(6)]  # fmt: skip
    write_json_lines(tmp_path / "pairs.jsonl", long)
    for more in ((), ("--fail-on", "forgetting")):
        done = watch(tmp_path, tmp_path / "w", *more, code=1)
        assert done.stdout == "" and done.stderr.count("no checkpoint can be scored on these pairs") == 1
        assert "skipped" not in done.stderr and "pairs.jsonl" in done.stderr


def test_a_watch_in_which_nothing_could_be_scored_ends_with_an_error(training, tmp_path):
    shutil.copy(training / "pairs.jsonl", tmp_path)
    (tmp_path / "run" / "checkpoint-1").mkdir(parents=True)
    (tmp_path / "run" / "checkpoint-1" / "config.json").write_text("{}")
    (tmp_path / "run" / "checkpoint-1" / "pytorch_model.bin").write_bytes(b"pickle")
    done = watch(tmp_path, tmp_path / "w", code=1)
    assert "no checkpoint could be scored" in done.stderr and "checkpoint-1" in done.stderr


def test_a_checkpoint_of_zeros_is_told_and_the_first_line_says_what_is_done(training, tmp_path):
    shutil.copy(training / "pairs.jsonl", tmp_path)
    model = make_tiny()
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    save(tmp_path / "run", 1, model)
    done = watch(tmp_path, tmp_path / "w", "--base", training / "run" / "checkpoint-2")
    first = done.stderr.splitlines()[0]
    assert str(tmp_path / "run") in first and "with base checkpoint-2" in first and "pairs of 2" in first
    assert "checkpoint-1 all words are equally likely" in done.stderr
    assert "are its weights zeros?" in (tmp_path / "w" / "index.html").read_text()


def test_an_alarm_ends_the_watch_with_a_code_of_its_own(training, tmp_path):
    shutil.copy(training / "pairs.jsonl", tmp_path)
    rows = [{"prompt": prompt, "target": target, "keyword": str(number % 2), "doc_id": f"d{number}"}
            for number, (prompt, target) in enumerate(zip(*list_texts(24), strict=True))]  # fmt: skip
    write_json_lines(tmp_path / "pairs.jsonl", rows)
    for step in range(6):
        save(tmp_path / "run", step, damage(step))
    by = ("--by", "log_probability")
    done = watch(tmp_path, tmp_path / "w", "--fail-on", "forgetting", *by, code=CODE)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[-1]["forgotten"] and not lines[-2]["forgotten"] and len(lines) < 6
    assert "keywords are forgotten: " in done.stderr
    # the alarm stays: the same again, without another look
    assert watch(tmp_path, tmp_path / "w", "--fail-on", "forgetting", *by, code=CODE).stdout == ""
    assert len(watch(tmp_path, tmp_path / "w", *by).stdout.splitlines()) == 6 - len(lines)


def list_texts(count: int) -> tuple[list[str], list[str]]:
    """Return prompts and targets of sentences, each of its own document."""
    pairs = pl.concat([cut_sentences(name, [2, 3, 4, 5]) for name in ("a", "b")])
    pairs = pl.concat([pairs] * (1 + count // len(pairs))).head(count)
    return pairs["prompt"].to_list(), pairs["target"].to_list()


def damage(step: int) -> GPT2LMHeadModel:
    """Return a model whose logits are larger with each step, so that unlikely targets lose steadily."""
    model = make_tiny()
    with torch.no_grad():
        model.transformer.ln_f.weight *= 20 + 20 * step
    return model


def test_base_and_bad_options(training, tmp_path):
    done = watch(training, tmp_path / "w", "--base", training / "run" / "checkpoint-200")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [lines[0]["checkpoint"], lines[0]["step"]] == ["base checkpoint-200", 0] and len(lines) == 5
    assert lines[4]["change"] == 0 and lines[1]["change"] != 0
    with refuses("another base"):
        watch(training, tmp_path / "w")
    with refuses("other pairs"):
        write_json_lines(tmp_path / "pairs.jsonl", [{"prompt": "a b", "target": " c"}])
        watch(training, tmp_path / "w", "--pairs", tmp_path / "pairs.jsonl", "--base", "run/checkpoint-200")
    with refuses("--every must be positive"):
        watch(training, tmp_path / "x", "--every", "0")
    assert not (tmp_path / "x").exists()


def test_shards_and_adapters_are_whole_when_all_files_are_there(tmp_path):
    folder = save(tmp_path, 1)
    model = make_tiny()
    shutil.rmtree(folder)
    model.save_pretrained(folder, max_shard_size="4KB")
    make_tokenizer().save_pretrained(folder)
    shard = sorted(folder.glob("model-*.safetensors"))[1]
    assert find_lack(folder) == "" and [each.name for each in list_arrivals(tmp_path)] == ["checkpoint-1"]
    content = shard.read_bytes()
    shard.unlink()
    assert shard.name in find_lack(folder)
    shard.write_bytes(content[:7])
    assert "header cannot be read" in find_lack(folder)
    shard.write_bytes(content)
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    assert find_lack(folder) == "its tokenizer is not there yet"
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA"}))
    assert find_lack(adapter) == "its weights are missing so far"
    assert np.all([each.name != "none" for each in list_arrivals(tmp_path / "none")])


def test_a_checkpoint_that_is_deleted_is_told_and_left(training, tmp_path, caplog):
    folder = save(tmp_path / "run", 5)
    watch_ = Watch(
        training / "pairs.jsonl", tmp_path / "w", "", lambda pointer: OpenModel(pointer, Scoring())
    )
    arrivals = Arrivals(tmp_path / "run", None)
    assert arrivals.find_next([]) is None and arrivals.changing
    assert arrivals.find_next([]) == folder and not arrivals.changing
    shutil.rmtree(folder)
    with caplog.at_level("WARNING", "fathom"):
        assert not arrivals.score(watch_, folder)
    assert "checkpoint-5 was deleted before it was scored" in caplog.text
    assert arrivals.find_next([]) is None and watch_.rows == []


def test_adapters_are_compared_with_their_base(training, tmp_path):
    base = save(tmp_path, 0)
    for step in (1, 2):
        set_seed(step)
        adapted = get_peft_model(make_tiny(), LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True))
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(weight, std=0.5 * step)
        adapted.save_pretrained(tmp_path / "run" / f"checkpoint-{step}")
    shutil.copy(training / "pairs.jsonl", tmp_path)
    done = watch(tmp_path, tmp_path / "w", "--base", base)
    names = [json.loads(line)["checkpoint"] for line in done.stdout.splitlines()]
    assert names == ["base checkpoint-0", "checkpoint-1", "checkpoint-2"], done.stderr
    expected = fathom.score(
        tmp_path / "run" / "checkpoint-2", tmp_path / "pairs.jsonl", base=base, device="cpu"
    )
    assert read_table(tmp_path / "w" / "scores" / "checkpoint-2.parquet", SCORES).equals(expected)
