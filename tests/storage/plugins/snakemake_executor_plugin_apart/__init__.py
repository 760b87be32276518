"""An executor for tests: each job in a folder and a home of its own, without the folder of the run, as in a container.

It starts the command that the executor for Kubernetes gives to its container. Of the environment a job gets
what the container would have: PATH, and the variables that Snakemake names.
"""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface
from snakemake_interface_executor_plugins.settings import CommonSettings

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=True,
    job_deploy_sources=True,
    pass_default_storage_provider_args=True,
    pass_default_resources_args=True,
    pass_envvar_declarations_to_cmd=False,
    # the one difference to Kubernetes: the plug-in is there, as in an image that has it
    auto_deploy_default_storage_provider=False,
    init_seconds_before_status_checks=1,
)


class Executor(RemoteExecutor):
    """Starts each job as a process without sight of the folder that Snakemake was started in."""

    def __post_init__(self) -> None:
        self.places = Path(tempfile.mkdtemp(prefix="apart-"))
        self.logs = Path("job-logs").absolute()
        self.logs.mkdir(exist_ok=True)

    def run_job(self, job: JobExecutorInterface) -> None:
        """Start a job's command."""
        place = self.places / f"{job.jobid}.{job.attempt}"
        for name in ("work", "home"):
            (place / name).mkdir(parents=True)
        hidden = shlex.quote(str(Path.cwd()))
        command = f"mount -t tmpfs tmpfs {hidden} && cd {shlex.quote(str(place / 'work'))} && {self.format_job_exec(job)}"
        variables = {"PATH": os.environ["PATH"], "HOME": str(place / "home"), **self.envvars()}
        with (self.logs / f"{job.jobid}.{job.attempt}.log").open("wb") as log:
            process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", command],
                cwd=place, env=variables, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        aux = {"process": process, "place": place}
        self.report_job_submission(SubmittedJobInfo(job=job, external_jobid=str(process.pid), aux=aux))

    async def check_active_jobs(
        self, active_jobs: list[SubmittedJobInfo]
    ) -> AsyncGenerator[SubmittedJobInfo, None]:
        """Report jobs that have ended; yield the others."""
        for info in active_jobs:
            code = info.aux["process"].poll()
            if code is None:
                yield info
                continue
            shutil.rmtree(info.aux["place"])
            if code == 0:
                self.report_job_success(info)
            else:
                self.report_job_error(info, msg=f"exit code {code}. ")

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        """End the processes of jobs."""
        for info in active_jobs:
            os.killpg(info.aux["process"].pid, signal.SIGTERM)
