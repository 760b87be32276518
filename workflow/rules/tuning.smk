"""Train before test: the same preparation for every model, then its scores."""


rule prepare_task:
    input:
        source=jobs.find_task_source,
        overlap=jobs.find_task_overlap,
    output:
        examples=paths.TASK_EXAMPLES,
        report=paths.TASK_EXAMPLES.ending(".json"),
    log:
        "<logs>/prepare_task/{task}.log",
    benchmark:
        "<timings>/prepare_task/{task}.tsv"
    wildcard_constraints:
        task=one_of(
            [name for name, task in INPUTS.tasks.items() if task.kind != "harness"]
        ),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program(
            "prepare_task", settings=lambda wildcards: settings.of_task(wildcards.task)
        ),
    shell:
        CALL


localrules:
    fetch_task,


rule fetch_task:
    output:
        examples=paths.TASK_EXAMPLES,
        report=paths.TASK_EXAMPLES.ending(".json"),
    log:
        "<logs>/fetch_task/{task}.log",
    benchmark:
        "<timings>/fetch_task/{task}.tsv"
    wildcard_constraints:
        task=one_of(
            [name for name, task in INPUTS.tasks.items() if task.kind == "harness"]
        ),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=minutes(240),
    params:
        **program(
            "prepare_task", settings=lambda wildcards: settings.of_task(wildcards.task)
        ),
    shell:
        CALL


rule tune_model:
    input:
        model=paths.POINTER,
        weights=jobs.find_weights,
        examples=paths.TASK_EXAMPLES,
    output:
        outcomes=paths.TUNED,
        report=paths.TUNED.ending(".json"),
        curve=paths.TUNED.ending(".csv"),
    log:
        "<logs>/tune_model/{task}.{model}.log",
    benchmark:
        "<timings>/tune_model/{task}.{model}.tsv"
    wildcard_constraints:
        task=one_of(INPUTS.tasks),
        model=one_of(INPUTS.tuned_models),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        **needs.ask("tune_model"),
    params:
        **program(
            "tune_model", settings=lambda wildcards: settings.of_tuning(wildcards.task)
        ),
    shell:
        CALL


use rule tune_model as tune_preparation with:
    output:
        outcomes=paths.PREPARED,
        report=paths.PREPARED.ending(".json"),
        curve=paths.PREPARED.ending(".csv"),
    log:
        "<logs>/tune_preparation/{preparation}.{task}.{model}.log",
    benchmark:
        "<timings>/tune_preparation/{preparation}.{task}.{model}.tsv"
    wildcard_constraints:
        preparation=one_of(OUTPUTS.preparations),
        task=one_of(INPUTS.tasks),
        model=one_of(INPUTS.tuned_models),
    params:
        **program(
            "tune_model",
            settings=lambda wildcards: settings.of_tuning(
                wildcards.task, wildcards.preparation
            ),
        ),


rule gather_tuning:
    input:
        reports=OUTPUTS.name_tuned(".json"),
        outcomes=OUTPUTS.name_tuned(".parquet"),
    output:
        scores=directory(paths.TUNED_SCORES),
        table=paths.TUNING,
    log:
        "<logs>/gather_tuning.log",
    benchmark:
        "<timings>/gather_tuning.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program("gather_tuning"),
    shell:
        CALL
