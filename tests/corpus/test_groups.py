"""Groups of documents that share text."""

import random
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from fathom.config.corpus import Grouping, Splits
from fathom.corpus import groups as module
from fathom.corpus.groups import (
    Edges,
    Grouped,
    find_edges,
    group_documents,
    join_documents,
    report_groups,
    sketch_part,
)
from fathom.corpus.index import build_index
from fathom.corpus.records import add_text
from fathom.corpus.selection import SplitChooser
from fathom.io.contracts.corpus import DOCUMENTS, INDEX, SPLITS
from fathom.io.tables import read_table, write_table_in_batches

_DRAWER = random.Random(1)
LICENCE = "All rights are reserved by the authors of this text and by nobody else."


def _write(count: int = 3, words: int = 12) -> str:
    """Return some sentences that nothing else holds."""
    return " ".join(" ".join(str(_DRAWER.randrange(10**6)) for _ in range(words)) + "." for _ in range(count))


def _plant() -> dict[str, str]:
    """Return documents by id: most have nothing in common, some share text in each of the ways."""
    texts = {f"d{number:03}": f"{_write()} {LICENCE} See also here." for number in range(60)}
    shared = "One sentence of more than eight words stands in both of them."
    texts["d007"] += f" {shared}"
    texts["d041"] = f"{shared.upper()[:-1]}!\n\n{texts['d041']}"
    texts["d020"] = f"{_write(4, 60)} {LICENCE}"
    words = texts["d020"].split()
    words[5] = words[80] = words[150] = words[200] = "edited"
    texts["d055"] = " ".join(words)  # no sentence but the licence is the same
    return texts


@pytest.fixture(scope="module")
def planted() -> dict[str, str]:
    return _plant()


def _group(folder, parts, chosen=None) -> tuple[dict[str, tuple[str, str]], dict[str, Any]]:
    """Group the documents of some parts; return group and split by id, and the report."""
    folder.mkdir(exist_ok=True)
    chosen = chosen or Grouping()
    documents, sketches = [], []
    for number, part in enumerate(parts):
        documents.append(folder / f"p{number}.parquet")
        sketches.append(folder / f"s{number}.parquet")
        with write_table_in_batches(documents[-1], DOCUMENTS, 7) as writer:
            record = {"title": "", "abstract": "", "categories": [], "date": "", "domains": ["x"]}
            chooser = SplitChooser(Splits())
            writer.write([
                add_text({**record, "doc_id": doc_id, "split": chooser.choose(doc_id)}, text)
                for doc_id, text in part.items()
            ])  # fmt: skip
        assert sketch_part(documents[-1], sketches[-1], chosen.min_words) == len(part)
    output = folder / "splits.parquet"
    report = group_documents(documents, sketches, Grouped(chosen, Splits()), output)
    table = read_table(output, SPLITS)
    return {doc_id: (group, split) for doc_id, group, split, _ in table.iter_rows()}, report


def test_copies_go_together_and_boilerplate_joins_nothing(tmp_path, planted):
    found, report = _group(tmp_path, [planted])
    choose = SplitChooser(Splits()).choose
    assert found == {
        "d007": ("d007", choose("d007")), "d041": ("d007", choose("d007")),
        "d020": ("d020", choose("d020")), "d055": ("d020", choose("d020")),
    }  # fmt: skip
    assert (report["documents"], report["groups"], report["grouped_documents"]) == (60, 2, 4)
    assert (report["shared_sentences"], report["frequent_sentences"]) == (
        1,
        1,
    )  # the short one is not compared
    assert report["largest_group"] == {"documents": 2, "first": "d007"}
    moved = sum(choose(doc_id) != split for doc_id, (_, split) in found.items())
    assert report["moved_documents"] == moved


def test_settings_decide_what_joins(tmp_path, planted):
    long_only, _ = _group(tmp_path / "long", [planted], Grouping(min_words=20))
    assert set(long_only) == {"d020", "d055"}
    everything, report = _group(tmp_path / "all", [planted], Grouping(max_documents=1000, max_share=1.0))
    assert {group for group, _ in everything.values()} == {"d000"}
    assert len(everything) == 60
    assert report["refused_joins"] == 0


def test_order_parts_and_buckets_change_nothing(tmp_path, planted, monkeypatch):
    chosen = Grouping(max_documents=1000, max_share=0.3)  # the licence would join all: 18 may be one group
    expected, report = _group(tmp_path / "one", [planted], chosen)
    assert max(Counter(group for group, _ in expected.values()).values()) == 18
    assert report["refused_joins"] > 0
    names = list(planted)
    random.Random(3).shuffle(names)
    for name, size in (("_BUCKET", 50), ("_RUN", 90), ("_GROUP", 16), ("_CHUNK", 5)):
        monkeypatch.setattr(module, name, size)
    parts = [{name: planted[name] for name in names[place::3]} for place in range(3)]
    parts[1][names[0]] = planted[names[0]]  # a second version of a document
    again, other = _group(tmp_path / "many", parts, chosen)
    assert again == expected
    assert other == report
    assert (tmp_path / "one/splits.parquet").read_bytes() == (tmp_path / "many/splits.parquet").read_bytes()


