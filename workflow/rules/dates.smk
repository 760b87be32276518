"""Ranks on documents from before and after the last day of each model's training text.

In:  <results>/{domain}/benchmark/{variant}/{pairs,overlap}.parquet, <results>/{domain}/scores/{variant}/{model}.parquet
Out: <results>/dates.csv, <results>/figures/{domain}.dates.{pdf,png,csv}
"""


rule split_by_date:
    input:
        code=sources("split_by_date"),
        pairs=OUTPUTS.name_pairs(),
        scores=COMPARING.name_dated_scores(OUTPUTS.benchmarks),
        overlap=OUTPUTS.name_overlaps(),
    output:
        table="<results>/dates.csv",
    log:
        "<logs>/split_by_date.log",
    benchmark:
        "<timings>/split_by_date.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(30),
    params:
        settings=settings.of("summary"),
        pairs=options("pairs", OUTPUTS.benchmarks, "pairs"),
        scores=options("scores", COMPARING.list_dated(OUTPUTS.benchmarks), "scores"),
        overlap=options("overlap", OUTPUTS.overlapping, "overlap"),
        cutoffs=repeat_option("cutoff", COMPARING.cutoffs.items()),
    shell:
        "python {input.code[0]:q} {params.pairs} {params.scores} {params.overlap} {params.cutoffs}"
        " --settings {params.settings:q} --output {output.table} --log {log}"


rule plot_dates:
    input:
        code=sources("plot_dates"),
        style=STYLE,
        dates="<results>/dates.csv",
    output:
        pdf="<results>/figures/{domain}.dates.pdf",
        png="<results>/figures/{domain}.dates.png",
        table="<results>/figures/{domain}.dates.csv",
    log:
        "<logs>/plot_dates/{domain}.log",
    benchmark:
        "<timings>/plot_dates/{domain}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of("summary"),
        title=title,
    shell:
        "python {input.code[0]:q} --dates {input.dates} --domain {wildcards.domain:q}"
        " --title {params.title:q} --settings {params.settings:q} --output {output.pdf:q}"
        " --png {output.png:q} --table {output.table:q} --log {log:q}"
