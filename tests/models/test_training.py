"""Training: the same bytes every time, a loss that falls, sequences that hold what they should."""

import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from tests.programs import MODELS, find_program, run_program
from tests.refusals import refuses

from fathom.config.models import Adaptation
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import hash_file
from fathom.io.tables import write_table
from fathom.models.folders import save_model
from fathom.models.loading import load_model
from fathom.models.sequences import END_OF_TEXT, SequencePacking, pack_sequences, train_tokenizer
from fathom.models.training import (
    CurvePoint,
    build_model,
    choose_losses,
    count_valid_sequences,
    make_schedule,
    set_dropout,
    sum_losses,
    train,
)
from fathom.planning.rehearsal.tiny_models import make_family

ROOT = Path(__file__).resolve().parents[2]


run_script = partial(run_program, imports=MODELS)


def test_tokenizer_bytes_depend_on_nothing_else(texts, settings, tokenizer_folder, tmp_path):
    write_table(tmp_path / "texts.parquet", texts.reverse(), TEXTS)
    for seed, threads in (("1", "1"), ("2", "4")):
        subprocess.run(
            [
                sys.executable, find_program("train_tokenizer"), "--texts", tmp_path / "texts.parquet",
                "--tokenizer", tmp_path / seed, "--settings", settings.model_dump_json(),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": seed,
                 "RAYON_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            check=True,
        )  # fmt: skip
        for file in tokenizer_folder.iterdir():
            assert file.read_bytes() == (tmp_path / seed / file.name).read_bytes()


def test_tokenizer_is_what_it_should_be(tokenizer, settings):
    assert tokenizer.eos_token == tokenizer.bos_token == END_OF_TEXT
    assert tokenizer.model_max_length == settings.context
    assert len(tokenizer) == settings.vocabulary
    assert tokenizer.decode(tokenizer("the policy é 策").input_ids) == "the policy é 策"


def test_sequences_hold_documents_with_eos_between(texts, tokenizer):
    packed = pack_sequences(texts, "adapt-valid", tokenizer, SequencePacking(8, 3, False), 10_000)
    whole = tokenizer.decode(packed.ravel())
    known = set(texts.filter(pl.col("split") == "adapt-valid")["text"])
    parts = whole.split(END_OF_TEXT)
    assert set(parts[:-1]) <= known
    assert len(parts) >= len(known)
    assert packed.shape[1] == 8


def test_order_follows_from_seed_and_ids_alone(texts, tokenizer):
    packed = [
        pack_sequences(frame, "adapt-train", tokenizer, SequencePacking(16, seed, False), 40)
        for frame, seed in ((texts, 0), (texts.reverse(), 0), (texts, 1))
    ]
    assert len(packed[0]) == 40
    assert np.array_equal(packed[0], packed[1])
    assert not np.array_equal(packed[0], packed[2])


def test_bos_stands_before_each_document(texts, tokenizer):
    ids = pack_sequences(texts, "adapt-valid", tokenizer, SequencePacking(8, 0, True), 10_000).ravel()
    end = tokenizer.eos_token_id  # also BOS here: each border holds both
    borders = np.flatnonzero(ids == end)
    assert ids[0] == end
    assert np.array_equal(borders[2::2], borders[1:-1:2] + 1)


@pytest.mark.parametrize("architecture", ["gpt2", "llama"])
def test_same_inputs_give_the_same_weights(texts, settings, tokenizer, tmp_path, architecture):
    hashes, chosen = [], settings.model_copy(update={"architecture": architecture})
    threads = torch.get_num_threads()
    for run, cores in enumerate((1, 2)):
        torch.set_num_threads(cores)
        torch.rand(run + 3)  # another state of the global generator must not matter
        model = build_model(chosen, tokenizer)
        adaptation = Adaptation(base="m", paths=[["x"]], steps=4, batch=4, sequence=16, dropout=0.1)
        train(model, tokenizer, texts, adaptation)
        save_model(tmp_path / str(run), model, tokenizer)
        hashes.append(hash_file(tmp_path / str(run) / "model.safetensors"))
    torch.set_num_threads(threads)
    assert hashes[0] == hashes[1]
    model, _ = load_model(tmp_path / "0")
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


@pytest.mark.parametrize("architecture", ["gpt2", "llama"])
def test_the_loss_falls(texts, settings, tokenizer, architecture):
    chosen = settings.model_copy(update={"architecture": architecture, "steps": 60, "learning_rate": 1e-2})
    model = build_model(chosen, tokenizer)
    curve = train(model, tokenizer, texts, chosen)
    assert curve[0].loss == pytest.approx(np.log(len(tokenizer)), abs=0.3)
    assert [point.step for point in curve if point.valid_loss is not None] == [50, 60]
    last = curve[-1].valid_loss
    assert last is not None
    assert last < curve[0].loss - 1.5


def test_a_model_that_does_more_to_its_logits_learns_from_its_own(settings, tokenizer):
    model = build_model(settings, tokenizer).eval()
    own = type(model).forward
    batch = torch.arange(2, 18)[None]
    assert choose_losses(model, batch) is sum_losses

    class Scaled(type(model)):  # as HyperCLOVA X does
        def forward(self, *given: Any, **named: Any) -> Any:
            found = own(self, *given, **named)
            found.logits = found.logits * 8
            return found

    model.__class__ = Scaled
    logits = model(input_ids=batch).logits[0, :-1]
    expected = torch.nn.functional.cross_entropy(logits, batch[0, 1:], reduction="sum")
    found = choose_losses(model, batch)(model, batch)
    assert float(found) == pytest.approx(float(expected), rel=1e-5)
    assert float(sum_losses(model, batch)) != pytest.approx(float(expected), rel=1e-3)


def test_dropout_is_set_where_the_configuration_says_0(settings, tokenizer):
    model = build_model(settings.model_copy(update={"architecture": "llama"}), tokenizer)
    attention = model.model.layers[0].self_attn
    attention.attention_dropout = 0
    set_dropout(model, 0.2)
    assert attention.attention_dropout == 0.2


def test_schedule_warms_up_and_decays_to_a_tenth():
    shares = [make_schedule(100)(step) for step in range(100)]
    assert shares[0] == pytest.approx(0.2)
    assert max(shares) == pytest.approx(1.0) == shares[4]
    assert shares[-1] == pytest.approx(0.1, abs=0.01)
    assert shares[4:] == sorted(shares[4:], reverse=True)


def test_too_little_text_is_an_error(texts, settings, tokenizer):
    train_only = texts.filter(pl.col("split") == "adapt-train")
    model = build_model(settings, tokenizer)
    with refuses("adapt-train", "one batch needs 4"):
        train(model, tokenizer, texts.with_columns(text=pl.lit("the")).head(3), settings)
    with refuses("adapt-valid", "0 sequences"):
        train(model, tokenizer, train_only, settings)
    with refuses("adapt-train", "categories"):
        train_tokenizer(texts.clear(), settings, "unused")


def test_settings_that_cannot_work(texts, settings, tokenizer):
    with refuses("width = 15", "heads = 2"):
        build_model(settings.model_copy(update={"width": 15}), tokenizer)
    model = build_model(settings, tokenizer)
    with refuses("sequence = 64", "32"):
        train(model, tokenizer, texts, settings.model_copy(update={"sequence": 64}))
    with refuses("vocabulary = 100"):
        train_tokenizer(texts, settings.model_copy(update={"vocabulary": 100}), "unused")


def test_a_model_that_could_not_be_read_again_is_not_trained(texts, settings, tokenizer):
    with refuses("mllama_text_model", "lora"):
        train(make_family("mllama"), tokenizer, texts, settings)


def test_a_run_that_explodes_says_so(texts, settings, tokenizer):
    model = build_model(settings, tokenizer)
    with torch.no_grad():
        model.get_input_embeddings().weight[:] = float("nan")
    with refuses("nan", "step 1"):
        train(model, tokenizer, texts, settings)


def test_programs_make_a_model_and_adapt_it(texts, settings, tmp_path):
    write_table(tmp_path / "texts.parquet", texts, TEXTS)
    shared = ["--texts", tmp_path / "texts.parquet", "--settings"]
    run_script("train_tokenizer", *shared, settings.model_dump_json(), "--tokenizer", tmp_path / "tokenizer")
    for name, more in (
        ("m", ["--tokenizer", tmp_path / "tokenizer"]),
        ("m+x", ["--base", tmp_path / "m" / "model.json"]),
    ):
        values = settings.model_dump_json()
        if name == "m+x":
            values = '{"base": "m", "paths": [["x"]], "steps": 2, "batch": 4, "sequence": 16, "dropout": 0.1}'
        folder = tmp_path / name
        run_script(
            "train_model.py" if name == "m" else "adapt_model.py", *shared, values, *more, "--model", name,
            "--weights", folder / "weights", "--pointer", folder / "model.json",
            "--curve", folder / "curve.csv",
        )  # fmt: skip
    base, adapted = (load_model(tmp_path / name / "model.json")[0] for name in ("m", "m+x"))
    assert not torch.equal(base.get_input_embeddings().weight, adapted.get_input_embeddings().weight)
    header, *lines = (tmp_path / "m" / "curve.csv").read_text().splitlines()
    assert header.split(",") == list(CurvePoint._fields)
    assert len(lines) == settings.steps


def test_adapting_that_changes_no_weight_is_refused(texts, settings, tokenizer, tmp_path):
    write_table(tmp_path / "texts.parquet", texts, TEXTS)
    save_model(tmp_path / "base", build_model(settings, tokenizer), tokenizer)
    # other bytes, the same weights: a model must not count as adapted for that
    config = tmp_path / "base" / "config.json"
    config.write_text(config.read_text().replace("{", '{ "note": 1,', 1))
    values = (
        '{"base": "base", "paths": [["x"]], "steps": 1, "batch": 4, "sequence": 16, "learning_rate": 1e-60}'
    )
    with refuses("base+x", "changed no weight"):
        run_script(
            "adapt_model.py", "--texts", tmp_path / "texts.parquet", "--settings", values,
            "--base", tmp_path / "base", "--model", "base+x", "--weights", tmp_path / "new",
            "--pointer", tmp_path / "model.json", "--curve", tmp_path / "curve.csv",
        )  # fmt: skip
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "model.json").exists()


