"""What all rules use, the checked configuration, the programs' sources, and the names of a run's files."""

import os
import re
import subprocess
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "src"))

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.whole import read_config
from fathom.errors import InputError
from fathom.sources import find_sources

os.environ.update(
    # programs find the library and the interpreter of this very installation, activated or not
    PYTHONPATH=os.pathsep.join(
        filter(None, [str(ROOT / "src"), os.getenv("PYTHONPATH")])
    ),
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.getenv("PATH", "")]),
    # no thread pool of its own beside the threads that a job was given
    TOKENIZERS_PARALLELISM="false",
)


def read_configuration():
    """Check the configuration; stop before any job with one clear message if it is wrong."""
    files = [str(file) for file in workflow.overwrite_configfiles] or [
        "config/config.yaml"
    ]
    try:
        return read_config(config, ", ".join(files))
    except InputError as error:
        raise WorkflowError(str(error)) from None


CONFIG = read_configuration()
RUN = CONFIG.run


def warn_of_read_only_results():
    """Say before snakemake does, and more clearly, that results cannot be written; plans and reports can be made."""
    folder = Path("results", RUN)
    while not folder.exists():
        folder = folder.parent
    if not os.access(folder, os.W_OK):
        logger.warning(
            f"{folder}: this folder cannot be written\n"
            "Hint: check its permissions, and that its disk is not mounted read-only"
        )


warn_of_read_only_results()


def find_inputs():
    """Return the corpus's input files by part, and the metadata file of a dump."""
    from fathom.corpus.inputs import find_dump, find_json_lines

    try:
        if CONFIG.corpus.source == "arxiv":
            return find_dump(Path(CONFIG.dump))
        if CONFIG.corpus.source == "jsonl":
            return find_json_lines(CONFIG.corpus.files), None
    except InputError as error:
        raise WorkflowError(str(error)) from None
    return {name: None for name in CONFIG.corpus.packages}, None


SHARDS, METADATA = find_inputs()


def find_previous():
    """Return the folder `corpus` of the earlier run that is named, nothing without one."""
    if CONFIG.previous is None:
        return ""
    from fathom.corpus.previous import require_index

    try:
        return str(require_index(Path("results", CONFIG.previous, "corpus")).parent)
    except InputError as error:
        raise WorkflowError(str(error)) from None


# it changes no result, so it is neither an input nor a param of any rule: naming it re-runs nothing
os.environ.update(FATHOM_PREVIOUS=find_previous())
ABSTRACT_PARTS = (
    [f"abstracts-{number:02d}" for number in range(CONFIG.corpus.abstract_parts)]
    if METADATA
    else []
)
PARTS = [*sorted(SHARDS), *ABSTRACT_PARTS]


def raw(path, report):
    """Return an input file from outside, one with a newer date and the same bytes marked as not changed."""
    from fathom.corpus.unchanged import is_unchanged

    memory = Path("results", RUN, "corpus", "dates", f"{Path(path).name}.json")
    known = Path("results", RUN, "corpus", report)
    return ancient(str(path)) if is_unchanged(Path(path), known, memory) else str(path)


def raw_shard(wildcards):
    """Return the input file of a part."""
    return raw(SHARDS[wildcards.part], f"documents/{wildcards.part}.json")


def raw_metadata(wildcards):
    """Return the metadata file of a dump."""
    return raw(METADATA, "metadata.json")


def content(path):
    """Return a sample of an input file as a param: a file that was exchanged under an old date is noticed."""
    from fathom.corpus.unchanged import sample_content

    return sample_content(path) if Path(path).is_file() else ""


def sources(program):
    """Return a program's file and every module of the library that it uses: the `code` of its rule."""
    return [
        str(file.relative_to(ROOT))
        for file in find_sources(ROOT / "scripts" / f"{program}.py")
    ]


def settings(*sections):
    """Return sections of the configuration as JSON for `--settings`: one bare, several by name."""
    values = {
        name: getattr(CONFIG, name).model_dump(mode="json", by_alias=True)
        for name in sections
    }
    return dump_json(values[sections[0]] if len(sections) == 1 else values)


