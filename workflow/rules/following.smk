"""What models learn: those that are followed, controls of their text, claims, targets, relations of stages.

In:  <results>/{domain}/scores/{variant,perplexity,attribute-rate}/{model}.parquet, <results>/models/{model}/model.json,
     <results>/{domain}/benchmark/{variant}/{pairs,overlap}.parquet, <results>/orders/{study}.parquet
Out: <results>/following/{following.parquet,checkpoints.csv,{track}.relations.csv,controls.csv,control-contrasts.csv},
     <results>/following/{claims,claim-correlations,claim-models}.csv,
     <results>/{domain}/targets/{changes.parquet,target-groups.csv,best-and-worst.csv}
"""

FOLLOWED = OUTPUTS.name_followed()


rule follow_models:
    input:
        code=sources("follow_models"),
        scores=FOLLOWED["scores"],
        overlap=OUTPUTS.name_overlaps(),
        perplexity=FOLLOWED["perplexity"],
        attribute_rates=FOLLOWED["attribute_rates"],
        pointers=FOLLOWED["pointers"],
    output:
        table="<results>/following/following.parquet",
        checkpoints="<results>/following/checkpoints.csv",
    log:
        "<logs>/follow_models.log",
    benchmark:
        "<timings>/follow_models.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of_following(TOKENS),
        scores=options("scores", OUTPUTS.followed, "scores"),
        overlap=options("overlap", OUTPUTS.overlapping, "overlap"),
        perplexity=options("perplexity", OUTPUTS.followed_texts, "perplexity"),
        attribute_rates=options(
            "attribute-rates", OUTPUTS.followed_measures, "attribute_rates"
        ),
        pointers=options("pointers", list(zip(OUTPUTS.followed_elsewhere)), "pointers"),
    shell:
        "python {input.code[0]:q} {params.scores} {params.overlap} {params.perplexity}"
        " {params.attribute_rates} {params.pointers} --settings {params.settings:q}"
        " --output {output.table} --checkpoints {output.checkpoints} --log {log}"


rule compare_controls:
    input:
        code=sources("compare_controls"),
        scores=FOLLOWED["scores"],
        overlap=OUTPUTS.name_overlaps(),
        perplexity=FOLLOWED["perplexity"],
        attribute_rates=FOLLOWED["attribute_rates"],
    output:
        table="<results>/following/controls.csv",
        contrasts="<results>/following/control-contrasts.csv",
    log:
        "<logs>/compare_controls.log",
    benchmark:
        "<timings>/compare_controls.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of_controls(TOKENS),
        scores=options("scores", OUTPUTS.followed, "scores"),
        overlap=options("overlap", OUTPUTS.overlapping, "overlap"),
        perplexity=options("perplexity", OUTPUTS.followed_texts, "perplexity"),
        attribute_rates=options(
            "attribute-rates", OUTPUTS.followed_measures, "attribute_rates"
        ),
    shell:
        "python {input.code[0]:q} {params.scores} {params.overlap} {params.perplexity}"
        " {params.attribute_rates} --settings {params.settings:q} --output {output.table}"
        " --contrasts {output.contrasts} --log {log}"


CLAIMED_ON = [*OUTPUTS.benchmarks, *OUTPUTS.studies.references]
CLAIMED = OUTPUTS.studies.name_claimed(CLAIMED_ON, OUTPUTS.followed_models)


rule judge_claims:
    input:
        code=sources("judge_claims"),
        scores=list(CLAIMED.values()),
        overlap=[OUTPUTS.studies.name_overlap(*benchmark) for benchmark in CLAIMED_ON],
        perplexity=FOLLOWED["perplexity"],
        attribute_rates=FOLLOWED["attribute_rates"],
    output:
        claims="<results>/following/claims.csv",
        correlations="<results>/following/claim-correlations.csv",
        models="<results>/following/claim-models.csv",
    log:
        "<logs>/judge_claims.log",
    benchmark:
        "<timings>/judge_claims.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of_claims(),
        scores=options("scores", CLAIMED, "scores"),
        overlap=options("overlap", CLAIMED_ON, "overlap"),
        perplexity=options("perplexity", OUTPUTS.followed_texts, "perplexity"),
        attribute_rates=options(
            "attribute-rates", OUTPUTS.followed_measures, "attribute_rates"
        ),
    shell:
        "python {input.code[0]:q} {params.scores} {params.overlap} {params.perplexity}"
        " {params.attribute_rates} --settings {params.settings:q} --output {output.claims}"
        " --correlations {output.correlations} --models {output.models} --log {log}"


rule compare_targets:
    input:
        code=sources("compare_targets"),
        pairs=lambda wildcards: [
            f"<results>/{wildcards.domain}/benchmark/{variant}/pairs.parquet"
            for variant in OUTPUTS.list_variants(wildcards.domain)
        ],
        scores=lambda wildcards: [
            path for _, _, path in OUTPUTS.studies.name_compared(wildcards.domain)
        ],
        overlap=lambda wildcards: [
            f"<results>/{wildcards.domain}/benchmark/{variant}/overlap.parquet"
            for domain, variant in OUTPUTS.overlapping
            if domain == wildcards.domain
        ],
    output:
        targets="<results>/{domain}/targets/changes.parquet",
        groups="<results>/{domain}/targets/target-groups.csv",
        extremes="<results>/{domain}/targets/best-and-worst.csv",
    log:
        "<logs>/compare_targets/{domain}.log",
    benchmark:
        "<timings>/compare_targets/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of_targets(),
        phrase=phrase,
        pairs=lambda wildcards, input: list_options(
            "pairs",
            ([variant] for variant in OUTPUTS.list_variants(wildcards.domain)),
            input.pairs,
        ),
        overlap=lambda wildcards, input: list_options(
            "overlap",
            (
                [variant]
                for domain, variant in OUTPUTS.overlapping
                if domain == wildcards.domain
            ),
            input.overlap,
        ),
        scores=lambda wildcards, input: list_options(
            "scores",
            [place[:2] for place in OUTPUTS.studies.name_compared(wildcards.domain)],
            input.scores,
        ),
        compare=list_options(
            "compare",
            ([model] for model in CONFIG.compared_models),
            CONFIG.compared_models.values(),
        ),
    shell:
        "python {input.code[0]:q} {params.pairs} {params.scores} {params.overlap} {params.compare}"
        " --domain {wildcards.domain:q} --phrase {params.phrase:q} --settings {params.settings:q}"
        " --output {output.targets:q} --groups {output.groups:q} --extremes {output.extremes:q} --log {log:q}"


rule relate_stages:
    input:
        code=sources("relate_stages"),
        following="<results>/following/following.parquet",
        order=order_of_track,
    output:
        relations="<results>/following/{track}.relations.csv",
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
        runtime=grow(20),
    params:
        settings=settings.of("summary"),
    shell:
        "python {input.code[0]:q} --following {input.following} --track {wildcards.track:q}"
        " --order {input.order:q} --settings {params.settings:q} --output {output.relations:q} --log {log:q}"
