"""Time and memory by rule, gathered and estimated; jobs of an earlier run in the queue."""

from pathlib import Path

import pytest
from tests.plans import INHERITED, ROOT, RULES
from tests.refusals import refuses
from tests.tables import write_delimited

from fathom.errors import InputError
from fathom.io.contracts.jobs import RATES, RESOURCES
from fathom.io.delimited import write_rows
from fathom.jobs.resources import (
    Job,
    ModelEstimate,
    Rate,
    Sizes,
    estimate,
    estimate_models,
    find_leftover_jobs,
    gather_timings,
    measure_parts,
    measure_rates,
    measure_text,
    parse_plan,
    read_rates,
    refuse_leftover_jobs,
)

_HEADER = ("s", "h:m:s", "max_rss", "max_vms", "max_uss", "max_pss", "io_in", "io_out", "mean_load",
           "cpu_time")  # fmt: skip
SIZES = Sizes({"a.jsonl": 10.0, "b.jsonl": 30.0}, 40.0)
PLAN = """Job stats:
job                count
split_sentences        1

[Sat Nov 21 06:02:18 2026]
rule split_sentences:
    input: scripts/corpus/split_sentences.py
    benchmark: results/x/timings/split_sentences/a.jsonl.tsv
    wildcards: run=x, part=a.jsonl
    threads: 2
    resources: tmpdir=/tmp, runtime=20, mem_mb=2000, mem=2 GB

[Sat Nov 21 06:02:18 2026]
rule score_model:
    benchmark: results/x/timings/score_model/gpt2+d.tsv
    wildcards: run=x, model=gpt2+d
    resources: mem_mb=16000, tmpdir=/tmp, gpu=1, domains=3
localrule all:
    input: results/x/summary.csv
    jobid: 0
"""


def _measure(folder: Path, name: str, *jobs: tuple[float, str]) -> None:
    rows = [[seconds, "0:00:01", memory, 1, 1, 1, 2, 3, 50, seconds / 2] for seconds, memory in jobs]
    write_delimited(folder / name, _HEADER, rows)


def test_jobs_are_gathered_by_rule_with_the_text_that_they_went_over(tmp_path):
    _measure(tmp_path, "split/a.jsonl.tsv", (4, "100"))
    _measure(tmp_path, "split/b.jsonl.tsv", (8, "300"))
    _measure(tmp_path, "match/near/a.jsonl.tsv", (1, "NA"))
    _measure(tmp_path, "index.tsv", (20, "50"))
    _measure(tmp_path, "gather.tsv", (20, "50"))
    lines = gather_timings(tmp_path, SIZES, ["gather"])
    assert lines == [["index", 1, 20, 20, 20, 10, 50, 2, 3, 40], ["split", 2, 12, 6, 8, 6, 300, 4, 6, 40],
                     ["match", 1, 1, 1, 1, 0.5, 0, 2, 3, 10]]  # fmt: skip
    assert len(RESOURCES.names) == len(lines[0])


def test_a_dry_run_is_read(tmp_path):
    assert parse_plan(PLAN) == [Job("split_sentences", {"run": "x", "part": "a.jsonl"}, 2, 0, memory=2000,
                                    minutes=20),
                                Job("score_model", {"run": "x", "model": "gpt2+d"}, 1, 1, domains=3,
                                    memory=16000)]  # fmt: skip


def test_text_and_models_make_jobs_longer_and_unknown_rules_are_counted():
    rates = {"split_sentences": Rate(1, 2, 0, 0.5, 100, "s"),
             "score_model": Rate(5, 0, 100, 0, 0, "s")}  # fmt: skip
    jobs = [*parse_plan(PLAN), Job("split_sentences", {"part": "b.jsonl"}), Job("new"), Job("new")]
    lines, unknown = estimate(jobs, rates, SIZES, {"gpt2": 2e8})
    split, score = lines["split_sentences"], lines["score_model"]
    assert (split.jobs, split.cpu_seconds, split.longest) == (2, 2 * 21 + 61, 61)
    assert (split.disk_mb, split.memory_mb, split.gpu_seconds) == (20, 100, 0)
    assert (score.gpu_seconds, score.cpu_seconds) == (3 * 25, 0)  # 25 for each domain
    assert unknown == {"new": 2}


