"""Descriptions of finished benchmarks: cards, tasks of the harness, changes since an earlier run."""


rule describe_benchmark:
    input:
        pairs=paths.PAIRS,
        # beside the table
        lines=paths.PAIR_LINES,
        pairs_report=paths.PAIRS.ending(".json"),
        vocabulary=paths.VOCABULARY,
        keywords=paths.KEYWORDS,
        keywords_report=paths.KEYWORDS.ending(".json"),
        sentences_report=paths.MATCHED.ending(".json"),
        join_report=paths.JOIN_REPORT,
        draw=paths.DRAWN.ending(".json") if LIMITED else [],
        overlap=paths.OVERLAP.ending(".json") if OUTPUTS.texts.list_trained() else [],
        held_out_overlap=(paths.HELD_OUT_OVERLAP.ending(".json") if OVERLAPPING else []),
        coverage=paths.COVERAGE if CONFIG.coverage.benchmarks else [],
    output:
        manifest=paths.MANIFEST,
        card=paths.CARD,
        croissant=paths.CROISSANT,
    log:
        "<logs>/describe_benchmark/{domain}.{variant}.log",
    benchmark:
        "<timings>/describe_benchmark/{domain}.{variant}.tsv"
    wildcard_constraints:
        variant=one_of(VARIANTS),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program(
            "describe_benchmark", title=jobs.find_title, settings=settings.of_card()
        ),
    shell:
        CALL


rule export_benchmark:
    input:
        pairs=paths.PAIRS,
    output:
        task=directory(paths.TASK),
    log:
        "<logs>/export_benchmark/{domain}.{variant}.log",
    benchmark:
        "<timings>/export_benchmark/{domain}.{variant}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=minutes(20),
    params:
        **program("export_benchmark", title=jobs.find_title),
    shell:
        CALL


if CONFIG.previous:

    rule compare_runs:
        input:
            keywords=expand(paths.KEYWORDS, domain=CONFIG.benchmark_domains),
            pairs=expand(
                paths.PAIRS,
                domain=CONFIG.benchmark_domains,
                variant=VARIANTS,
            ),
            embedded=expand(EMBEDDED.ending(".json"), slice=INPUTS.slices),
        output:
            changes=paths.CHANGES_TABLE,
            keyword_changes=paths.KEYWORD_CHANGES,
            page=paths.CHANGES,
        log:
            "<logs>/compare_runs.log",
        benchmark:
            "<timings>/compare_runs.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(4000),
            runtime=minutes(30),
        params:
            **program(
                "compare_runs",
                later=folder_of("changes"),
                earlier=lambda output: Path(output.changes).parents[1]
                / CONFIG.previous,
                domains=CONFIG.benchmark_domains,
            ),
        shell:
            CALL
