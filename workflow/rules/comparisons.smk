"""Figures of compared models, and examples of what they are compared on, from finished tables only.

In:  <results>/{summary,references,comparisons}.csv, <results>/{domain}/keywords.tsv,
     <results>/{domain}/benchmark/{variant}/{vocabulary.tsv,pairs.parquet},
     <results>/{domain}/scores/attribute-rate/{model}.token-lists.parquet
Out: <results>/figures/{domain}.{metrics,references}.{group}.{statistic}.{pdf,png,csv},
     {domain}.adapted.{base}.{statistic}.{pdf,png,csv}, chat-models.{pdf,png,csv}, {domain}.sizes.{pdf,png,csv};
     <results>/examples/{tables.md,keywords.csv,vocabularies.csv,pairs.csv}
"""


# one job draws all statistics: to start costs as much as two figures
rule plot_metrics:
    input:
        code=sources("plot_metrics"),
        style=STYLE,
        summaries=["<results>/summary.csv"],
    output:
        pdf=of_statistics("<results>/figures/{domain}.metrics.{group}.STATISTIC.pdf"),
        png=of_statistics("<results>/figures/{domain}.metrics.{group}.STATISTIC.png"),
        table=of_statistics("<results>/figures/{domain}.metrics.{group}.STATISTIC.csv"),
    log:
        "<logs>/plot_metrics/{domain}.{group}.log",
    benchmark:
        "<timings>/plot_metrics/{domain}.{group}.tsv"
    wildcard_constraints:
        group=one_of(COMPARING.groups),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of("summary"),
        title=title,
        models=lambda wildcards: COMPARING.groups[wildcards.group],
        references="",
        figures=drawn_statistics,
    shell:
        "python {input.code[0]:q} --summary {input.summaries} --domain {wildcards.domain:q}"
        " --models {params.models:q} {params.references} --title {params.title:q}"
        " --settings {params.settings:q} {params.figures} --log {log:q}"


use rule plot_metrics as plot_adapted with:
    output:
        pdf=of_statistics("<results>/figures/{domain}.adapted.{base}.STATISTIC.pdf"),
        png=of_statistics("<results>/figures/{domain}.adapted.{base}.STATISTIC.png"),
        table=of_statistics("<results>/figures/{domain}.adapted.{base}.STATISTIC.csv"),
    log:
        "<logs>/plot_adapted/{domain}.{base}.log",
    benchmark:
        "<timings>/plot_adapted/{domain}.{base}.tsv"
    wildcard_constraints:
        base=one_of(OUTPUTS.studies.families),
    params:
        models=lambda wildcards: OUTPUTS.studies.families[wildcards.base],


use rule plot_metrics as plot_references with:
    input:
        code=sources("plot_metrics"),
        style=STYLE,
        summaries=["<results>/summary.csv", "<results>/references.csv"],
    output:
        pdf=of_statistics("<results>/figures/{domain}.references.{group}.STATISTIC.pdf"),
        png=of_statistics("<results>/figures/{domain}.references.{group}.STATISTIC.png"),
        table=of_statistics(
            "<results>/figures/{domain}.references.{group}.STATISTIC.csv"
        ),
    log:
        "<logs>/plot_references/{domain}.{group}.log",
    benchmark:
        "<timings>/plot_references/{domain}.{group}.tsv"
    params:
        references=lambda wildcards: repeat_option(
            "reference", OUTPUTS.studies.name_references(wildcards.domain)
        ),


rule plot_chat_models:
    input:
        code=sources("plot_chat_models"),
        style=STYLE,
        comparisons="<results>/comparisons.csv",
    output:
        pdf="<results>/figures/chat-models.pdf",
        png="<results>/figures/chat-models.png",
        table="<results>/figures/chat-models.csv",
    log:
        "<logs>/plot_chat_models.log",
    benchmark:
        "<timings>/plot_chat_models.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of("summary"),
        pairs=repeat_option("pair", COMPARING.chat_pairs),
        titles=repeat_option("title", COMPARING.titles),
    shell:
        "python {input.code[0]:q} --comparisons {input.comparisons} {params.pairs} {params.titles}"
        " --settings {params.settings:q} --output {output.pdf} --png {output.png} --table {output.table}"
        " --log {log}"


rule plot_sizes:
    input:
        code=sources("plot_sizes"),
        style=STYLE,
        summary="<results>/summary.csv",
    output:
        pdf="<results>/figures/{domain}.sizes.pdf",
        png="<results>/figures/{domain}.sizes.png",
        table="<results>/figures/{domain}.sizes.csv",
    log:
        "<logs>/plot_sizes/{domain}.log",
    benchmark:
        "<timings>/plot_sizes/{domain}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of("summary"),
        title=title,
        models=repeat_option("model", COMPARING.sizes),
    shell:
        "python {input.code[0]:q} --summary {input.summary} --domain {wildcards.domain:q}"
        " --title {params.title:q} {params.models} --settings {params.settings:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


VOCABULARIES = [
    (domain, variant) for domain in CONFIG.benchmark_domains for variant in VARIANTS
]
TOKENIZED = [
    (domain, model)
    for domain in CONFIG.benchmark_domains
    for model in COMPARING.tokenizers
]


rule write_examples:
    input:
        code=sources("write_examples"),
        keywords=of_domains(paths.KEYWORDS),
        vocabularies=[
            f"<results>/{domain}/benchmark/{variant}/vocabulary.tsv"
            for domain, variant in VOCABULARIES
        ],
        pairs=OUTPUTS.name_pairs(),
        tokens=[
            f"<results>/{domain}/scores/attribute-rate/{model}.token-lists.parquet"
            for domain, model in TOKENIZED
        ],
    output:
        page="<results>/examples/tables.md",
        keywords="<results>/examples/keywords.csv",
        terms="<results>/examples/vocabularies.csv",
        chosen="<results>/examples/pairs.csv",
    log:
        "<logs>/write_examples.log",
    benchmark:
        "<timings>/write_examples.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        domains=lambda wildcards, input: repeat_option(
            "domain",
            [(*place, path) for place, path in zip(COMPARING.titles, input.keywords)],
        ),
        vocabularies=options("vocabulary", VOCABULARIES, "vocabularies"),
        pairs=options("pairs", OUTPUTS.benchmarks, "pairs"),
        tokens=options("tokens", TOKENIZED, "tokens"),
    shell:
        "python {input.code[0]:q} {params.domains} {params.vocabularies} {params.pairs} {params.tokens}"
        " --output {output.page} --keywords {output.keywords} --terms {output.terms}"
        " --chosen {output.chosen} --log {log}"
