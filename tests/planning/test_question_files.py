"""Files of questions are looked up before any job."""

from pathlib import Path
from types import SimpleNamespace

import yaml
from tests.refusals import refuses

from fathom.config.whole import read_config
from fathom.planning.comparing import Comparing
from fathom.planning.outputs import Outputs
from fathom.planning.question_files import find_question_files, list_bases, list_questions
from fathom.planning.run_files import Texts
from fathom.planning.run_inputs import find_inputs
from fathom.planning.settings import Settings
from fathom.planning.targets import Targets

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "config" / "courses.yaml"


def change(**changes):
    values = yaml.safe_load(EXAMPLE.read_text())
    values["coverage"]["questions"]["courses"] |= changes
    return read_config(values, "test")


def test_tables_lie_beside_the_file_that_explains_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # so that all are the workflow's own
    found = find_question_files(change(), ROOT)["courses"]
    folder = ROOT / "config" / "questions" / "courses"
    assert found.source == folder / "tables.yaml" and found.pairs == []
    assert found.tables == [folder / f"{name}.csv" for name in ("departments", "people", "courses")]
    assert found.templates == [folder / "templates.yaml"] and found.users == [folder / "faq.csv"]
    (tmp_path / "empty").mkdir()
    for changes, what in (
        ({"templates": "no.yaml"}, "coverage.questions.courses.templates = no.yaml"),
        ({"templates": "empty"}, "coverage.questions.courses.templates = empty"),
        ({"user_questions": ["no.csv"]}, "coverage.questions.courses.user_questions = no.csv"),
        ({"tables": "no.yaml"}, "coverage.questions.courses.tables = no.yaml"),
    ):
        with refuses(what):
            find_question_files(change(**changes), ROOT)
    (tmp_path / "tables.yaml").write_text((folder / "tables.yaml").read_text())
    with refuses("table"):
        find_question_files(change(tables="tables.yaml"), ROOT)


def test_a_set_has_one_source_and_pairs_of_known_domains():
    with refuses("tables", "metadata"):
        change(metadata="m.json")
    with refuses("'near'"):
        change(pairs=["near/tf"])
    with refuses("coverage.questions.courses.writer"):
        change(writer="small")
    with refuses("pairs.0"):
        change(pairs=["near"])


def test_questions_need_no_domain_and_are_part_of_a_run():
    config = change()
    outputs = Outputs(config, find_inputs(config, "results/courses"), "results/courses")
    names = ("questions.parquet", "proof.json", "lm-eval", "percentiles.csv")
    tables = ("sizes", "question-scores", "question-differences", "question-thresholds")
    figures = ("examples", "questions", "scores", "radar", "answers-by-threshold")
    files = [*(f"results/courses/questions/courses/{name}" for name in names),
             *(f"results/courses/{name}.csv" for name in tables)]  # fmt: skip
    drawn = [f"results/courses/figures/courses.{name}.png" for name in figures]
    assert list_questions(config, "results/courses") == files
    needs = SimpleNamespace(find_shape=lambda name: None)
    asked = Targets(config, outputs, Comparing(config, {}, needs, outputs)).list_finished()
    assert sorted(asked) == sorted([*files, *drawn, "results/courses/index.html"])
    values = yaml.safe_load(EXAMPLE.read_text())
    del values["coverage"]["evaluation"], values["coverage"]["ablation"], values["models"]
    few = [*(f"r/questions/courses/{name}" for name in names[:3]), "r/sizes.csv"]
    assert list_questions(read_config(values, "test"), "r") == few
    # without the nearest records in prompts, no score depends on the corpus
    values = yaml.safe_load(EXAMPLE.read_text())
    values["coverage"]["evaluation"]["promptings"] = ["plain"]
    assert "r/question-thresholds.csv" not in list_questions(read_config(values, "test"), "r")


def test_models_are_trained_on_the_text_of_a_set():
    texts = Texts(change(), "r")
    assert (
        texts.find("small")
        == texts.find("small+courses.records")
        == "r/questions/courses/texts/records.parquet"
    )
    assert (
        texts.find("small+courses.records+courses.questions") == "r/questions/courses/texts/questions.parquet"
    )
    values = yaml.safe_load(EXAMPLE.read_text())
    values["models"]["texts"] = {"courses.records": {"files": ["a.txt"]}}
    with refuses("coverage.questions.courses", "courses.records"):
        read_config(values, "test")
    values = yaml.safe_load(EXAMPLE.read_text())
    values["models"]["train"]["small"]["domain"] = "courses.answers"
    with refuses("courses.answers"):
        read_config(values, "test")


def test_models_that_answer_are_known_and_compared_with_what_they_come_from():
    values = yaml.safe_load(EXAMPLE.read_text())
    values["coverage"]["evaluation"]["models"] = ["smal"]
    with refuses("evaluation.models", "'smal'"):
        read_config(values, "test")
    for wrong, what in (({"models": ["small", "small"]}, "models: small is named twice"),
                        ({"shown": 0}, "few-shot prompts need examples"),
                        ({"shown": 1}, "shown"),
                        ({"promptings": []}, "promptings")):  # fmt: skip
        values["coverage"]["evaluation"] = wrong
        with refuses(what):
            read_config(values, "test")
    values["models"]["score"] = ["olmo", "olmo-chat", "olmo-chat@chat"]
    trained = "small+courses.records+courses.questions"
    values["coverage"]["evaluation"] = {"models": ["small", trained, "olmo", "olmo-chat", "olmo-chat@chat"]}
    entries = {name: SimpleNamespace(base_of="olmo" * (name != "olmo")) for name in ("olmo", "olmo-chat")}
    assert list_bases(read_config(values, "test"), entries) == [
        (trained, "small"), ("olmo-chat", "olmo"), ("olmo-chat@chat", "olmo")]  # fmt: skip
    values["coverage"]["evaluation"]["models"] = ["olmo-chat", "olmo-chat@chat"]
    assert list_bases(read_config(values, "test"), entries) == [("olmo-chat@chat", "olmo-chat")]


def test_each_program_gets_what_it_depends_on():
    one, other = Settings(change()), Settings(change(first=13, templates="elsewhere.yaml"))
    assert one.of_questions("courses") != other.of_questions("courses")
    assert one.of_records("courses") == other.of_records("courses")
    assert one.of_ontology("courses") == other.of_ontology("courses")
    assert one.of_coverage() == other.of_coverage()
    assert one.of_questions("courses", "ablation") != one.of_questions("courses")
    assert one.of_answers() == other.of_answers() and "small" not in one.of_answers()
    assert one.of_shown_questions() == '{"shown":0.2}'
    assert "config" not in one.of_questions("courses") + one.of_records("courses")
