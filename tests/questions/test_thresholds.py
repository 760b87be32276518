"""Answers with other thresholds: which questions, with which records, and their scores."""

import json

import numpy as np
import polars as pl
import pytest
from tests.programs import LIGHT, run_program
from tests.questions.conftest import encode
from tests.questions.test_answers import Knowing

from fathom.config.coverage import Coverage, QuestionSettings
from fathom.config.questions import Evaluation
from fathom.config.scoring import Summary
from fathom.coverage.expanded_corpus import find_owners
from fathom.coverage.expansion import Expansion
from fathom.coverage.sets import Space
from fathom.coverage.subsets import measure_subsets
from fathom.errors import InputError
from fathom.io.contracts.questions import (
    ANSWERED,
    CHUNKS,
    QUESTION_MAP,
    QUESTIONS,
    RECORD_CORPORA,
    THRESHOLD_ANSWERED,
    THRESHOLD_COLUMNS,
)
from fathom.io.files import read_delimited
from fathom.io.tables import check_table, read_table, write_table
from fathom.questions.answers import answer_questions
from fathom.questions.asked_items import ask, divide_questions
from fathom.questions.chunks import draw_chunks
from fathom.questions.percentiles import vary_percentile
from fathom.questions.record_corpora import vary_records
from fathom.questions.threshold_answers import ThresholdFiles, answer_cases, list_cases
from fathom.questions.threshold_scores import Varied, score_thresholds

SETTINGS = QuestionSettings.model_validate(
    {
        "questions": {"first": 12},
        "coverage": {
            "ablation": {"gap_percentile": [0.2, 0.9], "max_correlation": [0.3]},
            "max_correlation": 0,
        },
    }
)
RAG = Evaluation(promptings=["rag"], retrieved=3, per_threshold=3)


class Mistaken(Knowing):
    """Stands in for a model that knows every right answer, and gives another."""

    def score(self, prompts, answers):
        return [-found for found in super().score(prompts, answers)]


@pytest.fixture(scope="module")
def varied(material):
    """Return questions with three t_d."""
    return vary_percentile(material, encode, SETTINGS)


@pytest.fixture(scope="module")
def files(material, catalogue, varied, tmp_path_factory):
    """Return what a model answers from, with the answers of one who knows all."""
    folder = tmp_path_factory.mktemp("thresholds")
    names = ("questions.parquet", "others.parquet", "others.npy", "chunks.parquet", "chunks.npy",
             "corpora.parquet", "answers.parquet")  # fmt: skip
    files = ThresholdFiles(*(folder / name for name in names))
    of_set = varied.map.filter(kind="question", gap_percentile=0.6)["id"].implode()
    own = varied.questions.filter(pl.col("question_id").is_in(of_set))
    chunks = draw_chunks(catalogue.entities, 30)
    write_table(files.questions, own, QUESTIONS)
    write_table(files.others, varied.questions, QUESTIONS)
    write_table(files.chunks, chunks, CHUNKS)
    np.save(files.vectors, varied.vectors)
    np.save(files.embeddings, material.vectors)
    corpora = vary_records(chunks["iri"], material.vectors, SETTINGS.coverage)
    write_table(files.corpora, corpora, RECORD_CORPORA)
    asked = ask([(row, "") for row in divide_questions(own, 0.2)[1].rows(named=True)], [], "rag", RAG)
    write_table(files.answers, answer_questions(Knowing(own), asked, RAG), ANSWERED)
    write_table(folder / "map.parquet", varied.map, QUESTION_MAP)
    return files


def test_embeddings_of_all_questions_are_theirs(varied):
    assert np.array_equal(varied.vectors, encode(varied.questions["question"].to_list()))


def test_records_join_as_documents_of_one_sentence_do(material):
    names = pl.Series("iri", material.names)
    found = vary_records(names, material.vectors, SETTINGS.coverage)
    check_table(found.to_arrow(), RECORD_CORPORA)
    vectors = material.vectors * np.float32(SETTINGS.coverage.length)
    rows = np.arange(len(names))
    densities = np.empty((len(names), len(names)), dtype=np.float32)
    measure_subsets(vectors, vectors, rows, SETTINGS.coverage.bandwidth, densities)
    space = Space(pl.DataFrame(), vectors, rows, {})
    for most in (0.0, 0.3):
        expansion = Expansion(densities, np.ones_like(rows), find_owners(space, rows, False), most)
        while not expansion.is_finished:
            expansion.run_round()
        kept = names.filter(expansion.joined > 0)
        assert found.filter(max_correlation=most)["iri"].to_list() == kept.to_list()
        assert 1 < len(kept) < len(names)
    together = Coverage.model_validate(SETTINGS.coverage.model_dump() | {"documents": 2})
    pairs = vary_records(names, material.vectors, together).filter(max_correlation=0)["iri"].to_list()
    places = [material.names.index(name) for name in pairs]
    assert 0 < len(places) < len(names) and all((place ^ 1) in places for place in places)


