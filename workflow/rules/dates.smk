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
        table=paths.DATES,
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
        options=pass_options(cutoffs=COMPARING.cutoffs, settings=settings.of("summary")),
    shell:
        CALL


rule plot_dates:
    input:
        code=sources("plot_dates"),
        style=STYLE,
        dates=paths.DATES,
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
