"""Questions about records, from templates and queries, round by round, and their proof.

In:  tables or metadata, templates and open questions that `coverage.questions` names,
     <results>/{domain}/benchmark/{variant}/pairs.parquet
Out: <results>/questions/{set}/{ontology.nt,entities.parquet,ontology.json,chunks.parquet,chunks.npy,
     questions.parquet,questions.npy,questions.json,proof.json,lm-eval/,percentiles.csv,
     percentiles-map.parquet,percentiles-questions.{parquet,npy},written.jsonl,written-faults.csv}, and rounds/
"""


def look_up_questions():
    """Return the files of all sets of questions; stop before any job with one clear message if one is missing."""
    try:
        return find_question_files(CONFIG, ROOT)
    except InputError as error:
        stop(error)


QUESTION_FILES = look_up_questions()
WRITERS = {
    name: chosen.writer
    for name, chosen in CONFIG.coverage.questions.items()
    if chosen.writer
}


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


def of_joining_pairs(wildcards):
    """Return the tables of pairs that may join a set of questions."""
    return [
        f"<results>/{domain}/benchmark/{variant}/pairs.parquet"
        for domain, variant in QUESTION_FILES[wildcards.set].pairs
    ]


def name_joining_pairs(wildcards, input):
    """Return these tables as options, each with the name of its benchmark."""
    names = [["/".join(each)] for each in QUESTION_FILES[wildcards.set].pairs]
    return list_options("pairs", names, input.pairs)


def of_sets(path):
    """Return a file of each set of questions."""
    return [f"<results>/questions/{name}/{path}" for name in CONFIG.coverage.questions]


def of_users(wildcards):
    """Return files of open questions: that people asked, and that a model wrote."""
    found = of_questions("users")(wildcards)
    written = f"<results>/questions/{wildcards.set}/written.jsonl"
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


rule write_open_questions:
    input:
        code=sources("write_open_questions"),
        model=lambda wildcards: OUTPUTS.find_pointer(WRITERS[wildcards.set]),
        weights=lambda wildcards: [
            ancient(path) for path in OUTPUTS.find_weights(WRITERS[wildcards.set])
        ],
        chunks="<results>/questions/{set}/chunks.parquet",
    output:
        questions="<results>/questions/{set}/written.jsonl",
        faults="<results>/questions/{set}/written-faults.csv",
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
        settings=settings.of("scoring"),
        written=lambda wildcards: CONFIG.coverage.questions[wildcards.set].written,
    shell:
        "python {input.code[0]:q} --model {input.model:q} --chunks {input.chunks:q} --count {params.written}"
        " --settings {params.settings:q} --threads {threads} --gpus {resources.gpu}"
        " --output {output.questions:q} --faults {output.faults:q} --log {log:q}"


rule ask_questions:
    input:
        code=sources("ask_questions"),
        statements="<results>/questions/{set}/ontology.nt",
        entities="<results>/questions/{set}/entities.parquet",
        chunks="<results>/questions/{set}/chunks.parquet",
        embeddings="<results>/questions/{set}/chunks.npy",
        templates=of_questions("templates"),
        users=of_users,
        pairs=of_joining_pairs,
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
        pairs=name_joining_pairs,
        # no output: what Snakemake deletes after a failure could not be gone on with
        rounds=lambda wildcards, output: f"{Path(output.report).parent}/rounds",
    shell:
        "python {input.code[0]:q} --statements {input.statements:q} --entities {input.entities:q}"
        " --chunks {input.chunks:q} --embeddings {input.embeddings:q} --templates {input.templates:q}"
        " --users {input.users:q} {params.pairs} --rounds {params.rounds:q}"
        " --settings {params.settings:q} --threads {threads} --output {output.questions:q}"
        " --vectors {output.vectors:q} --report {output.report:q} --log {log:q}"


rule vary_percentile:
    input:
        code=sources("vary_percentile"),
        statements="<results>/questions/{set}/ontology.nt",
        entities="<results>/questions/{set}/entities.parquet",
        chunks="<results>/questions/{set}/chunks.parquet",
        embeddings="<results>/questions/{set}/chunks.npy",
        templates=of_questions("templates"),
        users=of_users,
        pairs=of_joining_pairs,
    output:
        thresholds="<results>/questions/{set}/percentiles.csv",
        map="<results>/questions/{set}/percentiles-map.parquet",
        questions="<results>/questions/{set}/percentiles-questions.parquet",
        vectors="<results>/questions/{set}/percentiles-questions.npy",
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
        settings=lambda wildcards: settings.of_percentiles(wildcards.set),
        pairs=name_joining_pairs,
    shell:
        "python {input.code[0]:q} --statements {input.statements:q} --entities {input.entities:q}"
        " --chunks {input.chunks:q} --embeddings {input.embeddings:q} --templates {input.templates:q}"
        " --users {input.users:q} {params.pairs} --settings {params.settings:q} --threads {threads}"
        " --output {output.thresholds:q} --map {output.map:q} --questions {output.questions:q} --vectors {output.vectors:q} --log {log:q}"


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
