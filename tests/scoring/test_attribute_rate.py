"""Attribute rates of a model whose next tokens are known, and of tiny models against a plain loop."""

import json

import numpy as np
import polars as pl
import pytest
import torch
from tests.programs import MODELS, run_program
from tests.refusals import refuses
from tests.tiny import KnownModel, make_config, make_model, make_word_tokenizer

from fathom.config.scoring import AttributeRate, Scoring
from fathom.io.contracts.benchmark import MATCHES, SENTENCE_OVERLAP
from fathom.io.contracts.scoring import ATTRIBUTE_RATES, TOKEN_LISTS
from fathom.io.files import hash_file
from fathom.io.tables import check_table, make_empty_table, read_table, write_table
from fathom.models.folders import save_model
from fathom.models.loading import Pointer
from fathom.models.open_model import OpenModel
from fathom.scoring import attribute_rate
from fathom.scoring.attribute_rate import measure_attribute_rates, plan_attribute_rate, scan_sentences

SIZE = 60
CONFIGS = {
    kind: make_config(kind, SIZE, 12, width=16, heads=2, initializer_range=0.5) for kind in ("gpt2", "gemma2")
}
PROMPTS = {"deep nets": [5, 6], "policy": [9], "a long one": [3, 4, 5, 6, 7, 8]}


