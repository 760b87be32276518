"""One's own tables become an ontology, or one clear message says what is wrong with them."""

import shutil

import orjson
import pytest
from tests.questions.conftest import COURSES

from fathom.errors import InputError
from fathom.questions.ontology import name_entity, tabulate_entities
from fathom.questions.ontology_sources import (
    read_authors,
    read_journal,
    read_papers,
    read_tables,
    shorten_journal,
)


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
      "a quote is not closed"),
     ("departments.csv", "North Hall", '"North" Hall', "departments.csv, line 2", "followed by text"),
     ("departments.csv", HEADER, HEADER * 2, "departments.csv, line 2", "repeated header"),
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
     ("tables.yaml", "class: Course", "class: Person", "tables.yaml", "class Person"),
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


def record(key, **values):
    given = {"id": key,
             "title": f"Paper\n {key}",
             "abstract": " An abstract.\n",
             "authors": "A. Brandt and B. Okafor",
             "categories": "cs.AI stat.ML",
             "versions": [{"created": "Mon, 2 Apr 2007 19:18:42 GMT"}],
             "journal-ref": None}  # fmt: skip
    return given | values


@pytest.fixture
def read(tmp_path):
    def run(*records, patterns=("*",)):
        path = tmp_path / "metadata.json"
        path.write_bytes(b"\n".join(orjson.dumps(each) for each in records) + b"\n")
        return read_papers(path, patterns)

    return run


def test_a_record_becomes_a_paper_and_what_it_names(read):
    ontology = read(record("0704.0001", **{"journal-ref": "Phys.Rev.D76:013009,2007"}))
    paper = name_entity("Paper", "0704.0001")
    assert {link[1:] for link in ontology.links if link[0] == paper} == {
        ("author", name_entity("Author", "A. Brandt")), ("author", name_entity("Author", "B. Okafor")),
        ("category", name_entity("Category", "cs.AI")), ("category", name_entity("Category", "stat.ML")),
        ("primary", name_entity("Category", "cs.AI")), ("year", name_entity("Year", "2007")),
        ("journal", name_entity("Journal", "phy rev d"))}  # fmt: skip
    assert ontology.entities[paper].text == (
        "Paper 0704.0001. author: A. Brandt, B. Okafor; category: cs.AI, stat.ML; year: 2007; "
        "journal: Phys.Rev.D. An abstract."
    )
    assert ontology.entities[paper].source == "arXiv:0704.0001"


def test_what_is_left_out_is_counted(read):
    ontology = read(
        record("0704.0001"), record("0704.0001", title="Again"), record("0704.0002", categories="math.AG"),
        record("0704.0003", title=" "), record("0704.0004", authors=None, versions=None), patterns=["cs.*"],
    )  # fmt: skip
    assert ontology.report["left_out"] == {"in other categories": 1, "repeated ids": 1, "without a title": 1}
    assert ontology.report["without"] == {"authors": 1, "categories": 0, "year": 1, "journal": 2}
    assert ontology.entities[name_entity("Paper", "0704.0001")].label == "Again"


def test_only_categories_that_exclude_each_other_are_asked_about(read):
    ontology = read(record("0704.0001", categories="cond-mat cond-mat.soft hep-th 60G15, I.2.7; q-bio.PE"))
    kinds = {iri for iri, entity in ontology.entities.items() if entity.kind == "Category"}
    assert kinds == {name_entity("Category", name) for name in ("cond-mat.soft", "hep-th", "q-bio.PE")}
    assert not [link for link in ontology.links if link[1] == "primary"]  # it was cond-mat


@pytest.mark.parametrize(
    ("given", "names"),
    [({"authors": "C. Bal\\'azs, E.L. Berger (1), and C.-P. Yuan ((1) MIT)"},
      "C. Balázs|E. L. Berger|C.-P. Yuan"),
     ({"authors": "Ana Roy & Bo Li; Cy Ng et al."}, "Ana Roy|Bo Li|Cy Ng et al."),
     ({"authors": "Ana Roy, et al."}, "Ana Roy"),
     ({"authors_parsed": [["Yuan", "C. -P.", ""], ["Roy", "Ana", ""]], "authors": "x"}, "C.-P. Yuan|Ana Roy"),
     ({"authors": None}, "")],
)  # fmt: skip
def test_names_of_authors(given, names):
    assert "|".join(read_authors(given)) == names


@pytest.mark.parametrize(
    ("reference", "name"),
    [("Phys.Rev.D76:013009,2007", "Phys.Rev.D"),
     ("Illinois J. Math. 52 (2008) no.2, 681-689", "Illinois J. Math"),
     ("Journal of Applied Physics, vol 104, 073536 (2008)", "Journal of Applied Physics"),
     ("2007 J. Phys.", ""),
     ("", "")],
)  # fmt: skip
def test_names_of_journals(reference, name):
    assert read_journal(reference) == name


def test_spellings_of_one_journal_are_one(read):
    assert (
        shorten_journal("Physical Review D")
        == shorten_journal("Phys. Rev. D")
        != shorten_journal("Phys. Rev. E")
    )
    references = ["Phys.Rev.D76, 1", "Phys. Rev. D 77", "Phys. Rev. D 78"]
    records = [record(f"0704.000{n}", **{"journal-ref": name}) for n, name in enumerate(references, start=1)]
    assert read(*records).entities[name_entity("Journal", "phy rev d")].label == "Phys. Rev. D"


def test_authors_who_may_be_one_person_are_alike(read):
    ontology = read(record("0704.0001", authors="J. Balázs, Jana Balazs, Bo Li"))
    alike = [ontology.entities[name_entity("Author", name)].likeness
             for name in ("J. Balázs", "Jana Balazs", "Bo Li")]  # fmt: skip
    assert alike == ["balazs", "balazs", "li"]
