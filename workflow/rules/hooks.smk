"""What a run does before its first job and after its last one."""

import atexit

from fathom.jobs.queue import JOB_PREFIX, refuse_leftover_jobs
from fathom.planning.failures import FailedJob, describe_failures
from fathom.planning.scheduling import lift_limit


def check_queue(workflow):
    """Stop if jobs of an earlier run of this folder are still in Slurm's queue; called under the run's lock."""
    prefix = getattr(workflow.executor_settings, "jobname_prefix", None)
    submits = prefix is not None
    if not submits and not Path("results/slurm-logs").exists():
        return  # nothing was ever submitted here
    try:
        refuse_leftover_jobs(Path(workflow.workdir_init), prefix or JOB_PREFIX, submits)
    except InputError as error:
        stop(error)


def explain_failures(workflow):
    """Print what failed jobs said when Snakemake has ended: nothing of its own follows then."""
    failed = [
        [
            FailedJob(each.rule.name, [str(log) for log in each.log])
            for each in (job.jobs if job.is_group() else [job])
        ]
        for job in workflow.scheduler.failed
    ]
    text = describe_failures(failed, workflow.start_time.timestamp())
    atexit.register(sys.stderr.write, f"\n{text}\n" if text else "")
