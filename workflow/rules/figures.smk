"""Figures of all rooms, from finished tables only, and tables that are shown beside them.

In:  what src/fathom/figures/catalogue.py says that each kind of figure reads
Out: <results>/figures/, <results>/examples/, <results>/sizes.csv,
     <results>/ranking/tables.md, table-{categories,families,corpora,compute}.csv
"""

STYLE = outside(shorten_path(ROOT / "src/fathom/figures/fathom.mplstyle"))


# one job draws all statistics, or all figures of a family of models: to start costs as much as two figures
for figure in CATALOGUE.values():

    rule:
        name:
            figure.rule
        input:
            **TARGETS.figures.find_inputs(figure),
            code=sources("draw_figure", figure.source),
            style=STYLE,
        output:
            pdf=[f"<results>/figures/{name}.pdf" for name in figure.name_files()],
            png=[f"<results>/figures/{name}.png" for name in figure.name_files()],
            table=[f"<results>/figures/{name}.csv" for name in figure.name_files()],
        log:
            f"<logs>/{figure.name_job()}.log",
        benchmark:
            f"<timings>/{figure.name_job()}.tsv"
        wildcard_constraints:
            **{
                name: one_of(values)
                for name, values in TARGETS.figures.constrain(figure).items()
            },
        conda:
            "../../envs/figures.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=grow(20),
        params:
            options=pass_options(
                figure=figure.name,
                inputs=named_inputs(figure.reads),
                parts=lambda wildcards: dict(wildcards.items()),
                folder=folder_of("pdf"),
                settings=TARGETS.figures.find_settings(figure),
            ),
        shell:
            CALL


rule write_ranking_tables:
    input:
        code=sources("write_ranking_tables"),
        table=SCORE_TABLE,
        means="<results>/ranking/means.csv",
    output:
        page="<results>/ranking/tables.md",
        categories="<results>/ranking/table-categories.csv",
        families="<results>/ranking/table-families.csv",
        corpora="<results>/ranking/table-corpora.csv",
        compute="<results>/ranking/table-compute.csv",
    log:
        "<logs>/write_ranking_tables.log",
    benchmark:
        "<timings>/write_ranking_tables.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        folder=folder_of("page"),
    shell:
        "python {input.code[0]:q} --tables {params.folder} --output {output.page}"
        " --categories {output.categories} --families {output.families} --corpora {output.corpora}"
        " --compute {output.compute} --log {log}"


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


rule write_sizes:
    input:
        code=sources("write_sizes"),
        expansions=[
            f"<results>/{domain}/coverage/expansion.json"
            for domain in CONFIG.coverage.expand
        ],
        maps=[
            f"<results>/{domain}/coverage/expansion-map.parquet"
            for domain in CONFIG.coverage.expand
        ],
        reports=[
            f"<results>/questions/{name}/questions.json"
            for name in CONFIG.coverage.questions
        ],
        questions=[
            f"<results>/questions/{name}/questions.parquet"
            for name in CONFIG.coverage.questions
        ],
    output:
        sizes="<results>/sizes.csv",
    log:
        "<logs>/write_sizes.log",
    benchmark:
        "<timings>/write_sizes.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        expansions=lambda wildcards, input: list_options(
            "expansion", zip(CONFIG.coverage.expand, input.expansions), input.maps
        ),
        questions=lambda wildcards, input: list_options(
            "questions", zip(CONFIG.coverage.questions, input.reports), input.questions
        ),
    shell:
        "python {input.code[0]:q} {params.expansions} {params.questions} --output {output.sizes:q} --log {log:q}"
