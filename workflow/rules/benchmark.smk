"""Keywords, matches, vocabularies, pairs.

In:  <results>/corpus/index.parquet, sentences/{slice}.parquet, splits/{slice}.parquet
Out: <results>/corpus/{drawn.parquet,embeddings/}, <results>/{domain}/{keywords.tsv,keywords.npy,sentences.parquet},
     benchmark/{variant}/{vocabulary.tsv,pairs.parquet,pairs.jsonl,overlap.parquet};
     a reference benchmark, from the file that the configuration names, as benchmark/reference/
"""


rule extract_keywords:
    input:
        code=sources("extract_keywords"),
        index="<results>/corpus/index.parquet",
        wordlists=[
            f"{WORDLISTS}/{name}.txt"
            for name in ["stopwords", "academic", "function", "quantity"]
        ],
    output:
        keywords="<results>/{domain}/keywords.tsv",
        vectors="<results>/{domain}/keywords.npy",
        report="<results>/{domain}/keywords.json",
    log:
        "<logs>/extract_keywords/{domain}.log",
    benchmark:
        "<timings>/extract_keywords/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(8000),
        runtime=grow(120),
    params:
        settings=settings.of("keywords", "embedding"),
        wordlists=folder_of("wordlists"),
    shell:
        "python {input.code[0]:q} --index {input.index} --domain {wildcards.domain:q}"
        " --settings {params.settings:q} --wordlists {params.wordlists:q}"
        " --output {output.keywords:q} --vectors {output.vectors:q} --report {output.report:q} --log {log:q}"


LIMITED = CONFIG.sentences.limit is not None
DRAWN = "<results>/corpus/drawn.parquet" if LIMITED else []


if LIMITED:

    rule draw_documents:
        input:
            code=sources("draw_documents"),
            index="<results>/corpus/index.parquet",
            sentence_counts=expand(
                "<results>/corpus/sentence_counts/{slice}.parquet", slice=INPUTS.slices
            ),
        output:
            drawn="<results>/corpus/drawn.parquet",
            report="<results>/corpus/drawn.json",
        log:
            "<logs>/draw_documents.log",
        benchmark:
            "<timings>/draw_documents.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(4000),
            runtime=grow(60),
        params:
            settings=settings.of_draw(),
            domains=CONFIG.benchmark_domains,
        shell:
            "python {input.code[0]:q} --index {input.index} --sentence-counts {input.sentence_counts:q}"
            " --domains {params.domains:q} --settings {params.settings:q} --output {output.drawn}"
            " --report {output.report} --log {log}"


rule embed_sentences:
    input:
        code=sources("embed_sentences"),
        sentences="<results>/corpus/sentences/{slice}.parquet",
        drawn=DRAWN,
    output:
        embeddings="<results>/corpus/embeddings/{slice}.npy",
        report="<results>/corpus/embeddings/{slice}.json",
    log:
        "<logs>/embed_sentences/{slice}.log",
    benchmark:
        "<timings>/embed_sentences/{slice}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(6000),
        runtime=grow(480),
        gpu=1 if CONFIG.embedding.device.startswith("cuda") else 0,
    params:
        settings=settings.of_embedding(),
        drawn=drawn_option,
    shell:
        "python {input.code[0]:q} --sentences {input.sentences:q} {params.drawn} --settings {params.settings:q}"
        " --workers {threads} --output {output.embeddings:q} --report {output.report:q}"
        " --log {log:q}"


rule match_sentences:
    input:
        code=sources("match_sentences"),
        sentences="<results>/corpus/sentences/{slice}.parquet",
        embeddings="<results>/corpus/embeddings/{slice}.npy",
        embeddings_report="<results>/corpus/embeddings/{slice}.json",
        index="<results>/corpus/index.parquet",
        drawn=DRAWN,
        keywords="<results>/{domain}/keywords.tsv",
        vectors="<results>/{domain}/keywords.npy",
    output:
        matches="<results>/{domain}/matches/{slice}.parquet",
    log:
        "<logs>/match_sentences/{domain}/{slice}.log",
    benchmark:
        "<timings>/match_sentences/{domain}/{slice}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of("embedding", "matches"),
        drawn=drawn_option,
    shell:
        "python {input.code[0]:q} --sentences {input.sentences:q} --embeddings {input.embeddings:q}"
        " --embeddings-report {input.embeddings_report:q} --index {input.index} {params.drawn}"
        " --domain {wildcards.domain:q} --keywords {input.keywords:q} --vectors {input.vectors:q}"
        " --settings {params.settings:q} --output {output.matches:q} --log {log:q}"


