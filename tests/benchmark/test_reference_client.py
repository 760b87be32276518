"""Sending requests to a local server that imitates the API and its errors."""

import json
import re
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.benchmark.stub_service import SECRET, Handler, Stub, error, message, serve
from tests.programs import run_command, run_program
from tests.refusals import refuses
from tests.servers import listen
from tests.tables import read_delimited, write_delimited

from fathom.benchmark import reference_client as client
from fathom.benchmark.reference_client import RequestSettings, send_requests
from fathom.io.files import read_json, read_json_lines

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = RequestSettings("some-model-1", 500, timeout=30.0, retries=2)


@pytest.fixture
def stub(monkeypatch) -> Iterator[Stub]:
    with serve(monkeypatch) as served:
        yield served


@pytest.fixture
def requests(tmp_path) -> list[Path]:
    paths = [tmp_path / "requests" / f"request-{number:02d}.txt" for number in (1, 2, 3)]
    paths[0].parent.mkdir()
    for path in paths:
        path.write_text(f"Please write {path.stem}\n")
    return paths


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_answers_are_saved_with_their_records(stub, requests, tmp_path):
    stub.replies = [message("qa_pairs = [] # ä", thought="hm"), message("two")]
    counts = send_requests(requests[:2], tmp_path / "answers", SETTINGS)
    assert counts == {"kept": 0, "received": 2, "input_tokens": 14, "output_tokens": 84}
    assert [list(map(body.get, ("model", "max_tokens", "messages"))) for body in stub.asked] == [
        ["some-model-1", 500, [{"role": "user", "content": path.read_text()}]] for path in requests[:2]
    ]
    assert {key.split()[-1] for key in stub.keys} == {SECRET}
    assert (tmp_path / "answers" / "request-01.txt").read_text() == "qa_pairs = [] # ä\n"
    record = read_json(tmp_path / "answers" / "request-01.json")
    assert record["answer"]["model"] == "some-model-1-20990101"
    assert record["answer"]["usage"]["output_tokens"] == 42
    assert [block["type"] for block in record["answer"]["content"]] == ["thinking", "text"]
    assert record["model"] == "some-model-1" and record["date"].endswith("+00:00")
    assert all(SECRET not in path.read_text() for path in (tmp_path / "answers").iterdir())


def test_an_answered_request_is_not_sent_again(stub, requests, tmp_path, monkeypatch):
    folder = tmp_path / "answers"
    stub.replies = [message("one"), (400, error("invalid_request_error", "max_tokens: too large"))]
    with refuses(requests[1], "too large", "--max-tokens"):
        send_requests(requests, folder, SETTINGS)
    assert names(folder) == ["request-01.json", "request-01.txt"]
    (folder / "request-01.txt").write_text("mended by hand")
    stub.replies = [message("two"), message("three")]
    assert send_requests(requests, folder, SETTINGS)["kept"] == 1
    assert len(stub.asked) == 4
    assert (folder / "request-01.txt").read_text() == "mended by hand"
    (folder / "request-02.txt").unlink()
    monkeypatch.delenv(client.KEY_VARIABLE)  # with all answers there, neither key nor package are needed
    monkeypatch.setitem(sys.modules, "anthropic", None)
    assert send_requests(requests, folder, SETTINGS)["kept"] == 3
    assert (folder / "request-02.txt").read_text() == "two\n"
    assert len(stub.asked) == 4


@pytest.mark.parametrize("reply", [(429, error("rate_limit")), (529, error("overloaded")), (500, "x")])
def test_a_busy_service_is_asked_again(stub, requests, tmp_path, caplog, reply):
    stub.replies = [reply, reply, message("one")]
    assert send_requests(requests[:1], tmp_path / "answers", SETTINGS)["received"] == 1
    assert len(stub.asked) == 3


def change(kind: str, place: int, text: object) -> dict[str, object]:
    return {"type": "content_block_delta", "index": place, "delta": {"type": kind, "text": text}}


