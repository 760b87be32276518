"""One's own tables become an ontology, or one clear message says what is wrong with them."""

import shutil

import pytest
from tests.questions.conftest import COURSES

from fathom.errors import InputError
from fathom.questions.ontology import name_entity, tabulate_entities
from fathom.questions.ontology_sources import read_tables


@pytest.fixture
def tables(tmp_path):
    return shutil.copytree(COURSES, tmp_path / "courses") / "tables.yaml"


def test_rows_and_what_they_name_become_entities_with_statements_and_texts(tables):
    ontology = read_tables(tables)
    course = name_entity("Course", "MATH201")
    links = {link[1:] for link in ontology.links if link[0] == course}
    assert links == {("department", name_entity("Department", "MATH")),
                     ("lecturers", name_entity("Person", "p01")), ("lecturers", name_entity("Person", "p02")),
                     ("term", name_entity("Term", "spring")),
                     ("builds_on", name_entity("Course", "MATH102"))}  # fmt: skip
    assert (course, "credits", ("6", "integer")) in ontology.values
    found = ontology.entities[course]
    assert (found.kind, found.label, found.source) == ("Course", "Probability", "courses.csv, line 4")
    assert found.text == (
        "Probability. department: Department of Mathematics; lecturers: Ada Brandt, Boris Okafor; "
        "term: spring; builds on: Calculus; credits: 6. Random variables, expectation, laws of large numbers."
    )
    assert ontology.entities[name_entity("Term", "spring")].text == ""
    assert ontology.report == {"tables": {"departments.csv": 6, "people.csv": 13, "courses.csv": 22}}


def change(tables, file, old, new):
    path = tables.parent / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


HEADER = "code,name,building\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "where", "what"),
    [("departments.csv", "North Hall", '"North Hall', "departments.csv, line 2",
      "a quote is opened and not closed"),
     ("departments.csv", "North Hall", '"North" Hall', "departments.csv, line 2", "text follows one"),
     ("departments.csv", HEADER, HEADER * 2, "departments.csv, line 2", "the header stands here again"),
     ("departments.csv", HEADER, "Our,departments,\n" + HEADER, "departments.csv, line 1",
      "two header lines"),
     ("departments.csv", "building\n", "house\n", "departments.csv, line 1", "missing columns: building"),
     ("departments.csv", "name,building", "name,name", "departments.csv, line 1", "duplicate columns: name"),
     ("departments.csv", "Department of Physics", "", "departments.csv, line 4", "the label is missing"),
     ("departments.csv", "Department of Physics", "\u200b", "departments.csv, line 4", "label is missing"),
     ("departments.csv", "PHYS", "", "departments.csv, line 4", "the key is missing"),
     ("departments.csv", "PHYS,", "CS,", "departments.csv, line 4", "occurs in departments.csv, line 3 too"),
     ("departments.csv", ",Tower", "", "departments.csv, line 4", "2 fields where the header has 3"),
     ("people.csv", "MATH", "MATS", "people.csv, line 2, column department", "no Department has the key"),
     ("courses.csv", "p01;p02", "p01;p99", "courses.csv, line 4, column lecturers", "no Person has the key"),
     ("courses.csv", "p02,autumn,6,,", "p02,autumn,6,CS202,", "column builds_on",
      "Calculus → Machine Learning → Probability → Calculus"),
     ("courses.csv", "p01,autumn,6", "p01,autumn,points", "courses.csv, line 2", "a second header line?"),
     ("tables.yaml", "label: name", "label: nmae", "departments.csv, line 1", "missing columns: nmae"),
     ("tables.yaml", "class: Course", "class: Person", "tables.yaml", "several are of the class Person"),
     ("tables.yaml", "{to: Building}", "{to: Building, tree: true}", "tables.yaml", "leads to another class"),
     ("tables.yaml", "class: Course", "class: The Course", "tables.yaml", "is no name"),
     ("tables.yaml", "key: id", "kee: id", "tables.yaml", "unknown key")],
)  # fmt: skip
def test_bad_tables_are_refused_with_file_and_line(tables, file, old, new, where, what):
    change(tables, file, old, new)
    with pytest.raises(InputError) as error:
        read_tables(tables)
    assert where in error.value.where and what in error.value.what
    assert "\n" not in error.value.what


def test_two_entities_of_one_name_are_refused_or_left_out(tables):
    change(tables, "people.csv", "Boris Okafor", "ADA Brandt")
    with pytest.raises(InputError, match=r"two entities of the class Person have the name 'ADA Brandt'"):
        tabulate_entities(read_tables(tables))
    change(tables, "tables.yaml", "class: Person\n", "class: Person\n    same_label: leave-out\n")
    entities, report = tabulate_entities(read_tables(tables))
    assert report["classes"]["Person"] == {"entities": 13, "records": 13, "same_name": 2}
    assert entities.filter(~entities["usable"])["source"].to_list() == [
        "people.csv, line 2",
        "people.csv, line 3",
    ]


def test_entities_of_two_classes_may_have_one_name(tables):
    change(tables, "departments.csv", "Tower", "Department of Physics")
    assert tabulate_entities(read_tables(tables))[0]["usable"].all()


def write_tree(folder, rows):
    """Write a table of things with the things above them, and the file that explains it."""
    (folder / "things.csv").write_text("\n".join(["key,name,above", *map(",".join, rows)]) + "\n")
    above = '{to: Thing, tree: true, separator: ";"}'
    (folder / "tables.yaml").write_text(
        f"tables:\n  things.csv: {{class: Thing, key: key, label: name, links: {{above: {above}}}}}\n"
    )
    return folder / "tables.yaml"


def test_a_hierarchy_is_read_once_however_many_paths_lead_through_it(tmp_path):
    # 2^60 paths lead from the first row to the last
    levels = range(60)
    rows = [
        (f"{side}{n}", f"{side} {n}", f"a{n + 1};b{n + 1}" if n < 59 else "") for n in levels for side in "ab"
    ]
    assert len(read_tables(write_tree(tmp_path, rows)).links) == 4 * 59


def test_a_long_cycle_is_named_by_its_beginning(tmp_path):
    rows = [(f"k{n}", f"n{n}", f"k{(n + 1) % 500}") for n in range(500)]
    with pytest.raises(InputError) as error:
        read_tables(write_tree(tmp_path, rows))
    assert "n1 → n2" in error.value.what and "more" in error.value.what
    assert len(error.value.what) < 200 and "things.csv, line " in error.value.where
