"""Questions about records, from templates and queries, round by round, and their proof."""


wildcard_constraints:
    set=one_of(CONFIG.coverage.questions),


rule build_ontology:
    input:
        source=jobs.find_questions("source"),
        tables=jobs.find_questions("tables"),
    output:
        statements=paths.ONTOLOGY,
        entities=paths.ENTITIES,
        report=paths.ONTOLOGY.ending(".json"),
    log:
        "<logs>/build_ontology/{set}.log",
    benchmark:
        "<timings>/build_ontology/{set}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program(
            "build_ontology",
            tables=lambda wildcards, input: input.source if input.tables else None,
            metadata=lambda wildcards, input: None if input.tables else input.source,
            settings=lambda wildcards: settings.of_ontology(wildcards.set),
        ),
    shell:
        CALL


rule embed_records:
    input:
        embedder=RUN.fetched_embedder,
        entities=paths.ENTITIES,
    output:
        chunks=paths.CHUNKS,
        embeddings=paths.CHUNK_VECTORS,
    log:
        "<logs>/embed_records/{set}.log",
    benchmark:
        "<timings>/embed_records/{set}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(120),
    params:
        **program(
            "embed_records",
            settings=lambda wildcards: settings.of_records(wildcards.set),
        ),
    shell:
        CALL


rule write_open_questions:
    input:
        model=jobs.find_writer,
        weights=jobs.find_writer_weights,
        chunks=paths.CHUNKS,
    output:
        questions=paths.WRITTEN,
        faults=paths.WRITTEN_FAULTS,
    log:
        "<logs>/write_open_questions/{set}.log",
    benchmark:
        "<timings>/write_open_questions/{set}.tsv"
    wildcard_constraints:
        set=one_of(RUN.writers),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        **jobs.ask_for_writer(),
    params:
        **program(
            "write_open_questions",
            count=lambda wildcards: CONFIG.coverage.questions[wildcards.set].written,
        ),
    shell:
        CALL_ON_GPUS


rule ask_questions:
    input:
        embedder=RUN.fetched_embedder,
        statements=paths.ONTOLOGY,
        entities=paths.ENTITIES,
        chunks=paths.CHUNKS,
        embeddings=paths.CHUNK_VECTORS,
        templates=jobs.find_questions("templates", small=True),
        users=jobs.find_open_questions,
        pairs=jobs.find_joining_pairs,
    output:
        questions=paths.QUESTIONS,
        vectors=paths.QUESTION_VECTORS,
        report=paths.QUESTIONS.ending(".json"),
    log:
        "<logs>/ask_questions/{set}.log",
    benchmark:
        "<timings>/ask_questions/{set}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(6000),
        runtime=minutes(120),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        **program(
            "ask_questions",
            # not an output: Snakemake would delete it after a failure, and nothing could be resumed
            rounds=lambda output: f"{Path(output.report).parent}/rounds",
            settings=lambda wildcards: settings.of_questions(wildcards.set),
        ),
    shell:
        CALL_WITH_THREADS


rule vary_percentile:
    input:
        embedder=RUN.fetched_embedder,
        statements=paths.ONTOLOGY,
        entities=paths.ENTITIES,
        chunks=paths.CHUNKS,
        embeddings=paths.CHUNK_VECTORS,
        templates=jobs.find_questions("templates", small=True),
        users=jobs.find_open_questions,
        pairs=jobs.find_joining_pairs,
    output:
        thresholds=paths.PERCENTILES,
        map=paths.PERCENTILE_MAP,
        questions=paths.PERCENTILE_QUESTIONS,
        vectors=paths.PERCENTILE_VECTORS,
    log:
        "<logs>/vary_percentile/{set}.log",
    benchmark:
        "<timings>/vary_percentile/{set}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(6000),
        runtime=minutes(240),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        **program(
            "vary_percentile",
            settings=lambda wildcards: settings.of_questions(
                wildcards.set, "ablation"
            ),
        ),
    shell:
        CALL_WITH_THREADS


rule prove_questions:
    input:
        questions=paths.QUESTIONS,
        statements=paths.ONTOLOGY,
    output:
        proof=paths.PROOF,
    log:
        "<logs>/prove_questions/{set}.log",
    benchmark:
        "<timings>/prove_questions/{set}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program("prove_questions"),
    shell:
        CALL


rule export_questions:
    input:
        questions=paths.QUESTIONS,
        # only proved ones
        proof=paths.PROOF,
        vectors=paths.QUESTION_VECTORS,
        chunks=paths.CHUNKS,
        embeddings=paths.CHUNK_VECTORS,
    output:
        tasks=directory(paths.QUESTION_TASKS),
    log:
        "<logs>/export_questions/{set}.log",
    benchmark:
        "<timings>/export_questions/{set}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program("export_questions"),
    shell:
        CALL
