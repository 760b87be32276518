"""The request, and answers in the formats that models use, read without executing anything."""

import json
import re
import shutil
import ssl
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.benchmark.stub_service import SECRET, Handler, completion, serve
from tests.programs import run_command, run_program
from tests.refusals import refuses
from tests.servers import listen
from tests.tables import read_delimited, write_delimited

from fathom.benchmark import reference_request
from fathom.benchmark.chat_service import KEY_VARIABLE
from fathom.benchmark.reference_request import (
    RequestSettings,
    check_answers,
    parse_answer,
    send_requests,
    write_request,
)
from fathom.io.files import read_json, read_json_lines
from fathom.jobs import services
from fathom.models import registry

STOPWORDS = frozenset(("a", "an", "the", "of", "as", "by", "to", "in", "and", "is", "it", "with", "from"))
FILLER = "In many textbooks of this field the one thing that takes its actions and learns from"
PROMPT = f"{FILLER} them is called an"


def pair(prompt: str = PROMPT, target: str = " agent") -> str:
    return json.dumps({"prompt": prompt, "target": target})


def rules(text: str, each: int = 1, categories: tuple[str, ...] = ("Agents",)) -> list[str]:
    return [fault.rule for fault in check_answers({"a.txt": text}, categories, each, STOPWORDS).faults]


def test_the_request_states_counts_and_rules():
    text = write_request("Physics & Society", [f"category {n}" for n in range(20)])
    for part in (
        "1,000 items",
        "50 for each of the 20",
        "20. category 19",
        "15 to 40 words",
        "Physics & Society",
    ):
        assert part in text
    entries, faults = parse_answer(text)
    assert len(entries) == 2 and not faults  # the form that it shows can be read
    with refuses("duplicate categories"):
        write_request("x", ["a", "a"])


def test_words_of_the_request_can_be_the_users_own():
    template = "On {domain}: {each} each, {total} in all.\n{categories}\nAnswer as [{'prompt': ''}]."
    text = write_request("Physics {each}", ["waves", "heat"], 600, template)
    assert (
        text == "On Physics {each}: 600 each, 1,200 in all.\n1. waves\n2. heat\nAnswer as [{'prompt': ''}]."
    )
    with refuses("no {categories}", "template"):
        write_request("Physics", ["waves"], template="{domain}")


