"""Starting Snakemake on a workflow, as people do who type its name."""

import sys
from collections.abc import Sequence
from pathlib import Path

from fathom.io.places import find_own
from fathom.jobs.child import run_to_end
from fathom.jobs.extras import require_extra
from fathom.planning.plans import find_snakefile

_YAML = (".yaml", ".yml")


def start_snakemake(words: Sequence[str]) -> int:
    """Run Snakemake on the workflow of the working folder, else on Fathom's own; return its exit code.

    Parameters
    ----------
    words : sequence of str
        Its options and targets. Configurations that are not in the working folder are Fathom's own.

    Raises
    ------
    InputError
        If Snakemake, or what the workflow needs beside it, is not installed.
    """
    require_extra("workflow", "fathom run")
    own = [
        str(find_own(word)) if word.endswith(_YAML) and not Path(word).exists() else word for word in words
    ]
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(find_snakefile(None)), *own]
    return run_to_end(command)
