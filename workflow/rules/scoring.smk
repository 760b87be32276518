"""Ranks and probabilities, perplexity and attribute rate, and their summary."""

HELD_OUT = OUTPUTS.held_out_domains if OUTPUTS.held_out else []

OTHERS_OVERLAPPING = (
    [*OUTPUTS.studies.other_references] if OUTPUTS.texts.list_trained() else []
)


# one load of the weights for all that is measured of a model
rule score_model:
    input:
        model=jobs.find_pointer,
        weights=jobs.find_weights,
        pairs=OUTPUTS.of_benchmarks(paths.PAIRS),
        texts=[OUTPUTS.texts.name_held_out(domain) for domain in HELD_OUT],
        held_out_overlap=OUTPUTS.of_domains(
            paths.HELD_OUT_OVERLAP, [name for name in OVERLAPPING if name in HELD_OUT]
        ),
        sentences=OUTPUTS.of_domains(paths.MATCHED),
        sentence_overlap=OUTPUTS.of_domains(paths.SENTENCE_OVERLAP, OVERLAPPING),
        wordlists=jobs.word_lists("stopwords"),
    output:
        scores=OUTPUTS.of_benchmarks(paths.SCORES),
        score_reports=OUTPUTS.of_benchmarks(paths.SCORES.ending(".json")),
        perplexity=OUTPUTS.of_domains(paths.PERPLEXITY, HELD_OUT),
        perplexity_reports=OUTPUTS.of_domains(
            paths.PERPLEXITY.ending(".json"), HELD_OUT
        ),
        rates=OUTPUTS.of_domains(paths.RATES),
        lists=OUTPUTS.of_domains(paths.TOKEN_LISTS),
        rate_reports=OUTPUTS.of_domains(paths.RATES.ending(".json")),
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
        **needs.ask("score_model"),
        domains=len(CONFIG.benchmark_domains),
    params:
        **program(
            "score_model",
            model=jobs.name_pointer,
            texts=[
                f"{domain}={apart.find_copy(OUTPUTS.texts.name_held_out(domain))}"
                for domain in HELD_OUT
            ],
            wordlists=folder_of("wordlists"),
            finished=jobs.keep_finished("scores"),
            settings=settings.of("scoring", "perplexity", "attribute_rate"),
        ),
    shell:
        CALL_ON_GPUS


# perplexity and attribute rate are about text outside a conversation
use rule score_model as score_chat with:
    input:
        model=paths.POINTER,
        weights=jobs.find_weights,
        pairs=OUTPUTS.of_benchmarks(paths.PAIRS),
        wordlists=jobs.word_lists("stopwords"),
    output:
        scores=OUTPUTS.of_benchmarks(paths.SCORES),
        score_reports=OUTPUTS.of_benchmarks(paths.SCORES.ending(".json")),
    log:
        "<logs>/score_chat/{model}.log",
    benchmark:
        "<timings>/score_chat/{model}.tsv"
    wildcard_constraints:
        model=one_of(OUTPUTS.chat_models),


# a server has the weights
use rule score_chat as score_served with:
    input:
        model=paths.POINTER,
        pairs=OUTPUTS.of_benchmarks(paths.PAIRS),
        wordlists=jobs.word_lists("stopwords"),
    log:
        "<logs>/score_served/{model}.log",
    benchmark:
        "<timings>/score_served/{model}.tsv"
    wildcard_constraints:
        model=one_of(OUTPUTS.served_models),
    params:
        **program(
            "score_model",
            model=jobs.name_pointer,
            wordlists=folder_of("wordlists"),
            finished=jobs.keep_finished("scores"),
            settings=settings.of("scoring", "served"),
        ),


rule summarize_scores:
    input:
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
        runtime=minutes(60),
    params:
        **program("summarize_scores"),
    shell:
        CALL


# models on references that do not lead, which no other table has
use rule summarize_scores as summarize_references with:
    input:
        scores=[path for _, path in RUN.comparing.other_scores],
        pairs=paths.PAIRS.of_each(OUTPUTS.studies.other_references),
        overlap=[OUTPUTS.studies.name_overlap(*each) for each in OTHERS_OVERLAPPING],
    output:
        summary=paths.REFERENCES,
    log:
        "<logs>/summarize_references.log",
    benchmark:
        "<timings>/summarize_references.tsv"
    params:
        **program("summarize_scores"),


rule compare_models:
    input:
        scores=OUTPUTS.name_scores(),
        pairs=OUTPUTS.name_pairs(),
        overlap=OUTPUTS.name_overlaps(),
        summary=paths.SUMMARY,
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
        runtime=minutes(60),
    params:
        **program("compare_models"),
    shell:
        CALL


rule split_by_date:
    input:
        pairs=OUTPUTS.name_pairs(),
        scores=RUN.comparing.name_dated_scores(OUTPUTS.benchmarks),
        overlap=OUTPUTS.name_overlaps(),
    output:
        table=paths.DATES,
    log:
        "<logs>/split_by_date.log",
    benchmark:
        "<timings>/split_by_date.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(30),
    params:
        **program("split_by_date", cutoffs=RUN.comparing.cutoffs),
    shell:
        CALL
