"""Figures of adapted models and of models that are followed while they learn, from finished tables only.

In:  <results>/following/{following.parquet,{track}.relations.csv,controls.csv,claims.csv},
     <results>/{domain}/targets/, <results>/orders/{study}.parquet
Out: <results>/figures/{domain}.following.{track}.{pdf,png,csv}, {domain}.targets.{model}.{pdf,png,csv},
     {domain}.controls.{pdf,png,csv}, {domain}.claims.{pdf,png,csv}, {domain}.paths.{base}.{statistic}.{pdf,png,csv}, order.{study}.{pdf,png,csv}, stages.{track}.{kind}.{pdf,png,csv}
"""


rule plot_following:
    input:
        code=sources("plot_following"),
        style=STYLE,
        following="<results>/following/following.parquet",
    output:
        pdf="<results>/figures/{domain}.following.{track}.pdf",
        png="<results>/figures/{domain}.following.{track}.png",
        table="<results>/figures/{domain}.following.{track}.csv",
    log:
        "<logs>/plot_following/{domain}.{track}.log",
    benchmark:
        "<timings>/plot_following/{domain}.{track}.tsv"
    wildcard_constraints:
        track=one_of(CONFIG.models.tracks),
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
        "python {input.code[0]:q} --following {input.following} --track {wildcards.track:q}"
        " --domain {wildcards.domain:q} --title {params.title:q} --settings {params.settings:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_targets:
    input:
        code=sources("plot_targets"),
        style=STYLE,
        targets="<results>/{domain}/targets/changes.parquet",
        groups="<results>/{domain}/targets/target-groups.csv",
    output:
        pdf="<results>/figures/{domain}.targets.{model}.pdf",
        png="<results>/figures/{domain}.targets.{model}.png",
        table="<results>/figures/{domain}.targets.{model}.csv",
    log:
        "<logs>/plot_targets/{domain}.{model}.log",
    benchmark:
        "<timings>/plot_targets/{domain}.{model}.tsv"
    wildcard_constraints:
        model=one_of(CONFIG.compared_models),
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
        "python {input.code[0]:q} --targets {input.targets:q} --groups {input.groups:q}"
        " --model {wildcards.model:q} --title {params.title:q} --settings {params.settings:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_order:
    input:
        code=sources("plot_order"),
        style=STYLE,
        order="<results>/orders/{study}.parquet",
    output:
        pdf="<results>/figures/order.{study}.pdf",
        png="<results>/figures/order.{study}.png",
        table="<results>/figures/order.{study}.csv",
    log:
        "<logs>/plot_order/{study}.log",
    benchmark:
        "<timings>/plot_order/{study}.tsv"
    wildcard_constraints:
        study=one_of(CONFIG.models.continual),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    shell:
        "python {input.code[0]:q} --order {input.order:q} --study {wildcards.study:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_stages:
    input:
        code=sources("plot_stages"),
        style=STYLE,
        following="<results>/following/following.parquet",
        order=order_of_track,
        relations="<results>/following/{track}.relations.csv",
    output:
        pdf="<results>/figures/stages.{track}.{kind}.pdf",
        png="<results>/figures/stages.{track}.{kind}.png",
        table="<results>/figures/stages.{track}.{kind}.csv",
    log:
        "<logs>/plot_stages/{track}.{kind}.log",
    benchmark:
        "<timings>/plot_stages/{track}.{kind}.tsv"
    wildcard_constraints:
        track=one_of(CONFIG.models.studies),
        kind=one_of(STAGE_KINDS),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of("summary"),
        title=title_of_evaluated,
    shell:
        "python {input.code[0]:q} --kind {wildcards.kind} --following {input.following}"
        " --track {wildcards.track:q} --order {input.order:q} --relations {input.relations:q}"
        " --title {params.title:q} --settings {params.settings:q} --output {output.pdf:q}"
        " --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_controls:
    input:
        code=sources("plot_controls"),
        style=STYLE,
        table="<results>/following/controls.csv",
        contrasts="<results>/following/control-contrasts.csv",
    output:
        pdf="<results>/figures/{domain}.controls.pdf",
        png="<results>/figures/{domain}.controls.png",
        table="<results>/figures/{domain}.controls.csv",
    log:
        "<logs>/plot_controls/{domain}.log",
    benchmark:
        "<timings>/plot_controls/{domain}.tsv"
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
        "python {input.code[0]:q} --controls {input.table} --contrasts {input.contrasts}"
        " --domain {wildcards.domain:q} --title {params.title:q} --settings {params.settings:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_claims:
    input:
        code=sources("plot_claims"),
        style=STYLE,
        claims="<results>/following/claims.csv",
        correlations="<results>/following/claim-correlations.csv",
    output:
        pdf="<results>/figures/{domain}.claims.pdf",
        png="<results>/figures/{domain}.claims.png",
        table="<results>/figures/{domain}.claims.csv",
    log:
        "<logs>/plot_claims/{domain}.log",
    benchmark:
        "<timings>/plot_claims/{domain}.tsv"
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
        "python {input.code[0]:q} --claims {input.claims} --correlations {input.correlations}"
        " --domain {wildcards.domain:q} --title {params.title:q} --settings {params.settings:q}"
        " --output {output.pdf:q} --png {output.png:q} --table {output.table:q} --log {log:q}"


rule plot_paths:
    input:
        code=sources("plot_paths"),
        style=STYLE,
        following="<results>/following/following.parquet",
    output:
        pdf=of_statistics("<results>/figures/{domain}.paths.{base}.STATISTIC.pdf"),
        png=of_statistics("<results>/figures/{domain}.paths.{base}.STATISTIC.png"),
        table=of_statistics("<results>/figures/{domain}.paths.{base}.STATISTIC.csv"),
    log:
        "<logs>/plot_paths/{domain}.{base}.log",
    benchmark:
        "<timings>/plot_paths/{domain}.{base}.tsv"
    wildcard_constraints:
        base=one_of(OUTPUTS.studies.path_families),
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grow(2000),
        runtime=grow(20),
    params:
        settings=settings.of("summary"),
        title=title,
        tracks=lambda wildcards: OUTPUTS.studies.path_families[wildcards.base],
        figures=drawn_statistics,
    shell:
        "python {input.code[0]:q} --following {input.following} --tracks {params.tracks:q}"
        " --domain {wildcards.domain:q} --title {params.title:q} --settings {params.settings:q}"
        " {params.figures} --log {log:q}"
