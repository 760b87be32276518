"""Snakemake's own limit of starts is lifted, a user's is kept."""

from types import SimpleNamespace

import pytest

from fathom.planning.scheduling import lift_limit


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
