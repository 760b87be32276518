"""Questions as models are asked them, and answers: by a stand-in that knows some, and by a small model."""

import json

import numpy as np
import polars as pl
import pytest
from tests.programs import LIGHT, MODELS, run_program
from tests.tables import read_delimited

from fathom.answering.answerer import Fitted
from fathom.answering.prompts import make_prompt
from fathom.config.questions import Evaluation
from fathom.errors import InputError
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.questions import ANSWERED, QUESTION_SCORES, QUESTIONS
from fathom.io.files import hash_file, read_json
from fathom.io.tables import check_table, read_table, write_table
from fathom.questions.answer_files import (
    QuestionFiles,
    answer_questions,
    parse_answer,
    plan_answers,
    prepare_questions,
)
from fathom.questions.answer_scores import measure_answers
from fathom.questions.asked_items import (
    ask,
    divide_questions,
    make_items,
    make_question_texts,
    make_record_texts,
)
from fathom.questions.material import draw_chunks

ALL_WAYS = Evaluation(shots=2, max_tokens=6)


class Knowing:
    """Stands in for a model that knows every right answer, and writes it."""

    def __init__(self, questions: pl.DataFrame, wrong: str = "") -> None:
        self._items = {
            make_prompt(item).question: item
            for by in ("likelihood", "text")
            for row in questions.iter_rows(named=True)
            for item in make_items(row, by)
        }
        self._wrong = wrong

    def fit(self, prompts):
        return [Fitted(prompt) for prompt in prompts]

    def _find(self, prompt):
        return next(item for text, item in self._items.items() if prompt.question.endswith(text))

    def score(self, prompts, answers):
        found = []
        for prompt, some in zip(prompts, answers, strict=True):
            item = self._find(prompt)
            right = item.right_letters or item.answer
            found.append(np.array([0.0 if each == f" {right}" else -1.0 for each in some]))
        return found

    def generate(self, prompts, max_tokens, until=""):
        items = [self._find(prompt) for prompt in prompts]
        return [self._wrong or f" {', '.join(item.right_letters) or item.answer}" for item in items]


