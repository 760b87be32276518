"""Rows in the form of the data sets that tasks of lm-evaluation-harness read, by id and subset on the hub."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Row = dict[str, Any]
Maker = Callable[[list[str], int], Row]
"""Takes eight words and a number, and returns a row."""


class DataSet(NamedTuple):
    """How the rows of a data set are made, and which splits it has."""

    make: Maker
    splits: tuple[str, ...] = ("train", "validation", "test")


def _sentence(words: list[str]) -> str:
    return f"The {' '.join(words[:6])}."


def _pair(first: str, second: str) -> Maker:
    def make(words: list[str], number: int) -> Row:
        return {first: _sentence(words), second: _sentence(words[2:]), "label": number % 2, "idx": number}

    return make


def _infer(words: list[str], number: int) -> Row:
    return {
        "premise": _sentence(words),
        "hypothesis": _sentence(words[1:]),
        "label": number % 3,
        "idx": number,
    }


def _options(count: int) -> Callable[[list[str]], Row]:
    def make(words: list[str]) -> Row:
        return {"text": words[:count], "label": list("ABCDE"[:count])}

    return make


def _word_in_context(words: list[str], number: int) -> Row:
    return {
        "word": words[0], "sentence1": _sentence(words), "sentence2": _sentence(words[::-1]), "start1": 4,
        "start2": 4, "end1": 4 + len(words[0]), "end2": 6, "idx": number, "label": number % 2,
    }  # fmt: skip


def _social(words: list[str], number: int) -> Row:
    answers = {f"answer{letter}": word for letter, word in zip("ABC", words, strict=False)}
    return {
        "context": _sentence(words),
        "question": "What comes next?",
        **answers,
        "label": str(number % 3 + 1),
    }


def _ending(words: list[str], number: int) -> Row:
    return {
        "ind": number, "activity_label": words[0], "ctx_a": _sentence(words), "ctx_b": words[1],
        "ctx": f"{_sentence(words)} {words[1]}", "endings": words[2:6], "source_id": str(number),
        "split": "train", "split_type": "indomain", "label": str(number % 4),
    }  # fmt: skip


def _math(words: list[str], number: int) -> Row:
    listed = " , ".join(f"{letter} ) {number + place}" for place, letter in enumerate("abcde"))
    return {
        "Problem": f"What is {number} plus {words[0]}?", "Rationale": _sentence(words), "options": listed,
        "correct": "abcde"[number % 5], "annotated_formula": "", "linear_formula": "", "category": "general",
    }  # fmt: skip


def _medical(words: list[str], number: int) -> Row:
    options = {f"op{letter}": word for letter, word in zip("abcd", words, strict=False)}
    return {
        "id": str(number), "question": _sentence(words), **options, "cop": number % 4,
        "choice_type": "single", "exp": _sentence(words), "subject_name": "x", "topic_name": "x",
    }  # fmt: skip


def _head(words: list[str], number: int) -> Row:
    answers = [{"aid": place + 1, "atext": word} for place, word in enumerate(words[:4])]
    return {
        "name": "x", "year": "2013", "category": "x", "qid": number, "qtext": _sentence(words),
        "ra": number % 4 + 1, "answers": answers,
    }  # fmt: skip


DATA_SETS: Mapping[tuple[str, str], DataSet] = {
    ("nyu-mll/glue", "cola"): DataSet(
        lambda words, number: {"sentence": _sentence(words), "label": number % 2, "idx": number}
    ),
    ("nyu-mll/glue", "sst2"): DataSet(
        lambda words, number: {"sentence": _sentence(words), "label": number % 2, "idx": number}
    ),
    ("nyu-mll/glue", "mnli"): DataSet(
        _infer,
        ("train", "validation_matched", "validation_mismatched", "test_matched", "test_mismatched"),
    ),
    ("nyu-mll/glue", "qnli"): DataSet(_pair("question", "sentence")),
    ("nyu-mll/glue", "rte"): DataSet(_pair("sentence1", "sentence2")),
    ("nyu-mll/glue", "mrpc"): DataSet(_pair("sentence1", "sentence2")),
    ("nyu-mll/glue", "qqp"): DataSet(_pair("question1", "question2")),
    ("aps/super_glue", "wic"): DataSet(_word_in_context),
    ("aps/super_glue", "boolq"): DataSet(
        lambda words, number: {
            "question": _sentence(words),
            "passage": _sentence(words[::-1]),
            "idx": number,
            "label": number % 2,
        }
    ),
    ("facebook/anli", ""): DataSet(
        lambda words, number: {"uid": str(number), "reason": "", **_infer(words, number)},
        tuple(f"{split}_r{number}" for number in (1, 2, 3) for split in ("train", "dev", "test")),
    ),
    ("tau/commonsense_qa", ""): DataSet(
        lambda words, number: {
            "id": str(number),
            "question": _sentence(words),
            "question_concept": words[0],
            "choices": _options(5)(words),
            "answerKey": "ABCDE"[number % 5],
        }
    ),
    ("lighteval/siqa", ""): DataSet(_social, ("train", "validation")),
    ("allenai/winogrande", "winogrande_xl"): DataSet(
        lambda words, number: {
            "sentence": f"The {words[0]} met the {words[1]} because _ was {words[2]}.",
            "option1": words[0],
            "option2": words[1],
            "answer": str(number % 2 + 1),
        }
    ),
    ("Rowan/hellaswag", ""): DataSet(_ending),
    ("allenai/openbookqa", "main"): DataSet(
        lambda words, number: {
            "id": str(number),
            "question_stem": _sentence(words),
            "choices": _options(4)(words),
            "answerKey": "ABCD"[number % 4],
        }
    ),
    **{
        ("allenai/ai2_arc", name): DataSet(
            lambda words, number: {
                "id": str(number),
                "question": _sentence(words),
                "choices": _options(4)(words),
                "answerKey": "ABCD"[number % 4],
            }
        )
        for name in ("ARC-Easy", "ARC-Challenge")
    },
    ("google-research-datasets/nq_open", ""): DataSet(
        lambda words, _: {"question": " ".join(words[:5]), "answer": [words[5]]}, ("train", "validation")
    ),
    ("allenai/sciq", ""): DataSet(
        lambda words, _: {
            "question": _sentence(words),
            "distractor3": words[3],
            "distractor1": words[1],
            "distractor2": words[2],
            "correct_answer": words[0],
            "support": _sentence(words),
        }
    ),
    ("baber/piqa", ""): DataSet(
        lambda words, number: {
            "goal": _sentence(words),
            "sol1": words[0],
            "sol2": words[1],
            "label": number % 2,
        }
    ),
    ("regisss/math_qa", ""): DataSet(_math),
    ("openai/gsm8k", "main"): DataSet(
        lambda words, number: {
            "question": f"{_sentence(words)} What is {number} plus 1?",
            "answer": f"One more.\n#### {number + 1}",
        },
        ("train", "test"),
    ),
    ("openlifescienceai/medmcqa", ""): DataSet(_medical),
    ("EleutherAI/headqa", "en"): DataSet(_head),
}
"""Data sets by id and subset; empty: the only one. Columns are those of the data sets' cards."""
