"""Perplexity against a loop over single tokens; windows, BOS, bytes, batches."""

import json
import math
from typing import Any

import polars as pl
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.programs import MODELS, run_program
from tests.refusals import refuses
from tests.tiny import KnownModel, make_config, make_model, make_word_tokenizer
from transformers import BloomConfig, PreTrainedTokenizerFast

from fathom.config.scoring import Perplexity, Scoring
from fathom.config.whole import read_config
from fathom.corpus.held_out import SPLIT, select_held_out
from fathom.io.contracts.benchmark import HELD_OUT_OVERLAP
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.scoring import PERPLEXITY
from fathom.io.files import hash_file
from fathom.io.tables import check_table, read_table, write_table
from fathom.models.folders import save_model
from fathom.models.loading import Pointer
from fathom.models.open_model import OpenModel
from fathom.models.tokens import Document
from fathom.scoring.perplexity import (
    Windows,
    cut_windows,
    fit_windows,
    join_stretches,
    plan_perplexity,
    score_texts,
    sum_likelihoods,
)

CONTEXT = 20
SMALL = {"width": 16, "heads": 2, "initializer_range": 0.5}
CONFIGS = {
    "gpt2": make_config("gpt2", 52, CONTEXT, **SMALL),
    "llama": make_config("llama", 52, CONTEXT, **SMALL),
    "gemma2": make_config("gemma2", 52, CONTEXT, **SMALL, sliding_window=6, final_logit_softcapping=3.0),
}


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_word_tokenizer((f"w{n}" for n in range(50)), eos_token="<s>")


def make_texts(*lengths: int) -> pl.DataFrame:
    texts = [
        " ".join(f"w{(number * 31 + place * place) % 50}" for place in range(length))
        for number, length in enumerate(lengths)
    ]
    return pl.DataFrame({"doc_id": [f"d{number:02d}" for number in range(len(texts))], "text": texts})


def measure_plainly(model: Any, ids: list[int], windows: Windows, bos: int | None) -> list[float]:
    """Return the negative log-probability of each token, each from a pass of its own over its context."""
    before = [] if bos is None else [bos]
    room = windows.window + 1 - len(before)
    nats = []
    for place in range(1 - len(before), len(ids)):
        further = max(0, math.ceil((place + 1 - room) / windows.stride))  # windows after the first one
        left = max(0, min(len(ids), room + further * windows.stride) - room)
        with torch.no_grad():
            logits = model(torch.tensor([[*before, *ids[left:place]]])).logits[0, -1].double()
        nats.append(-float(logits.log_softmax(0)[ids[place]]))
    return nats


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("windows", [(20, 20), (20, 7), (20, 1), (5, 3), (1, 1)])
@pytest.mark.parametrize("add_bos", [True, False])
def test_same_as_one_token_at_a_time(name, windows, add_bos, tokenizer):
    model, texts = make_model(CONFIGS[name]), make_texts(50, 3, 20, 21, 1)
    scores = score_texts(model, tokenizer, texts, Windows(*windows), 64, add_bos)
    check_table(scores.to_arrow(), PERPLEXITY)
    for text, row in zip(texts["text"], scores.iter_rows(named=True), strict=True):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        plain = measure_plainly(model, ids, Windows(*windows), 1 if add_bos else None)
        assert row["tokens"] == len(plain) == len(ids) - (not add_bos)
        assert row["nats"] == pytest.approx(math.fsum(plain), abs=1e-4 * max(1, len(plain)))
        first = len(text.split()[0])
        assert row["bytes_left_out"] == (0 if add_bos else first)
        assert row["bytes"] == len(text) - row["bytes_left_out"]


def test_the_perplexity_of_a_uniform_model_is_the_size_of_its_vocabulary(tokenizer):
    texts = make_texts(70, 5)
    total = sum_likelihoods(
        score_texts(KnownModel(torch.zeros(52)), tokenizer, texts, Windows(20, 10), 64, add_bos=True)
    )
    assert total.perplexity == pytest.approx(52, rel=1e-6)
    assert total.tokens == 75
    size = sum(len(text.encode()) for text in texts["text"])
    assert total.bits_per_byte == pytest.approx(75 * math.log2(52) / size, rel=1e-6)


