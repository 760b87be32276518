"""Documents in, sentences and training texts out.

In:  an arXiv dump, JSON lines, or installed packages (corpus.source)
Out: <results>/corpus/documents/{part}.parquet, sketches/{part}.parquet, splits.parquet, index.parquet,
     join_report.json, sentences/{slice}.parquet, texts/{domain}.parquet;
     training/{domain}.parquet for text from elsewhere
"""

if CONFIG.corpus.source == "docstrings":

    rule read_docstrings:
        input:
            code=sources("read_docstrings"),
        output:
            documents="<results>/corpus/documents/{part}.parquet",
            report="<results>/corpus/documents/{part}.json",
        log:
            "<logs>/read_docstrings/{part}.log",
        benchmark:
            "<timings>/read_docstrings/{part}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=grow(20),
        params:
            settings=settings.of_selection(),
        shell:
            "python {input.code[0]:q} --package {wildcards.part} --settings {params.settings:q}"
            " --output {output.documents} --report {output.report} --log {log}"


if CONFIG.corpus.source == "jsonl":

    rule read_jsonlines:
        input:
            code=sources("read_jsonlines"),
            shard=raw_shard,
        output:
            documents="<results>/corpus/documents/{part}.parquet",
            report="<results>/corpus/documents/{part}.json",
        log:
            "<logs>/read_jsonlines/{part}.log",
        benchmark:
            "<timings>/read_jsonlines/{part}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=grow(60),
        params:
            settings=settings.of_selection(),
            content=sample_shard,
        shell:
            "python {input.code[0]:q} --input {input.shard:q} --settings {params.settings:q}"
            " --output {output.documents:q} --report {output.report:q} --log {log:q}"


if CONFIG.corpus.source == "arxiv":

    rule read_metadata:
        input:
            code=sources("read_metadata"),
            metadata=raw_metadata,
        output:
            records="<results>/corpus/metadata.parquet",
            report="<results>/corpus/metadata.json",
        log:
            "<logs>/read_metadata.log",
        benchmark:
            "<timings>/read_metadata.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(4000),
            runtime=grow(60),
        params:
            settings=settings.of_selection(),
            content=lambda wildcards: sample_input(INPUTS.metadata),
        shell:
            "python {input.code[0]:q} --input {input.metadata:q} --settings {params.settings:q}"
            " --output {output.records} --report {output.report} --log {log}"

    rule join_shard:
        input:
            code=sources("join_shard"),
            metadata="<results>/corpus/metadata.parquet",
            shard=raw_shard,
        output:
            documents="<results>/corpus/documents/{part}.parquet",
            report="<results>/corpus/documents/{part}.json",
        log:
            "<logs>/join_shard/{part}.log",
        benchmark:
            "<timings>/join_shard/{part}.tsv"
        wildcard_constraints:
            part=one_of(INPUTS.shards),
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(4000),
            runtime=grow(60),
        params:
            settings=settings.of_selection(),
            content=sample_shard,
        shell:
            "python {input.code[0]:q} --metadata {input.metadata} --input {input.shard:q}"
            " --settings {params.settings:q} --output {output.documents:q} --report {output.report:q}"
            " --log {log:q}"

    rule collect_abstracts:
        input:
            code=sources("collect_abstracts"),
            metadata="<results>/corpus/metadata.parquet",
            joined=expand(
                "<results>/corpus/documents/{part}.parquet", part=sorted(INPUTS.shards)
            ),
        output:
            documents=expand(
                "<results>/corpus/documents/{part}.parquet", part=INPUTS.abstract_parts
            ),
            reports=expand(
                "<results>/corpus/documents/{part}.json", part=INPUTS.abstract_parts
            ),
        log:
            "<logs>/collect_abstracts.log",
        benchmark:
            "<timings>/collect_abstracts.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(4000),
            runtime=grow(30),
        params:
            settings=settings.of_selection(),
        shell:
            "python {input.code[0]:q} --metadata {input.metadata} --joined {input.joined:q}"
            " --settings {params.settings:q} --outputs {output.documents} --reports {output.reports}"
            " --log {log}"


BY_CONTENT = CONFIG.corpus.splits_by == "content"