def test_what_was_answered_in_the_same_prompt_is_taken_over(files, varied):
    cases, questions = list_cases(files, RAG)
    own = read_table(files.questions, QUESTIONS)
    shown, asked = (set(each["question_id"]) for each in divide_questions(own, 0.2))
    every = {case.question_id for case in cases if case.corpus == "all"}
    assert every - asked == set(varied.questions["question_id"]) - shown - asked
    few = {case.question_id for case in cases if case.corpus == "0.3"}
    assert few == {case.question_id for case in cases if case.corpus == "0"} == every & asked
    counts = own.filter(pl.col("question_id").is_in(sorted(few))).group_by("form", "level").len()["len"]
    assert counts.max() == RAG.per_threshold
    known = read_table(files.answers, ANSWERED)
    prompts = []

    def answer(some):
        prompts.extend((each.row["question_id"], each.items[0].context) for each in some)
        return answer_questions(Knowing(questions, wrong="never"), some, RAG)

    found = answer_cases(cases, questions, known, answer, RAG)
    check_table(found.to_arrow(), THRESHOLD_ANSWERED)
    assert found.select("corpus", "question_id").rows() == [case[:2] for case in cases]
    assert len(prompts) == len(set(prompts)) and every - asked <= {name for name, _ in prompts}
    with_all = {case.question_id: case.records for case in cases if case.corpus == "all"}
    same = {case[:2] for case in cases if case.records == with_all.get(case.question_id)}
    taken = known.select("question_id", "chosen", "text").rows_by_key("question_id")
    for row in found.iter_rows(named=True):
        where = (row["corpus"], row["question_id"])
        if where in same and row["question_id"] in asked:
            assert taken[row["question_id"]] == [(row["chosen"], row["text"])]
            assert (row["question_id"], with_all[row["question_id"]]) not in prompts
    assert {corpus for corpus, _ in same} > {"all"}, "some have the same records without others"


def test_fewer_records_stand_in_the_prompt(files):
    cases, _ = list_cases(files, RAG)
    corpora = read_table(files.corpora, RECORD_CORPORA)
    texts = dict(read_table(files.chunks, CHUNKS).iter_rows())
    for corpus in ("0", "0.3"):
        kept = {texts[iri] for iri in corpora.filter(max_correlation=float(corpus))["iri"]}
        lines = [case.records.splitlines() for case in cases if case.corpus == corpus]
        assert lines and all(len(each) == RAG.retrieved and set(each) <= kept for each in lines)
    with pytest.raises(InputError, match="not the questions and records of one run"):
        list_cases(files._replace(vectors=files.embeddings), RAG)


def test_scores_are_those_of_the_questions_of_each_threshold(files, varied):
    cases, questions = list_cases(files, RAG)
    known = read_table(files.answers, ANSWERED)
    # whoever answers here is wrong about all questions that the set lacks
    others = answer_cases(
        cases, questions, known,
        lambda some: answer_questions(Mistaken(questions, wrong="never"), some, RAG), RAG,
    )  # fmt: skip
    corpora = read_table(files.corpora, RECORD_CORPORA)
    rows = score_thresholds(
        "courses", Varied(varied.questions, varied.map, corpora), [("one", known, others)], Summary(rounds=20)
    )
    table = pl.DataFrame(rows, THRESHOLD_COLUMNS, orient="row")
    of_questions = table.filter(parameter="t_d", metric="accuracy")
    assert of_questions["threshold"].unique(maintain_order=True).to_list() == ["0.2", "0.6", "0.9"]
    asked = set(others.filter(corpus="all")["question_id"]) | set(known["question_id"])
    for threshold in ("0.2", "0.6", "0.9"):
        some = varied.map.filter(kind="question", gap_percentile=float(threshold))["id"]
        own = of_questions.filter(threshold=threshold)
        assert set(own["size"]) == {len(some)}
        closed = varied.questions.filter(
            pl.col("question_id").is_in(sorted(set(some) & asked)), pl.col("form") != "open"
        )
        assert own["questions"].sum() == len(closed)
    of_set = of_questions.filter(threshold="0.6")["value"].cast(float)
    assert of_set.to_list() == [1.0] * len(of_set)
    assert of_questions.filter(threshold="0.2")["value"].cast(float).min() < 1
    of_records = table.filter(parameter="t_c", metric="accuracy")
    sizes = dict(of_records.select("threshold", "size").rows())
    assert sizes == {
        "0": len(corpora.filter(max_correlation=0)), "0.3": len(corpora.filter(max_correlation=0.3)), "": 30
    }  # fmt: skip
    counts = of_records.group_by("form", "level").agg(pl.col("questions").n_unique())["questions"]
    assert set(counts) == {1}, "the same questions with each t_c"


def test_the_programs_write_answers_and_scores(plain, files, varied, material, tmp_path):
    settings = {"evaluation": RAG.model_dump(), "scoring": {"device": "cpu", "batch_tokens": 600}}
    done = run_program(
        "answer_thresholds", "--model", plain.pointer.path, "--questions", "courses", *files,
        tmp_path / "small.parquet", "--finished", tmp_path / "finished", "--settings", json.dumps(settings),
        imports=(*LIGHT, "torch", "transformers"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    others = read_table(tmp_path / "small.parquet", THRESHOLD_ANSWERED)
    assert len(others) == len(list_cases(files, RAG)[0])
    done = run_program(
        "score_thresholds", "--questions", "courses", files.others, files.others.with_name("map.parquet"),
        files.corpora, "--answers", "courses", "small", files.answers, tmp_path / "small.parquet",
        "--output", tmp_path / "s.csv", "--settings", json.dumps({"rounds": 20}), imports=LIGHT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = read_delimited(tmp_path / "s.csv", ",", THRESHOLD_COLUMNS)
    assert {(row["parameter"], row["threshold"]) for row in rows} == {
        ("t_d", "0.2"), ("t_d", "0.6"), ("t_d", "0.9"), ("t_c", "0"), ("t_c", "0.3"), ("t_c", ""),
    }  # fmt: skip
    coverage = {"coverage": SETTINGS.coverage.model_dump(mode="json")}
    done = run_program(
        "vary_records", "--chunks", files.chunks, "--embeddings", files.embeddings,
        "--settings", json.dumps(coverage), "--output", tmp_path / "c.parquet", imports=LIGHT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c.parquet").read_bytes() == files.corpora.read_bytes()