FORMS = {
    "listing": "qa_pairs = [\n# Category 1: Agents\n{P}, {Q},\n]\n"
    "qa_pairs.extend([\n# Category 2: Graphs\n{R},\n])",
    "no commas": "qa_pairs = [\n# Category 1: Agents\n{P}\n{Q}\n...]\n# Category 2: Graphs\n{R}",
    "prose": "Here's what you'd like:\n```python\n# Category 1: Agents\n[{P}, {Q}]\n"
    "# Category 2: Graphs\n[{R}]\n``` I'm done",
    "markdown": "## Category 1: Agents\n{P}\n{Q}\n**Category 2: Graphs**\n{R}",
    "json by category": '{"Agents": [{P}, {Q}], "Graphs": [{R}]}',
    "json with keys": '[{"category": "Agents", "pairs": [{P}, {Q}]}, {"category": "Graphs", "pairs": [{R}]}]',
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_answers(form):
    texts = [pair(), pair(PROMPT.replace("many", "some")), pair(PROMPT.replace("many", "old"), " edge")]
    text = FORMS[form]
    for name, one in zip("PQR", texts, strict=True):
        text = text.replace(f"{{{name}}}", one)
    entries, faults = parse_answer(text)
    assert not faults
    assert [entry.category for entry in entries] == ["Agents", "Agents", "Graphs"]
    assert [json.dumps({"prompt": e.prompt, "target": e.target}) for e in entries] == texts


def test_an_entry_names_its_own_category_and_python_quotes():
    text = """[{'prompt': 'It\\'s "so" {not} a', 'target': " x", 'category': 'Agents'},]"""
    (entry,), faults = parse_answer(text)
    assert not faults and (entry.category, entry.prompt) == ("Agents", """It's "so" {not} a""")


@pytest.mark.parametrize("text", [
    "{'prompt': open('x').read(), 'target': ' x'}", "{'prompt': __import__('os').name, 'target': ' x'}",
    "{**{}, 'prompt': 'x'}", '{"prompt": "a b, "target": " x"}', '{"prompt": "a b',
    '{"prompt": 3, "target": " x"}', '{"prompt": “a”, "target": " x"}',
])  # fmt: skip
def test_unreadable_entries_are_listed_and_nothing_is_executed(text):
    good = pair()
    entries, faults = parse_answer(f"# Category 1: Agents\n{text}\n{good}\n")
    assert len(entries) == 1 and entries[0].prompt == PROMPT
    assert faults and all(fault.rule == "unreadable" and fault.line == 2 for fault in faults)


@given(st.text(alphabet="{}[]\"'\\:,#\n aprompttarget1", max_size=80))
def test_any_text_is_read_without_error(text):
    entries, faults = parse_answer(text)
    assert len(entries) + len(faults) <= text.count("{")
    assert check_answers({"a.txt": text}, ["a"], 1, STOPWORDS) is not None


@pytest.mark.parametrize(("prompt", "target", "broken"), [
    (PROMPT, " agent", []),
    (f"{FILLER} them are termed", " model-free algorithms", []),
    (f"{FILLER} them is known as the", " Bellman equation", []),
    ("It is called an", " agent", ["length"]),
    (f"{PROMPT.removesuffix(' an')} {'very ' * 30}an", " agent", ["length"]),
    (f"{FILLER} them", " agents", ["ending"]),
    (f"{FILLER} them is called:", " agent", ["ending"]),
    (f"{FILLER} them is called a", " agent", ["article"]),
    (PROMPT, " learner", ["article"]),
    (PROMPT, " MDP", []),
    (PROMPT, " hour", []),
    (f"{FILLER} them is called a", " unit", []),
    (f"{FILLER} them is called a", " Eulerian walk", []),
    (PROMPT, " agent of the state", ["stopword"]),
    (PROMPT, "agent", ["target blank"]),
    (PROMPT + " ", " agent", ["prompt end"]),
    (PROMPT.replace("thing", "agent"), " agent", ["answer"]),
])  # fmt: skip
def test_rules(prompt, target, broken):
    text = f"# Category 1: Agents\n{pair(prompt, target)}"
    assert rules(text) == broken
    answer = check_answers({"a.txt": text}, ["Agents"], 1, STOPWORDS)
    assert (len(answer.valid), len(answer.invalid)) == ((0, 1) if broken else (1, 0))


def test_counts_and_categories():
    second = pair(PROMPT.replace("many", "some"))
    text = f"# Category 1: agents\n{pair()} {second}\n# Category 2: Other\n{pair()}"
    answer = check_answers({"a.txt": text}, ["Agents", "Graphs"], 2, STOPWORDS)
    found = [(fault.line, fault.entry, fault.rule) for fault in answer.faults]
    assert found == [(0, 0, "count"), (0, 0, "count"), (4, 3, "category"), (4, 3, "duplicate")]
    assert [entry.category for entry in answer.valid] == ["Agents", "Agents"]
    assert "'Graphs' has 0 entries, not 2" in answer.faults[0].text


def test_from_keywords_to_an_imported_benchmark(tmp_path):
    def run(*arguments: object) -> str:
        done = run_command("request", *arguments)
        return done.stderr

    write_delimited(
        tmp_path / "keywords.tsv", ["keyword", "documents"], [["rare", 1], ["agents", 9], ["graphs", 10]]
    )
    run("write", "--keywords", tmp_path / "keywords.tsv", "--title", "AI", "--categories", 2,
        "--each", 2, "--output", tmp_path / "r.txt", "--list", tmp_path / "c.txt")  # fmt: skip
    assert (tmp_path / "c.txt").read_text() == "graphs\nagents\n"
    assert "I need 4 items" in (tmp_path / "r.txt").read_text()
    good = [pair(PROMPT.replace("many", word), " edge") for word in ("old", "new", "some")]
    text = (
        f"# Category 1: Graphs\n{good[0]}\n{good[1]}\n# Category 2: Agents\n{good[2]}\n{pair(target='xerox')}"
    )
    (tmp_path / "answer.txt").write_text(text)
    logged = run("read", "--answer", tmp_path / "answer.txt",
                 "--categories", tmp_path / "c.txt", "--each", 2,
                 "--output", tmp_path / "pairs.jsonl", "--faults", tmp_path / "f.csv")  # fmt: skip
    assert "3 entries follow the rules, 1 do not" in logged
    faults = read_delimited(tmp_path / "f.csv", ",")
    assert {(row["file"], row["line"], row["entry"]) for row in faults} == {("answer.txt", "6", "4")}
    assert {row["rule"] for row in faults} == {"target blank", "article"}
    assert len(read_json_lines(tmp_path / "pairs.jsonl")) == 3
    run_program("import_reference", "--entries", tmp_path / "pairs.jsonl", "--folder", tmp_path / "reference")


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def stub(monkeypatch):
    with serve(monkeypatch) as served:
        monkeypatch.setattr(services, "_WAIT", 0.01)
        yield served


@pytest.fixture
def settings(stub):
    return RequestSettings("some-model", 500, timeout=30.0, retries=2, service=f"{stub.url}/v1/")


@pytest.fixture
def requests(tmp_path):
    paths = [tmp_path / "requests" / f"request-{number:02d}.txt" for number in (1, 2, 3)]
    paths[0].parent.mkdir()
    for path in paths:
        path.write_text(f"Please write {path.stem}\n")
    return paths


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_an_answer_is_saved_with_its_record_and_without_the_key(stub, settings, requests, tmp_path):
    stub.replies = [completion(f"qa_pairs = [] # ä {SECRET}", model=SECRET), completion("two")]
    counts = send_requests(requests[:2], tmp_path / "answers", settings)
    assert counts == {"kept": 0, "received": 2, "input_tokens": 14, "output_tokens": 84}
    assert stub.asked == [
        {
            "model": "some-model",
            "max_tokens": 500,
            "messages": [{"role": "user", "content": path.read_text()}],
        }
        for path in requests[:2]
    ]
    assert (set(stub.paths), set(stub.keys)) == ({"/v1/chat/completions"}, {f"Bearer {SECRET}"})
    assert (tmp_path / "answers" / "request-01.txt").read_text() == "qa_pairs = [] # ä ***\n"
    record = read_json(tmp_path / "answers" / "request-01.json")
    assert record["service"] == settings.service and record["answer"]["model"] == "***"
    assert record["model"] == "some-model" and record["date"].endswith("+00:00")
    assert record["answer"]["response"]["usage"]["total_tokens"] == 49
    assert all(SECRET not in path.read_text() for path in (tmp_path / "answers").iterdir())


def test_an_answered_request_is_not_sent_again(stub, settings, requests, tmp_path, monkeypatch):
    folder = tmp_path / "answers"
    stub.replies = [completion("one"), (400, {"error": {"message": "max_tokens is too large"}})]
    with refuses(requests[1], "too large", "--max-tokens"):
        send_requests(requests, folder, settings)
    assert names(folder) == ["request-01.json", "request-01.txt"]
    (folder / "request-01.txt").write_text("mended by hand")
    stub.replies = [completion("two"), completion("three")]
    assert send_requests(requests, folder, settings)["kept"] == 1
    assert len(stub.asked) == 4
    assert (folder / "request-01.txt").read_text() == "mended by hand"
    (folder / "request-02.txt").unlink()
    # with all answers there, no key is needed
    assert (
        send_requests(requests, folder, replace(settings, service=reference_request.ANTHROPIC))["kept"] == 3
    )
    assert (folder / "request-02.txt").read_text() == "two\n"
    assert len(stub.asked) == 4


def test_an_answer_kept_from_a_streaming_client_counts_as_one(stub, settings, requests, tmp_path):
    stub.replies = [completion("one")]
    send_requests(requests[:1], tmp_path, settings)
    record = read_json(tmp_path / "request-01.json")
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "one"}]
    record["answer"] = {"content": blocks, "stop_reason": "end_turn", "usage": {"input_tokens": 7}}
    record["package"] = f"anthropic {record.pop('service')}"
    (tmp_path / "request-01.json").write_text(json.dumps(record))
    (tmp_path / "request-01.txt").unlink()
    assert send_requests(requests[:1], tmp_path, settings)["kept"] == 1
    assert (tmp_path / "request-01.txt").read_text() == "one\n"
    record["answer"]["content"] = [{"type": "text", "text": 5}]
    (tmp_path / "request-01.json").write_text(json.dumps(record))
    with refuses("request-01.json", "not an answer"):
        send_requests(requests[:1], tmp_path, settings)


