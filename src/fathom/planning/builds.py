"""From a source of texts to a run: what `fathom build` and `fathom.build` do alike."""

import os
import re
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fathom.errors import InputError
from fathom.io import paths
from fathom.io.places import RUNS
from fathom.io.reports import Join, read_report
from fathom.jobs.child import run_to_end
from fathom.jobs.extras import require_extra
from fathom.models.named import Resolved, close_over, resolve_models, write_models
from fathom.models.registry import ModelRow, read_registry
from fathom.planning.building import name_run, write_configuration
from fathom.planning.failures import FILE
from fathom.planning.looking import Found, look_at
from fathom.planning.obstacles import find_obstacles
from fathom.planning.plans import Request, find_snakefile, require_space

_PROGRESS = re.compile(r"\d+ of \d+ steps \(\d+%\) done")
_LAST_LINES = 30


class Source(NamedTuple):
    """A source of texts that was looked at.

    Attributes
    ----------
    name : str
        Of the run.
    found : Found
        What is in it.
    snakefile : Path
        The workflow that will run.
    models : Resolved
        Rows of the table of models, and those that it lacks.
    known : Mapping of str to Entry
        The table of models.
    registry : Path
        Its file.
    """

    name: str
    found: Found
    snakefile: Path
    models: Resolved
    known: Mapping[str, ModelRow]
    registry: Path

    @property
    def configuration(self) -> Path:
        """Return where the configuration is written."""
        return Path(f"{self.name}.yaml")

    @property
    def models_table(self) -> Path:
        """Return where rows of models are written that the table of models lacks."""
        return Path(f"{self.name}.models.tsv")

    @property
    def page(self) -> Path:
        """Return where the page will be."""
        return Path(RUNS, self.name, paths.PAGE.below)

    def write(self) -> bool:
        """Write the configuration; return whether it was there already, saying the same."""
        own = self.models_table if self.models.new else None
        there = write_configuration(self.configuration, self.name, self.found, self.models.names, own)
        if own:
            rows = {**self.known, **{each.name: each for each in self.models.new}}
            write_models(own, close_over((rows[name] for name in self.models.names), rows), self.registry)
        return there


def examine(
    source: str,
    models: Sequence[str],
    columns: Mapping[str, str],
    name: str | None,
    found: Found | None = None,
) -> Source:
    """Look at a source, after the models were found.

    Parameters
    ----------
    source : str
        A path, or `hub:NAME[:CONFIGURATION][@COMMIT]`.
    models : sequence of str
        As people name them, see :func:`fathom.models.named.resolve_models`.
    columns : mapping of str to str
        Columns of a table, by what they hold (fields of `corpus.columns`).
    name : str or None
        Of the run; by default that of the source.
    found : Found, optional
        What is in the source, if it was looked at before.

    Raises
    ------
    InputError
        If packages, a model or the source are missing.
    """
    require_extra("workflow", "fathom build")
    request = Request(find_snakefile(None))
    registry = request.find("config/models.tsv")
    known, name = read_registry(registry), name or name_run(source)
    own = Path(f"{name}.models.tsv")  # of the same command before: models stay as they were pinned
    pinned = (
        {key: row for key, row in read_registry(own).items() if key not in known} if own.is_file() else {}
    )
    rows = resolve_models(models, {**known, **pinned}, f"--models, {registry}")
    rows.new.extend(pinned[each] for each in rows.names if each in pinned)
    found = found or look_at(source, columns)
    return Source(name, found, request.snakefile, rows, {**known, **pinned}, registry)


def run_workflow(source: Source, cores: int, show: Callable[[str], None] | None = None) -> None:
    """Run the workflow on a source whose configuration is written.

    Parameters
    ----------
    source : Source
    cores : int
        Cores that work at a time.
    show : callable, optional
        Is given each line on progress, and the last lines of a run that failed. By default Snakemake and its
        jobs write to where this process writes.

    Raises
    ------
    InputError
        If a job fails.
    """
    require_cache()
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(source.snakefile), f"-c{cores}"]
    command += ["--quiet", "rules", "host", "reason", "--configfile", str(source.configuration)]
    with tempfile.TemporaryDirectory() as folder:
        failures = Path(folder, "failures.txt")
        variables = os.environ | {FILE: str(failures)}
        code = run_to_end(command, variables) if show is None else _run_shown(command, variables, show)
        said = failures.read_text(encoding="utf-8") if failures.is_file() else ""
    if code:
        raise _explain(source, said)


def describe_corpus(source: Source) -> list[str]:
    """Return lines on what of the source became no documents; none before the workflow has read it."""
    from fathom.corpus.join_report import describe_reading

    report = Path(RUNS, source.name, paths.JOIN_REPORT.below)
    lines = describe_reading(read_report(report, Join)) if report.is_file() else []
    return ["Read:", *(f"  {line}" for line in lines)] if lines else []


def require_cache() -> None:
    """Raise `InputError` if Snakemake cannot keep its own files in the user's home; it would not say so."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    above = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not (above.is_dir() and os.access(above, os.W_OK | os.X_OK)):
        raise InputError(
            "Snakemake cannot write to its cache",
            str(folder),
            "set XDG_CACHE_HOME to a folder that can be written",
        )


def _explain(source: Source, said: str) -> InputError:
    """Return the message on a run that did not end: what its failed jobs said, which comes last."""
    if said:
        return InputError(
            f"{said}\nWhen that is mended, the same command resumes the run.", str(source.configuration)
        )
    require_space()
    for obstacle in find_obstacles(Path(RUNS, source.name)):
        return obstacle
    hint = "the messages above say why; the same command resumes it"
    return InputError("the run failed", str(source.configuration), hint)


def _run_shown(command: Sequence[str], variables: Mapping[str, str], show: Callable[[str], None]) -> int:
    """Run a command and show its progress; return its exit code."""
    last: deque[str] = deque(maxlen=_LAST_LINES)
    with subprocess.Popen(
        command,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        output = process.stdout or ()
        try:
            for line in output:
                last.append(line.rstrip())
                if _PROGRESS.search(line):
                    show(last[-1])
        except KeyboardInterrupt:
            process.terminate()  # it ends with its running jobs
            last.extend(output)
            raise
    if process.returncode:
        for line in last:
            show(line)
    return process.returncode
