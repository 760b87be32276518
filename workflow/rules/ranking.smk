"""Rankings of models by several benchmarks, and how far they agree.

In:  a folder of scores (scores), or results/{run}/{summary,comparisons}.csv
Out: results/{run}/ranking/{scores,paired}.parquet, {models,benchmarks}.csv,
     {agreement,pairwise,means,categories,perplexity,pca,pc1,alignment}.csv
"""

SCORE_TABLE = multiext(
    "results/{run}/ranking/",
    "scores.parquet",
    "paired.parquet",
    "models.csv",
    "benchmarks.csv",
)

if CONFIG.scores is not None:

    rule read_score_folder:
        input:
            code=sources("read_score_folder"),
            scores=SCORE_FILES,
            registry=CONFIG.models.registry,
        output:
            table=SCORE_TABLE,
        log:
            "results/{run}/logs/read_score_folder.log",
        benchmark:
            "results/{run}/benchmarks/read_score_folder.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=grow(20),
        params:
            settings=settings("ranking"),
            scores=CONFIG.scores,
            folder=lambda wildcards, output: Path(output.table[0]).parent,
        shell:
            "python {input.code[0]} --scores {params.scores:q} --registry {input.registry:q}"
            " --settings {params.settings:q} --output {params.folder} --log {log}"

else:

    rule collect_run_scores:
        input:
            code=sources("collect_run_scores"),
            summary="results/{run}/summary.csv",
            comparisons="results/{run}/comparisons.csv",
            registry=CONFIG.models.registry,
        output:
            table=SCORE_TABLE,
        log:
            "results/{run}/logs/collect_run_scores.log",
        benchmark:
            "results/{run}/benchmarks/collect_run_scores.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=grow(20),
        params:
            settings=settings("ranking", "summary"),
            folder=lambda wildcards, output: Path(output.table[0]).parent,
        shell:
            "python {input.code[0]} --summary {input.summary} --comparisons {input.comparisons}"
            " --registry {input.registry:q} --settings {params.settings:q} --output {params.folder}"
            " --log {log}"


rule compare_rankings:
    input:
        code=sources("compare_rankings"),
        table=SCORE_TABLE,
    output:
        agreement=report(
            "results/{run}/ranking/agreement.csv",
            caption="../report/agreement.rst",
            category="Rankings",
            labels={"table": "agreement"},
        ),
        others=[
            f"results/{{run}}/ranking/{name}.csv"
            for name in RANKING_TABLES
            if name != "agreement"
        ],
    log:
        "results/{run}/logs/compare_rankings.log",
    benchmark:
        "results/{run}/benchmarks/compare_rankings.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings("ranking", "summary"),
        folder=lambda wildcards, output: Path(output.agreement).parent,
    shell:
        "python {input.code[0]} --scores {params.folder} --settings {params.settings:q}"
        " --output {params.folder} --log {log}"
