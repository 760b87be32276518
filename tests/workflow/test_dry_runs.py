"""Dry runs of every target, configuration and profile, on empty input files."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from perf.studies.checkpoints import count_loads
from tests.programs import run_snakemake
from tests.refusals import refuses

from fathom.jobs.resources import parse_plan

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATIONS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "config").rglob("*.yaml")
                        if "domains" in yaml.safe_load(path.read_text()))  # fmt: skip
RANKING = "config/papers/train-before-test.yaml"
EVERYTHING = ("--forceall", "--config", "run=plan", "--", "all")
JOB = re.compile(r"^(?:localrule|rule) (\w+):", re.MULTILINE)


@cache
def plan(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `snakemake -n` with arguments at the repository's root, once for several tests."""
    return run_snakemake("-n", "-c2", "--nolock", *arguments)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Make the folder of a dump whose files are empty."""
    (tmp_path / "redpajama").mkdir()
    for name in ("arxiv-metadata-oai-snapshot.json", "redpajama/a.jsonl", "redpajama/b.jsonl.zst"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_configuration_plans_all_its_benchmarks(configuration, dump):
    place = ("--configfile", configuration, "--config", f"dump={dump}", "run=plan")
    done = plan("--forceall", *place, "--", "all", "compare")
    jobs = JOB.findall(done.stdout)
    values = yaml.safe_load((ROOT / configuration).read_text())
    benchmarks = [name for name, domain in values["domains"].items() if domain.get("benchmark", True)]
    assert jobs.count("make_pairs") == 2 * len(benchmarks)
    assert jobs.count("summarize_scores") == jobs.count("compare_models") == 1
    loads = count_loads(parse_plan(done.stdout))
    coverage = values.get("coverage", {})
    asked = {name.removesuffix("@chat") for name in coverage.get("evaluation", {}).get("models", [])}
    most = {name: 1 + (name in asked) for name in loads}  # once for pairs, once for questions
    assert all(loads[name] <= most[name] for name in loads), "a model from the hub is loaded more than once"
    presets = {"raw-corpora": 118, "raw-corpora-comparison": 16, "beyond-benchmarks": 8 + 102}
    assert len(loads) >= presets.get(Path(configuration).stem, 0)
    if configuration.startswith(
        "config/papers/raw-corpora"
    ):  # base, chat, and with adapted models all of them
        assert jobs.count("plot_metrics") == 3 * 4 and jobs.count("plot_chat_models") == 1
    # GPT-2 XL is followed while it adapts, Llama-2 after each stage
    trainings = {"raw-corpora": (6, 6 + 12), "beyond-benchmarks-continual": (0, 150)}
    if Path(configuration).stem in trainings:
        found = (jobs.count("adapt_in_steps"), jobs.count("adapt_model"))
        assert found == trainings[Path(configuration).stem]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Make a folder of scores whose tables are empty."""
    for name in ("direct_eval.csv", "direct_eval_stderr.csv", "train_before_test.csv"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(("target", "figures"), [("rankings", 0), ("figures", 16), ("all", 16)])
def test_a_folder_of_scores_is_ranked_without_any_corpus(scores, target, figures):
    done = plan(target, "--configfile", RANKING, "--config", f"scores={scores}", "run=plan")
    jobs = JOB.findall(done.stdout)
    plots = {
        "plot_ranking_alignment": 1, "plot_ranking_means": 1, "plot_ranking_tau": 2,
        "plot_ranking_perplexity": 2, "plot_ranking_components": 4, "plot_ranking_forecast": 1,
    }  # fmt: skip
    assert jobs.count("read_score_folder") == jobs.count("compare_rankings") == 1
    assert {name: jobs.count(name) for name in plots} == (plots if figures else dict.fromkeys(plots, 0))
    rest = {
        "read_score_folder", "compare_rankings", "forecast_change", "write_ranking_tables", "write_explorer",
        "gather_timings",
    }  # fmt: skip
    assert set(jobs) <= {*rest, target, *plots}
    assert "direct_eval_stderr.csv" in done.stdout


def test_a_limit_of_sentences_adds_one_job_that_embedding_waits_for():
    place = ("--forceall", "-p", "--config", "run=plan")
    done = plan(*place, "sentences={limit: 20000}")
    jobs = JOB.findall(done.stdout)
    assert jobs.count("draw_documents") == 1
    limited = jobs.count("embed_sentences") + jobs.count("match_sentences")
    assert done.stdout.count(" --drawn results/plan/corpus/drawn.parquet ") == limited + 1 > 1
    assert done.stdout.count("--draw results/plan/corpus/drawn.json") == jobs.count("describe_benchmark") > 0
    plain = plan(*place)
    assert sorted(JOB.findall(plain.stdout)) == sorted(job for job in jobs if job != "draw_documents")
    assert "--draw" not in plain.stdout


def test_splits_by_content_need_groups_and_pairs_are_held_against_training_text():
    place = ("--forceall", "-p", "--config", "run=plan")
    done = plan(*place)
    jobs = JOB.findall(done.stdout)
    assert (jobs.count("sketch_documents"), jobs.count("group_documents")) == (4, 1)
    assert done.stdout.count("--splits results/plan/corpus/splits.parquet") == 2
    assert jobs.count("find_overlap") == 2
    for job in ("summarize_scores.py", "compare_models.py"):
        (command,) = [line for line in done.stdout.splitlines() if f"{job} --" in line]
        assert command.count("/overlap.parquet") == 2
    by_id = plan(*place, "corpus={splits_by: id}")
    left_out = {"sketch_documents", "group_documents"}
    assert sorted(JOB.findall(by_id.stdout)) == sorted(job for job in jobs if job not in left_out)
    assert "--splits results" not in by_id.stdout and by_id.stdout.count("--splits-by id") == 2


def test_until_settled_one_job_scores_all_models():
    done = plan("--forceall", "-p", "--config", "run=plan", "scoring={until: settled}")
    jobs = JOB.findall(done.stdout)
    assert [jobs.count(name) for name in ("score_settled", "score_model", "compare_targets")] == [1, 7, 0]
    lines = {name: [line.split() for line in done.stdout.splitlines() if f"{name}.py --" in line]
             for name in ("score_settled", "score_model", "summarize_scores", "compare_models")}  # fmt: skip
    (words,) = lines["score_settled"]
    ends = ("/model.json", "/pairs.parquet", "/overlap.parquet", "small.parquet")
    assert [sum(word.endswith(end) for word in words) for end in ends] == [7, 2, 2, 4]
    assert not any("--pairs" in words for words in lines["score_model"])
    assert "--settled" in lines["summarize_scores"][0]
    words = lines["compare_models"][0]
    assert words[words.index("--settled") + 1] == "results/plan/settled.csv"


def test_a_run_ranks_its_own_models():
    jobs = JOB.findall(plan(*EVERYTHING[:-1], "rankings").stdout)
    assert {"collect_run_scores", "compare_rankings", "compare_models"} <= set(jobs)
    assert "compare_rankings" not in JOB.findall(plan(*EVERYTHING).stdout)
    two = "domains={plotting: {categories: [matplotlib.*], benchmark: true}}"
    jobs = JOB.findall(plan("--forceall", "--config", "run=plan", two).stdout)
    assert "plot_ranking_components" in jobs and "plot_ranking_perplexity" in jobs


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "rank tables of scores that are there: --config scores=FOLDER"),
        (["scores=no/such/folder"], "scores = no/such/folder: there is no such folder"),
        (["scores=config"], "there is no direct_eval.csv, which ranking.conditions names"),
    ],
)
def test_a_wrong_folder_of_scores_stops_before_any_job(arguments, message):
    with refuses(message, "Hint:"):
        plan("rankings", "--configfile", RANKING, "--config", "run=plan", *arguments)


