"""Answers with other thresholds: which questions, with which records, and their scores."""

import json

import numpy as np
import polars as pl
import pytest
from tests.programs import LIGHT, MODELS, run_program
from tests.questions.conftest import encode
from tests.questions.test_answers import Knowing
from tests.tables import read_delimited

from fathom.config.coverage import Coverage, QuestionSettings
from fathom.config.questions import Evaluation
from fathom.config.scoring import Summary
from fathom.coverage.correlations_varied import vary_records
from fathom.coverage.expanded_corpus import Expansion, find_owners, measure_subsets
from fathom.coverage.sets import Space
from fathom.errors import InputError
from fathom.io.contracts.questions import (
    ANSWERED,
    CHUNKS,
    QUESTION_MAP,
    QUESTION_SCORES,
    QUESTION_THRESHOLDS,
    QUESTIONS,
    RECORD_CORPORA,
)
from fathom.io.files import read_json
from fathom.io.tables import check_table, read_table, write_table
from fathom.questions.answer_files import (
    QuestionFiles,
    ThresholdFiles,
    answer_questions,
    list_threshold_questions,
    prepare_questions,
)
from fathom.questions.answer_scores import Varied, score_thresholds
from fathom.questions.asked_items import divide_questions
from fathom.questions.material import draw_chunks
from fathom.questions.percentiles import vary_percentile

SETTINGS = QuestionSettings.model_validate(
    {"questions": {"first": 12},
     "coverage": {"ablation": {"gap_percentile": [0.2, 0.9], "max_correlation": [0.3]},
                  "max_correlation": 0}},
)  # fmt: skip
RAG = Evaluation(promptings=["rag"], retrieved=3, per_threshold=3)
ALL_WAYS = RAG.model_copy(update={"promptings": ["plain", "rag"], "max_tokens": 6})


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
    """Return what a model answers from."""
    folder = tmp_path_factory.mktemp("thresholds")
    others = ThresholdFiles(*(folder / name for name in ("others.parquet", "others.npy", "corpora.parquet")))
    names = ("questions.parquet", "questions.npy", "chunks.parquet", "chunks.npy")
    files = QuestionFiles(*(folder / name for name in names), others)
    of_set = varied.map.filter(kind="question", gap_percentile=0.6)["id"].implode()
    is_own = varied.questions["question_id"].is_in(of_set)
    chunks = draw_chunks(catalogue.entities, 30)
    write_table(files.questions, varied.questions.filter(is_own), QUESTIONS)
    np.save(files.vectors, varied.vectors[is_own.to_numpy()])
    write_table(others.questions, varied.questions, QUESTIONS)
    np.save(others.vectors, varied.vectors)
    write_table(files.chunks, chunks, CHUNKS)
    np.save(files.embeddings, material.vectors)
    corpora = vary_records(chunks["iri"], material.vectors, SETTINGS.coverage)
    write_table(others.corpora, corpora, RECORD_CORPORA)
    write_table(folder / "map.parquet", varied.map, QUESTION_MAP)
    return files


def test_questions_with_other_thresholds_are_counted_before_they_are_asked(files):
    settings = Evaluation(by="text", per_threshold=3)
    asked = prepare_questions(files, settings)
    without = prepare_questions(files._replace(thresholds=None), settings)
    others = files.thresholds
    found = list_threshold_questions(
        others.questions, others.corpora, read_table(files.questions, QUESTIONS), settings
    )
    assert [each.row["question_id"] for each in asked[len(without) :]] == [
        row["question_id"] for row in found
    ]
    assert len(found) > len(read_table(others.corpora, RECORD_CORPORA)["max_correlation"].unique())


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


def test_questions_with_other_thresholds_join_those_of_the_set(files, varied):
    own = read_table(files.questions, QUESTIONS)
    shown, asked = (set(each["question_id"]) for each in divide_questions(own, 0.2))
    every = prepare_questions(files, ALL_WAYS)
    of_set = prepare_questions(files._replace(thresholds=None), ALL_WAYS)
    assert every[: len(of_set)] == of_set and {each.corpus for each in of_set} == {"all"}
    names = {corpus: [] for corpus in ("all", "0", "0.3")}
    for each in every[len(of_set) :]:
        assert each.prompting == "rag"
        names[each.corpus].append(each.row["question_id"])
    assert set(names["all"]) == set(varied.questions["question_id"]) - shown - asked
    assert names["0"] == names["0.3"] and set(names["0"]) < asked
    counts = own.filter(pl.col("question_id").is_in(names["0"])).group_by("form", "level").len()["len"]
    assert counts.max() == ALL_WAYS.per_threshold
    fewer = files.thresholds._replace(questions=files.questions, vectors=files.vectors)
    swapped = QuestionFiles(*files.thresholds[:2], files.chunks, files.embeddings, fewer)
    with pytest.raises(InputError, match="not from one run"):
        prepare_questions(swapped, RAG)


def test_one_prompt_is_asked_once(files, varied):
    every = prepare_questions(files, RAG)
    prompts = []

    class Counting(Knowing):
        def fit(self, some):
            prompts.append(tuple(some))
            return super().fit(some)

    found = answer_questions(Counting(varied.questions), every, RAG)
    check_table(found.to_arrow(), ANSWERED)
    assert found.select("question_id", "corpus").rows() == [
        (each.row["question_id"], each.corpus) for each in every
    ]
    assert len(prompts) == len({each.prompt for each in every}) < len(every)


