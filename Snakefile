"""Fathom: from a raw corpus to benchmarks, scored models and a report. `config/README.md` lists every key."""

from snakemake.utils import min_version

min_version("9.10")


if not workflow.overwrite_configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/configuration.smk"
include: "workflow/rules/outputs.smk"


report: "workflow/report/workflow.rst"


if CONFIG.domains:

    include: "workflow/rules/corpus.smk"
    include: "workflow/rules/benchmark.smk"


if CONFIG.domains or TUNED_MODELS:

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
        finished(),
        f"results/{RUN}/resources.csv",


rule benchmarks:
    input:
        cards(),
        exports(),
        changes(),


rule rankings:
    input:
        rankings(),


rule figures:
    input:
        rank_figures(),
        ranking_figures() if has_rankings() else [],


rule layers:
    input:
        expand(
            f"results/{RUN}/{{domain}}/layers/layers.csv",
            domain=CONFIG.benchmark_domains,
        ),
        layer_figures(),


onstart:
    check_queue(workflow)


onsuccess:
    write_report(workflow)
