"""What keeps Snakemake's search for jobs cheap."""

from typing import Any

SNAKEMAKE_LIMIT = (100, 1)
"""Starts that Snakemake allows by default, and in how many seconds."""


def lift_limit(scheduler: Any) -> None:
    """Let a scheduler start any number of jobs at once, unless the user has set a limit.

    While there is a limit, each search for jobs asks for another one a second later, so every job that ends
    adds one search each second until the run ends (Snakemake 9.27): with hundreds of jobs that keeps a core
    busy, which a user shares with others on a login node. The number of cores or of submitted jobs bounds the
    starts anyway.

    Parameters
    ----------
    scheduler : snakemake.scheduling.job_scheduler.JobScheduler
    """
    limiter = getattr(scheduler, "job_rate_limiter", None)
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == SNAKEMAKE_LIMIT:
        scheduler.job_rate_limiter = None