def test_most_documents_keep_their_split_when_others_are_added(tmp_path):
    texts = {f"d{number:03}": _write() for number in range(300)}
    for number in range(0, 290, 10):  # groups of three
        for other in (1, 2):
            texts[f"d{number + other:03}"] += " " + texts[f"d{number:03}"].split(". ")[0] + "."
    before, _ = _group(tmp_path / "before", [texts])
    assert len(before) == 87
    added = {f"d{number:03}x": _write() + " " + texts[f"d{number:03}"] for number in range(0, 300, 7)}
    after, _ = _group(tmp_path / "after", [texts, added])
    choose = SplitChooser(Splits()).choose
    changed = [
        name
        for name in texts
        if before.get(name, ("", choose(name)))[1] != after.get(name, ("", choose(name)))[1]
    ]
    assert changed == []  # a new document joins the group of a smaller id


def _draw_edges(count: int) -> st.SearchStrategy[list[tuple[int, int, int]]]:
    """Return edges between documents, each with a level of evidence."""
    edge = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), st.integers(0, 3))
    return st.lists(edge, max_size=40)


def _make_edges(rows: list[tuple[int, int, int]]) -> Edges:
    first, second, level = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Edges(first.astype(np.int32), second.astype(np.int32), level)


@given(_draw_edges(12), st.integers(1, 13))
def test_groups_are_disjoint_bounded_and_named_after_their_first(rows, limit):
    labels, refused = join_documents(12, _make_edges(rows), limit)
    assert (labels[labels] == labels).all()
    assert (labels <= np.arange(12)).all()
    must = [row for row in rows if row[2] == 0]
    first, second, _ = _make_edges(must)
    assert (labels[first] == labels[second]).all()
    sizes = np.bincount(labels)
    alone, _ = join_documents(12, _make_edges(must), 1)
    assert sizes.max() <= max(limit, np.bincount(alone).max())
    whole = coo_array((np.ones(len(rows)), _make_edges(rows)[:2]), (12, 12))
    number, parts = connected_components(whole, directed=False)
    assert len(np.unique(np.stack([parts, labels]), axis=1).T) == len(np.unique(labels))  # none goes across
    assert (refused == 0) == (len(np.unique(labels)) == number)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 7)), max_size=60), st.randoms())
def test_edges_do_not_depend_on_the_order_of_rows(rows, drawer):
    def find(rows: list[tuple[int, int]]) -> list[list[int]]:
        data = {
            "hash": [value for value, _ in rows],
            "document": [number for _, number in rows],
            "words": [0 if value < 3 else 8 + value for value, _ in rows],
        }
        frame = pl.DataFrame(data, schema={"hash": pl.UInt64, "document": pl.Int32, "words": pl.Int16})
        edges, counts = find_edges(frame, 4)
        return [*(column.tolist() for column in edges), list(counts.values())]

    expected = find(rows)
    assert find(drawer.sample(rows, len(rows))) == expected
    holders: dict[int, set[int]] = {}
    for value, number in rows:
        holders.setdefault(value, set()).add(number)
    joining = {
        value: held for value, held in holders.items() if len(held) > 1 and (value < 3 or len(held) <= 4)
    }
    assert len(expected[0]) == sum(len(held) - 1 for held in joining.values())


def test_strong_evidence_joins_first():
    # 0-1 by a sentence of two documents, 1-2 by one of five; only two may be together
    weak_first = _make_edges([(1, 2, 5 * 256), (0, 1, 2 * 256)])
    labels, refused = join_documents(3, weak_first, 2)
    assert labels.tolist() == [0, 0, 2]
    assert refused == 1


def test_the_index_takes_the_splits_of_groups(tmp_path, planted):
    found, _ = _group(tmp_path, [planted])
    parts = [tmp_path / "p0.parquet"]
    build_index(parts, tmp_path / "by_id.parquet")
    build_index(parts, tmp_path / "index.parquet", tmp_path / "splits.parquet")
    by_id = read_table(tmp_path / "by_id.parquet", INDEX)
    index = read_table(tmp_path / "index.parquet", INDEX)
    choose = SplitChooser(Splits()).choose
    for doc_id, split in index.select("doc_id", "split").iter_rows():
        assert split == (found[doc_id][1] if doc_id in found else choose(doc_id))
    assert index.drop("split").equals(by_id.drop("split"))


def test_a_group_of_many_near_duplicates_is_reported(tmp_path, caplog):
    text = _write(8).split()
    copies = {}
    for number in range(30):
        words = list(text)
        words[number * 3] = "edited"
        copies[f"c{number:02}"] = " ".join(words)
    found, report = _group(tmp_path, [copies])
    assert len(found) == 30
    with caplog.at_level("INFO", logger="fathom"):
        report_groups(report)
    assert "the largest group has 30 near-duplicates, all in one split; the first is c00" in caplog.text


def test_a_corpus_without_documents_has_no_groups(tmp_path):
    found, report = _group(tmp_path, [{}, {"only": ""}])
    assert found == {}
    assert report["documents"] == 1
