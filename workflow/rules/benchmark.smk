"""Keywords, matches, vocabularies, pairs; reference benchmarks from files."""


rule extract_keywords:
    input:
        embedder=RUN.fetched_embedder,
        index=paths.INDEX,
        wordlists=jobs.word_lists("stopwords", "academic", "function", "quantity"),
        manuals=MANUALS,
    output:
        keywords=paths.KEYWORDS,
        vectors=paths.KEYWORD_VECTORS,
        report=paths.KEYWORDS.ending(".json"),
    log:
        "<logs>/extract_keywords/{domain}.log",
    benchmark:
        "<timings>/extract_keywords/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(6000, 25),
        runtime=minutes(120),
    params:
        **program(
            "extract_keywords",
            wordlists=folder_of("wordlists"),
            source=CONFIG.corpus.source,
        ),
    shell:
        CALL


LIMITED = CONFIG.sentences.limit is not None
DRAWN = paths.DRAWN if LIMITED else []


if LIMITED:

    rule draw_documents:
        input:
            index=paths.INDEX,
            sentence_counts=expand(paths.SENTENCE_COUNTS, slice=INPUTS.slices),
        output:
            drawn=paths.DRAWN,
            report=paths.DRAWN.ending(".json"),
        log:
            "<logs>/draw_documents.log",
        benchmark:
            "<timings>/draw_documents.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(4000),
            runtime=minutes(60),
        params:
            **program(
                "draw_documents",
                domains=CONFIG.benchmark_domains,
                settings=settings.of(sentences={"limit"}),
            ),
        shell:
            CALL


rule embed_sentences:
    input:
        embedder=RUN.fetched_embedder,
        sentences=paths.SENTENCES,
        drawn=DRAWN,
    output:
        embeddings=paths.EMBEDDINGS,
        report=paths.EMBEDDINGS.ending(".json"),
    log:
        "<logs>/embed_sentences/{slice}.log",
    benchmark:
        "<timings>/embed_sentences/{slice}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(5000, 10),
        runtime=minutes(480),
        gpu=1 if CONFIG.embedding.device.startswith("cuda") else 0,
    params:
        **program("embed_sentences", settings=settings.of(embedding=EMBEDDING_KEYS)),
    shell:
        CALL_WITH_THREADS


# with matches.named, only sentences that name a keyword are embedded, but for coverage
if CONFIG.matches.named:

    rule select_sentences:
        input:
            sentences=paths.SENTENCES,
            index=paths.INDEX,
            drawn=DRAWN,
            keywords=expand(paths.KEYWORDS, domain=CONFIG.benchmark_domains),
        output:
            selected=paths.NAMED,
            report=paths.NAMED.ending(".json"),
        log:
            "<logs>/select_sentences/{slice}.log",
        benchmark:
            "<timings>/select_sentences/{slice}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(3000, 13),
            runtime=minutes(60),
        params:
            **program("select_sentences", domains=CONFIG.benchmark_domains),
        shell:
            CALL

    use rule embed_sentences as embed_named with:
        input:
            embedder=RUN.fetched_embedder,
            sentences=paths.NAMED,
        output:
            embeddings=paths.NAMED_EMBEDDINGS,
            report=paths.NAMED_EMBEDDINGS.ending(".json"),
        log:
            "<logs>/embed_named/{slice}.log",
        benchmark:
            "<timings>/embed_named/{slice}.tsv"


MATCHED_FROM, EMBEDDED = (
    (paths.NAMED, paths.NAMED_EMBEDDINGS)
    if CONFIG.matches.named
    else (paths.SENTENCES, paths.EMBEDDINGS)
)


rule match_sentences:
    input:
        embedder=RUN.fetched_embedder,
        sentences=MATCHED_FROM,
        embeddings=EMBEDDED,
        embeddings_report=EMBEDDED.ending(".json"),
        index=paths.INDEX,
        drawn=DRAWN,
        keywords=paths.KEYWORDS,
        vectors=paths.KEYWORD_VECTORS,
    output:
        matches=paths.MATCHES,
    log:
        "<logs>/match_sentences/{domain}/{slice}.log",
    benchmark:
        "<timings>/match_sentences/{domain}/{slice}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(3000, 6),
        runtime=minutes(60),
    params:
        **program("match_sentences"),
    shell:
        CALL


rule gather_matches:
    input:
        embedder=RUN.fetched_embedder,
        matches=expand(paths.MATCHES, slice=INPUTS.slices, allow_missing=True),
        keywords=paths.KEYWORDS,
        vectors=paths.KEYWORD_VECTORS,
    output:
        sentences=paths.MATCHED,
        report=paths.MATCHED.ending(".json"),
    log:
        "<logs>/gather_matches/{domain}.log",
    benchmark:
        "<timings>/gather_matches/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(3000, 10),
        runtime=minutes(60),
    params:
        **program("gather_matches"),
    shell:
        CALL


