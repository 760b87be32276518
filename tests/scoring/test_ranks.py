"""Ranks and probabilities against a plain loop, over architectures, batches and traps."""

import copy
import itertools
import json
import os
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
import transformers
from tests.encoding import encode_pair
from tests.programs import MODELS, run_program
from tests.refusals import refuses
from tests.scores import score_pairs
from tests.tables import write_models
from tests.tiny import KnownModel, make_config, make_model, make_word_tokenizer
from transformers import PreTrainedTokenizerFast

from fathom.config.scoring import Scoring
from fathom.io.contracts.scoring import SCORES
from fathom.io.files import write_json_lines
from fathom.io.tables import check_table, read_table
from fathom.models.folders import save_model
from fathom.models.tokens import CHAT_REQUEST
from fathom.scoring import batches, logits, ranks
from fathom.scoring.rank_files import name_files

ROOT = Path(__file__).resolve().parents[2]
COUNT = 23
WORDS = [f"w{number}" for number in range(1997)]  # more than 1,000, up to which ranks must be equal
ENTRIES = len(WORDS) + 2
KINDS = {
    "gpt2": {}, "llama": {}, "mistral": {}, "mistral-window": {"sliding_window": 5}, "qwen2": {},
    "gemma2": {"sliding_window": 5, "final_logit_softcapping": 3.0}, "olmo2": {}, "gpt_neox": {},
    "cohere": {"logit_scale": 0.25}, "granite": {"logits_scaling": 4.0},
}  # fmt: skip
CONFIGS = {
    name: make_config(name.split("-")[0], ENTRIES, 40, initializer_range=0.5, **more)
    for name, more in KINDS.items()
}


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_word_tokenizer(WORDS, eos_token="<s>", pad_token="<unk>")


def make_pairs(count: int = COUNT) -> pl.DataFrame:
    """Return pairs of many lengths, targets of one to three tokens."""
    rows = []
    for number in range(count):
        prompt = " ".join(WORDS[(number * 331 + place * place) % 1997] for place in range(1 + number % 17))
        target = "".join(f" {WORDS[(number * 613 + place) % 1997]}" for place in range(1 + number % 3))
        rows.append(
            {"pair_id": f"p{number:02d}", "keyword": f"k{number % 4}", "prompt": prompt, "target": target}
        )
    return pl.DataFrame(rows)


def score_plainly(model: Any, tokenizer: Any, pair: dict[str, str], add_bos: bool | None) -> dict[str, float]:
    """Score one pair, one token at a time, as the paper does [RawCorpora, Sec. 2.6]."""
    ids, start, _ = encode_pair(tokenizer, pair["prompt"], pair["target"], add_bos)
    found, probabilities, logs = [], [], []
    with torch.no_grad():
        for place in range(start, len(ids)):
            logits = model(torch.tensor([ids[:place]])).logits[0, -1].double()
            found.append(1 + int((logits > logits[ids[place]]).sum()))
            logs.append(float(logits.log_softmax(0)[ids[place]]))
            probabilities.append(float(logits.softmax(0)[ids[place]]))
    return {
        "rank": sum(found) / len(found), "rank_worst": max(found), "rank_first": found[0],
        "probability": sum(probabilities) / len(found), "log_probability": sum(logs), "tokens": len(found),
    }  # fmt: skip


@cache
def score_all_plainly(name: str, tokenizer: Any, add_bos: bool | None) -> list[dict[str, float]]:
    model = make_model(CONFIGS[name])
    return [score_plainly(model, tokenizer, pair, add_bos) for pair in make_pairs().iter_rows(named=True)]