def test_a_service_without_a_key_is_asked_without_one(stub, settings, requests, tmp_path, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE)
    stub.replies = [completion("one")]
    send_requests(requests[:1], tmp_path / "answers", settings)
    assert stub.keys == [""] and (tmp_path / "answers" / "request-01.txt").read_text() == "one\n"


@pytest.mark.parametrize(
    ("key", "said"), [(None, "no key"), ("  ", "no key"), ("sk-ä", "not a key"), ("sk a", "not a key")]
)
def test_a_missing_or_malformed_key_is_refused(stub, requests, tmp_path, monkeypatch, key, said):
    assert RequestSettings("m", 5).service == reference_request.ANTHROPIC
    if key is not None:
        monkeypatch.setenv(reference_request.ANTHROPIC_KEY, key)
    with refuses(reference_request.ANTHROPIC_KEY, said):
        send_requests(requests, tmp_path / "answers", RequestSettings("m", 5))
    assert stub.asked == []


@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_busy_service_is_asked_again(stub, settings, requests, tmp_path, status):
    stub.replies = [(status, {"error": {"message": "busy"}})] * 2 + [completion("one")]
    assert send_requests(requests[:1], tmp_path / "answers", settings)["received"] == 1
    stub.replies = [(status, {"error": {"message": "busy"}})] * 3
    with refuses(requests[0], f"answers {status}: busy", "kept"):
        send_requests(requests[:1], tmp_path / "others", settings)
    assert len(stub.asked) == 6


