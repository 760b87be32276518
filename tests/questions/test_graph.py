"""Queries: what they find, and what is refused."""

import pytest

from fathom.errors import InputError
from fathom.questions.graph import OntologyGraph, Query
from fathom.questions.ontology import Entity, Ontology, Value, name_entity, write_statements


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
     ("SELECT ?a WHERE { SERVICE <http://example.org/> { ?a :x ?b } }", "it asks elsewhere"),
     ("SELECT ?a FROM <http://example.org/> WHERE { ?a :x ?b }", "it asks elsewhere")],
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
