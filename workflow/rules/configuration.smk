"""Shared by all rules: the checked configuration, the run's inputs and outputs, and calls of programs."""

import logging
import os
import shlex
import sys
from functools import partial
from itertools import product
from pathlib import Path

from snakemake.io import flag, local
from snakemake.logging import logger
from snakemake.settings.types import DeploymentMethod

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.claims import CLOZES, UNUSED
from fathom.config.language import ENGLISH
from fathom.config.model_names import CONTROLS
from fathom.errors import InputError
from fathom.figures.catalogue import CATALOGUE
from fathom.io import paths
from fathom.io.files import read_plain_text
from fathom.io.places import find_own, shorten_path
from fathom.planning.apart import Marks, RunStorage
from fathom.planning.failures import find_obstacles, refusing, require_working_folder
from fathom.planning.options import Programs, folder_of, grow, lengthen
from fathom.planning.options import named_inputs, one_of, say_places
from fathom.planning.outputs import RANKING_TABLES
from fathom.planning.run import Run, RunJobs, read_checked
from fathom.planning.run_hooks import RunHooks, limit_gpus, read_profile
from fathom.planning.run_inputs import check_corpus
from fathom.planning.settings import EMBEDDING_KEYS
from fathom.planning.targets import make_some
from fathom.planning.task_checks import check_tasks
from fathom.planning.starting import end_with_parent

os.environ.update(
    # the interpreter of this installation, activated or not
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.getenv("PATH", "")]),
    # no thread pool beside the threads given to a job
    TOKENIZERS_PARALLELISM="false",
)

# lets programs find the library; set in the shell, as Snakemake unsets the variable in conda environments
SHELL_PREFIX = f"set -euo pipefail; export PYTHONPATH={shlex.quote(str(ROOT / 'src'))}"
SHELL_PREFIX += '"${{PYTHONPATH:+:$PYTHONPATH}}"; '

if workflow.remote_exec:
    # on a compute node: large temporary files go to the node's own disk
    SHELL_PREFIX += 'export FATHOM_SCRATCH="${{FATHOM_SCRATCH:-$TMPDIR}}"; '

shell.prefix(SHELL_PREFIX)

PROGRAM, LOG = "python {params.program:q} {params.options}", "--log {log:q}"
THREADS, GPUS = "--threads {threads}", "--gpus {resources.gpu}"
CALL = " ".join([PROGRAM, LOG])
CALL_WITH_THREADS = " ".join([PROGRAM, THREADS, LOG])
CALL_WITH_GPUS = " ".join([PROGRAM, GPUS, LOG])
CALL_ON_GPUS = " ".join([PROGRAM, THREADS, GPUS, LOG])

limit_gpus(workflow)

with refusing():
    if LIBRARY.parent != ROOT / "src" and (
        DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
    ):
        # no environment has Fathom: jobs take it from the clone
        raise InputError(
            "environments of conda need a clone of Fathom, and this one is installed",
            "--sdm conda",
            "leave it out, or start snakemake in a clone",
        )


if not workflow.overwrite_configfiles:

    DEFAULT = find_own("config/config.yaml", ROOT)
    with refusing():
        read_plain_text(DEFAULT)  # Snakemake's message on invalid UTF-8 is unclear

    configfile: str(DEFAULT)


with refusing():
    WHOLE_CONFIG, CONFIG_SOURCE = read_checked(
        config,
        [*map(str, workflow.overwrite_configfiles or workflow.configfiles)],
        ROOT,
        given=bool(workflow.config_settings.config),
        say=logger.warning if workflow.is_main_process else None,
    )


pathvars:
    results=f"results/{WHOLE_CONFIG.run}",
    logs=f"results/{WHOLE_CONFIG.run}/logs",
    timings=f"results/{WHOLE_CONFIG.run}/timings",


# a workflow that uses this one as a module may have put it elsewhere
RESULTS = workflow.pathvars.apply("<results>")

# report a full disk once, at the end, not for each line missing from Snakemake's log
logging.raiseExceptions = False

with refusing():
    PROFILE = read_profile(workflow.resource_settings.default_resources or {})
    minutes = partial(lengthen, most=int(PROFILE.get("max_minutes", 0)))
    if workflow.is_main_process:
        end_with_parent()
        require_working_folder()
        in_environments = bool(workflow.deployment_settings.deployment_method)
        check_corpus(WHOLE_CONFIG, in_environments)
        check_tasks(WHOLE_CONFIG, in_environments)
    # `exists` looks for the workflow among the names of its caller, so a rule file calls it
    marks = Marks(ancient, flag, local, lambda path: exists(path))
    apart = RunStorage(workflow, WHOLE_CONFIG.run, ROOT, marks)
    RUN = Run(WHOLE_CONFIG, CONFIG_SOURCE, RESULTS, ROOT, PROFILE, apart)

# on a compute node, models have been fetched before; with a storage, all but the one that embeds
if workflow.remote_exec and not (apart.stored and RUN.fetched_embedder):
    os.environ.update(HF_HUB_OFFLINE="1")

if workflow.is_main_process:
    for warning in [*find_obstacles(RESULTS), *RUN.warn()]:
        logger.warning(str(warning))

CONFIG, INPUTS, OUTPUTS, TARGETS = RUN.config, RUN.inputs, RUN.outputs, RUN.targets
settings, needs = RUN.settings, RUN.needs
programs = Programs(ROOT / "scripts", settings.of)
# params of a rule: its program, its options, a hash of its code; and without that, for what is fetched
program, fetcher = programs.call, programs.fetch
jobs = RunJobs(RUN, apart)
hooks = RunHooks(RUN, workflow, apart, logger.warning)

# it changes no result, so it is neither an input nor a param, and re-runs nothing
os.environ.update(FATHOM_PREVIOUS=INPUTS.previous)

# own word lists may be older than this table
MANUALS = jobs.own(ENGLISH.manuals)


wildcard_constraints:
    domain=one_of(CONFIG.domains),
    variant=one_of(
        [*VARIANTS, REFERENCE, *OUTPUTS.studies.other_variants, UNUSED, CLOZES]
    ),
    part=one_of(INPUTS.parts),
    slice=one_of(INPUTS.slices),
