"""Models from the hub, for which a stub stands in: by revision, cut off, refused; then scored offline."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType
from tests.models.gguf_model import make_llama, write_gguf
from tests.programs import MODELS, find_program, run_command, run_program
from tests.refusals import refuses
from tests.tables import write_models
from transformers import GPT2Config, GPT2LMHeadModel, set_seed

from fathom.io.files import read_json, write_json_lines
from fathom.models.fetching import find_pointer
from fathom.models.folders import fingerprint_folder
from fathom.models.loading import read_pointer
from fathom.planning.rehearsal.hub_stub import Hub, read_folder, serve_hub

SHARD = "model-00001-of-00002.safetensors"
CUT = 11_000_000  # the client keeps what it read in pieces of 10 MiB
MISSING = "0" * 40


@pytest.fixture(scope="module")
def revisions(tokenizer, tmp_path_factory) -> list[dict[str, bytes]]:
    """Return the files of two revisions of a model, with weights in two files."""
    found = []
    for seed in range(2):
        set_seed(seed)
        config = GPT2Config(
            vocab_size=len(tokenizer), n_positions=32, n_embd=256, n_inner=12_000, n_layer=1, n_head=2
        )
        folder = tmp_path_factory.mktemp("revision")
        tokenizer.save_pretrained(folder)
        (folder / "chat_template.jinja").write_text("{{ messages[0].content }}")
        GPT2LMHeadModel(config).save_pretrained(folder, max_shard_size="15MB")
        found.append(read_folder(folder))
    assert len(found[0][SHARD]) > CUT
    return found


@pytest.fixture
def hub(revisions: list[dict[str, bytes]]) -> Iterator[Hub]:
    with serve_hub() as hub:
        hub.add("org/tiny", *revisions)
        yield hub


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a registry whose models lie on the hub."""
    revisions = {"tiny": "", "nothing": "", "pinned": MISSING, "old": "old"}
    rows = [{"name": name, "source": "org/tiny", "revision": each} for name, each in revisions.items()]
    rows[1]["source"] = "org/nothing"
    write_models(tmp_path / "models.tsv", *rows)
    return tmp_path


def make_environment(hub: Hub, place: Path, **changes: str) -> dict[str, str]:
    values = {"HF_ENDPOINT": hub.address, "HF_HOME": str(place / "hub"), "HF_HUB_OFFLINE": "0"}
    # the hub's own storage protocol has no stub
    return {**values, "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", **changes}


def fetch(hub, place, name, program="fetch_model", **changes) -> subprocess.CompletedProcess[str]:
    return run_program(
        program, "--model", name, "--registry", place / "models.tsv", "--pointer", place / f"{name}.json",
        environment=make_environment(hub, place, **changes),
    )  # fmt: skip


def refuse(hub: Hub, place: Path, name: str, *problems: str, **changes: str) -> None:
    """Fetch a model that cannot be fetched; see that there is one message and nothing else."""
    where = f"[fetch_model] Error: {place / 'models.tsv'}, row {name}: model '{name}' "
    with refuses(where, *problems) as caught:
        fetch(hub, place, name, **changes)
    assert not (place / f"{name}.json").exists() and str(caught.value).count("] Error: ") == 1


def check_files(place: Path, name: str, files: dict[str, bytes]) -> None:
    assert read_folder(read_pointer(place / f"{name}.json").path) == files


def test_a_model_is_fetched_by_name_and_scored_offline(hub, place, revisions):
    done = fetch(hub, place, "tiny")
    check_files(place, "tiny", revisions[1])
    pointer = read_pointer(place / "tiny.json")
    assert pointer.revision == hub.branches["org/tiny"]["main"]
    assert f"tiny has no pinned revision: fetched {pointer.revision}" in done.stderr
    assert pointer.fingerprint == fingerprint_folder(pointer.path)
    write_json_lines(place / "pairs.jsonl", [{"prompt": "the policy of the", "target": " agent"}])
    hub.asked.clear()
    run_command(
        "score", "tiny.json", "pairs.jsonl", "--device", "cpu", folder=place, imports=MODELS,
        environment=make_environment(hub, place, HF_HUB_OFFLINE="1"),
    )  # fmt: skip
    assert read_json(place / "pairs.tiny.json")["fingerprint"] == pointer.fingerprint
    assert not hub.asked


