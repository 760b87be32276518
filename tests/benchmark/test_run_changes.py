"""Differences between two runs."""

from pathlib import Path

import pytest
from tests.tables import fill_table, write_delimited

from fathom.benchmark.run_changes import (
    compare_documents,
    compare_inputs,
    compare_keywords,
    compare_pairs,
    count_reuse,
    describe_changes,
)
from fathom.io.contracts.benchmark import CHANGES, PAIRS
from fathom.io.contracts.corpus import INDEX
from fathom.io.files import write_json
from fathom.io.tables import write_table

MERGED = {"large model": "large models (67); model (large) (4)"}


def _write_run(folder, documents, keywords, pairs) -> Path:
    """Write what is compared: documents with title and domains, keywords, pairs with their document."""
    titles, domains = zip(*documents.values(), strict=True)
    index = fill_table(INDEX, doc_id=list(documents), part="p", title=titles, domains=domains)
    write_table(folder / "corpus" / "index.parquet", index, INDEX)
    rows = [(keyword, 2, count, count, MERGED.get(keyword, "")) for keyword, count in keywords.items()]
    write_delimited(folder / "d" / "keywords.tsv", ["keyword", "words", "documents", "count", "merged"], rows)
    frame = fill_table(PAIRS, pair_id=list(pairs), doc_id=list(pairs.values()))
    write_table(folder / "d" / "benchmark" / "tf" / "pairs.parquet", frame, PAIRS)
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Write two runs of a domain `d`."""
    before = _write_run(
        tmp_path / "one", {"a": ("A", ["d"]), "b": ("B", ["d"]), "c": ("C", ["e"]), "g": ("G", ["d"])},
        {"deep nets": 9, "graph|nets": 3}, {"1": "a", "2": "b", "3": "g"},
    )  # fmt: skip
    now = _write_run(
        tmp_path / "two", {"a": ("A", ["d"]), "b": ("B2", ["d"]), "c": ("C", ["d"]), "n": ("N", ["d"])},
        {"deep nets": 11, "long context": 5}, {"1": "a", "4": "b", "5": "n"},
    )  # fmt: skip
    return before, now


def test_documents_by_id_and_content(runs):
    every, domain = compare_documents(*runs, ["d"])
    header = dict(zip(CHANGES.names, every.values(), strict=True))
    assert header == {"domain": "", "what": "documents", "variant": "", "previous": 4, "now": 4, "kept": 2,
                      "changed": 1, "new": 1, "gone": 1, "overlap": "0.4000"}  # fmt: skip
    # c is of domain d now, and new there
    assert domain.values()[3:] == [3, 4, 1, 1, 2, 1, "0.2000"]


def test_keywords_gained_and_lost(runs):
    change, lines = compare_keywords(*runs, "d")
    assert change.values()[3:] == [2, 2, 1, 0, 1, 1, "0.3333"]
    assert lines == [
        ["d", "deep nets", "kept", 9, 11],
        ["d", "graph|nets", "lost", 3, None],
        ["d", "long context", "gained", None, 5],
    ]
    page = describe_changes("one", "two", [change], [], lines)
    assert "**d, keywords gained (1)**: long context" in page
    assert r"**d, keywords lost (1)**: graph\|nets" in page


def test_a_keyword_that_was_merged_into_another_is_said_as_such(tmp_path):
    before = _write_run(tmp_path / "one", {"a": ("A", ["d"])}, {"large model": 6}, {"1": "a"})
    now = _write_run(tmp_path / "two", {"a": ("A", ["d"])}, {"large models": 66, "nets": 5}, {"1": "a"})
    change, lines = compare_keywords(before, now, "d")
    assert lines == [
        ["d", "large model", "lost", 6, None],
        ["d", "large models", "gained", 67, 66],
        ["d", "nets", "gained", None, 5],
    ]
    page = describe_changes("one", "two", [change], [], lines)
    assert "gained (2)**: large models (until now merged into another), nets\n" in page
    _, back = compare_keywords(now, before, "d")
    assert "lost (2)**: large models (now merged into another), nets\n" in describe_changes(
        "", "", [], [], back
    )


def test_pairs_and_their_documents_where_a_benchmark_is_missing_too(runs):
    pairs, documents, *others = compare_pairs(*runs, "d")
    assert pairs.values()[1:] == ["pairs", "tf", 3, 3, 1, 0, 2, 2, "0.2000"]
    assert documents.values()[1:] == ["documents of pairs", "tf", 3, 3, 2, 0, 1, 1, "0.5000"]
    assert [line.values()[2:] for line in others] == [["tfidf", 0, 0, 0, 0, 0, 0, ""]] * 2


def test_input_files_by_name_and_content(runs):
    for run, files in zip(runs, ({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "2"}), strict=True):
        for name, sha256 in files.items():
            write_json(run / f"corpus/documents/{name}.json", {"input": {"file": name, "sha256": sha256}})
        write_json(run / "corpus" / "documents" / "abstracts-00.json", {"documents": 1})
    assert compare_inputs(*runs).values()[3:] == [2, 3, 1, 1, 1, 0, "0.3333"]


def test_reuse_is_summed_over_parts(runs):
    for part, kept in (("p", 3), ("q", 0)):
        write_json(runs[1] / "corpus/sentences" / f"{part}.json", {"documents": 5, "reused_documents": kept})
        write_json(
            runs[1] / "corpus/embeddings" / f"{part}.json", {"sentences": 50, "reused_sentences": kept}
        )
    split, embedded = count_reuse(runs[1])
    assert (split.now, split.kept, embedded.now, embedded.kept) == (10, 3, 100, 3)
    assert "- documents split: 3 of 10" in describe_changes("a", "b", [], [split, embedded], [])
