"""Figures of coverage, of the corpus that is kept and of questions; sizes beside the paper's.

In:  <results>/{domain}/benchmark/{variant}/coverage.parquet,
     <results>/{domain}/coverage/{expansion.json,expansion-map.parquet,correlations.csv},
     <results>/questions/{set}/{questions.json,questions.parquet,percentiles-map.parquet},
     <results>/question-{scores,thresholds}.csv
Out: <results>/figures/{domain}.coverage.{variant}.{pdf,png,csv}, {domain}.{expansion,thresholds}.{pdf,png,csv},
     {set}.{questions,scores,radar,answers-by-threshold}.{pdf,png,csv}; <results>/sizes.csv
"""

_LABELS = {"tf": "TF", "tfidf": "TF-IDF"}


rule plot_coverage:
    input:
        code=sources("plot_coverage"),
        style=STYLE,
        map="<results>/{domain}/benchmark/{variant}/coverage.parquet",
    output:
        pdf="<results>/figures/{domain}.coverage.{variant}.pdf",
        png="<results>/figures/{domain}.coverage.{variant}.png",
        table="<results>/figures/{domain}.coverage.{variant}.csv",
    log:
        "<logs>/plot_coverage/{domain}.{variant}.log",
    benchmark:
        "<timings>/plot_coverage/{domain}.{variant}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        title=lambda wildcards: f"{title(wildcards)}: {_LABELS.get(wildcards.variant, wildcards.variant)} benchmark",
    shell:
        "python {input.code[0]:q} --kind benchmark --map {input.map:q}"
        " --title {params.title:q} --output {output.pdf:q} --png {output.png:q}"
        " --table {output.table:q} --log {log:q}"


rule plot_expansion:
    input:
        code=sources("plot_coverage"),
        style=STYLE,
        map="<results>/{domain}/coverage/expansion-map.parquet",
    output:
        pdf="<results>/figures/{domain}.expansion.pdf",
        png="<results>/figures/{domain}.expansion.png",
        table="<results>/figures/{domain}.expansion.csv",
    log:
        "<logs>/plot_expansion/{domain}.log",
    benchmark:
        "<timings>/plot_expansion/{domain}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        title=title,
    shell:
        "python {input.code[0]:q} --kind expansion --map {input.map:q} --title {params.title:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_questions:
    input:
        code=sources("plot_coverage"),
        style=STYLE,
        map="<results>/questions/{set}/percentiles-map.parquet",
    output:
        pdf="<results>/figures/{set}.questions.pdf",
        png="<results>/figures/{set}.questions.png",
        table="<results>/figures/{set}.questions.csv",
    log:
        "<logs>/plot_questions/{set}.log",
    benchmark:
        "<timings>/plot_questions/{set}.tsv"
    wildcard_constraints:
        set=one_of(CONFIG.coverage.questions),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    shell:
        "python {input.code[0]:q} --kind questions --map {input.map:q} --title {wildcards.set:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_correlations:
    input:
        code=sources("plot_correlations"),
        style=STYLE,
        thresholds="<results>/{domain}/coverage/correlations.csv",
    output:
        pdf="<results>/figures/{domain}.thresholds.pdf",
        png="<results>/figures/{domain}.thresholds.png",
        table="<results>/figures/{domain}.thresholds.csv",
    log:
        "<logs>/plot_correlations/{domain}.log",
    benchmark:
        "<timings>/plot_correlations/{domain}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        title=title,
    shell:
        "python {input.code[0]:q} --thresholds {input.thresholds:q} --title {params.title:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_answers:
    input:
        code=sources("plot_answers"),
        style=STYLE,
        scores="<results>/question-scores.csv",
    output:
        pdf="<results>/figures/{set}.{figure}.pdf",
        png="<results>/figures/{set}.{figure}.png",
        table="<results>/figures/{set}.{figure}.csv",
    log:
        "<logs>/plot_answers/{set}.{figure}.log",
    benchmark:
        "<timings>/plot_answers/{set}.{figure}.tsv"
    wildcard_constraints:
        set=one_of(CONFIG.coverage.questions),
        figure="scores|radar",
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        bases=repeat_option("base", list_bases(CONFIG, ENTRIES)),
    shell:
        "python {input.code[0]:q} --scores {input.scores:q} --name {wildcards.set:q} --kind {wildcards.figure}"
        " {params.bases} --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_answer_thresholds:
    input:
        code=sources("plot_answer_thresholds"),
        style=STYLE,
        scores="<results>/question-thresholds.csv",
    output:
        pdf="<results>/figures/{set}.answers-by-threshold.pdf",
        png="<results>/figures/{set}.answers-by-threshold.png",
        table="<results>/figures/{set}.answers-by-threshold.csv",
    log:
        "<logs>/plot_answer_thresholds/{set}.log",
    benchmark:
        "<timings>/plot_answer_thresholds/{set}.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    shell:
        "python {input.code[0]:q} --scores {input.scores:q} --name {wildcards.set:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


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
