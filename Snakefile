"""Fathom: from a raw corpus to benchmarks, scored models and a report. `config/README.md` lists every key."""

from snakemake.utils import min_version

min_version("9.10")


if not workflow.overwrite_configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/configuration.smk"


report: "workflow/report/workflow.rst"


include: "workflow/rules/corpus.smk"
include: "workflow/rules/benchmark.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/scoring.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/resources.smk"


localrules:
    all,
    benchmarks,
    figures,


rule all:
    default_target: True
    input:
        finished(),
        f"results/{RUN}/resources.csv",


rule benchmarks:
    input:
        cards(),
        exports(),
        changes(),


rule figures:
    input:
        rank_figures(),


onsuccess:
    write_report(workflow)
