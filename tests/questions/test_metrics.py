"""Metrics of answers against values by hand, scikit-learn and sacrebleu; intervals and paired differences."""

import numpy as np
import polars as pl
import pytest
from sacrebleu.metrics.bleu import BLEU
from sklearn.metrics import precision_recall_fscore_support

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.questions.answer_scores import (
    LEADING,
    METRICS,
    list_comparisons,
    measure_answers,
    measure_bleu,
    score_answers,
    tabulate_differences,
    tabulate_scores,
)

_SETTINGS = Summary(rounds=200)


def _ask(name: str, form: str, right: list[bool], answer: str = "") -> dict[str, object]:
    level = {"binary": "memorise", "open": "create"}.get(form, "understand")
    options = [f"option {n}" for n in range(len(right))]
    return {"question_id": name, "form": form, "level": level, "template": form, "options": options,
            "right": right, "answer": answer}  # fmt: skip


def _answer(name: str, chosen: list[bool], text: str = "") -> dict[str, object]:
    answered = any(chosen) or bool(text)
    return {"question_id": name, "prompting": "plain", "chosen": chosen, "text": text, "answered": answered}


def _measure(asked: list[dict[str, object]], given: list[dict[str, object]]) -> pl.DataFrame:
    schema = {"chosen": pl.List(pl.Boolean)}
    return measure_answers(pl.DataFrame(asked), pl.DataFrame(given, schema_overrides=schema))


def _values(measures: pl.DataFrame) -> dict[str, float]:
    return {cell[3]: each.resampled.value for cell, each in score_answers(measures, _SETTINGS).items()
            if not cell[2]}  # fmt: skip


def test_binary_metrics_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    right, said = random.integers(2, size=(2, 40)).astype(bool)
    asked = [_ask(f"{n:02}", "binary", [bool(yes), not yes]) for n, yes in enumerate(right)]
    given = [_answer(f"{n:02}", [bool(yes), not yes]) for n, yes in enumerate(said)]
    found = _values(_measure(asked, given))
    precision, recall, f1, _ = precision_recall_fscore_support(right, said, average="binary")
    expected = {"accuracy": (right == said).mean(), "precision": precision, "recall": recall, "f1": f1}
    assert found == pytest.approx(expected)


def test_several_right_options_are_means_over_questions():
    right = [True] * 2 + [False] * 6
    asked = [_ask(name, "multiple-answer", right) for name in "abc"]
    given = [_answer("a", right), _answer("b", [True] + [False] * 2 + [True] * 3 + [False] * 2),
             _answer("c", [False] * 8)]  # fmt: skip
    measures = _measure(asked, given)
    found = _values(measures)
    # b: 1 of 4 chosen is right, 1 of 2 right ones is chosen, F1 = 2 · 1 / (4 + 2)
    assert found == pytest.approx({"accuracy": 1 / 3, "precision": (1 + 1 / 4) / 3, "recall": (1 + 1 / 2) / 3,
                                   "f1": (1 + 1 / 3) / 3})  # fmt: skip
    assert measures.filter(~pl.col("answered"))["question_id"].unique().to_list() == ["c"]
    assert set(found) == set(METRICS["multiple-answer"]) and LEADING["multiple-answer"] in found


def test_a_choice_without_a_choice_is_wrong():
    asked = [_ask(name, "multiple-choice", [True, False, False, False]) for name in "ab"]
    measures = _measure(asked, [_answer("a", [True, False, False, False]), _answer("b", [False] * 4)])
    assert _values(measures) == {"accuracy": 0.5}


def test_bleu_is_sacrebleus():
    reference = "Write to the study office before the end of the second week."
    assert measure_bleu(reference, reference, 4) == 1.0
    assert measure_bleu("", reference, 2) == 0.0
    assert measure_bleu("Write", "Write back", 4) == pytest.approx(np.exp(-1))  # too short by one word
    said = "Write to the office before the end of the week."
    for order in (2, 4):
        ours = measure_bleu(said, reference, order)
        assert (
            ours
            == BLEU(max_ngram_order=order, effective_order=True).sentence_score(said, [reference]).score / 100
        )
        assert 0.2 < ours < 0.8
    assert measure_bleu(said, reference, 2) > measure_bleu(said, reference, 4)