@pytest.mark.parametrize("model", ["gpt2", "gpt2@chat", "gpt2+law", "gpt2+law@seed2", "gpt2+law+tax@stage1"])
def test_a_model_has_the_size_of_what_it_was_made_of(model):
    lines, _ = estimate(
        [Job("score_chat", {"model": model})], {"score_chat": Rate(5, 0, 100)}, SIZES, {"gpt2": 2e9}
    )
    assert lines["score_chat"].cpu_seconds == 205


def test_what_a_set_of_questions_is_written_by_has_its_own_size_not_that_of_all_models():
    rates, jobs = {"write_open_questions": Rate(5, 0, 100)}, [Job("write_open_questions", {"set": "papers"})]
    lines, _ = estimate(jobs, rates, SIZES, {"": 9e9, "gpt2": 1e9, "papers": 2e9})
    assert lines["write_open_questions"].cpu_seconds == 205


def test_models_need_the_most_of_their_jobs_and_the_hours_of_all():
    rates = {"score_model": Rate(3600), "tune_model": Rate(7200)}
    jobs = [Job("score_model", {"model": "a"}, 1, 2, memory=100, gpu_memory=5000),
            Job("tune_model", {"model": "a", "task": "t"}, 1, 1, memory=300, gpu_memory=4000),
            Job("score_model", {"model": "b"}, 1, 1), Job("fetch_model", {"model": "c"})]  # fmt: skip
    found = estimate_models(jobs, rates, SIZES, {})
    assert found == {"a": ModelEstimate(300, 5000, 2, 3.0), "b": ModelEstimate(0, 0, 1, 1.0)}


def test_what_an_earlier_run_took_is_what_the_same_run_will_take(tmp_path):
    _measure(tmp_path / "b", "split_sentences/a.jsonl.tsv", (11, "100"))
    _measure(tmp_path / "b", "split_sentences/b.jsonl.tsv", (31, "100"))
    _measure(tmp_path / "b", "other.tsv", (7, "9"))
    write_rows(tmp_path / "r.csv", gather_timings(tmp_path / "b", SIZES), RESOURCES)
    rates = measure_rates(tmp_path / "r.csv", {"split_sentences": Rate(1, 5)})
    jobs = [
        Job("split_sentences", {"part": "a.jsonl"}),
        Job("split_sentences", {"part": "b.jsonl"}),
        Job("other", domains=2),  # as many as there
    ]
    lines, _ = estimate(jobs, rates, SIZES, {})
    assert lines["split_sentences"].cpu_seconds == pytest.approx(42)
    assert lines["other"].cpu_seconds == pytest.approx(7)
    twice = Sizes({name: 2 * size for name, size in SIZES.parts.items()}, 80.0)
    assert estimate(jobs, rates, twice, {})[0]["split_sentences"].cpu_seconds == pytest.approx(82)


def test_an_earlier_run_of_the_same_models_takes_as_long_again(tmp_path):
    sizes = {"small": 1e8, "Large-1.5": 7e9}
    timings = tmp_path / "timings"
    _measure(timings, "tune_model/small/law.tsv", (30, "100"))
    _measure(timings, "tune_model/Large-1.5@chat/law.tsv", (570, "100"))
    write_rows(tmp_path / "resources.csv", gather_timings(timings, SIZES), RESOURCES)
    old = {"tune_model": Rate(10, 0, 200)}
    jobs = [Job("tune_model", {"model": name, "task": "law"}) for name in ("small", "Large-1.5@chat")]
    lines, _ = estimate(jobs, measure_rates(tmp_path / "resources.csv", old, sizes), SIZES, sizes)
    assert lines["tune_model"].cpu_seconds == pytest.approx(600)
    # half as large a model, half of what grows with it
    half = {"small": 1e8, "Large-1.5": 3.5e9}
    lines, _ = estimate(jobs, measure_rates(tmp_path / "resources.csv", old, sizes), SIZES, half)
    assert lines["tune_model"].cpu_seconds == pytest.approx(600 * (2 * 10 + 200 * 3.6) / (2 * 10 + 200 * 7.1))
    rates = measure_rates(tmp_path / "resources.csv", old)  # nothing is known of the models
    assert (rates["tune_model"].seconds_per_job, rates["tune_model"].seconds_per_gigaparameter) == (300, 200)


