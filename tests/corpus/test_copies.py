"""Copies of a document: one of them counts, the longest, and it is said which files are copies of which."""

import random

import polars as pl
import pytest

from fathom.config.corpus import Corpus, Grouping, Selection, Splits
from fathom.corpus.copies import Bands, find_copies
from fathom.corpus.folder import read_folder
from fathom.corpus.groups import Grouped, group_documents, sketch_part
from fathom.corpus.index import build_index
from fathom.corpus.join_report import describe_join, describe_reading
from fathom.corpus.records import add_text
from fathom.corpus.selection import SplitChooser
from fathom.io.contracts.corpus import DOCUMENTS, INDEX, SPLITS
from fathom.io.tables import read_table, write_table_in_batches

_WORDS = [
    f"{first}{second}"
    for first in ("pum", "val", "tan", "pip", "wat", "flo")
    for second in "abcdefghijklmnop"
]


def _write(seed: int, words: int = 240, length: int = 12) -> str:
    drawer = random.Random(seed)
    sentences = (" ".join(drawer.choices(_WORDS, k=length)) for _ in range(words // length))
    return " ".join(each.capitalize() + "." for each in sentences)


def _change(text: str, every: int) -> str:
    """Return a text with each so-manieth word replaced."""
    return " ".join(
        "changed" if place % every == every - 1 else word for place, word in enumerate(text.split())
    )


def _find(folder, texts: dict[str, str], parts: int = 1, domains=None, drops: bool = True):
    """Return what each copy is a copy of, the ids of the index, and the report on groups."""
    folder.mkdir(exist_ok=True)
    documents, sketches = [], []
    for number in range(parts):
        documents.append(folder / f"p{number}.parquet")
        sketches.append(folder / f"s{number}.parquet")
        choose = SplitChooser(Splits()).choose
        with write_table_in_batches(documents[-1], DOCUMENTS, 5) as writer:
            record = {"title": "", "abstract": "", "categories": [], "date": ""}
            writer.write([
                add_text({**record, "doc_id": doc_id, "split": choose(doc_id),
                          "domains": (domains or {}).get(doc_id, ["x"])}, text)
                for place, (doc_id, text) in enumerate(texts.items()) if place % parts == number
            ])  # fmt: skip
        sketch_part(documents[-1], sketches[-1], 8)
    output, index = folder / "splits.parquet", folder / "index.parquet"
    report = group_documents(documents, sketches, Grouped(Grouping(), Splits(), drops), output)
    counts = build_index(documents, index, output)
    copies = {row["doc_id"]: row["copy_of"] for row in read_table(output, SPLITS).iter_rows(named=True)}
    left = read_table(index, INDEX)["doc_id"].to_list()
    assert counts["near_copies"] == len(texts) - len(left)
    return {each: other for each, other in copies.items() if other}, left, report


@pytest.fixture
def texts() -> dict[str, str]:
    return {f"book.html#{number}": _write(number) for number in range(6)}


def test_the_longest_of_near_duplicates_counts(tmp_path, texts):
    longer = texts["book.html#1"] + " And this is new in it."
    added = {
        "book.md.gz#1": longer,
        "book.md.gz#2": texts["book.html#2"].upper(),
        "a.txt": texts["book.html#4"].rpartition(" ")[0],
        "z.txt": _change(texts["book.html#3"], 120),
    }
    copies, left, report = _find(tmp_path, {**texts, **added})
    assert copies == {
        "book.html#1": "book.md.gz#1", "book.md.gz#2": "book.html#2", "book.html#3": "z.txt",
        "a.txt": "book.html#4",
    }  # fmt: skip
    assert "book.md.gz#1" in left and "z.txt" in left
    assert report["copies"]["documents"] == 4
    assert report["copies"]["files"][0] == {
        "file": "book.html", "documents": 6, "copies": 2, "of": "book.md.gz", "of_it": 1, "others": 1
    }  # fmt: skip


def test_a_document_in_two_parts_is_as_long_as_its_longer_version(tmp_path):
    record = {"title": "", "abstract": "", "categories": [], "date": "", "domains": ["x"], "split": "train"}
    parts = ([("a", 30)], [("a", 90), ("b", 60)])
    paths = [tmp_path / f"{place}.parquet" for place in range(2)]
    for path, documents in zip(paths, parts, strict=True):
        with write_table_in_batches(path, DOCUMENTS, 5) as writer:
            writer.write([add_text({**record, "doc_id": doc_id}, "w" * size) for doc_id, size in documents])
    bands = Bands()
    rows = {"hash": [7, 8, 9] * 2, "document": [0] * 3 + [1] * 3}
    bands.add(pl.DataFrame(rows, schema={"hash": pl.UInt64, "document": pl.Int32}))
    assert find_copies(paths, pl.Series(["a", "b"]), bands) == {"b": "a"}


def test_what_is_half_the_same_is_no_copy(tmp_path, texts):
    half = " ".join(texts["book.html#1"].split()[:120]) + " " + _write(99, 120)
    copies, left, _ = _find(
        tmp_path, {**texts, "half.txt": half, "every.txt": _change(texts["book.html#2"], 6)}
    )
    assert copies == {}
    assert len(left) == 8


def test_a_whole_beside_its_parts_does_not_count(tmp_path):
    pages = {f"page{number:02}.html": _write(number) for number in range(30)}
    chapters = {
        f"chapter{number}.txt": _join(pages, range(10 * number, 10 * number + 10)) for number in range(3)
    }
    whole = {"whole.txt": _join(pages, range(30)) + " " + _write(99, 600)}
    copies, left, report = _find(tmp_path, pages | chapters | whole)
    assert left == sorted(pages)
    assert copies == {"whole.txt": "page00.html"} | {
        name: f"page{number}0.html" for number, name in enumerate(chapters)
    }
    assert report["copies"]["files"][3] == {
        "file": "whole.txt", "documents": 1, "copies": 1, "of": "page00.html", "of_it": 1, "others": 29
    }  # fmt: skip
    lines = describe_reading({"files": {"skipped": {}, "little_prose": {"count": 0, "files": {}}},
                              "groups": report})  # fmt: skip
    assert "  whole.txt: 1 of 1 from page00.html and 29 more" in lines


def _join(texts, numbers) -> str:
    return " ".join(texts[f"page{number:02}.html"] for number in numbers)


def test_an_excerpt_does_not_count_beside_its_source(tmp_path, texts):
    excerpt = " ".join(texts["book.html#1"].split()[:84])
    longer = texts["book.html#1"] + " " + _write(98, 600)
    copies, left, _ = _find(tmp_path, {"longer.txt": longer, "excerpt.txt": excerpt})
    assert (copies, left) == ({"excerpt.txt": "longer.txt"}, ["longer.txt"])


def test_four_of_five_sentences_are_enough(tmp_path):
    first, *others = _write(1, 60).split(". ")
    short = ". ".join([*others, _write(2, 12)])
    texts = {"longer.txt": f"{first}. {_write(3)} {'. '.join(others)}", "short.txt": short}
    copies, left, _ = _find(tmp_path, texts)
    assert (copies, left) == ({"short.txt": "longer.txt"}, ["longer.txt"])


def test_a_whole_of_which_more_than_a_fifth_is_new_counts_for_its_parts(tmp_path, texts):
    whole = " ".join(texts.values()) + " " + _write(99, 380)
    _, left, _ = _find(tmp_path, {**texts, "whole.txt": whole})
    assert left == ["whole.txt"]


def test_what_two_documents_say_one_of_those_left_says(tmp_path):
    drawer = random.Random(5)
    sentences = _write(7, 12 * 60).split(". ")
    texts = {
        f"d{number:02}": ". ".join(drawer.sample(sentences, drawer.randrange(5, 30))) + "."
        for number in range(20)
    }
    copies, left, _ = _find(tmp_path, texts)
    assert len(copies) > 5
    for sentence in sentences:
        holders = [name for name, text in texts.items() if sentence.strip(".") in text]
        assert len(holders) < 2 or set(holders) & set(left)
    assert set(copies.values()) <= set(left)


def test_boilerplate_makes_no_copies(tmp_path):
    same = _write(1, 192, 8)
    texts = {f"page{number:02}": f"{same} {_write(100 + number, 300, 60)}" for number in range(30)}
    assert _find(tmp_path, texts)[0] == {}


def test_a_copy_of_a_whole_is_one_of_its_parts(tmp_path, texts):
    whole = " ".join(texts.values())
    copies, left, _ = _find(tmp_path, {**texts, "whole.txt": whole, "whole.pdf": whole})
    assert copies == {"whole.txt": "book.html#0", "whole.pdf": "book.html#0"}
    assert left == sorted(texts)


def test_a_whole_of_another_domain_counts_there(tmp_path, texts):
    whole = {"whole.txt": " ".join(texts.values())}
    assert _find(tmp_path, {**texts, **whole}, domains={"whole.txt": ["y"]})[0] == {}


def test_copies_in_other_domains_count_there(tmp_path, texts):
    added = {"md#1": texts["book.html#1"], "md#2": texts["book.html#1"]}
    copies, _, _ = _find(tmp_path, {**texts, **added}, domains={"md#1": ["y"], "md#2": ["y"]})
    assert copies == {"md#2": "md#1"}


def test_without_the_setting_all_count(tmp_path, texts):
    copies, left, report = _find(tmp_path, {**texts, "copy": texts["book.html#1"]}, drops=False)
    assert (copies, len(left), report["copies"]["documents"]) == ({}, 7, 0)


def test_order_and_parts_change_nothing(tmp_path, texts):
    for number in range(20):
        texts[f"v{number}#1"] = texts["book.html#1"] + f" Version {number} of it."
        texts[f"v{number}#2"] = _change(texts["book.html#2"], 120 + 5 * number)
    names = list(texts)
    expected = _find(tmp_path / "one", texts)
    random.Random(1).shuffle(names)
    assert _find(tmp_path / "many", {name: texts[name] for name in names}, parts=3) == expected
    assert len(expected[1]) < 12


@pytest.mark.parametrize(
    ("settings", "drops"),
    [
        ({"source": "folder"}, True),
        ({"source": "folder", "near_copies": True}, False),
        ({"source": "folder", "splits_by": "id"}, False),
        ({"source": "arxiv"}, False),
        ({"source": "docstrings", "near_copies": False}, True),
    ],
)
def test_sources_that_may_hold_a_text_twice_are_looked_through(settings, drops):
    assert Corpus.model_validate(settings).drops_copies is drops


def test_copies_and_files_of_little_prose_are_named(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    text = _write(1)
    (folder / "page.html").write_text(f"<h1>Pumps</h1><p>{text}</p>")
    (folder / "page.md").write_text(f"# Pumps\n\n{text}\n")
    rows = "<tr><td>The flow of this pump</td><td>17</td></tr>" * 90
    (folder / "rows.html").write_text(f"<p>{_write(2, 24)}</p><table>{rows}</table>")
    selection = Selection.model_validate(
        {"corpus": {"source": "folder", "files": [str(folder)], "language": "any"},
         "domains": {"all": {"categories": ["*"]}}}
    )  # fmt: skip
    documents, sketches, splits = (tmp_path / f"{name}.parquet" for name in ("d", "s", "splits"))
    report = read_folder("files-1-of-1", [str(folder)], selection, documents, tmp_path / "kept")
    sketch_part(documents, sketches, 8)
    groups = group_documents([documents], [sketches], Grouped(Grouping(), Splits(), True), splits)
    counts = build_index([documents], tmp_path / "index.parquet", splits)
    index = read_table(tmp_path / "index.parquet", INDEX)
    joined = describe_join(index, counts, [report], selection)
    lines = "\n".join(describe_reading({**joined, "groups": groups}))
    assert "page.md: 1 of 1 from page.html" in lines or "page.html: 1 of 1 from page.md" in lines
    assert "rows.html: " in lines
    assert index["doc_id"].len() == 2
