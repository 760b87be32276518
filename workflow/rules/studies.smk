"""What studies of training need beside a domain's own text: controls of it, references, orders of domains.

In:  <results>/corpus/index.parquet, <results>/corpus/{texts,training}/{domain}.parquet,
     <results>/{domain}/benchmark/{variant}/vocabulary.tsv
Out: <results>/{domain}/texts/{text}.parquet, <results>/{domain}/benchmark/{unused,clozes}/pairs.{parquet,jsonl,json},
     <results>/orders/{study}.{parquet,yaml}
"""


rule change_texts:
    input:
        code=sources("change_texts"),
        texts=lambda wildcards: OUTPUTS.texts.name(wildcards.domain),
        vocabularies=expand(
            "<results>/{{domain}}/benchmark/{variant}/vocabulary.tsv", variant=VARIANTS
        ),
    output:
        texts="<results>/{domain}/texts/{text}.parquet",
    log:
        "<logs>/change_texts/{domain}.{text}.log",
    benchmark:
        "<timings>/change_texts/{domain}.{text}.tsv"
    wildcard_constraints:
        text=one_of(CONTROLS),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(240),
    params:
        settings=settings.of("sentences"),
    shell:
        "python {input.code[0]:q} --texts {input.texts:q} --vocabularies {input.vocabularies:q}"
        " --text {wildcards.text} --settings {params.settings:q} --output {output.texts:q} --log {log:q}"


# pairs from documents that are set aside, with the vocabulary of TF
use rule make_pairs as make_unused_pairs with:
    input:
        code=sources("make_pairs"),
        sentences="<results>/{domain}/sentences.parquet",
        vocabulary="<results>/{domain}/benchmark/tf/vocabulary.tsv",
        index="<results>/corpus/index.parquet",
        tokenizer=f"<results>/models/{CONFIG.pairs.tokenizer}/tokenizer",
        splits="<results>/corpus/splits.parquet" if BY_CONTENT else [],
    wildcard_constraints:
        variant=UNUSED,


rule draw_clozes:
    input:
        code=sources("draw_clozes"),
        texts="<results>/corpus/texts/{domain}.parquet",
        index="<results>/corpus/index.parquet",
        tokenizer=f"<results>/models/{CONFIG.pairs.tokenizer}/tokenizer",
        wordlists=[f"{WORDLISTS}/{name}.txt" for name in ["stopwords", "function"]],
    output:
        pairs="<results>/{domain}/benchmark/clozes/pairs.parquet",
        lines="<results>/{domain}/benchmark/clozes/pairs.jsonl",
        report="<results>/{domain}/benchmark/clozes/pairs.json",
    log:
        "<logs>/draw_clozes/{domain}.log",
    benchmark:
        "<timings>/draw_clozes/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of("pairs", "sentences"),
        clozes=CONFIG.claims.clozes,
        wordlists=folder_of("wordlists"),
    shell:
        "python {input.code[0]:q} --texts {input.texts:q} --count {params.clozes} --index {input.index}"
        " --tokenizer {input.tokenizer:q} --wordlists {params.wordlists:q}"
        " --settings {params.settings:q} --output {output.pairs:q} --json-lines {output.lines:q}"
        " --report {output.report:q} --log {log:q}"


rule average_abstracts:
    input:
        code=sources("average_abstracts"),
        source=lambda wildcards: source_of_abstracts(wildcards)[1],
    output:
        mean="<results>/orders/means/{domain}.{abstracts}.npy",
    log:
        "<logs>/average_abstracts/{domain}.{abstracts}.log",
    benchmark:
        "<timings>/average_abstracts/{domain}.{abstracts}.tsv"
    wildcard_constraints:
        domain=one_of([*CONFIG.domains, *CONFIG.models.texts]),
        abstracts=r"\d+",
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(120),
        gpu=1 if CONFIG.embedding.device.startswith("cuda") else 0,
    params:
        settings=settings.of_embedding(),
        option=lambda wildcards: source_of_abstracts(wildcards)[0],
    shell:
        "python {input.code[0]:q} --{params.option} {input.source:q} --domain {wildcards.domain:q}"
        " --abstracts {wildcards.abstracts} --settings {params.settings:q} --output {output.mean:q}"
        " --log {log:q}"


rule order_domains:
    input:
        code=sources("order_domains"),
        means=lambda wildcards: OUTPUTS.orders.name_means(wildcards.study),
    output:
        table="<results>/orders/{study}.parquet",
        configuration="<results>/orders/{study}.yaml",
    log:
        "<logs>/order_domains/{study}.log",
    benchmark:
        "<timings>/order_domains/{study}.tsv"
    wildcard_constraints:
        study=one_of(CONFIG.models.continual),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=lambda wildcards: settings.of_order(wildcards.study),
        means=lambda wildcards, input: list_options(
            "mean", OUTPUTS.orders.compare_domains(wildcards.study), input.means
        ),
    shell:
        "python {input.code[0]:q} --study {wildcards.study:q} {params.means} --settings {params.settings:q}"
        " --output {output.table:q} --configuration {output.configuration:q} --log {log:q}"
