"""From a source of texts to a run: what `fathom build` and `fathom.build` do alike.

What a source holds decides a configuration that one can read and edit.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fathom.config.whole import read_config
from fathom.config.yaml_files import parse_yaml
from fathom.corpus.own_texts import HUB
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.files import read_plain_text, write_text
from fathom.io.places import RUNS
from fathom.io.reports import Join, read_report
from fathom.jobs.child import run_to_end
from fathom.jobs.extras import require_extra
from fathom.models.named import Resolved, close_over, resolve_models, write_models
from fathom.models.registry import ModelRow, read_registry
from fathom.planning.caches import place_caches
from fathom.planning.failures import FILE
from fathom.planning.looking import Found, look_at
from fathom.planning.obstacles import find_obstacles
from fathom.planning.plans import Request, find_snakefile, require_space

_FEWEST = 200
"""Documents of a domain of its own; of a folder, sections."""
_MOST_DOMAINS = 3
_MOST_OUTSIDE = 0.1
"""Share of documents in no sub-folder above which these are parts of one whole, such as `api` and `news`."""
_SMALL = 5000
_NAMED = 12  # groups that are left out and named
_WHOLE = "all"
KEYWORDS, PER_KEYWORD = 60, 10
PERPLEXITY_CHARACTERS = 50_000
_PROGRESS = re.compile(r"\d+ of \d+ steps \(\d+%\) done")
_LAST_LINES = 30


def choose_domains(found: Found) -> tuple[dict[str, list[str]], str]:
    """Return the patterns of categories by domain, and the reason for the choice."""
    kind = "sections" if found.unit == "files" else "rows"
    large = [name for name, count in found.groups.most_common() if count >= _FEWEST]
    outside = found.documents - sum(found.groups.values())
    if len(large) < 2:
        return {_WHOLE: ["*"]}, f"fewer than two sub-folders or categories have {_FEWEST} {kind}"
    if outside > _MOST_OUTSIDE * found.documents:
        why = f"one domain: {outside:,} of {found.documents:,} {kind} are in no large sub-folder or category"
        return {_WHOLE: ["*"]}, why
    domains: dict[str, list[str]] = {}
    for name in large[:_MOST_DOMAINS]:
        slug = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_") or f"domain-{len(domains) + 1}"
        domains[slug if slug not in domains else f"{slug}-{len(domains) + 1}"] = [f"{found.above}{name}.*"]
    left = [
        f"{name} ({count:,})"
        for name, count in found.groups.most_common()
        if name not in large[:_MOST_DOMAINS]
    ]
    more = f" and {len(left) - _NAMED:,} more" if len(left) > _NAMED else ""
    without = f": {', '.join(left[:_NAMED])}{more}" if left else ""
    return domains, (
        f"the largest sub-folders or categories with at least {_FEWEST} {kind}, at most"
        f" {_MOST_DOMAINS}; what is in none of them is left out and counted{without}"
    )


def write_configuration(
    path: Path, run: str, found: Found, models: Sequence[str], registry: Path | None = None
) -> bool:
    """Write the configuration of a run; return whether it was there already, saying the same.

    Raises
    ------
    InputError
        If another one is there, such as one that was edited; or a value is wrong, or it cannot be written.
    """
    text = make_configuration(run, found, models, registry)
    values = parse_yaml(text, str(path))
    read_config(values, str(path))  # what is wrong is said before anything is written
    if path.exists():
        if parse_yaml(read_plain_text(path), str(path)) == values:
            return True
        raise InputError(
            "there is another configuration, or it was edited; it is kept",
            str(path),
            f"run it: fathom run -c2 --configfile {path}; or take another name: --run NAME",
        )
    write_text(path, text)
    return False


def make_configuration(run: str, found: Found, models: Sequence[str], registry: Path | None = None) -> str:
    """Return the text of a configuration, with the reasons for its values.

    Parameters
    ----------
    run : str
    found : Found
    models : sequence of str
    registry : Path, optional
        A table of models of the run's own.
    """

    def write(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)  # which is YAML in one line, too

    domains, why = choose_domains(found)
    # several domains are the largest groups
    fewest = found.groups.most_common(len(domains))[-1][1] if len(domains) > 1 else found.documents
    small = fewest < _SMALL
    thresholds = {"min_count": 2, "threshold": 5} if small else {"min_count": 5, "threshold": 10}
    lines = [
        "# Written by `fathom build`. Edit it and start it again: fathom run -c2 --configfile THIS_FILE",
        "# Every key: config/README.md. Found:",
        *(f"# - {line}" for line in found.describe()),
        f"run: {run}",
        "",
        "corpus:",
        *(f"  {key}: {write(value)}" for key, value in found.corpus.items()),
        "  # nothing is trained here: a tenth is held out for perplexity, the rest is for the benchmark",
        "  splits: {benchmark: 0.9, adapt-train: 0.0, adapt-valid: 0.0, adapt-test: 0.1}",
        "",
        f"# {why}",
        "domains:",
        *(
            f"  {name}: {{categories: {write(patterns)}, title: {write(run if name == _WHOLE else name)}}}"
            for name, patterns in domains.items()
        ),
        "",
        f"# {'lower than the papers have, 5 and 10: a domain is small' if small else 'as in the papers'}",
        f"keywords: {write({'count': KEYWORDS, **thresholds})}",
        "",
        f"# at most {KEYWORDS} keywords times {PER_KEYWORD} pairs in each domain: minutes on two"
        " cores; the papers take 300 times 50",
        f"pairs: {write({'tokenizer': models[0], 'per_keyword': PER_KEYWORD})}",
        "",
        *(
            ["# these models were found by their usual names; the table has what is known of them"]
            * bool(registry)
        ),
        f"models: {write({**({'registry': str(registry)} if registry else {}), 'score': list(models)})}",
        "",
        "# a look at held-out text; the default, 1,000,000, takes longest of all on a processor",
        f"perplexity: {write({'max_characters': PERPLEXITY_CHARACTERS})}",
    ]
    return "\n".join(lines) + "\n"


def name_run(source: str) -> str:
    """Return a name for the run of a source: its own, with what a folder may be called."""
    path = Path(source) if Path(source).name not in ("", "..") else Path(source).resolve()
    last = path.name if path.exists() else source.removeprefix(HUB).partition("@")[0].rpartition("/")[2]
    stem = last.partition(".")[0] if path.is_file() else last
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_") or "own"


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
    place_caches()
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
