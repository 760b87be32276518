"""Figures of models by rank, rankings, layers and coverage, from finished tables only.

In:  <results>/summary.csv, <results>/ranking/,
     <results>/{domain}/layers/{layers,layer-changes}.csv, {model}.rates.parquet,
     <results>/{domain}/benchmark/{variant}/coverage.parquet,
     <results>/{domain}/coverage/{expansion-map.parquet,correlations.csv},
     <results>/questions/{set}/percentiles-map.parquet, <results>/question-scores.csv
Out: <results>/figures/{domain}.model-ranks.{pdf,png,csv}, ranking.{figure}.{pdf,png,csv},
     {domain}.layers.{model}.{figure}.{pdf,png,csv}, {domain}.coverage.{variant}.{pdf,png,csv},
     {domain}.{expansion,thresholds}.{pdf,png,csv}, {set}.{questions,scores,radar}.{pdf,png,csv}; <results>/sizes.csv, <results>/ranking/tables.md, table-{categories,families,corpora,compute}.csv
"""

STYLE = outside(shorten_path(ROOT / "src/fathom/figures/fathom.mplstyle"))


rule plot_model_ranks:
    input:
        code=sources("plot_model_ranks"),
        style=STYLE,
        summary="<results>/summary.csv",
    output:
        pdf="<results>/figures/{domain}.model-ranks.pdf",
        png=report(
            "<results>/figures/{domain}.model-ranks.png",
            caption="../report/model-ranks.rst",
            category="Models",
            labels={"figure": "models by rank", "domain": "{domain}"},
        ),
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
        png=report(
            "<results>/figures/ranking.{figure}.png",
            caption="../report/ranking-alignment.rst",
            category="Rankings",
            labels={"figure": "{figure}"},
        ),
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
        png=report(
            "<results>/figures/ranking.{figure}.png",
            caption="../report/ranking-agreement.rst",
            category="Rankings",
            labels={"figure": "{figure}"},
        ),
        table="<results>/figures/ranking.{figure}.csv",
    wildcard_constraints:
        figure=one_of(OUTPUTS.ranking_figures["agreement"]),


use rule plot_alignment as plot_perplexity_agreement with:
    output:
        pdf="<results>/figures/ranking.{figure}.pdf",
        png=report(
            "<results>/figures/ranking.{figure}.png",
            caption="../report/ranking-perplexity.rst",
            category="Rankings",
            labels={"figure": "{figure}"},
        ),
        table="<results>/figures/ranking.{figure}.csv",
    wildcard_constraints:
        figure=one_of(OUTPUTS.ranking_figures["perplexity"]),


use rule plot_alignment as plot_components with:
    output:
        pdf="<results>/figures/ranking.{figure}.pdf",
        png=report(
            "<results>/figures/ranking.{figure}.png",
            caption="../report/ranking-components.rst",
            category="Rankings",
            labels={"figure": "{figure}"},
        ),
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
        png=report(
            "<results>/figures/ranking.{figure}.png",
            caption="../report/ranking-forecast.rst",
            category="Rankings",
            labels={"figure": "{figure}"},
        ),
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
        png=report(
            "<results>/figures/ranking.{figure}.png",
            caption="../report/ranking-preparation.rst",
            category="Rankings",
            labels={"figure": "{figure}"},
        ),
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
        categories=report(
            "<results>/ranking/table-categories.csv",
            caption="../report/ranking-tables.rst",
            category="Rankings",
            labels={"table": "benchmarks by category"},
        ),
        families=report(
            "<results>/ranking/table-families.csv",
            caption="../report/ranking-tables.rst",
            category="Rankings",
            labels={"table": "models by family"},
        ),
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
        png=report(
            "<results>/figures/{domain}.layers.{model}.{figure}.png",
            caption="../report/layers.rst",
            category="Layers",
            labels={
                "figure": "{figure}",
                "domain": "{domain}",
                "model": "{model}",
            },
        ),
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


rule plot_coverage:
    input:
        code=sources("plot_coverage"),
        style=STYLE,
        map="<results>/{domain}/benchmark/{variant}/coverage.parquet",
    output:
        pdf="<results>/figures/{domain}.coverage.{variant}.pdf",
        png=report(
            "<results>/figures/{domain}.coverage.{variant}.png",
            caption="../report/coverage.rst",
            category="Benchmark",
            subcategory="{domain}",
            labels={"table": "map of its domain", "variant": "{variant}"},
        ),
        table="<results>/figures/{domain}.coverage.{variant}.csv",
    log:
        "<logs>/plot_coverage/{domain}.{variant}.log",
    benchmark:
        "<timings>/plot_coverage/{domain}.{variant}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        title=title,
    shell:
        "python {input.code[0]:q} --kind benchmark --map {input.map:q}"
        " --title {params.title:q}' ({wildcards.variant})' --output {output.pdf:q} --png {output.png:q}"
        " --table {output.table:q} --log {log:q}"


