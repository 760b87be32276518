"""Write the results of `fathom plan` for the configurations of the papers into the pages.

Run it after a change of a preset, of config/rates.tsv or of what plans calculate;
tests/planning/test_preset_plans.py fails if a page is stale. A plan reads only the sizes of its inputs: files
without content stand for a dump as large as a real one.
"""

import contextlib
import re
import shlex
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, NamedTuple

from fathom.errors import InputError
from fathom.io.files import require_file, write_text
from fathom.jobs.program import log
from fathom.jobs.resources import Estimate
from fathom.jobs.signature import run
from fathom.planning.plans import Plan, Request, make_plan

_ROOT = Path(__file__).resolve().parents[2]
_MEGABYTE = 10**6
METADATA, SHARDS, SHARD = 4500, 100, 900
"""Megabytes of the metadata of arXiv, files of RedPajama's part of arXiv, and megabytes of one."""
TEXTS = ("wiki", "stackexchange", "arxiv")
"""Texts of 2025 that the user brings."""
COLUMNS = ("configuration", "makes", "jobs", "processor hours", "GPU hours", "new files, GB", "in the paper")


class Preset(NamedTuple):
    """What is planned of a configuration: targets, and what the paper says that it took."""

    targets: tuple[str, ...] = ()
    published: str = "not said"


PRESETS = {
    "raw-corpora": Preset(published="some 1,000 processor hours and 1,300 GPU hours [RawCorpora, App. A.10]"),
    "raw-corpora-comparison": Preset(("compare",), "in the row above"),
    "raw-corpora-choices": Preset(("choices",), "in the first row"),
    "beyond-benchmarks": Preset(),
    "beyond-benchmarks-layers": Preset(("layers",)),
    "beyond-benchmarks-continual": Preset(("follow",)),
    "comp-comp": Preset(("coverage",)),
    "train-before-test": Preset(("rankings", "figures")),
}
"""Configurations in `config/papers/`, in the order of the page."""


class PaperFigure(NamedTuple):
    """A figure or table that an author makes alone.

    Attributes
    ----------
    title : str
    run : str
        Name of its run.
    file : str
        The file, below the run's folder.
    values : tuple of str
        `KEY=VALUE` of `--config`, beside dump and references.
    """

    title: str
    run: str
    file: str
    values: tuple[str, ...]

    @property
    def target(self) -> str:
        """The file as Snakemake is asked for it."""
        return f"results/{self.run}/{self.file}"


_LLAMA = ("", "+cs.AI", "+cs.CL", "+culture", "+materials", "+culture+cs.AI", "+materials+cs.AI")
FIGURES = (
    PaperFigure("Fig. 4", "figure-4", "figures/cs.AI.adapted.Llama-2-7b.trimmed_mean.png",
           ("domains=[cs.AI]", f"models=[{','.join(f'Llama-2-7b{path}' for path in _LLAMA)}]")),
    PaperFigure("Table 2", "table-2", "examples/pairs.csv", ("domains=[cs.AI,q-bio.PE]", "models=[gpt2-xl]")),
    PaperFigure("Fig. 9", "figure-9", "figures/cs.AI.paths.gpt2-xl.trimmed_mean.png",
           ("domains=[cs.AI]", "models=[gpt2-xl]")),
)  # fmt: skip
"""What the page shows of RawCorpora, each with its commands."""
_ALONE = "figures"  # names them in --presets
HALF = "train_before_test={lora: {dtype: bfloat16}}"


def make_inputs(folder: Path) -> Path:
    """Make what the configurations read, without content; return the folder of the dump."""
    dump = folder / "dump"
    sizes = {dump / "arxiv-metadata-oai-snapshot.json": METADATA}
    sizes |= {dump / "redpajama" / f"arxiv_{number:03}.jsonl": SHARD for number in range(SHARDS)}
    sizes |= {folder / "texts" / f"{name}_2025.jsonl": 0 for name in TEXTS}
    for path, megabytes in sizes.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            stream.truncate(megabytes * _MEGABYTE)
    return dump


def plan_preset(name: str, dump: Path, *values: str) -> Plan:
    """Return the plan of a configuration, as if nothing had been made yet."""
    request = Request(
        _ROOT / "Snakefile",
        PRESETS[name].targets,
        [str(_ROOT / "config" / "papers" / f"{name}.yaml")],
        [f"dump={dump}", "run=plan", *values],
        forceall=True,
    )
    log.info("%s is planned", name)
    return make_plan(request, _ROOT / "config" / "rates.tsv")


def plan_figure(wanted: PaperFigure, dump: Path) -> Plan:
    """Return the plan of a figure alone, with references of its domains."""
    references = dump.parent / "references"
    references.mkdir(exist_ok=True)
    for name in ("cs.AI.expert.csv", "cs.AI.Claude.jsonl", "q-bio.PE.Claude.jsonl"):
        (references / name).touch()
    values = [f"dump={dump}", f"references={references}", f"run={wanted.run}", *wanted.values]
    configuration = str(_ROOT / "config" / "papers" / "raw-corpora.yaml")
    log.info("%s is planned", wanted.title)
    request = Request(_ROOT / "Snakefile", [wanted.target], [configuration], values, forceall=True)
    return make_plan(request, _ROOT / "config" / "rates.tsv")


def sum_hours(lines: Iterable[Estimate]) -> tuple[float, float]:
    """Return the hours of processors and of GPUs."""
    lines = list(lines)
    return sum(line.cpu_seconds for line in lines) / 3600, sum(line.gpu_seconds for line in lines) / 3600