def test_the_whole_experiment_of_train_before_test_is_planned(tmp_path):
    for name in ("config", "scripts", "src", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "texts").mkdir()
    for name in ("wiki", "stackexchange", "arxiv"):
        (tmp_path / "texts" / f"{name}_2025.jsonl").touch()
    place = ("--directory", str(tmp_path), "--configfile", str(ROOT / RANKING))
    done = plan("rankings", *place, "--config", "run=plan")
    jobs = JOB.findall(done.stdout)
    assert jobs.count("fetch_model") == 61
    assert (jobs.count("fetch_task"), jobs.count("prepare_task")) == (24, 3)
    assert jobs.count("tune_model") == 61 * 24 + 61 * 3


def test_the_demo_of_train_before_test_is_planned():
    done = plan("rankings", "--forceall", "--configfile", "config/tuning-demo.yaml", "--config", "run=plan")
    jobs = JOB.findall(done.stdout)
    assert jobs.count("tune_model") == 8 * 6
    assert jobs.count("gather_tuning") == jobs.count("read_score_folder") == 1
    assert "collect_run_scores" not in jobs


def test_shorter_preparations_are_planned():
    config = ("--configfile", "config/preparation-demo.yaml", "--config", "run=plan")
    jobs = JOB.findall(plan("rankings", "figures", "--forceall", *config).stdout)
    assert (jobs.count("tune_model"), jobs.count("tune_preparation")) == (8 * 6, 6 * 8 * 6)
    assert jobs.count("compare_preparations") == jobs.count("plot_ranking_preparation") == 1


