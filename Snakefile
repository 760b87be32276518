"""Fathom: from a raw corpus to benchmarks, scored models and a report. `config/README.md` lists every key."""

from snakemake.utils import min_version

min_version("9.10")


if not workflow.overwrite_configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/configuration.smk"


report: "workflow/report/workflow.rst"


if CONFIG.domains:

    include: "workflow/rules/corpus.smk"
    include: "workflow/rules/benchmark.smk"
    include: "workflow/rules/models.smk"
    include: "workflow/rules/scoring.smk"


include: "workflow/rules/ranking.smk"
include: "workflow/rules/figures.smk"


localrules:
    all,
    benchmarks,
    figures,
    rankings,


rule all:
    default_target: True
    input:
        summaries(),
        cards(),
        exports(),
        rank_figures(),
        [*rankings(), *ranking_figures()] if has_rankings() else [],


rule benchmarks:
    input:
        cards(),
        exports(),


rule rankings:
    input:
        rankings(),


rule figures:
    input:
        rank_figures(),
        ranking_figures() if has_rankings() else [],


onsuccess:
    write_report(workflow)