def test_questions_are_shown_or_asked(questions):
    shown, asked = divide_questions(questions, 0.2)
    assert not set(shown["question_id"]) & set(asked["question_id"])
    assert len(shown) + len(asked) == len(questions)
    kinds = questions.partition_by("form", "level", as_dict=True)
    for kind, some in shown.partition_by("form", "level", as_dict=True).items():
        assert len(some) == -(-len(kinds[kind]) // 5)
    assert divide_questions(questions, 0.0)[0].is_empty()
    # not all of a kind are shown, however large the share
    assert divide_questions(questions, 0.99)[1]["form"].n_unique() == 4


def test_prompts_are_what_they_say(questions, files):
    every = prepare_questions(files, ALL_WAYS)
    asked = divide_questions(questions, 0.2)[1]
    assert [each.prompting for each in every] == [p for p in ALL_WAYS.promptings for _ in range(len(asked))]
    shown = set(questions["question_id"]) - set(asked["question_id"])
    for each in every:
        for item in each.items:
            text = make_prompt(item).render(chat=False)
            question = f"Question: {each.row['question']}"
            assert question in text and text.endswith("\nAnswer:")
            if each.prompting == "plain":
                assert text.startswith(question)
            if each.prompting == "few-shot":
                names = [example.item_id.partition(".")[0] for example in item.examples]
                assert names and len(set(names)) == len(names) <= 2 and set(names) <= shown
                assert text.count("\nAnswer:") == len(names) + 1
            if each.prompting == "rag":
                records = text[: text.index("Question: ")].strip().split("\n")
                assert len(records) == 5
    several = next(each for each in every if each.row["form"] == "multiple-answer")
    assert [item.answer for item in several.items] == [
        "yes" if right else "no" for right in several.row["right"]
    ]
    choice = next(each for each in every if each.row["form"] == "multiple-choice").items[0]
    assert f"\nD. {choice.options[3]}\nAnswer:" in make_prompt(choice).render(chat=False)


def test_examples_of_single_options_are_right_and_wrong_ones(questions):
    several = questions.filter(form="multiple-answer").rows(named=True)
    rows = [(row, "") for row in several]
    settings = Evaluation(shots=5)
    answers = {example.answer for each in ask(rows, several, "few-shot", settings)
               for example in each.items[0].examples}  # fmt: skip
    assert answers == {"yes", "no"}


@pytest.mark.parametrize("by", ["likelihood", "text"])
def test_one_who_knows_all_has_the_best_scores(questions, files, by):
    settings = ALL_WAYS.model_copy(update={"by": by})
    asked = prepare_questions(files, settings)
    answers = answer_questions(Knowing(questions), asked, settings)
    check_table(answers.to_arrow(), ANSWERED)
    measures = measure_answers(questions, answers)
    assert (
        measures.filter(pl.col("denominator") > 0)
        .select((pl.col("numerator") == pl.col("denominator")).all())
        .item()
    )
    assert measures["answered"].all() and len(answers) == len(asked)
    nothing = answer_questions(Knowing(questions, wrong="I cannot say."), asked, settings)
    by_form = (
        measure_answers(questions, nothing)
        .filter(metric="accuracy")
        .group_by("form")
        .agg(pl.col("numerator").mean(), pl.col("answered").any())
    )
    unanswered = {form for form, _, answered in by_form.iter_rows() if not answered}
    assert unanswered == ({"binary", "multiple-choice", "multiple-answer"} if by == "text" else set())


def test_answers_in_writing():
    assert parse_answer("binary", " Yes, she does.") == [True, False]
    assert parse_answer("binary", "**no**") == [False, True]
    assert parse_answer("binary", "Nobody knows") == [False, False]
    assert parse_answer("multiple-choice", "C. The department") == [False, False, True, False]
    assert parse_answer("multiple-choice", "A or B") == [False] * 4
    assert parse_answer("multiple-answer", "A, C and H") == [n in (0, 2, 7) for n in range(8)]
    assert parse_answer("open", "Whatever") == []


def test_a_model_answers_alone_as_it_does_among_others(plain, files):
    from fathom.answering.answerer import ModelAnswerer

    asked = prepare_questions(files, ALL_WAYS)
    forms = ("binary", "multiple-choice", "multiple-answer", "open")
    some = [next(each for each in asked if each.row["form"] == form) for form in forms]
    answerer = ModelAnswerer(plain)
    together = answer_questions(answerer, some, ALL_WAYS)
    alone = pl.concat([answer_questions(answerer, [each], ALL_WAYS) for each in reversed(some)])
    assert together.equals(alone.reverse())


def test_a_set_without_questions_to_ask_and_embeddings_of_another_run(files, questions, tmp_path):
    empty = QuestionFiles(tmp_path / "none.parquet", tmp_path / "none.npy", files.chunks, files.embeddings)
    write_table(empty.questions, questions[:0], QUESTIONS)
    np.save(empty.vectors, np.zeros((0, 32), dtype=np.float32))
    with pytest.raises(InputError, match="no questions to ask"):
        prepare_questions(empty, ALL_WAYS)
    with pytest.raises(InputError, match="embeddings for 0 rows"):
        prepare_questions(empty._replace(vectors=files.vectors), ALL_WAYS)


def test_the_programs_write_answers_scores_and_texts(plain, files, questions, tmp_path):
    settings = {"evaluation": ALL_WAYS.model_dump(), "scoring": {"device": "cpu", "batch_tokens": 600}}
    run_program(
        "answer_questions", "--model", plain.pointer.path, "--questions", f"courses={files.questions}",
        "--vectors", files.vectors, "--chunks", files.chunks, "--embeddings", files.embeddings,
        "--answers", tmp_path / "small.parquet", "--finished", tmp_path / "finished",
        "--settings", json.dumps(settings), imports=MODELS,
    )  # fmt: skip
    answers, report = read_table(tmp_path / "small.parquet", ANSWERED), read_json(tmp_path / "small.json")
    asked = divide_questions(questions, 0.2)[1]
    assert len(answers) == 3 * len(asked) and report["promptings"]["rag"]["questions"] == len(asked)
    assert report["questions_sha256"] == hash_file(files.questions)
    assert report["promptings"]["few-shot"]["most_shots"] > 0
    planned = plan_answers("courses", files, tmp_path / "a.parquet", ALL_WAYS)
    assert planned.outputs == [tmp_path / "a.parquet", tmp_path / "a.json"]
    run_program(
        "score_answers", "--questions", f"courses={files.questions}",
        "--answers", *(f"courses/{name}={tmp_path / 'small.parquet'}" for name in ("small", "other")),
        "--bases", '[["other", "small"]]', "--scores", tmp_path / "s.csv",
        "--differences", tmp_path / "d.csv", "--settings", json.dumps({"rounds": 50}), imports=LIGHT,
    )  # fmt: skip
    scores = read_delimited(tmp_path / "s.csv", ",", QUESTION_SCORES.names)
    found = [
        row for row in scores
        if (row["model"], row["prompting"], row["metric"]) == ("small", "rag", "accuracy")
        and not row["template"]
    ]  # fmt: skip
    for row in found:
        part = measure_answers(questions, answers.filter(prompting="rag")).filter(
            metric="accuracy", form=row["form"], level=row["level"]
        )
        assert float(row["value"]) == pytest.approx(part["numerator"].mean(), abs=1e-5)
    assert {row["form"] for row in found} == {"binary", "multiple-choice", "multiple-answer"}
    differences = read_delimited(tmp_path / "d.csv", ",")
    same = [row for row in differences if row["model"] != row["than_model"]]
    assert same and all(float(row["difference"] or 0) == 0 for row in same)


def test_models_train_on_records_and_on_questions_nobody_is_asked(catalogue, questions):
    records = make_record_texts(draw_chunks(catalogue.entities, 30))
    texts = make_question_texts(questions, 0.2)
    for table in (records, texts):
        check_table(table.to_arrow(), TEXTS)
        assert set(table["split"]) == {"adapt-train", "adapt-valid"}
    shown, asked = divide_questions(questions, 0.2)
    assert {name.partition(".")[0] for name in texts["doc_id"]} == set(shown["question_id"])
    joined = "\n".join(texts["text"])
    assert all(row["question"] in joined for row in shown.iter_rows(named=True))
    assert not any(row["question"] in joined for row in asked.filter(form="binary").iter_rows(named=True))
    (choice, *_) = [text for text in texts["text"] if "\nA. " in text]
    assert choice.rstrip()[-1] in "ABCD"


class Leaning:
    """Stands in for a model that says no to every option, to some less surely."""

    def fit(self, prompts):
        return [Fitted(prompt) for prompt in prompts]

    def score(self, prompts, answers):
        return [np.array([-2.0 - (number == 3) * 0.5 - number, 0.0]) for number in range(len(prompts))]


def test_at_least_one_of_several_options_is_chosen(questions):
    (row, *_) = questions.filter(form="multiple-answer").rows(named=True)
    answers = answer_questions(Leaning(), ask([(row, "")], [], "plain", ALL_WAYS), ALL_WAYS)
    assert answers["chosen"].to_list() == [[True] + [False] * 7] and answers["answered"].all()
