"""Every right option is true and every wrong one false by brute force over small random tables."""

import json
from pathlib import Path

import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fathom.errors import InputError
from fathom.questions.graph import OntologyGraph, read_templates
from fathom.questions.ontology import tabulate_entities, write_statements
from fathom.questions.ontology_sources import read_tables
from fathom.questions.posing import Entities, find_candidates, pose_question
from fathom.questions.proofs import prove_questions

WRITTEN = {"1,410,000,000": 1410000000, "1e3": 1000, "\u2212999": -999, "234": 234, "1 410": 1410,
           "9": 9, "10": 10, "0.5": 0.5, "": None}  # fmt: skip
"""Numbers as people write them."""
TABLES = {"places.csv": {"class": "Place", "key": "id", "label": "name",
                         "links": {"in": {"to": "Land"}, "above it": {"to": "Place", "tree": True}},
                         "values": ["number of people"]}}  # fmt: skip
LARGER = "?place :number_of_people ?own . ?other :number_of_people ?size . FILTER (?size > ?own)"
BOTH = "?other :in ?land ; :number_of_people ?size . FILTER (?size > 100)"


def make_template(text, condition, level="apply", form="multiple-answer"):
    about = next(name for name in ("place", "land") if f"{{{name}}}" in text)
    variables = f"?{about} ?other"
    return {"level": level, "form": form, "text": text, "answer": "other", "class": "Place",
            "select": f"SELECT {variables} {{ {condition} }}", "ask": f"ASK {{ {condition} }}"}  # fmt: skip


TEMPLATES = {
    "larger": make_template("Which have more inhabitants than {place}?", LARGER),
    "yes": make_template("Has {other} more than {place}?", LARGER, "memorise", "binary"),
    "both": make_template("Which large ones lie in {land}?", BOTH),
    "above": make_template("Which lie above {place}?", "?place :above_it+ ?other"),
}


