"""Time and memory of a finished run.

In:  <timings>/, what Snakemake measured of each job
Out: <results>/resources.csv
"""


rule gather_timings:
    input:
        finished=TARGETS.list_finished(),
    output:
        table=paths.RESOURCES,
    log:
        "<logs>/gather_timings.log",
    benchmark:
        "<timings>/gather_timings.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(1000),
        runtime=minutes(20),
    params:
        **program("gather_timings", folder=folder_of("table")),
    shell:
        CALL
