"""Documents in, sentences and training texts out."""

if CONFIG.corpus.source == "docstrings":

    rule read_docstrings:
        output:
            documents=paths.DOCUMENTS,
            report=paths.DOCUMENTS.ending(".json"),
        log:
            "<logs>/read_docstrings/{part}.log",
        benchmark:
            "<timings>/read_docstrings/{part}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=minutes(20),
        params:
            **program("read_docstrings", settings=settings.of_selection()),
        shell:
            CALL


if CONFIG.corpus.source == "jsonl":

    rule read_jsonlines:
        input:
            shard=jobs.find_shard,
        output:
            documents=paths.DOCUMENTS,
            report=paths.DOCUMENTS.ending(".json"),
        log:
            "<logs>/read_jsonlines/{part}.log",
        benchmark:
            "<timings>/read_jsonlines/{part}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=minutes(60),
        params:
            **program("read_jsonlines", settings=settings.of_selection()),
            content=jobs.sample_shard,
        shell:
            CALL


if CONFIG.corpus.source == "folder":

    # its files are not inputs: their names may be any bytes, and there may be very many
    rule read_folder:
        output:
            documents=paths.DOCUMENTS,
            report=paths.DOCUMENTS.ending(".json"),
        log:
            "<logs>/read_folder/{part}.log",
        benchmark:
            "<timings>/read_folder/{part}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(4000),
            runtime=minutes(120),
        params:
            **program(
                "read_folder",
                files=CONFIG.corpus.files,
                kept=lambda wildcards: paths.KEPT_FILES.of(part=wildcards.part).under(
                    RESULTS
                ),
                settings=settings.of_selection(),
            ),
            content=jobs.sample_part,
        shell:
            CALL


if CONFIG.corpus.source == "table":

    rule read_table:
        input:
            shard=jobs.find_shard,
        output:
            documents=paths.DOCUMENTS,
            report=paths.DOCUMENTS.ending(".json"),
        log:
            "<logs>/read_table/{part}.log",
        benchmark:
            "<timings>/read_table/{part}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(3000),
            runtime=minutes(60),
        params:
            **program("read_table", settings=settings.of_selection()),
            content=jobs.sample_shard,
        shell:
            CALL


if CONFIG.corpus.source == "dataset":

    # local: compute nodes may have no network
    localrules:
        read_dataset,

    rule read_dataset:
        output:
            documents=paths.DOCUMENTS,
            report=paths.DOCUMENTS.ending(".json"),
        log:
            "<logs>/read_dataset/{part}.log",
        benchmark:
            "<timings>/read_dataset/{part}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(3000),
            runtime=minutes(60),
        params:
            **program("read_dataset", settings=settings.of_selection()),
        shell:
            CALL


if CONFIG.corpus.source == "arxiv":

    rule read_metadata:
        input:
            metadata=jobs.find_metadata,
        output:
            records=paths.METADATA,
            report=paths.METADATA.ending(".json"),
        log:
            "<logs>/read_metadata.log",
        benchmark:
            "<timings>/read_metadata.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000, 1),
            runtime=minutes(60),
        params:
            **program("read_metadata", settings=settings.of_selection()),
            content=jobs.sample_metadata,
        shell:
            CALL

    rule join_shard:
        input:
            metadata=paths.METADATA,
            shard=jobs.find_shard,
        output:
            documents=paths.DOCUMENTS,
            report=paths.DOCUMENTS.ending(".json"),
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
            runtime=minutes(60),
        params:
            **program("join_shard", settings=settings.of_selection()),
            content=jobs.sample_shard,
        shell:
            CALL

    rule collect_abstracts:
        input:
            metadata=paths.METADATA,
            joined=expand(paths.DOCUMENTS, part=sorted(INPUTS.shards)),
        output:
            documents=expand(paths.DOCUMENTS, part=INPUTS.abstract_parts),
            reports=expand(paths.DOCUMENTS.ending(".json"), part=INPUTS.abstract_parts),
        log:
            "<logs>/collect_abstracts.log",
        benchmark:
            "<timings>/collect_abstracts.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000, 2),
            runtime=minutes(30),
        params:
            **program("collect_abstracts", settings=settings.of_selection()),
        shell:
            CALL


BY_CONTENT = CONFIG.corpus.splits_by == "content"


