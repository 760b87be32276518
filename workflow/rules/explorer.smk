"""The page of a run: the answer and every pair behind it, in one file that needs no network."""

PAGE_FILES = [
    jobs.ship(shorten_path(path))
    for folder in ("assets", "vendor")
    for path in sorted((LIBRARY / "explorer" / folder).iterdir())
]


rule write_explorer:
    input:
        assets=PAGE_FILES,
        scores=OUTPUTS.name_scores(),
        results=lambda wildcards: hooks.list_page_results(),
        beside=lambda wildcards: hooks.list_beside(),
    output:
        page=paths.PAGE,
        contents=paths.CONTENTS,
    log:
        "<logs>/write_explorer.log",
    benchmark:
        "<timings>/write_explorer.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(30),
    params:
        **program(
            "write_explorer",
            folder=folder_of("page"),
            models=OUTPUTS.shown_models,
            benchmarks=["/".join(place) for place in OUTPUTS.scored_benchmarks],
            left_out=RUN.left_out,
            titles=CONFIG.titles,
        ),
    shell:
        CALL