def test_a_known_distribution_weighs_tokens_not_documents(tokenizer):
    share = torch.full((52,), 0.25 / 50)
    share[tokenizer.convert_tokens_to_ids("w0")] = 0.5
    share[tokenizer.convert_tokens_to_ids("w1")] = 0.25
    texts = pl.DataFrame({"doc_id": ["a", "b"], "text": ["w0 w0 w0", "w1"]})
    scores = score_texts(KnownModel(share.log()), tokenizer, texts, Windows(20, 10), 64, add_bos=True)
    assert sum_likelihoods(scores).perplexity == pytest.approx(2 ** (5 / 4), rel=1e-6)
    assert sum_likelihoods(scores).bits_per_byte == pytest.approx(5 / (8 + 2), rel=1e-6)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_batch_is_like_one_at_a_time(name, tokenizer):
    model, texts = make_model(CONFIGS[name]), make_texts(50, 3, 20, 21, 1, 9, 130)
    alone = score_texts(model, tokenizer, texts, Windows(20, 10), 1, add_bos=True)
    together = score_texts(model, tokenizer, texts, Windows(20, 10), 100_000, add_bos=True)
    turned = score_texts(model, tokenizer, texts.reverse(), Windows(20, 10), 90, add_bos=True).reverse()
    for other in (together, turned):
        assert alone.drop("nats").equals(other.drop("nats"))
        assert (alone["nats"] - other["nats"]).abs().max() < 1e-3


def test_bfloat16_is_near(tokenizer):
    model, texts = make_model(CONFIGS["llama"]), make_texts(50, 9)
    exact = sum_likelihoods(score_texts(model, tokenizer, texts, Windows(20, 10), 64, add_bos=True))
    near = sum_likelihoods(score_texts(model.bfloat16(), tokenizer, texts, Windows(20, 10), 64, add_bos=True))
    assert near.nats != exact.nats
    assert near.nats == pytest.approx(exact.nats, rel=0.02)


def test_copies_share_the_work_and_change_nothing(tokenizer):
    copies, texts = [make_model(CONFIGS["llama"]), make_model(CONFIGS["llama"])], make_texts(70, 3, 25, 9, 30)
    read = [0, 0]
    for place, each in enumerate(copies):

        def count(*_: Any, place: int = place) -> None:
            read[place] += 1

        each.get_input_embeddings().register_forward_hook(count)
    alone = score_texts(make_model(CONFIGS["llama"]), tokenizer, texts, Windows(20, 10), 64, add_bos=True)
    assert score_texts(copies, tokenizer, texts, Windows(20, 10), 64, add_bos=True).equals(alone)
    assert min(read) > 1 and abs(read[0] - read[1]) <= 1


@settings(max_examples=300)
@given(
    count=st.integers(0, 60), start=st.integers(1, 4), window=st.integers(1, 25),
    stride=st.integers(1, 25), bos=st.booleans(),
)  # fmt: skip
@example(count=6, start=2, window=1, stride=1, bos=False)  # the first window holds no token to score
def test_every_token_is_scored_once(count, start, window, stride, bos):
    stride = min(stride, window)
    start = 0 if bos else start
    ids = list(range(100, 100 + count))  # each token is its own place
    scored = []
    for number, found in enumerate(
        cut_windows(Document(ids, 7 if bos else None, start, 0, 0), Windows(window, stride))
    ):
        assert 1 <= len(found.ids) <= window
        assert (found.ids[0] == 7) == bos and 7 not in found.ids[1:]
        assert number == 0 or len(found.targets) <= stride
        for place, token in found.targets:
            own = [i for i in found.ids[: place + 1] if i != 7]
            assert own == list(range(token - len(own), token))  # what stands right before it
            assert len(own) >= min(token - 100, window - stride + (not bos))
            scored.append(token - 100)
    assert scored == list(range(start, count))


