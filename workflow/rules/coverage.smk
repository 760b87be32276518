"""How far benchmarks cover their domains; corpora that hold nothing twice.

In:  <results>/corpus/{index.parquet,sentences/,embeddings/}, <results>/{domain}/benchmark/{variant}/pairs.parquet
Out: <results>/{domain}/benchmark/{variant}/coverage.{json,parquet},
     <results>/{domain}/coverage/{expansion.parquet,expansion.json,expansion-map.parquet,correlations.csv}, and rounds/
"""


rule measure_coverage:
    input:
        code=sources("measure_coverage"),
        pairs="<results>/{domain}/benchmark/{variant}/pairs.parquet",
        sentences=expand(
            "<results>/corpus/sentences/{slice}.parquet", slice=INPUTS.slices
        ),
        embeddings=expand(
            "<results>/corpus/embeddings/{slice}.npy", slice=INPUTS.slices
        ),
        index="<results>/corpus/index.parquet",
        drawn=DRAWN,
    output:
        map="<results>/{domain}/benchmark/{variant}/coverage.parquet",
        report="<results>/{domain}/benchmark/{variant}/coverage.json",
    log:
        "<logs>/measure_coverage/{domain}.{variant}.log",
    benchmark:
        "<timings>/measure_coverage/{domain}.{variant}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        settings=settings.of_coverage(),
        drawn=drawn_option,
    shell:
        "python {input.code[0]:q} --pairs {input.pairs:q} --sentences {input.sentences:q}"
        " --embeddings {input.embeddings:q} --index {input.index} {params.drawn}"
        " --domain {wildcards.domain:q} --settings {params.settings:q} --threads {threads}"
        " --map {output.map:q} --report {output.report:q} --log {log:q}"


rule expand_corpus:
    input:
        code=sources("expand_corpus"),
        sentences=expand(
            "<results>/corpus/sentences/{slice}.parquet", slice=INPUTS.slices
        ),
        embeddings=expand(
            "<results>/corpus/embeddings/{slice}.npy", slice=INPUTS.slices
        ),
        index="<results>/corpus/index.parquet",
        drawn=DRAWN,
    output:
        documents="<results>/{domain}/coverage/expansion.parquet",
        map="<results>/{domain}/coverage/expansion-map.parquet",
        report="<results>/{domain}/coverage/expansion.json",
    log:
        "<logs>/expand_corpus/{domain}.log",
    benchmark:
        "<timings>/expand_corpus/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(120),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        settings=settings.of_coverage(),
        drawn=drawn_option,
        # no output: what Snakemake deletes after a failure could not be gone on with
        rounds=lambda wildcards, output: f"{Path(output.report).parent}/rounds",
    shell:
        "python {input.code[0]:q} --sentences {input.sentences:q} --embeddings {input.embeddings:q}"
        " --index {input.index} {params.drawn} --domain {wildcards.domain:q} --rounds {params.rounds:q}"
        " --settings {params.settings:q} --threads {threads} --output {output.documents:q}"
        " --map {output.map:q} --report {output.report:q} --log {log:q}"


rule vary_correlation:
    input:
        code=sources("vary_correlation"),
        sentences=expand(
            "<results>/corpus/sentences/{slice}.parquet", slice=INPUTS.slices
        ),
        embeddings=expand(
            "<results>/corpus/embeddings/{slice}.npy", slice=INPUTS.slices
        ),
        index="<results>/corpus/index.parquet",
        drawn=DRAWN,
    output:
        thresholds="<results>/{domain}/coverage/correlations.csv",
    log:
        "<logs>/vary_correlation/{domain}.log",
    benchmark:
        "<timings>/vary_correlation/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(120),
        gpu=1 if CONFIG.coverage.device.startswith("cuda") else 0,
    params:
        settings=settings.of_correlations(),
        drawn=drawn_option,
    shell:
        "python {input.code[0]:q} --sentences {input.sentences:q} --embeddings {input.embeddings:q}"
        " --index {input.index} {params.drawn} --domain {wildcards.domain:q} --settings {params.settings:q}"
        " --threads {threads} --output {output.thresholds:q} --log {log:q}"
