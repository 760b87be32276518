"""Sending requests to a local server that speaks OpenAI's protocol."""

import sys
from dataclasses import replace

import pytest
from tests.benchmark.stub_service import SECRET, completion, serve
from tests.programs import run_command
from tests.refusals import refuses

from fathom.benchmark.chat_service import KEY_VARIABLE
from fathom.benchmark.reference_client import RequestSettings, send_requests
from fathom.io.files import read_json
from fathom.jobs import services
from fathom.models import addresses


@pytest.fixture
def stub(monkeypatch):
    with serve(monkeypatch) as served:
        monkeypatch.setenv(KEY_VARIABLE, SECRET)
        monkeypatch.setattr(services, "_WAIT", 0.01)
        monkeypatch.setitem(sys.modules, "anthropic", None)  # which is not needed
        yield served


@pytest.fixture
def settings(stub):
    return RequestSettings("some-model", 500, timeout=30.0, retries=2, service=f"{stub.url}/v1/")


@pytest.fixture
def request_file(tmp_path):
    path = tmp_path / "requests" / "request.txt"
    path.parent.mkdir()
    path.write_text("Please write\n")
    return path


def test_an_answer_is_saved_with_its_record(stub, settings, request_file, tmp_path):
    stub.replies = [completion(f"qa_pairs = [] # ä {SECRET}")]
    counts = send_requests([request_file], tmp_path / "answers", settings)
    assert counts == {"kept": 0, "received": 1, "input_tokens": 7, "output_tokens": 42}
    asked = {"model": "some-model", "max_tokens": 500,
             "messages": [{"role": "user", "content": "Please write\n"}]}  # fmt: skip
    assert (stub.asked, stub.paths, stub.keys) == ([asked], ["/v1/chat/completions"], [f"Bearer {SECRET}"])
    assert (tmp_path / "answers" / "request.txt").read_text() == "qa_pairs = [] # ä ***\n"
    record = read_json(tmp_path / "answers" / "request.json")
    assert record["service"] == settings.service and record["answer"]["model"] == "some-model"
    assert record["answer"]["response"]["usage"]["total_tokens"] == 49
    assert all(SECRET not in path.read_text() for path in (tmp_path / "answers").iterdir())
    # an answered request is not sent again
    assert send_requests([request_file], tmp_path / "answers", settings)["kept"] == 1
    assert len(stub.asked) == 1


def test_a_service_without_a_key_is_asked_without_one(stub, settings, request_file, tmp_path, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE)
    stub.replies = [completion("one")]
    send_requests([request_file], tmp_path / "answers", settings)
    assert stub.keys == [""] and (tmp_path / "answers" / "request.txt").read_text() == "one\n"


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_asked_again(stub, settings, request_file, tmp_path, status):
    stub.replies = [(status, {"error": {"message": "busy"}})] * 2 + [completion("one")]
    assert send_requests([request_file], tmp_path / "answers", settings)["received"] == 1
    stub.replies = [(status, {"error": {"message": "busy"}})] * 3
    with refuses(request_file, f"answers {status}: busy", "kept"):
        send_requests([request_file], tmp_path / "others", settings)
    assert len(stub.asked) == 6


def test_the_newer_name_of_the_limit_is_used_where_it_is_asked_for(stub, settings, request_file, tmp_path):
    said = {"error": {"message": "Unsupported parameter: use 'max_completion_tokens' instead."}}
    stub.replies = [(400, said), completion("one")]
    send_requests([request_file], tmp_path / "answers", settings)
    limits = [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in stub.asked]
    assert limits == [(500, None), (None, 500)]


@pytest.mark.parametrize(
    ("reply", "said"),
    [((401, {"error": {"message": f"wrong: {SECRET}"}}), ["answers 401: wrong: ***", KEY_VARIABLE]),
     ((404, "<html>"), ["answers 404", "/v1"]),
     ((200, "<html>"), ["not JSON", "/v1"]),
     ((200, {"choices": []}), ["not an answer of a language model", "--service"]),
     ((200, ["x"]), ["not an answer of a language model"]),
     (completion(5), ["not an answer of a language model"])],
)  # fmt: skip
def test_an_error_of_the_service_is_one_message(stub, settings, request_file, tmp_path, reply, said):
    stub.replies = [(reply[0], reply[1]) if not isinstance(reply[1], list) else (reply[0], '["x"]')]
    with refuses(request_file, stub.url, *said) as found:
        send_requests([request_file], tmp_path / "answers", settings)
    assert SECRET not in str(found.value) and not [*(tmp_path / "answers").iterdir()]


@pytest.mark.parametrize(
    ("stop", "said"),
    [("length", "cut off at 500 tokens"), (None, "incomplete"), ("content_filter", "refuses to answer"),
     ("stop", "is empty")],
)  # fmt: skip
def test_an_incomplete_answer_is_saved_separately(stub, settings, request_file, tmp_path, stop, said):
    stub.replies = [completion(None if stop == "stop" else "qa_pairs = [", stop)]
    with refuses(request_file, said, "request.unfinished-1.json"):
        send_requests([request_file], tmp_path / "answers", settings)
    assert [path.name for path in (tmp_path / "answers").iterdir()] == ["request.unfinished-1.json"]


@pytest.mark.parametrize(
    ("address", "said"),
    [("localhost:8000/v1", "not an address"), ("ftp://host/v1", "not an address"),
     ("http://", "not an address"), ("http://host:port/v1", "not an address"),
     ("http://me:secret@host/v1", KEY_VARIABLE), ("http://host/v1?key=secret", KEY_VARIABLE)],
)  # fmt: skip
def test_a_wrong_address_is_refused(address, said):
    with refuses("--service", said) as found:
        RequestSettings("m", 5, service=address)
    assert "secret" not in str(found.value)


def test_an_unreachable_service_is_named(stub, settings, request_file, tmp_path):
    with refuses(request_file, "http://127.0.0.1:9/v1/chat/completions", "no answer"):
        send_requests(
            [request_file], tmp_path / "a", replace(settings, service="http://127.0.0.1:9/v1", retries=0)
        )


def test_the_command_takes_a_service(stub, settings, request_file, tmp_path):
    stub.replies = [completion("one")]
    run_command("request", "send", "--request", request_file, "--model", "some-model", "--service",
                settings.service, "--output", tmp_path / "answers")  # fmt: skip
    assert (tmp_path / "answers" / "request.txt").read_text() == "one\n"


def test_the_key_is_that_of_served_models():
    assert KEY_VARIABLE == addresses.KEY_VARIABLE