def dump_json(values):
    """Return values as JSON with sorted keys, so that equal settings are equal text."""
    import json

    return json.dumps(values, sort_keys=True)


def selection():
    """Return the settings that decide which documents enter; titles do not."""
    domains = {
        name: domain.model_dump(mode="json", exclude={"title", "benchmark"})
        for name, domain in CONFIG.domains.items()
    }
    corpus = CONFIG.corpus.model_dump(
        mode="json", by_alias=True, exclude={"files", "packages"}
    )
    return dump_json({"corpus": corpus, "domains": domains})


def adaptation_settings(name):
    """Return the settings of one adapted model; what else is adapted alike does not concern it."""
    _, domain, adaptation = CONFIG.models.adapted[name]
    return adaptation.model_copy(update={"paths": [[domain]]}).model_dump_json()


def title(name):
    """Return how a domain is called in figures and cards."""
    return CONFIG.domains[name].title or name


def grow(first, limit=None):
    """Return a resource that doubles with each attempt, so that a retry after a failure gets more."""

    def amount(wildcards, attempt):
        value = first * 2 ** (attempt - 1)
        return min(value, limit) if limit else value

    return amount


def one_of(names):
    """Return a wildcard constraint that takes exactly these names."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


def variants(domain):
    """Return the variants of a domain's benchmarks, `reference` among them where one is configured."""
    written = [REFERENCE] if domain in CONFIG.reference else []
    return [*VARIANTS, *written]


def of_variants(path):
    """Return a path for each variant: one job scores them all, for most of their sentences are the same."""
    return [path.replace("VARIANT", variant) for variant in VARIANTS]


def list_options(option, places, paths):
    """Return `--option DOMAIN … FILE` for each path, as a program takes tables and what they belong to."""
    return " ".join(
        f"--{option} {' '.join(place)} {path}" for place, path in zip(places, paths)
    )


def cards():
    """Return the cards of all benchmarks."""
    return [
        f"results/{RUN}/{domain}/benchmark/{variant}/README.md"
        for domain in CONFIG.benchmark_domains
        for variant in variants(domain)
    ]


def changes():
    """Return the report on what changed since the earlier run, where one is named."""
    return [f"results/{RUN}/changes.csv"] if CONFIG.previous else []


def exports():
    """Return the task folders of all benchmarks."""
    return [f"{Path(card).parent}/lm-eval" for card in cards()]


def rank_figures():
    """Return the figures of models by rank, one for each benchmark's domain."""
    return expand(
        f"results/{RUN}/figures/{{domain}}.model-ranks.png",
        domain=CONFIG.benchmark_domains,
    )


def finished():
    """Return what a whole run makes, but for the table of its time and memory."""
    return [
        f"results/{RUN}/corpus/join_report.json",
        f"results/{RUN}/summary.csv",
        f"results/{RUN}/comparisons.csv",
        *cards(),
        *exports(),
        *changes(),
        *rank_figures(),
    ]


def write_report(workflow):
    """Write the Snakemake report of a whole run; say so, and go on, when it cannot be written."""
    path = f"results/{RUN}/report.html"
    if not all(
        Path(name).exists()
        for name in [
            f"results/{RUN}/summary.csv",
            f"results/{RUN}/comparisons.csv",
            f"results/{RUN}/resources.csv",
            *cards(),
            *rank_figures(),
        ]
    ):
        return  # only some target was asked for
    files = [str(file) for file in workflow.overwrite_configfiles]
    values = [
        f"{key}={dump_json(value)}"
        for key, value in workflow.config_settings.config.items()
    ]
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        workflow.main_snakefile,
        "--report",
        path,
    ]
    command += ["--configfile", *files] if files else []
    command += ["--config", *values] if values else []
    done = subprocess.run([*command, "--nolock"], capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(
            f"The report could not be written to {path}:\n{done.stderr[-2000:]}\n"
        )


wildcard_constraints:
    run=re.escape(RUN),
    domain=one_of(CONFIG.domains),
    variant=one_of([*VARIANTS, REFERENCE]),
    part=one_of(PARTS),
