"""What a run will take is said before it."""

import re
import subprocess
from pathlib import Path

import pytest
from tests.programs import run_command

from fathom.commands.plan import print_models
from fathom.errors import InputError
from fathom.figures.catalogue import CATALOGUE
from fathom.jobs.resources import ModelEstimate, Sizes, read_rates
from fathom.planning.plans import Plan, Request, find_snakefile, merge_configuration

ROOT = Path(__file__).resolve().parents[2]
RULES = {
    name
    for path in (ROOT / "workflow" / "rules").glob("*.smk")
    for name in re.findall(r"^\s*(?:rule|use rule \w+ as) (\w+)(?: with)?:$", path.read_text(), re.MULTILINE)
} | {figure.rule for figure in CATALOGUE.values()}


def plan(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command at the repository's root."""
    return run_command("plan", *arguments)


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
    assert {"join_shard", "split_sentences", "embed_sentences", "score_model"} <= set(rates)


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


def test_no_core_does_no_work():
    done = plan("--cores", "0")
    assert done.returncode == 1
    assert "Error: --cores 0: nothing works on no core" in done.stderr


def test_a_run_is_planned_from_any_folder(tmp_path):
    done = run_command("plan", "--forceall", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^[1-9]\d* jobs, ", done.stdout, re.M)
    assert not (tmp_path / "results").exists()
    # small models ask for little: a laptop runs them
    sizes = re.findall(r"^gpt2-small\S* +([0-9.]+) +([0-9.]+) +1 +[0-9.]+$", done.stdout, re.M)
    assert len(sizes) == 4
    assert all(float(host) < 4 and float(gpu) < 2 for host, gpu in sizes)


def test_a_model_that_no_gpu_can_train_is_refused_before_a_job_starts():
    adapt = "models={adapt: [{base: Llama-2-7b, paths: [[machine-learning]]}]}"
    done = plan("--forceall", "--config", adapt, "--gpu-cards", "a100:40000x4 h100:80000x8")
    assert done.returncode == 1
    assert re.search(r"'Llama-2-7b\+machine-learning' needs 1\d\d GB on one GPU; h100 has 80", done.stderr)
    assert "{dtype: bfloat16} trains an adapter in" in done.stderr


def test_without_known_gpus_a_plan_names_models_that_are_too_large(capsys):
    models = {"small": ModelEstimate(1, 70_000, 1, 1.0), "large": ModelEstimate(1, 120_000, 1, 1.0)}
    made = Plan({}, {}, Sizes({}, 0.0), None, models)
    print_models(made, Request(Path("Snakefile")))
    assert "more than 80 GB on one GPU: large. An adapter takes less" in capsys.readouterr().out
    print_models(made, Request(Path("Snakefile"), cards="b200:192000x8"))
    assert "more than" not in capsys.readouterr().out


def test_the_workflow_is_found_as_snakemake_finds_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="there is no Snakefile here, and fathom is not installed from"):
        find_snakefile(None, None)
    with pytest.raises(InputError, match="--snakefile none: there is no such file"):
        find_snakefile(Path("none"), ROOT)
    assert find_snakefile(None, ROOT) == ROOT / "Snakefile"
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow" / "Snakefile").touch()
    assert find_snakefile(None, ROOT) == Path("workflow/Snakefile")
    assert find_snakefile(ROOT / "Snakefile", None) == ROOT / "Snakefile"


def test_files_and_values_are_merged_as_snakemake_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(
        "domains: {x: {categories: [a]}}\npairs: {tokenizer: m, seed: 1}\nrun: a\n"
    )
    (tmp_path / "b.yaml").write_text("pairs: {seed: 2}\n")
    config = merge_configuration(["a.yaml", "b.yaml"], ["run=c", "domains={y: {categories: [b]}}"])
    assert (config.run, config.pairs.tokenizer, config.pairs.seed) == ("c", "m", 2)
    assert list(config.domains) == ["x", "y"]
    chosen = merge_configuration(["a.yaml", "b.yaml"], ["domains=[z]", "models=[m]"])
    assert (chosen.benchmark_domains, chosen.models.scored) == (["z"], ["m"])
    (tmp_path / "b.yaml").write_text("- a list\n")
    with pytest.raises(InputError, match=r"b\.yaml: not a mapping of keys to values"):
        merge_configuration(["b.yaml"], [])
    with pytest.raises(InputError, match=r"--config run=\{: not valid YAML"):
        merge_configuration(["a.yaml"], ["run={"])


def test_bad_configuration_is_named_without_a_traceback(dump):
    for arguments, message in (
        (["--config", "keywrods={}"], "unknown key keywrods, did you mean keywords?"),
        (["--config", "nothing"], "--config nothing: not a KEY=VALUE"),
        (["--configfile", "no.yaml"], "no.yaml: there is no such file"),
        (["no_such_target"], "snakemake cannot plan this run: MissingRuleException"),
    ):
        done = plan(*arguments)
        assert done.returncode == 1
        assert message in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
