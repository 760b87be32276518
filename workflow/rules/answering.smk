"""Multiple-choice questions, asked of each model in several ways."""

CHOICE_SETS = list(CONFIG.choices.questions)
SUBJECTS = [RUN.choices.name_subject(name) for name in CHOICE_SETS]


wildcard_constraints:
    questions=one_of(CHOICE_SETS),


localrules:
    read_choices,


# local: compute nodes may have no network
rule read_choices:
    input:
        files=jobs.list_choice_files,
    output:
        questions=paths.CHOICE_QUESTIONS,
    log:
        "<logs>/read_choices/{questions}.log",
    benchmark:
        "<timings>/read_choices/{questions}.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(1000),
        runtime=minutes(20),
    params:
        **program(
            "read_choices",
            set=lambda wildcards: wildcards.questions,
            folder=lambda wildcards: RUN.choices.find_folder(
                wildcards.questions, ROOT
            ),
            hub=lambda wildcards: CONFIG.choices.questions[wildcards.questions].hub,
            revision=lambda wildcards: CONFIG.choices.questions[
                wildcards.questions
            ].revision,
        ),
    shell:
        CALL


# one load of the weights for all sets and variations
rule answer_choices:
    input:
        model=jobs.find_pointer,
        weights=jobs.find_weights,
        questions=expand(paths.CHOICE_QUESTIONS, questions=CHOICE_SETS),
        styles=jobs.own(CONFIG.choices.styles),
    output:
        answers=[paths.CHOICE_ANSWERS.of(questions=name) for name in CHOICE_SETS],
        reports=[
            paths.CHOICE_ANSWERS.ending(".json").of(questions=name)
            for name in CHOICE_SETS
        ],
    log:
        "<logs>/answer_choices/{model}.log",
    benchmark:
        "<timings>/answer_choices/{model}.tsv"
    wildcard_constraints:
        model=one_of(
            name for name in CONFIG.asked_models if name not in CONFIG.models.speaking
        ),
    priority: 1
    conda:
        "../../envs/gpu.yaml"
    threads: 1
    resources:
        **needs.ask("answer_choices"),
    params:
        **program(
            "answer_choices",
            model=jobs.name_pointer,
            subjects=SUBJECTS,
            finished=jobs.keep_finished("choices"),
            settings=settings.of("choices", "scoring"),
        ),
    shell:
        CALL_ON_GPUS


localrules:
    answer_choices_served,


# local: compute nodes may have no network
use rule answer_choices as answer_choices_served with:
    input:
        questions=expand(paths.CHOICE_QUESTIONS, questions=CHOICE_SETS),
        styles=jobs.own(CONFIG.choices.styles),
    log:
        "<logs>/answer_choices_served/{model}.log",
    benchmark:
        "<timings>/answer_choices_served/{model}.tsv"
    wildcard_constraints:
        model=one_of(CONFIG.asked_speakers),
    params:
        **program(
            "answer_choices",
            subjects=SUBJECTS,
            finished=jobs.keep_finished("choices"),
            settings=lambda wildcards: settings.of_spoken_choices(wildcards.model),
        ),


rule compare_choices:
    input:
        answers=RUN.choices.name_answers(),
    output:
        accuracy=paths.CHOICES.of(table="accuracy"),
        orders=paths.CHOICES.of(table="orders"),
        rankings=paths.CHOICES.of(table="rankings"),
        diagnosis=paths.CHOICES.of(table="diagnosis"),
    log:
        "<logs>/compare_choices.log",
    benchmark:
        "<timings>/compare_choices.tsv"
    conda:
        "../../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=grow(4000),
        runtime=minutes(60),
    params:
        **program("compare_choices"),
    shell:
        CALL
