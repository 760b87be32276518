"""Figures, from finished tables only.

In:  results/{run}/summary.csv, results/{run}/{domain}/layers/{layers,layer-changes}.csv,
     results/{run}/{domain}/layers/{model}.rates.parquet
Out: results/{run}/figures/{domain}.model-ranks.{pdf,png,csv},
     results/{run}/figures/{domain}.layers.{model}.{figure}.{pdf,png,csv}
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


rule plot_layers:
    input:
        code=sources("plot_layers"),
        style="src/fathom/figures/fathom.mplstyle",
        summary="results/{run}/{domain}/layers/layers.csv",
        changes="results/{run}/{domain}/layers/layer-changes.csv",
        rates="results/{run}/{domain}/layers/{model}.rates.parquet",
    output:
        pdf="results/{run}/figures/{domain}.layers.{model}.{figure}.pdf",
        png=report(
            "results/{run}/figures/{domain}.layers.{model}.{figure}.png",
            caption="../report/layers.rst",
            category="Layers",
            labels={
                "figure": "{figure}",
                "domain": "{domain}",
                "model": "{model}",
            },
        ),
        table="results/{run}/figures/{domain}.layers.{model}.{figure}.csv",
    log:
        "results/{run}/logs/plot_layers/{domain}.{model}.{figure}.log",
    benchmark:
        "results/{run}/benchmarks/plot_layers/{domain}.{model}.{figure}.tsv"
    wildcard_constraints:
        model=one_of(CONFIG.layer_families),
        figure=one_of(LAYER_FIGURES),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=layer_settings(),
        title=lambda wildcards: title(wildcards.domain),
        models=lambda wildcards: " ".join(CONFIG.layer_families[wildcards.model]),
    shell:
        "python {input.code[0]} --figure {wildcards.figure} --models {params.models}"
        " --summary {input.summary:q} --changes {input.changes:q} --rates {input.rates:q}"
        " --title {params.title:q} --settings {params.settings:q} --output {output.pdf:q}"
        " --png {output.png:q} --table {output.table:q} --log {log:q}"
