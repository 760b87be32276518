"""Time and memory of a finished run.

In:  results/{run}/benchmarks/, what Snakemake measured of each job
Out: results/{run}/resources.csv
"""


rule gather_benchmarks:
    input:
        code=sources("gather_benchmarks"),
        finished=finished(),
    output:
        table=report(
            "results/{run}/resources.csv",
            caption="../report/resources.rst",
            category="Run",
            labels={"table": "time and memory by rule"},
        ),
    log:
        "results/{run}/logs/gather_benchmarks.log",
    benchmark:
        "results/{run}/benchmarks/gather_benchmarks.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(1000),
        runtime=grow(20),
    shell:
        "python {input.code[0]} --run results/{wildcards.run} --output {output.table} --log {log}"
