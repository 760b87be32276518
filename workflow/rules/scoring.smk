"""Ranks and probabilities, perplexity and attribute rate, and their summary.

In:  <results>/models/{model}/model.json, <results>/{domain}/benchmark/{variant}/pairs.parquet,
     <results>/corpus/texts/{domain}.parquet, <results>/{domain}/sentences.parquet
Out: <results>/{domain}/scores/{variant,perplexity,attribute-rate}/{model}.parquet,
     <results>/{summary,comparisons,groups,correlations}.csv
"""


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
        settings=settings.of("scoring"),
    shell:
        "python {input.code[0]:q} --model {input.model:q} --pairs {input.pairs:q}"
        " --settings {params.settings:q} --threads {threads} --gpus {resources.gpu} --output {output.scores:q}"
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
        model=one_of(OUTPUTS.plain_models),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(16000),
        runtime=grow(240),
        gpu=1,
    params:
        settings=settings.of("scoring", "perplexity"),
    shell:
        "python {input.code[0]:q} --model {input.model:q} --texts {input.texts:q}"
        " --settings {params.settings:q} --threads {threads} --output {output.scores:q}"
        " --report {output.report:q} --log {log:q}"


rule measure_attribute_rate:
    input:
        code=sources("measure_attribute_rate"),
        model="<results>/models/{model}/model.json",
        sentences="<results>/{domain}/sentences.parquet",
        wordlists=[f"{WORDLISTS}/stopwords.txt"],
    output:
        rates="<results>/{domain}/scores/attribute-rate/{model}.parquet",
        lists="<results>/{domain}/scores/attribute-rate/{model}.token-lists.parquet",
        report="<results>/{domain}/scores/attribute-rate/{model}.json",
    log:
        "<logs>/measure_attribute_rate/{domain}.{model}.log",
    benchmark:
        "<timings>/measure_attribute_rate/{domain}.{model}.tsv"
    wildcard_constraints:
        model=one_of(OUTPUTS.plain_models),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(16000),
        runtime=grow(240),
        gpu=1,
    params:
        settings=settings.of("scoring", "attribute_rate"),
        wordlists=folder_of("wordlists"),
    shell:
        "python {input.code[0]:q} --model {input.model:q} --sentences {input.sentences:q}"
        " --wordlists {params.wordlists:q} --settings {params.settings:q} --threads {threads}"
        " --output {output.rates:q} --token-lists {output.lists:q} --report {output.report:q} --log {log:q}"


rule summarize_scores:
    input:
        code=sources("summarize_scores"),
        scores=OUTPUTS.name_scores(),
        pairs=OUTPUTS.name_pairs(),
        perplexity=OUTPUTS.name_perplexities(),
        attribute_rates=OUTPUTS.name_attribute_rates(),
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
        settings=settings.of("summary"),
        scores=options("scores", OUTPUTS.scored, "scores"),
        pairs=options("pairs", OUTPUTS.benchmarks, "pairs"),
        perplexity=options("perplexity", OUTPUTS.held_out, "perplexity"),
        attribute_rates=options("attribute-rates", OUTPUTS.measured, "attribute_rates"),
    shell:
        "python {input.code[0]:q} {params.scores} {params.pairs} {params.perplexity}"
        " {params.attribute_rates} --settings {params.settings:q} --output {output.summary} --log {log}"


rule compare_models:
    input:
        code=sources("compare_models"),
        scores=OUTPUTS.name_scores(),
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
        settings=settings.of("summary"),
        scores=options("scores", OUTPUTS.scored, "scores"),
    shell:
        "python {input.code[0]:q} {params.scores} --summary {input.summary} --settings {params.settings:q}"
        " --output {output.comparisons} --groups {output.groups}"
        " --correlations {output.correlations} --log {log}"
