"""Fathom: from a raw corpus to benchmarks, scored models and a report. `config/README.md` lists every key."""

from snakemake.utils import min_version

min_version("9.10")


if not workflow.overwrite_configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/configuration.smk"
include: "workflow/rules/hooks.smk"


report: "workflow/report/workflow.rst"


if CONFIG.domains:

    include: "workflow/rules/corpus.smk"
    include: "workflow/rules/benchmark.smk"


if CONFIG.domains or INPUTS.tuned_models:

    include: "workflow/rules/models.smk"


if CONFIG.domains:

    include: "workflow/rules/scoring.smk"
    include: "workflow/rules/layers.smk"


include: "workflow/rules/tuning.smk"
include: "workflow/rules/ranking.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/resources.smk"


localrules:
    all,
    benchmarks,
    figures,
    rankings,
    layers,


rule all:
    default_target: True
    input:
        OUTPUTS.list_finished(),
        OUTPUTS.name_resources(),


rule benchmarks:
    input:
        OUTPUTS.list_benchmarks(),


rule rankings:
    input:
        OUTPUTS.name_ranking_tables(),


rule figures:
    input:
        OUTPUTS.list_figures(),


rule layers:
    input:
        OUTPUTS.list_layers(),


onstart:
    check_queue(workflow)


onsuccess:
    write_report(workflow)


onerror:
    explain_failures(workflow)
