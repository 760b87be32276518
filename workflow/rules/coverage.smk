"""How far benchmarks cover their domains; corpora without redundancy."""


rule measure_coverage:
    input:
        embedder=RUN.fetched_embedder,
        pairs=paths.PAIRS,
        sentences=expand(paths.SENTENCES, slice=INPUTS.slices),
        embeddings=expand(paths.EMBEDDINGS, slice=INPUTS.slices),
        index=paths.INDEX,
        drawn=DRAWN,
    output:
        map=paths.COVERAGE_MAP,
        report=paths.COVERAGE,
    log:
        "<logs>/measure_coverage/{domain}.{variant}.log",
    benchmark:
        "<timings>/measure_coverage/{domain}.{variant}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        **program("measure_coverage", settings=settings.of_coverage()),
    shell:
        CALL_WITH_THREADS


rule map_others:
    input:
        embedder=RUN.fetched_embedder,
        questions=lambda wildcards: [
            jobs.own(each.file)
            for each in CONFIG.coverage.others[wildcards.domain].values()
        ],
        sentences=expand(paths.SENTENCES, slice=INPUTS.slices),
        embeddings=expand(paths.EMBEDDINGS, slice=INPUTS.slices),
        index=paths.INDEX,
        drawn=DRAWN,
    output:
        map=paths.OTHERS_MAP,
        report=paths.OTHERS_MAP.ending(".json"),
    log:
        "<logs>/map_others/{domain}.log",
    benchmark:
        "<timings>/map_others/{domain}.tsv"
    wildcard_constraints:
        domain=one_of(CONFIG.coverage.others),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(120),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        **program(
            "map_others",
            # JSON would sort them
            names=lambda wildcards: list(CONFIG.coverage.others[wildcards.domain]),
            settings=lambda wildcards: settings.of_others(wildcards.domain),
        ),
    shell:
        CALL_WITH_THREADS


rule expand_corpus:
    input:
        sentences=expand(paths.SENTENCES, slice=INPUTS.slices),
        embeddings=expand(paths.EMBEDDINGS, slice=INPUTS.slices),
        index=paths.INDEX,
        drawn=DRAWN,
    output:
        documents=paths.EXPANSION,
        map=paths.EXPANSION_MAP,
        report=paths.EXPANSION.ending(".json"),
    log:
        "<logs>/expand_corpus/{domain}.log",
    benchmark:
        "<timings>/expand_corpus/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(120),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        **program(
            "expand_corpus",
            # not an output: Snakemake would delete it after a failure, and nothing could be resumed
            rounds=lambda output: Path(output.report).parent / "rounds",
            settings=settings.of_coverage(),
        ),
    shell:
        CALL_WITH_THREADS


rule vary_correlation:
    input:
        sentences=expand(paths.SENTENCES, slice=INPUTS.slices),
        embeddings=expand(paths.EMBEDDINGS, slice=INPUTS.slices),
        index=paths.INDEX,
        drawn=DRAWN,
    output:
        thresholds=paths.THRESHOLDS,
    log:
        "<logs>/vary_correlation/{domain}.log",
    benchmark:
        "<timings>/vary_correlation/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(120),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        **program("vary_correlation", settings=settings.of_correlations()),
    shell:
        CALL_WITH_THREADS