rule build_vocabulary:
    input:
        embedder=RUN.fetched_embedder,
        sentences=paths.MATCHED,
        wordlists=jobs.word_lists("stopwords"),
    output:
        vocabulary=paths.VOCABULARY,
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
        mem_mb=grow(6000, 20),
        runtime=minutes(120),
    params:
        **program("build_vocabulary", wordlists=folder_of("wordlists")),
    shell:
        CALL


rule find_associations:
    input:
        sentences=expand(paths.SENTENCES, slice=INPUTS.slices),
        matched=paths.MATCHED,
        vocabularies=expand(paths.VOCABULARY, variant=VARIANTS, allow_missing=True),
        index=paths.INDEX,
        wordlists=jobs.word_lists("stopwords", "function", "academic"),
    output:
        associations=paths.ASSOCIATIONS,
        report=paths.ASSOCIATIONS.ending(".json"),
    log:
        "<logs>/find_associations/{domain}.log",
    benchmark:
        "<timings>/find_associations/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(5000, 4),
        runtime=minutes(120),
    params:
        **program("find_associations", wordlists=folder_of("wordlists")),
    shell:
        CALL


rule make_pairs:
    input:
        sentences=paths.MATCHED,
        vocabulary=paths.VOCABULARY,
        associations=paths.ASSOCIATIONS,
        index=paths.INDEX,
        tokenizer=paths.TOKENIZER.of(model=CONFIG.pairs.tokenizer),
        splits=(paths.SPLITS if CONFIG.claims.unused and BY_CONTENT else []),
    output:
        pairs=paths.PAIRS,
        lines=paths.PAIR_LINES,
        report=paths.PAIRS.ending(".json"),
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
        mem_mb=grow(5000, 20),
        runtime=minutes(120),
    params:
        **program("make_pairs", set_aside=CONFIG.claims.unused),
    shell:
        CALL


if OUTPUTS.texts.list_trained():

    rule find_overlap:
        input:
            pairs=paths.PAIRS,
            texts=OUTPUTS.texts.list_trained(),
        output:
            overlap=paths.OVERLAP,
            report=paths.OVERLAP.ending(".json"),
        log:
            "<logs>/find_overlap/{domain}.{variant}.log",
        benchmark:
            "<timings>/find_overlap/{domain}.{variant}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000, 10),
            runtime=minutes(60),
        params:
            **program("find_overlap", splits_by=CONFIG.corpus.splits_by),
        shell:
            CALL


# domains of which some held-out text may occur in training text, and does not count
OVERLAPPING = OUTPUTS.overlapping_domains

if OVERLAPPING:

    rule find_held_out_overlap:
        input:
            held_out=lambda wildcards: (
                OUTPUTS.texts.name_held_out(wildcards.domain)
                if (wildcards.domain in OUTPUTS.held_out_domains and OUTPUTS.held_out)
                else []
            ),
            sentences=paths.MATCHED,
            texts=OUTPUTS.texts.list_trained(),
        output:
            stretches=paths.HELD_OUT_OVERLAP,
            matched=paths.SENTENCE_OVERLAP,
            report=paths.HELD_OUT_OVERLAP.ending(".json"),
        log:
            "<logs>/find_held_out_overlap/{domain}.log",
        benchmark:
            "<timings>/find_held_out_overlap/{domain}.tsv"
        wildcard_constraints:
            domain=one_of(OVERLAPPING),
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(3000, 12),
            runtime=minutes(60),
        params:
            **program(
                "find_held_out_overlap",
                settings=settings.of("perplexity", summary={"overlap"}),
            ),
        shell:
            CALL


rule import_reference:
    input:
        entries=jobs.find_reference,
    output:
        pairs=paths.PAIRS,
        lines=paths.PAIR_LINES,
        report=paths.PAIRS.ending(".json"),
        card=paths.CARD,
        croissant=paths.CROISSANT,
    log:
        "<logs>/import_reference/{domain}.{variant}.log",
    benchmark:
        "<timings>/import_reference/{domain}.{variant}.tsv"
    wildcard_constraints:
        domain=one_of(CONFIG.references),
        variant=one_of([REFERENCE, *OUTPUTS.studies.other_variants]),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program(
            "import_reference",
            title=jobs.find_title,
            name=jobs.find_reference_name,
            folder=folder_of("pairs"),
        ),
    shell:
        CALL
