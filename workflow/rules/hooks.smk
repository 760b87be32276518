"""What a run does before its first job and after its last one."""

import time
from functools import cache

from fathom.jobs.queue import JOB_PREFIX, refuse_leftover_jobs
from fathom.planning.failures import (
    FailedJob,
    describe_failures,
    find_start,
    say_at_the_end,
)
from fathom.planning.hub_checks import check_fetched
from fathom.planning.missing_references import describe_missing_references
from fathom.planning.optional_models import describe_absent
from fathom.planning.requests import SERVED, describe_speakers
from fathom.planning.scheduling import lift_limit

_STARTED = time.monotonic()


def check_queue(workflow):
    """Stop if jobs of an earlier run of this folder are still in Slurm's queue; called under the run's lock."""
    prefix = getattr(workflow.executor_settings, "jobname_prefix", None)
    submits = prefix is not None
    if not submits and not Path("results/slurm-logs").exists():
        return  # nothing was ever submitted here
    with refusing():
        refuse_leftover_jobs(Path(workflow.workdir_init), prefix or JOB_PREFIX, submits)


def name_left_out(workflow, names):
    """Say which optional models a run goes without."""
    if names and "fetch" not in workflow.dag_settings.targets:
        logger.warning(describe_absent(names, RUN.entries))


def ask_hub(workflow, config):
    """Stop if a file that a job fetches is not there, or a service's key; say what is not known."""
    jobs = workflow.dag.needrun_jobs()
    asked = [(job.rule.name, job.wildcards_dict) for job in jobs]
    obstacles, notes = check_fetched(config, RUN.registry, asked)
    for note in notes:
        logger.warning(note)
    for obstacle in obstacles:
        sys.stderr.write(f"Error: {obstacle}\n")
    if obstacles:
        raise SystemExit(1)


def name_speakers(workflow, config):
    """Say what models behind a service will be asked, and what that costs, where the run asks them."""
    if any(job.rule.name in SERVED for job in workflow.dag.needrun_jobs()):
        for line in describe_speakers(config, RESULTS, ROOT):
            logger.warning(line)


def explain_failures(workflow, optional):
    """Print what failed jobs said when Snakemake has ended: nothing of its own follows then.

    What a fetched model's job said stands right above; of an optional one the run's way on is said.
    """
    jobs = list(workflow.scheduler.failed)
    absent = []
    if list(workflow.dag_settings.targets) == ["fetch"]:
        absent = [job for job in jobs if job.wildcards.get("model") in optional]
    lines = [
        f"{job.wildcards.model} could not be fetched; continuing without it"
        for job in absent
    ]
    failed = [
        [
            FailedJob(
                each.rule.name,
                [str(log) for log in each.log],
                [str(value) for value in each.wildcards_dict.values()],
            )
            for each in (job.jobs if job.is_group() else [job])
        ]
        for job in jobs
        if job not in absent
    ]
    since = find_start(workflow.start_time.timestamp(), time.monotonic() - _STARTED)
    text = describe_failures(failed, since)
    lines += [text] if text else []
    if lines:
        say_at_the_end("\n\n".join(lines))


@cache
def warn_of_references():
    """Say which figures lack what they have in the papers, for want of reference benchmarks."""
    # another workflow asks for this one's files by rules of its own
    asked = workflow.dag_settings.targets if IS_MAIN else ()
    missing = describe_missing_references(CONFIG, TARGETS.figures, asked)
    if missing:
        logger.warning(missing)


def find_style(wildcards):
    """Return the style sheet; say what figures lack as soon as one is planned: before, nobody asked for any."""
    if workflow.is_main_process:
        warn_of_references()
    return STYLE