def test_two_processes_learn_what_one_does(texts, settings, tokenizer, tmp_path):
    write_table(tmp_path / "texts.parquet", texts, TEXTS)
    save_model(tmp_path / "base", build_model(settings, tokenizer), tokenizer)
    values = '{"base": "base", "paths": [["x"]], "steps": 3, "batch": 5, "sequence": 16, "batch_tokens": 32}'

    def adapt(rank: str) -> None:
        variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
        run_program(
            "adapt_model", "--texts", tmp_path / "texts.parquet", "--settings", values,
            "--base", tmp_path / "base", "--model", "base+x", "--weights", tmp_path / "weights",
            "--pointer", tmp_path / "model.json", "--curve", tmp_path / "curve.csv",
            imports=MODELS, environment={**variables, "LOCAL_WORLD_SIZE": "2", "MASTER_PORT": port},
        )  # fmt: skip

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(adapt, rank) for rank in "01"]
    assert [run.result() for run in runs] == [None, None]
    model, _ = load_model(tmp_path / "base")
    curve = train(model, tokenizer, texts, Adaptation.model_validate_json(values))
    together = load_model(tmp_path / "model.json")[0].state_dict()
    base = load_model(tmp_path / "base")[0].state_dict()
    assert all(torch.allclose(each, together[name], atol=1e-4) for name, each in model.state_dict().items())
    assert not any(torch.equal(each, together[name]) for name, each in base.items())
    losses = [float(line.split(",")[1]) for line in (tmp_path / "curve.csv").read_text().splitlines()[1:]]
    assert losses == pytest.approx([point.loss for point in curve], rel=1e-5)


