"""Figures of models by rank, rankings and layers, from finished tables only.

In:  <results>/summary.csv, <results>/ranking/,
     <results>/{domain}/layers/{layers,layer-changes}.csv, {model}.rates.parquet
Out: <results>/figures/{domain}.model-ranks.{pdf,png,csv}, ranking.{figure}.{pdf,png,csv},
     {domain}.layers.{model}.{figure}.{pdf,png,csv}; <results>/ranking/tables.md, table-{categories,families,corpora,compute}.csv
"""

STYLE = outside(shorten_path(ROOT / "src/fathom/figures/fathom.mplstyle"))


rule plot_model_ranks:
    input:
        code=sources("plot_model_ranks"),
        style=STYLE,
        summary="<results>/summary.csv",
    output:
        pdf="<results>/figures/{domain}.model-ranks.pdf",
        png="<results>/figures/{domain}.model-ranks.png",
        table="<results>/figures/{domain}.model-ranks.csv",
    log:
        "<logs>/plot_model_ranks/{domain}.log",
    benchmark:
        "<timings>/plot_model_ranks/{domain}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of("summary"),
        title=title,
    shell:
        "python {input.code[0]:q} --summary {input.summary} --domain {wildcards.domain:q}"
        " --title {params.title:q} --settings {params.settings:q} --output {output.pdf:q}"
        " --png {output.png:q} --table {output.table:q}"
        " --log {log:q}"


rule plot_alignment:
    input:
        code=sources("plot_ranking"),
        style=STYLE,
        table=SCORE_TABLE,
        rankings=[f"<results>/ranking/{name}.csv" for name in RANKING_TABLES],
    output:
        pdf="<results>/figures/ranking.{figure}.pdf",
        png="<results>/figures/ranking.{figure}.png",
        table="<results>/figures/ranking.{figure}.csv",
    log:
        "<logs>/plot_ranking/{figure}.log",
    benchmark:
        "<timings>/plot_ranking/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(OUTPUTS.ranking_figures["alignment"]),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of("ranking", "summary"),
        folder=folder_of("rankings"),
    shell:
        "python {input.code[0]:q} --tables {params.folder} --figure {wildcards.figure:q}"
        " --settings {params.settings:q} --output {output.pdf:q} --png {output.png:q}"
        " --table {output.table:q} --log {log:q}"


use rule plot_alignment as plot_agreement with:
    output:
        pdf="<results>/figures/ranking.{figure}.pdf",
        png="<results>/figures/ranking.{figure}.png",
        table="<results>/figures/ranking.{figure}.csv",
    wildcard_constraints:
        figure=one_of(OUTPUTS.ranking_figures["agreement"]),


use rule plot_alignment as plot_perplexity_agreement with:
    output:
        pdf="<results>/figures/ranking.{figure}.pdf",
        png="<results>/figures/ranking.{figure}.png",
        table="<results>/figures/ranking.{figure}.csv",
    wildcard_constraints:
        figure=one_of(OUTPUTS.ranking_figures["perplexity"]),


use rule plot_alignment as plot_components with:
    output:
        pdf="<results>/figures/ranking.{figure}.pdf",
        png="<results>/figures/ranking.{figure}.png",
        table="<results>/figures/ranking.{figure}.csv",
    wildcard_constraints:
        figure=one_of(OUTPUTS.ranking_figures["components"]),


use rule plot_alignment as plot_forecast with:
    input:
        code=sources("plot_ranking"),
        style=STYLE,
        table=SCORE_TABLE,
        rankings=["<results>/ranking/forecast.csv"],
    output:
        pdf="<results>/figures/ranking.{figure}.pdf",
        png="<results>/figures/ranking.{figure}.png",
        table="<results>/figures/ranking.{figure}.csv",
    wildcard_constraints:
        figure=one_of(OUTPUTS.ranking_figures["forecast"]),


use rule plot_forecast as plot_preparation with:
    input:
        code=sources("plot_ranking"),
        style=STYLE,
        table=SCORE_TABLE,
        rankings=["<results>/ranking/preparation.csv"],
    output:
        pdf="<results>/figures/ranking.{figure}.pdf",
        png="<results>/figures/ranking.{figure}.png",
        table="<results>/figures/ranking.{figure}.csv",
    wildcard_constraints:
        figure=one_of(OUTPUTS.ranking_figures["preparation"]),


rule write_ranking_tables:
    input:
        code=sources("write_ranking_tables"),
        table=SCORE_TABLE,
        means="<results>/ranking/means.csv",
    output:
        page="<results>/ranking/tables.md",
        categories="<results>/ranking/table-categories.csv",
        families="<results>/ranking/table-families.csv",
        corpora="<results>/ranking/table-corpora.csv",
        compute="<results>/ranking/table-compute.csv",
    log:
        "<logs>/write_ranking_tables.log",
    benchmark:
        "<timings>/write_ranking_tables.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        folder=folder_of("page"),
    shell:
        "python {input.code[0]:q} --tables {params.folder} --output {output.page}"
        " --categories {output.categories} --families {output.families} --corpora {output.corpora}"
        " --compute {output.compute} --log {log}"


rule plot_layers:
    input:
        code=sources("plot_layers"),
        style=STYLE,
        summary="<results>/{domain}/layers/layers.csv",
        changes="<results>/{domain}/layers/layer-changes.csv",
        rates="<results>/{domain}/layers/{model}.rates.parquet",
    output:
        pdf="<results>/figures/{domain}.layers.{model}.{figure}.pdf",
        png="<results>/figures/{domain}.layers.{model}.{figure}.png",
        table="<results>/figures/{domain}.layers.{model}.{figure}.csv",
    log:
        "<logs>/plot_layers/{domain}.{model}.{figure}.log",
    benchmark:
        "<timings>/plot_layers/{domain}.{model}.{figure}.tsv"
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
        settings=settings.of_layers(),
        title=title,
        models=lambda wildcards: " ".join(CONFIG.layer_families[wildcards.model]),
    shell:
        "python {input.code[0]:q} --figure {wildcards.figure} --models {params.models}"
        " --summary {input.summary:q} --changes {input.changes:q} --rates {input.rates:q}"
        " --title {params.title:q} --settings {params.settings:q} --output {output.pdf:q}"
        " --png {output.png:q} --table {output.table:q} --log {log:q}"
