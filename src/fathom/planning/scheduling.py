"""What Snakemake's scheduler is told: how many jobs may start, and how many may have a GPU."""

import os
from typing import Any

from fathom.jobs.devices import SHARED, count_machine_gpus

SNAKEMAKE_LIMIT = (100, 1)
"""Starts that Snakemake allows by default, and in how many seconds."""


def lift_limit(scheduler: Any) -> None:
    """Let a scheduler start any number of jobs at once, unless the user has set a limit.

    While there is a limit, each search for jobs asks for another one a second later, so every job that ends
    adds one search each second until the run ends (Snakemake 9.27): with hundreds of jobs that keeps a core
    busy, which a user shares with others on a login node. The number of cores or of submitted jobs bounds the
    starts anyway.
    """
    limiter = getattr(scheduler, "job_rate_limiter", None)
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == SNAKEMAKE_LIMIT:
        scheduler.job_rate_limiter = None


def limit_gpus(workflow: Any) -> None:
    """Let as many jobs with a GPU run side by side as this machine has GPUs, unless --resources says it.

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
