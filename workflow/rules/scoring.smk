"""Ranks and probabilities, and their summary.

In:  results/{run}/models/{model}/model.json, results/{run}/{domain}/benchmark/{variant}/pairs.parquet
Out: results/{run}/{domain}/scores/{variant}/{model}.parquet, results/{run}/summary.csv
"""

BENCHMARKS = [
    (domain, variant, model)
    for domain in CONFIG.benchmark_domains
    for variant in configuration.VARIANTS
    for model in CONFIG.models.scored
]
SCORES = [
    f"results/{RUN}/{domain}/scores/{variant}/{model}.parquet"
    for domain, variant, model in BENCHMARKS
]


rule score_pairs:
    input:
        code=sources("score_pairs"),
        model="results/{run}/models/{model}/model.json",
        pairs="results/{run}/{domain}/benchmark/{variant}/pairs.parquet",
    output:
        scores="results/{run}/{domain}/scores/{variant}/{model}.parquet",
        report="results/{run}/{domain}/scores/{variant}/{model}.json",
    log:
        "results/{run}/logs/score_pairs/{domain}.{variant}.{model}.log",
    benchmark:
        "results/{run}/benchmarks/score_pairs/{domain}.{variant}.{model}.tsv"
    wildcard_constraints:
        model=one_of(CONFIG.models.scored),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(16000),
        runtime=grow(240),
        gpu=1,
    params:
        settings=settings("scoring"),
    shell:
        "python {input.code[0]} --model {input.model:q} --pairs {input.pairs:q}"
        " --settings {params.settings:q} --output {output.scores:q} --report {output.report:q} --log {log:q}"


rule summarize_scores:
    input:
        code=sources("summarize_scores"),
        scores=SCORES,
    output:
        summary=report(
            "results/{run}/summary.csv",
            caption="../report/summary.rst",
            category="Models",
            labels={"table": "summary"},
        ),
    log:
        "results/{run}/logs/summarize_scores.log",
    benchmark:
        "results/{run}/benchmarks/summarize_scores.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings("summary"),
        scores=" ".join(
            f"--scores {domain} {variant} {model} {path}"
            for (domain, variant, model), path in zip(BENCHMARKS, SCORES)
        ),
    shell:
        "python {input.code[0]} {params.scores} --settings {params.settings:q}"
        " --output {output.summary} --log {log}"
