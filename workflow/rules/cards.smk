"""What is said of finished benchmarks: cards, tasks of the evaluation harness, changes since an earlier run.

In:  <results>/corpus/, <results>/{domain}/: reports of each step, and benchmark/{variant}/pairs.parquet
Out: <results>/{domain}/benchmark/{variant}/{manifest.json,README.md,lm-eval/}, <results>/changes.{csv,md}
"""


rule describe_benchmark:
    input:
        code=sources("describe_benchmark"),
        pairs="<results>/{domain}/benchmark/{variant}/pairs.parquet",
        report="<results>/{domain}/benchmark/{variant}/pairs.json",
        vocabulary="<results>/{domain}/benchmark/{variant}/vocabulary.tsv",
        keywords="<results>/{domain}/keywords.tsv",
        keywords_report="<results>/{domain}/keywords.json",
        sentences_report="<results>/{domain}/sentences.json",
        join_report="<results>/corpus/join_report.json",
        draw="<results>/corpus/drawn.json" if LIMITED else [],
        overlap=(
            "<results>/{domain}/benchmark/{variant}/overlap.json"
            if OUTPUTS.texts.list_trained()
            else []
        ),
        coverage=(
            "<results>/{domain}/benchmark/{variant}/coverage.json"
            if CONFIG.coverage.benchmarks
            else []
        ),
    output:
        manifest="<results>/{domain}/benchmark/{variant}/manifest.json",
        card="<results>/{domain}/benchmark/{variant}/README.md",
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
        runtime=grow(20),
    params:
        settings=settings.of_card(),
        title=title,
        draw=lambda wildcards, input: f"--draw {input.draw}" if input.draw else "",
        overlap=lambda wildcards, input: (
            f"overlap={input.overlap}" if input.overlap else ""
        ),
        coverage=lambda wildcards, input: (
            f"coverage={input.coverage}" if input.coverage else ""
        ),
    shell:
        "python {input.code[0]:q} --pairs {input.pairs:q} --keywords {input.keywords:q}"
        " --vocabulary {input.vocabulary:q} --join-report {input.join_report}"
        " --reports pairs={input.report:q} keywords={input.keywords_report:q}"
        " sentences={input.sentences_report:q} {params.overlap} {params.coverage} {params.draw} --domain {wildcards.domain:q} --title {params.title:q}"
        " --variant {wildcards.variant} --settings {params.settings:q}"
        " --manifest {output.manifest:q} --card {output.card:q} --log {log:q}"


rule export_benchmark:
    input:
        code=sources("export_benchmark"),
        pairs="<results>/{domain}/benchmark/{variant}/pairs.parquet",
    output:
        task=directory("<results>/{domain}/benchmark/{variant}/lm-eval"),
    log:
        "<logs>/export_benchmark/{domain}.{variant}.log",
    benchmark:
        "<timings>/export_benchmark/{domain}.{variant}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        title=title,
    shell:
        "python {input.code[0]:q} --pairs {input.pairs:q} --domain {wildcards.domain:q}"
        " --variant {wildcards.variant} --title {params.title:q} --output {output.task:q} --log {log:q}"


if CONFIG.previous:

    rule compare_runs:
        input:
            code=sources("compare_runs"),
            keywords=expand(
                "<results>/{domain}/keywords.tsv",
                domain=CONFIG.benchmark_domains,
            ),
            pairs=expand(
                "<results>/{domain}/benchmark/{variant}/pairs.parquet",
                domain=CONFIG.benchmark_domains,
                variant=VARIANTS,
            ),
            embedded=expand(
                "<results>/corpus/embeddings/{slice}.json", slice=INPUTS.slices
            ),
        output:
            changes="<results>/changes.csv",
            keywords="<results>/keyword_changes.csv",
            page="<results>/changes.md",
        log:
            "<logs>/compare_runs.log",
        benchmark:
            "<timings>/compare_runs.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(4000),
            runtime=grow(30),
        params:
            run=folder_of("changes"),
            previous=lambda wildcards, output: Path(output.changes).parents[1]
            / CONFIG.previous,
            domains=CONFIG.benchmark_domains,
        shell:
            "python {input.code[0]:q} --previous {params.previous:q} --run {params.run:q}"
            " --domains {params.domains:q} --output {output.changes} --keywords {output.keywords}"
            " --page {output.page} --log {log}"
