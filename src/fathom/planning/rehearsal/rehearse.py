"""Run a whole configuration at the smallest size that has every kind of job.

Its jobs run as on a compute node: no network, no home that can be written, scratch. Figures and tables
of the papers that it drew are listed with their points and panels.
"""

import math
import os
import re
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from fathom.config.merging import merge_files
from fathom.config.model_names import ModelName
from fathom.config.whole import Config
from fathom.config.yaml_files import dump_yaml
from fathom.figures.papers import PRESETS, list_paper_rows
from fathom.io.contracts.figures import REHEARSED
from fathom.io.delimited import read_fields, read_rows, write_rows
from fathom.io.files import make_folder, read_plain_text, write_text
from fathom.io.places import RUNS
from fathom.jobs.program import log
from fathom.jobs.resources import parse_plan
from fathom.models.registry import ModelRow, read_registry
from fathom.planning.hub_checks import check_fetched
from fathom.planning.plans import Request, merge_configuration, run_dry
from fathom.planning.rehearsal import supplies
from fathom.planning.rehearsal.cuts import cut_configuration
from fathom.planning.rehearsal.hub_stub import Hub, serve_hub
from fathom.planning.rehearsal.stand_ins import list_sources
from fathom.planning.run_models import find_table, locate_models, pin_models
from fathom.planning.starting import find_profile, run_to_end


class Drawn(NamedTuple):
    """A figure or table of a paper, and what a run made of it.

    `paper`, `number`: as :class:`fathom.figures.papers.PaperRow`. `missing`: panels that other files of the
    pattern have and it lacks, and those without a finite number in it.
    """

    paper: str
    number: str
    file: str
    files: int  # files of that kind; 0: it was not drawn
    points: int  # rows of the numbers beside the first of them
    panels: str  # panels of that file, where its numbers name them
    missing: str = ""


