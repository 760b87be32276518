"""`fathom build`: what it finds, what it writes, and what it refuses."""

import os
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tests.documents import GERMAN
from tests.programs import DATASETS, SNAKEMAKE, run_command
from tests.refusals import refuses

from fathom.commands import main as command
from fathom.config.whole import read_config
from fathom.config.yaml_files import parse_yaml
from fathom.corpus.corpus_files import list_documents
from fathom.models.registry import match_name
from fathom.planning.builds import (
    Found,
    choose_domains,
    examine,
    look_at,
    make_configuration,
    name_run,
    write_configuration,
)
from fathom.planning.folder_names import find_nameless
from fathom.planning.rehearsal.hub_stub import serve_hub

MODELS = ["SmolLM2-135M-Instruct-Q4_1", "gemma-3-270m-Q4_K_M", "gpt2", "gpt2-medium"]


def write_folder(folder: Path, **files: int) -> Path:
    """Write a folder with a number of files in each sub-folder; each has eleven sections of eleven words."""
    for name, count in (files or {"law": 30, "medicine": 20, "rest": 2}).items():
        for number in range(count):
            path = folder / "texts" / (name if name != "top" else "") / f"{number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = f"The court of number {number} hears the appeal of the plaintiff.\n"
            path.write_text("".join(f"# Part {part}\n\n{text}\n" for part in range(11)))
    return folder / "texts"


def test_a_folder_becomes_a_configuration_that_is_valid_and_kept(tmp_path):
    found = look_at(str(write_folder(tmp_path)), {})
    assert (found.count, found.documents) == (52, 52 * 11)
    assert found.words == 52 * 11 * 11
    assert found.groups == {"law": 330, "medicine": 220, "rest": 22}
    domains, _ = choose_domains(found)
    assert domains == {"law": ["law.*"], "medicine": ["medicine.*"]}
    path = tmp_path / "own.yaml"
    assert not write_configuration(path, "own", found, MODELS[:2])
    config = read_config(parse_yaml(path.read_text(), str(path)), str(path))
    assert config.corpus.source == "folder"
    assert config.pairs.tokenizer == MODELS[0]
    assert config.models.score == MODELS[:2]
    path.write_text(path.read_text() + "# a note\n")
    assert write_configuration(path, "own", found, MODELS[:2])
    assert path.read_text().endswith("# a note\n")
    path.write_text(path.read_text().replace('"count": 60', '"count": 61'))
    with refuses("own.yaml", "edited", "--run"):
        write_configuration(path, "own", found, MODELS[:2])
    assert '"count": 61' in path.read_text()


def test_sub_folders_that_are_parts_of_one_whole_are_no_domains(tmp_path):
    domains, why = choose_domains(look_at(str(write_folder(tmp_path, theory=30, news=30, top=10)), {}))
    assert domains == {"all": ["*"]}
    assert "110 of 770 sections" in why


def test_translations_beside_the_english_text_are_no_domains(tmp_path):
    folders = {"en-US": 30, "es-ES": 40, "nb_NO": 35, "rest": 1}
    found = look_at(str(write_folder(tmp_path, **folders)), {})
    assert found.groups == {"en-US": 330, "rest": 11}
    assert found.translations == {"es-ES": 440, "nb_NO": 385}
    assert "translations, by their names: es-ES, nb_NO" in found.describe()
    assert choose_domains(found)[0] == {"all": ["en-US.*"]}
    found = look_at(str(write_folder(tmp_path / "b", es=20, it=20, law=25)), {})  # none is for English
    assert sorted(choose_domains(found)[0]) == ["es", "it", "law"]


