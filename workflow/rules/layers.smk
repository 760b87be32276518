"""Where in the model the knowledge sits: attribute rates, targets and tuned lenses, layer by layer.

In:  <results>/models/{model}/model.json, <results>/{domain}/{keywords.tsv,sentences.parquet},
     <results>/{domain}/benchmark/{variant}/pairs.parquet, <results>/corpus/texts/{domain}.parquet
Out: <results>/{domain}/layers/{model}.{tokens,rates,token-lists,targets}.parquet, {model}.examples.tsv,
     {model}.lens.safetensors, {layers,layer-changes,layer-onsets}.csv
"""

LAYER_MODELS = CONFIG.layer_models


LENSES = CONFIG.benchmark_domains if OUTPUTS.trains_lenses else []


# one load of the weights for all domains; a job of its own, for few runs ask for layers
rule measure_layers:
    input:
        code=sources("measure_layers"),
        model="<results>/models/{model}/model.json",
        weights=own_weights,
        keywords=of_domains("<results>/DOMAIN/keywords.tsv"),
        sentences=of_domains("<results>/DOMAIN/sentences.parquet"),
        pairs=of_domains(
            f"<results>/DOMAIN/benchmark/{CONFIG.layers.variant}/pairs.parquet"
        ),
        texts=of_domains("<results>/corpus/texts/DOMAIN.parquet", LENSES),
        wordlists=[f"{WORDLISTS}/stopwords.txt"],
    output:
        rates=of_domains("<results>/DOMAIN/layers/{model}.rates.parquet"),
        tokens=of_domains("<results>/DOMAIN/layers/{model}.tokens.parquet"),
        lists=of_domains("<results>/DOMAIN/layers/{model}.token-lists.parquet"),
        examples=of_domains("<results>/DOMAIN/layers/{model}.examples.tsv"),
        rate_reports=of_domains("<results>/DOMAIN/layers/{model}.rates.json"),
        lenses=of_domains("<results>/DOMAIN/layers/{model}.lens.safetensors", LENSES),
        lens_reports=of_domains("<results>/DOMAIN/layers/{model}.lens.json", LENSES),
        targets=of_domains("<results>/DOMAIN/layers/{model}.targets.parquet"),
        target_reports=of_domains("<results>/DOMAIN/layers/{model}.targets.json"),
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
        mem_mb=needs.of("measure_layers", "host_mb"),
        runtime=needs.of("measure_layers", "minutes"),
        gpu=needs.of("measure_layers", "gpus"),
        gpu_mem_mb=needs.of("measure_layers", "gpu_mb"),
        gpu_model=needs.of("measure_layers", "model"),
        domains=len(CONFIG.benchmark_domains),
    params:
        settings=settings.of_layers("scoring", "lens"),
        wordlists=folder_of("wordlists"),
        finished=finished("layers"),
        domains=measured_layers,
        texts=lambda wildcards, input: list_options(
            "texts", [[name] for name in LENSES], input.texts
        ),
    shell:
        "python {input.code[0]:q} --model {input.model:q} {params.domains} {params.texts}"
        " --wordlists {params.wordlists:q} --finished {params.finished:q} --settings {params.settings:q}"
        " --threads {threads} --log {log:q}"


rule summarize_layers:
    input:
        code=sources("summarize_layers"),
        rates=expand(
            "<results>/{{domain}}/layers/{model}.rates.parquet",
            model=LAYER_MODELS,
        ),
        targets=expand(
            "<results>/{{domain}}/layers/{model}.targets.parquet",
            model=LAYER_MODELS,
        ),
        overlap=lambda wildcards: (
            OUTPUTS.studies.name_overlap(wildcards.domain, CONFIG.layers.variant)
            if (wildcards.domain, CONFIG.layers.variant) in OUTPUTS.overlapping
            else []
        ),
    output:
        summary="<results>/{domain}/layers/layers.csv",
        changes="<results>/{domain}/layers/layer-changes.csv",
        onsets="<results>/{domain}/layers/layer-onsets.csv",
    log:
        "<logs>/summarize_layers/{domain}.log",
    benchmark:
        "<timings>/summarize_layers/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(8000),
        runtime=grow(60),
    params:
        settings=settings.of_layers("summary"),
        rates=options("rates", [[model] for model in LAYER_MODELS], "rates"),
        targets=options("targets", [[model] for model in LAYER_MODELS], "targets"),
        overlap=lambda wildcards, input: (
            f"--overlap {wildcards.domain} {CONFIG.layers.variant} {input.overlap}"
            if input.overlap
            else ""
        ),
        references=" ".join(
            f"--reference {model} {other}" for model, other in CONFIG.layer_references
        ),
    shell:
        "python {input.code[0]:q} {params.rates} {params.targets} {params.overlap} {params.references}"
        " --settings {params.settings:q} --output {output.summary:q} --changes {output.changes:q}"
        " --onsets {output.onsets:q} --log {log:q}"
