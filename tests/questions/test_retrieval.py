"""Records next to questions, by exact search."""

import numpy as np

from fathom.questions.retrieval import retrieve_records


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
