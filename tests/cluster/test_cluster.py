"""The workflow on a real Slurm where everything breaks: the same bytes, or one line that says what to do."""

import hashlib
from pathlib import Path

import pytest
from tests.cluster.slurm import find_rule

pytestmark = pytest.mark.cluster
GPU_RULES = {"train_model": "a100", "adapt_model": "a100", "score_model": "h100"}
# times and logs of jobs differ from run to run
OTHER = ("timings/", "logs/", "resources.csv")


def hash_results(folder: Path) -> dict[str, str]:
    """Return the hash of every file of a run that is not about times."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in names.items()
            if not name.startswith(OTHER)}  # fmt: skip


def test_all_results_are_the_bytes_of_an_undisturbed_run(story):
    found = hash_results(story.folder / "results" / "tiny")
    wanted = hash_results(story.notes["undisturbed"] / "tiny")
    assert len(wanted) > 40
    assert found == wanted


def test_all_jobs_ran_in_slurm(story):
    # between these lines stand logs of failed attempts; to the Snakemake inside a job all rules are local
    own = "\n".join(story.output.split("\n" + 80 * "=" + "\n")[::2])
    local = [line for line in own.splitlines() if line.startswith("localrule")]
    assert local == []
    names = {find_rule(job) for job in story.notes["jobs"]}
    assert {"read_jsonlines", "index_documents", "gather_matches", "make_pairs", *GPU_RULES} <= names
    assert {job["state"] for job in story.of("index_documents")} == {"COMPLETED"}


def test_jobs_with_a_gpu_ran_where_its_memory_holds_the_model_and_all_others_elsewhere(story):
    gpus = story.slurm.gpus()
    for job in story.notes["jobs"]:
        name = find_rule(job)
        assert job["partition"] == GPU_RULES.get(name, "cpu"), name
        assert ("gpu" in gpus.get(job["id"], "")) == (name in GPU_RULES), name
        if name in GPU_RULES:
            assert gpus[job["id"]] == f"gres:gpu:{GPU_RULES[name]}:1"


def test_many_short_jobs_went_together_one_after_the_other(story):
    done = [job for job in story.notes["jobs"] if job["state"] == "COMPLETED"]
    (matches,) = (job for job in done if find_rule(job) == "matches_match_sentences")
    assert (matches["processors"], matches["limit"]) == ("1", "2:00:00")
    # 3,000 and some for each MB of the inputs of one of them at a time
    assert 3000 <= int(matches["memory"].removesuffix("M")) < 3100
    assert "match_sentences" not in {find_rule(job) for job in done}


def test_programs_are_offline_and_have_the_scratch_of_their_node(story):
    environment = story.notes["environment"]
    assert "HF_HUB_OFFLINE=1" in environment
    assert f"FATHOM_SCRATCH={story.folder / 'scratch'}" in environment


def test_a_job_out_of_memory_got_twice_as_much(story):
    jobs = story.of("extract_keywords")
    log = story.folder / "results" / "slurm-logs" / "rule_extract_keywords" / "near" / f"{jobs[0]['id']}.log"
    # without cgroups the state is FAILED
    assert jobs[0]["state"] in {"FAILED", "OUT_OF_MEMORY"}
    assert "exceeded memory limit" in log.read_text()
    assert [job["memory"] for job in jobs] == ["300M", "600M", "1200M"][: len(jobs)]
    assert jobs[-1]["state"] == "COMPLETED"


def test_a_job_that_hung_was_ended_and_got_twice_the_time(story):
    jobs = [job for job in story.of("collect_texts") if "near" in job["comment"]]
    # on a busy machine the second attempt may take too long as well
    assert [job["limit"] for job in jobs] == ["1:00", "2:00", "4:00"][: max(2, len(jobs))]
    assert [job["state"] for job in jobs] == ["TIMEOUT"] * (len(jobs) - 1) + ["COMPLETED"]


def test_a_cancelled_job_and_that_of_a_dead_node_were_run_again(story):
    assert [job["state"] for job in story.of("train_tokenizer")] == ["CANCELLED", "COMPLETED"]
    assert [job["state"] for job in story.of("train_model")] == ["NODE_FAIL", "COMPLETED"]


def test_jobs_outlived_the_restarted_controller(story):
    assert {job["state"] for job in story.of("embed_named")} == {"COMPLETED"}


def test_after_a_sigkill_of_snakemake_each_start_says_what_to_do(story):
    locked, orphaned, last = (story.notes[f"again {place}"] for place in range(3))
    assert locked.returncode != 0 and "--unlock" in locked.stderr
    assert orphaned.returncode != 0
    message = orphaned.stderr.partition("Slurm: ")[2]
    assert "of an earlier run in this folder" in message and "score_model" in message
    assert "Traceback" not in orphaned.stderr
    assert last.returncode == 0, last.stdout + last.stderr
    states = {job["state"] for job in story.of("score_model")}
    assert states == {"CANCELLED", "COMPLETED"}


def test_jobs_that_were_ended_removed_nothing(story):
    logs = [path.read_text() for path in (story.folder / "results" / "slurm-logs").rglob("*.log")]
    assert any("CANCELLED AT" in log for log in logs)
    assert not [log for log in logs if "Removing output files" in log]


def test_logs_are_where_the_profile_says(story):
    logs = story.folder / "results" / "slurm-logs"
    assert list(logs.glob("rule_train_model/*/*.log"))
    assert list(logs.glob("group_matches_match_sentences/*.log"))
    assert "Error in rule train_model" in story.output
    assert "results/slurm-logs/rule_train_model" in story.output