if BY_CONTENT:

    rule sketch_documents:
        input:
            documents=paths.DOCUMENTS,
        output:
            sketches=paths.SKETCHES,
        log:
            "<logs>/sketch_documents/{part}.log",
        benchmark:
            "<timings>/sketch_documents/{part}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000, 3),
            runtime=minutes(60),
        params:
            **program("sketch_documents", settings=settings.of_sketch()),
        shell:
            CALL

    rule group_documents:
        input:
            documents=expand(paths.DOCUMENTS, part=INPUTS.parts),
            sketches=expand(paths.SKETCHES, part=INPUTS.parts),
        output:
            splits=paths.SPLITS,
            report=paths.SPLITS.ending(".json"),
        log:
            "<logs>/group_documents.log",
        benchmark:
            "<timings>/group_documents.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(4000, 12),
            runtime=minutes(120),
        params:
            **program("group_documents", settings=settings.of_groups()),
        shell:
            CALL


rule index_documents:
    input:
        documents=expand(paths.DOCUMENTS, part=INPUTS.parts),
        reports=expand(paths.DOCUMENTS.ending(".json"), part=INPUTS.parts),
        metadata=paths.METADATA.ending(".json") if INPUTS.metadata else [],
        splits=paths.SPLITS if BY_CONTENT else [],
        groups=paths.SPLITS.ending(".json") if BY_CONTENT else [],
    output:
        index=paths.INDEX,
        report=paths.JOIN_REPORT,
    log:
        "<logs>/index_documents.log",
    benchmark:
        "<timings>/index_documents.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(6000),
        runtime=minutes(60),
    params:
        **program("index_documents", settings=settings.of_selection()),
    shell:
        CALL


localrules:
    fetch_pipeline,


# compute nodes may have no network
rule fetch_pipeline:
    output:
        pipeline=directory(paths.PIPELINE),
    log:
        "<logs>/fetch_pipeline.log",
    benchmark:
        "<timings>/fetch_pipeline.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(60),
    params:
        **fetcher(
            "fetch_pipeline",
            name=CONFIG.sentences.splitter,
            table=jobs.outside(RUN.pipelines),
        ),
        # independent of other lines of the table
        wheel=jobs.find_wheel,
    shell:
        CALL


rule split_sentences:
    input:
        documents=jobs.find_documents,
        index=paths.INDEX,
        pipeline=RUN.fetched_pipeline,
    output:
        sentences=paths.SENTENCES,
        sentence_counts=paths.SENTENCE_COUNTS,
        report=paths.SENTENCES.ending(".json"),
    log:
        "<logs>/split_sentences/{slice}.log",
    benchmark:
        "<timings>/split_sentences/{slice}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000, 10),
        runtime=minutes(240),
    params:
        **program(
            "split_sentences",
            slice=jobs.number_slice,
            domains=CONFIG.benchmark_domains,
            markup=CONFIG.corpus.text_markup,
        ),
    shell:
        CALL


rule collect_texts:
    input:
        documents=expand(paths.DOCUMENTS, part=INPUTS.parts),
        index=paths.INDEX,
    output:
        texts=paths.TEXTS,
    log:
        "<logs>/collect_texts/{domain}.log",
    benchmark:
        "<timings>/collect_texts/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000 + needs.text_mb),
        runtime=minutes(240),
    params:
        **program(
            "collect_texts",
            max_characters=CONFIG.models.max_characters,
            markup=CONFIG.corpus.text_markup,
            characters=CONFIG.sentences.characters,
        ),
    shell:
        CALL


localrules:
    fetch_texts,
    fetch_held_out,


# from a data set or files, in place of the corpus's own documents; local: compute nodes may have no network
rule fetch_texts:
    input:
        files=lambda wildcards: [
            jobs.outside(path)
            for path in CONFIG.models.texts[wildcards.domain].local_paths
        ],
    output:
        texts=paths.TRAINING_TEXTS,
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
        mem_mb=grow(4000 + needs.text_mb),
        runtime=minutes(240),
    params:
        **program(
            "fetch_texts",
            max_characters=CONFIG.models.max_characters,
            settings=lambda wildcards: settings.of_text_source(wildcards.domain),
        ),
    shell:
        CALL


use rule fetch_texts as fetch_held_out with:
    input:
        files=lambda wildcards: [
            jobs.outside(path)
            for path in CONFIG.perplexity.texts[wildcards.domain].local_paths
        ],
    output:
        texts=paths.HELD_OUT_TEXTS,
    log:
        "<logs>/fetch_held_out/{domain}.log",
    benchmark:
        "<timings>/fetch_held_out/{domain}.tsv"
    wildcard_constraints:
        domain=one_of(CONFIG.perplexity.texts),
    params:
        **program(
            "fetch_held_out",
            max_characters=CONFIG.models.max_characters,
            settings=lambda wildcards: settings.of_held_out_source(wildcards.domain),
        ),