def describe_preset(name: str, plan: Plan) -> str:
    """Return the row of a configuration."""
    lines = plan.rules.values()
    jobs = sum(line.jobs for line in lines) + sum(plan.unknown.values())
    disk = sum(line.disk_mb for line in lines) / 1000
    numbers = [f"{value:,.0f}" for value in (jobs, *sum_hours(lines), disk)]
    makes = ", ".join(f"`{target}`" for target in PRESETS[name].targets or ("all",))
    return f"| {' | '.join([f'`{name}.yaml`', makes, *numbers, PRESETS[name].published])} |"


def describe_figure(wanted: PaperFigure, plan: Plan) -> str:
    """Return what a figure takes, and the two commands that say so and make it."""
    cpu, gpu = sum_hours(plan.rules.values())
    jobs = sum(line.jobs for line in plan.rules.values()) + sum(plan.unknown.values())
    given = "--configfile config/papers/raw-corpora.yaml --config dump=FOLDER references=PAIRS"
    given += " ".join(["", f"run={wanted.run}", *map(shlex.quote, wanted.values)])
    return (
        f"**{wanted.title}**: {jobs:,} jobs, {cpu:,.0f} processor hours, {gpu:,.0f} GPU hours.\n\n```sh\n"
        f".venv/bin/fathom plan {wanted.target} {given}\n"
        f".venv/bin/snakemake --profile slurm {given} -- {wanted.target}\n```"
    )


def describe_trainings(plan: Plan) -> str:
    """Return what continual pretraining and the adaptations of RawCorpora take."""
    trained = [line for rule, line in plan.rules.items() if rule.startswith("adapt_")]
    scored = plan.rules["score_model"]
    cpu, gpu = sum_hours(plan.rules.values())
    return (
        f"counts {gpu:,.0f} GPU hours of an A100 and {cpu:,.0f} processor hours on a dump as large as a real"
        f" one: {sum_hours(trained)[1]:,.0f} for the {sum(line.jobs for line in trained)} trainings,"
        f" {sum_hours([scored])[1]:,.0f} to score {scored.jobs} models on four domains."
    )


def describe_tunings(plan: Plan, half: Plan) -> str:
    """Return what train before test takes, in float32 and in bfloat16."""
    hours = [sum_hours(each.rules.values())[1] for each in (plan, half)]
    return (
        f"counts {plan.rules['tune_model'].jobs:,} tunings and {hours[0]:,.0f} GPU hours of an A100 in"
        f" float32, as the preset says, or {hours[1]:,.0f} with `lora: {{dtype: bfloat16}}`."
    )


def fill(page: str, name: str, block: str) -> str:
    """Return a page with what is between the marks of a name written anew.

    Raises
    ------
    InputError
        If the page has no such marks, or has them twice.
    """
    mark = f"<!-- plans: {name} -->\n\n"
    text, count = re.subn(
        f"{re.escape(mark)}.*?<!-- end -->", lambda _: f"{mark}{block}\n\n<!-- end -->", page, flags=re.DOTALL
    )
    if count != 1:
        raise InputError("there is nothing to write anew", name, f"it follows {mark.strip()}")
    return text


def fill_rows(page: str, rows: dict[str, str]) -> str:
    """Return the page of all presets with the rows of some written anew; those of the others stay."""
    known = {
        found[1]: found[0] for found in re.finditer(r"^\| `([\w-]+)\.yaml` \| .*\|$", page, re.MULTILINE)
    }
    shown = [{**known, **rows}[name] for name in PRESETS if name in known or name in rows]
    table = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}", *shown]
    return fill(page, "presets", "\n".join(table))


def main(
    *,
    pages: Annotated[Path, "folder of the pages"] = _ROOT / "docs",
    output: Annotated[Path | None, "where pages go; the same folder by default"] = None,
    presets: Annotated[list[str] | None, "configurations to plan, or figures; all by default"] = None,
) -> None:
    """Plan each configuration; write the pages."""
    known = [*PRESETS, _ALONE]
    unknown = [name for name in presets or () if name not in known]
    if unknown:
        raise InputError(
            "no configuration of a paper", f"--presets {unknown[0]}", f"one of {', '.join(known)}"
        )
    names = presets or known
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        dump = make_inputs(Path(place))
        plans = {name: plan_preset(name, dump) for name in names if name in PRESETS}
        half = plan_preset("train-before-test", dump, HALF) if "train-before-test" in plans else None
        alone = [plan_figure(wanted, dump) for wanted in FIGURES if _ALONE in names]
    texts = {
        each: require_file(pages / each).read_text(encoding="utf-8")
        for each in ("papers.md", "continual.md", "tuning.md")
    }
    rows = {preset: describe_preset(preset, plan) for preset, plan in plans.items()}
    texts["papers.md"] = fill_rows(texts["papers.md"], rows)
    if alone:
        parts = map(describe_figure, FIGURES, alone)
        texts["papers.md"] = fill(texts["papers.md"], "figures", "\n\n".join(parts))
    if "raw-corpora" in plans:
        texts["continual.md"] = fill(
            texts["continual.md"], "trainings", describe_trainings(plans["raw-corpora"])
        )
    if half is not None:
        texts["tuning.md"] = fill(
            texts["tuning.md"], "tunings", describe_tunings(plans["train-before-test"], half)
        )
    for page, text in texts.items():
        write_text((output or pages) / page, text)


if __name__ == "__main__":
    run(main)
