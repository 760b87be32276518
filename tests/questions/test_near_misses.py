"""Wrong answers that fail a single condition, by hand."""

import json

import pytest
import yaml

from fathom.questions.graph import NearMisses, OntologyGraph, read_templates
from fathom.questions.ontology import name_entity, write_statements
from fathom.questions.ontology_sources import read_tables

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
