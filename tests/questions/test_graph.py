"""Queries, templates, values, near misses: what they find, and what is refused."""

import json

import pytest
import yaml
from tests.questions.conftest import COURSES

from fathom.errors import InputError
from fathom.questions.graph import NearMisses, OntologyGraph, Query, read_templates
from fathom.questions.ontology import (
    Cell,
    Entity,
    Ontology,
    Value,
    name_entity,
    read_column,
    write_statements,
)
from fathom.questions.ontology_sources import read_tables


def test_statements_come_back_as_they_were_written(tmp_path):
    odd = 'a "quoted" \\ name, ünïcode'
    one, other = name_entity("Thing", "a b/c"), name_entity("Thing", "ü")
    ontology = Ontology(
        {one: Entity("Thing", odd, "", ""), other: Entity("Thing", "x", "", "")},
        [(one, "near", other)],
        [(one, "size", Value("-3", "integer")), (one, "weight", Value("2.50", "decimal")),
         (one, "code", Value("3e5")), (other, "note", Value("tab\tand\nline"))],
    )  # fmt: skip
    write_statements(tmp_path / "o.nt", ontology)
    graph = OntologyGraph(tmp_path / "o.nt")
    assert len(graph) == 9
    text = "SELECT ?l { ?a :near ?b ; rdfs:label ?l ; :size ?s ; :weight ?w FILTER(?s < 0 && ?w = 2.5) }"
    query = Query(text, "SELECT", "here")
    assert list(graph.select(query)) == [{"l": odd}]
    ask = Query("ASK { ?a :near ?b }", "ASK", "here")
    assert graph.ask(ask, {"a": one, "b": other}) and not graph.ask(ask, {"a": other, "b": one})


@pytest.mark.parametrize(
    ("text", "what"),
    [("SELECT ?a WHERE { ?a :x ", "not valid SPARQL: line 1"),
     ("SELECT ?a WHERE { ?a foo:x ?b }", "unknown prefix foo:"),
     ("ASK { ?a :x ?b }", "this is ASK, where SELECT is needed"),
     ("CONSTRUCT { ?a :x ?b } WHERE { ?a :x ?b }", "this is CONSTRUCT"),
     ("SELECT ?a WHERE { SERVICE <http://example.org/> { ?a :x ?b } }", "other servers"),
     ("SELECT ?a FROM <http://example.org/> WHERE { ?a :x ?b }", "other servers")],
)  # fmt: skip
def test_queries_that_are_wrong_or_ask_elsewhere_are_refused(text, what):
    with pytest.raises(InputError, match=what) as error:
        Query(text, "SELECT", "t.yaml, templates.t.select")
    assert error.value.where == "t.yaml, templates.t.select"


def test_prefixes_are_looked_for_outside_of_strings_and_comments():
    query = Query('SELECT ?a { ?a :x "foo:bar" . # foo:bar\n ?a rdfs:label ?l }', "SELECT", "here")
    assert query.columns == {"a"} and query.variables == {"a", "l"}


@pytest.mark.parametrize(("ask", "refused"), [
    *((f"?a :code ?c . FILTER (?c {sign} 5)", True) for sign in ("<", "<=", ">", ">=")),
    ("?a :code ?c . FILTER (5 > ?c)", True),
    ("?a :among ?b ; :code ?c . FILTER (?c < 5)", True),
    ("?a :code ?c ; :near ?b . FILTER (?c < 5)", True),
    ("?a :size ?s ; :code ?c . FILTER (?s > 0 && (?s = 1 || ?c < 5))", True),
    ("FILTER NOT EXISTS { ?a :code ?c . FILTER (?c < 5) }", True),
    ("?a :size ?s ; :code ?c . FILTER (?s >= 0)", False),
    *((f"?a :code ?c . FILTER (?c {sign} 5)", False) for sign in ("=", "!=")),
])  # fmt: skip
def test_only_numbers_are_compared_by_size(ask, refused, tmp_path):
    one = name_entity("Thing", "one")
    values = [(one, "size", Value("3", "integer")), (one, "code", Value("3e5"))]
    write_statements(tmp_path / "o.nt", Ontology({one: Entity("Thing", "one", "", "")}, [], values))
    graph, query = OntologyGraph(tmp_path / "o.nt"), Query(f"ASK {{ {ask} }}", "ASK", "here")
    if refused:
        with pytest.raises(InputError, match="code is text: '3e5'"):
            graph.check_order(query, "here")
    else:
        graph.check_order(query, "here")