if BY_CONTENT:

    rule sketch_documents:
        input:
            code=sources("sketch_documents"),
            documents="<results>/corpus/documents/{part}.parquet",
        output:
            sketches="<results>/corpus/sketches/{part}.parquet",
        log:
            "<logs>/sketch_documents/{part}.log",
        benchmark:
            "<timings>/sketch_documents/{part}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=grow(60),
        params:
            settings=settings.of_sketch(),
        shell:
            "python {input.code[0]:q} --documents {input.documents:q} --settings {params.settings:q}"
            " --output {output.sketches:q} --log {log:q}"

    rule group_documents:
        input:
            code=sources("group_documents"),
            documents=expand(
                "<results>/corpus/documents/{part}.parquet", part=INPUTS.parts
            ),
            sketches=expand(
                "<results>/corpus/sketches/{part}.parquet", part=INPUTS.parts
            ),
        output:
            splits="<results>/corpus/splits.parquet",
            report="<results>/corpus/splits.json",
        log:
            "<logs>/group_documents.log",
        benchmark:
            "<timings>/group_documents.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(8000),
            runtime=grow(120),
        params:
            settings=settings.of_groups(),
        shell:
            "python {input.code[0]:q} --documents {input.documents:q} --sketches {input.sketches:q}"
            " --settings {params.settings:q} --output {output.splits} --report {output.report} --log {log}"


rule index_documents:
    input:
        code=sources("index_documents"),
        documents=expand("<results>/corpus/documents/{part}.parquet", part=INPUTS.parts),
        reports=expand("<results>/corpus/documents/{part}.json", part=INPUTS.parts),
        metadata="<results>/corpus/metadata.json" if INPUTS.metadata else [],
        splits="<results>/corpus/splits.parquet" if BY_CONTENT else [],
        groups="<results>/corpus/splits.json" if BY_CONTENT else [],
    output:
        index="<results>/corpus/index.parquet",
        report="<results>/corpus/join_report.json",
    log:
        "<logs>/index_documents.log",
    benchmark:
        "<timings>/index_documents.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(6000),
        runtime=grow(60),
    params:
        settings=settings.of_selection(),
        metadata=lambda wildcards, input: (
            f"--metadata-report {input.metadata}" if INPUTS.metadata else ""
        ),
        splits=lambda wildcards, input: (
            f"--splits {input.splits} --groups-report {input.groups}"
            if BY_CONTENT
            else ""
        ),
    shell:
        "python {input.code[0]:q} --documents {input.documents:q} --reports {input.reports:q} {params.metadata}"
        " {params.splits} --settings {params.settings:q} --output {output.index} --report {output.report} --log {log}"


rule split_sentences:
    input:
        code=sources("split_sentences"),
        documents=documents_of_slice,
        index="<results>/corpus/index.parquet",
    output:
        sentences="<results>/corpus/sentences/{slice}.parquet",
        sentence_counts="<results>/corpus/sentence_counts/{slice}.parquet",
        report="<results>/corpus/sentences/{slice}.json",
    log:
        "<logs>/split_sentences/{slice}.log",
    benchmark:
        "<timings>/split_sentences/{slice}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(6000),
        runtime=grow(240),
    params:
        settings=settings.of("sentences"),
        slice=number_of_slice,
        domains=CONFIG.benchmark_domains,
    shell:
        "python {input.code[0]:q} --documents {input.documents:q} --index {input.index}"
        " --slice {params.slice} --domains {params.domains:q} --settings {params.settings:q}"
        " --output {output.sentences:q} --sentence-counts {output.sentence_counts:q} --report {output.report:q}"
        " --log {log:q}"


rule collect_texts:
    input:
        code=sources("collect_texts"),
        documents=expand("<results>/corpus/documents/{part}.parquet", part=INPUTS.parts),
        index="<results>/corpus/index.parquet",
    output:
        texts="<results>/corpus/texts/{domain}.parquet",
    log:
        "<logs>/collect_texts/{domain}.log",
    benchmark:
        "<timings>/collect_texts/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(240),
    params:
        characters=CONFIG.models.max_characters,
    shell:
        "python {input.code[0]:q} --documents {input.documents:q} --index {input.index}"
        " --domain {wildcards.domain:q} --max-characters {params.characters}"
        " --output {output.texts:q} --log {log:q}"


localrules:
    fetch_texts,


# from a data set or files, in place of the corpus's own documents; local: compute nodes may have no network
rule fetch_texts:
    input:
        code=sources("fetch_texts"),
        files=lambda wildcards: [
            outside(path) for path in CONFIG.models.texts[wildcards.domain].local_paths
        ],
    output:
        texts="<results>/corpus/training/{domain}.parquet",
    log:
        "<logs>/fetch_texts/{domain}.log",
    benchmark:
        "<timings>/fetch_texts/{domain}.tsv"
    wildcard_constraints:
        domain=one_of(CONFIG.models.texts),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(240),
    params:
        settings=lambda wildcards: settings.of_text_source(wildcards.domain),
        characters=CONFIG.models.max_characters,
    shell:
        "python {input.code[0]:q} --domain {wildcards.domain:q} --settings {params.settings:q}"
        " --max-characters {params.characters} --output {output.texts:q} --log {log:q}"