@pytest.mark.parametrize("wait", ["3600", "Fri, 31 Dec 2999 23:59:59 GMT"])
def test_a_service_does_not_say_how_long_we_wait(stub, settings, requests, tmp_path, wait):
    stub.replies = [(529, {"error": "busy"}, {"retry-after": wait}), completion("one")]
    started = time.monotonic()
    assert send_requests(requests[:1], tmp_path / "answers", settings)["received"] == 1
    assert time.monotonic() - started < 30


def test_a_long_answer_has_time_to_be_written():
    short, long = (RequestSettings("m", tokens, timeout=600.0).limits.timeout for tokens in (1, 32_000))
    assert short < 610 and long == 600 + 32_000 / 20


def test_the_newer_name_of_the_limit_is_used_where_it_is_asked_for(stub, settings, requests, tmp_path):
    said = {"error": {"message": "Unsupported parameter: use 'max_completion_tokens' instead."}}
    stub.replies = [(400, said), completion("one")]
    send_requests(requests[:1], tmp_path / "answers", settings)
    limits = [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in stub.asked]
    assert limits == [(500, None), (None, 500)]


@pytest.mark.parametrize(
    ("reply", "said"),
    [((401, {"error": {"message": f"wrong: {SECRET}"}}), ["answers 401: wrong: ***", KEY_VARIABLE]),
     ((404, {"error": {"message": "model: x"}}), ["answers 404: model: x", "--model", "/v1"]),
     ((404, "<html>"), ["answers 404", "/v1"]),
     ((200, "<html>"), ["not JSON", "/v1"]),
     ((400, f"\x1b[2J{SECRET}\r\n{'x' * 9000}"), ["[2J*** xx", "--max-tokens"]),
     ((200, {"choices": []}), ["not an answer of a language model", "--service"]),
     ((200, ["x"]), ["not an answer of a language model"]),
     (completion(5), ["not an answer of a language model"]),
     (completion("\ud800"), ["not JSON"]),
     ((400, "x" * 2_000_000), ["longer than 1,500,000 bytes"]),
     ((200, "x", {"content-encoding": "gzip"}), ["compressed"])],
)  # fmt: skip
def test_an_error_of_the_service_is_one_message(stub, settings, requests, tmp_path, reply, said):
    stub.replies = [reply]
    with refuses(requests[0], stub.url, *said) as found:
        send_requests(requests[:1], tmp_path / "answers", settings)
    assert SECRET not in str(found.value) and names(tmp_path / "answers") == []


