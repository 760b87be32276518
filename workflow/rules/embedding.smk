"""The embedding model, where it comes from the hub."""


localrules:
    fetch_embedding,


# compute nodes may have no network
rule fetch_embedding:
    output:
        fetched=paths.EMBEDDER,
    log:
        "<logs>/fetch_embedding.log",
    benchmark:
        "<timings>/fetch_embedding.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(120),
    params:
        **fetcher(
            "fetch_embedding",
            name=CONFIG.embedding.model,
            revision=CONFIG.embedding.revision,
        ),
    shell:
        CALL
