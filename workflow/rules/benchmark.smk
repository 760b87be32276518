"""Keywords, matches, vocabularies, pairs.

In:  <results>/corpus/index.parquet, sentences/{slice}.parquet, splits/{slice}.parquet
Out: <results>/corpus/{drawn.parquet,embeddings/}, <results>/{domain}/{keywords.tsv,keywords.npy,sentences.parquet},
     benchmark/{variant}/{vocabulary.tsv,pairs.parquet,pairs.jsonl,overlap.parquet,manifest.json,README.md,lm-eval/};
     <results>/orders/{study}.{parquet,yaml}: domains by similarity, for continual pretraining;
     a reference benchmark, from the file that the configuration names, as benchmark/reference/
"""


rule extract_keywords:
    input:
        code=sources("extract_keywords"),
        index="<results>/corpus/index.parquet",
        wordlists=[
            f"{WORDLISTS}/{name}.txt"
            for name in ["stopwords", "academic", "function", "quantity"]
        ],
    output:
        keywords=report(
            "<results>/{domain}/keywords.tsv",
            caption="../report/keywords.rst",
            category="Benchmark",
            subcategory="{domain}",
            labels={"table": "keywords"},
        ),
        vectors="<results>/{domain}/keywords.npy",
        report="<results>/{domain}/keywords.json",
    log:
        "<logs>/extract_keywords/{domain}.log",
    benchmark:
        "<timings>/extract_keywords/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(8000),
        runtime=grow(120),
    params:
        settings=settings.of("keywords", "embedding"),
        wordlists=folder_of("wordlists"),
    shell:
        "python {input.code[0]:q} --index {input.index} --domain {wildcards.domain:q}"
        " --settings {params.settings:q} --wordlists {params.wordlists:q}"
        " --output {output.keywords:q} --vectors {output.vectors:q} --report {output.report:q} --log {log:q}"


LIMITED = CONFIG.sentences.limit is not None
DRAWN = "<results>/corpus/drawn.parquet" if LIMITED else []


if LIMITED:

    rule draw_documents:
        input:
            code=sources("draw_documents"),
            index="<results>/corpus/index.parquet",
            splits=expand(
                "<results>/corpus/splits/{slice}.parquet", slice=INPUTS.slices
            ),
        output:
            drawn="<results>/corpus/drawn.parquet",
            report="<results>/corpus/drawn.json",
        log:
            "<logs>/draw_documents.log",
        benchmark:
            "<timings>/draw_documents.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(4000),
            runtime=grow(60),
        params:
            settings=settings.of_draw(),
            domains=CONFIG.benchmark_domains,
        shell:
            "python {input.code[0]:q} --index {input.index} --splits {input.splits:q}"
            " --domains {params.domains:q} --settings {params.settings:q} --output {output.drawn}"
            " --report {output.report} --log {log}"


rule embed_sentences:
    input:
        code=sources("embed_sentences"),
        sentences="<results>/corpus/sentences/{slice}.parquet",
        drawn=DRAWN,
    output:
        embeddings="<results>/corpus/embeddings/{slice}.npy",
        report="<results>/corpus/embeddings/{slice}.json",
    log:
        "<logs>/embed_sentences/{slice}.log",
    benchmark:
        "<timings>/embed_sentences/{slice}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(6000),
        runtime=grow(480),
        gpu=1 if CONFIG.embedding.device.startswith("cuda") else 0,
    params:
        settings=settings.of_embedding(),
        drawn=drawn_option,
    shell:
        "python {input.code[0]:q} --sentences {input.sentences:q} {params.drawn} --settings {params.settings:q}"
        " --workers {threads} --output {output.embeddings:q} --report {output.report:q}"
        " --log {log:q}"


rule match_sentences:
    input:
        code=sources("match_sentences"),
        sentences="<results>/corpus/sentences/{slice}.parquet",
        embeddings="<results>/corpus/embeddings/{slice}.npy",
        embeddings_report="<results>/corpus/embeddings/{slice}.json",
        index="<results>/corpus/index.parquet",
        drawn=DRAWN,
        keywords="<results>/{domain}/keywords.tsv",
        vectors="<results>/{domain}/keywords.npy",
    output:
        matches="<results>/{domain}/matches/{slice}.parquet",
    log:
        "<logs>/match_sentences/{domain}/{slice}.log",
    benchmark:
        "<timings>/match_sentences/{domain}/{slice}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of("embedding", "matches"),
        drawn=drawn_option,
    shell:
        "python {input.code[0]:q} --sentences {input.sentences:q} --embeddings {input.embeddings:q}"
        " --embeddings-report {input.embeddings_report:q} --index {input.index} {params.drawn}"
        " --domain {wildcards.domain:q} --keywords {input.keywords:q} --vectors {input.vectors:q}"
        " --settings {params.settings:q} --output {output.matches:q} --log {log:q}"


