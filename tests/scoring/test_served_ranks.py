"""Scoring by a server: the same ranks as with the weights, or one message for what it does wrong."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.programs import MODELS, run_command, run_program
from tests.refusals import refuses
from tests.scoring.sentences import cut_sentences, make_tokenizer
from tests.scoring.stub_server import NAME, Stub, serve
from tests.tables import write_models
from transformers import GPT2Config, GPT2LMHeadModel, set_seed

from fathom.config.scoring import Scoring
from fathom.config.served import Served
from fathom.errors import InputError
from fathom.io.contracts.scoring import SCORES, TOP_SCORES
from fathom.io.files import read_json, write_json_lines
from fathom.io.tables import read_table
from fathom.models.addresses import KEY_VARIABLE
from fathom.models.fetching import find_pointer, locate_model, locate_pointer
from fathom.models.folders import save_model
from fathom.models.loading import load_model, read_pointer, write_pointer
from fathom.models.open_model import OpenModel
from fathom.models.registry import read_registry
from fathom.models.served import ServedModel, point_to_server
from fathom.scoring import notebook
from fathom.scoring.log_probabilities import AnswerError, Question, read_answer
from fathom.scoring.rank_files import name_files, score_files
from fathom.scoring.ranks import score_benchmarks

PAIRS = pl.concat([cut_sentences(name, [2, 4]) for name in ("tf", "tfidf")])
QUICK = Served(timeout=2.0, retries=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a model whose predictions differ much from token to token."""
    set_seed(0)
    config = GPT2Config(vocab_size=62, n_positions=40, n_embd=16, n_layer=1, n_head=2, initializer_range=1.0)
    path = tmp_path_factory.mktemp("served") / "tiny"
    save_model(path, GPT2LMHeadModel(config), make_tokenizer())
    return path


@pytest.fixture
def stub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    with serve(Stub(*load_model(folder)), monkeypatch) as served:
        yield served


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    write_json_lines(tmp_path / "pairs.jsonl", PAIRS.iter_rows(named=True))
    return tmp_path / "pairs.jsonl"


def score(stub: Stub, pairs: Path, tokenizer: Path | None, settings: Served = QUICK) -> pl.DataFrame:
    model = ServedModel(point_to_server(f"{stub.url}#{NAME}", tokenizer, settings), settings)
    (found,) = score_files(model, name_files([pairs], [pairs.with_suffix(".parquet")]))
    return found


def score_here(folder: Path) -> pl.DataFrame:
    model, tokenizer = load_model(folder)
    return score_benchmarks(model, tokenizer, [PAIRS], Scoring(device="cpu"))[0]


def test_ranks_of_a_server_are_those_of_the_weights(stub, pairs, folder):
    found, plain = score(stub, pairs, folder), score_here(folder)
    assert found.drop("probability", "log_probability", "rival_rank", "rival").equals(
        plain.drop("probability", "log_probability", "rival_rank", "rival")
    )
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


def count_sentences() -> int:
    """Return the number of texts that no other one begins with."""
    texts = {prompt + target for prompt, target in PAIRS.select("prompt", "target").iter_rows()}
    return sum(
        not any(other != text and f"{other} ".startswith(f"{text} ") for other in texts) for text in texts
    )


def break_after(stub: Stub, count: int, wrong: Any) -> None:
    """Let the server answer some requests well, and then change each answer."""

    def change(path: str, answer: dict[str, Any]) -> Any:
        if path != "/v1/completions" or len(stub.asked) <= count:
            return answer
        return wrong(copy.deepcopy(answer)) if callable(wrong) else wrong

    stub.change = change


def entries(answer: dict[str, Any]) -> list[Any]:
    found: list[Any] = answer["choices"][0]["prompt_logprobs"]
    return found


def set_entry(answer: dict[str, Any], **values: Any) -> dict[str, Any]:
    next(iter(entries(answer)[-1].values())).update(values)
    return answer


def send_other_token(answer: dict[str, Any]) -> dict[str, Any]:
    entries(answer)[-1] = {"61": {"logprob": -1.0, "rank": 1}}
    return answer


def send_fewer(answer: dict[str, Any]) -> dict[str, Any]:
    entries(answer).pop()
    return answer


