"""The page of a run: the answer and every pair behind it, in one file that needs no network."""

PAGE_FILES = [
    ship(shorten_path(path))
    for folder in ("assets", "vendor")
    for path in sorted((LIBRARY / "explorer" / folder).iterdir())
]


rule write_explorer:
    input:
        assets=PAGE_FILES,
        scores=OUTPUTS.name_scores(),
        results=finished_before,
        # else it reads what there is in the folder
        beside=TARGETS.list_beside() if STORED else [],
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
        runtime=grow(30),
    params:
        **program(
            "write_explorer",
            folder=folder_of("page"),
            left_out=LEFT_OUT,
            settings=settings.of("summary"),
        ),
    shell:
        CALL
