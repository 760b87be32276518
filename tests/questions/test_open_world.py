"""What could be true if empty cells held anything: and, or and optional against all completions."""

import json
from itertools import product

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.questions.test_proved_options import pose_all

from fathom.errors import InputError
from fathom.questions.graph import OntologyGraph, Query
from fathom.questions.ontology import name_entity, write_statements
from fathom.questions.ontology_sources import read_tables

COLUMNS = ("in", "near", "size", "age")
HOLDS = {"in": ("A", "B"), "near": ("A", "B"), "size": ("5", "500"), "age": ("5", "500")}
"""What a cell may hold, if it is not empty."""
TABLES = {"places.csv": {"class": "Place", "key": "id", "label": "name", "values": ["size", "age"],
                         "links": {"in": {"to": "Land"}, "near": {"to": "Land"}}}}  # fmt: skip
CONDITIONS = {
    "in": "?other :in ?land",
    "near": "?other :near ?land",
    "size": "?other :size ?size . FILTER (?size > 100)",
    "age": "?other :age ?age . FILTER (?age < 100)",
    "young": "?other :age ?years . FILTER (?years > 100)",
}
CELL = {name: st.sampled_from([*values, ""]) for name, values in HOLDS.items()}
ROWS = st.lists(st.tuples(*(CELL[name] for name in COLUMNS)), min_size=8, max_size=9)
TREES = st.recursive(
    st.sampled_from([*CONDITIONS]),
    lambda parts: st.tuples(st.sampled_from(["and", "groups", "or"]), parts, parts),
    max_leaves=4,
)
"""Conditions, alone or joined: in one group, in two groups, or by UNION."""


def write_query(tree):
    """Return a query of joined conditions."""
    if isinstance(tree, str):
        return CONDITIONS[tree]
    first, second = map(write_query, tree[1:])
    if tree[0] == "and":
        return f"{first} . {second}"
    return f"{{ {first} }} {'UNION ' if tree[0] == 'or' else ''}{{ {second} }}"


def list_leaves(tree):
    """Return the conditions of a query."""
    return [tree] if isinstance(tree, str) else [leaf for part in tree[1:] for leaf in list_leaves(part)]


def judge(tree, land, row):
    """Return whether a place without an empty cell meets a query."""
    if isinstance(tree, str):
        cells = dict(zip(COLUMNS, row, strict=True))
        if tree in ("in", "near"):
            return cells[tree] == land
        return (int(cells["size" if tree == "size" else "age"]) > 100) == (tree != "age")
    return (any if tree[0] == "or" else all)(judge(part, land, row) for part in tree[1:])


def complete(row):
    """Return all rows that a row with empty cells could be."""
    return list(product(*((cell,) if cell else HOLDS[name] for name, cell in zip(COLUMNS, row, strict=True))))


def write_case(folder, rows, query):
    """Write tables and a template; return the ontology."""
    lines = [f"p{place},Place {place},{','.join(row)}" for place, row in enumerate(rows)]
    # both lands are there, whatever the others are in
    whole = ["pa,Place a,A,A,5,5", "pb,Place b,B,B,500,500"]
    (folder / "places.csv").write_text("\n".join([f"id,name,{','.join(COLUMNS)}", *lines, *whole]) + "\n")
    (folder / "tables.yaml").write_text(json.dumps({"tables": TABLES}))
    every = f"?land a :Land . ?other a :Place . {query}"
    template = {"level": "apply", "form": "multiple-answer", "text": "Which of these for {land}?",
                "answer": "other", "class": "Place", "ask": f"ASK {{ {every} }}",
                "select": f"SELECT ?land ?other {{ {every} }}"}  # fmt: skip
    (folder / "templates.yaml").write_text(yaml.safe_dump({"templates": {"one": template}}))
    return read_tables(folder / "tables.yaml"), Query(template["ask"], "ASK", "here")


def pose_any(folder, ontology):
    """Return the questions of a folder; some tables give none."""
    try:
        return pose_all(folder, ontology)[0]
    except InputError as error:
        assert "no template gives a question" in error.what
        return []


def check_questions(folder, ontology, tree, rows):
    """Check that right options are true and wrong ones false, in all completions."""
    for question in pose_any(folder, ontology):
        land = question["bindings"][0].rsplit("/", 1)[1]
        for iri, is_right in zip(question["option_iris"], question["right"], strict=True):
            found = {judge(tree, land, row) for row in complete(rows[iri.rsplit("/p", 1)[1]])}
            assert found == {is_right}, (question["question"], iri)


@settings(max_examples=15)
@given(rows=ROWS, tree=TREES)
def test_and_and_or_are_judged_as_by_all_completions(tmp_path_factory, rows, tree):
    folder = tmp_path_factory.mktemp("case")
    ontology, query = write_case(folder, rows, write_query(tree))
    write_statements(folder / "graph.nt", ontology)
    graph = OntologyGraph(folder / "graph.nt")
    columns = ["age" if leaf == "young" else leaf for leaf in list_leaves(tree)]
    known = {**{str(place): row for place, row in enumerate(rows)}, "a": ("A", "A", "5", "5"),
             "b": ("B", "B", "500", "500")}  # fmt: skip
    for (place, row), land in product(known.items(), "AB"):
        bound = {"land": name_entity("Land", land), "other": name_entity("Place", f"p{place}")}
        found = [judge(tree, land, each) for each in complete(row)]
        if graph.ask(query, bound):
            assert all(found)
        could = graph.could_hold(query, bound)
        assert could or not any(found)
        # one cell in two conditions may be taken for two cells: then too few options, never a false one
        if len(columns) == len({*columns}):
            assert could == any(found)
    check_questions(folder, ontology, tree, known)


