"""Scoring by a server: the same ranks as with the weights; what needs the weights is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.programs import MODELS, run_command, run_program
from tests.refusals import refuses
from tests.scoring.served.scoring import PAIRS, QUICK, count_sentences, score, score_here
from tests.scoring.served.stub_server import NAME
from tests.tables import write_models

from fathom.commands.score import open_served
from fathom.config.scoring import Scoring
from fathom.config.served import Served
from fathom.errors import InputError
from fathom.io.contracts.scoring import SCORES, TOP_SCORES
from fathom.io.files import read_json, write_json, write_json_lines
from fathom.io.tables import read_table
from fathom.models.fetching import find_pointer, locate_model, locate_pointer
from fathom.models.loading import load_model
from fathom.models.open_model import OpenModel
from fathom.models.registry import KEY_VARIABLE, read_registry
from fathom.models.served import point_to_server
from fathom.scoring import notebook


def test_ranks_of_a_server_are_those_of_the_weights(stub, pairs, folder):
    found, plain = score(stub, pairs, folder), score_here(folder)
    near = ("probability", "log_probability", "bits")
    assert found.drop(near).equals(plain.drop(near))
    assert np.allclose(found["log_probability"], plain["log_probability"], atol=1e-5)
    assert np.allclose(found["probability"], plain["probability"], atol=1e-6)
    assert read_table(pairs.with_suffix(".parquet"), SCORES).equals(found)
    assert len(stub.asked) == count_sentences() < len(PAIRS)
    report = read_json(pairs.with_suffix(".json"))
    assert all(word in report["server_says"] for word in (NAME, "/models/tiny", "0.0.1"))
    assert report["weights"].startswith("not hashed")


@pytest.mark.parametrize("text", [False, True])
def test_ranks_below_the_most_likely_are_unknown(stub, pairs, folder, text):
    stub.vllm = False
    found, plain = (
        score(stub, pairs, None if text else folder, Served(top_k=20, retries=0)),
        score_here(folder),
    )
    report = read_json(pairs.with_suffix(".json"))
    known = found["rank"].is_finite()
    assert 0 < known.sum() < len(found) and report["above_limit"] == (~known).sum()
    assert found.filter(known)["rank"].equals(plain.filter(known)["rank"])
    assert plain.filter(known)["rank"].max() <= report["rank_limit"] <= plain.filter(~known)["rank"].min()
    assert np.allclose(found["log_probability"], plain["log_probability"], atol=1e-5)
    assert {type(body["prompt"]) for body in stub.asked} == {str if text else list}
    assert read_table(pairs.with_suffix(".parquet"), TOP_SCORES).equals(found)
    with pytest.raises(InputError):  # so that no table of exact ranks has one of these beside it
        read_table(pairs.with_suffix(".parquet"), SCORES)


def test_all_entries_of_a_small_vocabulary_leave_no_rank_unknown(stub, pairs, folder):
    stub.vllm = False
    found = score(stub, pairs, folder, Served(top_k=62, retries=0))
    finite = found["rank"].is_finite()
    assert found.filter(finite)["rank"].equals(score_here(folder).filter(finite)["rank"])
    assert finite.mean() > 0.8  # the least likely entry of all may stand below those asked for


def test_targets_that_begin_inside_a_token_are_left_out_and_counted(stub, pairs):
    stub.vllm = False

    def shift(path: str, answer: dict[str, Any]) -> dict[str, Any]:
        if path.endswith("completions") and len(stub.asked) % 3 == 0:
            offsets = answer["choices"][0]["logprobs"]["text_offset"]
            offsets[1:] = [offset + 1 for offset in offsets[1:]]
        return answer

    stub.change = shift
    found = score(stub, pairs, None, Served(in_flight=1, retries=0, top_k=62))
    report = read_json(pairs.with_suffix(".json"))
    assert 0 < len(found) < len(PAIRS)
    assert report["left_out"] == {"target_inside_a_token": len(PAIRS) - len(found)}


@pytest.mark.parametrize("text", [False, True])
def test_tokens_that_decode_alike_leave_out_their_pairs_alone(stub, pairs, folder, text):
    stub.vllm = False
    settings, tokenizer = Served(top_k=20, retries=0, in_flight=1), None if text else folder
    whole = score(stub, pairs, tokenizer, settings)
    collapsed: list[Any] = []

    def collapse(path: str, answer: dict[str, Any]) -> dict[str, Any]:
        if path.endswith("completions") and len(stub.asked) % 4 == 0:
            collapsed.append(stub.asked[-1]["prompt"])
            places = answer["choices"][0]["logprobs"]["top_logprobs"]
            for entries in filter(None, places):
                for name in list(entries)[1:4]:  # three likely tokens are parts of characters
                    entries["\ufffd"] = entries.pop(name)
        return answer

    stub.asked.clear()
    stub.change = collapse
    found = score(stub, pairs, tokenizer, settings)
    report = read_json(pairs.with_suffix(".json"))
    assert collapsed and 0 < len(found) < len(whole) == len(PAIRS)
    assert report["left_out"] == {"likely_tokens_of_one_text": len(whole) - len(found)}
    both = whole.join(found, on="pair_id", suffix="_now").filter(pl.col("rank").is_finite())
    limit = report["rank_limit"]
    assert (both["rank"] == both["rank_now"]).all() and both["rank"].max() <= limit


def test_a_busy_server_is_asked_again(stub, pairs, folder):
    attempts = []

    def be_busy(path: str, answer: dict[str, Any]) -> Any:
        attempts.append(path)
        busy = path == "/v1/completions" and len(attempts) % 3 == 0
        return (503, "text/plain", "busy") if busy else answer

    stub.change = be_busy
    found = score(stub, pairs, folder, Served(retries=3, timeout=30.0))
    assert found["rank"].equals(score_here(folder)["rank"])
    assert len(attempts) > len({tuple(body["prompt"]) for body in stub.asked})


def test_a_pair_longer_than_the_server_takes_is_named_before_anything_is_sent(stub, tmp_path, folder):
    long = PAIRS.head(1).with_columns(prompt=pl.lit(" ".join(["w1"] * 40)))
    write_json_lines(tmp_path / "long.jsonl", long.iter_rows(named=True))
    with refuses(PAIRS["pair_id"][0], "41 tokens", "39"):
        score(stub, tmp_path / "long.jsonl", folder)
    assert stub.asked == []


def test_a_key_comes_from_the_environment_and_is_shown_nowhere(stub, pairs, folder, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, "sk-secret-123")
    score(stub, pairs, folder)
    assert stub.keys == {"Bearer sk-secret-123"}
    assert "sk-secret" not in pairs.with_suffix(".json").read_text()
    stub.change = lambda *_: (401, "application/json", '{"error": "sk-secret-123 is wrong"}')
    with refuses("***") as caught:
        score(stub, pairs, folder)
    assert "sk-secret" not in str(caught.value)


KEY = "sk-secret-" + "0123456789abcdefghij" * 2
ECHOES = {
    "error": lambda path, answer: (401, "application/json", json.dumps({"error": f"{KEY} is wrong"})),
    "kind": lambda path, answer: (200, f"text/{KEY}", "no"),
    "text": lambda path, answer: (500, "text/plain", f"wrong key {KEY[:30]}..."),
    "names": lambda path, answer: {"data": [{"id": KEY}]} if path == "/v1/models" else answer,
    "model": lambda path, answer: {**answer, "model": KEY} if path == "/v1/completions" else answer,
    "rank": lambda path, answer: set_ranks(answer, KEY) if path == "/v1/completions" else answer,
    "version": lambda path, answer: {"version": f"1 {KEY}"} if path == "/version" else answer,
}  # fmt: skip
"""Places where a server repeats the key that it was sent."""


def set_ranks(answer: dict[str, Any], value: Any) -> dict[str, Any]:
    """Return an answer with the same rank at all places."""
    for entries in answer["choices"][0].get("prompt_logprobs", []):
        for entry in (entries or {}).values():
            entry["rank"] = value
    return answer


@pytest.mark.parametrize("place", ECHOES)
def test_a_key_that_a_server_repeats_is_neither_shown_nor_kept(
    stub, pairs, folder, monkeypatch, caplog, place
):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    stub.change = ECHOES[place]
    said = ""
    with caplog.at_level("INFO"):
        try:
            score(stub, pairs, folder)
        except InputError as error:
            said = str(error)
    kept = [file.read_bytes() for file in pairs.parent.rglob("*") if file.is_file()]
    assert bool(said) == (place != "version")
    for text in (said, caplog.text, *(each.decode("latin-1") for each in kept)):
        assert not any(KEY[start : start + 10] in text for start in range(len(KEY) - 9))


@pytest.mark.parametrize(
    "address",
    ["http://host/v1?api_key=s3cret-value#m", "http://me:s3cret-value@host/v1#m", "https://s3cret-value@host/v1",
     "http://host/v1#m?api_key=s3cret-value", "HTTP://me:s3cret-value@host/v1#m", "ftp://me:s3cret-value@host/m",
     "http://me:s3cret?-value@host/v1#m", "http://me:s3cret#-value@host/v1"],
)  # fmt: skip
def test_logins_and_queries_of_addresses_are_never_shown(pairs, folder, address):
    for need in (lambda: find_pointer(address), lambda: point_to_server(address, folder, QUICK)):
        with refuses("host") as caught:
            need()
        assert "s3cret" not in str(caught.value) and "-value" not in str(caught.value)


def test_all_but_scoring_pairs_is_refused_with_the_reason(stub, folder):
    pointer = point_to_server(f"{stub.url}#{NAME}", folder, QUICK)
    for need in (lambda: load_model(pointer), lambda: OpenModel(pointer, Scoring()).key):
        with refuses("is behind a server", stub.url, "weights"):
            need()


def test_an_address_where_weights_are_read_names_the_command_that_takes_it(pairs):
    for need in (lambda: find_pointer("http://host/v1#x"), lambda: notebook.score("http://host/v1#x", pairs)):
        with refuses("http://host/v1", "`fathom score`", "ADDRESS#NAME"):
            need()
    with refuses("not the address") as caught:
        find_pointer("http://me:secret@host/v1#x")
    assert "secret" not in str(caught.value)


def test_an_address_is_read_as_other_names_are(stub, folder, tmp_path):
    tokenizer = Path(shutil.copytree(folder, tmp_path / "tokenizer"))
    values = read_json(tokenizer / "config.json")
    write_json(tokenizer / "config.json", {**values, "model_type": "mistral"})
    model = open_served(f"{stub.url}#{NAME}@chat", str(tokenizer), {})
    assert (model.address.name, model.pointer.chat_template, model.pointer.add_bos) == (NAME, True, True)
    with refuses("chat template", "--tokenizer"):
        open_served(f"{stub.url}#{NAME}@chat", None, {})
    plain = open_served(f"{stub.url}#{NAME}", str(folder), {}).pointer
    assert (plain.name, plain.chat_template, plain.add_bos) == (NAME, False, None)


def test_the_command_shows_what_would_be_sent_and_scores(stub, pairs, folder):
    def run(*more: object) -> str:
        arguments = [f"{stub.url}#{NAME}", pairs, "--tokenizer", folder, "--timeout", 20, *more]
        return run_command("score", *arguments, folder=pairs.parent, imports=MODELS).stdout

    shown = json.loads(run("--dry-run"))
    assert stub.asked == [] and shown["ranks"] == "exact"
    assert list(pairs.parent.iterdir()) == [pairs]
    text = run("--in-flight", 1)
    assert f"{len(PAIRS)} pairs; scores in {pairs.parent / 'pairs.tiny.parquet'}" in text
    assert shown["requests"] == len(stub.asked) and shown["first_request"] == stub.asked[0]
    assert shown["tokens"] == sum(len(body["prompt"]) for body in stub.asked)
    stub.vllm = False
    assert "trimmed mean rank unknown, median rank" in run("--top-k", 3)


def test_requests_keep_the_rate_limit(stub, pairs, folder):
    score(stub, pairs, folder, Served(per_second=20.0))
    sent = stub.times[-len(stub.asked) :]
    assert sent[-1] - sent[0] >= 0.045 * (len(sent) - 1)


def test_a_row_of_the_table_of_models_is_scored_by_the_workflows_programs(stub, pairs, folder, tmp_path):
    row = {"name": "far", "source": f"{stub.url}#{NAME}", "original": "near"}
    registry = write_models(tmp_path / "models.tsv", row, {"name": "near", "source": str(folder)})
    pointer = tmp_path / "models" / "far" / "model.json"
    run_program("fetch_model", "--model", "far", "--registry", registry, "--pointer", pointer, imports=MODELS)
    scores = tmp_path / "scores" / "far.parquet"
    run_program(
        "score_model", "--model", pointer, "--pairs", f"x/tf={pairs}", "--scores", scores,
        "--finished", tmp_path / "finished", "--settings", '{"served": {"retries": 0}}', imports=MODELS,
    )  # fmt: skip
    assert read_table(scores, SCORES)["rank"].equals(score_here(folder)["rank"])
    assert read_json(scores.with_suffix(".json"))["model"] == "far"
    with refuses("is behind a server", "weights"):
        locate_model(read_registry(registry)["far"], registry)
    assert locate_model(read_registry(registry)["far"], registry, tokenizer_only=True)[0].samefile(folder)
    stub.vllm = False
    with refuses("gives no ranks", "vLLM", "fathom score"):
        locate_pointer("far", registry)
