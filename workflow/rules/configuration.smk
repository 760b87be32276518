"""What all rules use, the checked configuration, the programs' sources, and the names of a run's files."""

import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "src"))

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.layers import FIGURES as LAYER_FIGURES
from fathom.config.whole import read_config
from fathom.errors import InputError
from fathom.models.registry import CHAT
from fathom.running.queue import JOB_PREFIX, refuse_leftover_jobs
from fathom.running.sources import find_sources

os.environ.update(
    # programs find the library and the interpreter of this very installation, activated or not
    PYTHONPATH=os.pathsep.join(
        filter(None, [str(ROOT / "src"), os.getenv("PYTHONPATH")])
    ),
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.getenv("PATH", "")]),
    # no thread pool of its own beside the threads that a job was given
    TOKENIZERS_PARALLELISM="false",
)

if workflow.remote_exec:
    # on a compute node: models have been fetched before, and large temporary files go to the node's own disk
    os.environ.update(HF_HUB_OFFLINE="1")
    shell.prefix('export FATHOM_SCRATCH="${{FATHOM_SCRATCH:-$TMPDIR}}"; ')


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


pathvars:
    results=f"results/{RUN}",
    logs=f"results/{RUN}/logs",
    timings=f"results/{RUN}/timings",


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


def warn_of_a_lock():
    """Say that the folder is locked: snakemake may stop earlier, and speak of files that the other run is writing."""
    if workflow.is_main_process and any(Path(".snakemake", "locks").glob("*")):
        logger.warning(
            f"{Path.cwd()}: this folder is locked: another Snakemake is at work in it, or one was killed\n"
            "Hint: wait for its end; if there is none, the same command with --unlock, and then without"
        )


warn_of_a_lock()


def find_inputs():
    """Return the corpus's input files by part, and the metadata file of a dump; none without domains."""
    if not CONFIG.domains:
        return {}, None
    from fathom.corpus.inputs import find_dump, find_json_lines

    try:
        if CONFIG.corpus.source == "arxiv":
            return find_dump(Path(CONFIG.dump))
        if CONFIG.corpus.source == "jsonl":
            return find_json_lines(CONFIG.corpus.files), None
    except InputError as error:
        raise WorkflowError(str(error)) from None
    return {name: None for name in CONFIG.corpus.packages}, None


def find_scores():
    """Return the files of the folder of scores, and the names of its conditions."""
    if CONFIG.scores is None:
        named = [each.name for each in CONFIG.ranking.conditions]
        return [], named or (
            ["direct_eval", "train_before_test"] if TASKS else ["direct"]
        )
    from fathom.ranking.inputs import find_score_files, list_score_files

    try:
        files, _ = find_score_files(CONFIG.scores, CONFIG.ranking)
        return list_score_files(CONFIG.scores, CONFIG.ranking), [
            each.name for each in files
        ]
    except InputError as error:
        raise WorkflowError(str(error)) from None


def find_tuned():
    """Return the tasks and the models that are tuned for them; none where scores are given."""
    if CONFIG.scores is not None or not CONFIG.train_before_test.tasks:
        return {}, []
    models = CONFIG.train_before_test.models or CONFIG.models.scored
    if len(models) < 1:
        raise WorkflowError(
            "train_before_test.tasks: there is no model to tune\nHint: models.score names some"
        )
    for name, task in CONFIG.train_before_test.tasks.items():
        if task.file is not None and not Path(task.file).is_file():
            raise WorkflowError(
                f"train_before_test.tasks.{name}.file = {task.file}: there is no such file\nHint: put JSON lines"
                " with `text` there; or rank tables of scores that are there: --config scores=FOLDER"
            )
    return CONFIG.train_before_test.tasks, models


TASKS, TUNED_MODELS = find_tuned()
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


SCORE_FILES, CONDITIONS = find_scores()
ABSTRACT_PARTS = (
    [f"abstracts-{number:02d}" for number in range(CONFIG.corpus.abstract_parts)]
    if METADATA
    else []
)
PARTS = [*sorted(SHARDS), *ABSTRACT_PARTS]


def raw(path, report):
    """Return an input file from outside, one with a newer date and the same bytes marked as not changed."""
    from fathom.running.changed_inputs import is_unchanged

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
    from fathom.running.changed_inputs import sample_content

    return sample_content(path) if Path(path).is_file() else ""


def sources(program):
    """Return a program's file and every module of the library that it uses: the `code` of its rule."""
    (path,) = (ROOT / "scripts").glob(f"*/{program}.py")
    return [str(file.relative_to(ROOT)) for file in find_sources(path)]


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
    alone = adaptation.model_copy(update={"paths": [[domain]]})
    return alone.model_dump_json(exclude={"score"})


def layer_settings(*sections):
    """Return the settings of programs that look into a model; which other models there are does not matter."""
    values = {
        "layers": CONFIG.layers.model_dump(mode="json", exclude={"models", "against"})
    }
    return dump_json(
        values
        | {name: getattr(CONFIG, name).model_dump(mode="json") for name in sections}
    )


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


def without_chat_template():
    """Return the models that read running text and keywords, too."""
    return [name for name in CONFIG.models.scored if not name.endswith(CHAT)]


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


def task_source(name):
    """Return the file that a task's examples are made from, or nothing for a task of the harness."""
    task = TASKS[name]
    if task.kind == "harness":
        return []
    if task.kind == "text":
        return task.file or f"results/{RUN}/corpus/texts/{task.domain}.parquet"
    return f"results/{RUN}/{task.domain}/benchmark/{task.variant}/pairs.parquet"


def task_settings(name):
    """Return what the examples of a task depend on."""
    task = TASKS[name].model_dump(mode="json", exclude={"category"})
    limits = CONFIG.train_before_test.limits.model_dump(mode="json")
    return dump_json({"task": task, "limits": limits})


def tuning_settings(name):
    """Return what the tuning for a task depends on."""
    task = TASKS[name].model_dump(mode="json", exclude={"category"})
    return dump_json(
        {"task": task, "lora": CONFIG.train_before_test.lora.model_dump(mode="json")}
    )


def check_queue(workflow):
    """Stop if jobs of an earlier run of this folder are still in Slurm's queue; called under the run's lock."""
    prefix = getattr(workflow.executor_settings, "jobname_prefix", None)
    submits = prefix is not None
    if not submits and not Path("results/slurm-logs").exists():
        return  # nothing was ever submitted here
    try:
        refuse_leftover_jobs(Path(workflow.workdir_init), prefix or JOB_PREFIX, submits)
    except InputError as error:
        raise WorkflowError(str(error)) from None


wildcard_constraints:
    domain=one_of(CONFIG.domains),
    variant=one_of([*VARIANTS, REFERENCE]),
    part=one_of(PARTS),
