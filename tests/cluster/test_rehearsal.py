"""A preset of a paper rehearsed on a real Slurm, to its last figure."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.tables import read_delimited

pytestmark = pytest.mark.cluster
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def rehearsed(story, tmp_path_factory):
    """Rehearse multiple choice; its jobs are on Slurm's list after those of the story."""
    folder = tmp_path_factory.mktemp("rehearsal")
    before = {job["id"] for job in story.slurm.jobs()}
    command = [
        sys.executable, "-m", "fathom.commands", "rehearse", "--profile", story.folder / "slurm",
        "--configfile", "config/papers/raw-corpora-choices.yaml", "--folder", folder,
        "--table", folder / "table.csv",
    ]  # fmt: skip
    done = subprocess.run(
        list(map(str, command)), cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return folder, done, [job for job in story.slurm.jobs() if job["id"] not in before]


def test_a_preset_goes_through_on_slurm(rehearsed):
    folder, done, _ = rehearsed
    assert done.returncode == 0, (folder / "raw-corpora-choices" / "snakemake.log").read_text()[-5000:]
    rows = read_delimited(folder / "table.csv", ",")
    assert len(rows) == 5 and all(int(row["files"]) for row in rows)


def test_its_jobs_ran_on_nodes_without_a_network_and_fetched_nothing(rehearsed):
    _, _, jobs = rehearsed
    names = [job["comment"].removeprefix("rule_").partition("_wildcards_")[0] for job in jobs]
    assert names.count("answer_choices") == 16 and "compare_choices" in names
    assert not {"fetch_model", "read_choices"} & set(names)
