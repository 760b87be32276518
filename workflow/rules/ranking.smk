"""The same preparation for every model, rankings by several benchmarks, and how far they agree.

In:  a folder of scores (scores); or results/{run}/{domain}/benchmark/{variant}/pairs.parquet,
     results/{run}/models/{model}/model.json; or results/{run}/{summary,comparisons}.csv
Out: results/{run}/tuning/{examples/{task}.parquet,{task}/{model}.parquet,scores/}, tuning.csv,
     results/{run}/ranking/{scores,paired}.parquet, {models,benchmarks}.csv,
     {agreement,pairwise,means,categories,perplexity,pca,pc1,alignment}.csv
"""

SCORE_TABLE = multiext(
    "results/{run}/ranking/",
    "scores.parquet",
    "paired.parquet",
    "models.csv",
    "benchmarks.csv",
)


rule prepare_task:
    input:
        code=sources("prepare_task"),
        source=lambda wildcards: task_source(wildcards.task),
    output:
        examples="results/{run}/tuning/examples/{task}.parquet",
        report="results/{run}/tuning/examples/{task}.json",
    log:
        "results/{run}/logs/prepare_task/{task}.log",
    benchmark:
        "results/{run}/benchmarks/prepare_task/{task}.tsv"
    wildcard_constraints:
        task=one_of([name for name in TASKS if TASKS[name].kind != "harness"]),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=lambda wildcards: task_settings(wildcards.task),
    shell:
        "python {input.code[0]} --name {wildcards.task:q} --source {input.source:q}"
        " --settings {params.settings:q} --output {output.examples:q} --report {output.report:q}"
        " --log {log:q}"


localrules:
    fetch_task,


rule fetch_task:
    input:
        code=sources("prepare_task"),
    output:
        examples="results/{run}/tuning/examples/{task}.parquet",
        report="results/{run}/tuning/examples/{task}.json",
    log:
        "results/{run}/logs/fetch_task/{task}.log",
    benchmark:
        "results/{run}/benchmarks/fetch_task/{task}.tsv"
    wildcard_constraints:
        task=one_of([name for name in TASKS if TASKS[name].kind == "harness"]),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        settings=lambda wildcards: task_settings(wildcards.task),
    shell:
        "python {input.code[0]} --name {wildcards.task:q} --settings {params.settings:q}"
        " --output {output.examples:q} --report {output.report:q} --log {log:q}"


rule tune_model:
    input:
        code=sources("tune_model"),
        model="results/{run}/models/{model}/model.json",
        examples="results/{run}/tuning/examples/{task}.parquet",
    output:
        outcomes="results/{run}/tuning/{task}/{model}.parquet",
        report="results/{run}/tuning/{task}/{model}.json",
        curve="results/{run}/tuning/{task}/{model}.csv",
    log:
        "results/{run}/logs/tune_model/{task}.{model}.log",
    benchmark:
        "results/{run}/benchmarks/tune_model/{task}.{model}.tsv"
    wildcard_constraints:
        task=one_of(TASKS),
        model=one_of(TUNED_MODELS),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(16000),
        runtime=grow(720),
        gpu=1,
    params:
        settings=lambda wildcards: tuning_settings(wildcards.task),
    shell:
        "python {input.code[0]} --name {wildcards.task:q} --model {input.model:q}"
        " --examples {input.examples:q} --settings {params.settings:q} --output {output.outcomes:q}"
        " --report {output.report:q} --curve {output.curve:q} --log {log:q}"


rule gather_tuning:
    input:
        code=sources("gather_tuning"),
        reports=tunings(".json"),
        outcomes=tunings(".parquet"),
    output:
        scores=directory("results/{run}/tuning/scores"),
        table=report(
            "results/{run}/tuning.csv",
            caption="../report/tuning.rst",
            category="Rankings",
            labels={"table": "before and after tuning"},
        ),
    log:
        "results/{run}/logs/gather_tuning.log",
    benchmark:
        "results/{run}/benchmarks/gather_tuning.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings("train_before_test"),
        reports=list_options("reports", product(TUNED_MODELS, TASKS), tunings(".json")),
        outcomes=list_options(
            "outcomes", product(TUNED_MODELS, TASKS), tunings(".parquet")
        ),
    shell:
        "python {input.code[0]} {params.reports} {params.outcomes} --settings {params.settings:q}"
        " --output {output.scores} --table {output.table} --log {log}"


if CONFIG.scores is not None or TASKS:

    rule read_score_folder:
        input:
            code=sources("read_score_folder"),
            scores=SCORE_FILES or rules.gather_tuning.output.scores,
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
            scores=CONFIG.scores or f"results/{RUN}/tuning/scores",
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
