"""Sizes beside the paper's: what reports say, and empty where the paper says nothing."""

import polars as pl
import pytest

from fathom.questions.corpus_sizes import list_corpus_sizes, list_question_sizes


def test_a_corpus_beside_the_papers():
    report = {"rounds": [{}, {}],
              "corpus": {"documents": 7, "share": 0.25, "coverage": 0.5},
              "redundancy": {"domain": 0.002, "corpus": 0.0005}}  # fmt: skip
    places = pl.DataFrame({"x": [0.0, 1.0, 3.0, 9.0], "y": [0.0, 1.0, 3.0, 9.0], "round": [1, 1, 2, 0]})
    rows = {row[1]: row[4:] for row in list_corpus_sizes("d", report, places)}
    assert rows["share of redundancy that is removed"] == ("0.75", "0.68")
    assert rows["share of the sentences that is kept"] == ("0.25", "0.464")
    # what never joined does not count
    assert rows["growth of the corpus on the map, first round to last"] == ("3", "3.75")
    assert rows["documents that are kept"] == ("7", "")
    report["redundancy"]["domain"] = None
    assert list_corpus_sizes("d", report, places)[-1][4] == ""


def test_questions_beside_the_papers():
    report = {"rounds": [{"large_gaps": 9, "redundancy": None}, {"large_gaps": 4, "redundancy": 0.01}],
              "share_of_possible": 0.5}  # fmt: skip
    forms, templates = ["binary"] * 2 + ["open"] * 2, ["teaches", "leads", "faq.csv", "law/tf"]
    levels = ["memorise"] * 2 + ["create"] * 2
    questions = pl.DataFrame({"form": forms, "level": levels, "template": templates})
    found = list_question_sizes("s", report, questions)
    described = {row[1]: row[2:4] for row in found}
    assert described["questions: binary, memorise"] == ("records", "accuracy, precision, recall, F1")
    assert described["questions: open, create"] == ("faq.csv, law/tf", "BLEU-2, BLEU-4")
    assert described["questions: multiple-answer, apply"][0] == "" and described["rounds"] == ("", "")
    rows = {row[1]: row[4:] for row in found}
    assert rows["questions"] == ("4", "24883")
    assert rows["questions: binary, memorise"] == ("2", "7000")
    assert rows["questions: multiple-answer, apply"] == ("0", "4496")
    assert rows["large gaps at the end"] == ("4", "")
    assert [float(value) for value in rows["share of the possible questions that is asked"]] == pytest.approx(
        [0.5, 0.017]
    )