ROOT = COURSES.parents[2]
GOOD = {"level": "understand", "form": "multiple-choice", "text": "Who teaches {course}?", "answer": "person",
        "class": "Person", "select": "SELECT ?course ?person { ?course :lecturers ?person }",
        "ask": "ASK { ?course :lecturers ?person }"}  # fmt: skip


def write(path, **changes):
    path.write_text(yaml.safe_dump({"templates": {"who": GOOD | changes}}))
    return path


@pytest.mark.parametrize("name", ["arxiv.yaml", "courses/templates.yaml"])
def test_templates_that_are_shipped_are_right_and_of_all_levels(name):
    found = read_templates([COURSES.parent / name]).values()
    assert {(each.template.level, each.template.form) for each in found} == {
        ("memorise", "binary"), ("understand", "multiple-choice"), ("understand", "multiple-answer"),
        ("apply", "multiple-answer")}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "what"),
    [({"text": "Does {person} teach {course}?"}, "must not occur in a question of the form multiple-choice"),
     ({"form": "binary", "level": "memorise"}, "belongs into a question of the form binary"),
     ({"level": "memorise"}, "level = memorise: "),
     ({"level": "apply"}, "multiple choice is of level understand"),
     ({"text": "Who teaches?"}, "text: "),
     ({"text": "Who teaches {course} in {term}?"}, r"\?term is missing"),
     ({"ask": "ASK { :x :lecturers ?person }"}, r"\?course is missing"),
     ({"select": "SELECT ?course { ?course :lecturers ?person }"}, r"\?person is missing"),
     ({"form": "open"}, "unknown form 'open'"),
     ({"levle": "apply"}, "unknown key 'templates.who.levle'")],
)  # fmt: skip
def test_wrong_templates_are_refused(tmp_path, changes, what):
    with pytest.raises(InputError, match=what) as error:
        read_templates([write(tmp_path / "t.yaml", **changes)])
    assert "t.yaml" in str(error.value)


def test_two_templates_of_one_name_are_refused(tmp_path):
    with pytest.raises(InputError, match="two templates have this name"):
        read_templates([write(tmp_path / "a.yaml"), write(tmp_path / "b.yaml")])


def read(*texts):
    return read_column("size", [Cell(text, f"t.csv, line {line}") for line, text in enumerate(texts, 2)])


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,410,000,000", ("1410000000", "integer")), ("1,410", ("1410", "integer")),
     ("1 410 000.5", ("1410000.5", "decimal")), ("1\u202f410", ("1410", "integer")),
     ("1'410", ("1410", "integer")), ("1e3", ("1000", "integer")), ("1.5E-3", ("0.0015", "decimal")),
     ("\u2212999", ("-999", "integer")), ("+7", ("7", "integer")), (".5", ("0.5", "decimal")),
     ("12.5 %", ("12.5", "decimal")), ("-0.50", ("-0.50", "decimal")), ("1789-07-14", ("1789-07-14", "date")),
     ("14 July 1789", ("1789-07-14", "date")), ("Jul 4, 1776", ("1776-07-04", "date")),
     ("water", ("water", "")), ("B-12", ("B-12", ""))],
)  # fmt: skip
def test_values_are_read_as_people_write_them(text, value):
    assert read(text) == [value]


@pytest.mark.parametrize(
    ("text", "hint"),
    [("~234", "approximate"), ("ca. 234", "approximate"), (">5", "approximate"),
     ("1.234,5", "point is decimal"), ("3,14", "point is decimal"), ("1.234.567", "point is decimal"),
     ("1,41,000", "point is decimal"),
     ("n/a", "leave the cell empty"), ("1e", "leave the cell empty"), ("12-34", "leave the cell empty"),
     ("12 %", "leave the cell empty"), ("1789-07-14", "leave the cell empty"),
     ("5 km", "leave the cell empty")],
)  # fmt: skip
def test_what_is_no_number_in_a_column_of_numbers_is_refused_with_its_place(text, hint):
    with pytest.raises(InputError, match="is no number") as error:
        read("1", "2", text, "3")
    assert error.value.where == "t.csv, line 4, column size" and hint in error.value.hint


