"""Snakemake as ever, but that it looks at its Slurm jobs every two seconds.

The plugin waits ten seconds longer each time when no job has ended: right for jobs of hours, and half of the
time of a workflow whose jobs take seconds.
"""

import sys

from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

SECONDS = 2

if __name__ == "__main__":
    # the plugin sets it, and is not listened to
    RemoteExecutor.next_seconds_between_status_checks = property(
        lambda self: SECONDS, lambda self, value: None
    )
    sys.exit(main())
