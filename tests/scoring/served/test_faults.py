"""What a server can do wrong: one message each, and what was scored stays."""

import copy
from typing import Any

import pytest
from tests.refusals import refuses
from tests.scoring.served.scoring import QUICK, count_sentences, score, score_here
from tests.scoring.served.stub_server import NAME, Stub
from tests.tables import write_models

from fathom.config.served import Served
from fathom.models.loading import read_pointer, write_pointer
from fathom.models.registry import KEY_VARIABLE, read_registry
from fathom.models.served import ServedModel, point_to_server
from fathom.models.served_answers import AnswerError, Question, read_answer
from fathom.scoring.rank_files import name_files, score_files


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
    ((503, "text/plain", "loading"), ("503", "loading", "are kept")),
    (send_other_token, ("was sent as", "does not have", "pair")),
    (lambda answer: {**answer, "model": "other"}, (": other",)),
]


ANSWERS = [
    (lambda answer: [], "no single completion"),
    (lambda answer: {**answer, "choices": [{"text": ""}]}, "0 log-probabilities for 2 tokens"),
    (send_fewer, "1 log-probability for 2 tokens"),
    (lambda answer: set_entry(answer, rank=None), "token 1 has no rank"),
    (lambda answer: set_entry(answer, rank=2**63), "token 1 has no rank"),
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
    settings = Served(in_flight=1, retries=0, timeout=30.0)
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


def test_a_server_with_few_likely_tokens_is_not_asked_to_the_end(stub, pairs, folder, monkeypatch):
    stub.vllm = False
    monkeypatch.setattr("fathom.scoring.served_requests._FIRST", 3)

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
    with refuses("127.0.0.1", "no", "answer", "answers are kept"):
        score_files(model, name_files([pairs], [pairs.with_suffix(".parquet")]))
    assert [path.name for path in pairs.parent.iterdir()] == ["pairs.jsonl"]


def test_a_server_that_echoes_nothing_is_one_message(stub, pairs):
    stub.vllm = False
    break_after(stub, 0, lambda answer: {**answer, "choices": [{"text": "x", "logprobs": None}]})
    with refuses("no log-probabilities of the prompt", stub.url):
        score(stub, pairs, None)


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


@pytest.mark.parametrize(
    ("values", "names"),
    [({"original": ""}, ("has no tokenizer", "original")),
     ({"source": "http://host/v1"}, ("not name a model", "#NAME")),
     ({"quantization": "gptq"}, ("quantization of 'far'", "server")),
     ({"source": "http://me:pw@host/v1#x"}, ("not the address", KEY_VARIABLE))],
)  # fmt: skip
def test_a_wrong_row_of_a_served_model_is_named(tmp_path, values, names):
    row = {"name": "far", "source": "http://host/v1#x", "original": "near"} | values
    with refuses(*names):
        read_registry(write_models(tmp_path / "m.tsv", row, {"name": "near", "source": "org/near"}))
