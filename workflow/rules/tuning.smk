"""Train before test: the same preparation for every model, then its scores.

In:  <results>/{domain}/benchmark/{variant}/pairs.parquet, <results>/corpus/texts/{domain}.parquet,
     <results>/models/{model}/model.json
Out: <results>/tuning/{examples/{task}.parquet,{task}/{model}.parquet,scores/}, <results>/tuning.csv
"""


rule prepare_task:
    input:
        code=sources("prepare_task"),
        source=lambda wildcards: find_task_source(wildcards.task),
        overlap=lambda wildcards: find_task_overlap(wildcards.task),
    output:
        examples="<results>/tuning/examples/{task}.parquet",
        report="<results>/tuning/examples/{task}.json",
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
        runtime=grow(60),
    params:
        settings=lambda wildcards: settings.of_task(wildcards.task),
        overlap=lambda wildcards, input: (
            f"--overlap {input.overlap}" if input.overlap else ""
        ),
    shell:
        "python {input.code[0]:q} --name {wildcards.task:q} --source {input.source:q} {params.overlap}"
        " --settings {params.settings:q} --output {output.examples:q} --report {output.report:q}"
        " --log {log:q}"


localrules:
    fetch_task,


rule fetch_task:
    input:
        code=sources("prepare_task"),
    output:
        examples="<results>/tuning/examples/{task}.parquet",
        report="<results>/tuning/examples/{task}.json",
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
        runtime=240,
    params:
        settings=lambda wildcards: settings.of_task(wildcards.task),
    shell:
        "python {input.code[0]:q} --name {wildcards.task:q} --settings {params.settings:q}"
        " --output {output.examples:q} --report {output.report:q} --log {log:q}"


rule tune_model:
    input:
        code=sources("tune_model"),
        model="<results>/models/{model}/model.json",
        examples="<results>/tuning/examples/{task}.parquet",
    output:
        outcomes="<results>/tuning/{task}/{model}.parquet",
        report="<results>/tuning/{task}/{model}.json",
        curve="<results>/tuning/{task}/{model}.csv",
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
        mem_mb=needs.of("tune_model", "host_mb"),
        runtime=needs.of("tune_model", "minutes"),
        gpu=needs.of("tune_model", "gpus"),
        gpu_mem_mb=needs.of("tune_model", "gpu_mb"),
        gpu_model=needs.of("tune_model", "model"),
    params:
        settings=lambda wildcards: settings.of_tuning(wildcards.task),
    shell:
        "python {input.code[0]:q} --name {wildcards.task:q} --model {input.model:q}"
        " --examples {input.examples:q} --settings {params.settings:q} --output {output.outcomes:q}"
        " --report {output.report:q} --curve {output.curve:q} --log {log:q}"


use rule tune_model as tune_preparation with:
    output:
        outcomes="<results>/tuning/preparations/{preparation}/{task}/{model}.parquet",
        report="<results>/tuning/preparations/{preparation}/{task}/{model}.json",
        curve="<results>/tuning/preparations/{preparation}/{task}/{model}.csv",
    log:
        "<logs>/tune_preparation/{preparation}.{task}.{model}.log",
    benchmark:
        "<timings>/tune_preparation/{preparation}.{task}.{model}.tsv"
    wildcard_constraints:
        preparation=one_of(OUTPUTS.preparations),
        task=one_of(INPUTS.tasks),
        model=one_of(INPUTS.tuned_models),
    params:
        settings=lambda wildcards: settings.of_preparation(
            wildcards.task, wildcards.preparation
        ),


rule gather_tuning:
    input:
        code=sources("gather_tuning"),
        reports=OUTPUTS.name_tuned(".json"),
        outcomes=OUTPUTS.name_tuned(".parquet"),
    output:
        scores=directory("<results>/tuning/scores"),
        table="<results>/tuning.csv",
    log:
        "<logs>/gather_tuning.log",
    benchmark:
        "<timings>/gather_tuning.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of("train_before_test"),
        reports=options("reports", OUTPUTS.tuned, "reports"),
        outcomes=options("outcomes", OUTPUTS.tuned, "outcomes"),
    shell:
        "python {input.code[0]:q} {params.reports} {params.outcomes} --settings {params.settings:q}"
        " --output {output.scores} --table {output.table} --log {log}"
