"""What all rules use: the checked configuration, the run's inputs and outputs, and where files lie."""

import os
import shlex
import sys
from functools import partial
from itertools import product
from pathlib import Path

from snakemake.logging import logger
from snakemake.settings.types import DeploymentMethod

from fathom.benchmark.embedding_models import find_identifier
from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.claims import CLOZES, UNUSED
from fathom.config.language import ENGLISH
from fathom.config.merging import choose
from fathom.config.model_names import CONTROLS
from fathom.config.whole import read_config
from fathom.errors import InputError
from fathom.figures.catalogue import CATALOGUE
from fathom.io import paths
from fathom.io.places import find_own, shorten_path
from fathom.io.files import read_plain_text
from fathom.models.pipelines import is_fetched, name_wheel
from fathom.models.registry import find_model, read_registry
from fathom.jobs.gpus import SHARED, count_machine_gpus
from fathom.jobs.resources import read_rates
from fathom.planning.cards import read_cards
from fathom.planning.choice_names import ChoiceNames
from fathom.planning.comparing import Comparing
from fathom.planning.corpus_checks import check_corpus
from fathom.planning.run_inputs import (
    find_inputs,
    is_unchanged_input,
    sample_input,
    sample_part,
    require_reference,
)
from fathom.planning.model_checks import check_models, find_served
from fathom.planning.needs import Needs
from fathom.planning.obstacles import find_obstacles, require_working_folder
from fathom.planning.optional_models import describe_absent, leave_out_unfetched
from fathom.planning.options import (
    call_fetcher,
    call_program,
    grow,
    one_of,
    say_places,
)
from fathom.planning.outputs import RANKING_TABLES, Outputs
from fathom.planning.question_files import (
    find_question_files,
    list_bases,
)
from fathom.planning.settings import Settings, dump_json
from fathom.planning.targets import HINTS, Targets

os.environ.update(
    # the interpreter of this very installation, activated or not
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.getenv("PATH", "")]),
    # no thread pool of its own beside the threads that a job was given
    TOKENIZERS_PARALLELISM="false",
)

# programs find the library; set in the shell, for Snakemake unsets the variable of a job in a conda environment
SHELL_PREFIX = f"set -euo pipefail; export PYTHONPATH={shlex.quote(str(ROOT / 'src'))}"
SHELL_PREFIX += '"${{PYTHONPATH:+:$PYTHONPATH}}"; '

if workflow.remote_exec:
    # on a compute node: models have been fetched before, and large temporary files go to the node's own disk
    os.environ.update(HF_HUB_OFFLINE="1")
    SHELL_PREFIX += 'export FATHOM_SCRATCH="${{FATHOM_SCRATCH:-$TMPDIR}}"; '

shell.prefix(SHELL_PREFIX)

# params of a rule: its program, what its signature and the names in the rule share as options, a hash of its code
program = partial(call_program, ROOT / "scripts")
# the same without the hash: what is fetched does not depend on the code that fetches it
fetcher = partial(call_fetcher, ROOT / "scripts")

PROGRAM, LOG = "python {params.program:q} {params.options}", "--log {log:q}"
THREADS, GPUS = "--threads {threads}", "--gpus {resources.gpu}"
CALL = " ".join([PROGRAM, LOG])
CALL_WITH_THREADS = " ".join([PROGRAM, THREADS, LOG])
CALL_WITH_GPUS = " ".join([PROGRAM, GPUS, LOG])
CALL_ON_GPUS = " ".join([PROGRAM, THREADS, GPUS, LOG])


def limit_gpus():
    """Let at most as many jobs with a GPU run side by side as this machine has GPUs, unless --resources says it."""
    is_local = workflow.global_resources["_nodes"].value is None
    if workflow.is_main_process and is_local and "gpu" not in workflow.global_resources:
        gpus = count_machine_gpus()
        if gpus:  # without one, they run on processors, as many as there are cores
            workflow.register_resource("gpu", gpus)
            os.environ[SHARED] = "1"


limit_gpus()


def stop(error):
    """End with a message as the last lines, even with `--quiet all`; an exception would name places in this file."""
    sys.stderr.write(f"Error: {error}\n")
    raise SystemExit(1)


if LIBRARY.parent != ROOT / "src" and (
    DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
):
    # no environment has Fathom: jobs take it from the clone
    stop(
        InputError(
            "environments of conda need a clone of Fathom, and this one is installed",
            "--sdm conda",
            "leave it out, or start snakemake in a clone",
        )
    )


# not a module of another workflow
IS_MAIN = workflow.modifier.is_main_snakefile()


def own(path):
    """Return a file or folder of the working folder, or this workflow's own where there is none, as an input."""
    return outside(find_own(path, ROOT))


def outside(path):
    """Return a file from outside as an input; in a module it is absolute, which `prefix` leaves alone."""
    return str(path if IS_MAIN else Path(path).absolute())