def test_intervals_and_paired_differences():
    random = np.random.default_rng(1)
    names = [f"{n:03}" for n in range(120)]
    asked = [_ask(name, "multiple-choice", [True, False, False, False]) for name in names]
    luck = random.random(120)

    def answer(limit: float) -> pl.DataFrame:
        given = [_answer(name, [each < limit, each >= limit, False, False])
                 for name, each in zip(names, luck.tolist(), strict=True)]  # fmt: skip
        return _measure(asked, given)

    scores = {("m", "plain"): score_answers(answer(0.5), _SETTINGS),
              ("m", "rag"): score_answers(answer(0.6), _SETTINGS),
              ("m@lora", "plain"): score_answers(answer(0.5), _SETTINGS)}  # fmt: skip
    rows = tabulate_scores("s", scores, _SETTINGS)
    value, low, high = (float(text) for text in rows[0][7:10])
    assert low < value < high and value == pytest.approx((luck < 0.5).mean())
    # the interval of a share of 120: about ±0.09
    assert 0.13 < high - low < 0.23
    pairs = list(list_comparisons(list(scores), {"m@lora": "m"}))
    assert pairs == [(("m", "rag"), ("m", "plain")), (("m@lora", "plain"), ("m", "plain"))]
    differences = tabulate_differences("s", scores, pairs, _SETTINGS)
    gain, low, high = (float(text) for text in differences[0][8:11])
    # paired: the questions that both answer alike add nothing to the interval
    assert gain == pytest.approx(((luck >= 0.5) & (luck < 0.6)).mean(), abs=1e-6)
    assert 0 < low < high < 0.2 and differences[0][13] == "yes"
    assert differences[1][8:] == ("0", "0", "0", "1", "1", "no", 120)
    other = score_answers(answer(0.5).filter(pl.col("question_id") < "100"), _SETTINGS)
    with pytest.raises(InputError, match="answered different questions"):
        tabulate_differences("s", scores | {("m", "rag"): other}, pairs[:1], _SETTINGS)


def test_an_answer_belongs_to_its_question():
    asked = [_ask("a", "binary", [True, False])]
    with pytest.raises(InputError, match="the answer to b has no question"):
        _measure(asked, [_answer("b", [True, False])])
    with pytest.raises(InputError, match="has other options than its question"):
        _measure(asked, [_answer("a", [True])])


@pytest.mark.parametrize(("count", "apart"), [(2, "no"), (5, "no"), (6, "yes")])
def test_fewer_than_six_questions_have_no_interval_and_tell_nothing_apart(count, apart):
    asked = [_ask(f"{n}", "multiple-choice", [True, False, False, False]) for n in range(count)]
    scores = {}
    for way, right in (("plain", False), ("rag", True)):
        given = [_answer(f"{n}", [right, not right, False, False]) for n in range(count)]
        scores["m", way] = score_answers(_measure(asked, given), _SETTINGS)
    (row,) = tabulate_differences("s", scores, list_comparisons(list(scores), {}), _SETTINGS)
    assert row[8:11] == ("1", *(("1", "1") if apart == "yes" else ("", ""))) and row[13] == apart
    assert (row[11] == "") == (apart == "no")


def test_the_more_differences_the_less_one_of_them_tells():
    right = np.random.default_rng(1).random((9, 60)) < 0.5
    right[1] = right[0]
    right[0, :6], right[1, :6] = False, True  # six of 60 answers become right, none wrong
    names = [f"{n:02}" for n in range(60)]
    asked = [_ask(name, "multiple-choice", [True, False]) for name in names]
    scores = {
        ("m", f"{way}"): score_answers(
            _measure(asked, [_answer(n, [each, not each]) for n, each in zip(names, row, strict=True)]),
            _SETTINGS,
        )
        for way, row in enumerate(right.tolist())
    }
    first = (("m", "1"), ("m", "0"))
    alone, among = (
        tabulate_differences("s", scores, comparisons, _SETTINGS)[0]
        for comparisons in ([first], [first, *((("m", f"{way}"), ("m", "0")) for way in range(2, 9))])
    )
    assert alone[8:12] == among[8:12] and float(alone[11]) < 0.05
    assert alone[13] == "yes" and among[13] == "no" and float(among[12]) > float(alone[12])


def test_one_question_has_no_interval_and_a_quotient_of_nothing_is_empty():
    measures = _measure([_ask("a", "binary", [False, True])], [_answer("a", [False, True])])
    rows = tabulate_scores("s", {("m", "plain"): score_answers(measures, _SETTINGS)}, _SETTINGS)
    found = {row[6]: row[7:10] for row in rows if not row[5]}
    assert found["accuracy"] == ("1", "", "") and found["precision"] == ("", "", "")