FAULTS = [
    ((200, "text/html", "<html>Sign in</html>"), ("text/html", "not JSON", "/v1")),
    ((400, "application/json", '{"error": {"message": "too\\nlong"}}'), ("400", "too long")),
    ((503, "text/plain", "loading"), ("503", "loading", "is kept")),
    (send_other_token, ("was sent as", "does not have", "pair")),
    (lambda answer: {**answer, "model": "other"}, ("another model answers: other",)),
]
ANSWERS = [
    (lambda answer: [], "no single completion"),
    (lambda answer: {**answer, "choices": [{"text": ""}]}, "0 log-probabilities for 2 tokens"),
    (send_fewer, "1 log-probabilities for 2 tokens"),
    (lambda answer: set_entry(answer, rank=None), "token 1 has no rank"),
    (lambda answer: set_entry(answer, logprob=None), "log-probability of token 1 is None"),
    (lambda answer: set_entry(answer, logprob=-9999.0), "log-probability of token 1 is -9999"),
    (lambda answer: set_entry(answer, logprob=0.5), "log-probability of token 1 is 0.5"),
]


@pytest.mark.parametrize(("wrong", "message"), ANSWERS)
def test_an_answer_that_is_none_says_what_is_wrong(wrong, message):
    question = Question((4, 5), (1,), "p1")
    answer = {"model": "m", "choices": [{"prompt_logprobs": [None, {"5": {"logprob": -1.0, "rank": 3}}]}]}
    assert read_answer(answer, question, "m", 0).rank.tolist() == [3]
    with pytest.raises(AnswerError, match=message):
        read_answer(wrong(answer), question, "m", 0)


@pytest.mark.parametrize(("wrong", "names"), FAULTS)
def test_a_wrong_answer_is_one_message_and_what_was_scored_stays(stub, pairs, folder, wrong, names):
    settings = Served(in_flight=1, retries=0, timeout=2.0)
    break_after(stub, 3, wrong)
    with refuses("127.0.0.1", *names):
        score(stub, pairs, folder, settings)
    assert not pairs.with_suffix(".parquet").exists() and not pairs.with_suffix(".json").exists()
    first = [body["prompt"] for body in stub.asked[:3]]
    stub.asked.clear()
    break_after(stub, 10**6, None)
    assert score(stub, pairs, folder, settings)["rank"].equals(score_here(folder)["rank"])
    again = [body["prompt"] for body in stub.asked]
    assert len(again) >= count_sentences() - 3 and not [prompt for prompt in first if prompt in again]
    names = ["pairs.json", "pairs.jsonl", "pairs.parquet"]
    assert sorted(path.name for path in pairs.parent.iterdir()) == names


def test_ranks_beyond_the_tokenizer_are_one_message(stub, pairs, folder):
    break_after(stub, 0, lambda answer: set_entry(answer, rank=63))
    with refuses(folder, "rank 63", "62 entries"):
        score(stub, pairs, folder)


def test_fewer_likely_tokens_than_asked_for_is_one_message(stub, pairs, folder):
    stub.vllm = False

    def cut(answer: dict[str, Any]) -> dict[str, Any]:
        lists = answer["choices"][0]["logprobs"]
        lists["top_logprobs"] = [each and dict(list(each.items())[:5]) for each in lists["top_logprobs"]]
        return answer

    break_after(stub, 0, cut)
    with refuses("5 most likely tokens", "20 were asked for", "top_k"):
        score(stub, pairs, folder)


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


def test_a_server_with_few_likely_tokens_is_not_asked_to_the_end(stub, pairs, folder, monkeypatch):
    stub.vllm = False
    monkeypatch.setattr("fathom.scoring.served_ranks._FIRST", 3)

    def cut(path: str, answer: dict[str, Any]) -> dict[str, Any]:
        if path.endswith("completions"):
            lists = answer["choices"][0]["logprobs"]
            lists["top_logprobs"] = [each and dict(list(each.items())[:5]) for each in lists["top_logprobs"]]
        return answer

    stub.change = cut
    for _ in range(2):  # what was kept is judged again
        with refuses("5 most likely tokens", "20 were asked for", "top_k"):
            score(stub, pairs, folder, Served(retries=0, in_flight=1))
        assert 3 <= len(stub.asked) < count_sentences()


@pytest.mark.parametrize("echoed", [" w60", "token_id:60"])
def test_other_tokens_than_sent_are_one_message(stub, pairs, folder, echoed):
    stub.vllm = False

    def exchange(answer: dict[str, Any]) -> dict[str, Any]:
        answer["choices"][0]["logprobs"]["tokens"][1] = echoed
        return answer

    break_after(stub, 3, exchange)
    with refuses("token 1 was sent as", f"came back as '{echoed}'", "pair", stub.url):
        score(stub, pairs, folder, Served(retries=0, in_flight=1))