if not workflow.overwrite_configfiles:

    try:
        read_plain_text(
            find_own("config/config.yaml", ROOT)
        )  # Snakemake says badly what is not UTF-8
    except InputError as error:
        stop(error)

    configfile: str(find_own("config/config.yaml", ROOT))


def make_some(target, files):
    """Return the input of a target; a target with nothing to make stops, for it would succeed in silence."""

    def find(wildcards):
        if not files:
            stop(InputError(f"target {target} has nothing to make", hint=HINTS[target]))
        return files

    return find


def read_configuration():
    """Check the configuration; stop before any job with one clear message if it is wrong."""
    files = workflow.overwrite_configfiles or workflow.configfiles
    given = ["--config"] if workflow.config_settings.config else []
    source = ", ".join([*map(str, files), *given]) or "config"
    try:
        checked = read_config(choose(config, map(str, files)), source)
        check_models(checked, find_own(checked.models.registry, ROOT), source)
    except InputError as error:
        stop(error)
    return checked, source


WHOLE_CONFIG, CONFIG_SOURCE = read_configuration()


pathvars:
    results=f"results/{WHOLE_CONFIG.run}",
    logs=f"results/{WHOLE_CONFIG.run}/logs",
    timings=f"results/{WHOLE_CONFIG.run}/timings",


# a workflow that uses this one as a module may have put it elsewhere
RESULTS = workflow.pathvars.apply("<results>")


def leave_out_models():
    """Return the configuration of this run without optional models that have not been fetched, and these."""
    try:
        return leave_out_unfetched(WHOLE_CONFIG, RESULTS, CONFIG_SOURCE)
    except InputError as error:
        stop(error)


CONFIG, LEFT_OUT = leave_out_models()


if workflow.is_main_process:

    try:
        require_working_folder()
    except InputError as error:
        stop(error)


for obstacle in find_obstacles(RESULTS) if workflow.is_main_process else []:
    logger.warning(str(obstacle))


def warn_of_orders():
    """Say which continual pretraining waits for its order of domains."""
    for study, section in CONFIG.models.continual.items():
        if not section.order:
            logger.warning(
                f"models.continual.{study} has no order yet, so nothing is trained: `snakemake order` writes"
                f" {RESULTS}/orders/{study}.yaml, for --configfile after the other files"
            )


if workflow.is_main_process:
    warn_of_orders()


def find_everything():
    """Find what the run reads; stop before any job with one clear message if something is missing."""
    try:
        if workflow.is_main_process:
            check_corpus(CONFIG, bool(workflow.deployment_settings.deployment_method))
        return find_inputs(CONFIG, RESULTS)
    except InputError as error:
        stop(error)


INPUTS = find_everything()
PIPELINES = find_own("config/pipelines.yaml", ROOT)


def find_pipeline():
    """Return the spaCy pipeline that is fetched, if any; stop if there is none of that name."""
    try:
        fetched = CONFIG.domains and is_fetched(CONFIG.sentences.splitter, PIPELINES)
    except InputError as error:
        stop(error)
    return [paths.PIPELINE.under(RESULTS)] if fetched else []


def find_embedder():
    """Return what is written of the embedding model if it is fetched from the hub; stop if it cannot be."""
    embedding = CONFIG.embedding
    needed = CONFIG.benchmark_domains or CONFIG.coverage.questions
    try:
        fetched = needed and find_identifier(embedding.model, embedding.revision)
    except InputError as error:
        stop(error)
    return [paths.EMBEDDER.under(RESULTS)] if fetched else []


FETCHED_PIPELINE = find_pipeline()
FETCHED_EMBEDDER = find_embedder()
REGISTRY = find_own(CONFIG.models.registry, ROOT)
OUTPUTS = Outputs(CONFIG, INPUTS, RESULTS, find_served(CONFIG, REGISTRY))
ENTRIES = read_registry(REGISTRY) if OUTPUTS.fetched_models else {}
TOKENS = {
    model: ENTRIES[model].tokens
    for models in CONFIG.models.follow.values()
    for model in models
}
settings = Settings(CONFIG)

# variants of references that do not lead
OTHERS = {variant for _, variant in OUTPUTS.studies.other_references}


def find_needs():
    """Return what jobs that load models ask for; stop if a model fits no GPUs that the profile names."""
    given = workflow.resource_settings.default_resources or {}
    cards = given["gpu_cards"].raw.strip("'\"") if "gpu_cards" in given else None
    limit = int(given["max_minutes"].raw) if "max_minutes" in given else None
    registry, rates = (
        find_own(path, ROOT) for path in (CONFIG.models.registry, "config/rates.tsv")
    )
    try:
        found = Needs(
            CONFIG, registry, read_rates(rates), read_cards(cards), RESULTS, limit
        )
        found.check()
    except InputError as error:
        stop(error)
    return found


needs = find_needs()
COMPARING = Comparing(CONFIG, ENTRIES, needs, OUTPUTS)
CHOICES = ChoiceNames(CONFIG, RESULTS)
TARGETS = Targets(CONFIG, OUTPUTS, COMPARING)