def count_tokens(number: object) -> list[dict[str, object]]:
    start, *others = json.loads(json.dumps(message()))
    start["message"]["usage"] = {"input_tokens": number}
    return [start, *others]


MALFORMED = ("unexpected answer", "ANTHROPIC_BASE_URL")
CUT = [*message("qa_pairs", stop=None), {"type": "cut"}]


FAULTS = {
    "rate limit": ([(429, error("rate_limit_error"))] * 3, "rate_limit_error: no luck", "kept"),
    "overloaded": ([(529, error("overloaded_error"))] * 3, "overloaded_error", "kept"),
    "in the stream": ([[*message(stop=None), error("overloaded_error")]], "overloaded_error", "busy"),
    "key": ([(401, error("authentication_error", "invalid key"))], "invalid key", "ANTHROPIC_API_KEY"),
    "model": ([(404, error("not_found_error", "model: some-model-1"))], "model: some-model-1", "--model"),
    "no JSON": ([(400, "<html>")], "400", ""),
    "connection": ([CUT], "no answer from http://127.0.0.1", "kept"),
    "other server": ([[]], "sent no message", "ANTHROPIC_BASE_URL"),
    "text for a terminal": (
        [(400, error("invalid_request_error", f"\x1b[2J{SECRET}\r\n{'x' * 9000}"))],
        "[2J*** xx",
        "",
    ),
    "no start": ([message()[2:]], "sent no message", "ANTHROPIC_BASE_URL"),
    "start of no message": ([[{"type": "message_start"}]], *MALFORMED),
    "text that is a number": ([[*message()[:3], change("text_delta", 0, 5)]], *MALFORMED),
    "block that is not there": ([[*message()[:2], change("text_delta", 7, "x")]], *MALFORMED),
    "half a character": ([message("\ud800")], "not an answer", "ANTHROPIC_BASE_URL"),
    "counts in words": ([count_tokens(["many"])], "not an answer", "ANTHROPIC_BASE_URL"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_error_of_the_service_is_one_message(stub, requests, tmp_path, name):
    stub.replies, what, hint = [*FAULTS[name][0]], *FAULTS[name][1:]
    with refuses(requests[0], what, hint) as found:
        send_requests(requests[:1], tmp_path / "answers", SETTINGS)
    assert SECRET not in str(found.value)
    assert stub.replies == [] and names(tmp_path / "answers") == []


@pytest.mark.parametrize("headers", [{"retry-after": "3600"}, {"retry-after-ms": "3600000"},
                                     {"retry-after": "Fri, 31 Dec 2999 23:59:59 GMT"}])  # fmt: skip
def test_a_service_does_not_say_how_long_we_wait(stub, requests, tmp_path, monkeypatch, headers):
    monkeypatch.setattr(client, "_WAIT", 0.2)
    stub.replies = [(529, error("overloaded_error"), headers), message("one")]
    started = time.monotonic()
    assert send_requests(requests[:1], tmp_path / "answers", SETTINGS)["received"] == 1
    assert time.monotonic() - started < 30


def repeat(event: dict[str, object], wait: float) -> list[dict[str, object]]:
    """Return an answer that never ends."""
    return [*message()[:3], {"type": "for ever", "event": event, "wait": wait}]


BOUNDS = {
    "long": ([repeat(change("text_delta", 0, "x" * 10_000), 0)], "longer than 1,010,000 bytes"),
    "slow": ([repeat({"type": "ping"}, 0.05)], "no whole answer after"),
    "long error": ([(400, "x" * 2_000_000)], "longer than 1,010,000 bytes"),
    "compressed": ([(400, "x", {"content-encoding": "gzip"})], "compressed"),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_an_answer_is_bounded_in_bytes_and_time(stub, requests, tmp_path, monkeypatch, name):
    stub.replies, what = [*BOUNDS[name][0]], BOUNDS[name][1]
    monkeypatch.setattr(client, "_FEWEST", 10.0)
    settings = RequestSettings("m", 10, timeout=1.0 if name == "slow" else 30.0, retries=0)
    with refuses(requests[0], stub.url, what):
        send_requests(requests[:1], tmp_path / "answers", settings)
    assert names(tmp_path / "answers") == []


UNFINISHED = {
    "max_tokens": ("cut off at 500 tokens", "raise --max-tokens"),
    "refusal": ("refuses to answer", "ask another model"),
    "model_context_window_exceeded": ("model's context", "--per-request"),
    None: ("or incomplete", "run the same command"),
    "end_turn": ("is empty", "run the same command"),
}


@pytest.mark.parametrize("stop", UNFINISHED)
def test_an_incomplete_answer_is_saved_separately(stub, requests, tmp_path, stop):
    folder = tmp_path / "answers"
    text = "" if stop == "end_turn" else "qa_pairs = ["
    for number in (1, 2):
        stub.replies = [message(text, stop)]
        with refuses(*UNFINISHED[stop], f"request-01.unfinished-{number}.json"):
            send_requests(requests[:1], folder, SETTINGS)
    assert names(folder) == ["request-01.unfinished-1.json", "request-01.unfinished-2.json"]
    assert read_json(folder / "request-01.unfinished-1.json")["answer"]["usage"]["input_tokens"] == 7
    stub.replies = [message("whole")]
    assert send_requests(requests[:1], folder, SETTINGS)["received"] == 1


@pytest.mark.parametrize("stop", ["end_turn", SECRET])
def test_a_key_that_the_service_sends_back_is_neither_kept_nor_shown(
    stub, requests, tmp_path, caplog, capsys, stop
):
    stub.replies = [message(f"your key: {SECRET}!", stop, thought=SECRET, model=SECRET)]
    if stop == "end_turn":
        send_requests(requests[:1], tmp_path / "answers", SETTINGS)
        assert (tmp_path / "answers" / "request-01.txt").read_text() == "your key: ***!\n"
    else:
        with refuses("stop reason ***") as found:
            send_requests(requests[:1], tmp_path / "answers", SETTINGS)
        assert SECRET not in str(found.value)
    assert list((tmp_path / "answers").iterdir())
    assert all(SECRET not in path.read_text() for path in (tmp_path / "answers").iterdir())
    assert SECRET not in caplog.text + "".join(capsys.readouterr())


def test_a_service_without_a_trusted_certificate_is_refused(stub, requests, tmp_path, monkeypatch):
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    subprocess.run(["openssl", *made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with listen(Handler, stub, context) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"https://127.0.0.1:{server.server_port}")
        with refuses("CERTIFICATE_VERIFY_FAILED", "SSL_CERT_FILE"):
            once = RequestSettings("m", 9, timeout=30.0, retries=0)
            send_requests(requests[:1], tmp_path / "answers", once)
    assert stub.keys == []  # it was told nothing


def test_an_unreachable_server_is_named(stub, requests, tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with refuses("http://127.0.0.1:9"):
        send_requests(requests[:1], tmp_path / "answers", RequestSettings("m", 5, timeout=2.0, retries=0))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:port")
    with refuses("address"):
        send_requests(requests[:1], tmp_path / "answers", SETTINGS)


@pytest.mark.parametrize(
    ("key", "message"), [(None, "no key"), ("  ", "no key"), ("sk-ä", "not a key"), ("sk a", "not a key")]
)
def test_a_missing_or_malformed_key_is_refused(stub, requests, tmp_path, monkeypatch, key, message):
    monkeypatch.delenv(client.KEY_VARIABLE)
    if key is not None:
        monkeypatch.setenv(client.KEY_VARIABLE, key)
    with refuses(client.KEY_VARIABLE, message):
        send_requests(requests, tmp_path / "answers", SETTINGS)
    assert stub.asked == []


def test_a_missing_package_is_named(stub, requests, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with refuses("anthropic", "pip install"):
        send_requests(requests, tmp_path / "answers", SETTINGS)


def test_mismatched_requests_and_folders_are_refused(stub, requests, tmp_path):
    folder = tmp_path / "answers"
    stub.replies = [message("one")]
    send_requests(requests[:1], folder, SETTINGS)
    asked = len(stub.asked)
    twin = tmp_path / requests[1].name
    twin.write_text("other")
    cases = [([requests[0]], folder, RequestSettings("other-model", 500), "not the answer of other-model to"),
             ([requests[1], twin], folder, SETTINGS, "would overwrite"),
             ([requests[1]], requests[1].parent, SETTINGS, "among the requests"),
             ([tmp_path / "none.txt"], folder, SETTINGS, "no such file"),
             ([requests[1]], twin, SETTINGS, "answers cannot be saved")]  # fmt: skip
    for paths, place, settings, text in cases:
        with refuses(text):
            send_requests(paths, place, settings)
    requests[0].write_text("another text")
    with refuses("answer"):
        send_requests(requests, folder, SETTINGS)
    requests[0].write_text(" \n")
    with refuses("empty"):
        send_requests(requests, folder, SETTINGS)
    assert len(stub.asked) == asked


def run(*arguments: object, code: int = 0) -> str:
    return run_command("request", *arguments, code=code).stderr


def test_from_keywords_over_the_service_to_a_benchmark(stub, tmp_path):
    write_delimited(
        tmp_path / "keywords.tsv", ["keyword", "documents"], [["graphs", 10], ["agents", 9], ["trees", 3]]
    )
    parts = [*("--keywords", tmp_path / "keywords.tsv", "--title", "AI", "--categories", 2, "--each", 1)]
    run("write", *parts, "--per-request", 1, "--output", tmp_path / "q" / "r.txt",
        "--list", tmp_path / "c.txt")  # fmt: skip
    assert names(tmp_path / "q") == ["r-01.txt", "r-02.txt"]
    assert "2. agents" not in (tmp_path / "q" / "r-02.txt").read_text()
    with refuses("division"):
        run("write", *parts, "--output", tmp_path / "q" / "r.txt")
    assert names(tmp_path / "q") == ["r-01.txt", "r-02.txt"]
    filler = "In many textbooks of this field the one thing that takes its turn and learns from"
    pair = {"prompt": f"{filler} them is called a", "target": " forest"}
    stub.replies = [message(f"# Category 1: graphs\n{json.dumps(pair)}"),
                    message(f"Here it is:\n# Category 1: agents\n{json.dumps(pair)}\n")]  # fmt: skip
    asked = sorted((tmp_path / "q").iterdir())
    logged = run("send", "--request", *asked, "--model", "m", "--output", tmp_path / "a")
    assert "2 answers" in logged and SECRET not in logged
    run("read", "--answer", *sorted((tmp_path / "a").glob("*.txt")), "--categories",
        tmp_path / "c.txt", "--each", 1, "--source", "some model", "--output", tmp_path / "pairs.jsonl",
        "--faults", tmp_path / "faults.csv")  # fmt: skip
    assert [row["source"] for row in read_json_lines(tmp_path / "pairs.jsonl")] == ["some model"]
    (fault,) = read_delimited(tmp_path / "faults.csv", ",")
    assert (fault["file"], fault["line"], fault["rule"]) == ("r-02.txt", "3", "duplicate")
    assert fault["text"].endswith("line 2 of r-01.txt")
    run_program("import_reference", "--entries", tmp_path / "pairs.jsonl", "--folder", tmp_path / "reference")
    run("send", "--request", *asked, "--model", "m", "--output", tmp_path / "b",
        "--max-tokens", 0, code=1)  # fmt: skip


def test_no_rule_of_the_workflow_sends_anything():
    rules = [*(ROOT / "workflow").rglob("*.smk"), ROOT / "workflow" / "Snakefile"]
    assert not [path for path in rules if re.search("reference_client|fathom request", path.read_text())]