def list_wanted(preset: str, planned: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Yield paper, number and file of whatever a configuration of a paper is there to draw.

    Parameters
    ----------
    planned : collection of str
        Files that its run makes, below the folder of the run. A part of a paper's whole configuration, which
        has its name and more, is there to draw what it plans.
    """
    for row in list_paper_rows():
        is_part = preset.startswith(PRESETS[row.paper]) and any(map(_compile(row.file).fullmatch, planned))
        if (row.preset or PRESETS[row.paper]) == preset or is_part:
            yield row.paper, row.number, row.file


def _compile(pattern: str) -> re.Pattern[str]:
    """Return an expression for the files of a pattern whose names in braces may be anything."""
    return re.compile(".*".join(map(re.escape, re.split(r"{\w+}", pattern))))


def describe_outcome(preset: str, planned: Collection[str], run: Path, root: Path) -> list[Drawn]:
    """Return what a run made of the figures and tables that its configuration is there to draw."""
    found = []
    for paper, number, pattern in list_wanted(preset, planned):
        place = root if pattern.startswith("config/") else run
        files = sorted(place.glob(re.sub(r"{\w+}", "*", pattern)))
        points, panels = _read_panels(files[0]) if files else (0, {})
        missing = find_missing(files)
        found.append(Drawn(paper, number, pattern, len(files), points, "; ".join(panels), missing))
    return sorted(found, key=_order)


def _order(each: Drawn) -> tuple[str, bool, int, str]:
    numbers = re.findall(r"\d+", each.number)
    return each.paper, each.number.startswith("Table"), int(numbers[0]) if numbers else 0, each.file


def find_missing(files: Sequence[Path]) -> str:
    """Return the panels that the first of some files of one pattern lacks, or has without a finite number.

    What all of them lack is not known here: numbers name only the panels that they have.
    """
    panels = [_read_panels(file)[1] for file in files]
    known = dict.fromkeys(name for each in panels for name in each)
    return "; ".join(name for name in known if not panels[0].get(name))


def _read_panels(file: Path) -> tuple[int, dict[str, bool]]:
    """Return the rows of a figure's numbers or of a table, and the panels named, whether finite."""
    if file.suffix == ".yaml":
        return len(file.read_text(encoding="utf-8").splitlines()), {}
    if file.suffix == ".tsv":
        return len(read_fields(file, "\t")) - 1, {}
    numbers = file.with_suffix(".csv")
    if not numbers.exists():
        return 0, {}
    (_, header), *rows = read_fields(numbers)
    panels: dict[str, bool] = {}
    for _, fields in rows if "panel" in header else ():
        row = dict(zip(header, fields, strict=True))
        panels[row["panel"]] = panels.get(row["panel"], False) or _is_finite(row.get("value", "0"))
    return len(rows), panels


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def draw_table(rows: Sequence[Drawn]) -> list[str]:
    """Return the lines of a table for the terminal."""
    form = "{:18} {:16} {:58} {:>6} {:>7}  {}"
    lines = [form.format("paper", "figure or table", "file", "files", "points", "panels").rstrip()]
    for row in rows:
        files = str(row.files) if row.files else "NONE"
        panels = str(len(row.panels.split("; "))) if row.panels else ""
        panels += f" (missing: {row.missing})" if row.missing else ""
        lines.append(form.format(*row[:3], files, row.points, panels).rstrip())
    return lines


def add_outcome(table: Path, name: str, drawn: Sequence[Drawn]) -> None:
    """Put what a rehearsal drew into a table under REHEARSED, in the place of an earlier one of that name."""
    columns = [column.name for column in REHEARSED]
    known = read_rows(table, REHEARSED) if table.exists() else []
    rows = [tuple(row.get(column, "") for column in columns) for row in known if row["configuration"] != name]
    write_rows(table, sorted([*rows, *((name, *each) for each in drawn)]), REHEARSED)


_COMMAND = re.compile(r"^#.*?\bsnakemake (.+)$", re.MULTILINE)
_LOCAL = re.compile(r"^ *localrules:\n((?: +\w+,\n)+)", re.MULTILINE)
_JOB = re.compile(r"^ *(?:local)?rule \w+:", re.MULTILINE)
_MADE = ("dump", "references")
"""Values of `--config` that a rehearsal makes where they name nothing that is there."""


class Rehearsed(NamedTuple):
    """How a rehearsal went.

    `planned`, `jobs`: jobs of the configuration as it is, and of the rehearsal.
    """

    name: str
    targets: str
    planned: int
    jobs: int
    seconds: float
    code: int
    log: Path
    drawn: list[Drawn]

    @property
    def succeeded(self) -> bool:
        """Whether every job ended well and every figure and table was made."""
        return self.code == 0 and all(row.files for row in self.drawn)


class Command(NamedTuple):
    """What a configuration says at its beginning: its targets, and the keys that `--config` gives."""

    targets: list[str]
    keys: list[str]


def read_command(file: Path) -> Command:
    """Return the command that a configuration's first comment says; empty if it says none.

    `# snakemake -c2 coverage --configfile FILE --config dump=FOLDER` has target coverage and key dump.
    """
    found = _COMMAND.search(read_plain_text(file))
    words = found[1].split() if found else []
    targets, keys, option = [], [], ""
    for word in words:
        if word.startswith("-"):
            option = word if word in ("--profile", "--configfile", "--config") else ""
        elif option == "--config":
            keys.append(word.partition("=")[0])
        elif option:
            option = ""
        else:
            targets.append(word)
    return Command(targets, keys)


def rehearse(request: Request, folder: Path, cores: int) -> Rehearsed:
    """Run a configuration with stand-ins for all that it fetches, and small inputs that are made.

    Parameters
    ----------
    folder : Path
        Everything lies below it, in a folder of the configuration's name; an earlier rehearsal is continued.
    cores : int
        That work at a time on this machine, if no profile names a cluster.

    Raises
    ------
    InputError
        If the configuration is wrong, the profile cannot run it, or nothing stands for what it fetches.
    """
    start = time.monotonic()
    ready = prepare_rehearsal(request, folder)
    place = ready.place
    node = write_node(place / "node", list_local_rules(ready.request.snakefile.parent))
    with serve_hub() as hub:
        supplies.fill_hub(hub, ready.config, ready.sources, ready.library)
        code = _run(ready.request, place, _make_environment(hub, place, node), cores)
    results = f"{RUNS}/{ready.config.run}"
    planned = set(re.findall(rf"(?<=\b{re.escape(results)}/)[^\s,]+", ready.plan))
    drawn = describe_outcome(place.name, planned, place / "work" / results, ready.request.snakefile.parent)
    return Rehearsed(
        place.name, " ".join(ready.request.targets), count_jobs(ready.whole), count_jobs(ready.plan),
        time.monotonic() - start, code, place / "snakemake.log", drawn,
    )  # fmt: skip


class Prepared(NamedTuple):
    """A rehearsal before its first job.

    `sources`: the models that the hub must have. `whole`, `plan`: what dry runs of the whole and of the
    smaller configuration printed.
    """

    place: Path
    request: Request
    config: Config
    sources: list[ModelRow]
    library: supplies.Library
    whole: str
    plan: str


def prepare_rehearsal(request: Request, folder: Path) -> Prepared:
    """Make the inputs that a user would bring, plan the whole configuration, and write a smaller one."""
    file = Path(request.configfiles[-1])
    place = folder / file.stem
    request = _complete_request(request, place)
    make_folder(place / "work")
    _link_inputs(place / "work")
    values = request.values
    library = supplies.Library(supplies.read_records(folder))
    domains = list(merge_files(request.configfiles).get("domains") or {})
    made = f"references={(place / 'references').absolute()}" in values
    if made:
        supplies.write_references(place / "references", domains, library)
    config = merge_configuration(request.configfiles, values, request.folder)
    registry = find_table(config, request.folder).absolute()
    entries = read_registry(registry)
    if f"dump={(place / 'dump').absolute()}" in values and not (place / "dump").exists():
        supplies.write_dump(place / "dump", config, library)
    is_preset = file.stem in PRESETS.values()
    if is_preset:  # leaves to its user what a user's own configuration must have
        supplies.write_texts(place / "work", config, library)
    whole = run_dry(request, place / "work")  # refuses what the run itself would refuse
    asked = [(job.rule, job.wildcards) for job in parse_plan(whole)]
    fetched = check_fetched(config, registry, asked)
    for line in (*fetched.notes, *fetched.obstacles):  # the rehearsal itself has stand-ins
        log.warning("%s: %s", place.name, line)
    cut = place / "smaller.yaml"
    named = pin_models(merge_files(request.configfiles) | {"run": config.run}, request.folder, str(file))
    fewer = cut_configuration(named, entries, () if made else list(config.references))
    if registry == locate_models(config.run).absolute():
        fewer["models"]["registry"] = str(registry)
    if file.stem == PRESETS["CompComp"]:
        supplies.add_others(fewer)
    write_text(cut, dump_yaml(fewer))
    if made:
        supplies.remove_references(
            place / "references", [name for name in domains if name not in fewer["domains"]]
        )
    smaller = replace(request, configfiles=[str(cut.absolute())])
    config = merge_configuration(smaller.configfiles, values)
    if is_preset:
        supplies.write_texts(place / "work", config, library)
    plan = run_dry(smaller, place / "work")
    sources = list(list_sources(entries, name_models(config, entries)))
    return Prepared(place, smaller, config, sources, library, whole, plan)


def count_jobs(plan: str) -> int:
    """Return the number of jobs in what a dry run printed, those of groups one by one."""
    return len(_JOB.findall(plan))


def list_local_rules(folder: Path) -> list[str]:
    """Return the rules that run where Snakemake does, from the files of a workflow."""
    patterns = ("Snakefile", "workflow/Snakefile", "rules/*.smk", "workflow/rules/*.smk")
    files = [path for pattern in patterns for path in folder.glob(pattern)]
    found = [text for path in files for text in _LOCAL.findall(path.read_text(encoding="utf-8"))]
    return sorted(set(re.findall(r"\w+", " ".join(found))))


def name_models(config: Config, entries: Mapping[str, ModelRow]) -> list[str]:
    """Return the models of the registry that a run fetches, and those whose tokenizer it needs."""
    models = config.models
    names = [*models.scored, *models.bases, *models.followed, *models.optional]
    names += [config.pairs.tokenizer] if config.pairs else []
    names += config.train_before_test.models
    plain = dict.fromkeys(ModelName.parse(name).plain for name in names)
    return [name for name in plain if name in entries]


def _complete_request(request: Request, place: Path) -> Request:
    command = read_command(Path(request.configfiles[-1]))
    given = {value.partition("=")[0] for value in request.values}
    made = [key for key in _MADE if key in command.keys and key not in given]
    # a profile that lies here or is Fathom's own; Snakemake finds others by name
    profile = find_profile(request.profile) if request.profile else ""
    return replace(
        request,
        targets=request.targets or command.targets,
        configfiles=[str(Path(each).absolute()) for each in request.configfiles],
        values=[*request.values, *(f"{key}={(place / key).absolute()}" for key in made)],
        profile=str(Path(profile).absolute()) if profile and Path(profile).exists() else profile,
        snakefile=request.snakefile.absolute(),
    )


def _link_inputs(work: Path) -> None:
    """Link what lies in the working folder into that of the rehearsal, so that relative paths hold."""
    for path in Path.cwd().iterdir():
        link = work / path.name
        if path.name not in (RUNS, ".snakemake", ".git") and not link.exists():
            link.symlink_to(path)


def _make_environment(hub: Hub, place: Path, node: Path) -> dict[str, str]:
    """Return the environment of the host that Snakemake runs on: with a hub, and a cache of its own."""
    cache = (place / "cache").absolute()
    before = os.environ.get("PYTHONPATH")
    return {
        **{name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"},
        "HF_ENDPOINT": hub.address, "HF_HOME": str(cache), "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1", "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": os.pathsep.join([str(node.absolute()), *([before] if before else [])]),
    }  # fmt: skip


def _run(request: Request, place: Path, environment: Mapping[str, str], cores: int) -> int:
    """Run Snakemake; return its exit code. What it says goes to a file, the names of its jobs to the log."""
    how = ["--profile", request.profile] if request.profile else ["--cores", str(cores)]
    command = [
        sys.executable, "-m", "snakemake", "--snakefile", str(request.snakefile), *how,
        "--directory", str((place / "work").absolute()), "--keep-going", "--rerun-incomplete",
        "--configfile", *request.configfiles, "--config", *request.values, "--", *request.targets,
    ]  # fmt: skip
    with (place / "snakemake.log").open("w", encoding="utf-8") as stream:
        code = run_to_end(command, environment, stream)
    log.info("%s: snakemake ended with code %s", place.name, code)
    return code


_MODULE = '''"""Python imports this first; programs of rules that are not local find a compute node."""

import errno
import os
import re
import socket
import sys

_LOCAL = {local!r}
_LOG = re.compile(r"/logs/(\\w+)")


def _refuse(self, address):
    raise OSError(errno.ENETUNREACH, "a compute node has no network")


def _find_rule(words):
    for option, value in zip(words, words[1:]):
        if option == "--log":
            found = _LOG.search(value)
            return found and found[1]
    return None


_rule = _find_rule(sys.orig_argv)
if _rule and _rule not in _LOCAL:
    os.environ.update(HF_HUB_OFFLINE="1", HOME={home!r}, FATHOM_SCRATCH={scratch!r})
    socket.socket.connect = _refuse
'''


def write_node(folder: Path, local: Collection[str]) -> Path:
    """Write the module that makes a compute node of this machine; return the folder for PYTHONPATH."""
    make_folder(folder)
    home, scratch = folder / "home", folder / "scratch"
    make_folder(scratch)
    write_text(home, "a file: nothing can be written into it\n")
    text = _MODULE.format(local=sorted(local), home=str(home.absolute()), scratch=str(scratch.absolute()))
    write_text(folder / "sitecustomize.py", text)
    return folder
