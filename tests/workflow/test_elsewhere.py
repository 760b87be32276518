"""The workflow runs in any folder and as a module; a run that fails ends with what went wrong."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.plans import ROOT, count_jobs, list_commands
from tests.programs import SNAKEMAKE, find_python, run_command
from tests.tables import write_models

DOCUMENTS = "results/mine/corpus/documents/mine.jsonl.parquet"
VALUES = {"run": "mine",
          "corpus": {"source": "jsonl", "files": ["texts/mine.jsonl"]},
          "domains": {"all": {"categories": ["*"]}},
          "pairs": {"tokenizer": "gpt2"},
          "models": {"score": ["gpt2", "pythia-12b"]}}  # fmt: skip
MODULE = """
configfile: "config/config.yaml"

module fathom:
    snakefile: "{snakefile}"
    config: config
    {prefix}

use rule * from fathom as fathom_*

rule everything:
    default_target: True
    input:
        rules.fathom_all.input
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a working folder with a configuration and a corpus of its own."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text(yaml.safe_dump(VALUES))
    (tmp_path / "texts").mkdir()
    lines = [{"id": str(number), "text": "A model learns.", "categories": ["a"]} for number in range(3)]
    (tmp_path / "texts" / "mine.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def snakemake(
    *arguments: str, cwd: Path = ROOT, code: int = 0, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run snakemake in a folder."""
    command = [find_python(SNAKEMAKE), "-m", "snakemake", "-c1", *arguments]
    environment = os.environ | variables
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def elsewhere(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the workflow for a folder, from a third one."""
    place = ("-s", str(ROOT / "workflow" / "Snakefile"), "-d", str(folder))
    return snakemake(*place, *arguments, cwd=Path("/"), code=code)


def read_inputs(plan: str, rule: str) -> list[str]:
    """Return the inputs of the first job of a rule in a plan."""
    found = re.search(rf"^(?:localrule|rule) {rule}:\n    input: (.*)$", plan, re.MULTILINE)
    assert found, plan
    return found[1].split(", ")


def test_results_and_own_files_lie_in_the_folder_and_programs_in_the_workflow(folder):
    (folder / "config" / "wordlists").mkdir()
    for name in ("stopwords", "academic", "function", "quantity"):
        (folder / "config" / "wordlists" / f"{name}.txt").touch()
    done = elsewhere(folder, "-n", "-p")
    (command, *_) = list_commands(done, "read_jsonlines")
    assert f"python {ROOT}/scripts/corpus/read_jsonlines.py " in command
    assert "texts/mine.jsonl" in read_inputs(done.stdout, "read_jsonlines")
    assert "config/wordlists/academic.txt" in read_inputs(done.stdout, "extract_keywords")
    (command, *_) = list_commands(done, "fetch_model")
    assert f"--registry {ROOT}/config/models.tsv" in command
    assert {"make_pairs", "score_model", "plot_model_ranks"} <= set(count_jobs(done))


@pytest.mark.parametrize("given", [["--profile", "slurm"], ["--profile=slurm"]])
def test_the_profile_of_a_cluster_needs_no_clone(folder, given):
    done = run_command("run", "-n", *given, "--", DOCUMENTS, folder=folder, imports=SNAKEMAKE)
    assert count_jobs(done) == {"read_jsonlines": 1}
    (copy,) = re.findall(r"to adapt it to your cluster: (cp -r .*)", done.stderr)
    subprocess.run(copy.split(), cwd=folder, check=True)
    (folder / "slurm" / "config.yaml").write_text("no-such-option: 1\n")
    own = run_command("run", "-n", *given, "--", DOCUMENTS, folder=folder, imports=SNAKEMAKE, code=2)
    assert "no-such-option" in own.stderr


def test_a_folder_without_a_configuration_plans_the_demo(tmp_path):
    done = elsewhere(tmp_path, "-n")
    assert count_jobs(done)["read_docstrings"] == 6
    assert str(ROOT / "config/wordlists/academic.txt") in read_inputs(done.stdout, "extract_keywords")


def test_a_rule_runs_there_and_a_failed_one_has_the_last_word(folder):
    elsewhere(folder, DOCUMENTS)
    assert (folder / DOCUMENTS).is_file()
    (folder / "texts" / "mine.jsonl").write_text("not json\n" * 9)
    failed = elsewhere(folder, DOCUMENTS, code=1)
    message, hint = failed.stderr.rstrip().splitlines()[-2:]
    assert message.startswith("read_jsonlines (mine.jsonl) failed: ") and "malformed" in message
    assert message.endswith("[log: results/mine/logs/read_jsonlines/mine.jsonl.log]")
    assert hint.startswith("Hint: ")
    assert "Complete log" in failed.stderr


def test_an_optional_model_that_cannot_be_had_is_left_out(folder):
    write_models(folder / "models.tsv", {"name": "gone", "source": str(folder / "no-such-folder")})
    models = {"score": ["gone"], "optional": ["gone"], "registry": "models.tsv"}
    values = VALUES | {"models": models, "pairs": {"tokenizer": "gone"}}
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(values))
    failed = elsewhere(folder, "--quiet", "all", "--", "fetch", code=1)
    assert "no-such-folder: no such folder" in failed.stderr
    assert failed.stderr.rstrip().splitlines()[-1] == "gone could not be fetched; continuing without it"
    done = elsewhere(folder, DOCUMENTS)
    assert "left out, with all models adapted from it: gone" in done.stderr and (folder / DOCUMENTS).is_file()


