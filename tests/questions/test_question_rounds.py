"""The programs, and rounds on the disk: stopped and resumed, the same bytes, whatever the hash seed."""

import json
import os
import runpy
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from tests.programs import find_program
from tests.questions.conftest import COURSES, encode

from fathom.config.coverage import QuestionSettings
from fathom.errors import InputError
from fathom.io.contracts.questions import CHUNKS, ENTITIES, QUESTIONS
from fathom.io.files import hash_folder
from fathom.io.tables import check_table, read_table
from fathom.questions.graph import Query
from fathom.questions.material import draw_chunks
from fathom.questions.percentiles import vary_percentile
from fathom.questions.question_rounds import RoundFolder, ask_questions, list_possible

SETTINGS = QuestionSettings.model_validate({"questions": {"first": 12}})


def test_rounds_ask_about_the_records_that_were_drawn(material, tmp_path):
    found = ask_questions(material, encode, SETTINGS, RoundFolder(tmp_path / "rounds", "key"))
    table, vectors, report = found
    assert vectors == pytest.approx(encode(table["question"].to_list()), abs=1e-6)
    check_table(table.to_arrow(), QUESTIONS)
    assert report["records"] == 30 and report["questions"] == len(table) == report["rounds"][-1]["size"]
    assert all(set(chunks) <= set(material.names) and len(chunks) for chunks in table["chunks"])
    assert table.filter(round=0)["form"].n_unique() == 4
    assert len(table.filter(template="faq.csv", round=1)) == 3
    proved = table.filter(pl.col("query") != "")
    assert report["possible"] == 75 and report["share_of_possible"] == len(proved) / 75
    on_disk = [json.loads(path.read_text()) for path in sorted((tmp_path / "rounds").glob("round-*.json"))]
    assert on_disk == report["rounds"] and len(on_disk) > 2
    parts = [read_table(path, QUESTIONS) for path in sorted((tmp_path / "rounds").glob("*.parquet"))]
    assert pl.concat(parts).equals(table)


def test_a_stopped_run_goes_on_after_its_last_round(material, tmp_path):
    whole = ask_questions(material, encode, SETTINGS, RoundFolder(tmp_path / "whole", "key"))
    calls = []

    def stop(texts):
        calls.append(texts)
        if len(calls) == 5:  # users, pairs and two rounds are done
            raise KeyboardInterrupt
        return encode(texts)

    with pytest.raises(KeyboardInterrupt):
        ask_questions(material, stop, SETTINGS, RoundFolder(tmp_path / "stopped", "key"))
    assert len(list((tmp_path / "stopped").glob("*.parquet"))) == 2
    calls = [None] * 5
    again = ask_questions(material, stop, SETTINGS, RoundFolder(tmp_path / "stopped", "key"))
    assert len(calls) == 5 + 2 + len(whole.report["rounds"]) - 2 - (not whole.report["rounds"][-1]["asked"])
    assert again.report == whole.report and again.table.equals(whole.table)
    assert hash_folder(tmp_path / "stopped") == hash_folder(tmp_path / "whole")
    first, second = (tmp_path / "stopped" / f"round-00{number}.parquet" for number in (0, 1))
    first.write_bytes(second.read_bytes())
    with pytest.raises(InputError, match="does not follow"):
        ask_questions(material, encode, SETTINGS, RoundFolder(tmp_path / "stopped", "key"))


def test_records_that_are_all_embedded_alike_are_refused(material, tmp_path):
    same = material._replace(vectors=np.ones_like(material.vectors))
    for ask in (lambda: ask_questions(same, encode, SETTINGS, RoundFolder(tmp_path / "rounds", "key")),
                lambda: vary_percentile(same, encode, SETTINGS)):  # fmt: skip
        with pytest.raises(InputError, match="embeddings are all the same"):
            ask()


