"""Models: trained here, adapted here, or fetched."""

TRAINED, ADAPTED = CONFIG.models.train, CONFIG.models.adapted
IN_STEPS = {model for model, _ in CONFIG.models.checkpoints.values()}


rule train_tokenizer:
    input:
        texts=lambda wildcards: OUTPUTS.texts.find(wildcards.model),
    output:
        tokenizer=directory(paths.TOKENIZER),
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
        mem_mb=grow(4000 + needs.text_mb),
        runtime=minutes(30),
    params:
        **program(
            "train_tokenizer",
            settings=lambda wildcards: settings.of_tokenizer(wildcards.model),
        ),
    shell:
        CALL


rule train_model:
    input:
        texts=lambda wildcards: OUTPUTS.texts.find(wildcards.model),
        tokenizer=paths.TOKENIZER,
    output:
        weights=directory(paths.WEIGHTS),
        pointer=paths.POINTER,
        curve=paths.CURVE,
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
        **needs.ask("train_model"),
    params:
        **program(
            "train_model",
            settings=lambda wildcards: settings.of_training(wildcards.model),
        ),
    shell:
        CALL


rule adapt_model:
    input:
        base=lambda wildcards: paths.POINTER.of(model=ADAPTED[wildcards.model][0]),
        base_weights=lambda wildcards: [
            ancient(path) for path in OUTPUTS.find_weights(ADAPTED[wildcards.model][0])
        ],
        texts=lambda wildcards: OUTPUTS.texts.find(wildcards.model),
    output:
        weights=directory(paths.WEIGHTS),
        pointer=paths.POINTER,
        curve=paths.CURVE,
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
        **needs.ask("adapt_model"),
    params:
        **program(
            "adapt_model",
            settings=lambda wildcards: settings.of_adaptation(wildcards.model),
        ),
    shell:
        CALL_WITH_GPUS


# all checkpoints lie in one folder: the number of a rule's outputs is fixed
use rule adapt_model as adapt_in_steps with:
    output:
        weights=directory(paths.WEIGHTS),
        pointer=paths.POINTER,
        curve=paths.CURVE,
        checkpoints=temp(directory(paths.CHECKPOINTS)),
    log:
        "<logs>/adapt_in_steps/{model}.log",
    benchmark:
        "<timings>/adapt_in_steps/{model}.tsv"
    wildcard_constraints:
        model=one_of(sorted(IN_STEPS)),


localrules:
    fetch_model,
    fetch_weights,
    fetch_tokenizer,


rule fetch_model:
    input:
        weights=jobs.find_weights,
    output:
        pointer=paths.POINTER,
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
        **fetcher("fetch_model", registry=jobs.find_registry),
        entry=jobs.find_entry,
    shell:
        CALL


rule fetch_weights:
    input:
        # the jobs after which there is room on the disk
        before=lambda wildcards: [
            ancient(path) for path in OUTPUTS.list_before(wildcards.model)
        ],
    output:
        weights=(
            temp(directory(paths.WEIGHTS))
            if CONFIG.models.on_disk
            else directory(paths.WEIGHTS)
        ),
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
        **fetcher("fetch_weights", registry=jobs.find_registry),
        entry=jobs.find_entry,
    shell:
        CALL


rule fetch_tokenizer:
    output:
        tokenizer=directory(paths.TOKENIZER),
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
    params:
        **fetcher("fetch_tokenizer", registry=jobs.find_registry),
        entry=jobs.find_entry,
    shell:
        CALL