rule gather_matches:
    input:
        code=sources("gather_matches"),
        matches=expand(
            "<results>/{{domain}}/matches/{slice}.parquet", slice=INPUTS.slices
        ),
        keywords="<results>/{domain}/keywords.tsv",
        vectors="<results>/{domain}/keywords.npy",
    output:
        sentences="<results>/{domain}/sentences.parquet",
        report="<results>/{domain}/sentences.json",
    log:
        "<logs>/gather_matches/{domain}.log",
    benchmark:
        "<timings>/gather_matches/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of("embedding", "matches"),
    shell:
        "python {input.code[0]:q} --matches {input.matches:q} --keywords {input.keywords:q}"
        " --vectors {input.vectors:q} --settings {params.settings:q}"
        " --output {output.sentences:q} --report {output.report:q} --log {log:q}"


rule build_vocabulary:
    input:
        code=sources("build_vocabulary"),
        sentences="<results>/{domain}/sentences.parquet",
        wordlists=[f"{WORDLISTS}/stopwords.txt"],
    output:
        vocabulary="<results>/{domain}/benchmark/{variant}/vocabulary.tsv",
    log:
        "<logs>/build_vocabulary/{domain}.{variant}.log",
    benchmark:
        "<timings>/build_vocabulary/{domain}.{variant}.tsv"
    wildcard_constraints:
        variant=one_of(VARIANTS),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(8000),
        runtime=grow(120),
    params:
        settings=settings.of("vocabulary", "embedding"),
        wordlists=folder_of("wordlists"),
    shell:
        "python {input.code[0]:q} --sentences {input.sentences:q} --variant {wildcards.variant}"
        " --settings {params.settings:q} --wordlists {params.wordlists:q}"
        " --output {output.vocabulary:q} --log {log:q}"


rule make_pairs:
    input:
        code=sources("make_pairs"),
        sentences="<results>/{domain}/sentences.parquet",
        vocabulary="<results>/{domain}/benchmark/{variant}/vocabulary.tsv",
        index="<results>/corpus/index.parquet",
        tokenizer=f"<results>/models/{CONFIG.pairs.tokenizer}/tokenizer",
        splits=(
            "<results>/corpus/splits.parquet"
            if CONFIG.claims.unused and BY_CONTENT
            else []
        ),
    output:
        pairs="<results>/{domain}/benchmark/{variant}/pairs.parquet",
        lines="<results>/{domain}/benchmark/{variant}/pairs.jsonl",
        report="<results>/{domain}/benchmark/{variant}/pairs.json",
    log:
        "<logs>/make_pairs/{domain}.{variant}.log",
    benchmark:
        "<timings>/make_pairs/{domain}.{variant}.tsv"
    wildcard_constraints:
        variant=one_of(VARIANTS),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(6000),
        runtime=grow(120),
    params:
        settings=settings.of("pairs"),
        set_aside=f"--set-aside {CONFIG.claims.unused}" if CONFIG.claims.unused else "",
        splits=lambda wildcards, input: (
            f"--splits {input.splits}" if input.splits else ""
        ),
    shell:
        "python {input.code[0]:q} --sentences {input.sentences:q} --vocabulary {input.vocabulary:q}"
        " --index {input.index} --tokenizer {input.tokenizer:q} --variant {wildcards.variant}"
        " --settings {params.settings:q} {params.set_aside} {params.splits} --output {output.pairs:q}"
        " --json-lines {output.lines:q} --report {output.report:q} --log {log:q}"


if OUTPUTS.texts.list_trained():

    rule find_overlap:
        input:
            code=sources("find_overlap"),
            pairs="<results>/{domain}/benchmark/{variant}/pairs.parquet",
            texts=OUTPUTS.texts.list_trained(),
        output:
            overlap="<results>/{domain}/benchmark/{variant}/overlap.parquet",
            report="<results>/{domain}/benchmark/{variant}/overlap.json",
        log:
            "<logs>/find_overlap/{domain}.{variant}.log",
        benchmark:
            "<timings>/find_overlap/{domain}.{variant}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=grow(60),
        params:
            splits_by=CONFIG.corpus.splits_by,
        shell:
            "python {input.code[0]:q} --pairs {input.pairs:q} --texts {input.texts:q}"
            " --splits-by {params.splits_by} --output {output.overlap:q} --report {output.report:q}"
            " --log {log:q}"


rule import_reference:
    input:
        code=sources("import_reference"),
        entries=lambda wildcards: outside(
            OUTPUTS.studies.reference_files[wildcards.domain, wildcards.variant]
        ),
    output:
        pairs="<results>/{domain}/benchmark/{variant}/pairs.parquet",
        lines="<results>/{domain}/benchmark/{variant}/pairs.jsonl",
        report="<results>/{domain}/benchmark/{variant}/pairs.json",
        card="<results>/{domain}/benchmark/{variant}/README.md",
    log:
        "<logs>/import_reference/{domain}.{variant}.log",
    benchmark:
        "<timings>/import_reference/{domain}.{variant}.tsv"
    wildcard_constraints:
        domain=one_of(CONFIG.references),
        variant=one_of([REFERENCE, *OTHERS]),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        title=title,
        folder=folder_of("pairs"),
    shell:
        "python {input.code[0]:q} --input {input.entries:q} --title {params.title:q}"
        " --output {params.folder:q} --log {log:q}"