def test_checkpoints_and_seeds_are_planned_and_enter_no_summary():
    place = ("--configfile", "config/following-demo.yaml", "--config", "run=plan")
    done = plan("-p", "--forceall", *place)
    jobs = JOB.findall(done.stdout)
    # two stages with two seeds, each with three checkpoints and its end; and the base
    assert (jobs.count("adapt_in_steps"), jobs.count("adapt_model")) == (4, 0)
    assert jobs.count("score_model") == 2 * 2 * 4 + 1
    assert (jobs.count("follow_models"), jobs.count("plot_following")) == (1, 2)
    commands = [line for line in done.stdout.splitlines() if line.startswith("Shell command: ")]
    (summary,) = (line for line in commands if "/summarize_scores.py " in line)
    assert "gpt2-small+machine-learning+plotting.parquet" in summary and "@" not in summary
    name = "gpt2-small+machine-learning@seed1"
    (score,) = (line for line in commands if f"/{name}@step50.parquet" in line and "/score_model.py" in line)
    assert f"--model results/plan/models/{name}/checkpoints/step50.json " in score
    assert f"Would remove temporary output results/plan/models/{name}/checkpoints" in done.stdout


def test_controls_of_a_text_are_planned():
    jobs = JOB.findall(plan("follow", "--forceall", "--configfile", "config/controls-demo.yaml").stdout)
    assert (jobs.count("change_texts"), jobs.count("adapt_model")) == (2, 4 * 3)
    assert jobs.count("compare_controls") == jobs.count("plot_controls") == 1


def test_claims_are_planned_with_references_that_the_one_job_scores():
    done = plan("follow", "--forceall", "--configfile", "config/claims-demo.yaml")
    jobs = JOB.findall(done.stdout)
    assert (jobs.count("adapt_model"), jobs.count("score_model")) == (5 * 5, 5 * 5 + 1)
    once = ("make_unused_pairs", "draw_clozes", "judge_claims", "plot_claims")
    assert all(jobs.count(name) == 1 for name in once) and jobs.count("find_overlap") == 4
    assert "/scores/clozes/gpt2-small.parquet" in done.stdout
    without = plan(*EVERYTHING).stdout
    assert not {*once} & {*JOB.findall(without)}


def test_without_held_out_text_no_perplexity_is_planned():
    splits = "{benchmark: 0.6, adapt-train: 0.35, adapt-valid: 0.05, adapt-test: 0}"
    done = plan("--forceall", "--config", "run=plan", f"corpus={{splits: {splits}}}")
    assert "/scores/attribute-rate/" in done.stdout and "/scores/perplexity/" not in done.stdout
    assert "/scores/perplexity/" in plan(*EVERYTHING).stdout


