from collections import Counter

import polars as pl
import pytest

from fathom.corpus.texts import choose_documents, make_plain
from fathom.io.files import hash_text


def _index(count: int = 40, size: int = 100) -> pl.DataFrame:
    splits = ["benchmark", "adapt-train", "adapt-train", "adapt-valid", "adapt-test"]
    return pl.DataFrame({
        "doc_id": [f"d{n:02}" for n in range(count)], "title": ["t" * 4] * count,
        "abstract": ["a" * 6] * count, "domains": [["x"] if n % 7 else ["y"] for n in range(count)],
        "split": [splits[n % 5] for n in range(count)], "characters": [size - 10] * count,
    })  # fmt: skip


def test_no_benchmark_document_and_no_other_domain_is_chosen():
    chosen = choose_documents([_index()], "x", 10**9)
    assert set(chosen["split"]) == {"adapt-train", "adapt-valid", "adapt-test"}
    inside = _index().filter(pl.col("domains").list.contains("x"))["doc_id"]
    assert set(chosen["doc_id"]) <= set(inside)
    assert len(chosen) == sum(1 for n in range(40) if n % 7 and n % 5)


def test_order_is_that_of_a_hash_whatever_the_order_of_the_index():
    chosen = choose_documents([_index()], "x", 10**9)
    assert chosen["doc_id"].to_list() == sorted(chosen["doc_id"], key=hash_text)
    assert choose_documents([_index().reverse()], "x", 500).equals(choose_documents([_index()], "x", 500))


@pytest.mark.parametrize("limit", [1, 550, 1999, 10**9])
def test_pieces_of_the_index_give_what_the_whole_gives(limit):
    index = _index().with_columns(characters=pl.Series([(n * 7919) % 90 for n in range(40)]))
    pieces = [index[start : start + 3] for start in range(0, 40, 3)]
    assert choose_documents(pieces, "x", limit).equals(choose_documents([index], "x", limit))


def test_limit_takes_whole_documents_and_a_tenth_for_held_out_splits():
    everything = choose_documents([_index()], "x", 10**9)
    chosen = choose_documents([_index()], "x", 2000 - 1)
    sizes = dict(chosen["split"].value_counts().iter_rows())
    assert sizes == {"adapt-train": min(19, (everything["split"] == "adapt-train").sum()),
                     "adapt-valid": 1, "adapt-test": 1}  # fmt: skip
    smaller = choose_documents([_index()], "x", 550)
    assert (smaller["split"] == "adapt-train").sum() == 5
    train = everything.filter(pl.col("split") == "adapt-train")["doc_id"].to_list()
    assert smaller.filter(pl.col("split") == "adapt-train")["doc_id"].to_list() == train[:5]
    # one document is taken though it is over the limit
    assert (choose_documents([_index()], "x", 1)["split"] == "adapt-train").sum() == 1


def test_domain_without_training_documents_may_still_be_held_out():
    index = _index().with_columns(split=pl.col("split").replace("adapt-train", "benchmark"))
    assert set(choose_documents([index], "x", 10**9)["split"]) == {"adapt-valid", "adapt-test"}


def test_domain_without_documents_gives_none(caplog):
    with caplog.at_level("INFO", "fathom"):
        assert choose_documents([_index()], "z", 1000).is_empty()
    assert "z: 0 of 0 documents of adapt-test" in caplog.text


def test_plain_text_keeps_paragraphs_and_loses_latex():
    document = {
        "title": "Über nets",
        "abstract": "We  learn.",
        "text": "\\section{Intro}\n\nDeep\nnets \\cite{a} learn $\\alpha$.\n\n \n\\cite{b}\n\nA bare \\sqrt",
    }
    counts: Counter[str] = Counter()
    plain = make_plain(document, counts).split("\n\n")
    assert plain[0] == "Über nets : We learn."
    assert plain[2:] == ["Deep nets learn α.", "A bare \\sqrt"]
    assert counts == {"latex_failed": 1}
