"""Ranks and bits by llama.cpp's server: those of the weights, one request a token; what it cannot give."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.refusals import refuses
from tests.scoring.served.scoring import score
from tests.scoring.served.stub_server import NAME, Stub, serve
from tests.scoring.word_pairs import WORDS, make_known_pairs, save_word_model
from tests.tiny import make_word_tokenizer

from fathom.commands.main import main
from fathom.config.scoring import Perplexity, Scoring
from fathom.config.served import Served
from fathom.io.files import read_json, write_json_lines
from fathom.models.folders import save_model
from fathom.models.loading import load_model
from fathom.models.served import ServedModel, point_to_server
from fathom.models.tokens import encode_pairs
from fathom.scoring.ranks import score_benchmarks
from fathom.scoring.text_bits import measure_text

IN_TURN = Served(timeout=30.0, retries=0, in_flight=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_word_model(tmp_path_factory.mktemp("served") / "tiny")


@pytest.fixture(scope="module")
def known(folder: Path) -> pl.DataFrame:
    pairs = make_known_pairs(*load_model(folder))
    two = pairs.head(1).with_columns(pair_id=pl.lit("two"), target=pairs["target"][:1] + pairs["target"][5])
    return pl.concat([pairs, two])


@pytest.fixture
def stub(folder, monkeypatch):
    with serve(Stub(*load_model(folder), vllm=False, llamacpp=True), monkeypatch) as served:
        yield served


@pytest.fixture
def pairs(tmp_path: Path, known: pl.DataFrame) -> Path:
    write_json_lines(tmp_path / "pairs.jsonl", known.iter_rows(named=True))
    return tmp_path / "pairs.jsonl"


def score_here(folder: Path, known: pl.DataFrame) -> pl.DataFrame:
    return score_benchmarks(*load_model(folder), [known], Scoring(device="cpu"))[0]


def count_places(folder: Path, known: pl.DataFrame) -> int:
    _, tokenizer = load_model(folder)
    encoded = encode_pairs(tokenizer, known["prompt"].to_list(), known["target"].to_list(), None, [])
    return len({tuple(pair.ids[:place]) for pair in encoded for place in range(pair.start, len(pair.ids))})


def test_ranks_and_bits_are_those_of_the_weights(stub, pairs, folder, known):
    found, plain = score(stub, pairs, folder), score_here(folder, known)
    exact = ("pair_id", "tokens", "rank", "rank_first", "rival_rank", "rival")
    assert found.select(exact).equals(plain.select(exact)) and found["tokens"].max() > 1
    assert np.abs(found["log_probability"] - plain["log_probability"]).max() < 1e-5
    assert np.abs(found["bits"] - plain["bits"]).max() < 1e-4 and plain["bits"].mean() > 0.3
    assert len(stub.asked) == count_places(folder, known) + 1  # and one probe
    assert not any(body["cache_prompt"] for body in stub.asked)
    report = read_json(pairs.with_suffix(".json"))
    assert "no_bits" not in report and any(report["sharpness"])
    assert "owned_by llamacpp" in report["server_says"] and "build b1-stub" in report["server_says"]


def test_a_stopped_run_asks_for_what_is_left(stub, pairs, folder, known):
    stub.change = lambda _, answer: (503, "text/plain", "gone") if len(stub.asked) > 5 else answer
    with refuses("127.0.0.1", "503", "are kept"):
        score(stub, pairs, folder, IN_TURN)
    assert not pairs.with_suffix(".parquet").exists()
    answered = [body["prompt"] for body in stub.asked[1:5]]
    stub.change = lambda _, answer: answer
    stub.asked.clear()
    found = score(stub, pairs, folder, IN_TURN)
    assert not [body for body in stub.asked if body["prompt"] in answered]
    assert found["rank"].equals(score_here(folder, known)["rank"])


def test_what_would_be_sent_is_told_and_nothing_scored(stub, pairs, folder, known, capsys):
    main(["score", f"{stub.url}#{NAME}", str(pairs), "--tokenizer", str(folder), "--dry-run"])
    said = capsys.readouterr().out
    assert f'"requests": {count_places(folder, known)}' in said and '"ranks": "exact"' in said
    assert not pairs.with_suffix(".parquet").exists()


def test_text_is_refused_before_anything_is_asked(stub, pairs, folder):
    with refuses("--tokenizer", stub.url):
        score(stub, pairs, None)
    model = ServedModel(point_to_server(f"{stub.url}#{NAME}", folder, IN_TURN), IN_TURN)
    texts = pl.DataFrame({"doc_id": ["a"], "text": ["w1 w2 w3"]})
    with refuses("own tokens", "GGUF file", stub.url):
        measure_text(model, texts, Perplexity(window=38, stride=10))
    assert stub.asked == []


def test_bits_of_texts_are_refused_before_another_model_is_measured(stub, folder, tmp_path, capsys):
    (tmp_path / "text.txt").write_text("The agent learns a policy .")
    shutil.copytree(folder, tmp_path / "here")
    models = f"{tmp_path / 'here'},{stub.url}#{NAME}"
    with pytest.raises(SystemExit):
        main(["bits", str(tmp_path / "text.txt"), "--models", models, "--tokenizer", str(folder)])
    said = capsys.readouterr()
    assert said.err.count("Error:") == 1 and "own tokens" in said.err and not said.out


def test_another_tokenizer_is_found_out_before_pairs_are_asked(stub, pairs, folder, tmp_path):
    other = make_word_tokenizer(list(reversed(WORDS)))
    save_model(tmp_path / "other", load_model(folder)[0], other)
    with refuses("are other texts in this tokenizer", "--tokenizer"):
        score(stub, pairs, tmp_path / "other")
    assert len(stub.asked) == 1


def drop_entry(place: dict[str, Any]) -> None:
    place["top_logprobs"].pop()


def repeat_entry(place: dict[str, Any]) -> None:
    place["top_logprobs"][0] = place["top_logprobs"][1]


def make_certain(place: dict[str, Any]) -> None:
    for each in place["top_logprobs"]:
        each["logprob"] = -0.5


def name_no_number(place: dict[str, Any]) -> None:
    place["top_logprobs"][3]["logprob"] = "x"


def generate_another(place: dict[str, Any]) -> None:
    place["id"] += 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(drop_entry, "entries after the prompt; the vocabulary has"), (repeat_entry, "the vocabulary has"),
     (make_certain, "add up to"), (name_no_number, "no id or log-probability"),
     (generate_another, "was to be generated"), (dict.clear, "was to be generated")],
)  # fmt: skip
@pytest.mark.parametrize("first", [True, False])
def test_a_wrong_answer_is_one_message(stub, pairs, folder, wrong, message, first):
    def change(path: str, answer: dict[str, Any]) -> Any:
        if path.endswith("completions") and (first or len(stub.asked) > 3):
            wrong(answer["choices"][0]["logprobs"]["content"][0])
        return answer

    stub.change = change
    with refuses(stub.url, message):
        score(stub, pairs, folder, IN_TURN)
    assert not pairs.with_suffix(".parquet").exists()
