"""`fathom export --publish`: a data set and a site that can be pushed as they are, and what is pushed."""

import base64
import json
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace

import pytest
import yaml
from tests.explorer.runs import write_run
from tests.programs import DATASETS, run_command
from tests.refusals import refuses
from tests.servers import listen

from fathom.commands.main import main
from fathom.io.files import hash_folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("runs") / "small", keywords=4, each=5)


def publish(run, output) -> dict:
    main(["export", str(run), "--output", str(output), "--publish"])
    card = (output / "dataset" / "README.md").read_text()
    front: dict = yaml.safe_load(card.split("---")[1])
    return front


def test_each_configuration_of_the_card_names_its_pairs(run, tmp_path):
    datasets = pytest.importorskip("datasets")
    front = publish(run, tmp_path / "out")
    assert [each["config_name"] for each in front["configs"]] == ["physics-tf", "physics-tfidf"]
    folder = tmp_path / "out" / "dataset"
    for each in front["configs"]:
        (files,) = each["data_files"]
        rows = datasets.load_dataset(
            str(folder), each["config_name"], split=files["split"], cache_dir=str(tmp_path / "cache")
        )
        assert len(rows) == 20 and rows[0]["prompt"]
    assert (folder / "results" / "summary.csv").read_bytes() == (run / "summary.csv").read_bytes()


def test_the_site_is_the_page_of_the_run_and_a_static_space(run, tmp_path):
    for name in ("one", "two"):
        publish(run, tmp_path / name)
    assert hash_folder(tmp_path / "one") == hash_folder(tmp_path / "two")
    site = tmp_path / "one" / "site"
    assert {each.name for each in site.iterdir()} == {"index.html", "README.md"}
    front = yaml.safe_load((site / "README.md").read_text().split("---")[1])
    assert front["sdk"] == "static" and front["app_file"] == "index.html"
    assert "alpha" in (site / "index.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--publish", "--without-pairs"], "--without-pairs"), (["--push", "me"], "OWNER/NAME")],
)
def test_what_cannot_be_published_is_refused(run, tmp_path, capsys, arguments, message):
    with pytest.raises(SystemExit):
        main(["export", str(run), "--output", str(tmp_path / "out"), *arguments])
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_link_out_of_the_run_is_not_published(tmp_path):
    run = write_run(tmp_path / "run", {"alpha": 1.0}, keywords=2, each=3, variants=["tf"])
    (tmp_path / "secret").write_text("{}")
    (run / "physics" / "benchmark" / "tf" / "croissant.json").symlink_to(tmp_path / "secret")
    with refuses("leads out", "croissant.json"):
        run_command("export", run, "--output", tmp_path / "out", "--publish", imports=DATASETS)
    assert not (tmp_path / "out").exists()


class _Handler(BaseHTTPRequestHandler):
    stub: SimpleNamespace

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        path = self.path.partition("?")[0]
        if self.headers.get("authorization") != "Bearer hf_right":
            return self._send(401, {"error": "Invalid credentials"})
        if path == "/api/repos/create":
            asked = json.loads(body)
            self.stub.made.append(asked)
            kind = f"{asked['type']}s"
            return self._send(200, {"url": f"{self.stub.url}/{kind}/{asked['organization']}/{asked['name']}"})
        if path.endswith("/preupload/main"):
            files = [
                {"path": each["path"], "uploadMode": "regular", "shouldIgnore": False}
                for each in json.loads(body)["files"]
            ]
            return self._send(200, {"files": files})
        if path == "/api/validate-yaml":
            return self._send(200, {"errors": [], "warnings": []})
        pushed = self.stub.pushed.setdefault(path.split("/commit/")[0], {})
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                pushed[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
        return self._send(200, {"commitUrl": f"{self.stub.url}/us/physics/commit/0", "commitOid": "0" * 40})

    def _send(self, status: int, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def test_what_is_pushed_is_what_was_written_and_new_repositories_are_private(run, tmp_path):
    stub = SimpleNamespace(made=[], pushed={}, url="")
    with listen(_Handler, stub) as server:
        stub.url = f"http://127.0.0.1:{server.server_port}"
        online = {"HF_ENDPOINT": stub.url, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
        online |= {"HF_HOME": str(tmp_path / "hub"), "HF_TOKEN": "hf_right"}

        def push(name: str, **more: str):
            words = ("export", run, "--output", tmp_path / name, "--push", "us/physics")
            return run_command(*words, environment=online | more, imports=DATASETS)

        said = push("out").stdout
        with refuses("--push us/physics", "hf auth login"):
            push("refused", HF_TOKEN="hf_wrong")
    assert f"{stub.url}/datasets/us/physics" in said and f"{stub.url}/spaces/us/physics" in said
    assert [(each["type"], each["visibility"]) for each in stub.made] == [
        ("dataset", "private"),
        ("space", "private"),
    ]
    for kind, name in (("datasets", "dataset"), ("spaces", "site")):
        written = tmp_path / "out" / name
        files = {
            each.relative_to(written).as_posix(): each.read_bytes()
            for each in written.rglob("*")
            if each.is_file()
        }
        assert stub.pushed[f"/api/{kind}/us/physics"] == files
    assert (tmp_path / "refused" / "dataset" / "README.md").is_file()