@pytest.mark.parametrize(("steps", "count"), [(4, 8), (8, 16), (300, 64)])
def test_a_short_training_is_validated_on_a_quarter_of_what_it_learns_from(settings, steps, count):
    assert count_valid_sequences(settings.model_copy(update={"steps": steps, "batch": 8})) == count


@pytest.mark.parametrize("lora", [None, {"rank": 2}])
def test_frozen_blocks_stay_as_they_are(texts, settings, tokenizer, lora):
    model = build_model(settings.model_copy(update={"layers": 3}), tokenizer)
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    chosen = {"base": "m", "paths": [["x"]], "steps": 4, "batch": 4, "sequence": 16, "lora": lora}
    train(model, tokenizer, texts, Adaptation(**chosen, frozen=[0, 2]))
    blocks = model.transformer.h
    if lora:
        adapted = {name.split(".")[2] for name, _ in model.named_parameters() if "lora_B" in name}
        assert adapted == {"1"}
        assert any(weight.any() for name, weight in blocks[1].named_parameters() if "lora_B" in name)
    else:
        changed = {name for name, weight in model.named_parameters() if not weight.equal(before[name])}
        assert {name.split(".")[2] for name in changed if ".h." in name} == {"1"}
        assert "transformer.wte.weight" in changed


def test_blocks_that_cannot_be_frozen_are_refused(texts, settings, tokenizer):
    model = build_model(settings, tokenizer)
    for frozen, message in (([1], "has no block 1"), ([0], "all 1 blocks")):
        adaptation = Adaptation(base="m", paths=[["x"]], steps=1, batch=4, sequence=16, frozen=frozen)
        with refuses(message, "frozen"):
            train(model, tokenizer, texts, adaptation)