@pytest.mark.parametrize(("names", "nameless"), [
    (["d0", "d6", "dc", "df", "d3", "search"], {"d0", "d6", "dc", "df", "d3"}),  # Doxygen's
    (["00", "01", "2024", "2024-05", "3_11", "v2", "law"], {"00", "01", "2024", "2024-05", "3_11", "v2"}),
    (["a1b2c3", "law"], {"a1b2c3"}),
    (["chunk-7", "chunk-8", "page2", "Page3", "law"], {"chunk-7", "chunk-8", "page2", "Page3"}),
    (["a", "b", "c", "law"], {"a", "b", "c"}),
    (["generated", "Examples", "release-notes", "law"], {"generated", "Examples", "release-notes"}),
    (["3d", "audio", "video"], set()),
    (["c", "r", "python"], set()),
    (["http2", "python3", "facade", "ada", "bed"], set()),
])  # fmt: skip
def test_sub_folders_whose_names_say_nothing_are_told(names, nameless):
    assert find_nameless(names) == nameless


def test_sub_folders_whose_names_say_nothing_are_no_domains(tmp_path):
    found = look_at(str(write_folder(tmp_path, **{"html/d6": 25, "html/d3/a4f": 25, "html/dc": 20})), {})
    assert choose_domains(found)[0] == {"all": ["*"]}
    assert found.nameless == {"html.d6": 25, "html.d3": 25, "html.dc": 20}
    assert any("html.d3, html.d6, html.dc" in line for line in found.describe())
    found = look_at(str(write_folder(tmp_path / "b", **{"law/2024/05": 25, "medicine": 20, "07": 1})), {})
    assert found.groups == {"law": 275, "medicine": 220}
    assert choose_domains(found)[0] == {"law": ["law.*"], "medicine": ["medicine.*"]}


def test_sections_in_another_language_make_no_sub_folder_large(tmp_path):
    folder = write_folder(tmp_path, law=30, medicine=25)
    for path in (folder / "medicine").iterdir():
        path.write_text(f"# Eins\n\n{GERMAN}\n\n# Zwei\n\n{GERMAN}\n\n# Drei\n\n{GERMAN}\n")
    found = look_at(str(folder), {})
    assert found.groups == {"law": 330, "medicine": 0}
    assert choose_domains(found)[0] == {"all": ["*"]}


def test_a_file_that_kills_its_reader_is_left_out_of_the_sample(tmp_path):
    folder = write_folder(tmp_path, law=3)
    (folder / "law" / "broken.pdf").write_bytes(b"%PDF-1.4\n" + b"\0" * 500)
    (folder / "law" / "none.docx").write_bytes(b"no archive")
    found = look_at(str(folder), {})
    assert found.count == 5
    assert found.languages == {"en": 3}
    (line,) = [line for line in found.describe() if "broken.pdf" in line]
    assert "none.docx" in line
    with refuses("broken.pdf", "of 1 tried"):
        look_at(str(folder / "law" / "broken.pdf"), {})


def test_one_text_in_another_language_is_no_other_language_of_all():
    found = Found({"source": "folder", "files": ["texts"]}, "files", 44, languages=Counter(en=43, pt=1))
    (line,) = (line for line in found.describe() if "language" in line)
    assert "English" in line and "43 of 44" in line and "pt 1" in line


def test_tables_say_their_columns_and_topics(tmp_path):
    rows = [{"body": "Some words here", "topic": "a" if number % 2 else "b"} for number in range(500)]
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
    found = look_at(str(tmp_path / "t.csv"), {})
    assert found.corpus["columns"] == {"text": "body", "categories": "topic"}
    assert (found.count, found.documents, found.words) == (500, 500, 1500)
    assert sorted(choose_domains(found)[0]) == ["a", "b"]
    text = make_configuration("t", found, MODELS[:1])
    assert read_config(parse_yaml(text, "t"), "t").corpus.columns.text == "body"


def test_columns_that_are_not_used_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("Text;Topic, main;Author\nThe court hears.;law;A\n", encoding="utf-8-sig")
    found = look_at(str(tmp_path / "t.csv"), {})
    assert found.corpus["columns"] == {"text": "Text"}
    assert found.unused == ["Topic, main", "Author"]
    assert "columns: text from Text; not used: Topic, main, Author" in found.describe()
    (tmp_path / "odd.csv").write_text('text,"a\nrun: b\x85c"\nThe court hears.,1\n')
    odd = look_at(str(tmp_path / "odd.csv"), {})
    assert parse_yaml(make_configuration("t", odd, MODELS[:1]), "t")["run"] == "t"
    assert "columns: text from text; not used: a run: b c" in odd.describe()
    found = look_at(str(tmp_path / "t.csv"), {"categories": "Topic, main"})
    assert found.corpus["columns"] == {"text": "Text", "categories": "Topic, main"}
    assert found.unused == ["Author"]


