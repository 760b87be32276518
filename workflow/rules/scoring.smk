"""Ranks and probabilities, perplexity and attribute rate, and their summary.

In:  <results>/models/{model}/model.json, <results>/{domain}/benchmark/{variant}/pairs.parquet,
     <results>/corpus/texts/{domain}.parquet, <results>/{domain}/sentences.parquet
Out: <results>/{domain}/scores/{variant,perplexity,attribute-rate}/{model}.parquet,
     <results>/{summary,comparisons,groups,correlations}.csv
"""

BENCHMARKS = [
    (domain, variant, model)
    for domain in CONFIG.benchmark_domains
    for variant in variants(domain)
    for model in CONFIG.models.scored
]
SCORES = [
    f"results/{RUN}/{domain}/scores/{variant}/{model}.parquet"
    for domain, variant, model in BENCHMARKS
]

WRITTEN = [
    (domain, variant)
    for domain in CONFIG.benchmark_domains
    for variant in variants(domain)
]
PAIRS = [
    f"results/{RUN}/{domain}/benchmark/{variant}/pairs.parquet"
    for domain, variant in WRITTEN
]
MEASURED = [
    (domain, model)
    for domain in CONFIG.benchmark_domains
    for model in without_chat_template()
]
# where no document is held out, there is no text to measure perplexity on
PERPLEXITIES = [
    f"results/{RUN}/{domain}/scores/perplexity/{model}.parquet"
    for domain, model in MEASURED
    if CONFIG.corpus.folds.adapt_test > 0
]
ATTRIBUTE_RATES = [
    f"results/{RUN}/{domain}/scores/attribute-rate/{model}.parquet"
    for domain, model in MEASURED
]


rule score_pairs:
    input:
        code=sources("score_pairs"),
        model="<results>/models/{model}/model.json",
        pairs=of_variants("<results>/{domain}/benchmark/VARIANT/pairs.parquet"),
    output:
        scores=of_variants("<results>/{domain}/scores/VARIANT/{model}.parquet"),
        report=of_variants("<results>/{domain}/scores/VARIANT/{model}.json"),
    log:
        "<logs>/score_pairs/{domain}.{model}.log",
    benchmark:
        "<timings>/score_pairs/{domain}.{model}.tsv"
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
        " --settings {params.settings:q} --gpus {resources.gpu} --output {output.scores:q}"
        " --report {output.report:q} --log {log:q}"


use rule score_pairs as score_reference with:
    input:
        code=sources("score_pairs"),
        model="<results>/models/{model}/model.json",
        pairs="<results>/{domain}/benchmark/reference/pairs.parquet",
    output:
        scores="<results>/{domain}/scores/reference/{model}.parquet",
        report="<results>/{domain}/scores/reference/{model}.json",
    log:
        "<logs>/score_reference/{domain}.{model}.log",
    benchmark:
        "<timings>/score_reference/{domain}.{model}.tsv"


rule measure_perplexity:
    input:
        code=sources("measure_perplexity"),
        model="<results>/models/{model}/model.json",
        texts="<results>/corpus/texts/{domain}.parquet",
    output:
        scores="<results>/{domain}/scores/perplexity/{model}.parquet",
        report="<results>/{domain}/scores/perplexity/{model}.json",
    log:
        "<logs>/measure_perplexity/{domain}.{model}.log",
    benchmark:
        "<timings>/measure_perplexity/{domain}.{model}.tsv"
    wildcard_constraints:
        model=one_of(without_chat_template()),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(16000),
        runtime=grow(240),
        gpu=1,
    params:
        settings=settings("scoring", "perplexity"),
    shell:
        "python {input.code[0]} --model {input.model:q} --texts {input.texts:q}"
        " --settings {params.settings:q} --output {output.scores:q} --report {output.report:q} --log {log:q}"


rule measure_attribute_rate:
    input:
        code=sources("measure_attribute_rate"),
        model="<results>/models/{model}/model.json",
        sentences="<results>/{domain}/sentences.parquet",
        wordlists=["config/wordlists/stopwords.txt"],
    output:
        rates="<results>/{domain}/scores/attribute-rate/{model}.parquet",
        lists="<results>/{domain}/scores/attribute-rate/{model}.token-lists.parquet",
        report="<results>/{domain}/scores/attribute-rate/{model}.json",
    log:
        "<logs>/measure_attribute_rate/{domain}.{model}.log",
    benchmark:
        "<timings>/measure_attribute_rate/{domain}.{model}.tsv"
    wildcard_constraints:
        model=one_of(without_chat_template()),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(16000),
        runtime=grow(240),
        gpu=1,
    params:
        settings=settings("scoring", "attribute_rate"),
        wordlists=lambda wildcards, input: Path(input.wordlists[0]).parent,
    shell:
        "python {input.code[0]} --model {input.model:q} --sentences {input.sentences:q}"
        " --wordlists {params.wordlists:q} --settings {params.settings:q} --output {output.rates:q}"
        " --token-lists {output.lists:q} --report {output.report:q} --log {log:q}"


rule summarize_scores:
    input:
        code=sources("summarize_scores"),
        scores=SCORES,
        pairs=PAIRS,
        perplexity=PERPLEXITIES,
        attribute_rates=ATTRIBUTE_RATES,
    output:
        summary=report(
            "<results>/summary.csv",
            caption="../report/summary.rst",
            category="Models",
            labels={"table": "summary"},
        ),
    log:
        "<logs>/summarize_scores.log",
    benchmark:
        "<timings>/summarize_scores.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings("summary"),
        scores=list_options("scores", BENCHMARKS, SCORES),
        pairs=list_options("pairs", WRITTEN, PAIRS),
        perplexity=list_options("perplexity", MEASURED, PERPLEXITIES),
        attribute_rates=list_options("attribute-rates", MEASURED, ATTRIBUTE_RATES),
    shell:
        "python {input.code[0]} {params.scores} {params.pairs} {params.perplexity}"
        " {params.attribute_rates} --settings {params.settings:q} --output {output.summary} --log {log}"


rule compare_models:
    input:
        code=sources("compare_models"),
        scores=SCORES,
        summary="<results>/summary.csv",
    output:
        comparisons=report(
            "<results>/comparisons.csv",
            caption="../report/comparisons.rst",
            category="Models",
            labels={"table": "differences"},
        ),
        groups=report(
            "<results>/groups.csv",
            caption="../report/groups.rst",
            category="Models",
            labels={"table": "groups"},
        ),
        correlations=report(
            "<results>/correlations.csv",
            caption="../report/correlations.rst",
            category="Models",
            labels={"table": "correlations"},
        ),
    log:
        "<logs>/compare_models.log",
    benchmark:
        "<timings>/compare_models.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings("summary"),
        scores=list_options("scores", BENCHMARKS, SCORES),
    shell:
        "python {input.code[0]} {params.scores} --summary {input.summary} --settings {params.settings:q}"
        " --output {output.comparisons} --groups {output.groups}"
        " --correlations {output.correlations} --log {log}"
