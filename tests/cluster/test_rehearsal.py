"""A preset of a paper, rehearsed on a real Slurm: models come where Snakemake runs, all else is a job."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.cluster.conftest import change_yaml, keep
from tests.cluster.slurm import find_rule
from tests.cluster.story import PATIENCE, Holder
from tests.tables import read_delimited

pytestmark = pytest.mark.cluster
ROOT = Path(__file__).resolve().parents[2]
PRESET = ROOT / "config" / "papers" / "raw-corpora-choices.yaml"
MODELS = yaml.safe_load(PRESET.read_text())["models"]["score"]


@pytest.fixture(scope="module")
def rehearsed(slurm, tmp_path_factory):
    """Rehearse as a user does; return folder, what was said, exit code, jobs, and the environment of one."""
    place = tmp_path_factory.mktemp("rehearsed")
    shutil.copytree(ROOT / "workflow" / "profiles" / "slurm", place / "profile")
    change_yaml(
        place / "profile" / "config.yaml",
        ("slurm-init-seconds-before-status-checks", 2),
        ("latency-wait", 5),
    )
    known = {job["id"] for job in slurm.jobs()}
    command = [
        sys.executable, "-m", "fathom.commands", "rehearse", "--configfile", PRESET.relative_to(ROOT),
        "--profile", place / "profile", "--folder", place, "--table", place / "table.csv",
    ]  # fmt: skip
    with (place / "said.txt").open("w") as stream:
        run = subprocess.Popen(
            command, cwd=ROOT, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        with Holder(place / PRESET.stem / "work", run, "answer_choices") as holder:
            process = holder.wait_for("answer_choices")
            environment = Path(f"/proc/{process}/environ").read_text().split("\0")
            holder.let_go("answer_choices")
        code = run.wait(PATIENCE)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
        keep(place, "rehearsed")
    jobs = [job for job in slurm.jobs() if job["id"] not in known]
    variables = dict(each.split("=", 1) for each in environment if each)
    return place, (place / "said.txt").read_text(), code, jobs, variables


def test_a_preset_goes_to_its_last_figure(rehearsed):
    place, said, code, _, _ = rehearsed
    assert code == 0, said
    rows = read_delimited(place / "table.csv", ",")
    assert len(rows) == 5
    assert all(int(row["files"]) > 0 and int(row["points"]) > 0 for row in rows)
    assert "5 of 5 kinds of figures and tables" in said


def test_each_model_answers_in_a_job_with_a_gpu_and_is_fetched_where_snakemake_runs(rehearsed, slurm):
    place, said, _, jobs, _ = rehearsed
    answering = [job for job in jobs if find_rule(job) == "answer_choices"]
    smaller = yaml.safe_load((place / PRESET.stem / "smaller.yaml").read_text())["models"]["score"]
    assert {job["comment"].partition("_wildcards_")[2] for job in answering} == {*smaller} <= {*MODELS}
    gpus = slurm.gpus()
    assert {(job["state"], gpus[job["id"]]) for job in answering} == {("COMPLETED", "gres:gpu:a100:1")}
    assert {find_rule(job) for job in jobs} == {"answer_choices", "compare_choices", "plot_choices"}
    snakemake = (place / PRESET.stem / "snakemake.log").read_text()
    assert len(re.findall("^localrule fetch_model:", snakemake, re.MULTILINE)) == len(smaller), said


def test_a_job_found_no_network_and_its_models_came_from_the_hub_of_the_rehearsal(rehearsed):
    place, _, _, jobs, environment = rehearsed
    assert environment["SLURM_JOB_ID"] in {job["id"] for job in jobs if find_rule(job) == "answer_choices"}
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert environment["HF_HOME"] == str(place / PRESET.stem / "cache")
    program = "import socket; socket.create_connection(('127.0.0.1', 9))"
    command = [sys.executable, "-c", program, "--log", "results/x/logs/answer_choices/gpt2.log"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "a compute node has no network" in done.stderr