@pytest.mark.parametrize(
    ("stop", "said"),
    [("length", "cut off at 500 tokens"), (None, "incomplete"), ("content_filter", "refuses to answer"),
     ("stop", "is empty"), (SECRET, "stop reason ***")],
)  # fmt: skip
def test_an_incomplete_answer_is_saved_separately(stub, settings, requests, tmp_path, stop, said):
    folder = tmp_path / "answers"
    for number in (1, 2):
        stub.replies = [completion(None if stop == "stop" else "qa_pairs = [", stop)]
        with refuses(requests[0], said, f"request-01.unfinished-{number}.json"):
            send_requests(requests[:1], folder, settings)
    assert names(folder) == ["request-01.unfinished-1.json", "request-01.unfinished-2.json"]
    assert all(SECRET not in path.read_text() for path in folder.iterdir())
    stub.replies = [completion("whole")]
    assert send_requests(requests[:1], folder, settings)["received"] == 1


def test_a_service_without_a_trusted_certificate_is_refused(stub, settings, requests, tmp_path):
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    subprocess.run(["openssl", *made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with listen(Handler, stub, context) as server, refuses("CERTIFICATE_VERIFY_FAILED", "SSL_CERT_FILE"):
        once = replace(settings, service=f"https://127.0.0.1:{server.server_port}/v1", retries=0)
        send_requests(requests[:1], tmp_path / "answers", once)
    assert stub.keys == []  # it was told nothing


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


def test_an_unreachable_service_is_named(stub, settings, requests, tmp_path):
    nowhere = replace(settings, service="http://127.0.0.1:9/v1", retries=0)
    with refuses(requests[0], "http://127.0.0.1:9/v1/chat/completions", "no answer"):
        send_requests(requests[:1], tmp_path / "a", nowhere)


def test_mismatched_requests_and_folders_are_refused(stub, settings, requests, tmp_path):
    folder = tmp_path / "answers"
    stub.replies = [completion("one")]
    send_requests(requests[:1], folder, settings)
    asked = len(stub.asked)
    twin = tmp_path / requests[1].name
    twin.write_text("other")
    cases = [([requests[0]], folder, replace(settings, model="other-model"), "not the answer of other-model"),
             ([requests[1], twin], folder, settings, "would overwrite"),
             ([requests[1]], requests[1].parent, settings, "among the requests"),
             ([tmp_path / "none.txt"], folder, settings, "no such file"),
             ([requests[1]], twin, settings, "answers cannot be saved")]  # fmt: skip
    for paths, place, chosen, text in cases:
        with refuses(text):
            send_requests(paths, place, chosen)
    requests[0].write_text("another text")
    with refuses("answer"):
        send_requests(requests, folder, settings)
    requests[0].write_text(" \n")
    with refuses("empty"):
        send_requests(requests, folder, settings)
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
    stub.replies = [completion(f"# Category 1: graphs\n{json.dumps(pair)}"),
                    completion(f"Here it is:\n# Category 1: agents\n{json.dumps(pair)}\n")]  # fmt: skip
    asked, service = sorted((tmp_path / "q").iterdir()), ("--service", f"{stub.url}/v1")
    logged = run("send", *service, "--request", *asked, "--model", "m", "--output", tmp_path / "a")
    assert "2 answers" in logged and SECRET not in logged
    run("read", "--answer", *sorted((tmp_path / "a").glob("*.txt")), "--categories",
        tmp_path / "c.txt", "--each", 1, "--source", "some model", "--output", tmp_path / "pairs.jsonl",
        "--faults", tmp_path / "faults.csv")  # fmt: skip
    assert [row["source"] for row in read_json_lines(tmp_path / "pairs.jsonl")] == ["some model"]
    (fault,) = read_delimited(tmp_path / "faults.csv", ",")
    assert (fault["file"], fault["line"], fault["rule"]) == ("r-02.txt", "3", "duplicate")
    assert fault["text"].endswith("line 2 of r-01.txt")
    run_program("import_reference", "--entries", tmp_path / "pairs.jsonl", "--folder", tmp_path / "reference")
    run("send", *service, "--request", *asked, "--model", "m", "--output", tmp_path / "b",
        "--max-tokens", 0, code=1)  # fmt: skip


def test_no_rule_of_the_workflow_sends_anything():
    rules = [*(ROOT / "workflow").rglob("*.smk"), ROOT / "workflow" / "Snakefile"]
    assert not [path for path in rules if re.search("reference_request|fathom request", path.read_text())]


def test_the_key_is_that_of_served_models():
    assert KEY_VARIABLE == registry.KEY_VARIABLE