def test_a_reference_benchmark_is_imported_scored_and_exported_where_it_is_configured(tmp_path):
    (tmp_path / "expert.csv").touch()
    (tmp_path / "other.jsonl").touch()
    files = f"expert: {tmp_path / 'expert.csv'}, claude: {tmp_path / 'other.jsonl'}"
    references = f"references={{machine-learning: {{{files}}}}}"
    without, done = plan(*EVERYTHING), plan("-p", "--forceall", "--config", "run=plan", references)
    assert "import_reference" not in JOB.findall(without.stdout)
    assert "/scores/reference/" not in without.stdout
    jobs = JOB.findall(done.stdout)
    assert jobs.count("import_reference") == 2
    assert jobs.count("score_model") == JOB.findall(without.stdout).count("score_model") > 1
    assert "machine-learning/scores/reference/gpt2-small.parquet" in done.stdout
    assert jobs.count("export_benchmark") == 3 and jobs.count("make_pairs") == 2
    once = ("summarize_references", "plot_references")
    assert [jobs.count(name) for name in once] == [1, 1] and jobs.count("find_overlap") == 4
    commands = [line for line in done.stdout.splitlines() if line.startswith("Shell command: ")]
    (figure,) = (line for line in commands if "--figure references " in line)
    assert '"references": {"reference": "expert", "reference-claude": "claude"}' in figure
    (summary,) = (line for line in commands if "summarize_scores.py" in line and "/references.csv" in line)
    assert summary.count("/scores/reference-claude/") == 7 and "perplexity" not in summary
    with refuses("references: there is no"):
        plan("--config", "run=plan", f"references={{plotting: {{expert: {tmp_path / 'expert.csv'}}}}}")


def test_inside_its_chat_template_a_model_has_ranks_only():
    score = "models={score: [Qwen2-1.5B-Instruct, Qwen2-1.5B-Instruct@chat]}"
    done = plan("--forceall", "--config", "run=plan", score)
    assert "results/plan/machine-learning/scores/tf/Qwen2-1.5B-Instruct@chat.parquet" in done.stdout
    jobs = JOB.findall(done.stdout)
    assert jobs.count("fetch_model") == 2
    assert jobs.count("score_chat") == 1
    for kind in ("perplexity", "attribute-rate"):
        assert f"scores/{kind}/Qwen2-1.5B-Instruct.parquet" in done.stdout
        assert f"scores/{kind}/Qwen2-1.5B-Instruct@chat.parquet" not in done.stdout


def test_the_scorer_is_told_how_many_gpus_it_has():
    done = plan("-p", "--forceall", "--config", "run=plan", "--set-resources", "score_model:gpu=4")
    assert done.stdout.count("python scripts/scoring/score_model.py") == done.stdout.count("--gpus 4") > 1


def test_gpu_jobs_share_the_gpus_of_this_machine(tmp_path, monkeypatch):
    """What a job asks for is cut down to what there is: the limit under which jobs run side by side."""
    command = tmp_path / "nvidia-smi"
    command.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA A100'\necho 'GPU 1: NVIDIA A100'\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    asked = ("-n", "-c16", "--nolock", "-p", "--forceall", "--set-resources", "score_model:gpu=4")
    for more, gpus in (((), 2), (("--resources", "gpu=3"), 3), (("--jobs", "9", "--executor", "slurm"), 4)):
        done = run_snakemake(*asked, *more, "--config", "run=plan")
        assert done.stdout.count(f"--gpus {gpus} ") == done.stdout.count("score_model.py --model") > 1
    done = run_snakemake(
        *asked[:-2], "--config", "run=plan", "scoring={device: cpu}", "embedding={device: cpu}"
    )
    assert {job.rule for job in parse_plan(done.stdout) if job.gpu} == {"train_model", "adapt_model"}
    assert done.stdout.count("--gpus 0 ") == done.stdout.count("score_model.py --model") > 1