def test_a_short_context_shortens_window_and_stride():
    model = make_model(CONFIGS["gpt2"])
    assert fit_windows(model, Perplexity()) == (20, 10)
    assert fit_windows(model, Perplexity(window=10, stride=3)) == (10, 3)
    assert fit_windows(model, Perplexity(window=1000, stride=1)) == (20, 1)
    unlimited = KnownModel(torch.zeros(52))
    unlimited.config = BloomConfig()
    assert fit_windows(unlimited, Perplexity()) == (1024, 512)


def test_a_stride_larger_than_the_window_is_an_error():
    values = {"domains": {"a": {"categories": ["a"]}}, "pairs": {"tokenizer": "t"}}
    with refuses("stride 9", "window 8"):
        read_config(values | {"perplexity": {"window": 8, "stride": 9}}, "x.yaml")


def make_split(count: int) -> pl.DataFrame:
    splits = ["adapt-train", "adapt-valid", SPLIT]
    return pl.DataFrame({
        "doc_id": [f"d{n:02d}" for n in range(count)],
        "split": [splits[n % 3] for n in range(count)],
        "text": [" \n" if n == 5 else f"w{n} w1 w2" for n in range(count)],
    })  # fmt: skip


def test_held_out_documents_are_chosen_whole_and_by_a_hash():
    texts = make_split(30)
    chosen, counts = select_held_out(texts, 10**6)
    assert len(chosen) == 9
    assert counts == {"documents_in_split": 10, "documents_without_text": 1, "documents_over_limit": 0}
    assert select_held_out(texts.reverse(), 10**6)[0].equals(chosen)
    fewer, counts = select_held_out(texts, sum(len(text) for text in chosen["text"][:4]))
    assert fewer.equals(chosen.head(4))
    assert counts["documents_over_limit"] == 5
    assert len(select_held_out(texts, 1)[0]) == 1


def test_an_empty_split_is_said_and_gives_no_row(tokenizer, caplog):
    with caplog.at_level("INFO", "fathom"):
        chosen, counts = select_held_out(make_split(2), 100)
    assert "split adapt-test has no text" in caplog.text
    assert counts["documents_in_split"] == 0
    scores = score_texts(make_model(CONFIGS["gpt2"]), tokenizer, chosen, Windows(20, 10), 64)
    check_table(scores.to_arrow(), PERPLEXITY)
    total = sum_likelihoods(scores)
    assert math.isnan(total.perplexity) and math.isnan(total.bits_per_byte)


def test_numbers_that_are_not_finite_name_document_and_model(tokenizer):
    model = make_model(CONFIGS["gpt2"])
    with torch.no_grad():
        model.transformer.wpe.weight[12] = float("nan")
    with refuses("broken", "'d01'"):
        score_texts(model, tokenizer, make_texts(5, 30, 4), Windows(20, 10), 64, name="broken")


@pytest.mark.parametrize("name", CONFIGS)
def test_text_that_occurs_in_training_text_is_summed_up_apart(name, tokenizer, tmp_path):
    model, texts = make_model(CONFIGS[name]), make_texts(50, 3)
    text = texts["text"][0]
    words = text.split()
    start = len(" ".join(words[:10]))
    end = start + len(" " + " ".join(words[10:16]))
    rows = {"doc_id": ["d00"], "start": [start], "end": [end]}
    write_table(tmp_path / "overlap.parquet", pl.DataFrame(rows), HELD_OUT_OVERLAP)
    joined = join_stretches(texts, tmp_path / "overlap.parquet")
    found = score_texts(model, tokenizer, joined, Windows(20, 7), 64, True)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    plain = measure_plainly(model, ids, Windows(20, 7), 1)
    first = found.row(0, named=True)
    assert (first["tokens"], first["tokens_overlap"]) == (44, 6)
    assert first["nats_overlap"] == pytest.approx(math.fsum(plain[10:16]), abs=1e-3)
    assert first["nats"] == pytest.approx(math.fsum(plain[:10] + plain[16:]), abs=1e-2)
    assert (first["bytes"], first["bytes_overlap"]) == (len(text) - (end - start), end - start)
    assert found.row(1) == score_texts(model, tokenizer, texts, Windows(20, 7), 64, True).row(1)


