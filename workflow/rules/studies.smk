"""Needs of studies of training besides a domain's own text: its controls, references, orders of domains."""


rule change_texts:
    input:
        texts=lambda wildcards: OUTPUTS.texts.name(wildcards.domain),
        vocabularies=expand(paths.VOCABULARY, variant=VARIANTS, allow_missing=True),
        pipeline=RUN.fetched_pipeline,
    output:
        changed=paths.CHANGED_TEXTS,
    log:
        "<logs>/change_texts/{domain}.{text}.log",
    benchmark:
        "<timings>/change_texts/{domain}.{text}.tsv"
    wildcard_constraints:
        text=one_of(CONTROLS),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(240),
    params:
        **program("change_texts"),
    shell:
        CALL


# pairs from documents that are set aside, with the vocabulary of TF
use rule make_pairs as make_unused_pairs with:
    input:
        sentences=paths.MATCHED,
        vocabulary=paths.VOCABULARY.of(variant="tf"),
        associations=paths.ASSOCIATIONS,
        index=paths.INDEX,
        tokenizer=paths.TOKENIZER.of(model=CONFIG.pairs.tokenizer),
        splits=paths.SPLITS if BY_CONTENT else [],
    wildcard_constraints:
        variant=UNUSED,


rule draw_clozes:
    input:
        texts=paths.TEXTS,
        pipeline=RUN.fetched_pipeline,
        index=paths.INDEX,
        tokenizer=paths.TOKENIZER.of(model=CONFIG.pairs.tokenizer),
        wordlists=jobs.word_lists("stopwords", "function"),
    output:
        pairs=paths.PAIRS.of(variant="clozes"),
        lines=paths.PAIR_LINES.of(variant="clozes"),
        report=paths.PAIRS.of(variant="clozes").ending(".json"),
    log:
        "<logs>/draw_clozes/{domain}.log",
    benchmark:
        "<timings>/draw_clozes/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program(
            "draw_clozes", count=CONFIG.claims.clozes, wordlists=folder_of("wordlists")
        ),
    shell:
        CALL


rule average_abstracts:
    input:
        embedder=RUN.fetched_embedder,
        index=lambda wildcards: (
            paths.INDEX if wildcards.domain in CONFIG.domains else []
        ),
        # of a domain that the corpus does not have
        texts=lambda wildcards: (
            []
            if wildcards.domain in CONFIG.domains
            else paths.TRAINING_TEXTS.of(domain=wildcards.domain)
        ),
    output:
        mean=paths.MEAN_VECTORS,
    log:
        "<logs>/average_abstracts/{domain}.{abstracts}.log",
    benchmark:
        "<timings>/average_abstracts/{domain}.{abstracts}.tsv"
    wildcard_constraints:
        domain=one_of([*CONFIG.domains, *CONFIG.models.texts]),
        abstracts=r"\d+",
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(120),
        gpu=1 if CONFIG.embedding.device.startswith("cuda") else 0,
    params:
        **program("average_abstracts", settings=settings.of(embedding=EMBEDDING_KEYS)),
    shell:
        CALL


rule order_domains:
    input:
        means=lambda wildcards: OUTPUTS.orders.name_means(wildcards.study),
    output:
        table=paths.ORDER,
        configuration=paths.ORDER_KEYS,
    log:
        "<logs>/order_domains/{study}.log",
    benchmark:
        "<timings>/order_domains/{study}.tsv"
    wildcard_constraints:
        study=one_of(CONFIG.models.continual),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program(
            "order_domains",
            settings=lambda wildcards: settings.of_order(wildcards.study),
        ),
    shell:
        CALL
