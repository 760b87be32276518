"""Documents are drawn by hash until a domain has as many sentences as the limit allows."""

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses
from tests.tables import fill_table, tabulate_sentences

from fathom.benchmark.draw import draw_documents, draw_domains, keep_drawn
from fathom.benchmark.matches import match_sentences
from fathom.benchmark.reused_vectors import find_vectors
from fathom.io.contracts.corpus import DRAWN, INDEX, SENTENCE_COUNTS, SENTENCES
from fathom.io.files import write_json
from fathom.io.tables import write_table

SIZES = {f"d{number:02d}": 1 + number % 7 for number in range(60)}
MEMBERS = [["x"], ["y"], ["x", "y"]]


def tabulate(sizes):
    """Return documents with the number of their sentences."""
    return pl.DataFrame({"doc_id": list(sizes), "kept": list(sizes.values())})


def write_corpus(folder, parts):
    """Write an index in which a third of the documents is in two domains, and the counts of some parts."""
    names = list(SIZES)
    domains = [MEMBERS[place % 3] for place in range(len(names))]
    write_table(folder / "index.parquet", fill_table(INDEX, doc_id=names, domains=domains), INDEX)
    paths = []
    for part in range(parts):
        own = names[part::parts]
        table = fill_table(SENTENCE_COUNTS, doc_id=own, kept=[SIZES[name] for name in own])
        paths.append(folder / f"{parts}-{part}.parquet")
        write_table(paths[-1], table, SENTENCE_COUNTS)
    return folder / "index.parquet", paths


@settings(max_examples=30)
@given(st.integers(7, 300))
def test_a_draw_fills_the_limit_and_no_more(limit):
    found = draw_documents(tabulate(SIZES), limit)
    assert found["kept"].sum() <= limit
    assert found["kept"].sum() > limit - 7 or len(found) == len(SIZES)


@settings(max_examples=30)
@given(st.permutations(list(SIZES)), st.integers(50, 120))
def test_a_larger_limit_keeps_what_a_smaller_one_drew_in_any_order(order, limit):
    small = draw_documents(tabulate(SIZES), 50)
    assert (
        small["doc_id"].to_list()
        == draw_documents(tabulate({name: SIZES[name] for name in order}), limit)["doc_id"].to_list()[
            : len(small)
        ]
    )


def test_documents_are_drawn_not_taken_in_the_order_of_their_ids():
    found = draw_documents(tabulate(dict.fromkeys(SIZES, 1)), 20)["doc_id"].to_list()
    assert len(found) == 20 and found != sorted(found) and sorted(found) != sorted(SIZES)[:20]


def test_a_limit_below_the_first_document_is_refused():
    with refuses("sentences.limit = 5", "9 sentences"):
        draw_documents(tabulate({"d": 9}), 5)
    assert draw_documents(tabulate({}), 5).is_empty()


def test_each_domain_has_its_own_draw_whatever_the_parts(tmp_path):
    index, one = write_corpus(tmp_path, 1)
    drawn, counts = draw_domains(index, one, ["x", "y"], 60)
    write_table(tmp_path / "drawn.parquet", drawn, DRAWN)
    _, three = write_corpus(tmp_path, 3)
    again = draw_domains(index, three[::-1], ["x", "y"], 60)
    assert again[0].equals(drawn)
    assert again[1] == counts
    of = dict(zip(SIZES, (MEMBERS[place % 3] for place in range(60)), strict=True))
    for name, found in counts.items():
        members = [doc_id for doc_id in SIZES if name in of[doc_id]]
        own = drawn.filter(pl.col("domains").list.contains(name))["doc_id"].to_list()
        assert set(own) <= set(members)
        assert found["documents"] == len(own) == len(members) - found["left_out"]["documents"]
        assert found["sentences"] == sum(SIZES[doc_id] for doc_id in own) <= 60
        assert found["sentences"] + found["left_out"]["sentences"] == sum(SIZES[each] for each in members)


def write_sentences(folder, *names):
    """Write a slice's sentences: two of each document, of which the second is the same everywhere."""
    rows = [(name, text) for name in names for text in (name, "same")]
    table = tabulate_sentences(rows).with_columns(position=pl.int_range(pl.len(), dtype=pl.Int32) % 2)
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "p.parquet", table, SENTENCES)
    return table


def write_drawn(path, *names):
    """Write a table of drawn documents."""
    write_table(path, fill_table(DRAWN, doc_id=list(names), domains=[["x"]] * len(names)), DRAWN)


def test_distinct_sentences_of_drawn_documents_are_numbered_again(tmp_path):
    table = write_sentences(tmp_path, "a", "b", "c")
    write_drawn(tmp_path / "drawn.parquet", "b", "c", "elsewhere")
    kept = keep_drawn(table, tmp_path / "drawn.parquet")
    assert kept["sentence"].to_list() == ["b", "same", "c", "same"]
    assert kept["row"].to_list() == [1, 0, 2, 0]
    assert keep_drawn(table, None) is table


def test_vectors_of_a_limited_run_are_found_at_their_own_places(tmp_path):
    corpus = tmp_path / "corpus"
    table = write_sentences(corpus / "sentences", "a", "b", "c")
    write_drawn(corpus / "drawn.parquet", "b", "c")
    index = fill_table(INDEX, doc_id=list("abc"), part="p", domains=[["x"]] * 3)
    write_table(corpus / "index.parquet", index, INDEX)
    write_json(corpus / "sentences" / "p.json", {})
    (corpus / "embeddings").mkdir()
    method = {"code": "same"}
    vectors = np.eye(3, 4, dtype=np.float32)  # of same, b, c
    np.save(corpus / "embeddings" / "p.npy", vectors)
    write_json(corpus / "embeddings" / "p.json", {"method": method, "limited": True})
    found = find_vectors(tmp_path, table, method)
    rows, read = found.read(0, 4)
    texts = table.unique("row").sort("row")["sentence"]
    assert {texts[int(row)]: int(vector.argmax()) for row, vector in zip(rows, read, strict=True)} == {
        "same": 0, "b": 1, "c": 2,
    }  # fmt: skip
    # the table of an earlier limit is left there, but all sentences were embedded since
    np.save(corpus / "embeddings" / "p.npy", np.eye(4, dtype=np.float32))
    write_json(corpus / "embeddings" / "p.json", {"method": method})
    rows, read = find_vectors(tmp_path, table, method).read(0, 4)
    assert [int(vector.argmax()) for vector in read] == rows.tolist() == [0, 1, 2, 3]


def test_a_draw_has_the_matches_of_its_documents(tmp_path):
    table = write_sentences(tmp_path, *"abcdef")
    write_drawn(tmp_path / "drawn.parquet", "b", "e")
    random = np.random.default_rng(0)
    vectors = random.normal(size=(7, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    keywords = vectors[[2, 5]].astype(np.float64)
    everything = match_sentences(table, vectors, ["k", "l"], keywords, 0.0)
    kept = keep_drawn(table, tmp_path / "drawn.parquet")
    old = kept.join(table, on=["doc_id", "position"], suffix="_old").unique("row").sort("row")["row_old"]
    found = match_sentences(kept, vectors[old.to_numpy()], ["k", "l"], keywords, 0.0)
    wanted = everything.filter(pl.col("doc_id").is_in(["b", "e"]))
    assert len(wanted) > 3
    assert found.equals(wanted)
