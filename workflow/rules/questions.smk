"""Questions about records, from templates and queries, round by round, and their proof."""


def look_up_questions():
    """Return the files of all sets of questions; stop before any job with one clear message if one is missing."""
    try:
        return recall(
            "questions",
            dict[str, QuestionFiles],
            lambda: find_question_files(CONFIG, ROOT),
        )
    except InputError as error:
        stop(error)


QUESTION_FILES = look_up_questions()
WRITERS = {
    name: chosen.writer
    for name, chosen in CONFIG.coverage.questions.items()
    if chosen.writer
}


def of_questions(what, take=outside):
    """Return an input: files of a set of questions, or one of them; small ones are shipped."""

    def find(wildcards):
        found = getattr(QUESTION_FILES[wildcards.set], what)
        return (
            [take(path) for path in found] if isinstance(found, list) else take(found)
        )

    return find


def of_joining_pairs(wildcards):
    """Return the tables of pairs that may join a set of questions."""
    return paths.PAIRS.of_each(QUESTION_FILES[wildcards.set].pairs)


def of_sets(path):
    """Return a file of each set of questions."""
    return [path.of(set=name) for name in CONFIG.coverage.questions]


def of_users(wildcards):
    """Return files of open questions: that people asked, and that a model wrote."""
    found = of_questions("users", ship)(wildcards)
    written = paths.WRITTEN.of(set=wildcards.set)
    return [*found, written] if wildcards.set in WRITERS else found


def of_writer(name):
    """Return a resource of the job in which a model writes questions."""

    def find(wildcards, attempt):
        model = WRITERS[wildcards.set]
        return needs.of_all("answer_questions", [model], name)(wildcards, attempt)

    return find


wildcard_constraints:
    set=one_of(CONFIG.coverage.questions),


rule build_ontology:
    input:
        source=of_questions("source"),
        tables=of_questions("tables"),
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
        runtime=grow(60),
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
        embedder=FETCHED_EMBEDDER,
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
        runtime=grow(120),
    params:
        **program(
            "embed_records",
            settings=lambda wildcards: settings.of_records(wildcards.set),
        ),
    shell:
        CALL


rule write_open_questions:
    input:
        model=lambda wildcards: OUTPUTS.find_pointer(WRITERS[wildcards.set]),
        weights=lambda wildcards: [
            ancient(path) for path in OUTPUTS.find_weights(WRITERS[wildcards.set])
        ],
        chunks=paths.CHUNKS,
    output:
        questions=paths.WRITTEN,
        faults=paths.WRITTEN_FAULTS,
    log:
        "<logs>/write_open_questions/{set}.log",
    benchmark:
        "<timings>/write_open_questions/{set}.tsv"
    wildcard_constraints:
        set=one_of(WRITERS),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=of_writer("host_mb"),
        runtime=of_writer("minutes"),
        gpu=of_writer("gpus"),
        gpu_mem_mb=of_writer("gpu_mb"),
        gpu_model=of_writer("model"),
    params:
        **program(
            "write_open_questions",
            count=lambda wildcards: CONFIG.coverage.questions[wildcards.set].written,
            settings=settings.of("scoring"),
        ),
    shell:
        CALL_ON_GPUS


rule ask_questions:
    input:
        embedder=FETCHED_EMBEDDER,
        statements=paths.ONTOLOGY,
        entities=paths.ENTITIES,
        chunks=paths.CHUNKS,
        embeddings=paths.CHUNK_VECTORS,
        templates=of_questions("templates", ship),
        users=of_users,
        pairs=of_joining_pairs,
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
        runtime=grow(120),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        **program(
            "ask_questions",
            # no output: what Snakemake deletes after a failure could not be resumed
            rounds=lambda output: f"{Path(output.report).parent}/rounds",
            settings=lambda wildcards: settings.of_questions(wildcards.set),
        ),
    shell:
        CALL_WITH_THREADS


rule vary_percentile:
    input:
        embedder=FETCHED_EMBEDDER,
        statements=paths.ONTOLOGY,
        entities=paths.ENTITIES,
        chunks=paths.CHUNKS,
        embeddings=paths.CHUNK_VECTORS,
        templates=of_questions("templates", ship),
        users=of_users,
        pairs=of_joining_pairs,
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
        runtime=grow(240),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        **program(
            "vary_percentile",
            settings=lambda wildcards: settings.of_percentiles(wildcards.set),
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
        runtime=grow(60),
    params:
        **program("prove_questions"),
    shell:
        CALL


rule export_questions:
    input:
        questions=paths.QUESTIONS,
        # none that are not proved
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
        runtime=grow(20),
    params:
        **program("export_questions"),
    shell:
        CALL
