"""What a run will take is said before it."""

import re
import subprocess
from pathlib import Path

import pytest
from tests.plans import INHERITED, ROOT, RULES
from tests.programs import run_command
from tests.refusals import refuses

from fathom.commands.plan import print_models
from fathom.figures.catalogue import CATALOGUE
from fathom.jobs.resources import ModelEstimate, Sizes, read_rates
from fathom.planning.plans import Plan, Request, find_snakefile, merge_configuration


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
    assert set(rates) <= {*RULES, *INHERITED, *(figure.rule for figure in CATALOGUE.values())}
    assert {"join_shard", "split_sentences", "embed_named", "score_model"} <= set(rates)
    assert {figure.rule for figure in CATALOGUE.values()} <= set(rates), "plans leave these out"


def test_a_plan_counts_jobs_hours_and_gigabytes(dump):
    done = plan("--forceall", "--configfile", "config/arxiv.yaml", "--config", f"dump={dump}", "run=plan")
    counts = {line.split()[0]: line.split()[1] for line in done.stdout.splitlines()[1:] if line[:1].isalpha()}
    assert counts["join_shard"] == "2"
    assert counts["embed_named"] == "6"
    assert re.search(
        r"^\d+ jobs, [0-9.]+ CPU hours, [0-9.]+ GPU hours, [0-9.]+ GB of new files", done.stdout, re.M
    )
    assert re.search(r"from \d+\.\d MB of text", done.stdout)
    assert "references: no" not in done.stderr, "its models are trained here: it draws no paper's figure"


def test_a_plan_says_which_of_its_figures_lack_a_reference(dump):
    preset = ("--configfile", "config/papers/beyond-benchmarks-layers.yaml", "--config", f"dump={dump}")
    found = {target: plan("--forceall", *preset, "--", target).stderr for target in ("figures", "layers")}
    assert "{domain}.adapted.{base}.{statistic}: metrics are held against the TF rank" in found["figures"]
    assert "references: no" not in found["layers"]


def test_no_core_does_no_work():
    done = run_command("plan", "--cores", "0", code=2)
    assert "--cores: '0'" in done.stderr


def test_a_run_is_planned_from_any_folder(tmp_path):
    done = run_command("plan", "--forceall", folder=tmp_path)
    assert re.search(r"^[1-9]\d* jobs, ", done.stdout, re.M)
    assert not (tmp_path / "results").exists()
    # small models ask for little: a laptop runs them
    sizes = re.findall(r"^toy-gpt2\S* +([0-9.]+) +([0-9.]+) +1 +[0-9.]+$", done.stdout, re.M)
    assert len(sizes) == 4
    assert all(float(host) < 4 and float(gpu) < 2 for host, gpu in sizes)


def test_a_model_that_no_gpu_can_train_is_refused_before_a_job_starts():
    adapt = "models={adapt: [{base: Llama-2-7b, paths: [[machine-learning]]}]}"
    with refuses("'Llama-2-7b+machine-learning'", "h100 has 80", "dtype: bfloat16", "adapter"):
        plan("--forceall", "--config", adapt, "--gpu-cards", "a100:40000x4 h100:80000x8")


def test_without_known_gpus_a_plan_names_models_that_are_too_large(capsys):
    models = {"small": ModelEstimate(1, 70_000, 1, 1.0), "large": ModelEstimate(1, 120_000, 1, 1.0)}
    made = Plan({}, {}, Sizes({}, 0.0), None, models)
    print_models(made, Request(Path("Snakefile")))
    assert "more than 80 GB on one GPU: large. An adapter takes less" in capsys.readouterr().out
    print_models(made, Request(Path("Snakefile"), cards="b200:192000x8"))
    assert "more than" not in capsys.readouterr().out


def test_the_workflow_is_found_as_snakemake_finds_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refuses("--snakefile none"):
        find_snakefile(Path("none"))
    assert find_snakefile(None) == ROOT / "Snakefile"
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow" / "Snakefile").touch()
    assert find_snakefile(None) == Path("workflow/Snakefile")
    assert find_snakefile(ROOT / "Snakefile") == ROOT / "Snakefile"


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
    with refuses("b.yaml", "mapping"):
        merge_configuration(["b.yaml"], [])
    with refuses("--config run={", "YAML"):
        merge_configuration(["a.yaml"], ["run={"])


def test_bad_configuration_is_named_without_a_traceback(dump):
    for arguments, message in ((["--config", "keywrods={}"], "keywrods'; did you mean keywords?"),
                               (["--config", "nothing"], "--config nothing"),
                               (["--configfile", "no.yaml"], "no.yaml"),
                               (["no_such_target"], "MissingRuleException")):  # fmt: skip
        with refuses(message):
            plan(*arguments)
