"""Where in the model the knowledge sits: attribute rates, targets and tuned lenses, layer by layer.

In:  <results>/models/{model}/model.json, <results>/{domain}/{keywords.tsv,sentences.parquet},
     <results>/{domain}/benchmark/{variant}/pairs.parquet, <results>/corpus/texts/{domain}.parquet
Out: <results>/{domain}/layers/{model}.{tokens,rates,token-lists,targets}.parquet, {model}.examples.tsv,
     {model}.lens.safetensors, {layers,layer-changes,layer-onsets}.csv
"""

LAYER_MODELS = CONFIG.layer_models


rule measure_layer_rates:
    input:
        code=sources("measure_layer_rates"),
        model="<results>/models/{model}/model.json",
        keywords="<results>/{domain}/keywords.tsv",
        sentences="<results>/{domain}/sentences.parquet",
        wordlists=[f"{WORDLISTS}/stopwords.txt"],
    output:
        rates="<results>/{domain}/layers/{model}.rates.parquet",
        tokens="<results>/{domain}/layers/{model}.tokens.parquet",
        lists="<results>/{domain}/layers/{model}.token-lists.parquet",
        examples="<results>/{domain}/layers/{model}.examples.tsv",
        report="<results>/{domain}/layers/{model}.rates.json",
    log:
        "<logs>/measure_layer_rates/{domain}.{model}.log",
    benchmark:
        "<timings>/measure_layer_rates/{domain}.{model}.tsv"
    wildcard_constraints:
        model=one_of(LAYER_MODELS),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(16000),
        runtime=grow(240),
        gpu=1,
    params:
        settings=settings.of_layers("scoring"),
        wordlists=folder_of("wordlists"),
    shell:
        "python {input.code[0]:q} --model {input.model:q} --keywords {input.keywords:q}"
        " --sentences {input.sentences:q} --wordlists {params.wordlists:q}"
        " --settings {params.settings:q} --threads {threads} --output {output.rates:q}"
        " --tokens {output.tokens:q} --token-lists {output.lists:q} --examples {output.examples:q} --report {output.report:q}"
        " --log {log:q}"


rule train_lens:
    input:
        code=sources("train_lens"),
        model="<results>/models/{model}/model.json",
        texts="<results>/corpus/texts/{domain}.parquet",
    output:
        lens="<results>/{domain}/layers/{model}.lens.safetensors",
        report="<results>/{domain}/layers/{model}.lens.json",
    log:
        "<logs>/train_lens/{domain}.{model}.log",
    benchmark:
        "<timings>/train_lens/{domain}.{model}.tsv"
    wildcard_constraints:
        model=one_of(LAYER_MODELS),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(24000),
        runtime=grow(240),
        gpu=1,
    params:
        settings=settings.of("scoring", "lens"),
    shell:
        "python {input.code[0]:q} --model {input.model:q} --texts {input.texts:q}"
        " --settings {params.settings:q} --output {output.lens:q} --report {output.report:q} --log {log:q}"


rule measure_layer_targets:
    input:
        code=sources("measure_layer_targets"),
        model="<results>/models/{model}/model.json",
        pairs=f"<results>/{{domain}}/benchmark/{CONFIG.layers.variant}/pairs.parquet",
        lens=(
            ["<results>/{domain}/layers/{model}.lens.safetensors"]
            if OUTPUTS.trains_lenses
            else []
        ),
    output:
        targets="<results>/{domain}/layers/{model}.targets.parquet",
        report="<results>/{domain}/layers/{model}.targets.json",
    log:
        "<logs>/measure_layer_targets/{domain}.{model}.log",
    benchmark:
        "<timings>/measure_layer_targets/{domain}.{model}.tsv"
    wildcard_constraints:
        model=one_of(LAYER_MODELS),
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=grow(16000),
        runtime=grow(240),
        gpu=1,
    params:
        settings=settings.of_layers("scoring"),
        lens=lambda wildcards, input: f"--lens {input.lens}" if input.lens else "",
    shell:
        "python {input.code[0]:q} --model {input.model:q} --pairs {input.pairs:q} {params.lens}"
        " --settings {params.settings:q} --threads {threads} --output {output.targets:q}"
        " --report {output.report:q} --log {log:q}"


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
    output:
        summary="<results>/{domain}/layers/layers.csv",
        changes="<results>/{domain}/layers/layer-changes.csv",
        onsets=report(
            "<results>/{domain}/layers/layer-onsets.csv",
            caption="../report/layer-onsets.rst",
            category="Layers",
            labels={"table": "where changes begin", "domain": "{domain}"},
        ),
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
        references=" ".join(
            f"--reference {model} {other}" for model, other in CONFIG.layer_references
        ),
    shell:
        "python {input.code[0]:q} {params.rates} {params.targets} {params.references}"
        " --settings {params.settings:q} --output {output.summary:q} --changes {output.changes:q}"
        " --onsets {output.onsets:q} --log {log:q}"