# it changes no result, so it is neither an input nor a param: naming it re-runs nothing
os.environ.update(FATHOM_PREVIOUS=INPUTS.previous)


WORDLISTS = own(ENGLISH.word_lists)
# own word lists may be older than this table
MANUALS = own(ENGLISH.manuals)


def raw(path, table):
    """Return an input file from outside, one with a newer date and the same bytes marked as not changed."""
    unchanged = is_unchanged_input(path, Path(RESULTS), table)
    return ancient(outside(path)) if unchanged else outside(path)


def raw_shard(wildcards):
    """Return the input file of a part."""
    return raw(INPUTS.shards[wildcards.part], paths.DOCUMENTS.of(part=wildcards.part))


def raw_metadata(wildcards):
    """Return the metadata file of a dump."""
    return raw(INPUTS.metadata, paths.METADATA)


def sample_shard(wildcards):
    """Return a sample of the content of a part's file, as a param."""
    return sample_input(INPUTS.shards[wildcards.part])


def find_task_source(name):
    """Return the file that the examples of a task are made from."""
    file = INPUTS.tasks[name].file
    return outside(file) if file else OUTPUTS.find_task_source(name)


def find_task_overlap(name):
    """Return which of a task's pairs occur in training text; nothing for a task that is not made of pairs."""
    task = INPUTS.tasks[name]
    made = task.kind not in ("text", "harness") and not task.file
    known = made and (task.domain, task.variant) in OUTPUTS.overlapping
    return OUTPUTS.studies.name_overlap(task.domain, task.variant) if known else []


def documents_of_slice(wildcards):
    """Return the documents of the part that a slice belongs to."""
    return paths.DOCUMENTS.of(part=INPUTS.slices[wildcards.slice].part)


def number_of_slice(wildcards):
    """Return which slice of how many, as a param."""
    return [INPUTS.slices[wildcards.slice].number, INPUTS.slices[wildcards.slice].total]


def title(wildcards):
    """Return what a domain is called in figures and cards."""
    return CONFIG.domains[wildcards.domain].title or wildcards.domain


def phrase(wildcards):
    """Return what the targets of a domain are near to or far from."""
    return CONFIG.targets.phrases.get(wildcards.domain) or title(wildcards)


def order_of_track(wildcards):
    """Return the order of domains that a study of continual pretraining follows."""
    return OUTPUTS.orders.find_order(wildcards.track)


def folder_of(name):
    """Return a param: the folder of a named input or output, which a program takes as a whole."""

    def find(wildcards, input, output):
        files = getattr(input, name, None) or getattr(output, name)
        return Path(files if isinstance(files, str) else files[0]).parent

    return find


def of_domains(path, domains=CONFIG.benchmark_domains):
    """Return a path for each of some domains, by default those with a benchmark."""
    return [path.of(domain=domain) for domain in domains]


def pointer(wildcards):
    """Return what points to a model's weights as an input: a file, or the folder of checkpoints that holds it."""
    return OUTPUTS.find_pointer(wildcards.model)


def own_weights(wildcards):
    """Return the weights of a fetched model as an input, where they are deleted after its last job.

    Their date does not matter: a fetched model is known by the fingerprint in its pointer.
    """
    return [ancient(path) for path in OUTPUTS.find_weights(wildcards.model)]


def finished(kind):
    """Return a param: the folder where finished results of a model are kept, so that none is made twice."""
    return lambda wildcards: f"{RESULTS}/models/{wildcards.model}/finished/{kind}"


def of_benchmarks(path):
    """Return a path for each benchmark that is scored."""
    return path.of_each(OUTPUTS.scored_benchmarks)


def named_inputs(names):
    """Return a param: some inputs by name; not those that a job has not."""
    return lambda input: {name: input[name] for name in names if input[name]}


def entry_of(wildcards):
    """Return a param: the row of a fetched model; other rows of the table do not concern it."""
    row = vars(find_model(ENTRIES, wildcards.model, REGISTRY))
    # what is known of the weights beforehand changes nothing of what is fetched
    return dump_json({name: value for name, value in row.items() if name != "weights"})


def find_reference(wildcards):
    """Return the file of a reference, as soon as one is planned: a run may come to its keywords before."""
    file = OUTPUTS.studies.reference_files[wildcards.domain, wildcards.variant]
    try:
        if IS_MAIN:  # the rules of another workflow may make it
            require_reference(file, f"references.{wildcards.domain}")
    except InputError as error:
        stop(error)
    return outside(file)


def finished_before(wildcards):
    """Return what the page waits for: all of a run, or what a comparison needs where only that is asked for."""
    if workflow.is_main_process and "compare" not in workflow.dag_settings.targets:
        return TARGETS.list_results()
    return TARGETS.list_compared()


wildcard_constraints:
    domain=one_of(CONFIG.domains),
    variant=one_of([*VARIANTS, REFERENCE, *OTHERS, UNUSED, CLOZES]),
    part=one_of(INPUTS.parts),
    slice=one_of(INPUTS.slices),
