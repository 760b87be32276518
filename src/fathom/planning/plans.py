"""What a run will take, from Snakemake's dry run and rates by rule."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fathom.config.merging import choose, merge, merge_files
from fathom.config.model_names import ModelName
from fathom.config.whole import Config, read_config
from fathom.config.yaml_files import parse_yaml
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.names import require_utf8
from fathom.io.places import RUNS, find_own, find_root
from fathom.jobs import resources
from fathom.models.registry import read_registry
from fathom.planning.caches import place_caches
from fathom.planning.hub_checks import Answers, check_fetched
from fathom.planning.requests import SERVED, describe_speakers
from fathom.planning.run import Run
from fathom.planning.run_figures import describe_missing_references
from fathom.planning.run_inputs import Inputs, measure_folder
from fathom.planning.run_models import pin_models

_PLACES = ("Snakefile", "workflow/Snakefile")  # where Snakemake itself looks, without --snakefile
_EMBEDDED = "config/config.yaml"
_LEAST_SPACE = 1 << 16  # bytes for a note of Snakemake


@dataclass(frozen=True)
class Request:
    """What to plan, in Snakemake's words.

    `forceall`: as if nothing had been made yet. `profile`: Snakemake's profile of a cluster, by its folder or
    its name; none if empty.
    """

    snakefile: Path
    targets: Sequence[str] = ()
    configfiles: Sequence[str] = ()
    values: Sequence[str] = ()
    forceall: bool = False
    cards: str = ""
    profile: str = ""

    @property
    def folder(self) -> Path:
        """The folder of the workflow."""
        folder = self.snakefile.resolve().parent
        return folder.parent if folder.name == "workflow" else folder

    def find(self, name: str) -> Path:
        """Return a file of the workflow by its name, first from the working folder."""
        return find_own(name, self.folder)


class Plan(NamedTuple):
    """What a run will take.

    `measured`: the earlier run's table of resources that rates come from. `asked`: requests to models behind
    a service, and their costs. `fetched`: what cannot be fetched from the hub, and missing keys of services.
    """

    rules: Mapping[str, resources.Estimate]
    unknown: Mapping[str, int]
    sizes: resources.Sizes
    measured: Path | None
    models: Mapping[str, resources.ModelEstimate]
    missing: str = ""
    asked: Sequence[str] = ()
    fetched: Answers = Answers([], [])


def find_snakefile(given: Path | None) -> Path:
    """Return a workflow: the given one, else that of the working folder, else Fathom's own.

    Raises
    ------
    InputError
        If the given file does not exist, or Snakemake cannot work in this folder.
    """
    require_utf8(Path.cwd())
    if given and not given.is_file():
        raise InputError("there is no such file", f"--snakefile {given}", "check the path")
    here = (place for place in map(Path, _PLACES) if place.is_file())
    return given or next(here, find_root() / "Snakefile")


def make_plan(request: Request, rates: Path, measured: Path | None = None) -> Plan:
    """Ask Snakemake which jobs it would run, and multiply them by rates.

    Parameters
    ----------
    measured : Path, optional
        resources.csv of an earlier run, whose rates count instead; by default this run's or the previous
        one's, if any.

    Raises
    ------
    InputError
        If the configuration or a table is wrong, or Snakemake cannot plan the run.
    """
    files = request.configfiles or [str(request.find(_EMBEDDED))]
    config = merge_configuration(files, request.values, request.folder)
    jobs = resources.parse_plan(run_dry(request))
    run = Run(
        config, "config", f"{RUNS}/{config.run}", request.folder, {"gpu_cards": request.cards}, rates=rates
    )
    config = run.config
    parameters = _count_parameters(config, run.registry)
    measured = measured or _find_measured(config)
    if measured is not None:
        run.needs.rates = resources.measure_rates(measured, run.needs.rates, parameters)
    sizes = measure_corpus(config, run.inputs)
    if config.corpus.source != "docstrings":  # their size is not known before they are read
        run.needs.bound_text(sizes.whole)
    given = jobs, run.needs.rates, sizes, parameters, run.needs.calculate
    rules, unknown = resources.estimate(*given)
    missing = describe_missing_references(config, run.targets.figures, request.targets)
    asks = not SERVED.isdisjoint({*rules, *unknown})
    asked = describe_speakers(config, run.results, run.root) if asks else []
    fetched = check_fetched(config, run.registry, [(job.rule, job.wildcards) for job in jobs])
    return Plan(rules, unknown, sizes, measured, resources.estimate_models(*given), missing, asked, fetched)


def _count_parameters(config: Config, registry: Path) -> dict[str, float]:
    """Return the parameters of models by name, of writers of questions by set, and of all scored under ""."""
    entries = read_registry(registry)
    found = {name: float(entries[row.adapter_of or name].parameters or 0) for name, row in entries.items()}
    for name, chosen in config.coverage.questions.items():
        if chosen.writer:
            found[name] = found.get(ModelName.parse(chosen.writer).base, 0.0)
    found[""] = sum(found.get(ModelName.parse(name).base, 0.0) for name in config.models.scored)
    return found


def merge_configuration(files: Sequence[str], values: Sequence[str], root: Path | None = None) -> Config:
    """Return the configuration that Snakemake sees for the same `--configfile` and `--config`.

    Parameters
    ----------
    root : Path, optional
        The folder of the workflow; by default Fathom's own.
    """
    merged = merge_files(files)
    for value in values:
        key, found, text = value.partition("=")
        if not found:
            raise InputError("not a KEY=VALUE", f"--config {value}")
        merge(merged, {key: parse_yaml(text, f"--config {value}")})
    source = ", ".join(files)
    return read_config(pin_models(choose(merged, files), root or find_root(), source), source)


def run_dry(request: Request, folder: Path | None = None) -> str:
    """Return the output of `snakemake --dry-run`, in another folder if given."""
    place_caches()
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(request.snakefile), "--dry-run"]
    # requests of rules, whatever GPUs this machine has
    command += ["--nolock", "--cores", "64", "--resources", "gpu=1000"]
    command += ["--profile", request.profile] if request.profile else []
    command += ["--configfile", *request.configfiles] if request.configfiles else []
    command += ["--config", *request.values] if request.values else []
    command += ["--default-resources", f"gpu_cards='{request.cards}'"] if request.cards else []
    command += ["--forceall"] if request.forceall else []
    command += ["--directory", str(folder)] if folder else []
    done = subprocess.run([*command, "--", *request.targets], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        lines = [line for line in lines if not line.startswith("Using workflow specific profile")]
        start = next((place for place, line in enumerate(lines) if "Error" in line or "Exception" in line), 0)
        problem = "\n".join(lines[start:])
        require_space(problem)
        raise InputError(f"snakemake cannot plan this run: {problem}", hint="see `fathom run -n`")
    return done.stdout


def require_space(said: str = "") -> None:
    """Raise `InputError` if the disk of the working folder is full, or Snakemake said so."""
    if os.strerror(errno.ENOSPC) in said or shutil.disk_usage(Path.cwd()).free < _LEAST_SPACE:
        what = "no space left on the disk of the working folder"
        raise InputError(what, str(Path.cwd()), "free some space and start again")


def _find_measured(config: Config) -> Path | None:
    names = [name for name in (config.run, config.previous) if name]
    tables = [Path(paths.RESOURCES.under(Path(RUNS, name))) for name in names]
    return next((table for table in tables if table.is_file()), None)


def measure_corpus(config: Config, inputs: Inputs) -> resources.Sizes:
    """Return the megabytes of text of the corpus, by part; docstrings count as one megabyte a package."""
    folder_parts = measure_folder(config) if config.corpus.source == "folder" else {}
    sizes = {
        name: _measure(path) if path else folder_parts.get(name, 1.0) for name, path in inputs.shards.items()
    }
    return resources.measure_parts(
        sizes, inputs.abstract_parts, _measure(inputs.metadata) if inputs.metadata else 0.0
    )


def _measure(path: Path) -> float:
    return resources.measure_text(path.name, path.stat().st_size)
