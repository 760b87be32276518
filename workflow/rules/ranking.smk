"""Rankings by several benchmarks, and how far they agree.

In:  a folder of scores (scores); or <results>/tuning/scores/; or <results>/{summary,comparisons}.csv
Out: <results>/ranking/{scores,paired}.parquet, {models,benchmarks}.csv,
     {agreement,pairwise,means,categories,perplexity,pca,pc1,alignment}.csv, forecast.csv (ranking.forecast),
     preparation.csv (train_before_test.preparations)
"""

SCORE_TABLE = [
    paths.RANKED_SCORES,
    paths.RANKED_PAIRS,
    paths.RANKED_MODELS,
    paths.RANKED_BENCHMARKS,
]


if CONFIG.scores is not None or INPUTS.tasks:

    rule read_score_folder:
        input:
            scores=[jobs.outside(file) for file in INPUTS.score_files]
            or rules.gather_tuning.output.scores,
            registry=jobs.ship(RUN.registry),
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
            runtime=minutes(20),
        params:
            **program(
                "read_score_folder",
                scores=lambda input: CONFIG.scores or input.scores,
                table=folder_of("table"),
            ),
        shell:
            CALL

else:

    rule collect_run_scores:
        input:
            summary=paths.SUMMARY,
            comparisons=paths.COMPARISONS,
            registry=jobs.ship(RUN.registry),
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
            runtime=minutes(20),
        params:
            **program(
                "collect_run_scores",
                table=folder_of("table"),
                titles=CONFIG.titles,
                references=CONFIG.reference_names,
            ),
        shell:
            CALL


rule compare_rankings:
    input:
        scores=SCORE_TABLE,
    output:
        tables=[paths.RANKING.of(table=name) for name in RANKING_TABLES],
    log:
        "<logs>/compare_rankings.log",
    benchmark:
        "<timings>/compare_rankings.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program(
            "compare_rankings", scores=folder_of("scores"), tables=folder_of("tables")
        ),
    shell:
        CALL


rule forecast_change:
    input:
        scores=SCORE_TABLE,
    output:
        table=paths.RANKING.of(table="forecast"),
    log:
        "<logs>/forecast_change.log",
    benchmark:
        "<timings>/forecast_change.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(120),
    params:
        **program("forecast_change", scores=folder_of("scores")),
    shell:
        CALL


rule compare_preparations:
    input:
        reports=OUTPUTS.name_prepared(".json"),
    output:
        table=paths.RANKING.of(table="preparation"),
    log:
        "<logs>/compare_preparations.log",
    benchmark:
        "<timings>/compare_preparations.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(60),
    params:
        **program(
            "compare_preparations",
            reports=lambda input: say_places(OUTPUTS.prepared, input.reports),
        ),
    shell:
        CALL