def test_a_model_is_fetched_by_revision(hub, place, revisions):
    first = next(iter(hub.files["org/tiny"]))
    (place / "models.tsv").write_text((place / "models.tsv").read_text().replace(MISSING, first))
    fetch(hub, place, "pinned")
    check_files(place, "pinned", revisions[0])
    assert read_pointer(place / "pinned.json").revision == first
    hub.asked.clear()
    fetch(hub, place, "pinned")
    assert not [path for method, path, _ in hub.asked if method == "GET" and "/resolve/" in path]


def test_weights_of_a_run_leave_nothing_elsewhere(hub, place, revisions):
    folder = place / "models" / "tiny" / "weights"
    named = ("fetch_weights", "--registry", place / "models.tsv", "--model")
    hub.cuts[SHARD], hub.broken_after_cut = (CUT, "close"), True
    for code in (1, 0):  # cut off, then taken up
        run_program(*named, "tiny", "--weights", folder, environment=make_environment(hub, place), code=code)
        assert folder.exists() == (code == 0)
        hub.broken = False
    commit = hub.branches["org/tiny"]["main"]
    assert read_folder(folder) == revisions[1] | {"revision.txt": commit.encode()}
    assert [path.name for path in folder.parent.iterdir()] == ["weights"]
    assert not any(file.is_symlink() for file in folder.iterdir())
    assert not (place / "hub" / "hub").exists()
    run_program(
        "fetch_model", "--registry", place / "models.tsv", "--model", "tiny", "--weights", folder,
        "--pointer", folder.parent / "model.json", environment={"HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    pointer = read_pointer(folder.parent / "model.json")
    assert (pointer.path, pointer.revision) == (folder, commit)
    # a model in a folder of one's own is not deleted with the links to it
    (place / "models.tsv").write_text((place / "models.tsv").read_text().replace("org/nothing", str(folder)))
    other = place / "models" / "nothing" / "weights"
    run_program(*named, "nothing", "--weights", other, environment={"HF_HUB_OFFLINE": "1"})
    assert all(file.is_symlink() for file in other.iterdir() if file.name != "revision.txt")
    assert fingerprint_folder(other) == pointer.fingerprint


@pytest.mark.parametrize("way", ["close", "reset"])
def test_a_cut_connection_is_taken_up_again(hub, place, revisions, way):
    hub.cuts[SHARD] = (CUT, way)
    if way == "reset":  # an error of the network: the next fetch goes on with what is missing
        with refuses("tiny"):
            fetch(hub, place, "tiny")
    fetch(hub, place, "tiny")
    check_files(place, "tiny", revisions[1])
    second = {"close": f"bytes={10 * 2**20}-", "reset": ""}[way]
    assert hub.list_downloads(SHARD) == ["", second]
    assert hub.list_downloads("model-00002-of-00002.safetensors") == [""]


def test_a_fetch_that_was_stopped_goes_on(hub, place, revisions):
    hub.cuts[SHARD], hub.broken_after_cut = (CUT, "close"), True
    refuse(hub, place, "tiny", "org/tiny", "Server error", "start again")
    refuse(hub, place, "tiny", "cannot be fetched", HF_HUB_OFFLINE="1")  # half a model is none
    hub.broken = False
    fetch(hub, place, "tiny")
    check_files(place, "tiny", revisions[1])
    # whole each time, and twice if the other's failure stopped it
    assert set(hub.list_downloads("model-00002-of-00002.safetensors")) == {""}


def test_what_the_hub_does_not_give(hub, place):
    for name, revision in (("pinned", MISSING), ("old", "old")):
        refuse(hub, place, name, "org/tiny", f"revision {revision!r}", "commit, branch or tag")
    refuse(hub, place, "nothing", "org/nothing", "is not on the hub, or is private")
    refuse(hub, place, "tiny", "Connection refused", HF_ENDPOINT="http://127.0.0.1:9")
    hub.gated.add("org/tiny")
    refuse(hub, place, "tiny", f"{hub.address}/org/tiny", "gated", "hf auth login")


def test_pickled_weights_are_not_even_fetched(hub, place, revisions):
    files = {name: text for name, text in revisions[0].items() if "safetensors" not in name}
    hub.add("org/tiny", files | {"pytorch_model.bin": b"never read"})
    with refuses(place / "models.tsv", "tiny", "pickled (pytorch_model.bin)"):
        fetch(hub, place, "tiny")
    assert not hub.list_downloads("pytorch_model.bin") and not hub.list_downloads("config.json")


def test_only_weights_that_the_index_names_are_fetched_and_hashed(hub, place, revisions):
    """Repositories hold the same weights once more, for other programs."""
    more = {"consolidated.safetensors": b"as much again", "consolidated.safetensors.index.json": b"{}"}
    hub.add("org/tiny", revisions[1] | more)
    fetch(hub, place, "tiny")
    pointer = read_pointer(place / "tiny.json")
    assert not hub.list_downloads("consolidated.safetensors")
    assert {file.name for file in pointer.path.iterdir()} == {*revisions[1], list(more)[1]}
    (pointer.path / "consolidated.safetensors").write_bytes(more["consolidated.safetensors"])
    assert fingerprint_folder(pointer.path) == pointer.fingerprint
    (pointer.path / SHARD).unlink()
    assert fingerprint_folder(pointer.path) != pointer.fingerprint


def test_a_gguf_file_of_the_hub_is_fetched_alone(hub, place, tmp_path):
    file = write_gguf(tmp_path / "tiny-Q8_0.gguf", *make_llama(), kind=GGMLQuantizationType.Q8_0)
    hub.add(
        "org/tiny", {file.name: file.read_bytes(), "tiny-F16.gguf": b"not asked for", "config.json": b"{}"}
    )
    registry = (place / "models.tsv").read_text()
    (place / "models.tsv").write_text(registry.replace("org/tiny", f"org/tiny/{file.name}", 1))
    fetch(hub, place, "tiny")
    pointer = read_pointer(place / "tiny.json")
    assert (pointer.revision, pointer.quantization) == (hub.branches["org/tiny"]["main"], "GGUF Q8_0")
    assert pointer.path.is_relative_to(place / "hub") and (pointer.path / "model.safetensors").is_file()
    assert not hub.list_downloads("tiny-F16.gguf") and not hub.list_downloads("config.json")
    refuse(hub, place, "pinned", "revision")
    with refuses(place / "models.tsv", "row tiny", "2 GGUF files", "tiny-F16.gguf"):
        (place / "models.tsv").write_text(registry)
        fetch(hub, place, "tiny")
    with refuses("no file tiny-Q4.gguf", "tiny-F16.gguf, tiny-Q8_0.gguf"):
        (place / "models.tsv").write_text(registry.replace("org/tiny", "org/tiny/tiny-Q4.gguf", 1))
        fetch(hub, place, "tiny")


def test_a_disk_too_small_is_noticed_before_the_download(hub, place):
    program = place / "fetch_model.py"
    program.write_text(
        "import runpy, shutil, sys\nfrom types import SimpleNamespace\n"
        "shutil.disk_usage = lambda path: SimpleNamespace(free=13_000_000)\n"
        f"runpy.run_path({str(find_program('fetch_model'))!r}, run_name='__main__')\n"
    )
    size = sum(len(text) for text in hub.files["org/tiny"][hub.branches["org/tiny"]["main"]].values())
    with refuses(f"{size / 1e6:.1f} MB", "13.0 MB", place / "hub" / "hub", "HF_HOME"):
        fetch(hub, place, "tiny", program)
    assert not hub.list_downloads(SHARD)
    fetch(hub, place, "tiny")
    fetch(hub, place, "tiny", program)  # what is there needs no space


def test_a_person_may_name_a_row_of_the_table_of_models(model_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    rows = [{"name": "mine", "source": str(model_folder), "kind": "chat"},
            {"name": "far", "source": "http://localhost:1/v1#far", "original": "mine"}]  # fmt: skip
    write_models(tmp_path / "config" / "models.tsv", *rows)
    found = find_pointer("mine")
    assert (found.name, found.path, found.chat_template) == ("mine", model_folder, False)
    assert find_pointer("mine@chat").chat_template
    with refuses("localhost:1", "ADDRESS#NAME"):
        find_pointer("far")
    (tmp_path / "mine").symlink_to(model_folder)
    assert find_pointer("mine").path.name == "mine"  # what is there comes first
