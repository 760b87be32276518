"""Where in the model the knowledge sits: attribute rates, targets and tuned lenses, layer by layer."""

LAYER_MODELS = CONFIG.layer_models


LENSES = CONFIG.benchmark_domains if OUTPUTS.trains_lenses else []


# one load of the weights for all domains; a separate job, as few runs ask for layers
rule measure_layers:
    input:
        model=jobs.find_pointer,
        weights=jobs.find_weights,
        keywords=OUTPUTS.of_domains(paths.KEYWORDS),
        sentences=OUTPUTS.of_domains(paths.MATCHED),
        sentence_overlap=OUTPUTS.of_domains(paths.SENTENCE_OVERLAP, OVERLAPPING),
        pairs=OUTPUTS.of_domains(paths.PAIRS.of(variant=CONFIG.layers.variant)),
        texts=OUTPUTS.of_domains(paths.TEXTS, LENSES),
        wordlists=jobs.word_lists("stopwords"),
    output:
        rates=OUTPUTS.of_domains(paths.LAYER_RATES),
        tokens=OUTPUTS.of_domains(paths.LAYER_TOKENS),
        lists=OUTPUTS.of_domains(paths.LAYER_LISTS),
        examples=OUTPUTS.of_domains(paths.LAYER_EXAMPLES),
        rate_reports=OUTPUTS.of_domains(paths.LAYER_RATES.ending(".json")),
        lenses=OUTPUTS.of_domains(paths.LENS, LENSES),
        lens_reports=OUTPUTS.of_domains(paths.LENS.ending(".json"), LENSES),
        targets=OUTPUTS.of_domains(paths.LAYER_TARGETS),
        target_reports=OUTPUTS.of_domains(paths.LAYER_TARGETS.ending(".json")),
    log:
        "<logs>/measure_layers/{model}.log",
    benchmark:
        "<timings>/measure_layers/{model}.tsv"
    wildcard_constraints:
        model=one_of(LAYER_MODELS),
    priority: 1
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        **needs.ask("measure_layers"),
        domains=len(CONFIG.benchmark_domains),
    params:
        **program(
            "measure_layers",
            model=jobs.name_pointer,
            wordlists=folder_of("wordlists"),
            finished=jobs.keep_finished("layers"),
            settings=settings.of("layers", "scoring", "lens"),
        ),
    shell:
        CALL_WITH_THREADS


rule summarize_layers:
    input:
        rates=[paths.LAYER_RATES.of(model=model) for model in LAYER_MODELS],
        targets=[paths.LAYER_TARGETS.of(model=model) for model in LAYER_MODELS],
        overlap=lambda wildcards: (
            OUTPUTS.studies.name_overlap(wildcards.domain, CONFIG.layers.variant)
            if (wildcards.domain, CONFIG.layers.variant) in OUTPUTS.overlapping
            else []
        ),
    output:
        summary=paths.LAYERS,
        changes=paths.LAYER_CHANGES,
        onsets=paths.LAYER_ONSETS,
    log:
        "<logs>/summarize_layers/{domain}.log",
    benchmark:
        "<timings>/summarize_layers/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(8000),
        runtime=minutes(60),
    params:
        **program("summarize_layers", references=CONFIG.layer_references),
    shell:
        CALL