rule plot_expansion:
    input:
        code=sources("plot_coverage"),
        style=STYLE,
        map="<results>/{domain}/coverage/expansion-map.parquet",
    output:
        pdf="<results>/figures/{domain}.expansion.pdf",
        png=report(
            "<results>/figures/{domain}.expansion.png",
            caption="../report/expansion.rst",
            category="Corpus",
            labels={"table": "map of the expansion", "domain": "{domain}"},
        ),
        table="<results>/figures/{domain}.expansion.csv",
    log:
        "<logs>/plot_expansion/{domain}.log",
    benchmark:
        "<timings>/plot_expansion/{domain}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        title=title,
    shell:
        "python {input.code[0]:q} --kind expansion --map {input.map:q} --title {params.title:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_questions:
    input:
        code=sources("plot_coverage"),
        style=STYLE,
        map="<results>/questions/{set}/percentiles-map.parquet",
    output:
        pdf="<results>/figures/{set}.questions.pdf",
        png=report(
            "<results>/figures/{set}.questions.png",
            caption="../report/questions.rst",
            category="Questions",
            labels={"figure": "map of questions", "set": "{set}"},
        ),
        table="<results>/figures/{set}.questions.csv",
    log:
        "<logs>/plot_questions/{set}.log",
    benchmark:
        "<timings>/plot_questions/{set}.tsv"
    wildcard_constraints:
        set=one_of(CONFIG.coverage.questions),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    shell:
        "python {input.code[0]:q} --kind questions --map {input.map:q} --title {wildcards.set:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_correlations:
    input:
        code=sources("plot_correlations"),
        style=STYLE,
        thresholds="<results>/{domain}/coverage/correlations.csv",
    output:
        pdf="<results>/figures/{domain}.thresholds.pdf",
        png=report(
            "<results>/figures/{domain}.thresholds.png",
            caption="../report/thresholds.rst",
            category="Corpus",
            labels={"figure": "corpora by threshold", "domain": "{domain}"},
        ),
        table="<results>/figures/{domain}.thresholds.csv",
    log:
        "<logs>/plot_correlations/{domain}.log",
    benchmark:
        "<timings>/plot_correlations/{domain}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        title=title,
    shell:
        "python {input.code[0]:q} --thresholds {input.thresholds:q} --title {params.title:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_answers:
    input:
        code=sources("plot_answers"),
        style=STYLE,
        scores="<results>/question-scores.csv",
    output:
        pdf="<results>/figures/{set}.{figure}.pdf",
        png=report(
            "<results>/figures/{set}.{figure}.png",
            caption="../report/answers.rst",
            category="Questions",
            labels={"figure": "{figure}", "set": "{set}"},
        ),
        table="<results>/figures/{set}.{figure}.csv",
    log:
        "<logs>/plot_answers/{set}.{figure}.log",
    benchmark:
        "<timings>/plot_answers/{set}.{figure}.tsv"
    wildcard_constraints:
        set=one_of(CONFIG.coverage.questions),
        figure="scores|radar",
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        bases=repeat_option("base", list_bases(CONFIG, ENTRIES)),
    shell:
        "python {input.code[0]:q} --scores {input.scores:q} --name {wildcards.set:q} --kind {wildcards.figure}"
        " {params.bases} --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule write_sizes:
    input:
        code=sources("write_sizes"),
        expansions=[
            f"<results>/{domain}/coverage/expansion.json"
            for domain in CONFIG.coverage.expand
        ],
        maps=[
            f"<results>/{domain}/coverage/expansion-map.parquet"
            for domain in CONFIG.coverage.expand
        ],
        reports=[
            f"<results>/questions/{name}/questions.json"
            for name in CONFIG.coverage.questions
        ],
        questions=[
            f"<results>/questions/{name}/questions.parquet"
            for name in CONFIG.coverage.questions
        ],
    output:
        sizes=report(
            "<results>/sizes.csv",
            caption="../report/question-sizes.rst",
            category="Questions",
            labels={"table": "sizes beside the paper's"},
        ),
    log:
        "<logs>/write_sizes.log",
    benchmark:
        "<timings>/write_sizes.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        expansions=lambda wildcards, input: list_options(
            "expansion", zip(CONFIG.coverage.expand, input.expansions), input.maps
        ),
        questions=lambda wildcards, input: list_options(
            "questions", zip(CONFIG.coverage.questions, input.reports), input.questions
        ),
    shell:
        "python {input.code[0]:q} {params.expansions} {params.questions} --output {output.sizes:q} --log {log:q}"
