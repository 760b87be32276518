"""A run's actions before its first and after its last job, and limits of Snakemake's scheduler."""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io import paths
from fathom.jobs.devices import SHARED, count_machine_gpus
from fathom.jobs.resources import JOB_PREFIX, refuse_leftover_jobs
from fathom.planning import failures
from fathom.planning.apart import RunStorage
from fathom.planning.hub_checks import check_fetched
from fathom.planning.model_checks import describe_absent
from fathom.planning.requests import SERVED, describe_speakers
from fathom.planning.run import Run
from fathom.planning.run_figures import describe_missing_references


class RunHooks:
    """Messages and checks around the jobs of a run."""

    def __init__(self, run: Run, workflow: Any, apart: RunStorage, warn: Callable[[str], object]) -> None:
        self._run, self._workflow, self._apart, self._warn = run, workflow, apart, warn
        self._started, self._says_references = time.monotonic(), workflow.is_main_process

    def start(self) -> None:
        """Stop a run that cannot succeed, under the run's lock; print notes before its first job."""
        self._check_partitions()
        self._check_queue()
        if self._run.left_out and "fetch" not in self._workflow.dag_settings.targets:
            self._warn(describe_absent(self._run.left_out, self._run.entries))
        jobs = list(self._workflow.dag.needrun_jobs())
        if any(job.rule.name in SERVED for job in jobs):
            for line in describe_speakers(self._run.config, self._run.results, self._run.root):
                self._warn(line)
        self._ask_hub([(job.rule.name, job.wildcards_dict) for job in jobs])
        lift_limit(self._workflow.scheduler)
        let_signals_in(self._workflow.scheduler)
        if limit := self._find_limit():
            limit_groups(self._workflow.scheduler, limit)

    def explain_failures(self) -> None:
        """Print messages of failed jobs after Snakemake's last output.

        The message of a model's fetch is right above; for an optional model, say that the run continues.
        """
        jobs, optional = list(self._workflow.scheduler.failed), self._run.config.models.optional
        fetching = list(self._workflow.dag_settings.targets) == ["fetch"]
        absent = [job for job in jobs if fetching and job.wildcards.get("model") in optional]
        lines = [f"{job.wildcards.model} could not be fetched; continuing without it" for job in absent]
        failed = [
            [self._describe_job(each, job) for each in (job.jobs if job.is_group() else [job])]
            for job in jobs
            if job not in absent
        ]
        since = failures.find_start(self._workflow.start_time.timestamp(), time.monotonic() - self._started)
        text = failures.describe_failures(failed, since)
        if lines := [*lines, *([text] if text else [])]:
            failures.say_at_the_end("\n\n".join(lines))

    def name_results(self) -> None:
        """Print where to start reading what the run has made, after Snakemake's last output."""
        made = {str(file) for job in self._workflow.dag.jobs for file in job.output if Path(file).is_file()}
        kinds = ([path for path in sorted(made) if kind.is_of(self._place(path))] for kind in _READ_FIRST)
        first, *more = next(filter(None, kinds), [""])
        if first and self._workflow.is_main_process:
            others = f" and {len(more):,} more like it" if more else ""
            failures.say_at_the_end(f"Results: {first}{others}")

    def _place(self, path: str) -> str:
        return path.removeprefix(f"{self._run.results}/")

    def is_comparison(self) -> bool:
        """Say whether only a comparison is asked for, as jobs on other machines need to know."""
        return not self._workflow.is_main_process or "compare" in self._workflow.dag_settings.targets

    def list_page_results(self) -> list[str]:
        """Return all tables and figures of a run, or only those of a comparison if it is the only target."""
        targets, compares = self._run.targets, self._apart.recall("compared", bool, self.is_comparison)
        return targets.list_compared() if compares else targets.list_results()

    def list_beside(self) -> list[str]:
        """Return intermediate files that the page reads, for a page that cannot see the folder."""

        def find() -> list[str]:
            from fathom.explorer.reader import is_read  # which takes half a second

            return self._apart.list_made(self.list_page_results(), self._run.results, is_read)

        return self._apart.recall("beside", list[str], find) if self._apart.stored else []

    def find_style(self, style: str, asked: bool = True) -> Callable[[Any], str]:
        """Return an input: the style sheet of figures.

        Planning the first figure logs what figures lack without reference benchmarks.

        Parameters
        ----------
        asked : bool
            Whether the targets are those of this workflow: another one asks for files by rules of its own.
        """

        def find(wildcards: Any) -> str:
            if self._says_references:
                self._says_references = False
                targets = self._workflow.dag_settings.targets if asked else ()
                figures = self._run.targets.figures
                if missing := describe_missing_references(self._run.config, figures, targets):
                    self._warn(missing)
            return style

        return find

    def _describe_job(self, job: Any, submitted: Any) -> failures.FailedJob:
        """Return a failed job, with Slurm's logs of the job or group that was submitted."""
        wildcards = [str(each) for each in job.wildcards_dict.values()]
        logdir = getattr(self._workflow.executor_settings, "logdir", None)
        logs: list[str] = []
        if logdir and submitted.is_group():
            logs = failures.find_slurm_logs(Path(logdir), f"group_{submitted.name}")
        elif logdir:
            logs = failures.find_slurm_logs(Path(logdir), f"rule_{job.rule.name}", wildcards)
        return failures.FailedJob(job.rule.name, [str(log) for log in job.log], wildcards, logs)

    def _check_partitions(self) -> None:
        """Stop if partitions give no job as much time as the profile says: one would wait for ever."""
        path, limit = getattr(self._workflow.executor_settings, "partition_config", None), self._find_limit()
        if path and limit:
            with failures.refusing():
                refuse_short_partitions(Path(path), limit)

    def _find_limit(self) -> int:
        """Return the most minutes of a job by the profile; 0 if it does not say."""
        profile = read_profile(self._workflow.resource_settings.default_resources or {})
        return int(profile.get("max_minutes", 0))

    def _check_queue(self) -> None:
        prefix = getattr(self._workflow.executor_settings, "jobname_prefix", None)
        submits = prefix is not None
        if submits or Path("results/slurm-logs").exists():  # else nothing was ever submitted here
            with failures.refusing():
                folder = Path(self._workflow.workdir_init)
                refuse_leftover_jobs(folder, prefix or JOB_PREFIX, submits)

    def _ask_hub(self, jobs: list[tuple[str, Any]]) -> None:
        obstacles, notes = check_fetched(self._run.config, self._run.registry, jobs)
        for note in notes:
            self._warn(note)
        for obstacle in obstacles:
            sys.stderr.write(f"Error: {obstacle}\n")
        if obstacles:
            raise SystemExit(1)