@pytest.mark.parametrize("add_bos", [True, None], ids=["bos", "no-bos"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", CONFIGS)
def test_same_as_a_plain_loop_whatever_padding_batch_and_order(name, side, add_bos, tokenizer, caplog):
    model, pairs = make_model(CONFIGS[name]), make_pairs(COUNT)
    plain = pl.DataFrame(score_all_plainly(name, tokenizer, add_bos))
    tokenizer.padding_side = side
    orders = [range(COUNT), range(COUNT - 1, -1, -1), random.Random(0).sample(range(COUNT), COUNT)]
    found = []
    # one pair at a time, a few, many, all at once
    for size, order in itertools.product((1, 60, 200, 100_000), orders):
        with caplog.at_level("INFO", "fathom"):
            scores = score_pairs(model, tokenizer, pairs[list(order)], Scoring(batch_tokens=size), add_bos)
        assert scores["pair_id"].to_list() == pairs["pair_id"][list(order)].to_list()
        found.append(scores.sort("pair_id"))
        assert_same(found[-1], plain)
    # scales and soft caps of the logits are known: the float32 layer is used for every model
    assert "does not reproduce this model's logits" not in caplog.text
    exact = pl.exclude("probability", "log_probability", "bits")
    alone = found[0]
    for scores in found[1:]:
        assert scores.select(exact).equals(alone.select(exact))
        for column in ("log_probability", "bits"):
            assert (scores[column] - alone[column]).abs().max() < 1e-4
    near = alone["rank"] <= 1000
    assert near.sum() > COUNT / 3 and (~near).any() and alone["rank"].n_unique() > 10  # no constants


def assert_same(scores: pl.DataFrame, plain: pl.DataFrame) -> None:
    """Ranks up to 1,000 are equal, those below within a thousandth; log-probabilities within 1e-4."""
    near = plain["rank_worst"] <= 1000
    for column in ("rank", "rank_first"):
        assert scores[column].filter(near).equals(plain[column].filter(near).cast(scores[column].dtype))
        assert ((scores[column] / plain[column] - 1).abs() < 1e-3).all()
    assert scores["tokens"].to_list() == plain["tokens"].to_list()
    assert (scores["log_probability"] - plain["log_probability"]).abs().max() < 1e-4
    assert (scores["probability"] - plain["probability"]).abs().max() < 1e-5


def test_inside_a_chat_template_the_same_targets_have_other_scores(tokenizer):
    model, pairs, tokenizer = make_model(CONFIGS["llama"]), make_pairs(), copy.deepcopy(tokenizer)
    tokenizer.chat_template = "{% for m in messages %}{{ m['role'] }} w3 {{ m['content'] }} w4{% endfor %}"
    inside = score_pairs(model, tokenizer, pairs, chat_template=True)
    words = f"user w3 {CHAT_REQUEST} w4 "  # whole words are this tokenizer's tokens
    by_hand = score_pairs(model, tokenizer, pairs.with_columns(prompt=pl.lit(words) + pl.col("prompt")))
    assert inside["tokens"].equals(by_hand["tokens"]) and inside["rank"].equals(by_hand["rank"])
    assert (inside["log_probability"] - by_hand["log_probability"]).abs().max() < 1e-5
    assert not inside["rank"].equals(score_pairs(model, tokenizer, pairs)["rank"])


def test_ranks_that_are_known(tokenizer):
    table = torch.zeros(99)
    for word, value in (("w0", 5.0), ("w1", 4.0), ("w2", 4.0), ("w3", 4.0), ("w4", 3.0)):
        table[tokenizer.convert_tokens_to_ids(word)] = value
    targets = [" w0", " w1", " w4", " w0 w4", " w1 w1", " w50"]
    pairs = pl.DataFrame([{"pair_id": t, "keyword": "k", "prompt": "w9 w8", "target": t} for t in targets])
    scores = score_pairs(KnownModel(table), tokenizer, pairs, Scoring())
    assert scores["rank"].to_list() == [1, 2, 5, 3, 2, 6]
    assert scores["ties"].to_list() == [0, 2, 0, 0, 4, 93]
    assert scores["rank_midpoint"].to_list() == [1, 3, 5, 3, 3, 52.5]
    assert scores["rank_first"].to_list() == [1, 2, 5, 1, 2, 6]
    assert scores["tokens"].to_list() == [1, 1, 1, 2, 2, 1]
    assert scores["rank_share"].to_list() == [rank / 99 for rank in scores["rank"]]
    share = table.double().softmax(0)
    own = [float(share[tokenizer.convert_tokens_to_ids(word)]) for word in ("w0", "w4")]
    assert scores["probability"][3] == pytest.approx(sum(own) / 2, rel=1e-6)
    assert scores["log_probability"][3] == pytest.approx(
        torch.tensor(own, dtype=torch.float64).log().sum().item(), rel=1e-6
    )
    check_table(scores.to_arrow(), SCORES)


def test_many_rows_are_scored_in_pieces(tokenizer, monkeypatch):
    model, pairs = make_model(CONFIGS["gpt2"]), make_pairs()
    whole = score_pairs(model, tokenizer, pairs, Scoring())
    monkeypatch.setattr(logits, "_LOGIT_BYTES", {"cpu": 4 * ENTRIES * 3})
    monkeypatch.setattr(logits, "_MIN_ROWS", 1)
    pieces = score_pairs(model, tokenizer, pairs, Scoring())
    assert whole["rank"].equals(pieces["rank"])


def test_rows_of_any_scale_have_their_own_sums():
    rows = torch.tensor([[900.0, 901, 899, 900], [-900.0, -899, -901, -899], [0, 0, 0, 0]])
    rank, ties, found = logits.measure_logits(rows.clone(), torch.tensor([0, 2, 1]))
    assert (rank.tolist(), ties.tolist()) == ([2, 4, 1], [1, 0, 3])
    expected = rows.double().log_softmax(1)[[0, 1, 2], [0, 2, 1]]
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-6)


def test_bfloat16_head_is_applied_in_float32(tokenizer):
    model = make_model(CONFIGS["llama"]).bfloat16()
    scores = score_pairs(model, tokenizer, make_pairs(), Scoring())
    assert scores["ties"].sum() == 0  # logits rounded to bfloat16 would tie


def test_memory_that_runs_out_halves_the_batch(tokenizer, monkeypatch):
    model, pairs, sizes = make_model(CONFIGS["gpt2"]), make_pairs(), []
    expected = score_pairs(model, tokenizer, pairs, Scoring())
    true = batches.score_batch

    def small(project: Any, batch: Any, *more: Any) -> Any:
        sizes.append(len(batch))
        if len(batch) > 4:
            raise torch.cuda.OutOfMemoryError("no memory")
        return true(project, batch, *more)

    monkeypatch.setattr(batches, "score_batch", small)
    scores = score_pairs(model, tokenizer, pairs, Scoring(batch_tokens=400))
    assert scores["rank"].equals(expected["rank"])
    assert sizes[0] > 4
    assert sum(size for size in sizes if size <= 4) == len(pairs)


def test_memory_for_not_even_one_pair(tokenizer, monkeypatch):
    def never(*_: Any) -> Any:
        raise torch.cuda.OutOfMemoryError("no memory")

    monkeypatch.setattr(batches, "score_batch", never)
    with refuses("single pair"):
        score_pairs(make_model(CONFIGS["gpt2"]), tokenizer, make_pairs(), Scoring())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_name_pair_and_model(tokenizer, value):
    model = make_model(CONFIGS["gpt2"])
    with torch.no_grad():
        model.transformer.wpe.weight[12] = value
    with refuses("broken", "'p"):
        score_pairs(model, tokenizer, make_pairs(), Scoring(), name="broken")


@pytest.mark.parametrize("size", [1, 6, 100])
@pytest.mark.parametrize("wrong", [1, 4, 8])
def test_the_pair_with_numbers_that_are_not_finite_is_named_whatever_the_batch(tokenizer, wrong, size):
    table = torch.zeros(99, 99)
    table[tokenizer.convert_tokens_to_ids("w9")] = float("nan")
    prompts = [f"w{place} {'w9' if place == wrong else 'w8'}" for place in range(9)]
    pairs = pl.DataFrame(
        {"pair_id": [f"p{place}" for place in range(9)], "prompt": prompts, "target": [" w1 w2"] * 9}
    )
    with refuses("small", f"'p{wrong}'"):
        score_pairs(KnownModel(table), tokenizer, pairs, Scoring(batch_tokens=size), name="small")


def test_a_pair_longer_than_the_context_is_named(tokenizer):
    long = make_pairs(3).with_columns(prompt=pl.lit(" ".join(["w1"] * 50)))
    with refuses("3 of 3 pairs", "'p00' has 51", "longest 53", "small", "40 tokens", "pairs.max_tokens"):
        score_pairs(make_model(CONFIGS["gpt2"]), tokenizer, long, Scoring(), name="small")
    full = make_pairs(1).with_columns(prompt=pl.lit(" ".join(["w1"] * 40)))
    assert len(score_pairs(make_model(CONFIGS["gpt2"]), tokenizer, full, Scoring())) == 1
    longer = full.with_columns(prompt="w1 " + pl.col("prompt"))
    with refuses("1 of 1 pairs", "has 42"):
        score_pairs(make_model(CONFIGS["gpt2"]), tokenizer, longer, Scoring())


def test_targets_that_the_tokenizer_does_not_know_are_counted(tokenizer, caplog):
    pairs = make_pairs(3)
    with caplog.at_level("INFO", "fathom"):
        score_pairs(make_model(CONFIGS["gpt2"]), tokenizer, pairs, Scoring(), name="small")
        assert "unknown to the tokenizer" not in caplog.text
        strange = pairs.with_columns(target=pl.Series([" w1", " strange", " w2 strange"]))
        score_pairs(make_model(CONFIGS["gpt2"]), tokenizer, strange, Scoring(), name="small")
    assert "2 targets contain words unknown to the tokenizer of small" in caplog.text


def test_a_target_that_the_model_gives_no_logit_is_named(tokenizer):
    pairs = make_pairs(3).with_columns(target=pl.lit(" w70"))
    with refuses("'p00'", "72", "small", "60", "tokenizer"):
        score_pairs(KnownModel(torch.zeros(60)), tokenizer, pairs, Scoring(), name="small")


def test_pairs_that_stand_twice_or_lack_a_column(tokenizer):
    model, pairs = make_model(CONFIGS["gpt2"]), make_pairs(2)
    with refuses("'p00'"):
        score_pairs(model, tokenizer, pl.concat([pairs, pairs]), Scoring())
    with refuses("target"):
        score_pairs(model, tokenizer, pairs.drop("target"), Scoring())
    with refuses("pair_id", "keyword"):
        ranks.score_benchmarks(
            make_model(CONFIGS["gpt2"]), tokenizer, [pairs.drop("pair_id", "keyword")], Scoring()
        )


def test_no_pairs_give_an_empty_table(tokenizer):
    scores = score_pairs(make_model(CONFIGS["gpt2"]), tokenizer, make_pairs(1).clear(), Scoring())
    assert scores.is_empty()
    check_table(scores.to_arrow(), SCORES)


def test_importing_scoring_does_not_import_torch():
    code = "import sys, fathom.scoring, fathom.models.loading; sys.exit('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


@pytest.mark.parametrize(
    ("outputs", "reports"),
    [(["a"], ["c", "d"]), (["a", "a"], ["c", "d"]), (["a", "b"], ["a", "d"]), (["a", "p"], ["c", "d"])],
)
def test_files_that_would_overwrite_each_other(outputs, reports):
    with refuses("output", "report"):
        name_files(*(list(map(Path, names)) for names in (["p", "q"], outputs, reports)))


def test_the_program_takes_a_plain_folder_and_json_lines(tokenizer, tmp_path):
    model, pairs = make_model(CONFIGS["gpt2"]), make_pairs()
    save_model(tmp_path / "folder", model, tokenizer)
    write_json_lines(tmp_path / "pairs.jsonl", pairs.iter_rows(named=True))
    files = ("--pairs", f"x/tf={tmp_path / 'pairs.jsonl'}", "--scores", tmp_path / "scores.parquet")
    named = ("--model", tmp_path / "folder", "--finished", tmp_path / "finished")
    run_program("score_model", *named, *files, imports=MODELS)
    scores = read_table(tmp_path / "scores.parquet", SCORES)
    assert scores["rank"].equals(score_pairs(model, tokenizer, pairs, Scoring())["rank"])
    report = json.loads((tmp_path / "scores.json").read_text())
    assert report["model"] == "folder"
    assert report["pairs"] == 23
    assert set(report) == {
        "model", "fingerprint", "dtype", "device", "gpu", "torch", "transformers", "projection",
        "chat_template", "pairs_sha256", "together_with", "pairs", "backed_off", "ties",
        "gpus", "attention", "quantization", "adapter_of", "sharpness",
    }  # fmt: skip
    assert report["projection"] == "float32 output layer"
    assert (report["gpu"], report["transformers"]) == ("", transformers.__version__)


def test_the_programs_score_a_chat_model_inside_its_template(tokenizer, tmp_path):
    model, pairs, tokenizer = make_model(CONFIGS["gpt2"]), make_pairs(), copy.deepcopy(tokenizer)
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }} w4{% endfor %}"
    save_model(tmp_path / "weights", model, tokenizer)
    write_json_lines(tmp_path / "pairs.jsonl", pairs.iter_rows(named=True))
    write_models(tmp_path / "models.tsv", {"name": "m", "source": str(tmp_path / "weights"), "kind": "chat"})
    for command in (
        ["fetch_model.py", "--model", "m@chat", "--registry", "models.tsv", "--pointer", "model.json"],
        ["score_model.py", "--model", "model.json", "--pairs", "x/tf=pairs.jsonl", "--scores", "s.parquet",
         "--finished", "f", "--gpus", "2", "--settings", '{"scoring": {"device": "cpu"}}'],
    ):  # fmt: skip
        run_program(*command, folder=tmp_path, imports=MODELS)
    scores = read_table(tmp_path / "s.parquet", SCORES)
    assert scores["rank"].equals(score_pairs(model, tokenizer, pairs, chat_template=True)["rank"])
    report = json.loads((tmp_path / "s.json").read_text())
    assert (report["model"], report["chat_template"]) == ("m@chat", True)


def test_a_model_that_gives_every_token_the_same_logit_is_named(tokenizer, caplog):
    alike = KnownModel(torch.zeros(ENTRIES), 40)
    different = KnownModel(torch.arange(ENTRIES, dtype=torch.float32), 40)
    for model, warned in ((different, False), (alike, True)):
        caplog.clear()
        found = score_pairs(model, tokenizer, make_pairs(4))
        assert [record.levelname for record in caplog.records if "same logit" in record.message] == [
            "WARNING"
        ] * warned
    assert set(found["rank"].to_list()) == {1.0}