def test_sizes():
    assert measure_text("a.jsonl", 2_000_000) == 2
    assert measure_text("a.jsonl.gz", 2_000_000) > 5
    sizes = measure_parts({"a": 3.0}, ["x", "y"], 4.0)
    assert (sizes.whole, sizes.of("x"), sizes.of(""), sizes.of("unknown")) == (7, 2, 7, 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [("rule\tsource\nx\ty\n", "missing columns: seconds_per_job"),
     ("\t".join(RATES.names) + "\nx\tmuch" + "\t" * 5 + "\n", "column seconds_per_job: 'much' is not")],
)  # fmt: skip
def test_bad_rates_are_named(tmp_path, text, message):
    path = tmp_path / "rates.tsv"
    path.write_text(text)
    with refuses(message, path):
        read_rates(path)


def test_every_rule_has_a_rate():
    rules = {*RULES, *INHERITED}
    assert len(rules) > 40
    assert rules - set(read_rates(ROOT / "config" / "rates.tsv")) == set()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [("jobs", "0", "column jobs: 0"), ("jobs", "1.5", "column jobs: '1.5'"), ("megabytes", "x", "'x'")],
)
def test_bad_resources_are_named_with_their_line(tmp_path, column, value, message):
    path = tmp_path / "resources.csv"
    row = dict.fromkeys(RESOURCES.names, "1") | {"rule": "other", column: value}
    write_delimited(path, RESOURCES.names, [tuple(row.values())], ",")
    with pytest.raises(InputError, match=f"resources.csv, line 2, .*{message}"):
        measure_rates(path, {})


RUN, OTHER = "fathom_1ac20208-6597", "fathom_77aa0000-0000"


def line(
    number: int, folder: Path | str, state: str = "RUNNING", name: str = RUN, rule: str = "make_pairs"
) -> str:
    return f"{number}\t{state}\t{name}\trule_{rule}_wildcards_demo_near\t{folder}"


def install_squeue(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Put a program called squeue in front of the path."""
    folder.mkdir()
    program = folder / "squeue"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_only_jobs_of_this_folder_and_name_that_go_on_are_orphans(tmp_path):
    link = tmp_path / "link"
    (tmp_path / "here").mkdir()
    link.symlink_to(tmp_path / "here")
    queue = "\n".join(
        [line(1, tmp_path / "here"), line(2, link, "PENDING"), line(3, tmp_path / "elsewhere"),
         line(4, tmp_path / "here", "COMPLETING"), line(5, tmp_path / "here", name="fathomless_1"),
         line(6, tmp_path / "here", name="interactive"), "a line of something else"],
    )  # fmt: skip
    assert [number for number, _, _ in find_leftover_jobs(queue, tmp_path / "here")] == ["1", "2"]


def test_a_start_among_orphans_stops_and_says_how_to_cancel_them(tmp_path, monkeypatch):
    lines = [line(number, tmp_path, rule="score_model") for number in range(10, 17)]
    lines.append(line(20, tmp_path, "PENDING", OTHER))
    install_squeue(tmp_path / "bin", monkeypatch, "cat <<'END'\n" + "\n".join(lines) + "\nEND")
    with pytest.raises(InputError) as caught:
        refuse_leftover_jobs(tmp_path)
    named = ", ".join(f"{number} rule_score_model" for number in range(10, 15))
    assert str(caught.value) == (
        f"Slurm: the queue still has 8 jobs of an earlier run in this folder ({named} and 3 more);"
        f" the same work would be done twice\nHint: cancel them and start again: scancel --name={RUN},{OTHER}"
    )
    refuse_leftover_jobs(tmp_path / "bin")


def test_without_slurm_nothing_is_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    refuse_leftover_jobs(tmp_path)


def test_a_queue_that_does_not_answer_stops_only_a_run_that_uses_it(tmp_path, monkeypatch):
    install_squeue(tmp_path / "bin", monkeypatch, "echo Unable to contact slurm controller >&2; exit 1")
    refuse_leftover_jobs(tmp_path, submits=False)
    with refuses("Unable to contact slurm controller"):
        refuse_leftover_jobs(tmp_path)