def test_a_template_without_answers_is_named(material, caplog):
    asker = material.askers["teaches"]
    never = asker.template.select.replace("}", "FILTER (1 = 2) }")
    empty = asker._replace(name="nobody", select=Query(never, "SELECT", "nobody.select"))
    askers = {"teaches": asker, "nobody": empty}
    found = list_possible(material._replace(askers=askers), encode, SETTINGS, 1)
    assert found.counts["nobody"]["possible"] == 0 < found.counts["teaches"]["possible"]
    assert "template nobody gives no question: no rows" in caplog.text


class Encoder:
    """Stands in for the model that embeds."""

    def __init__(self, settings):
        assert settings.model == "all-MiniLM-L6-v2"

    def encode(self, texts, progress=None):
        return encode(texts)


def test_the_programs_write_what_the_library_returns(catalogue, tmp_path, monkeypatch, capsys):
    def run(name, *arguments):
        monkeypatch.setattr("sys.argv", [name, *map(str, arguments)])
        runpy.run_path(str(find_program(name)), run_name="__main__")
        return capsys.readouterr().err

    monkeypatch.setattr("fathom.benchmark.embedding.SentenceEncoder", Encoder)
    statements, entities, chunks, vectors, questions = (
        tmp_path / name for name in ("o.nt", "e.parquet", "c.parquet", "c.npy", "q.parquet")
    )
    run(
        "build_ontology", "--tables", COURSES / "tables.yaml", "--statements", statements,
        "--entities", entities, "--report", tmp_path / "o.json",
    )  # fmt: skip
    assert read_table(entities, ENTITIES).equals(catalogue.entities)
    assert statements.read_bytes() == catalogue.statements.read_bytes()
    common = ["--entities", entities, "--chunks", chunks, "--embeddings", vectors]
    said = run("embed_records", *common, "--settings", json.dumps({"questions": {"chunks": 30}}))
    assert "30 of 41 records embedded" in said
    assert read_table(chunks, CHUNKS).equals(draw_chunks(catalogue.entities, 30))
    said = run(
        "ask_questions", *common, "--statements", statements, "--rounds", tmp_path / "rounds",
        "--templates", COURSES / "templates.yaml", "--users", COURSES / "faq.csv",
        "--settings", json.dumps({"questions": {"first": 12}}),
        "--questions", questions, "--vectors", tmp_path / "q.npy", "--report", tmp_path / "q.json",
    )  # fmt: skip
    report = json.loads((tmp_path / "q.json").read_text())
    assert "round 1:" in said and report["end"] in said
    assert len(read_table(questions, QUESTIONS)) == report["questions"] == len(np.load(tmp_path / "q.npy"))
    said = run("prove_questions", "--questions", questions, "--statements", statements,
               "--proof", tmp_path / "p.json")  # fmt: skip
    assert json.loads((tmp_path / "p.json").read_text())["open"] == 3
    assert "questions proved, 3 are open" in said


def test_what_is_asked_does_not_depend_on_the_order_of_sets(catalogue, tmp_path):
    code = tmp_path / "list_questions.py"
    code.write_text(
        "import sys; from pathlib import Path\n"
        "from fathom.questions.posing import Entities, find_candidates\n"
        "from fathom.questions.ontology_sources import read_tables\n"
        "from fathom.questions.graph import OntologyGraph\n"
        "from fathom.questions.ontology import tabulate_entities\n"
        "from fathom.questions.posing import pose_question\n"
        "from fathom.questions.graph import read_templates\n"
        "folder, statements = map(Path, sys.argv[1:])\n"
        "askers = read_templates([folder / 'templates.yaml'])\n"
        "entities = Entities(tabulate_entities(read_tables(folder / 'tables.yaml'))[0])\n"
        "graph = OntologyGraph(statements)\n"
        "for each in find_candidates(askers.values(), graph, entities)[0]:\n"
        "    print(pose_question(each, askers[each.template], entities, graph))\n"
    )
    said = [
        subprocess.run(
            [sys.executable, code, COURSES, catalogue.statements],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(COURSES.parents[2] / "src")},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert said[0] == said[1] and said[0].count("question_id") == 75