def test_a_known_distribution():
    table = torch.zeros(8, 8)
    table[6] = torch.tensor([9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0])
    table[7] = torch.tensor([2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    content = np.array([False, True, True, False, True, True, True, False])
    lists = {"up": [1, 4, 6], "down": [1, 4, 6, 0]}
    rates = measure_attribute_rates(KnownModel(table), {"up": [7], "down": [0, 6]}, lists, content, 3, 64)
    check_table(rates.to_arrow(), ATTRIBUTE_RATES)
    # after 6 the most likely content tokens are 1, 2, 4; after 7 they are 6, 5, 4
    assert rates.rows() == [("down", 2 / 3, 2, 4), ("up", 2 / 3, 2, 3)]
    rates = measure_attribute_rates(KnownModel(table), {"up": [7], "down": [0, 6]}, lists, content, 1, 64)
    assert rates["rate"].to_list() == [1.0, 1.0]


def test_ties_go_to_the_first_token_and_entries_beyond_the_tokenizer_are_no_token():
    table = torch.zeros(5, 9)
    table[:, 8] = 99.0
    content = np.array([False, True, True, True, True])
    for listed, hits in (([1, 2], 2), ([3, 4], 0), ([8], 0)):
        rates = measure_attribute_rates(KnownModel(table), {"k": [1]}, {"k": listed}, content, 2, 64)
        assert rates["hits"].to_list() == [hits]


def test_a_keyword_without_a_list_and_a_list_shorter_than_k():
    content = np.ones(5, dtype=bool)
    rates = measure_attribute_rates(
        KnownModel(torch.zeros(5, 5)), {"a": [1], "b": [2]}, {"b": [0]}, content, 4, 64
    )
    assert rates.rows() == [("a", 0.0, 0, 0), ("b", 0.25, 1, 1)]


def test_a_small_vocabulary_is_looked_at_whole(caplog):
    content = np.array([True, True, False])
    with caplog.at_level("INFO", "fathom"):
        rates = measure_attribute_rates(KnownModel(torch.zeros(3)), {"a": [1]}, {"a": [0]}, content, 50, 64)
    assert rates.rows() == [("a", 0.5, 1, 1)]
    assert "has only 2 content words: k = 50 is lowered" in caplog.text


@pytest.mark.parametrize("name", CONFIGS)
def test_same_as_a_plain_loop_in_any_batch(name):
    model = make_model(CONFIGS[name])
    random = np.random.default_rng(0)
    content = random.random(SIZE) < 0.6
    lists = {keyword: random.choice(SIZE, 20, replace=False).tolist() for keyword in PROMPTS}
    expected = {}
    for keyword, ids in PROMPTS.items():
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1]
        best = [i for i in logits.argsort(descending=True).tolist() if content[i]][:10]
        expected[keyword] = len(set(best) & set(lists[keyword]))
    assert len(set(expected.values())) > 1
    for budget in (1, 8, 1000):
        rates = measure_attribute_rates(model, PROMPTS, lists, content, 10, budget)
        assert dict(zip(rates["keyword"], rates["hits"], strict=True)) == expected
        assert rates["rate"].to_list() == [hits / 10 for hits in rates["hits"]]


@pytest.mark.parametrize(("budget", "sizes"), [(1, [1] * 4), (4, [1, 2, 1]), (6, [2, 2])])
def test_a_batch_has_no_more_tokens_than_asked_for(budget, sizes, monkeypatch):
    read, seen = attribute_rate.read_next_logits, []

    def count(model, projection, prompts):
        seen.append(len(prompts))
        return read(model, projection, prompts)

    monkeypatch.setattr(attribute_rate, "read_next_logits", count)
    prompts = {"c": [1, 2, 3], "b": [1, 2], "d": [1], "a": [2]}
    measure_attribute_rates(KnownModel(torch.zeros(5)), prompts, {}, np.ones(5, dtype=bool), 2, budget)
    assert seen == sizes


def test_numbers_that_are_not_finite_name_keyword_and_model():
    table = torch.zeros(9, 9)
    table[8, 3] = float("nan")
    with refuses("broken", "'odd'"):
        measure_attribute_rates(
            KnownModel(table), {"fine": [1], "odd": [1, 8]}, {}, np.ones(9, dtype=bool), 3, 64, name="broken"
        )


def test_a_keyword_longer_than_the_context_is_named():
    with refuses("'k'", "13 tokens", "small", "12"):
        measure_attribute_rates(
            make_model(CONFIGS["gpt2"]), {"k": [1] * 13}, {}, np.ones(9, dtype=bool), 3, 64, name="small"
        )
    full = {"k": [1] * 12}
    assert (
        len(measure_attribute_rates(make_model(CONFIGS["gpt2"]), full, {}, np.ones(9, dtype=bool), 3, 64))
        == 1
    )


def test_what_is_measured_of_files_leaves_out_training_text_and_counts_it(tmp_path):
    words = ["the", *(f"word{number}" for number in range(SIZE - 3))]
    model, tokenizer = make_model(CONFIGS["gpt2"]), make_word_tokenizer(words)
    save_model(tmp_path / "folder", model, tokenizer)
    (tmp_path / "stopwords.txt").write_text("the\n")
    texts = [("word1", "word3 word4 word5"), ("word1", "word3 word6"), ("word2", "word7 word8 the"),
             ("word0", "word4"), ("word2", "word5 word9 word8")]  # fmt: skip
    rows = {"keyword": [each for each, _ in texts], "doc_id": ["d"] * 5, "position": [*range(5)],
            "clean": [text for _, text in texts], "cosine": [0.9] * 5}  # fmt: skip
    frame = pl.DataFrame(rows, make_empty_table(MATCHES).schema).sort("keyword", maintain_order=True)
    write_table(tmp_path / "sentences.parquet", frame, MATCHES)
    seen = ["word3 word6", "word4"]
    write_table(tmp_path / "overlap.parquet", pl.DataFrame({"clean": seen}), SENTENCE_OVERLAP)
    settings, output = AttributeRate(k=3, list_length=2), tmp_path / "a.b.parquet"
    files = [tmp_path / name for name in ("sentences.parquet", "stopwords.txt", "overlap.parquet")]
    plan = plan_attribute_rate("x", *files[:2], output, settings, files[2])
    assert plan.inputs == files and plan_attribute_rate("x", *files[:2], output, settings).inputs == files[:2]
    opened = OpenModel(Pointer("small", tmp_path / "folder"), Scoring(device="cpu"))
    plan.measure(opened, plan.outputs, None)
    assert [path.name for path in plan.outputs] == ["a.b.parquet", "a.b.token-lists.parquet", "a.b.json"]

    rates, lists = read_table(plan.outputs[0], ATTRIBUTE_RATES), read_table(plan.outputs[1], TOKEN_LISTS)
    owned = {str(name): group["token_id"].to_list() for (name,), group in lists.group_by("keyword")}
    assert owned.keys() == {"word1", "word2"} and set(rates["list_length"]) == {2}
    content = np.array([False] * 3 + [True] * (SIZE - 3))
    prompts = {name: tokenizer(name, add_special_tokens=False)["input_ids"] for name in owned}
    assert rates.equals(measure_attribute_rates(model, prompts, owned, content, 3, 64))
    report = json.loads(plan.outputs[2].read_text())
    hashes = {f"{path.stem}_sha256": hash_file(path) for path in files[:2]}
    expected = {"model": "small", "bos": False, "k": 3, "list_length": 2, "content_tokens": SIZE - 3,
                "keywords": 2, "keywords_overlap": 1, "sentences_overlap": 2, "lists_shorter_than_k": 2,
                "attribute_rate": pytest.approx(rates["rate"].mean()), **hashes}  # fmt: skip
    assert {name: report[name] for name in expected} == expected
    long = plan_attribute_rate("x", *files[:2], output, AttributeRate(k=2, list_length=2), files[2])
    long.measure(opened, long.outputs, None)
    assert json.loads(plan.outputs[2].read_text())["lists_shorter_than_k"] == 0  # as long as k

    for inputs, hint in ((files, "train on other documents"), (files[:2], "sentences.json")):
        kept = frame.filter(pl.col("clean").is_in(seen)) if len(inputs) > 2 else frame.clear()
        write_table(tmp_path / "sentences.parquet", kept, MATCHES)
        with refuses("no keyword has a sentence", hint):
            plan_attribute_rate("x", *inputs[:2], output, settings, *inputs[2:]).measure(
                opened, plan.outputs, None
            )


def test_the_program(tmp_path):
    words = ["the", *(f"word{number}" for number in range(SIZE - 3))]
    save_model(tmp_path / "folder", make_model(CONFIGS["gemma2"]), make_word_tokenizer(words))
    (tmp_path / "stopwords.txt").write_text("the\nword9\n")
    sentences = [
        {"keyword": f"word{place} word1", "doc_id": "d", "position": 0, "cosine": 0.9,
         "clean": " ".join(["the", "word9", *(f"word{n}" for n in range(10 * place, 10 * place + 20))])}
        for place in range(3)
    ]  # fmt: skip
    frame = pl.DataFrame(sentences).with_columns(pl.col("position").cast(pl.Int32))
    write_table(tmp_path / "sentences.parquet", frame, MATCHES)
    run_program(
        "score_model", "--model", tmp_path / "folder", "--finished", tmp_path / "finished",
        "--sentences", f"x={tmp_path / 'sentences.parquet'}", "--rates", tmp_path / "rates.parquet",
        "--wordlists", tmp_path,
        "--settings", '{"attribute_rate": {"k": 25, "list_length": 19}, "scoring": {"device": "cpu"}}',
        imports=MODELS,
    )  # fmt: skip
    rates = read_table(tmp_path / "rates.parquet", ATTRIBUTE_RATES)
    lists = read_table(tmp_path / "rates.token-lists.parquet", TOKEN_LISTS)
    assert rates["list_length"].to_list() == [19, 19, 19]  # word9 is a stopword, or the twentieth is cut off
    assert not {"the", "word9"} & set(lists["token"])
    assert 0 < rates["hits"].sum() < 57
    report = json.loads((tmp_path / "rates.json").read_text())
    assert report["attribute_rate"] == pytest.approx(rates["rate"].mean())
    assert (report["content_tokens"], report["lists_shorter_than_k"], report["keywords"]) == (SIZE - 4, 3, 3)


def test_sentences_in_training_text_count_for_no_keyword(tmp_path):
    texts = ["only one", "a first", "a second"]
    rows = {"keyword": ["k", "l", "l"], "doc_id": ["d"] * 3, "position": [0, 1, 2], "clean": texts,
            "cosine": [0.9] * 3}  # fmt: skip
    schema = make_empty_table(MATCHES).schema
    write_table(tmp_path / "sentences.parquet", pl.DataFrame(rows, schema), MATCHES)
    write_table(tmp_path / "overlap.parquet", pl.DataFrame({"clean": texts[:2]}), SENTENCE_OVERLAP)
    files = tmp_path / "sentences.parquet", tmp_path / "overlap.parquet"
    found = {keyword: group["clean"].to_list() for keyword, group in scan_sentences(*files)}
    assert found == {"l": ["a second"]}
    assert [keyword for keyword, _ in scan_sentences(files[0])] == ["k", "l"]
