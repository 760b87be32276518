"""Ranks and probabilities, perplexity and attribute rate, and their summary.

In:  <results>/models/{model}/model.json, <results>/{domain}/benchmark/{variant}/pairs.parquet,
     <results>/corpus/texts/{domain}.parquet, <results>/{domain}/sentences.parquet
Out: <results>/{domain}/scores/{variant,perplexity,attribute-rate}/{model}.parquet,
     <results>/{summary,references,comparisons,groups,correlations,settled}.csv
"""

# what is scored together: most sentences of TF and TF-IDF are the same; references share none
TOGETHER = [
    domain if variant in VARIANTS else f"{domain}.{variant}"
    for domain, variant in OUTPUTS.scored_benchmarks
]
HELD_OUT = CONFIG.benchmark_domains if OUTPUTS.held_out else []

OTHERS_OVERLAPPING = (
    [*OUTPUTS.studies.other_references] if OUTPUTS.texts.list_trained() else []
)

# with `scoring.until: settled` all models are scored together, and the jobs of each measure the rest
SETTLED = CONFIG.scoring.until == "settled"
SCORED_ALONE = not SETTLED


# one load of the weights for all that is measured of a model
rule score_model:
    input:
        code=sources("score_model"),
        model=pointer,
        weights=own_weights,
        pairs=of_benchmarks(
            "<results>/DOMAIN/benchmark/VARIANT/pairs.parquet", SCORED_ALONE
        ),
        texts=of_domains("<results>/corpus/texts/DOMAIN.parquet", HELD_OUT),
        sentences=of_domains("<results>/DOMAIN/sentences.parquet"),
        wordlists=[f"{WORDLISTS}/stopwords.txt"],
    output:
        scores=of_benchmarks(
            "<results>/DOMAIN/scores/VARIANT/{model}.parquet", SCORED_ALONE
        ),
        score_reports=of_benchmarks(
            "<results>/DOMAIN/scores/VARIANT/{model}.json", SCORED_ALONE
        ),
        perplexity=of_domains(
            "<results>/DOMAIN/scores/perplexity/{model}.parquet", HELD_OUT
        ),
        perplexity_reports=of_domains(
            "<results>/DOMAIN/scores/perplexity/{model}.json", HELD_OUT
        ),
        rates=of_domains("<results>/DOMAIN/scores/attribute-rate/{model}.parquet"),
        lists=of_domains(
            "<results>/DOMAIN/scores/attribute-rate/{model}.token-lists.parquet"
        ),
        rate_reports=of_domains("<results>/DOMAIN/scores/attribute-rate/{model}.json"),
    log:
        "<logs>/score_model/{model}.log",
    benchmark:
        "<timings>/score_model/{model}.tsv"
    wildcard_constraints:
        model=one_of(OUTPUTS.measured_models),
    # before more models are fetched or trained
    priority: 1
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=needs.of("score_model", "host_mb"),
        runtime=needs.of("score_model", "minutes"),
        gpu=needs.of("score_model", "gpus"),
        gpu_mem_mb=needs.of("score_model", "gpu_mb"),
        gpu_model=needs.of("score_model", "model"),
        domains=len(CONFIG.benchmark_domains),
    params:
        model=lambda wildcards: OUTPUTS.name_pointer(wildcards.model),
        settings=settings.of("scoring", "perplexity", "attribute_rate"),
        wordlists=folder_of("wordlists"),
        finished=finished("scores"),
        pairs=measured("pairs", TOGETHER if SCORED_ALONE else [], "pairs", "scores"),
        texts=measured("texts", HELD_OUT, "texts", "perplexity"),
        sentences=measured("sentences", CONFIG.benchmark_domains, "sentences", "rates"),
    shell:
        "python {input.code[0]:q} --model {params.model:q} {params.pairs} {params.texts} {params.sentences}"
        " --wordlists {params.wordlists:q} --finished {params.finished:q} --settings {params.settings:q}"
        " --threads {threads} --gpus {resources.gpu} --log {log:q}"


