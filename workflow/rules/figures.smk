"""Figures, from finished tables only.

In:  results/{run}/summary.csv
Out: results/{run}/figures/{domain}.model-ranks.{pdf,png,csv}
"""


rule plot_model_ranks:
    input:
        code=sources("plot_model_ranks"),
        style="src/fathom/figures/fathom.mplstyle",
        summary="results/{run}/summary.csv",
    output:
        pdf="results/{run}/figures/{domain}.model-ranks.pdf",
        png=report(
            "results/{run}/figures/{domain}.model-ranks.png",
            caption="../report/model-ranks.rst",
            category="Models",
            labels={"figure": "models by rank", "domain": "{domain}"},
        ),
        table="results/{run}/figures/{domain}.model-ranks.csv",
    log:
        "results/{run}/logs/plot_model_ranks/{domain}.log",
    benchmark:
        "results/{run}/benchmarks/plot_model_ranks/{domain}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings("summary"),
        title=lambda wildcards: title(wildcards.domain),
    shell:
        "python {input.code[0]} --summary {input.summary} --domain {wildcards.domain:q}"
        " --title {params.title:q} --settings {params.settings:q} --output {output.pdf:q}"
        " --png {output.png:q} --table {output.table:q}"
        " --log {log:q}"
