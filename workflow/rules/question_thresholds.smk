"""Models answer questions with other thresholds: those of several t_d, with the records that several t_c keep.

In:  <results>/questions/{set}/{questions.parquet,chunks.parquet,chunks.npy,percentiles-map.parquet,
     percentiles-questions.parquet,percentiles-questions.npy,answers/}, <results>/models/{model}/model.json
Out: <results>/questions/{set}/{correlations-records.parquet,thresholds/}, <results>/question-thresholds.csv
"""

OF_THRESHOLDS = (
    "questions.parquet",
    "percentiles-questions.parquet",
    "percentiles-questions.npy",
    "chunks.parquet",
    "chunks.npy",
    "correlations-records.parquet",
    "answers/{model}.parquet",
)
"""Files that a model answers from, set by set."""
ANSWERED_BY = [
    (name, model)
    for model in CONFIG.coverage.evaluation.models
    for name in CONFIG.coverage.questions
]
"""Sets and models, in the order of the tables of answers."""


rule vary_records:
    input:
        code=sources("vary_records"),
        chunks="<results>/questions/{set}/chunks.parquet",
        embeddings="<results>/questions/{set}/chunks.npy",
    output:
        records="<results>/questions/{set}/correlations-records.parquet",
    log:
        "<logs>/vary_records/{set}.log",
    benchmark:
        "<timings>/vary_records/{set}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        settings=settings.of_correlations(),
    shell:
        "python {input.code[0]:q} --chunks {input.chunks:q} --embeddings {input.embeddings:q}"
        " --settings {params.settings:q} --threads {threads} --output {output.records:q} --log {log:q}"


# one load of a model for all sets
rule answer_thresholds:
    input:
        code=sources("answer_thresholds"),
        model=pointer,
        weights=own_weights,
        files=[path for name in OF_THRESHOLDS for path in of_sets(name)],
        proofs=of_sets("proof.json"),
    output:
        answers=of_sets("thresholds/{model}.parquet"),
    log:
        "<logs>/answer_thresholds/{model}.log",
    benchmark:
        "<timings>/answer_thresholds/{model}.tsv"
    wildcard_constraints:
        model=one_of(CONFIG.coverage.evaluation.models),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=needs.of("answer_thresholds", "host_mb"),
        runtime=needs.of("answer_thresholds", "minutes"),
        gpu=needs.of("answer_thresholds", "gpus"),
        gpu_mem_mb=needs.of("answer_thresholds", "gpu_mb"),
        gpu_model=needs.of("answer_thresholds", "model"),
    params:
        model=lambda wildcards: OUTPUTS.name_pointer(wildcards.model),
        settings=settings.of_threshold_answers(),
        finished=finished("thresholds"),
        questions=lambda wildcards, input, output: list_options(
            "questions",
            [
                (name, *input.files[place :: len(CONFIG.coverage.questions)])
                for place, name in enumerate(CONFIG.coverage.questions)
            ],
            output.answers,
        ),
    shell:
        "python {input.code[0]:q} --model {params.model:q} {params.questions} --finished {params.finished:q}"
        " --settings {params.settings:q} --threads {threads} --gpus {resources.gpu} --log {log:q}"


rule score_thresholds:
    input:
        code=sources("score_thresholds"),
        questions=of_sets("percentiles-questions.parquet"),
        maps=of_sets("percentiles-map.parquet"),
        corpora=of_sets("correlations-records.parquet"),
        answers=[
            path
            for model in CONFIG.coverage.evaluation.models
            for path in of_sets(f"answers/{model}.parquet")
        ],
        others=[
            path
            for model in CONFIG.coverage.evaluation.models
            for path in of_sets(f"thresholds/{model}.parquet")
        ],
    output:
        scores="<results>/question-thresholds.csv",
    log:
        "<logs>/score_thresholds.log",
    benchmark:
        "<timings>/score_thresholds.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of("summary"),
        questions=lambda wildcards, input: list_options(
            "questions",
            zip(CONFIG.coverage.questions, input.questions, input.maps),
            input.corpora,
        ),
        answers=lambda wildcards, input: list_options(
            "answers",
            [
                (*where, path)
                for where, path in zip(ANSWERED_BY, input.answers, strict=True)
            ],
            input.others,
        ),
    shell:
        "python {input.code[0]:q} {params.questions} {params.answers} --settings {params.settings:q}"
        " --output {output.scores:q} --log {log:q}"
