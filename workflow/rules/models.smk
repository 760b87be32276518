"""Models: trained here, adapted here, or fetched.

In:  <results>/corpus/texts/{domain}.parquet, config/models.tsv
Out: <results>/models/{model}/model.json; tokenizer/, weights/, training.csv of a model that is made here;
     checkpoints/ of one that is followed while it learns, until they are scored
"""

TRAINED, ADAPTED = CONFIG.models.train, CONFIG.models.adapted
IN_STEPS = {model for model, _ in CONFIG.models.checkpoints.values()}


rule train_tokenizer:
    input:
        code=sources("train_tokenizer"),
        texts=lambda wildcards: OUTPUTS.texts.find(wildcards.model),
    output:
        tokenizer=directory("<results>/models/{model}/tokenizer"),
    log:
        "<logs>/train_tokenizer/{model}.log",
    benchmark:
        "<timings>/train_tokenizer/{model}.tsv"
    wildcard_constraints:
        model=one_of(TRAINED),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(30),
    params:
        settings=lambda wildcards: settings.of_tokenizer(wildcards.model),
    shell:
        "python {input.code[0]:q} --texts {input.texts:q} --settings {params.settings:q}"
        " --output {output.tokenizer:q} --log {log:q}"


rule train_model:
    input:
        code=sources("train_model"),
        texts=lambda wildcards: OUTPUTS.texts.find(wildcards.model),
        tokenizer="<results>/models/{model}/tokenizer",
    output:
        weights=directory("<results>/models/{model}/weights"),
        pointer="<results>/models/{model}/model.json",
        curve="<results>/models/{model}/training.csv",
    log:
        "<logs>/train_model/{model}.log",
    benchmark:
        "<timings>/train_model/{model}.tsv"
    wildcard_constraints:
        model=one_of(TRAINED),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=needs.of("train_model", "host_mb"),
        runtime=needs.of("train_model", "minutes"),
        gpu=needs.of("train_model", "gpus"),
        gpu_mem_mb=needs.of("train_model", "gpu_mb"),
        gpu_model=needs.of("train_model", "model"),
    params:
        settings=lambda wildcards: settings.of_training(wildcards.model),
    shell:
        "python {input.code[0]:q} --texts {input.texts:q} --tokenizer {input.tokenizer:q}"
        " --name {wildcards.model:q} --settings {params.settings:q} --output {output.weights:q}"
        " --pointer {output.pointer:q} --curve {output.curve:q} --log {log:q}"


rule adapt_model:
    input:
        code=sources("adapt_model"),
        model=lambda wildcards: f"<results>/models/{ADAPTED[wildcards.model][0]}/model.json",
        texts=lambda wildcards: OUTPUTS.texts.find(wildcards.model),
    output:
        weights=directory("<results>/models/{model}/weights"),
        pointer="<results>/models/{model}/model.json",
        curve="<results>/models/{model}/training.csv",
    log:
        "<logs>/adapt_model/{model}.log",
    benchmark:
        "<timings>/adapt_model/{model}.tsv"
    wildcard_constraints:
        model=one_of(model for model in ADAPTED if model not in IN_STEPS),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=needs.of("adapt_model", "host_mb"),
        runtime=needs.of("adapt_model", "minutes"),
        gpu=needs.of("adapt_model", "gpus"),
        gpu_mem_mb=needs.of("adapt_model", "gpu_mb"),
        gpu_model=needs.of("adapt_model", "model"),
    params:
        settings=lambda wildcards: settings.of_adaptation(wildcards.model),
        checkpoints="",
    shell:
        "python {input.code[0]:q} --model {input.model:q} --texts {input.texts:q}"
        " --gpus {resources.gpu} --name {wildcards.model:q} --settings {params.settings:q} --output {output.weights:q}"
        " --pointer {output.pointer:q} --curve {output.curve:q} {params.checkpoints} --log {log:q}"


# all checkpoints lie in one folder: the number of a rule's outputs is fixed
use rule adapt_model as adapt_in_steps with:
    output:
        weights=directory("<results>/models/{model}/weights"),
        pointer="<results>/models/{model}/model.json",
        curve="<results>/models/{model}/training.csv",
        checkpoints=temp(directory("<results>/models/{model}/checkpoints")),
    log:
        "<logs>/adapt_in_steps/{model}.log",
    benchmark:
        "<timings>/adapt_in_steps/{model}.tsv"
    wildcard_constraints:
        model=one_of(sorted(IN_STEPS)),
    params:
        checkpoints=lambda wildcards, output: f"--checkpoints {output.checkpoints}",


localrules:
    fetch_model,
    fetch_weights,
    fetch_tokenizer,


rule fetch_model:
    input:
        code=fetched_once(sources("fetch_model")),
        registry=ancient(own(CONFIG.models.registry)),
        weights=own_weights,
    output:
        pointer="<results>/models/{model}/model.json",
    log:
        "<logs>/fetch_model/{model}.log",
    benchmark:
        "<timings>/fetch_model/{model}.tsv"
    wildcard_constraints:
        model=one_of(OUTPUTS.fetched_models),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        entry=entry_of,
        weights=lambda wildcards, input: (
            f"--weights {input.weights}" if input.weights else ""
        ),
    shell:
        "python {input.code[0]:q} --name {wildcards.model:q} --registry {input.registry:q} {params.weights}"
        " --pointer {output.pointer:q} --log {log:q}"


rule fetch_weights:
    input:
        code=fetched_once(sources("fetch_weights")),
        registry=ancient(own(CONFIG.models.registry)),
        # the jobs after which there is room on the disk
        before=lambda wildcards: [
            ancient(path) for path in OUTPUTS.list_before(wildcards.model)
        ],
    output:
        weights=temp(directory("<results>/models/{model}/weights")),
    log:
        "<logs>/fetch_weights/{model}.log",
    benchmark:
        "<timings>/fetch_weights/{model}.tsv"
    wildcard_constraints:
        model=one_of(OUTPUTS.fetched_weights),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        entry=entry_of,
    shell:
        "python {input.code[0]:q} --name {wildcards.model:q} --registry {input.registry:q}"
        " --output {output.weights:q} --log {log:q}"


rule fetch_tokenizer:
    input:
        code=sources("fetch_tokenizer"),
        registry=own(CONFIG.models.registry),
    output:
        tokenizer=directory("<results>/models/{model}/tokenizer"),
    log:
        "<logs>/fetch_tokenizer/{model}.log",
    benchmark:
        "<timings>/fetch_tokenizer/{model}.tsv"
    wildcard_constraints:
        model=one_of(OUTPUTS.fetched_tokenizers),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    shell:
        "python {input.code[0]:q} --name {wildcards.model:q} --registry {input.registry:q}"
        " --output {output.tokenizer:q} --log {log:q}"