def test_fewer_records_stand_in_the_prompt(files):
    corpora = read_table(files.thresholds.corpora, RECORD_CORPORA)
    texts = dict(read_table(files.chunks, CHUNKS).iter_rows())
    for corpus in ("0", "0.3"):
        kept = {texts[iri] for iri in corpora.filter(max_correlation=float(corpus))["iri"]}
        asked = [each for each in prepare_questions(files, RAG) if each.corpus == corpus]
        lines = [each.items[0].context.splitlines() for each in asked]
        assert lines and all(len(each) == RAG.retrieved and set(each) <= kept for each in lines)


def test_scores_are_those_of_the_questions_of_each_threshold(files, varied):
    every, own = prepare_questions(files, RAG), set(read_table(files.questions, QUESTIONS)["question_id"])
    # whoever answers here is wrong about all questions that the set lacks
    known = [each for each in every if each.row["question_id"] in own]
    lacking = [each for each in every if each.row["question_id"] not in own]
    answers = pl.concat([answer_questions(Knowing(varied.questions), known, RAG),
                         answer_questions(Mistaken(varied.questions, wrong="never"), lacking,
                                          RAG)])  # fmt: skip
    corpora = read_table(files.thresholds.corpora, RECORD_CORPORA)
    rows = score_thresholds(
        "courses", Varied(varied.questions, varied.map, corpora), [("one", answers)], Summary(rounds=20)
    )
    table = pl.DataFrame(rows, QUESTION_THRESHOLDS.names, orient="row")
    assert set(table["prompting"]) == {"rag"}
    of_questions = table.filter(parameter="t_d", metric="accuracy")
    assert of_questions["threshold"].unique(maintain_order=True).to_list() == ["0.2", "0.6", "0.9"]
    asked = set(answers["question_id"])
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
    assert sizes == {"0": len(corpora.filter(max_correlation=0)),
                     "0.3": len(corpora.filter(max_correlation=0.3)), "": 30}  # fmt: skip
    counts = of_records.group_by("form", "level").agg(pl.col("questions").n_unique())["questions"]
    assert set(counts) == {1}, "the same questions with each t_c"


def test_the_programs_write_answers_and_scores(plain, files, varied, material, tmp_path):
    settings = {"evaluation": ALL_WAYS.model_dump(), "scoring": {"device": "cpu", "batch_tokens": 600}}
    run_program(
        "answer_questions", "--model", plain.pointer.path, "--questions", f"courses={files.questions}",
        "--vectors", files.vectors, "--chunks", files.chunks, "--embeddings", files.embeddings,
        "--others", f"courses={files.thresholds.questions}", "--vectors-of-others", files.thresholds.vectors,
        "--corpora", files.thresholds.corpora, "--answers", tmp_path / "small.parquet",
        "--finished", tmp_path / "finished", "--settings", json.dumps(settings),
        imports=MODELS,
    )  # fmt: skip
    assert len(read_table(tmp_path / "small.parquet", ANSWERED)) == len(prepare_questions(files, ALL_WAYS))
    asked = divide_questions(read_table(files.questions, QUESTIONS), 0.2)[1]
    promptings = read_json(tmp_path / "small.json")["promptings"]
    assert [each["questions"] for each in promptings.values()] == [len(asked)] * 2
    others = files.thresholds.questions
    run_program(
        "score_answers", "--questions", f"courses={files.questions}",
        "--answers", f"courses/small={tmp_path / 'small.parquet'}", "--others", f"courses={others}",
        "--maps", others.with_name("map.parquet"), "--corpora", files.thresholds.corpora,
        "--thresholds", tmp_path / "t.csv", "--scores", tmp_path / "s.csv",
        "--differences", tmp_path / "d.csv", "--settings", json.dumps({"rounds": 20}), imports=LIGHT,
    )  # fmt: skip
    rows = read_delimited(tmp_path / "t.csv", ",", QUESTION_THRESHOLDS.names)
    assert {(row["parameter"], row["threshold"]) for row in rows} == {
        ("t_d", "0.2"), ("t_d", "0.6"), ("t_d", "0.9"), ("t_c", "0"), ("t_c", "0.3"), ("t_c", ""),
    }  # fmt: skip
    of_set = {(row["form"], row["level"], row["metric"]): (row["value"], row["ci_low"], row["questions"])
              for row in read_delimited(tmp_path / "s.csv", ",", QUESTION_SCORES.names)
              if row["prompting"] == "rag" and not row["template"]}  # fmt: skip
    assert of_set == {
        (row["form"], row["level"], row["metric"]): (row["value"], row["ci_low"], row["questions"])
        for row in rows
        if (row["parameter"], row["threshold"]) == ("t_d", "0.6")
    }
    coverage = {"coverage": SETTINGS.coverage.model_dump(mode="json")}
    run_program(
        "vary_records", "--chunks", files.chunks, "--embeddings", files.embeddings,
        "--settings", json.dumps(coverage), "--records", tmp_path / "c.parquet", imports=LIGHT,
    )  # fmt: skip
    assert (tmp_path / "c.parquet").read_bytes() == files.thresholds.corpora.read_bytes()
