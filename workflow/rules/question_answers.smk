"""Models answer questions about records: their answers, scores, and the text of the questions to learn from."""


# a part of each set stays unasked: examples of few-shot prompts, and training text
rule write_question_texts:
    input:
        questions=paths.QUESTIONS,
        proof=paths.PROOF,
        chunks=paths.CHUNKS,
    output:
        record_texts=paths.QUESTION_TEXTS.of(kind="records"),
        question_texts=paths.QUESTION_TEXTS.of(kind="questions"),
    log:
        "<logs>/write_question_texts/{set}.log",
    benchmark:
        "<timings>/write_question_texts/{set}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program("write_question_texts", settings=settings.of_shown_questions()),
    shell:
        CALL


rule vary_records:
    input:
        chunks=paths.CHUNKS,
        embeddings=paths.CHUNK_VECTORS,
    output:
        records=paths.RECORD_CORPORA,
    log:
        "<logs>/vary_records/{set}.log",
    benchmark:
        "<timings>/vary_records/{set}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        **program("vary_records", settings=settings.of_correlations()),
    shell:
        CALL_WITH_THREADS


# one load of a model for all sets
rule answer_questions:
    input:
        model=jobs.find_pointer,
        weights=jobs.find_weights,
        questions=OUTPUTS.of_sets(paths.QUESTIONS),
        proofs=OUTPUTS.of_sets(paths.PROOF),
        vectors=OUTPUTS.of_sets(paths.QUESTION_VECTORS),
        chunks=OUTPUTS.of_sets(paths.CHUNKS),
        embeddings=OUTPUTS.of_sets(paths.CHUNK_VECTORS),
        others=OUTPUTS.of_varied(paths.PERCENTILE_QUESTIONS),
        vectors_of_others=OUTPUTS.of_varied(paths.PERCENTILE_VECTORS),
        corpora=OUTPUTS.of_varied(paths.RECORD_CORPORA),
    output:
        answers=OUTPUTS.of_sets(paths.QUESTION_ANSWERS),
        reports=OUTPUTS.of_sets(paths.QUESTION_ANSWERS.ending(".json")),
    log:
        "<logs>/answer_questions/{model}.log",
    benchmark:
        "<timings>/answer_questions/{model}.tsv"
    wildcard_constraints:
        model=one_of(
            name
            for name in CONFIG.coverage.evaluation.models
            if name not in CONFIG.models.speaking
        ),
    priority: 1
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        **needs.ask("answer_questions"),
    params:
        **program(
            "answer_questions",
            model=jobs.name_pointer,
            finished=jobs.keep_finished("answers"),
            settings=settings.of_answers(),
        ),
    shell:
        CALL_ON_GPUS


localrules:
    answer_questions_served,


# local: compute nodes may have no network
use rule answer_questions as answer_questions_served with:
    input:
        questions=OUTPUTS.of_sets(paths.QUESTIONS),
        proofs=OUTPUTS.of_sets(paths.PROOF),
        vectors=OUTPUTS.of_sets(paths.QUESTION_VECTORS),
        chunks=OUTPUTS.of_sets(paths.CHUNKS),
        embeddings=OUTPUTS.of_sets(paths.CHUNK_VECTORS),
        others=OUTPUTS.of_varied(paths.PERCENTILE_QUESTIONS),
        vectors_of_others=OUTPUTS.of_varied(paths.PERCENTILE_VECTORS),
        corpora=OUTPUTS.of_varied(paths.RECORD_CORPORA),
    log:
        "<logs>/answer_questions_served/{model}.log",
    benchmark:
        "<timings>/answer_questions_served/{model}.tsv"
    wildcard_constraints:
        model=one_of(CONFIG.answering_speakers),
    params:
        **program(
            "answer_questions",
            finished=jobs.keep_finished("answers"),
            settings=lambda wildcards: settings.of_spoken_answers(wildcards.model),
        ),


rule score_answers:
    input:
        questions=OUTPUTS.of_sets(paths.QUESTIONS),
        answers=[
            path
            for model in CONFIG.coverage.evaluation.models
            for path in OUTPUTS.of_sets(paths.QUESTION_ANSWERS.of(model=model))
        ],
        others=OUTPUTS.of_varied(paths.PERCENTILE_QUESTIONS),
        maps=OUTPUTS.of_varied(paths.PERCENTILE_MAP),
        corpora=OUTPUTS.of_varied(paths.RECORD_CORPORA),
    output:
        scores=paths.QUESTION_SCORES,
        differences=paths.QUESTION_DIFFERENCES,
        thresholds=(
            [paths.QUESTION_THRESHOLDS] if CONFIG.coverage.scores_thresholds else []
        ),
    log:
        "<logs>/score_answers.log",
    benchmark:
        "<timings>/score_answers.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program("score_answers", bases=RUN.comparing.bases),
    shell:
        CALL
