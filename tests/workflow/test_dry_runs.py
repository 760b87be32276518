"""Dry runs of every target, configuration and profile, on empty input files."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from perf.studies.checkpoints import count_loads
from tests.plans import ROOT, RULES, count_jobs, list_commands, plan
from tests.programs import find_program
from tests.refusals import refuses

from fathom.jobs.resources import parse_plan

CONFIGURATIONS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "config").rglob("*.yaml")
                        if "domains" in yaml.safe_load(path.read_text()))  # fmt: skip
RANKING = "config/papers/train-before-test.yaml"
PERPLEXITY = "/scores/perplexity/"


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    """Make the folder of a dump whose files are empty."""
    folder = tmp_path_factory.mktemp("dump")
    (folder / "redpajama").mkdir()
    for name in ("arxiv-metadata-oai-snapshot.json", "redpajama/a.jsonl", "redpajama/b.jsonl.zst"):
        (folder / name).touch()
    return folder


def plan_everything(configuration, dump):
    """Plan all that a configuration is for, once for several tests."""
    return plan(f"dump={dump}", targets="all compare", files=configuration)


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_configuration_plans_all_its_benchmarks(configuration, dump):
    done = plan_everything(configuration, dump)
    jobs, values = count_jobs(done), yaml.safe_load((ROOT / configuration).read_text())
    benchmarks = [name for name, domain in values["domains"].items() if domain.get("benchmark", True)]
    assert jobs["make_pairs"] == 2 * len(benchmarks)
    assert jobs["summarize_scores"] == jobs["compare_models"] == 1
    loads = count_loads(parse_plan(done.stdout))
    coverage = values.get("coverage", {})
    asked = {name.removesuffix("@chat") for name in coverage.get("evaluation", {}).get("models", [])}
    most = {name: 1 + (name in asked) for name in loads}  # once for pairs, once for questions
    assert all(loads[name] <= most[name] for name in loads), "a model from the hub is loaded more than once"
    if configuration.endswith("comp-comp.yaml"):
        assert jobs["adapt_model"] == 2 * 4 and jobs["answer_questions"] == 2 * 4  # without Vicuna-13B
    presets = {"raw-corpora": 116, "raw-corpora-comparison": 14, "beyond-benchmarks": 8 + 102}
    assert len(loads) >= presets.get(Path(configuration).stem, 0)
    if configuration.startswith("config/papers/raw-corpora"):
        # base, chat, and with adapted models all of them
        assert jobs["plot_metrics"] == 3 * 4 and jobs["plot_chat_models"] == 1


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        # GPT-2 XL is followed while it adapts, Llama-2 after each stage
        ("papers/raw-corpora", {"adapt_in_steps": 7, "adapt_model": 6 + 12}),
        ("papers/beyond-benchmarks-continual", {"adapt_in_steps": 0, "adapt_model": 150}),
        ("tuning-demo", {"tune_model": 8 * 6, "gather_tuning": 1, "read_score_folder": 1,
                         "collect_run_scores": 0}),
        ("preparation-demo", {"tune_model": 8 * 6, "tune_preparation": 6 * 8 * 6, "compare_preparations": 1,
                              "plot_ranking_preparation": 1}),
        # two stages with two seeds, each with three checkpoints and its end; and the base
        ("following-demo", {"adapt_in_steps": 4, "adapt_model": 0, "score_model": 2 * 2 * 4 + 1,
                            "follow_models": 1, "plot_following": 2}),
        ("controls-demo", {"change_texts": 2, "adapt_model": 4 * 3, "compare_controls": 1,
                           "plot_controls": 1}),
        ("claims-demo", {"adapt_model": 5 * 5, "score_model": 5 * 5 + 1, "find_overlap": 4, "judge_claims": 1,
                         "make_unused_pairs": 1, "draw_clozes": 1, "plot_claims": 1}),
        ("choices-demo", {"answer_choices": 6, "compare_choices": 1, "plot_choices": 8}),
        ("config", {"import_reference": 0, "compare_rankings": 0, "measure_layers": 0, "judge_claims": 0}),
    ],
)  # fmt: skip
def test_what_a_configuration_asks_for_is_planned(configuration, expected, dump):
    jobs = count_jobs(plan_everything(f"config/{configuration}.yaml", dump))
    assert {name: jobs[name] for name in expected} == expected


REFERENCED = "config/papers/raw-corpora.yaml"


def test_a_preset_without_references_says_what_its_figures_lack(dump):
    done = plan_everything(REFERENCED, dump)
    assert (
        done.stdout.count("references: no benchmark by an expert or a model for cs.AI, physics.soc-ph") == 1
    )
    assert count_jobs(done)["plot_references"] == 0
    assert "references: no" not in plan().stdout
    assert "references: no" not in plan(f"dump={dump}", targets="benchmarks", files=REFERENCED).stdout


def test_a_folder_of_references_is_imported_for_the_papers_figures(dump, tmp_path):
    domains = ("cs.AI", "physics.soc-ph", "q-bio.PE", "econ.GN")
    names = ["cs.AI.expert.csv", *(f"{domain}.Claude.jsonl" for domain in domains)]
    for name in names:
        (tmp_path / name).touch()
    done = plan(f"dump={dump}", f"references={tmp_path}", targets="all compare", files=REFERENCED)
    jobs = count_jobs(done)
    assert jobs["import_reference"] == 5 and jobs["summarize_references"] == 1
    assert jobs["plot_references"] == 4 and "references: no" not in done.stdout
    commands = "".join(list_commands(done, "import_reference"))
    assert all(f"{tmp_path}/{name}" in commands for name in names)
    # what Claude wrote leads in every domain, and is held against the expert's pairs in one figure
    (own,) = (line for line in list_commands(done, "import_reference") if "cs.AI.expert.csv" in line)
    assert "/cs.AI/benchmark/reference-expert " in own and "--name expert " in own
    assert commands.count("/benchmark/reference ") == 4
    figures = [line for line in list_commands(done, "draw_figure") if "--figure references " in line]
    (six,) = (line for line in figures if '"group": "paired"' in line)
    bases = ["Qwen2-1.5B", "Qwen2-7B", "Llama-2-7b", "Llama-3.1-8B", "Mistral-7B-v0.3", "OLMo-2-1124-7B"]
    assert f'"members": {json.dumps(bases)}' in six
    ordered = '"references": [["reference-expert", "expert"], ["reference", "Claude"]]'
    assert all(ordered in line for line in figures)
    # a figure of all domains, and tables of examples, know the names, too
    drawn = list_commands(done, "draw_figure")
    (chat,) = (line for line in drawn if "--figure chat-models " in line)
    assert ordered in chat
    (examples,) = list_commands(done, "write_examples")
    assert '"econ.GN": {"reference": "Claude"}' in examples


def test_a_wrong_folder_of_references_stops_before_any_job(dump, tmp_path):
    with refuses(f"references = {tmp_path}: this folder is empty", "Hint:"):
        plan(f"dump={dump}", f"references={tmp_path}", files=REFERENCED)


@pytest.fixture
def scores(tmp_path):
    """Make a folder of scores whose tables are empty."""
    for name in ("direct_eval.csv", "direct_eval_stderr.csv", "train_before_test.csv"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(("targets", "figures"), [("rankings", 0), ("figures all", 1)])
def test_a_folder_of_scores_is_ranked_without_any_corpus(scores, targets, figures):
    done = plan(f"scores={scores}", targets=targets, files=RANKING)
    plots = {"alignment": 1, "means": 1, "tau": 2, "perplexity": 2, "components": 4, "forecast": 1}
    plots = {f"plot_ranking_{name}": count * figures for name, count in plots.items()}
    jobs = count_jobs(done)
    assert jobs["read_score_folder"] == jobs["compare_rankings"] == 1
    assert {name: jobs[name] for name in plots} == plots
    rest = {"read_score_folder", "compare_rankings", "forecast_change", "write_ranking_tables",
            "write_explorer", "gather_timings"}  # fmt: skip
    assert set(jobs) <= {*rest, *targets.split(), *plots}
    assert "direct_eval_stderr.csv" in done.stdout


def test_a_limit_of_sentences_adds_one_job_that_embedding_waits_for():
    done, plain = plan("sentences={limit: 20000}"), plan()
    jobs = count_jobs(done)
    limited = jobs["select_sentences"] + jobs["match_sentences"]
    assert done.stdout.count(" --drawn results/plan/corpus/drawn.parquet ") == limited + 1 > 1
    assert done.stdout.count("--draw results/plan/corpus/drawn.json") == jobs["describe_benchmark"] > 0
    assert jobs - count_jobs(plain) == {"draw_documents": 1} and "--draw" not in plain.stdout


def test_splits_by_content_need_groups_and_pairs_are_held_against_training_text():
    done, by_id = plan(), plan("corpus={splits_by: id}")
    jobs = count_jobs(done)
    assert done.stdout.count("--splits results/plan/corpus/splits.parquet") == jobs["find_overlap"] == 2
    for program in ("summarize_scores", "compare_models"):
        (command,) = list_commands(done, program)
        assert command.count("/overlap.parquet") == 2
    assert jobs - count_jobs(by_id) == {"sketch_documents": 6, "group_documents": 1}
    assert "--splits results" not in by_id.stdout and by_id.stdout.count("--splits-by id") == 2


def test_the_demo_goes_without_its_pretrained_model_until_that_was_fetched():
    assert count_jobs(plan(targets="fetch")) == {"fetch": 1, "fetch_model": 1}
    # only the page names it, as one that is missing
    assert plan().stdout.count("SmolLM2") == plan().stdout.count("--left-out SmolLM2-135M-Instruct-Q4_1") == 1
    asked = plan("models=[SmolLM2-135M-Instruct-Q4_1+machine-learning,toy-gpt2]")
    assert {"fetch_model", "adapt_model", "score_model"} <= set(count_jobs(asked))


def test_a_run_ranks_its_own_models():
    jobs = count_jobs(plan(targets="rankings"))
    assert {"collect_run_scores", "compare_rankings", "compare_models"} <= set(jobs)
    jobs = count_jobs(plan("domains={plotting: {categories: [matplotlib.*], benchmark: true}}"))
    assert jobs["plot_ranking_components"] and jobs["plot_ranking_perplexity"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [([], "rank existing tables of scores: --config scores=FOLDER"),
     (["scores=no/such/folder"], "scores = no/such/folder: there is no such folder"),
     (["scores=config"], "there is no direct_eval.csv, which ranking.conditions names")],
)  # fmt: skip
def test_a_wrong_folder_of_scores_stops_before_any_job(arguments, message):
    with refuses(message, "Hint:"):
        plan(*arguments, targets="rankings", files=RANKING)


def test_the_whole_experiment_of_train_before_test_is_planned(tmp_path):
    for name in ("config", "scripts", "src", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "texts").mkdir()
    for name in ("wiki", "stackexchange", "arxiv"):
        (tmp_path / "texts" / f"{name}_2025.jsonl").touch()
    place = f"--directory {tmp_path}"
    jobs = count_jobs(plan(targets="rankings", files=str(ROOT / RANKING), options=place))
    assert [jobs[name] for name in ("fetch_model", "fetch_task", "prepare_task")] == [61, 24, 3]
    assert jobs["tune_model"] == 61 * 24 + 61 * 3


def test_checkpoints_and_seeds_enter_no_summary(dump):
    done = plan_everything("config/following-demo.yaml", dump)
    (summary,) = list_commands(done, "summarize_scores")
    assert "toy-gpt2+machine-learning+plotting.parquet" in summary and "@" not in summary
    name = "toy-gpt2+machine-learning@seed1"
    (score,) = (line for line in list_commands(done, "score_model") if f"/{name}@step50.parquet" in line)
    assert f"--model results/plan/models/{name}/checkpoints/step50.json " in score
    assert f"Would remove temporary output results/plan/models/{name}/checkpoints" in done.stdout


def test_references_of_claims_are_scored_by_the_one_job(dump):
    done = plan_everything("config/claims-demo.yaml", dump)
    assert "/scores/clozes/toy-gpt2.parquet" in done.stdout


def test_without_held_out_text_no_perplexity_is_planned():
    splits = "{benchmark: 0.6, adapt-train: 0.35, adapt-valid: 0.05, adapt-test: 0}"
    done = plan(f"corpus={{splits: {splits}}}")
    assert "/scores/attribute-rate/" in done.stdout and PERPLEXITY not in done.stdout
    assert PERPLEXITY in plan().stdout


def test_a_reference_benchmark_is_imported_scored_and_exported_where_it_is_configured(tmp_path):
    for name in ("expert.csv", "other.jsonl"):
        (tmp_path / name).touch()
    files = f"expert: {tmp_path / 'expert.csv'}, claude: {tmp_path / 'other.jsonl'}"
    without = plan()
    done = plan(f"references={{machine-learning: {{{files}}}}}", "coverage={benchmarks: true}")
    assert "/scores/reference/" not in without.stdout
    jobs = count_jobs(done)
    assert jobs["score_model"] == count_jobs(without)["score_model"] > 1
    assert "machine-learning/scores/reference/toy-gpt2.parquet" in done.stdout
    expected = {"import_reference": 2, "export_benchmark": 3, "make_pairs": 2, "summarize_references": 1,
                "plot_references": 1, "find_overlap": 4}  # fmt: skip
    assert {name: jobs[name] for name in expected} == expected
    (figure,) = (line for line in list_commands(done, "draw_figure") if "--figure references " in line)
    assert '"references": [["reference", "expert"], ["reference-claude", "claude"]]' in figure
    (map_,) = (line for line in list_commands(done, "draw_figure") if "--figure benchmarks " in line)
    assert map_.count("/coverage.parquet") == jobs["measure_coverage"] == 4
    (summary,) = (line for line in list_commands(done, "summarize_scores") if "/references.csv" in line)
    assert summary.count("/scores/reference-claude/") == 7 and "perplexity" not in summary
    with refuses("references: unknown domain"):
        plan(f"references={{plotting: {{expert: {tmp_path / 'expert.csv'}}}}}")


def test_inside_its_chat_template_a_model_has_ranks_only():
    done = plan("models={score: [Qwen2-1.5B-Instruct, Qwen2-1.5B-Instruct@chat]}")
    assert "results/plan/machine-learning/scores/tf/Qwen2-1.5B-Instruct@chat.parquet" in done.stdout
    jobs = count_jobs(done)
    assert (jobs["fetch_model"], jobs["score_chat"]) == (2, 1)
    for kind in ("perplexity", "attribute-rate"):
        assert f"scores/{kind}/Qwen2-1.5B-Instruct.parquet" in done.stdout
        assert f"scores/{kind}/Qwen2-1.5B-Instruct@chat.parquet" not in done.stdout


def test_gpu_jobs_share_the_gpus_of_this_machine(tmp_path, monkeypatch):
    """What a job asks for is cut down to what there is: the limit under which jobs run side by side."""
    done = plan(options="--set-resources score_model:gpu=4")
    assert done.stdout.count("score_model.py --model") == done.stdout.count("--gpus 4 ") > 1
    command = tmp_path / "nvidia-smi"
    command.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA A100'\necho 'GPU 1: NVIDIA A100'\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    asked = "-c16 --set-resources score_model:gpu=4"
    for more, gpus in (("", 2), ("--resources gpu=3", 3), ("--jobs 9 --executor slurm", 4)):
        done = plan(options=f"{asked} {more}")
        scoring = done.stdout.count("score_model.py --model")
        assert done.stdout.count(f"--gpus {gpus} ") == scoring > 1
    done = plan("scoring={device: cpu}", "embedding={device: cpu}", options="-c16")
    assert {job.rule for job in parse_plan(done.stdout) if job.gpu} == {"train_model", "adapt_model"}
    assert done.stdout.count("--gpus 0 ") == done.stdout.count("score_model.py --model") > 1


def test_layers_are_planned_for_every_model_that_is_looked_into(dump):
    preset = "config/papers/beyond-benchmarks-layers.yaml"
    done = plan(f"dump={dump}", targets="layers", files=preset)
    jobs = count_jobs(done)
    assert jobs["measure_layers"] == jobs["adapt_model"] + 9 == 15
    assert "layers/gpt2-medium.lens.safetensors" in done.stdout
    assert jobs["plot_layers"] == 4 and "score_model" not in jobs
    without = plan("lens={steps: 0}", targets="layers")
    assert ".lens.safetensors" not in without.stdout and count_jobs(without)["plot_layers"]


def test_every_target_plans_and_a_profile_too():
    targets = "all benchmarks figures rankings layers coverage"  # the demo follows nothing and asks nothing
    assert set(targets.split()) <= set(count_jobs(plan(targets=targets, options="--profile slurm")))


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
    [(["keywords={cuont: 3}"], "--config: unknown key 'keywords.cuont'; did you mean count?"),
     (["corpus={source: arxiv}", "dump=no/such/folder"], "dump = no/such/folder: there is no such folder"),
     (["models={score: [gtp2]}"], "models.score.0: unknown model 'gtp2'; did you mean gpt2?"),
     (["corpus={source: jsonl}"], "corpus.files: no input files are given")],
)  # fmt: skip
def test_bad_configuration_stops_before_any_job(arguments, message):
    with refuses(message, "Hint:"):
        plan(*arguments)


def test_rules_name_log_benchmark_and_resources():
    # needs.ask gives both
    directives = ["output:", "log:", "benchmark:", "threads:", r"mem_mb=|\.ask", r"runtime=|\.ask", "shell:"]
    missing = {
        name: [each for each in directives if not re.search(each, body)] for name, body in RULES.items()
    }
    assert len(missing) > 10 and not {name: what for name, what in missing.items() if what}
    assert not [name for name, body in RULES.items() if "retries" in body], "that belongs in the profile"


def test_threads_of_a_job_reach_the_programs_that_take_them():
    calls = {"threads": r"CALL_(WITH_THREADS|ON_GPUS)", "gpus": "CALL_(ON|WITH)_GPUS", "workers": "{threads}"}
    checked = set()
    for body in RULES.values():
        for program in re.findall(r'(?:program|fetcher)\(\s*"(\w+)"', body):
            text = find_program(program).read_text()
            for option in re.findall(r"^    (threads|gpus|workers): ", text, re.MULTILINE):
                assert re.search(calls[option], body), program
                checked.add(program)
    assert {"score_model", "measure_layers"} <= checked
