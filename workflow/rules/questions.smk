"""Questions about records, from templates and queries, round by round, and their proof.

In:  tables or metadata, templates and open questions that `coverage.questions` names,
     <results>/{domain}/benchmark/{variant}/pairs.parquet
Out: <results>/questions/{set}/{ontology.nt,entities.parquet,ontology.json,chunks.parquet,chunks.npy,
     questions.parquet,questions.npy,questions.json,proof.json,lm-eval/}, and rounds/
"""


def look_up_questions():
    """Return the files of all sets of questions; stop before any job with one clear message if one is missing."""
    try:
        return find_question_files(CONFIG, ROOT)
    except InputError as error:
        stop(error)


QUESTION_FILES = look_up_questions()


def of_questions(what):
    """Return an input: files of a set of questions, or one of them."""

    def find(wildcards):
        found = getattr(QUESTION_FILES[wildcards.set], what)
        return (
            [outside(path) for path in found]
            if isinstance(found, list)
            else outside(found)
        )

    return find


wildcard_constraints:
    set=one_of(CONFIG.coverage.questions),


rule build_ontology:
    input:
        code=sources("build_ontology"),
        source=of_questions("source"),
        tables=of_questions("tables"),
    output:
        statements="<results>/questions/{set}/ontology.nt",
        entities="<results>/questions/{set}/entities.parquet",
        report="<results>/questions/{set}/ontology.json",
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
        settings=lambda wildcards: settings.of_ontology(wildcards.set),
        kind=lambda wildcards: (
            "--tables"
            if CONFIG.coverage.questions[wildcards.set].tables
            else "--metadata"
        ),
    shell:
        "python {input.code[0]:q} {params.kind} {input.source:q} --settings {params.settings:q} --statements {output.statements:q}"
        " --entities {output.entities:q} --report {output.report:q} --log {log:q}"


rule embed_records:
    input:
        code=sources("embed_records"),
        entities="<results>/questions/{set}/entities.parquet",
    output:
        chunks="<results>/questions/{set}/chunks.parquet",
        embeddings="<results>/questions/{set}/chunks.npy",
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
        settings=lambda wildcards: settings.of_records(wildcards.set),
    shell:
        "python {input.code[0]:q} --entities {input.entities:q} --settings {params.settings:q}"
        " --chunks {output.chunks:q} --embeddings {output.embeddings:q} --log {log:q}"


rule ask_questions:
    input:
        code=sources("ask_questions"),
        statements="<results>/questions/{set}/ontology.nt",
        entities="<results>/questions/{set}/entities.parquet",
        chunks="<results>/questions/{set}/chunks.parquet",
        embeddings="<results>/questions/{set}/chunks.npy",
        templates=of_questions("templates"),
        users=of_questions("users"),
        pairs=lambda wildcards: [
            f"<results>/{domain}/benchmark/{variant}/pairs.parquet"
            for domain, variant in QUESTION_FILES[wildcards.set].pairs
        ],
    output:
        questions="<results>/questions/{set}/questions.parquet",
        vectors="<results>/questions/{set}/questions.npy",
        report="<results>/questions/{set}/questions.json",
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
        settings=lambda wildcards: settings.of_questions(wildcards.set),
        pairs=lambda wildcards, input: list_options(
            "pairs",
            [["/".join(each)] for each in QUESTION_FILES[wildcards.set].pairs],
            input.pairs,
        ),
        # no output: what Snakemake deletes after a failure could not be gone on with
        rounds=lambda wildcards, output: f"{Path(output.report).parent}/rounds",
    shell:
        "python {input.code[0]:q} --statements {input.statements:q} --entities {input.entities:q}"
        " --chunks {input.chunks:q} --embeddings {input.embeddings:q} --templates {input.templates:q}"
        " --users {input.users:q} {params.pairs} --rounds {params.rounds:q}"
        " --settings {params.settings:q} --threads {threads} --output {output.questions:q}"
        " --vectors {output.vectors:q} --report {output.report:q} --log {log:q}"


rule prove_questions:
    input:
        code=sources("prove_questions"),
        questions="<results>/questions/{set}/questions.parquet",
        statements="<results>/questions/{set}/ontology.nt",
    output:
        proof="<results>/questions/{set}/proof.json",
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
    shell:
        "python {input.code[0]:q} --questions {input.questions:q} --statements {input.statements:q}"
        " --output {output.proof:q} --log {log:q}"


rule export_questions:
    input:
        code=sources("export_questions"),
        questions="<results>/questions/{set}/questions.parquet",
        # none that are not proved
        proof="<results>/questions/{set}/proof.json",
        vectors="<results>/questions/{set}/questions.npy",
        chunks="<results>/questions/{set}/chunks.parquet",
        embeddings="<results>/questions/{set}/chunks.npy",
    output:
        tasks=directory("<results>/questions/{set}/lm-eval"),
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
    shell:
        "python {input.code[0]:q} --questions {input.questions:q} --vectors {input.vectors:q}"
        " --chunks {input.chunks:q} --embeddings {input.embeddings:q} --name {wildcards.set:q} --output {output.tasks:q} --log {log:q}"