def write_case(folder: Path, rows):
    """Write tables and templates; return the ontology."""
    lines = ["id,name,in,above it,number of people"]
    for place, (land, above, number) in enumerate(rows):
        higher = f"p{above}" if above is not None and above < place else ""
        lines.append(f'p{place},Place {place},{land},{higher},"{number}"')
    (folder / "places.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "tables.yaml").write_text(json.dumps({"tables": TABLES}))
    (folder / "templates.yaml").write_text(yaml.safe_dump({"templates": TEMPLATES}))
    return read_tables(folder / "tables.yaml")


def pose_all(folder: Path, ontology):
    """Return all questions, their graph and their templates."""
    write_statements(folder / "o.nt", ontology)
    graph, askers = OntologyGraph(folder / "o.nt"), read_templates([folder / "templates.yaml"])
    entities = Entities(tabulate_entities(ontology)[0])
    candidates, _ = find_candidates(askers.values(), graph, entities)
    posed = (pose_question(each, askers[each.template], entities, graph) for each in candidates)
    return [row for row in posed if row], graph


def judge(template, about, other, rows):
    """Return whether an option is true; None if an empty cell decides."""
    number = WRITTEN[rows[other][2]]
    if template in ("larger", "yes"):
        own = WRITTEN[rows[about][2]]
        return None if number is None or own is None else number > own
    if template == "both":
        land = None if rows[other][0] == "" else rows[other][0] == about
        large = None if number is None else number > 100
        return False if land is False or large is False else None if None in (land, large) else True
    here = about
    while (above := rows[here][1]) is not None and above < here:
        here = above
        if here == other:
            return True
    return False


ROW = st.tuples(st.sampled_from(["A", "B", ""]), st.none() | st.integers(0, 11), st.sampled_from([*WRITTEN]))


@settings(max_examples=25)
@given(rows=st.lists(ROW, min_size=10, max_size=14))
def test_every_key_is_right_and_every_other_option_is_wrong(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("case")
    ontology = write_case(folder, rows)
    try:
        questions, graph = pose_all(folder, ontology)
    except InputError as error:
        assert "no template gives a question" in error.what
        return
    for row in questions:
        bound = dict(each.split("=", 1) for each in row["bindings"])
        options = row["option_iris"] or [bound.pop("other")]
        (about,) = bound.values()
        assert about not in options
        key = about.rsplit("/", 1)[1]
        key = int(key[1:]) if key.startswith("p") else key
        found = [judge(row["template"], key, int(iri.rsplit("/p", 1)[1]), rows) for iri in options]
        assert found == (row["right"] if row["option_iris"] else row["right"][:1]), row
    if questions:
        prove_questions(pl.DataFrame(questions, infer_schema_length=None), graph)


ROWS = [("A", None, n) for n in ("500", "600", "", "9", "10", "12")] + [
    ("B", None, n) for n in ("700", "800", "900", "", "5", "11")
]


def test_options_fail_each_condition_alone_and_none_is_unknown(tmp_path):
    questions, graph = pose_all(tmp_path, write_case(tmp_path, [*ROWS, ("", None, "")]))
    (row,) = [each for each in questions if each["template"] == "both" and "in A?" in each["question"]]
    places = [int(iri.rsplit("/p", 1)[1]) for iri in row["option_iris"]]
    right = {place for place, is_right in zip(places, row["right"], strict=True) if is_right}
    assert right == {0, 1} and set(places) - right == {3, 4, 5, 6, 7, 8}
    wrong = dict(row, right=[not each for each in row["right"]])
    unknown = dict(row, option_iris=[iri.replace("/p3", "/p2") for iri in row["option_iris"]])
    for changed in (wrong, unknown):
        with pytest.raises(InputError, match="not proved"):
            prove_questions(pl.DataFrame([changed]), graph)


def test_an_empty_cell_proves_no_answer_to_a_binary_question(tmp_path):
    questions, graph = pose_all(tmp_path, write_case(tmp_path, ROWS))
    row = next(each for each in questions if each["template"] == "yes" and each["answer"] == "no")
    prove_questions(pl.DataFrame([row]), graph)
    about = next(each for each in row["bindings"] if each.startswith("place="))
    unknown = [about, "other=" + about.split("=", 1)[1].rsplit("/", 1)[0] + "/p2"]
    for answer in ([True, False], [False, True]):
        with pytest.raises(InputError, match="the answer is"):
            prove_questions(pl.DataFrame([row | {"bindings": unknown, "right": answer}]), graph)


def test_binary_questions_are_half_yes(tmp_path):
    questions, _ = pose_all(tmp_path, write_case(tmp_path, ROWS))
    answers = [row["answer"] for row in questions if row["template"] == "yes"]
    assert len(answers) > 5 and abs(2 * answers.count("yes") - len(answers)) <= 1


def test_what_negates_is_refused_where_a_cell_is_empty(tmp_path):
    ontology = write_case(tmp_path, ROWS)
    file = tmp_path / "templates.yaml"
    less = "?other :in ?land . FILTER NOT EXISTS { ?other :number_of_people ?size . FILTER (?size > 100) }"
    file.write_text(
        yaml.safe_dump({"templates": {"less": make_template("Which small ones lie in {land}?", less)}})
    )
    with pytest.raises(InputError, match="number_of_people are empty") as error:
        pose_all(tmp_path, ontology)
    assert error.value.where.endswith("templates.less.ask")


def test_text_is_not_compared_by_size(tmp_path):
    ontology = write_case(tmp_path, ROWS)
    ontology.values = [(iri, name, value._replace(kind="")) for iri, name, value in ontology.values]
    with pytest.raises(InputError, match="number_of_people is text"):
        pose_all(tmp_path, ontology)


def test_columns_have_names_that_queries_tell_apart(tmp_path):
    table = TABLES["places.csv"] | {"values": ["number of people", "number-of-people"]}
    (tmp_path / "tables.yaml").write_text(json.dumps({"tables": {"places.csv": table}}))
    with pytest.raises(InputError, match=":number_of_people"):
        read_tables(tmp_path / "tables.yaml")
