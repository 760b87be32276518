"""Snakemake's own limit of starts is lifted, a user's is kept; GPUs of this machine are shared."""

import threading
from types import SimpleNamespace

import pytest

from fathom.planning import run_hooks
from fathom.planning.run_hooks import let_signals_in, lift_limit, limit_gpus


@pytest.mark.parametrize(("given", "kept"), [([], False), (["--max-jobs-per-timespan", "5/1s"], True)])
def test_only_the_limit_that_nobody_set_is_lifted(given, kept):
    from snakemake.cli import get_argument_parser
    from snakemake.scheduling.job_scheduler import JobRateLimiter

    limit = get_argument_parser().parse_args([*given]).max_jobs_per_timespan
    scheduler = SimpleNamespace(job_rate_limiter=JobRateLimiter(limit))
    lift_limit(scheduler)
    assert (scheduler.job_rate_limiter is not None) == kept
    lift_limit(none := SimpleNamespace(job_rate_limiter=None))
    assert none.job_rate_limiter is None


def test_a_signal_ends_a_run_that_is_choosing_jobs():
    from snakemake.scheduling.job_scheduler import JobScheduler

    scheduler = JobScheduler.__new__(JobScheduler)
    scheduler._lock, scheduler._open_jobs, scheduler._user_kill = (
        threading.Lock(),
        threading.Semaphore(0),
        None,
    )
    let_signals_in(scheduler)

    def choose_and_be_told() -> None:
        with scheduler._lock:
            scheduler.exit_gracefully()

    thread = threading.Thread(target=choose_and_be_told, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive() and scheduler._user_kill == "graceful"


@pytest.mark.parametrize(
    ("gpus", "changes", "expected"),
    [
        (2, {}, {"gpu": 2}),
        (0, {}, {}),
        (2, {"is_main_process": False}, {}),
        (2, {"nodes": 10}, {}),
        (2, {"gpu": 1}, {"gpu": 1}),
    ],
)
def test_jobs_with_a_gpu_are_as_many_as_this_machine_has(gpus, changes, expected, monkeypatch):
    monkeypatch.setattr(run_hooks, "count_machine_gpus", lambda: gpus)
    monkeypatch.delenv(run_hooks.SHARED, raising=False)
    resources = {"_nodes": SimpleNamespace(value=changes.get("nodes"))}
    resources |= {"gpu": 1} if "gpu" in changes else {}
    workflow = SimpleNamespace(
        global_resources=resources, register_resource=resources.__setitem__,
        is_main_process=changes.get("is_main_process", True),
    )  # fmt: skip
    limit_gpus(workflow)
    assert {name: value for name, value in resources.items() if name != "_nodes"} == expected
    assert (run_hooks.SHARED in run_hooks.os.environ) == (expected == {"gpu": gpus})
    monkeypatch.delenv(run_hooks.SHARED, raising=False)