def test_tables_that_differ_find_their_own_columns(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.csv").write_text("title,text\nA,The court hears.\n")
    (tmp_path / "tables" / "b.csv").write_text("title,body\nB,The court hears.\n")
    assert look_at(str(tmp_path / "tables"), {}).corpus["columns"] == {"title": "title"}


def test_tables_without_one_text_are_refused(tmp_path):
    pl.DataFrame({"x": ["y"]}).write_csv(tmp_path / "no.csv")
    with refuses("no.csv", "there are x"):
        look_at(str(tmp_path / "no.csv"), {})
    pl.DataFrame({"body": ["y"], "content": ["z"]}).write_csv(tmp_path / "two.csv")
    with refuses("two.csv", "body, content", "--text"):
        look_at(str(tmp_path / "two.csv"), {})
    assert look_at(str(tmp_path / "two.csv"), {"text": "content"}).corpus["columns"]["text"] == "content"


@pytest.mark.parametrize(("groups", "least"), [
    ({"a": 9000, "b": 6000, "c": 300, "d": 250}, 2), ({"a": 9000, "b": 6000}, 5), ({"a": 9000}, 5), ({}, 2),
    ({"all": 9000, "b": 300}, 2),
])  # fmt: skip
def test_a_small_domain_of_a_large_folder_has_low_thresholds(groups, least):
    documents = sum(groups.values()) or 4000
    found = Found({"source": "folder", "files": ["x"]}, "files", documents=documents, groups=Counter(groups))
    text = make_configuration("t", found, MODELS[:1])
    assert read_config(parse_yaml(text, "t"), "t").keywords.min_count == least


def test_models_by_short_names():
    found = [match_name(name, MODELS, "x") for name in ("smollm2", "gemma3-270m", "GPT2")]
    assert found == [*MODELS[:2], "gpt2"]
    with refuses("gtp2", "gpt2"):
        match_name("gtp2", MODELS, "x")
    with refuses("several", "gpt2, gpt2-medium"):
        match_name("gpt", MODELS, "x")


def test_names_of_runs(tmp_path, monkeypatch):
    (tmp_path / "a b.csv").touch()
    assert name_run(str(tmp_path / "a b.csv")) == "a-b"
    assert name_run("hub:owner/set.v1") == "set-v1"
    (tmp_path / "law").mkdir()
    assert name_run(f"{tmp_path}/law/") == "law"
    monkeypatch.chdir(tmp_path / "law")
    assert name_run(".") == "law"


def test_a_name_that_is_none_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = Found({"source": "folder", "files": ["texts"]}, "files", documents=9)
    with refuses("run", "'../law'"):
        write_configuration(tmp_path / "law.yaml", "../law", found, MODELS[:1])
    for name in ("../law", "-rf", "a\ncorpus: x", "a b"):
        with refuses("--run"):
            examine("texts", MODELS[:1], {}, name)
    assert not list(tmp_path.iterdir())


def test_what_a_run_wrote_is_no_part_of_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(write_folder(tmp_path, top=3))
    before = look_at(".", {})
    for name in ("index.html", "law/benchmark/tf/card.md"):
        path = Path("results", "texts", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# Ranks\n\nThe court of this page hears no appeal.\n")
    after = look_at(".", {})
    assert (after.count, after.documents, after.groups) == (before.count, before.documents, before.groups)
    assert look_at("results", {}).count == 2
    for path in Path().glob("*.md"):
        path.unlink()
    Path("texts.csv").write_text("text\nThe court hears.\n")
    Path("texts.yaml").touch()
    assert look_at(".", {}).corpus["source"] == "table"


def test_what_a_run_wrote_is_not_among_what_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.chdir(write_folder(tmp_path, top=3))
    for name in ("results/texts", ".snakemake"):
        Path(name).mkdir(parents=True)
    for name in ("texts.yaml", "texts.models.tsv", "results/texts/a.csv", "mine.yaml"):
        Path(name).touch()
    files, skipped = list_documents(["."])
    assert len(files) == 3
    assert skipped.report() == {"unsupported format: .yaml": {"count": 1, "examples": ["mine.yaml"]}}


def test_what_is_not_there_is_refused(tmp_path, monkeypatch):
    with refuses("nothere", "hub:"):
        look_at(str(tmp_path / "nothere"), {})
    with refuses("no such file"):
        look_at("", {})
    (tmp_path / "empty").mkdir()
    with refuses("empty", "no document"):
        look_at(str(tmp_path / "empty"), {})
    with refuses("hub:a:b:c", "OWNER/NAME"):
        look_at("hub:a:b:c", {})
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with refuses("hub:owner/set", "hub cannot be reached"):
        look_at("hub:owner/set", {})


def test_without_a_terminal_it_shows_the_plan_and_needs_yes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path)
    with pytest.raises(SystemExit) as ended, Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        command.main(["build", "texts", "--models", "smollm2"])
    assert ended.value.code == 1
    said = capsys.readouterr()
    assert "--yes" in said.err and said.err.count("Error:") == 1
    for shown in ("Found:", "52 files", "Configuration: texts.yaml", "hours", "SmolLM2-135M-Instruct-Q4_1"):
        assert shown in said.out
    assert not (tmp_path / "results").exists()
    assert parse_yaml((tmp_path / "texts.yaml").read_text(), "texts.yaml")["run"] == "texts"


def test_a_folder_that_cannot_be_written_to_gives_one_message(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path)
    (tmp_path / "texts.yaml").mkdir()
    with pytest.raises(SystemExit) as ended:
        command.main(["build", "texts", "--models", "smollm2", "--yes"])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "texts.yaml" in said and "Traceback" not in said
    assert not (tmp_path / "results").exists()


def test_a_private_data_set_is_named_and_its_key_opens_it(tmp_path):
    lines = "".join(
        f'{{"body": "The court hears appeal {number}.", "topic": "law"}}\n' for number in range(9)
    )
    with serve_hub() as hub:
        (commit,) = hub.add("org/opinions", {"train.jsonl": lines.encode()})
        hub.keys["org/opinions"] = "hf_right"
        online = {"HF_ENDPOINT": hub.address, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
        online["HF_HOME"] = str(tmp_path / "hub")

        def build(**more: str):
            return run_command(
                "build", "hub:org/opinions", "--models", "smollm2", folder=tmp_path, code=1,
                environment=online | more, imports=DATASETS,
            )  # fmt: skip

        for key in ({}, {"HF_TOKEN": "hf_wrong"}):
            said = build(**key).stderr
            assert "hub:org/opinions: the data set is not on the hub, or is private" in said
            assert "HF_TOKEN" in said and "Traceback" not in said
            assert not list(tmp_path.glob("*.yaml"))
        said = build(HF_TOKEN="hf_right")
        assert "at least 9 rows" in said.stdout and "--yes" in said.stderr
        dataset = parse_yaml((tmp_path / "opinions.yaml").read_text(), "opinions.yaml")["corpus"]["dataset"]
        assert (dataset["name"], dataset["revision"]) == ("org/opinions", commit)
        assert "hf_right" not in (tmp_path / "opinions.yaml").read_text() + said.stdout + said.stderr


def test_a_second_build_in_one_folder_is_turned_away(tmp_path):
    write_folder(tmp_path)
    locks = tmp_path / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text("results/texts/corpus/index.parquet\n")  # as the first one leaves it
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    done = run_command(
        "build", "texts", "--models", "smollm2", "--yes", folder=tmp_path, imports=SNAKEMAKE, code=1
    )
    error, hint = done.stderr.splitlines()[-2:]
    assert error.startswith("[fathom build] Error: ") and "locked: another Snakemake is running" in error
    assert "fathom run --unlock" in hint and "Traceback" not in done.stderr
    new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert {path.name for path in new if ".snakemake" not in path.parts} == {"texts.yaml"}
