"""The table of models."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.refusals import refuses
from tests.tables import write_models

from fathom.models.registry import find_model, match_name, read_registry

ROOT = Path(__file__).resolve().parents[2]


def test_the_shipped_table_is_right():
    entries = read_registry(ROOT / "config" / "models.tsv")
    assert entries["Llama-2-7b-chat"].base_of == "Llama-2-7b"
    assert entries["Llama-2-7b"].add_bos is True
    assert entries["gpt2-xl"].add_bos is None
    assert entries["gpt2"].parameters == 124_000_000
    assert entries["Qwen1.5-14B-Chat"].base_of == "Qwen1.5-14B" and entries["gemma-2-9b-it"].add_bos is True
    assert entries["gpt2"].cutoff == "2017-12-31" and entries["Qwen2-7B"].cutoff == ""
    tuned = [(entry, entries[entry.base_of]) for entry in entries.values() if entry.base_of]
    for entry, base in tuned:
        assert entry.kind == "chat" and entry.tokens == base.tokens
        assert base.parameters in (entry.parameters, None), entry.name


@pytest.mark.parametrize(("typed", "row"), [
    ("smollm2", "SmolLM2-135M-Instruct-Q4_1"), ("gemma3-270m", "gemma-3-270m-Q4_K_M"), ("gpt2", "gpt2"),
    ("qwen3-0.6b", "Qwen3-0.6B"), ("olmo3-1025", "Olmo-3-1025-7B"), ("phi4", "phi-4"),
])  # fmt: skip
def test_usual_names_fit_one_row_of_the_shipped_table(typed, row):
    assert match_name(typed, read_registry(ROOT / "config" / "models.tsv"), "x") == row


def test_values_have_types(tmp_path):
    entry = read_registry(write_models(tmp_path / "m.tsv", {"source": "org/a", "parameters": "7"}))["a"]
    assert (entry.parameters, entry.tokens, entry.kind) == (7, None, "base")


def test_a_further_column_needs_no_edit_of_other_rows(tmp_path):
    shipped = (ROOT / "config" / "models.tsv").read_text().splitlines()
    own = tmp_path / "models.tsv"
    lines = [f"{shipped[0]}\tadapter_of\tnotes", *shipped[1:], "mine\t\torg/a\t\tbase\t\t\t\tfloat32"]
    own.write_text("\n".join(lines) + "\n")
    entries = read_registry(own)
    assert {name: entries[name] for name in entries if name != "mine"} == read_registry(
        ROOT / "config" / "models.tsv"
    )
    assert (entries["mine"].source, entries["mine"].weights) == ("org/a", "")


@pytest.mark.parametrize("row", ["b\t\torg/b\t\tbase\t\t\t", "b\t\torg/b\tbase", "b" + "\t" * 20])
def test_a_row_that_ends_before_a_needed_column_or_is_too_long_is_refused(tmp_path, row):
    path = write_models(tmp_path / "m.tsv", {"source": "org/a"})
    path.write_text(path.read_text().rstrip("\n") + f"\n{row}\n")
    with refuses(path, "line 3", "fields where the header has"):
        read_registry(path)


@pytest.mark.parametrize(("change", "problem"), [
    ({"kind": "bass"}, "line 3: kind = 'bass'\nHint: one of: base, chat"),
    ({"dtype": "int8"}, "line 3: dtype = 'int8'"),
    ({"parameters": "7B"}, "line 3, column parameters: '7B' is not a whole number"),
    ({"source": ""}, "line 3: empty source"),
    ({"name": "meta-llama/b"}, "line 3: name = 'meta-llama/b'"),
    ({"name": "../b"}, "line 3: name = '../b'"),
    ({"name": "b+c"}, "line 3: name = 'b+c'"),  # as adapted models are named
    ({"cutoff": "2023-12"}, "line 3: cutoff = '2023-12'"),
    ({"weights": "safe"}, "line 3: weights = 'safe'"),
    ({"name": "a"}, "line 3: duplicate model 'a'"),
    ({"base_of": "c"}, "base_of of 'b' names an unknown model, 'c'"),
])  # fmt: skip
def test_wrong_values_are_named(tmp_path, change, problem):
    path = write_models(tmp_path / "m.tsv", {"source": "org/a"}, {"name": "b", "source": "org/a", **change})
    with refuses(problem, path):
        read_registry(path)


@pytest.mark.parametrize(
    "source",
    [
        "ftp://me:SECRET@host/v1#m", "git+https://SECRET@host/m", " https://me:SECRET@host/v1#m",
        "https:/me:SECRET@host/v1#m", "hf://me:SECRET@host/m",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_without_its_secret(tmp_path, source):
    path = write_models(tmp_path / "m.tsv", {"source": "org/a"}, {"name": "b", "source": source})
    with refuses("host") as caught:
        read_registry(path)
    assert "SECRET" not in str(caught.value)


def test_a_missing_column_is_named(tmp_path):
    (tmp_path / "m.tsv").write_text("name\tfamily\na\tb\n")
    with refuses("source"):
        read_registry(tmp_path / "m.tsv")


def test_an_unknown_name_gets_the_nearest():
    path = ROOT / "config" / "models.tsv"
    with refuses("gpt2-x", "gpt2-xl"):
        find_model(read_registry(path), "gpt2-x", path)


def test_a_chat_model_can_be_named_inside_its_template():
    path = ROOT / "config" / "models.tsv"
    entries = read_registry(path)
    found = find_model(entries, "Qwen2-7B-Instruct@chat", path)
    assert found == replace(entries["Qwen2-7B-Instruct"], name="Qwen2-7B-Instruct@chat", chat_template=True)
    assert not entries["Qwen2-7B-Instruct"].chat_template
    with refuses("'Qwen2-7B'", "chat"):
        find_model(entries, "Qwen2-7B@chat", path)
    with refuses("Qwen2-7B-Instruct"):
        find_model(entries, "Qwen2-7B-Instuct@chat", path)


def test_every_checkpoint_of_the_papers_table_has_its_revision(shared):
    (paper,) = (shared.parent / "papers").glob("000_*.txt")
    first, *_ = (line for line in paper.read_text().splitlines() if line.startswith("First 50\t"))
    spaced, *_ = (line for line in paper.read_text().splitlines() if line.startswith("Equally Spaced\t"))
    stage1 = {f"stage1-step{step}-tokens{size}" for step, size in re.findall(r"(\d+)\((\d+B)\)", first)}
    steps = {
        f"stage1-step{step}-tokens{size}"
        for step, size in re.findall(r"(\d+)\((\d+B)\)", spaced.split("Stage2")[0])
    }
    stage2 = {
        f"stage2-{ingredient}-step{step}-tokens{size}"
        for ingredient, step, size in re.findall(r"(ingredient\d)-step(\d+)\((\d+B)\)", spaced)
    }
    assert (len(stage1), len(steps), len(stage2)) == (50, 50, 5)
    entries = read_registry(ROOT / "config" / "models.tsv").values()
    revisions = {entry.revision for entry in entries if entry.source == "allenai/OLMo-2-1124-7B"}
    assert stage1 | steps | stage2 <= revisions


def test_revisions_are_commits_or_names_of_checkpoints():
    for entry in read_registry(ROOT / "config" / "models.tsv").values():
        assert re.fullmatch(r"([0-9a-f]{40}|stage\d-.*-tokens\d+B)?", entry.revision), entry.name
