"""Models answer questions about records: their answers, scores, and the text of the questions to learn from.

In:  <results>/questions/{set}/{questions.parquet,proof.json,chunks.parquet,chunks.npy,questions.npy},
     <results>/models/{model}/model.json
     with other thresholds <results>/questions/{set}/percentiles-{map.parquet,questions.parquet,questions.npy}
Out: <results>/questions/{set}/{texts/,answers/}, <results>/question-{scores,differences}.csv, with other
     thresholds <results>/questions/{set}/correlations-records.parquet and <results>/question-thresholds.csv
"""

VARIED = [*CONFIG.coverage.questions] if CONFIG.coverage.scores_thresholds else []
"""Sets that models answer with other thresholds, too."""


def of_varied(path):
    """Return a file of each set that models answer with other thresholds."""
    return of_sets(path) if VARIED else []


# a part of each set stays unasked: examples of few-shot prompts, and training text
rule write_question_texts:
    input:
        code=sources("write_question_texts"),
        questions="<results>/questions/{set}/questions.parquet",
        proof="<results>/questions/{set}/proof.json",
        chunks="<results>/questions/{set}/chunks.parquet",
    output:
        records="<results>/questions/{set}/texts/records.parquet",
        questions="<results>/questions/{set}/texts/questions.parquet",
    log:
        "<logs>/write_question_texts/{set}.log",
    benchmark:
        "<timings>/write_question_texts/{set}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of_shown_questions(),
    shell:
        "python {input.code[0]:q} --questions {input.questions:q} --chunks {input.chunks:q}"
        " --record-texts {output.records:q} --question-texts {output.questions:q}"
        " --settings {params.settings:q} --log {log:q}"


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
rule answer_questions:
    input:
        code=sources("answer_questions"),
        model=pointer,
        weights=own_weights,
        questions=of_sets("questions.parquet"),
        proofs=of_sets("proof.json"),
        vectors=of_sets("questions.npy"),
        chunks=of_sets("chunks.parquet"),
        embeddings=of_sets("chunks.npy"),
        others=of_varied("percentiles-questions.parquet"),
        vectors_of_others=of_varied("percentiles-questions.npy"),
        corpora=of_varied("correlations-records.parquet"),
    output:
        answers=of_sets("answers/{model}.parquet"),
        reports=of_sets("answers/{model}.json"),
    log:
        "<logs>/answer_questions/{model}.log",
    benchmark:
        "<timings>/answer_questions/{model}.tsv"
    wildcard_constraints:
        model=one_of(CONFIG.coverage.evaluation.models),
    priority: 1
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=needs.of("answer_questions", "host_mb"),
        runtime=needs.of("answer_questions", "minutes"),
        gpu=needs.of("answer_questions", "gpus"),
        gpu_mem_mb=needs.of("answer_questions", "gpu_mb"),
        gpu_model=needs.of("answer_questions", "model"),
    params:
        model=lambda wildcards: OUTPUTS.name_pointer(wildcards.model),
        settings=settings.of_answers(),
        finished=finished("answers"),
        questions=lambda wildcards, input, output: list_options(
            "questions",
            zip(
                CONFIG.coverage.questions,
                input.questions,
                input.vectors,
                input.chunks,
                input.embeddings,
            ),
            output.answers,
        ),
        thresholds=lambda wildcards, input: list_options(
            "thresholds",
            zip(VARIED, input.others, input.vectors_of_others),
            input.corpora,
        ),
    shell:
        "python {input.code[0]:q} --model {params.model:q} {params.questions} {params.thresholds}"
        " --finished {params.finished:q} --settings {params.settings:q} --threads {threads} --gpus {resources.gpu} --log {log:q}"


rule score_answers:
    input:
        code=sources("score_answers"),
        questions=of_sets("questions.parquet"),
        answers=[
            path
            for model in CONFIG.coverage.evaluation.models
            for path in of_sets(f"answers/{model}.parquet")
        ],
        others=of_varied("percentiles-questions.parquet"),
        maps=of_varied("percentiles-map.parquet"),
        corpora=of_varied("correlations-records.parquet"),
    output:
        scores="<results>/question-scores.csv",
        differences="<results>/question-differences.csv",
        thresholds=["<results>/question-thresholds.csv"] if VARIED else [],
    log:
        "<logs>/score_answers.log",
    benchmark:
        "<timings>/score_answers.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of("summary"),
        questions=options(
            "questions", [[name] for name in CONFIG.coverage.questions], "questions"
        ),
        answers=options(
            "answers",
            [
                (name, model)
                for model in CONFIG.coverage.evaluation.models
                for name in CONFIG.coverage.questions
            ],
            "answers",
        ),
        bases=repeat_option("base", COMPARING.bases),
        thresholds=lambda wildcards, input, output: " ".join(
            [
                list_options(
                    "thresholds", zip(VARIED, input.others, input.maps), input.corpora
                ),
                *(f"--threshold-scores {path}" for path in output.thresholds),
            ]
        ),
    shell:
        "python {input.code[0]:q} {params.questions} {params.answers} {params.bases} {params.thresholds}"
        " --settings {params.settings:q}"
        " --output {output.scores:q} --differences {output.differences:q} --log {log:q}"
