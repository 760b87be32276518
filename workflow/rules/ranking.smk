"""Rankings by several benchmarks, and how far they agree.

In:  a folder of scores (scores); or <results>/tuning/scores/; or <results>/{summary,comparisons}.csv
Out: <results>/ranking/{scores,paired}.parquet, {models,benchmarks}.csv,
     {agreement,pairwise,means,categories,perplexity,pca,pc1,alignment}.csv, forecast.csv (ranking.forecast),
     preparation.csv (train_before_test.preparations)
"""

SCORE_TABLE = multiext(
    "<results>/ranking/",
    "scores.parquet",
    "paired.parquet",
    "models.csv",
    "benchmarks.csv",
)


if CONFIG.scores is not None or INPUTS.tasks:

    rule read_score_folder:
        input:
            code=sources("read_score_folder"),
            scores=[outside(file) for file in INPUTS.score_files]
            or rules.gather_tuning.output.scores,
            registry=own(CONFIG.models.registry),
        output:
            table=SCORE_TABLE,
        log:
            "<logs>/read_score_folder.log",
        benchmark:
            "<timings>/read_score_folder.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=grow(20),
        params:
            settings=settings.of("ranking"),
            scores=lambda wildcards, input: CONFIG.scores or input.scores,
            folder=folder_of("table"),
        shell:
            "python {input.code[0]:q} --scores {params.scores:q} --registry {input.registry:q}"
            " --settings {params.settings:q} --output {params.folder} --log {log}"

else:

    rule collect_run_scores:
        input:
            code=sources("collect_run_scores"),
            summary="<results>/summary.csv",
            comparisons="<results>/comparisons.csv",
            registry=own(CONFIG.models.registry),
        output:
            table=SCORE_TABLE,
        log:
            "<logs>/collect_run_scores.log",
        benchmark:
            "<timings>/collect_run_scores.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=grow(20),
        params:
            settings=settings.of("ranking", "summary"),
            folder=folder_of("table"),
        shell:
            "python {input.code[0]:q} --summary {input.summary} --comparisons {input.comparisons}"
            " --registry {input.registry:q} --settings {params.settings:q} --output {params.folder}"
            " --log {log}"


rule compare_rankings:
    input:
        code=sources("compare_rankings"),
        table=SCORE_TABLE,
    output:
        agreement="<results>/ranking/agreement.csv",
        others=[
            f"<results>/ranking/{name}.csv"
            for name in RANKING_TABLES
            if name != "agreement"
        ],
    log:
        "<logs>/compare_rankings.log",
    benchmark:
        "<timings>/compare_rankings.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of("ranking", "summary"),
        folder=folder_of("agreement"),
    shell:
        "python {input.code[0]:q} --scores {params.folder} --settings {params.settings:q}"
        " --output {params.folder} --log {log}"


rule forecast_change:
    input:
        code=sources("forecast_change"),
        table=SCORE_TABLE,
    output:
        table="<results>/ranking/forecast.csv",
    log:
        "<logs>/forecast_change.log",
    benchmark:
        "<timings>/forecast_change.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(120),
    params:
        settings=settings.of("ranking", "summary"),
        folder=folder_of("table"),
    shell:
        "python {input.code[0]:q} --scores {params.folder} --settings {params.settings:q}"
        " --output {output.table} --log {log}"


rule compare_preparations:
    input:
        code=sources("compare_preparations"),
        reports=OUTPUTS.name_prepared(".json"),
    output:
        table="<results>/ranking/preparation.csv",
    log:
        "<logs>/compare_preparations.log",
    benchmark:
        "<timings>/compare_preparations.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(60),
    params:
        settings=settings.of("ranking", "summary", "train_before_test"),
        reports=options("reports", OUTPUTS.prepared, "reports"),
    shell:
        "python {input.code[0]:q} {params.reports} --settings {params.settings:q}"
        " --output {output.table} --log {log}"