# perplexity and attribute rate are about text outside a conversation
use rule score_model as score_chat with:
    input:
        code=sources("score_model"),
        model="<results>/models/{model}/model.json",
        weights=own_weights,
        pairs=of_benchmarks("<results>/DOMAIN/benchmark/VARIANT/pairs.parquet"),
        wordlists=[f"{WORDLISTS}/stopwords.txt"],
    output:
        scores=of_benchmarks("<results>/DOMAIN/scores/VARIANT/{model}.parquet"),
        score_reports=of_benchmarks("<results>/DOMAIN/scores/VARIANT/{model}.json"),
    log:
        "<logs>/score_chat/{model}.log",
    benchmark:
        "<timings>/score_chat/{model}.tsv"
    wildcard_constraints:
        model=one_of(OUTPUTS.chat_models if SCORED_ALONE else []),
    params:
        texts="",
        sentences="",


# which model goes on depends on the scores of all: one job, one model in memory at a time
rule score_settled:
    input:
        code=sources("score_settled"),
        models=[OUTPUTS.name_pointer(model) for model in CONFIG.models.scored],
        pairs=OUTPUTS.name_pairs(),
        overlap=OUTPUTS.name_overlaps(),
    output:
        scores=OUTPUTS.name_scores() if SETTLED else [],
        looks=paths.SETTLED,
    log:
        "<logs>/score_settled.log",
    benchmark:
        "<timings>/score_settled.tsv"
    priority: 1
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=needs.of_all("score_model", CONFIG.models.scored, "host_mb"),
        runtime=needs.of_all("score_model", CONFIG.models.scored, "minutes"),
        gpu=needs.of_all("score_model", CONFIG.models.scored, "gpus"),
        gpu_mem_mb=needs.of_all("score_model", CONFIG.models.scored, "gpu_mb"),
        gpu_model=needs.of_all("score_model", CONFIG.models.scored, "model"),
    params:
        settings=settings.of("scoring", "settled", "summary"),
        models=options("model", [[model] for model in CONFIG.models.scored], "models"),
        pairs=options(
            "pairs",
            [(name, *place) for name, place in zip(TOGETHER, OUTPUTS.benchmarks)],
            "pairs",
        ),
        scores=lambda wildcards, output: list_options(
            "scores", OUTPUTS.scored, output.scores
        ),
        overlap=options("overlap", OUTPUTS.overlapping, "overlap"),
        work=lambda wildcards: f"{RESULTS}/models/.settled",
    shell:
        "python {input.code[0]:q} {params.models} {params.pairs} {params.overlap} {params.scores}"
        " --looks {output.looks:q} --work {params.work:q} --settings {params.settings:q} --threads {threads}"
        " --gpus {resources.gpu} --log {log:q}"


rule summarize_scores:
    input:
        code=sources("summarize_scores"),
        scores=OUTPUTS.name_scores(),
        pairs=OUTPUTS.name_pairs(),
        overlap=OUTPUTS.name_overlaps(),
        perplexity=OUTPUTS.name_perplexities(),
        attribute_rates=OUTPUTS.name_attribute_rates(),
    output:
        summary=paths.SUMMARY,
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
        options=pass_options(settings=settings.of("summary"), settled=SETTLED),
    shell:
        CALL


# models on references beyond the first, which no other table has
use rule summarize_scores as summarize_references with:
    input:
        code=sources("summarize_scores"),
        scores=[path for _, path in COMPARING.other_scores],
        pairs=[
            f"<results>/{domain}/benchmark/{variant}/pairs.parquet"
            for domain, variant in OUTPUTS.studies.other_references
        ],
        overlap=[OUTPUTS.studies.name_overlap(*each) for each in OTHERS_OVERLAPPING],
    output:
        summary=paths.REFERENCES,
    log:
        "<logs>/summarize_references.log",
    benchmark:
        "<timings>/summarize_references.tsv"
    params:
        options=pass_options(settings=settings.of("summary")),


rule compare_models:
    input:
        code=sources("compare_models"),
        scores=OUTPUTS.name_scores(),
        overlap=OUTPUTS.name_overlaps(),
        summary=paths.SUMMARY,
        settled=paths.SETTLED if SETTLED else [],
    output:
        comparisons=paths.COMPARISONS,
        groups=paths.GROUPS,
        correlations=paths.CORRELATIONS,
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
        options=pass_options(settings=settings.of("summary")),
    shell:
        CALL
