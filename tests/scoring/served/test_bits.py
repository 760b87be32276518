"""Bits of a model behind a server are those of its weights; a server that gives too little says so."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.refusals import refuses
from tests.scoring.served.scoring import score
from tests.scoring.served.stub_server import NAME, Stub, serve
from tests.scoring.word_pairs import ENTRIES, make_known_pairs, save_word_model

from fathom.config.scoring import Scoring
from fathom.config.served import Served
from fathom.io.files import read_json, write_json_lines
from fathom.models.loading import load_model
from fathom.models.served import ServedModel, point_to_server
from fathom.scoring.ranks import score_benchmarks

IN_TURN = Served(timeout=30.0, retries=0, in_flight=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_word_model(tmp_path_factory.mktemp("served") / "tiny")


@pytest.fixture(scope="module")
def known(folder: Path) -> pl.DataFrame:
    return make_known_pairs(*load_model(folder))


@pytest.fixture
def stub(folder, monkeypatch):
    with serve(Stub(*load_model(folder)), monkeypatch) as served:
        yield served


@pytest.fixture
def pairs(tmp_path: Path, known: pl.DataFrame) -> Path:
    write_json_lines(tmp_path / "pairs.jsonl", known.iter_rows(named=True))
    return tmp_path / "pairs.jsonl"


def score_here(folder: Path, known: pl.DataFrame) -> pl.DataFrame:
    return score_benchmarks(*load_model(folder), [known], Scoring(device="cpu"))[0]


@pytest.mark.parametrize(("names", "requests"), [(True, 2), (False, 1)])
def test_bits_of_a_server_are_those_of_the_weights(stub, pairs, folder, known, names, requests):
    stub.names, stub.most = names, 20 if names else ENTRIES
    found, plain = score(stub, pairs, folder), score_here(folder, known)
    assert known["target"].str.split(" ").list[1].n_unique() > 128  # more than one request may name
    assert plain["bits"].is_finite().all() and plain["bits"].mean() > 0.3
    assert np.abs(found["bits"] - plain["bits"]).max() < 1e-4
    assert found.select("rank", "rival_rank", "rival").equals(plain.select("rank", "rival_rank", "rival"))
    assert found["ceiling"].to_list() == pytest.approx(plain["ceiling"].to_list())
    probes = 1 if names else 2
    assert len(stub.followed) == probes + requests * known["prompt"].n_unique()
    report = read_json(pairs.with_suffix(".json"))
    assert "no_bits" not in report and any(report["sharpness"])


SERVE, NAME_FOLDER = "`vllm serve MODEL --max-logprobs -1`", "give --tokenizer FOLDER"


@pytest.mark.parametrize(
    ("vllm", "text", "says"), [(True, False, SERVE), (False, False, SERVE), (True, True, NAME_FOLDER)]
)
def test_a_server_that_gives_too_little_says_what_to_type(stub, pairs, folder, vllm, text, says):
    stub.vllm, stub.names = vllm, False
    found = score(stub, pairs, None if text else folder)
    assert says in read_json(pairs.with_suffix(".json"))["no_bits"]
    assert ("bits" in found.columns) == (vllm and not text)
    assert len(stub.followed) == (2 if vllm and not text else 0)


def test_ranks_stay_where_there_are_no_bits(stub, pairs, folder, known, caplog):
    stub.names = False
    found = score(stub, pairs, folder)
    assert SERVE in caplog.text
    assert found["rank"].equals(score_here(folder, known)["rank"]) and found["bits"].is_nan().all()
    assert "greater than max allowed: 20" in read_json(pairs.with_suffix(".json"))["no_bits"]


def test_a_server_that_was_started_anew_is_asked_again_for_what_it_did_not_give(stub, folder):
    def make_key() -> Any:
        return ServedModel(point_to_server(f"{stub.url}#{NAME}", folder, IN_TURN), IN_TURN).key

    stub.names = False
    without = make_key()
    stub.most = ENTRIES
    given = make_key()
    stub.names = True
    assert without != given == make_key()


def test_a_stopped_run_asks_for_what_is_left(stub, pairs, folder, known):
    def stop(path: str, answer: dict[str, Any]) -> Any:
        return (503, "text/plain", "gone") if len(stub.followed) > 5 else answer

    stub.change = stop
    with refuses("127.0.0.1", "503", "are kept"):
        score(stub, pairs, folder, IN_TURN)
    asked = len(stub.asked)
    first = [(body["prompt"], body["logprob_token_ids"]) for body in stub.followed[1:5]]
    assert not pairs.with_suffix(".parquet").exists()
    stub.change = lambda _, answer: answer
    stub.followed.clear()
    found = score(stub, pairs, folder, IN_TURN)
    assert len(stub.asked) == asked
    assert not [body for body in stub.followed if (body["prompt"], body["logprob_token_ids"]) in first]
    assert np.abs(found["bits"] - score_here(folder, known)["bits"]).max() < 1e-4


def leave_out(lists: dict[str, float]) -> None:
    lists.pop(max(lists))


def set_numbers(value: Any) -> Any:
    return lambda lists: lists.update(dict.fromkeys(lists, value))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(leave_out, "log-probabilities after the prompt, none of token"), (set_numbers(-9999.0), "is -9999"),
     (set_numbers(2.5), "is 2.5"), (set_numbers(None), "none of token"), (set_numbers("x"), "is 'x'")],
)  # fmt: skip
def test_a_wrong_answer_is_one_message(stub, pairs, folder, wrong, message):
    def change(path: str, answer: dict[str, Any]) -> Any:
        if len(stub.followed) > 3:
            wrong(answer["choices"][0]["logprobs"]["top_logprobs"][0])
        return answer

    stub.change = change
    with refuses(stub.url, message, "pair 'p"):
        score(stub, pairs, folder, IN_TURN)
    assert not pairs.with_suffix(".parquet").exists()