rule gather_matches:
    input:
        code=sources("gather_matches"),
        matches=expand(
            "<results>/{{domain}}/matches/{slice}.parquet", slice=INPUTS.slices
        ),
        keywords="<results>/{domain}/keywords.tsv",
        vectors="<results>/{domain}/keywords.npy",
    output:
        sentences="<results>/{domain}/sentences.parquet",
        report="<results>/{domain}/sentences.json",
    log:
        "<logs>/gather_matches/{domain}.log",
    benchmark:
        "<timings>/gather_matches/{domain}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of("embedding", "matches"),
    shell:
        "python {input.code[0]:q} --matches {input.matches:q} --keywords {input.keywords:q}"
        " --vectors {input.vectors:q} --settings {params.settings:q}"
        " --output {output.sentences:q} --report {output.report:q} --log {log:q}"


rule build_vocabulary:
    input:
        code=sources("build_vocabulary"),
        sentences="<results>/{domain}/sentences.parquet",
        wordlists=[f"{WORDLISTS}/stopwords.txt"],
    output:
        vocabulary=report(
            "<results>/{domain}/benchmark/{variant}/vocabulary.tsv",
            caption="../report/vocabulary.rst",
            category="Benchmark",
            subcategory="{domain}",
            labels={"table": "vocabulary", "variant": "{variant}"},
        ),
    log:
        "<logs>/build_vocabulary/{domain}.{variant}.log",
    benchmark:
        "<timings>/build_vocabulary/{domain}.{variant}.tsv"
    wildcard_constraints:
        variant=one_of(VARIANTS),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(8000),
        runtime=grow(120),
    params:
        settings=settings.of("vocabulary", "embedding"),
        wordlists=folder_of("wordlists"),
    shell:
        "python {input.code[0]:q} --sentences {input.sentences:q} --variant {wildcards.variant}"
        " --settings {params.settings:q} --wordlists {params.wordlists:q}"
        " --output {output.vocabulary:q} --log {log:q}"


rule make_pairs:
    input:
        code=sources("make_pairs"),
        sentences="<results>/{domain}/sentences.parquet",
        vocabulary="<results>/{domain}/benchmark/{variant}/vocabulary.tsv",
        index="<results>/corpus/index.parquet",
        tokenizer=f"<results>/models/{CONFIG.pairs.tokenizer}/tokenizer",
    output:
        pairs="<results>/{domain}/benchmark/{variant}/pairs.parquet",
        lines="<results>/{domain}/benchmark/{variant}/pairs.jsonl",
        report="<results>/{domain}/benchmark/{variant}/pairs.json",
    log:
        "<logs>/make_pairs/{domain}.{variant}.log",
    benchmark:
        "<timings>/make_pairs/{domain}.{variant}.tsv"
    wildcard_constraints:
        variant=one_of(VARIANTS),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(6000),
        runtime=grow(120),
    params:
        settings=settings.of("pairs"),
    shell:
        "python {input.code[0]:q} --sentences {input.sentences:q} --vocabulary {input.vocabulary:q}"
        " --index {input.index} --tokenizer {input.tokenizer:q} --variant {wildcards.variant}"
        " --settings {params.settings:q} --output {output.pairs:q} --json-lines {output.lines:q}"
        " --report {output.report:q} --log {log:q}"


if OUTPUTS.texts.list_trained():

    rule find_overlap:
        input:
            code=sources("find_overlap"),
            pairs="<results>/{domain}/benchmark/{variant}/pairs.parquet",
            texts=OUTPUTS.texts.list_trained(),
        output:
            overlap="<results>/{domain}/benchmark/{variant}/overlap.parquet",
            report="<results>/{domain}/benchmark/{variant}/overlap.json",
        log:
            "<logs>/find_overlap/{domain}.{variant}.log",
        benchmark:
            "<timings>/find_overlap/{domain}.{variant}.tsv"
        conda:
            "../../envs/corpus.yaml"
        threads: 1
        resources:
            mem_mb=grow(2000),
            runtime=grow(60),
        params:
            folds_by=CONFIG.corpus.folds_by,
        shell:
            "python {input.code[0]:q} --pairs {input.pairs:q} --texts {input.texts:q}"
            " --folds-by {params.folds_by} --output {output.overlap:q} --report {output.report:q}"
            " --log {log:q}"