OPTIONAL = (
    "?other :in ?land . OPTIONAL {{ ?other :size ?size . {more} }} FILTER (!BOUND(?size) || ?size > 100)"
)


@settings(max_examples=10)
@given(rows=ROWS, more=st.sampled_from(["", "?other :near ?land"]), joined=st.sampled_from(["or", "and", ""]))
def test_optional_conditions_are_refused_where_a_cell_is_empty_and_right_elsewhere(
    tmp_path_factory, rows, more, joined
):
    folder = tmp_path_factory.mktemp("case")
    optional = f"{{ {OPTIONAL.format(more=more)} }}"
    others = {"or": "UNION { ?other :age ?age . FILTER (?age < 100) }", "and": CONDITIONS["age"], "": ""}
    named = ["in", "size", *(["near"] if more else []), *(["age"] if joined else [])]
    ontology, _ = write_case(folder, rows, f"{optional} {others[joined]}")
    if any(not row[COLUMNS.index(name)] for row in rows for name in named):
        with pytest.raises(InputError, match="optional"):
            pose_all(folder, ontology)
        return
    for question in pose_any(folder, ontology):
        land = question["bindings"][0].rsplit("/", 1)[1]
        for iri, is_right in zip(question["option_iris"], question["right"], strict=True):
            place = iri.rsplit("/p", 1)[1]
            whole = {"a": ("A", "A", "5", "5"), "b": ("B", "B", "500", "500")}
            cells = dict(zip(COLUMNS, whole.get(place) or rows[int(place)], strict=True))
            bound = not more or cells["near"] == land
            met = cells["in"] == land and (not bound or int(cells["size"]) > 100)
            old = int(cells["age"]) < 100 if joined else False
            assert is_right == (met or old if joined == "or" else met and (old or not joined))


@pytest.mark.parametrize(("ask", "empty", "filled"), [
    ("?land ^:in ?other", True, False),
    ("?other <urn:fathom:in> ?land", True, False),
    ("?other <urn:other:in> ?land", False, False),
    ("?other :near ?land", True, False),
    ("?other :in|:near ?land", True, False),
    ("?other (:in|:near)+ ?land", True, False),
    ("?other :in/rdfs:label ?name . FILTER (?name = 'A')", True, False),
    ("?other (:in|^:in) ?land", True, True),  # a path backwards is taken as met
    ("?other ?link ?land", True, True),
    ("?other !:size ?land", True, True),
    ("?other (:x/(!:size)*)|:y ?land", True, True),
    ("?other :age ?age . BIND (?age * 2 AS ?twice) FILTER (?twice < 100)", True, False),
    ("?other :size ?size . BIND (?size * 2 AS ?twice) FILTER (?twice < 100)", True, False),
    ("VALUES ?least { 1000 } ?other :age ?age . FILTER (?age > ?least)", True, False),
    ("VALUES ?least { 100 1000 } ?other :age ?age . FILTER (?age > ?least)", True, True),
    ("VALUES ?least { 100 } ?other :size ?size . FILTER (?size > ?least)", False, True),
    ("?other :age ?age ; :size ?size . FILTER (?age > 1000 && ?size > 100)", False, False),
    ("?other :age ?age ; :size ?size . FILTER (?age > 1000 && ?size < 100)", True, False),
    ("?other :age ?age ; :size ?size . FILTER (?age > 1000 || ?size < 100)", True, False),
    ("{ ?other :age ?age } { ?other :in ?land } FILTER (?age > 1000)", True, False),
    ("{ ?other :age ?age . FILTER (?age > 1000) } UNION { ?other :size ?size . FILTER (?size > 1000) }",
     True, False),
])  # fmt: skip
def test_empty_cells_meet_what_they_may_and_nothing_else(ask, empty, filled, tmp_path):
    """Place 0 has an empty land, neighbour and age, and a size of 5; place 1 has B, B, 500 and 500."""
    ontology, _ = write_case(tmp_path, [("", "", "5", ""), ("B", "B", "500", "500")], "")
    write_statements(tmp_path / "graph.nt", ontology)
    graph, query = OntologyGraph(tmp_path / "graph.nt"), Query(f"ASK {{ {ask} }}", "ASK", "here")
    land = name_entity("Land", "A")
    found = [
        graph.could_hold(query, {"other": name_entity("Place", f"p{row}"), "land": land}) for row in (0, 1)
    ]
    assert found == [empty, filled]


@pytest.mark.parametrize(("ask", "refused"), [
    ("FILTER NOT EXISTS { ?other :in ?land }", True),
    ("FILTER NOT EXISTS { ?other ?link ?land }", True),
    ("FILTER NOT EXISTS { ?other :size ?size }", False),
    ("?other :size ?size MINUS { ?other :age ?age }", True),
    ("?other :size ?size OPTIONAL { ?other :size ?more }", False),
    ("?other :size ?size ; :age ?age", False),
])  # fmt: skip
def test_only_negations_about_empty_cells_are_refused(ask, refused, tmp_path):
    ontology, _ = write_case(tmp_path, [("", "", "5", "")], "")
    write_statements(tmp_path / "graph.nt", ontology)
    graph, query = OntologyGraph(tmp_path / "graph.nt"), Query(f"ASK {{ {ask} }}", "ASK", "here")
    if refused:
        with pytest.raises(InputError, match=r"cells of (in|age|age, in, near) are empty"):
            graph.check_unknown(query, "here")
    else:
        graph.check_unknown(query, "here")