@pytest.mark.parametrize("text", ["03/04/2020", "1789", "1789-07", "1789-02-30", "soon"])
def test_what_is_no_clear_date_in_a_column_of_dates_is_refused(text):
    with pytest.raises(InputError, match="is no date"):
        read("1789-07-14", "1 May 1790", text)


@pytest.mark.parametrize("text", ["~234", "1.234,5", "03/04/2020"])
def test_a_column_of_unclear_numbers_is_not_taken_for_text(text):
    with pytest.raises(InputError, match="is no number"):
        read(text, text)


ROWS = {"a": ("A", "", 5, 5), "b": ("A", "a", 500, 5), "c": ("B", "b", 500, 500), "d": ("B", "a", 5, 500)}
"""Land, the place above, size and age of places."""
TABLES = {"places.csv": {"class": "Place", "key": "id", "label": "name", "values": ["size", "age"],
                         "links": {"in": {"to": "Land"}, "above": {"to": "Place"}}}}  # fmt: skip


@pytest.fixture
def find(tmp_path):
    """Return what finds pools of keys of places for a condition."""
    rows = [f"{key},Place {key},{','.join(map(str, row))}" for key, row in ROWS.items()]
    (tmp_path / "places.csv").write_text("\n".join(["id,name,in,above,size,age", *rows]) + "\n")
    (tmp_path / "tables.yaml").write_text(json.dumps({"tables": TABLES}))
    write_statements(tmp_path / "o.nt", read_tables(tmp_path / "tables.yaml"))
    graph = OntologyGraph(tmp_path / "o.nt")

    def find_pools(ask, about, answer="other"):
        (name,) = about
        template = {"level": "apply", "form": "multiple-answer", "text": f"Which for {{{name}}}?",
                    "answer": answer, "class": "Place", "ask": f"ASK {{ {ask} }}",
                    "select": f"SELECT ?{name} ?{answer} {{ {ask} }}"}  # fmt: skip
        (tmp_path / "t.yaml").write_text(yaml.safe_dump({"templates": {"t": template}}))
        asker = read_templates([tmp_path / "t.yaml"])["t"]
        pools = NearMisses(asker, graph).list_pools({name: name_entity("Land", about[name])})
        return sorted("".join(sorted(iri.rsplit("/", 1)[1] for iri in pool)) for pool in pools)

    return find_pools


@pytest.mark.parametrize("name", ["land", "zone"])
@pytest.mark.parametrize("answer", ["other", "place"])
def test_each_condition_fails_alone(find, name, answer):
    ask = f"?{answer} :in ?{name} ; :size ?size . FILTER (?size > 100)"
    # without the land all large ones; without the size, or only its filter, all of A
    assert find(ask, {name: "A"}, answer=answer) == ["ab", "ab", "bc"]


def test_a_class_or_a_name_alone_is_no_condition(find):
    assert find("?other a :Place ; :in ?land", {"land": "A"}) == ["ab"]
    assert find("?other rdfs:label ?name ; :in ?land", {"land": "A"}) == ["ab"]


def test_all_filters_count_whether_one_holds_two_conditions_or_not(find):
    ask = "?other :in ?land ; :size ?size ; :age ?age . FILTER (?size > 100"
    for both in (") FILTER (?age > 100)", " && ?age > 100)"):
        assert find(ask + both, {"land": "B"}) == ["c", "c", "c", "cd", "cd"]


def test_conditions_of_what_the_answer_is_linked_to_stay(find):
    ask = "?other :in ?land ; :above ?higher . ?higher :size ?size . FILTER (?size > 100)"
    # without the land what is below a large place; else all of B, or those of B below some place
    assert find(ask, {"land": "B"}) == ["c", "cd", "cd", "cd"]


@pytest.mark.parametrize(
    "ask",
    [
        "{ ?other :in ?land } UNION { ?other :in ?land ; :size ?size }",
        "?other :in ?land ; :size ?size . FILTER NOT EXISTS { ?other :above ?higher }",
        "?other :in ?land . OPTIONAL { ?other :size ?size }",
    ],
)
def test_what_is_not_joined_by_and_has_no_conditions(find, ask):
    assert find(ask, {"land": "A"}) == []
