"""Records next to questions, by exact search."""

import numpy as np
import pytest

from fathom.questions import asked_items
from fathom.questions.asked_items import find_exactly, retrieve_records


def test_the_nearest_come_first_and_of_equal_ones_the_first():
    records = np.array([[1, 0], [0, 1], [0.6, 0.8], [0.6, 0.8]], dtype=np.float32)
    questions = np.array([[0, 1], [0.8, 0.6]], dtype=np.float32)
    assert retrieve_records(questions, records, list("abcd"), 3) == ["b\nc\nd\n", "c\nd\na\n"]
    assert retrieve_records(questions, records[:2], list("ab"), 3) == ["b\na\n", "a\nb\n"]


def test_long_records_are_cut_and_many_questions_are_found_as_one_by_one():
    generator = np.random.default_rng(0)
    questions, records = (generator.normal(size=(count, 8)).astype(np.float32) for count in (1500, 30))
    texts = [f"{place} {'x' * 2000}" for place in range(30)]
    found = retrieve_records(questions, records, texts)
    assert found[1200:1201] == retrieve_records(questions[1200:1201], records, texts)
    assert {len(line) for text in found for line in text.splitlines()} == {800}


@pytest.mark.parametrize(("records", "count"), [(3000, 5), (12, 5), (3, 5), (400, 390)])
def test_faiss_finds_the_same_records_in_the_same_order(records, count):
    """Some records are the same, and others lie nearer to each other than float32 can tell."""
    pytest.importorskip("faiss", reason="FAISS is not installed: pip install .[faiss]")
    generator = np.random.default_rng(records)
    known = generator.normal(size=(records, 64)).astype(np.float32)
    known[1::3] = known[0::3][: len(known[1::3])]
    known[2::3] = known[0] + 1e-7 * known[2::3]
    known /= np.linalg.norm(known, axis=1, keepdims=True)
    questions = np.concatenate([known[:40], generator.normal(size=(300, 64)).astype(np.float32)])
    found = asked_items._find_with_faiss(questions, known, count)
    assert np.array_equal(found, find_exactly(questions, known, count))
    assert found.shape == (len(questions), min(count, records))


def test_faiss_is_used_where_it_is_installed(monkeypatch):
    records = np.eye(3, dtype=np.float32)
    monkeypatch.setattr(asked_items, "find_spec", lambda name: name == "faiss")
    monkeypatch.setattr(asked_items, "_find_with_faiss", lambda questions, known, count: np.array([[2, 0]]))
    assert retrieve_records(records[:1], records, list("abc"), 2) == ["c\na\n"]
    monkeypatch.setattr(asked_items, "find_spec", lambda name: None)
    assert retrieve_records(records[:1], records, list("abc"), 2) == ["a\nb\n"]