def test_what_is_measured_of_files_is_reported_with_what_occurs_in_training_text(tokenizer, tmp_path):
    model, texts = make_model(CONFIGS["llama"]), make_split(30)
    save_model(tmp_path / "folder", model, tokenizer)
    paths = [tmp_path / "texts.parquet", tmp_path / "overlap.parquet"]
    write_table(paths[0], texts, TEXTS)
    chosen, counts = select_held_out(texts, 40)
    first = chosen.row(1, named=True)
    rows = {"doc_id": [first["doc_id"]], "start": [first["text"].index(" w1")], "end": [len(first["text"])]}
    write_table(paths[1], pl.DataFrame(rows), HELD_OUT_OVERLAP)
    settings = Perplexity(max_characters=40)
    plan = plan_perplexity("x", paths[0], tmp_path / "a.parquet", settings, paths[1])
    assert plan.inputs == paths and plan.outputs == [tmp_path / "a.parquet", tmp_path / "a.json"]
    assert plan_perplexity("x", paths[0], tmp_path / "a.parquet", settings).inputs == paths[:1]
    plan.measure(OpenModel(Pointer("small", tmp_path / "folder"), Scoring(device="cpu")), plan.outputs, None)
    scores, report = read_table(plan.outputs[0], PERPLEXITY), json.loads(plan.outputs[1].read_text())
    assert 1 < len(chosen) == scores.height < 9
    total = sum_likelihoods(scores)
    sums = {name: scores[name].sum() for name in ("tokens_left_out", "bytes_left_out", "tokens_overlap")}
    expected = {"model": "small", "texts_sha256": hash_file(paths[0]), "bos": False,
                "documents": len(chosen) - 1,  # of one no token counts
                **counts, "tokens": total.tokens, "bytes": total.bytes, "nats": total.nats, **sums,
                "bytes_overlap": scores["bytes_overlap"].sum(), "nats_overlap": scores["nats_overlap"].sum(),
                "perplexity": total.perplexity, "bits_per_byte": total.bits_per_byte}  # fmt: skip
    assert {name: report[name] for name in expected} == pytest.approx(expected) and report["nats_overlap"] > 0


def test_the_program(tokenizer, tmp_path):
    model, texts = make_model(CONFIGS["llama"]), make_split(30)
    save_model(tmp_path / "folder", model, tokenizer)
    write_table(tmp_path / "texts.parquet", texts, TEXTS)
    run_program(
        "score_model", "--model", tmp_path / "folder", "--finished", tmp_path / "finished",
        "--texts", f"x={tmp_path / 'texts.parquet'}", "--perplexity", tmp_path / "scores.parquet",
        "--settings", '{"scoring": {"device": "cpu"}}', imports=MODELS,
    )  # fmt: skip
    scores = read_table(tmp_path / "scores.parquet", PERPLEXITY)
    chosen, _ = select_held_out(texts, 10**6)
    assert scores.equals(score_texts(model, tokenizer, chosen, Windows(20, 10), 4096))
    report = json.loads((tmp_path / "scores.json").read_text())
    assert report["perplexity"] == pytest.approx(sum_likelihoods(scores).perplexity)
    assert {report[key] for key in ("tokens", "documents", "tokens_left_out")} == {18, 9}
    assert (report["window"], report["stride"], report["bos"], report["split"]) == (20, 10, False, SPLIT)
    assert report["bytes"] + report["bytes_left_out"] == sum(len(text) for text in chosen["text"])