@pytest.mark.parametrize("prefix", ["", "prefix: 'inner'"])
def test_another_workflow_uses_it_as_a_module(folder, prefix):
    (folder / "Snakefile").write_text(MODULE.format(snakefile=ROOT / "workflow/Snakefile", prefix=prefix))
    done = snakemake("-n", "-p", cwd=folder)
    assert {"fathom_make_pairs", "fathom_score_model", "everything"} <= set(count_jobs(done))
    (command, *_) = list_commands(done, "read_jsonlines")
    assert f"python {ROOT}/scripts/corpus/read_jsonlines.py " in command
    assert str(folder / "texts/mine.jsonl") in read_inputs(done.stdout, "fathom_read_jsonlines")
    results = "inner/results/mine" if prefix else "results/mine"
    assert f"{results}/summary.csv" in read_inputs(done.stdout, "fathom_compare_models")
    assert ("inner/" in done.stdout) is bool(prefix)


def test_a_workflow_in_a_git_repository_is_copied_whole(folder):
    repository = folder / "repository"
    for name in ("config", "envs", "scripts", "src", "workflow"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, repository / name, ignore=ignored)
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "all"], ["tag", "v1"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    for name in ("scripts", "src"):  # what is committed counts
        shutil.rmtree(repository / name)
    place = f"git+file://{repository}/workflow/Snakefile@v1"
    (folder / "Snakefile").write_text(MODULE.format(snakefile=place, prefix=""))
    done = snakemake("-p", DOCUMENTS, cwd=folder, XDG_CACHE_HOME=str(folder / "cache"))
    assert (folder / DOCUMENTS).is_file()
    (program,) = (folder / "cache").rglob("scripts/corpus/read_jsonlines.py")
    assert str(program.relative_to(folder)) in done.stderr


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [("keywrods={}", "unknown key 'keywrods'; did you mean keywords?", "config/README.md lists every key"),
     ("corpus={source: jsonl, files: [no]}", "no: there is no such file or folder", "check corpus.files")],
)  # fmt: skip
def test_a_wrong_configuration_has_the_last_word(folder, value, message, hint):
    done = snakemake("--quiet", "all", "--config", value, code=1)
    last = done.stderr.rstrip().splitlines()[-2:]
    assert last[0].startswith("Error: ") and last[0].endswith(message)
    assert last[1] == f"Hint: {hint}"


def test_what_nothing_can_be_made_of_is_said(folder):
    done = elsewhere(folder, "-n", "--", "follow", code=1)
    assert "Error: target follow has nothing to make\nHint: " in done.stderr
    path = folder / "config" / "config.yaml"
    path.write_bytes(path.read_bytes() + "\n# caf\u00e9\n".encode("latin-1"))
    done = elsewhere(folder, "-n", code=1)
    assert (
        "config.yaml, line" in done.stderr and "not UTF-8" in done.stderr and "Traceback" not in done.stderr
    )


def test_the_workflow_catalog_finds_what_it_asks_for():
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage["software-stack-deployment"]["conda"] is True and usage["report"] is False
    for name in ("workflow/Snakefile", "config/config.yaml", "config/README.md", "README.md", "LICENSE"):
        assert (ROOT / name).is_file(), name


def test_jobs_in_the_queue_of_slurm_stop_a_run_and_leave_no_lock(folder):
    (folder / "results" / "slurm-logs").mkdir(parents=True)
    squeue = folder / "bin" / "squeue"
    squeue.parent.mkdir()
    squeue.write_text(f"#!/bin/sh\nprintf '7\\tRUNNING\\tfathom_1\\trule_a\\t{folder}\\n'\n")
    squeue.chmod(0o755)
    place = ("-s", str(ROOT / "workflow" / "Snakefile"))
    path = f"{squeue.parent}:{os.environ['PATH']}"
    done = snakemake(*place, DOCUMENTS, cwd=folder, code=1, PATH=path)
    *_, message, hint = done.stderr.rstrip().splitlines()
    assert message.startswith("Error: Slurm: the queue still has 1 job of an earlier run")
    assert hint.endswith("scancel --name=fathom_1")
    assert not list((folder / ".snakemake" / "locks").glob("*"))
    assert not (folder / DOCUMENTS).exists()
