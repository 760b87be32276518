"""Records of arXiv's metadata become papers, authors, categories, years and journals."""

import orjson
import pytest

from fathom.questions.ontology import name_entity
from fathom.questions.ontology_sources import read_authors, read_journal, read_papers, shorten_journal


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