@pytest.mark.parametrize(("pause", "timeout"), [(60.0, 0.1), (0.02, 0.5)])
def test_a_server_that_is_slow_is_one_message(stub, pairs, folder, pause, timeout):
    model = ServedModel(
        point_to_server(f"{stub.url}#{NAME}", folder, QUICK), Served(timeout=timeout, retries=0)
    )
    assert model.statement.gives_ranks  # asked before the server becomes slow
    stub.pause = pause  # the second drips: each byte is in time, all of them take longer than may be
    with refuses("127.0.0.1", "no", "answer", "what was answered is kept"):
        score_files(model, name_files([pairs], [pairs.with_suffix(".parquet")]))
    assert [path.name for path in pairs.parent.iterdir()] == ["pairs.jsonl"]


def test_a_server_that_echoes_nothing_is_one_message(stub, pairs):
    stub.vllm = False
    break_after(stub, 0, lambda answer: {**answer, "choices": [{"text": "x", "logprobs": None}]})
    with refuses("no log-probabilities of the prompt", stub.url):
        score(stub, pairs, None)


def test_a_busy_server_is_asked_again(stub, pairs, folder):
    attempts = []

    def be_busy(path: str, answer: dict[str, Any]) -> Any:
        attempts.append(path)
        busy = path == "/v1/completions" and len(attempts) % 3 == 0
        return (503, "text/plain", "busy") if busy else answer

    stub.change = be_busy
    found = score(stub, pairs, folder, Served(retries=3, timeout=5.0))
    assert found["rank"].equals(score_here(folder)["rank"])
    assert len(attempts) > len({tuple(body["prompt"]) for body in stub.asked})


def test_a_server_that_is_down_or_has_another_model(stub, folder):
    with refuses("127.0.0.1:9", "no answer"):
        point_to_server("http://127.0.0.1:9/v1#x", folder, QUICK)
    with refuses("no model 'x'", "it has: other, org/tiny"):
        point_to_server(f"{stub.url}#x", folder, QUICK)
    with refuses("names no model", "it has: other, org/tiny"):
        point_to_server(stub.url, folder, QUICK)
    with refuses("not the address", KEY_VARIABLE) as caught:
        point_to_server("http://me:secret@host/v1#x", folder, QUICK)
    assert "secret" not in str(caught.value)
    stub.change = lambda path, answer: (200, "text/html", "<html>") if path == "/v1/models" else answer
    with refuses("text/html", "/v1/models"):
        point_to_server(f"{stub.url}#{NAME}", folder, QUICK)


def test_another_model_of_the_same_name_is_not_scored(stub, pairs, folder, tmp_path):
    pointer = point_to_server(f"{stub.url}#{NAME}", folder, QUICK)
    write_pointer(tmp_path / "model.json", pointer)
    again = read_pointer(tmp_path / "model.json")
    assert (again.server, again.revision, again.fingerprint) == (
        pointer.server,
        pointer.revision,
        pointer.fingerprint,
    )
    assert again.path.samefile(folder)

    def replace(path: str, answer: dict[str, Any]) -> dict[str, Any]:
        if path == "/v1/models":
            answer["data"][1]["root"] = "/models/larger"
        return answer

    stub.change = replace
    model = ServedModel(read_pointer(tmp_path / "model.json"), QUICK)
    with refuses("/models/larger", "/models/tiny", stub.url):
        score_files(model, name_files([pairs], [tmp_path / "scores.parquet"]))
    assert point_to_server(f"{stub.url}#{NAME}", folder, QUICK).fingerprint != pointer.fingerprint


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
    failed = run_command("best", pairs, "http://host/v1#x", "http://host/v1#y", imports=MODELS, code=1)
    assert "`fathom score`" in failed.stderr and not pairs.with_suffix(".best").exists()


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


@pytest.mark.parametrize(
    ("values", "names"),
    [({"original": ""}, ("has no tokenizer", "original")),
     ({"source": "http://host/v1"}, ("names no model", "#NAME")),
     ({"quantization": "gptq"}, ("quantization of 'far'", "server")),
     ({"source": "http://me:pw@host/v1#x"}, ("not the address", KEY_VARIABLE))],
)  # fmt: skip
def test_a_wrong_row_of_a_served_model_is_named(tmp_path, values, names):
    row = {"name": "far", "source": "http://host/v1#x", "original": "near"} | values
    with refuses(*names):
        read_registry(write_models(tmp_path / "m.tsv", row, {"name": "near", "source": "org/near"}))
