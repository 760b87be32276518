"""Rounds: the first about everything, others about gaps, until there is nothing left to ask."""

import numpy as np
import pytest

from fathom.config.questions import Asking
from fathom.questions.question_rounds import Candidate, QuestionRounds, RoundSettings

DIMENSION = 8


def make_rounds(users=(), places=range(40), percentile=0.6, **changes):
    """Return rounds over 40 records in 4 groups, each with two questions, of templates a and b."""
    generator = np.random.default_rng(0)
    centres = 10 * generator.normal(size=(4, DIMENSION))
    chunks = (centres[np.arange(40) % 4] + generator.normal(size=(40, DIMENSION))).astype(np.float32)
    items = []
    for name in "ab":
        for place in places:
            key = f"{(7 * place) % 41:03}{name}"
            items.append(Candidate(key, name, (place,), lambda n=name, p=place: make_row(n, p)))
    chosen = Asking(**({"first": 10} | changes))
    limits = RoundSettings(chosen, percentile, 5.0)
    return QuestionRounds(chunks, sorted(items, key=lambda item: item.key), list(users), limits), chunks


def make_row(template, place):
    return {"question_id": f"{template}{place:02}", "template": template, "place": place, "query": "ASK"}


def run(rounds, chunks):
    while not rounds.end:
        rows = rounds.draw()
        places = [row["place"] for row in rows]
        rounds.add(rows, chunks[places] + np.float32(0.1) if rows else chunks[:0])
    return rounds


def test_the_first_round_takes_the_first_by_hash_of_each_template_in_turn():
    rounds, _ = make_rounds()
    rows = rounds.draw()
    assert sorted(row["template"] for row in rows) == ["a"] * 5 + ["b"] * 5
    by_hash = sorted(range(40), key=lambda place: (7 * place) % 41)[:5]
    assert {row["place"] for row in rows} == set(by_hash) and {row["round"] for row in rows} == {0}


def test_later_rounds_ask_about_large_gaps_only_once_each():
    rounds, chunks = make_rounds()
    rows = rounds.draw()
    rounds.add(rows, chunks[[row["place"] for row in rows]])
    differences = rounds.differences
    assert rounds.threshold == np.quantile(differences, 0.6) > 0
    gaps = set(np.flatnonzero(differences > rounds.threshold).tolist())
    assert len(gaps) == rounds.rounds[0].report["large_gaps"] == 16
    asked = {row["question_id"] for row in rows}
    more = rounds.draw()
    assert {row["place"] for row in more} == gaps and not asked & {row["question_id"] for row in more}


def test_rounds_end_by_themselves_and_say_why():
    rounds, chunks = make_rounds()
    run(rounds, chunks)
    names = [row["question_id"] for asked in rounds.rounds for row in asked.rows]
    assert len(names) == len(set(names)) == rounds.rounds[-1].report["size"] == len(rounds.vectors)
    assert rounds.end in {"no question is left for any gap", "no gap is left above the threshold"}
    assert run(*make_rounds(percentile=0.1, rounds=1)).end == "most rounds"
    assert len(run(*make_rounds(rounds=0)).rounds) == 1
    everything = run(*make_rounds(first=80))
    assert len(everything.rounds[0].rows) == 80 and len(everything.vectors) == 80


def test_gaps_close_where_questions_are_asked():
    # first questions about one group of records only
    rounds, chunks = make_rounds(places=range(0, 40, 4))
    rows = rounds.draw()
    rounds.add(rows, chunks[[row["place"] for row in rows]])
    inside = np.arange(40) % 4 == 0
    assert rounds.differences[~inside].min() > rounds.differences[inside].max()
    before = rounds.rounds[0].report
    new = [make_row("c", place) for place in range(40)]
    after = rounds.add(new, chunks).report
    assert after["large_gaps"] < before["large_gaps"] and after["correlation"] > before["correlation"]


def test_questions_of_users_join_in_round_1_and_what_lies_next_to_them_is_a_gap():
    row = {"question_id": "u", "template": "faq.csv", "place": 0, "query": ""}
    rounds, chunks = make_rounds([(row, 3)])
    first = rounds.draw()
    rounds.add(first, chunks[[each["place"] for each in first]])
    second = rounds.draw()
    assert "u" in {each["question_id"] for each in second}
    assert 3 in {each["place"] for each in second if each["template"] != "faq.csv"}
    assert next(each for each in second if each["question_id"] == "u")["records"] == (3,)
    rounds.add(second, chunks[[each["place"] for each in second]])
    assert "u" not in {each["question_id"] for each in rounds.draw()}


@pytest.mark.parametrize("count", [1, 3])
def test_as_many_questions_for_each_gap_as_are_allowed(count):
    rounds, chunks = make_rounds(per_gap=count, first=2)
    rows = rounds.draw()
    rounds.add(rows, chunks[[row["place"] for row in rows]])
    places = [row["place"] for row in rounds.draw()]
    assert max(places.count(place) for place in places) == min(count, 2)