rule change_texts:
    input:
        code=sources("change_texts"),
        texts=lambda wildcards: OUTPUTS.texts.name(wildcards.domain),
        vocabularies=expand(
            "<results>/{{domain}}/benchmark/{variant}/vocabulary.tsv", variant=VARIANTS
        ),
    output:
        texts="<results>/{domain}/texts/{text}.parquet",
    log:
        "<logs>/change_texts/{domain}.{text}.log",
    benchmark:
        "<timings>/change_texts/{domain}.{text}.tsv"
    wildcard_constraints:
        text=one_of(CONTROLS),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(240),
    params:
        settings=settings.of("sentences"),
    shell:
        "python {input.code[0]:q} --texts {input.texts:q} --vocabularies {input.vocabularies:q}"
        " --text {wildcards.text} --settings {params.settings:q} --output {output.texts:q} --log {log:q}"


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
        card=report(
            "<results>/{domain}/benchmark/{variant}/README.md",
            caption="../report/pairs.rst",
            category="Benchmark",
            subcategory="{domain}",
            labels={"table": "card", "variant": "{variant}"},
        ),
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


rule import_reference:
    input:
        code=sources("import_reference"),
        entries=lambda wildcards: outside(CONFIG.reference[wildcards.domain]),
    output:
        pairs="<results>/{domain}/benchmark/reference/pairs.parquet",
        lines="<results>/{domain}/benchmark/reference/pairs.jsonl",
        report="<results>/{domain}/benchmark/reference/pairs.json",
        card=report(
            "<results>/{domain}/benchmark/reference/README.md",
            caption="../report/reference.rst",
            category="Benchmark",
            subcategory="{domain}",
            labels={"table": "card", "variant": "reference"},
        ),
    log:
        "<logs>/import_reference/{domain}.log",
    benchmark:
        "<timings>/import_reference/{domain}.tsv"
    wildcard_constraints:
        domain=one_of(CONFIG.reference),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        title=title,
        folder=folder_of("pairs"),
    shell:
        "python {input.code[0]:q} --input {input.entries:q} --title {params.title:q}"
        " --output {params.folder:q} --log {log:q}"


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
            changes=report(
                "<results>/changes.csv",
                caption="../report/changes.rst",
                category="Corpus",
                labels={"table": "changes since the earlier run"},
            ),
            keywords=report(
                "<results>/keyword_changes.csv",
                caption="../report/changes.rst",
                category="Corpus",
                labels={"table": "keywords gained and lost"},
            ),
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


rule average_abstracts:
    input:
        code=sources("average_abstracts"),
        source=lambda wildcards: source_of_abstracts(wildcards)[1],
    output:
        mean="<results>/orders/means/{domain}.{abstracts}.npy",
    log:
        "<logs>/average_abstracts/{domain}.{abstracts}.log",
    benchmark:
        "<timings>/average_abstracts/{domain}.{abstracts}.tsv"
    wildcard_constraints:
        domain=one_of([*CONFIG.domains, *CONFIG.models.texts]),
        abstracts=r"\d+",
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(120),
        gpu=1 if CONFIG.embedding.device.startswith("cuda") else 0,
    params:
        settings=settings.of_embedding(),
        option=lambda wildcards: source_of_abstracts(wildcards)[0],
    shell:
        "python {input.code[0]:q} --{params.option} {input.source:q} --domain {wildcards.domain:q}"
        " --abstracts {wildcards.abstracts} --settings {params.settings:q} --output {output.mean:q}"
        " --log {log:q}"


rule order_domains:
    input:
        code=sources("order_domains"),
        means=lambda wildcards: OUTPUTS.orders.name_means(wildcards.study),
    output:
        table="<results>/orders/{study}.parquet",
        configuration="<results>/orders/{study}.yaml",
    log:
        "<logs>/order_domains/{study}.log",
    benchmark:
        "<timings>/order_domains/{study}.tsv"
    wildcard_constraints:
        study=one_of(CONFIG.models.continual),
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=lambda wildcards: settings.of_order(wildcards.study),
        means=lambda wildcards, input: list_options(
            "mean", OUTPUTS.orders.compare_domains(wildcards.study), input.means
        ),
    shell:
        "python {input.code[0]:q} --study {wildcards.study:q} {params.means} --settings {params.settings:q}"
        " --output {output.table:q} --configuration {output.configuration:q} --log {log:q}"
