"""What a run will take is said before it."""

import re
import subprocess
from pathlib import Path

import pytest
from tests.programs import SNAKEMAKE, run_program

from fathom.running.resources import read_rates

ROOT = Path(__file__).resolve().parents[2]
RULES = {
    name
    for path in (ROOT / "workflow" / "rules").glob("*.smk")
    for name in re.findall(r"^\s*(?:rule|use rule \w+ as) (\w+)(?: with)?:$", path.read_text(), re.MULTILINE)
}


def plan(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program at the repository's root."""
    return run_program("plan_run", *arguments, imports=SNAKEMAKE)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Make a dump of two shards without content but with a size."""
    (tmp_path / "redpajama").mkdir()
    for name, size in (("arxiv-metadata-oai-snapshot.json", 10**6), ("redpajama/a.jsonl", 3 * 10**6),
                       ("redpajama/b.jsonl.zst", 10**6)):  # fmt: skip
        with (tmp_path / name).open("wb") as stream:
            stream.truncate(size)
    return tmp_path


def test_rates_are_of_rules_that_exist():
    rates = read_rates(ROOT / "config" / "rates.tsv")
    assert set(rates) <= RULES
    assert {"join_shard", "split_sentences", "embed_sentences", "score_pairs"} <= set(rates)


def test_a_plan_counts_jobs_hours_and_gigabytes(dump):
    done = plan("--forceall", "--configfile", "config/arxiv.yaml", "--config", f"dump={dump}", "run=plan")
    assert done.returncode == 0, done.stderr
    counts = {line.split()[0]: line.split()[1] for line in done.stdout.splitlines()[1:] if line[:1].isalpha()}
    assert counts["join_shard"] == "2"
    assert counts["embed_sentences"] == "6"
    assert re.search(
        r"^\d+ jobs, [0-9.]+ CPU hours, [0-9.]+ GPU hours, [0-9.]+ GB of new files", done.stdout, re.M
    )
    assert "from 0.01 GB of text" in done.stdout


def test_bad_configuration_is_named_without_a_traceback(dump):
    for arguments, message in (
        (["--config", "keywrods={}"], "unknown key keywrods, did you mean keywords?"),
        (["--config", "nothing"], "--config nothing: this is no KEY=VALUE"),
        (["--configfile", "no.yaml"], "no.yaml: there is no such file"),
        (["no_such_target"], "snakemake cannot plan this run: MissingRuleException"),
    ):
        done = plan(*arguments)
        assert done.returncode == 1
        assert message in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
