"""Each kind of name in each verb: a folder, a GGUF file, an adapter, a row, ids of the hub, a server."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from peft import LoraConfig, get_peft_model
from tests.models.gguf_model import make_llama, write_gguf
from tests.scoring.served.stub_server import NAME, Stub, serve
from tests.tables import write_models

from fathom.commands.main import main
from fathom.io.contracts.scoring import SCORES, TEXT_BITS
from fathom.io.delimited import read_rows
from fathom.io.files import read_json, read_json_lines, write_json, write_json_lines
from fathom.io.tables import read_table
from fathom.models.folders import save_model
from fathom.models.loading import load_model
from fathom.planning.rehearsal.hub_stub import read_folder, serve_hub

HERE = ("folder", "file.gguf", "adapter", "row", "ROW-OF", "org/model", "org/model@main", "org/model@COMMIT",
        "org/files/file.gguf", "org/lora")  # fmt: skip
SERVED = (f"ADDRESS#{NAME}", "served-row", "served")
ADAPTED = {"adapter", "org/lora"}


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Be where all the names mean the same weights; return what is typed for each kind of name."""
    folder = tmp_path_factory.mktemp("names")
    model, tokenizer = make_llama()
    save_model(folder / "folder", model, tokenizer)
    write_gguf(folder / "file.gguf", model, tokenizer)
    pairs = [{"keyword": target, "prompt": f"the policy of model {place} learns", "target": f" {target}"}
             for target in ("reward", "states") for place in range(4)]  # fmt: skip
    write_json_lines(folder / "pairs.jsonl", pairs)
    (folder / "text.txt").write_text("the policy of the agent learns a reward and 3 values\n")
    adapted = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False))
    adapted.save_pretrained(folder / "adapter")
    described = folder / "adapter" / "adapter_config.json"
    write_json(described, read_json(described) | {"base_model_name_or_path": "org/model"})
    with (
        pytest.MonkeyPatch.context() as patch,
        serve_hub() as hub,
        serve(Stub(*load_model(folder / "folder")), patch) as stub,
    ):
        (commit,) = hub.add("org/model", read_folder(folder / "folder"))
        hub.add(NAME, read_folder(folder / "folder"))  # as the server calls it: its tokenizer is taken
        hub.add("org/files", {"file.gguf": (folder / "file.gguf").read_bytes()})
        hub.add("org/lora", read_folder(folder / "adapter"))
        (folder / "config").mkdir()
        row = {"name": "row-of-a-table", "source": "../folder"}
        server = {"name": "served-row", "source": f"{stub.url}#{NAME}", "original": "row-of-a-table"}
        write_models(folder / "config" / "models.tsv", row, row | {"name": "row"}, server)
        constants = {"ENDPOINT": hub.address, "HF_HUB_CACHE": str(folder / "cache"), "HF_HUB_OFFLINE": False,
                     "HF_HUB_DISABLE_XET": True,
                     "HUGGINGFACE_CO_URL_TEMPLATE": hub.address + "/{repo_id}/resolve/{revision}/{filename}",
                     }  # fmt: skip
        for name, value in constants.items():
            patch.setattr(f"huggingface_hub.constants.{name}", value)
        patch.setenv("HF_HOME", str(folder / "home"))
        patch.chdir(folder)
        yield {name: name.replace("ADDRESS", stub.url).replace("COMMIT", commit) for name in (*HERE, *SERVED)}


def read_ranks(file: str) -> list[int]:
    return read_table(Path(file), SCORES)["rank"].to_list()


@pytest.mark.parametrize("kind", [*HERE, *SERVED[1:]])
def test_score_takes_any_name(typed, kind, tmp_path):
    main(["score", "folder", "pairs.jsonl", "--device", "cpu", "--output", str(tmp_path / "wanted.parquet")])
    wanted = read_ranks(tmp_path / "wanted.parquet")
    device = ["--top-k", "300"] if kind in SERVED else ["--device", "cpu"]
    main(["score", typed[kind], "pairs.jsonl", *device, "--output", str(tmp_path / "found.parquet")])
    assert (read_ranks(tmp_path / "found.parquet") == wanted) == (kind not in ADAPTED)
    assert len(wanted) == len(read_json_lines(Path("pairs.jsonl")))


@pytest.mark.parametrize("kind", ["org/lora", *SERVED[:2]])
def test_best_takes_any_name(typed, kind, tmp_path, capsys):
    words = [
        "best",
        "pairs.jsonl",
        "folder",
        typed[kind],
        "--device",
        "cpu",
        "--output",
        str(tmp_path / "best"),
    ]
    main(words)
    assert "not significantly different" in capsys.readouterr().out


@pytest.mark.parametrize("kind", [*HERE, *SERVED])
def test_bits_takes_any_name(typed, kind, tmp_path):
    shutil.copytree("folder", tmp_path / "same")
    models = f"{tmp_path / 'same'},{typed[kind]}"
    main(["bits", "text.txt", "--models", models, "--device", "cpu", "--window", "16",
          "--output", str(tmp_path / "bits")])  # fmt: skip
    one, other = (row["bits_per_byte"] for row in read_rows(tmp_path / "bits" / "bits.csv", TEXT_BITS))
    assert (one == pytest.approx(other, abs=1e-5)) == (kind not in ADAPTED)


@pytest.mark.parametrize("kind", ["adapter", "ROW-OF", "org/model@main"])
def test_watch_compares_with_any_name_that_has_weights(typed, kind, tmp_path, capsys):
    shutil.copytree("folder", tmp_path / "training" / "checkpoint-1")
    main(["watch", str(tmp_path / "training"), "--pairs", "pairs.jsonl", "--base", typed[kind],
          "--idle", "0", "--every", "0.1", "--device", "cpu"])  # fmt: skip
    base, checkpoint = map(json.loads, capsys.readouterr().out.splitlines())
    same = base["log_probability"] == pytest.approx(checkpoint["log_probability"])
    assert same == (kind not in ADAPTED)
