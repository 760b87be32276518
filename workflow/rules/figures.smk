"""Figures of all rooms, from finished tables only, and tables that are shown beside them.

In:  what src/fathom/figures/catalogue.py says that each kind of figure reads
Out: <results>/figures/, <results>/examples/, <results>/sizes.csv,
     <results>/ranking/tables.md, table-{categories,families,corpora,compute}.csv,
     table-corpora-chosen.csv (ranking.corpus_table)
"""

STYLE = jobs.ship(shorten_path(LIBRARY / "figures" / "fathom.mplstyle"))

# one job draws all statistics, or all figures of a family of models, as starting costs as much as two figures
for figure in CATALOGUE.values():

    rule:
        name:
            figure.rule
        input:
            **TARGETS.figures.find_inputs(figure),
            style=hooks.find_style(STYLE, asked=not apart.in_module),
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
            runtime=minutes(20),
        params:
            **program(
                "draw_figure",
                figure.source,
                figure=figure.name,
                inputs=named_inputs(TARGETS.figures.find_inputs(figure)),
                parts=lambda wildcards: dict(wildcards.items()),
                folder=folder_of("pdf"),
                settings=TARGETS.figures.find_settings(figure),
            ),
        shell:
            CALL


rule write_ranking_tables:
    input:
        table=SCORE_TABLE,
        means=paths.RANKING.of(table="means"),
        metadata=[
            jobs.outside(file)
            for file in INPUTS.score_files
            if Path(file).name == "metadata.json"
        ],
    output:
        page=paths.RANKING_PAGE,
        categories=paths.RANKING.of(table="table-categories"),
        families=paths.RANKING.of(table="table-families"),
        corpora=paths.RANKING.of(table="table-corpora"),
        compute=paths.RANKING.of(table="table-compute"),
        chosen=(
            [paths.RANKING.of(table="table-corpora-chosen")]
            if CONFIG.ranking.corpus_table.models
            else []
        ),
    log:
        "<logs>/write_ranking_tables.log",
    benchmark:
        "<timings>/write_ranking_tables.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program("write_ranking_tables", tables=folder_of("page")),
    shell:
        CALL


rule write_examples:
    input:
        domains=OUTPUTS.of_domains(paths.KEYWORDS),
        vocabularies=paths.VOCABULARY.of_each(
            product(CONFIG.benchmark_domains, VARIANTS)
        ),
        pairs=OUTPUTS.name_pairs()
        + paths.PAIRS.of_each(OUTPUTS.studies.other_references),
        tokens=paths.TOKEN_LISTS.of_each(
            product(CONFIG.benchmark_domains, RUN.comparing.tokenizers)
        ),
        questions=paths.QUESTIONS.of_each(zip(CONFIG.coverage.questions)),
    output:
        page=paths.EXAMPLES,
        keywords=paths.EXAMPLE_TABLE.of(table="keywords"),
        terms=paths.EXAMPLE_TABLE.of(table="vocabularies"),
        chosen=paths.EXAMPLE_TABLE.of(table="pairs"),
        benchmarks=paths.EXAMPLE_TABLE.of(table="benchmarks"),
    log:
        "<logs>/write_examples.log",
    benchmark:
        "<timings>/write_examples.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program(
            "write_examples",
            titles=[title for _, title in RUN.comparing.titles],
            references=CONFIG.reference_names,
            settings=settings.of_examples(),
        ),
    shell:
        CALL


rule write_sizes:
    input:
        expansions=OUTPUTS.of_domains(
            paths.EXPANSION.ending(".json"), CONFIG.coverage.expand
        ),
        maps=OUTPUTS.of_domains(paths.EXPANSION_MAP, CONFIG.coverage.expand),
        reports=paths.QUESTIONS.ending(".json").of_each(zip(CONFIG.coverage.questions)),
        questions=paths.QUESTIONS.of_each(zip(CONFIG.coverage.questions)),
    output:
        table=paths.SIZES,
    log:
        "<logs>/write_sizes.log",
    benchmark:
        "<timings>/write_sizes.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program("write_sizes"),
    shell:
        CALL
