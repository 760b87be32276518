"""What models learn: followed models, controls of their text, claims, targets, relations of stages."""

FOLLOWED = OUTPUTS.name_followed()


rule follow_models:
    input:
        scores=FOLLOWED["scores"],
        pairs=OUTPUTS.name_pairs(),
        overlap=OUTPUTS.name_overlaps(),
        perplexity=FOLLOWED["perplexity"],
        attribute_rates=FOLLOWED["attribute_rates"],
        pointers=FOLLOWED["pointers"],
    output:
        table=paths.FOLLOWING,
        checkpoints=paths.FOLLOWED_MODELS,
    log:
        "<logs>/follow_models.log",
    benchmark:
        "<timings>/follow_models.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program("follow_models", settings=settings.of_following(RUN.followed)),
    shell:
        CALL


rule compare_controls:
    input:
        scores=FOLLOWED["scores"],
        pairs=OUTPUTS.name_pairs(),
        overlap=OUTPUTS.name_overlaps(),
        perplexity=FOLLOWED["perplexity"],
        attribute_rates=FOLLOWED["attribute_rates"],
    output:
        table=paths.CONTROLS,
        contrasts=paths.CONTROL_CONTRASTS,
        shares=paths.CONTROL_SHARES,
    log:
        "<logs>/compare_controls.log",
    benchmark:
        "<timings>/compare_controls.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program("compare_controls", settings=settings.of_controls(RUN.followed)),
    shell:
        CALL


CLAIMED_ON = [*OUTPUTS.benchmarks, *OUTPUTS.studies.references]
CLAIMED = OUTPUTS.studies.name_claimed(CLAIMED_ON, OUTPUTS.followed_models)


rule judge_claims:
    input:
        scores=list(CLAIMED.values()),
        pairs=paths.PAIRS.of_each(CLAIMED_ON),
        overlap=[OUTPUTS.studies.name_overlap(*benchmark) for benchmark in CLAIMED_ON],
        perplexity=FOLLOWED["perplexity"],
        attribute_rates=FOLLOWED["attribute_rates"],
    output:
        claims=paths.CLAIMS,
        correlations=paths.CLAIM_CORRELATIONS,
        models=paths.CLAIM_MODELS,
    log:
        "<logs>/judge_claims.log",
    benchmark:
        "<timings>/judge_claims.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program("judge_claims", settings=settings.of_claims()),
    shell:
        CALL


rule compare_targets:
    input:
        embedder=RUN.fetched_embedder,
        pairs=lambda wildcards: [
            paths.PAIRS.of(domain=wildcards.domain, variant=variant)
            for variant in OUTPUTS.studies.list_variants(wildcards.domain)
        ],
        scores=lambda wildcards: [
            path for _, _, path in OUTPUTS.studies.name_compared(wildcards.domain)
        ],
        overlap=lambda wildcards: [
            paths.OVERLAP.of(domain=domain, variant=variant)
            for domain, variant in OUTPUTS.overlapping
            if domain == wildcards.domain
        ],
    output:
        targets=paths.TARGET_CHANGES,
        groups=paths.TARGET_GROUPS,
        extremes=paths.BEST_AND_WORST,
    log:
        "<logs>/compare_targets/{domain}.log",
    benchmark:
        "<timings>/compare_targets/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program(
            "compare_targets",
            phrase=jobs.find_phrase,
            compared=list(CONFIG.compared_models.items()),
            titles=CONFIG.titles,
            references=lambda wildcards: CONFIG.reference_names.get(wildcards.domain),
            settings=settings.of("embedding", "summary", targets={"share", "listed"}),
        ),
    shell:
        CALL


rule relate_stages:
    input:
        following=paths.FOLLOWING,
        order=jobs.find_order,
    output:
        relations=paths.RELATIONS,
    log:
        "<logs>/relate_stages/{track}.log",
    benchmark:
        "<timings>/relate_stages/{track}.tsv"
    wildcard_constraints:
        track=one_of(CONFIG.models.studies),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program("relate_stages"),
    shell:
        CALL
