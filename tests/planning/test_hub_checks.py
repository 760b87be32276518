"""What a run fetches is asked for before its first job: of a stub of the hub that refuses as the hub does."""

import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.tables import write_models

from fathom.config.whole import read_config
from fathom.planning.hub_checks import check_fetched, list_wanted
from fathom.planning.rehearsal.hub_stub import serve_hub

COMMIT, MISSING = "a" * 40, "0" * 40
TEXTS = {"dataset": "org/texts", "revision": COMMIT}
BASE = {"domains": {"law": {"categories": ["law"]}}, "pairs": {"tokenizer": "gpt2"}}
SERVICE = {"service": "http://127.0.0.1:9/v1", "model": "m", "key_variable": "FATHOM_TEST_KEY"}
NAMES = ("tiny", "gated", "pinned", "gone", "file", "local")
FETCHED = [("fetch_model", {"model": name}) for name in NAMES]


@pytest.fixture(autouse=True)
def _no_answers_kept(monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv(SERVICE["key_variable"], raising=False)


@pytest.fixture
def hub():
    with serve_hub() as hub:
        for name in ("org/tiny", "org/gated", "org/texts", "org/quantised"):
            hub.publish(name, COMMIT, {"config.json": b"{}"})
        hub.gated.add("org/gated")
        yield hub


@pytest.fixture
def registry(tmp_path):
    (tmp_path / "here").mkdir()
    sources = ["org/tiny", "org/gated", "org/tiny", "org/gone", "org/quantised/m.gguf", "./here"]
    rows = [{"name": name, "source": source} for name, source in zip(NAMES, sources, strict=True)]
    rows[2]["revision"] = MISSING
    return write_models(tmp_path / "models.tsv", *rows)


def make_config(**changes):
    return read_config(BASE | changes, "my.yaml")


def test_all_that_cannot_be_had_is_said_at_once_with_its_row_and_what_to_do(hub, registry):
    obstacles, notes = check_fetched(make_config(), registry, FETCHED, hub.address)
    said = {error.where.rpartition(" ")[2]: (error.what, error.hint) for error in obstacles}
    assert list(said) == ["gated", "pinned", "gone"]
    assert "is gated" in said["gated"][0]
    assert "/org/gated" in said["gated"][1]
    assert "hf auth login" in said["gated"][1]
    assert MISSING in said["pinned"][0]
    assert "is not on the hub" in said["gone"][0]
    assert notes == []


def test_a_gated_model_with_a_revision_is_refused_though_the_hub_lists_it(hub, registry, tmp_path):
    row = {"name": "gated", "source": "org/gated", "revision": COMMIT}
    table = write_models(tmp_path / "other.tsv", row)
    (error,) = check_fetched(make_config(), table, FETCHED[1:2], hub.address).obstacles
    assert "is gated" in error.what


def test_only_what_jobs_still_fetch_is_asked(hub, registry):
    assert check_fetched(make_config(), registry, [("score_model", {"model": "gone"})], hub.address) == (
        [],
        [],
    )
    assert check_fetched(make_config(), registry, FETCHED[-1:], hub.address) == ([], [])
    assert hub.asked == []
    (file,) = list_wanted(make_config(), registry, FETCHED[4:5])
    assert file.identifier == "org/quantised"


def test_optional_models_are_said_and_are_no_obstacle(hub, registry):
    config = make_config(models={"score": ["tiny", "gated"], "optional": ["gated"]})
    obstacles, (note,) = check_fetched(config, registry, FETCHED[:2], hub.address)
    assert obstacles == []
    assert "org/gated is gated" in note
    only = make_config(models={"score": ["tiny", "gated"], "optional": ["gated"], "only": ["gated"]})
    assert check_fetched(only, registry, FETCHED[:2], hub.address).obstacles


def test_data_sets_are_asked_for_at_their_commits(hub, registry):
    config = make_config(
        choices={"questions": {"mmlu": {"hub": "org/none", "revision": COMMIT}}},
        perplexity={"texts": {"law": TEXTS | {"revision": MISSING}}},
        models={"score": ["gpt2"], "texts": {"law": TEXTS}},
    )
    jobs = [("read_choices", {"questions": "mmlu"}), ("fetch_held_out", {"domain": "law"})]
    obstacles, _ = check_fetched(config, registry, [*jobs, ("fetch_texts", {"domain": "law"})], hub.address)
    assert [error.where for error in obstacles] == ["choices.questions.mmlu", "perplexity.texts.law"]
    assert all(path.startswith("api/datasets/") for _, path, _ in hub.asked)


def test_a_service_without_its_key_is_an_obstacle_where_it_is_asked(registry, monkeypatch):
    config = make_config(models={"speaking": {"talker": SERVICE}})
    jobs = [("answer_choices_served", {"model": "talker"})]
    (error,) = check_fetched(config, registry, jobs).obstacles
    assert "export FATHOM_TEST_KEY=" in error.hint
    assert check_fetched(config, registry, []) == ([], [])
    monkeypatch.setenv("FATHOM_TEST_KEY", "k")
    assert check_fetched(config, registry, jobs) == ([], [])


def test_offline_nothing_is_asked_and_one_line_says_so(hub, registry, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    obstacles, notes = check_fetched(make_config(), registry, FETCHED, hub.address)
    assert (obstacles, len(notes), hub.asked) == ([], 1, [])


def test_a_hub_that_fails_is_no_obstacle_and_one_that_hangs_does_not_hold_the_run(registry, monkeypatch):
    monkeypatch.setattr("fathom.planning.hub_checks.SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, answers none
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        obstacles, (note,) = check_fetched(make_config(), registry, FETCHED, address)
        assert time.monotonic() - start < 4
    assert obstacles == []
    assert "org/gone" in note
    assert note.count("org/tiny") == 1  # wanted at two revisions
    obstacles, (note,) = check_fetched(make_config(), registry, FETCHED, address)  # nobody listens now
    assert obstacles == []
    assert "not known" in note


def test_a_login_page_in_place_of_the_hub_is_no_obstacle(registry):
    class Portal(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>log in</html>")

    with ThreadingHTTPServer(("127.0.0.1", 0), Portal) as portal:
        threading.Thread(target=portal.serve_forever, daemon=True).start()
        obstacles, (note,) = check_fetched(
            make_config(), registry, FETCHED, f"http://127.0.0.1:{portal.server_port}"
        )
        portal.shutdown()
    assert obstacles == []
    assert note.endswith("org/tiny")  # the one row with a revision, which is asked for in JSON


def test_where_nothing_is_fetched_the_client_of_the_hub_is_not_imported(registry):
    script = f"""
import sys
from pathlib import Path
from fathom.config.whole import read_config
from fathom.planning.hub_checks import check_fetched
check_fetched(read_config({BASE!r}, "my.yaml"), Path({str(registry)!r}), [("score_model", {{}})])
assert "huggingface_hub" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
