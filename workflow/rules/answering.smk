"""Multiple-choice questions, asked of each model in several ways.

In:  CSV files that `choices.questions` names, or a data set of the hub; <results>/models/{model}/model.json
Out: <results>/choices/questions/{questions}.parquet, <results>/choices/answers/{questions}/{model}.{parquet,json},
     <results>/choices/{accuracy,orders,rankings,diagnosis}.csv
"""


def find_choice_files():
    """Return the files of all sets; stop before any job with one clear message if one is missing."""
    try:
        return {
            name: CHOICES.find_files(name, ROOT) for name in CONFIG.choices.questions
        }
    except InputError as error:
        stop(error)


CHOICE_FILES = find_choice_files()
CHOICE_SETS = list(CONFIG.choices.questions)
SUBJECTS = [CHOICES.tell_subject(name) for name in CHOICE_SETS]


wildcard_constraints:
    questions=one_of(CHOICE_SETS),


localrules:
    read_choices,


# local: compute nodes may have no network
rule read_choices:
    input:
        code=sources("read_choices"),
        files=lambda wildcards: [
            outside(path) for path in CHOICE_FILES[wildcards.questions]
        ],
    output:
        questions="<results>/choices/questions/{questions}.parquet",
    log:
        "<logs>/read_choices/{questions}.log",
    benchmark:
        "<timings>/read_choices/{questions}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(1000),
        runtime=grow(20),
    params:
        source=lambda wildcards: CHOICES.find_source(wildcards.questions, ROOT),
    shell:
        "python {input.code[0]:q} --name {wildcards.questions:q} {params.source}"
        " --output {output.questions:q} --log {log:q}"


# one load of the weights for all sets and variations
rule answer_choices:
    input:
        code=sources("answer_choices"),
        model=pointer,
        weights=own_weights,
        questions=expand(
            "<results>/choices/questions/{questions}.parquet", questions=CHOICE_SETS
        ),
        styles=own(CONFIG.choices.styles),
    output:
        answers=expand(
            "<results>/choices/answers/{questions}/{{model}}.parquet",
            questions=CHOICE_SETS,
        ),
        reports=expand(
            "<results>/choices/answers/{questions}/{{model}}.json",
            questions=CHOICE_SETS,
        ),
    log:
        "<logs>/answer_choices/{model}.log",
    benchmark:
        "<timings>/answer_choices/{model}.tsv"
    wildcard_constraints:
        model=one_of(CONFIG.asked_models),
    priority: 1
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=needs.of("answer_choices", "host_mb"),
        runtime=needs.of("answer_choices", "minutes"),
        gpu=needs.of("answer_choices", "gpus"),
        gpu_mem_mb=needs.of("answer_choices", "gpu_mb"),
        gpu_model=needs.of("answer_choices", "model"),
    params:
        model=lambda wildcards: OUTPUTS.name_pointer(wildcards.model),
        settings=settings.of_choices(),
        finished=finished("choices"),
        questions=lambda wildcards, input, output: repeat_option(
            "questions",
            zip(CHOICE_SETS, SUBJECTS, input.questions, output.answers),
        ),
    shell:
        "python {input.code[0]:q} --model {params.model:q} {params.questions} --styles {input.styles:q}"
        " --finished {params.finished:q} --settings {params.settings:q} --threads {threads}"
        " --gpus {resources.gpu} --log {log:q}"


rule compare_choices:
    input:
        code=sources("compare_choices"),
        answers=CHOICES.name_answers(),
    output:
        accuracy="<results>/choices/accuracy.csv",
        orders="<results>/choices/orders.csv",
        rankings="<results>/choices/rankings.csv",
        diagnosis="<results>/choices/diagnosis.csv",
    log:
        "<logs>/compare_choices.log",
    benchmark:
        "<timings>/compare_choices.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=grow(60),
    params:
        settings=settings.of("summary"),
        answers=options("answers", CHOICES.places, "answers"),
    shell:
        "python {input.code[0]:q} {params.answers} --settings {params.settings:q} --accuracy {output.accuracy:q}"
        " --orders {output.orders:q} --rankings {output.rankings:q} --diagnosis {output.diagnosis:q} --log {log:q}"