_READ_FIRST = (paths.PAGE, paths.SUMMARY, paths.RANKING_PAGE, paths.CHANGES, paths.CARD)
"""What a reader starts with, the best first; a target may make only some."""


SNAKEMAKE_LIMIT = (100, 1)
"""Job starts that Snakemake allows by default, and the period in seconds."""


def lift_limit(scheduler: Any) -> None:
    """Let a scheduler start any number of jobs at once, unless the user has set a limit.

    With a limit, each search for jobs asks for another one a second later, so every job that ends adds one
    search per second until the run ends (Snakemake 9.27): with hundreds of jobs that keeps a core of a
    login node busy. The number of cores or of submitted jobs bounds the starts anyway.
    """
    limiter = getattr(scheduler, "job_rate_limiter", None)
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == SNAKEMAKE_LIMIT:
        scheduler.job_rate_limiter = None


def let_signals_in(scheduler: Any) -> None:
    """Let SIGTERM end a run while its scheduler chooses jobs.

    The handler takes the lock that the same thread then holds, so the run would hang (Snakemake 9.27).
    """
    if hasattr(scheduler, "_lock"):
        scheduler._lock = threading.RLock()


def limit_groups(scheduler: Any, minutes: int) -> None:
    """Let a group of jobs ask for at most `minutes` when it is submitted.

    Snakemake adds up the times of a group's jobs that do not run side by side, each of which may be the most
    that a job may ask for: a group that asked for their sum would wait for ever.
    """
    submit = scheduler.run

    def run(jobs: Iterable[Any], executor: Any = None) -> None:
        jobs = list(jobs)
        for job in jobs:
            if job.is_group() and job.resources.get("runtime", 0) > minutes:
                job._resources["runtime"] = minutes
        submit(jobs, executor=executor)

    scheduler.run = run


def limit_gpus(workflow: Any) -> None:
    """Let as many GPU jobs run in parallel as this machine has GPUs, unless --resources sets it.

    Without one they run on processors, as many as there are cores.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        That of the main process changes; one whose jobs are submitted, or that limits GPUs itself, does not.
    """
    is_local = workflow.global_resources["_nodes"].value is None
    if workflow.is_main_process and is_local and "gpu" not in workflow.global_resources:
        gpus = count_machine_gpus()
        if gpus:
            workflow.register_resource("gpu", gpus)
            os.environ[SHARED] = "1"


def read_profile(defaults: Mapping[str, Any]) -> dict[str, str]:
    """Return `gpu_cards` and `max_minutes` of the cluster from a profile's default resources.

    Raises
    ------
    InputError
        If `max_minutes` is no whole number of minutes.
    """
    names = (name for name in ("gpu_cards", "max_minutes") if name in defaults)
    found = {name: str(defaults[name].raw).strip("'\"") for name in names}
    minutes = found.get("max_minutes", "1")
    if not re.fullmatch("[0-9]+", minutes) or not int(minutes):
        what = f"max_minutes is {minutes!r}, not a number of minutes"
        raise InputError(what, "default-resources in the profile", "such as 2880 for two days")
    return found


def refuse_short_partitions(path: Path, minutes: int) -> None:
    """Raise `InputError` if no partition gives `minutes`, or none of those with GPUs."""
    from snakemake_executor_plugin_slurm.partitions import read_partition_file

    partitions = [partition.limits for partition in read_partition_file(path)]
    for kind in (partitions, [limits for limits in partitions if limits.max_gpu]):
        longest = max((limits.max_runtime for limits in kind), default=minutes)
        if longest < minutes:
            whose = "partitions" if kind is partitions else "partitions with GPUs"
            raise InputError(
                f"the {whose} give a job at most {longest:,.0f} minutes, max_minutes is {minutes:,}:"
                " a job that asked for more would wait for ever",
                str(path),
                "set max_minutes in the profile's config.yaml to the time that your partitions give",
            )