def test_layers_are_planned_for_every_model_that_is_looked_into(dump):
    preset = ("--configfile", "config/papers/beyond-benchmarks-layers.yaml", "--config", f"dump={dump}")
    done = plan("--forceall", *preset, "run=plan", "--", "layers")
    jobs = JOB.findall(done.stdout)
    assert jobs.count("measure_layers") == jobs.count("adapt_model") + 9 == 15
    assert "layers/gpt2-medium.lens.safetensors" in done.stdout
    assert jobs.count("plot_layers") == 4 and "score_model" not in jobs
    without = plan("--forceall", "--config", "run=plan", "lens={steps: 0}", "--", "layers")
    assert ".lens.safetensors" not in without.stdout and "plot_layers" in JOB.findall(without.stdout)
    assert "measure_layers" not in JOB.findall(plan(*EVERYTHING).stdout)


@pytest.mark.parametrize(
    "target", ["all", "benchmarks", "figures", "rankings", "layers", "follow", "coverage", "choices"]
)
def test_every_target_plans(target):
    plan(*EVERYTHING[:-1], target)


def test_slurm_profile_plans_from_the_root():
    plan("--profile", "slurm", "--forceall", "--config", "run=plan")


def test_slurm_partitions_offer_gpus_and_plain_processors():
    partitions = yaml.safe_load((ROOT / "slurm" / "partitions.yaml").read_text())["partitions"]
    models = {model for limits in partitions.values() for model in limits.get("available_gpu_models", [])}
    assert models == {"a100", "h100"}
    assert any("max_gpu" not in limits for limits in partitions.values())


def test_planning_never_imports_torch():
    command = [sys.executable, "-X", "importtime", "-m", "snakemake", "-n", "-c2", "--nolock"]
    done = subprocess.run([*command, "--config", "run=plan"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "fathom.config.whole" in imported
    assert not imported & {"torch", "transformers", "spacy", "polars", "sklearn"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["keywrods={}"], "unknown key keywrods, did you mean keywords?"),
        (["keywords={cuont: 3}"], "unknown key keywords.cuont, did you mean count?"),
        (["keywords={count: many}"], "keywords.count = 'many'"),
        (["corpus={source: arxiv}"], "dump: corpus.source is arxiv"),
        (["corpus={source: arxiv}", "dump=no/such/folder"], "dump = no/such/folder: there is no such folder"),
        (["models={score: [gtp2]}"], "models.score.0 = 'gtp2': there is no such model, did you mean gpt2?"),
        (["corpus={source: jsonl}"], "corpus.files: no input files are given"),
    ],
)
def test_bad_configuration_stops_before_any_job(arguments, message):
    with refuses(message, "Hint:"):
        plan("--config", *arguments)


def test_rules_name_log_benchmark_and_resources():
    text = "\n".join(path.read_text() for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")))
    bodies = re.split(r"^\s*rule \w+:$", text, flags=re.MULTILINE)[1:]
    names = re.findall(r"^\s*rule (\w+):$", text, flags=re.MULTILINE)
    assert len(names) == len(bodies) > 10
    for name, body in zip(names, bodies, strict=True):
        for directive in (
            "input:",
            "output:",
            "log:",
            "benchmark:",
            "threads:",
            "mem_mb",
            "runtime",
            "shell:",
        ):
            assert directive in body, f"rule {name} lacks {directive}"
        assert "retries" not in body, f"rule {name} repeats itself; that belongs in the profile"


def test_threads_of_a_job_reach_the_programs_that_take_them():
    text = "\n".join(path.read_text() for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")))
    calls = {"threads": r"CALL_(WITH_THREADS|ON_GPUS)", "gpus": "CALL_ON_GPUS|--gpus", "workers": "{threads}"}
    checked = set()
    for body in re.split(r"^\s*rule \w+:$", text, flags=re.MULTILINE)[1:]:
        for program in re.findall(r'code=sources\("(\w+)"\)', body)[:1]:
            (path,) = (ROOT / "scripts").glob(f"*/{program}.py")
            for option in re.findall(r"^    (threads|gpus|workers): ", path.read_text(), re.MULTILINE):
                assert re.search(calls[option], body), program
                checked.add(program)
    assert {"score_model", "measure_layers"} <= checked
