"""Planted models are found out: by the variations, over the orders, and by the diagnosis."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest
from tests.answering.planted import answer_table, make_table
from tests.refusals import refuses

from fathom.answering.choice_files import read_choice_folder
from fathom.answering.diagnosis import (
    Answers,
    diagnose,
    gather_answers,
    name_verdict,
    tabulate_accuracy,
    tabulate_diagnosis,
    tabulate_orders,
    tabulate_rankings,
)
from fathom.answering.variations import AS_SHIPPED, ORDERS
from fathom.config.choices import Choices
from fathom.config.scoring import Summary
from fathom.io.contracts.answering import (
    CHOICE_ACCURACY,
    CHOICE_ANSWERS,
    CHOICE_DIAGNOSIS,
    CHOICE_ORDERS,
    CHOICE_RANKINGS,
)
from fathom.io.tables import check_table

SETTINGS, SUMMARY = Choices(factors=["examples", "options", "styles"]), Summary(rounds=400)


@pytest.fixture(scope="module")
def plain() -> dict[tuple[str, str], pl.DataFrame]:
    """Return answers of all planted models outside a chat."""
    return {("numbers", name): found for name, found in answer_table(make_table(), SETTINGS, False).items()}


def _tabulate(rows, columns) -> pl.DataFrame:
    return pl.DataFrame([tuple(map(str, row)) for row in rows], list(columns), orient="row")


def _find(table: pl.DataFrame, **values: str) -> dict[str, str]:
    (row,) = table.filter(
        pl.all_horizontal(pl.col(name) == value for name, value in values.items())
    ).to_dicts()
    return row


@pytest.fixture(scope="module")
def accuracy(plain) -> pl.DataFrame:
    return _tabulate(tabulate_accuracy(gather_answers(plain, SUMMARY)), CHOICE_ACCURACY.names)


def test_answers_keep_their_contract_and_come_twice(plain):
    for table in plain.values():
        check_table(table.to_arrow(), CHOICE_ANSWERS)
        by_way = [part.drop("way", "log_probabilities", "text") for part in table.partition_by("way")]
        assert by_way[0].equals(by_way[1]), "both ways find what the model chose"


def test_always_b_is_as_good_as_the_letter_of_the_right_option(accuracy):
    found = {row["variation"]: row for row in accuracy.filter(model="always-b", way="letter").to_dicts()}
    assert [float(found[f"right-{letter}"]["accuracy"]) for letter in "ABCD"] == [0, 1, 0, 0]
    assert found["right-B"]["apart"] == "yes"
    changes = [float(row["change"]) for name, row in found.items() if name.startswith("examples")]
    assert changes == [0.0] * 7
    assert float(found["examples-A"]["change_low"]) == 0.0


def test_who_follows_the_examples_is_moved_by_them(accuracy):
    shipped = float(_find(accuracy, model="follows", way="letter", variation="as-shipped")["accuracy"])
    moved = [_find(accuracy, model="follows", way="letter", variation=f"examples-{letter}")
             for letter in "ABCD"]  # fmt: skip
    right = make_table().filter(split="test")["right"]
    expected = [float((right == place).mean()) for place in range(4)]
    assert [float(row["accuracy"]) for row in moved] == pytest.approx(expected, abs=1e-6)
    assert [float(row["change"]) for row in moved] == pytest.approx(
        [each - shipped for each in expected], abs=1e-5
    )
    assert all(row["baseline"] == "as-shipped" and row["shots"] == "5" for row in moved)
    style = _find(accuracy, model="follows", way="letter", variation="style-minimal")
    assert (style["baseline"], style["shots"]) == ("style-standard", "0")


def test_changes_are_paired(accuracy):
    """Who knows half the answers whatever the style has no change, and an interval without width."""
    for name in ("knows", "longest"):
        rows = accuracy.filter((pl.col("model") == name) & (pl.col("change") != ""))
        assert set(rows["change"]) | set(rows["change_low"]) | set(rows["change_high"]) == {"0"}
        assert set(rows["apart"]) == {"no"}


def test_a_relative_change_is_a_share_of_the_baselines_accuracy(accuracy):
    rows = accuracy.filter(model="follows", way="letter", factor="examples").to_dicts()
    shipped = float(_find(accuracy, model="follows", way="letter", variation="as-shipped")["accuracy"])
    assert any(float(row["change"]) for row in rows)
    for row in rows:
        low, value, high = (float(row[f"relative_{name}"]) for name in ("low", "change", "high"))
        assert value == pytest.approx(float(row["change"]) / shipped, abs=1e-5)
        assert -1 <= low <= value <= high


def test_a_baseline_without_a_right_answer_has_no_relative_change(plain):
    ((place, table),) = [(place, table) for place, table in plain.items() if place[1] == "always-b"]
    right = table.filter(pl.col("variation") == "as-shipped", pl.col("chosen") == pl.col("right"))
    wrong = {place: table.filter(~pl.col("item_id").is_in(right["item_id"].implode()))}
    found = _tabulate(tabulate_accuracy(gather_answers(wrong, SUMMARY)), CHOICE_ACCURACY.names)
    row = _find(found, model="always-b", way="letter", variation="right-B")
    assert float(row["change"]) == 1
    assert [row[f"relative_{name}"] for name in ("change", "low", "high")] == [""] * 3


def test_orders_tell_letters_from_content(plain):
    table = _tabulate(tabulate_orders(gather_answers(plain, SUMMARY)), CHOICE_ORDERS.names)
    values = {
        name: [float(_find(table, model=name, way="letter", statistic=each)["value"])
               for each in ("score", "alike")]
        for name in ("always-b", "longest", "knows", "guesses")
    }  # fmt: skip
    assert values["always-b"] == [0.25, 0.0]
    assert values["longest"] == [0.4, 1.0]
    assert values["knows"] == [1.0, 1.0]
    assert values["guesses"][0] == pytest.approx(0.25, abs=0.08)
    assert values["guesses"][1] < 0.1
    assert set(table["orders"]) == {"4"}


def test_the_diagnosis_finds_out_each_planted_model(plain):
    table = _tabulate(tabulate_diagnosis(gather_answers(plain, SUMMARY)), CHOICE_DIAGNOSIS.names)
    verdicts = {row["model"]: row["detail"]
                for row in table.filter(finding="verdict", way="letter").to_dicts()}  # fmt: skip
    assert verdicts == {"always-b": "favours letter B", "longest": "favours the longest option",
                        "knows": "knows answers", "guesses": "like guessing",
                        "follows": "favours letter " + _last_letter()}  # fmt: skip
    assert _find(table, model="longest", way="text", finding="knowledge")["found"] == "yes"
    assert _find(table, model="longest", way="text", finding="knowledge elsewhere")["value"] == "0"
    assert _find(table, model="knows", way="text", finding="longest option")["value"] == ""


def _last_letter() -> str:
    return "ABCD"[make_table().filter(split="dev")["right"][4]]


def _answer_by_chance(seed: int, models: int, rounds: int) -> list[Answers]:
    """Return models that choose any of four options, in all cyclic orders of 50 questions."""
    random, found = np.random.default_rng(seed), []
    right, longest = random.integers(4, size=(2, 50))
    for model in range(models):
        parts = []
        for order in range(4):
            option = random.integers(4, size=50)
            parts.append(pl.DataFrame({
                "item_id": [f"{place:02d}" for place in range(50)], "baseline": AS_SHIPPED, "way": "letter",
                "variation": f"order-{order}" if order else AS_SHIPPED, "factor": ORDERS if order else "",
                "right": (right + order) % 4, "chosen": (option + order) % 4, "option": option,
                "is_right": option == right, "shots": 5, "cut": 0, "options": 4,
                "longest": longest}))  # fmt: skip
        found.append(Answers(f"guess-{model}", "set", "letter", pl.concat(parts), Summary(rounds=rounds)))
    return found


def test_few_models_that_guess_have_a_habit():
    """Of 200 at most ten are expected; by an interval for each finding it is 18."""
    assert sum(name_verdict(diagnose(each)) != "like guessing" for each in _answer_by_chance(0, 200, 1)) <= 10


def test_changes_are_apart_by_a_test_of_all_together():
    """Of 60 equal models asked in three more orders, single intervals leave out 0 in nine of 180 changes."""
    rows = [dict(zip(CHOICE_ACCURACY.names, row, strict=True))
            for row in tabulate_accuracy(_answer_by_chance(1, 60, 100))]  # fmt: skip
    changes = [row for row in rows if row["change"]]
    assert len(changes) == 180 and {row["apart"] for row in changes} == {"no"}
    assert sum(float(row["change_low"]) > 0 or float(row["change_high"]) < 0 for row in changes) > 3
    parts = _answer_by_chance(1, 60, 100)[0].variations
    shipped, moved = (parts[name]["is_right"] for name in (AS_SHIPPED, "order-1"))
    expected = binomtest(int((moved & ~shipped).sum()), int((moved ^ shipped).sum())).pvalue
    assert float(changes[0]["p"]) == pytest.approx(expected, rel=1e-5)


def test_few_questions_show_nothing():
    tables = answer_table(make_table(8), SETTINGS, False, ["always-b"])
    (answers,) = gather_answers({("few", "always-b"): tables["always-b"].filter(way="letter")}, SUMMARY)
    assert name_verdict(diagnose(answers)) == "like guessing"


def test_rankings_of_models_turn_with_the_letter_of_the_right_option():
    """Three models with favourite letters: A, B and D; the ranking follows the letter."""
    from tests.answering.planted import STYLES, Planted

    from fathom.answering.choice_files import make_items
    from fathom.answering.variation_files import answer_choices

    items = make_items(make_table(), "numbers", 0, "numbers")
    tables = {}
    for number, first in enumerate((0, 1, 3)):
        rule = Planted(lambda question, options, prompt, first=first: first)
        settings = Choices(ways=["letter"], chat_factors=["options"])
        tables["numbers", f"model{number}"] = answer_choices(rule, items, settings, STYLES, True)
    answers = gather_answers(tables, SUMMARY)
    table = _tabulate(tabulate_rankings(answers, SUMMARY), CHOICE_RANKINGS.names)
    scores = {each.model: each.variations for each in answers}
    shipped = [float(scores[name]["as-shipped"]["is_right"].mean()) for name in scores]
    turned = [float(scores[name]["right-D"]["is_right"].mean()) for name in scores]
    assert turned == [0, 0, 1]
    from scipy.stats import kendalltau

    tau = _find(table, first="as-shipped", second="right-D")
    assert float(tau["tau"]) == pytest.approx(kendalltau(shipped, turned).statistic, abs=1e-5)
    assert tau["models"] == "3"
    assert len(table.filter(factor="orders")) == 6, "every two of four orders"


def test_models_must_have_been_asked_the_same(plain):
    table = plain["numbers", "knows"]
    other = {("numbers", "x"): table, ("numbers", "y"): table.filter(item_id="item010")}
    with refuses("questions"):
        gather_answers(other, SUMMARY)


def test_sets_are_summed_up_together_too(plain):
    table = plain["numbers", "always-b"]
    both = gather_answers({("one", "m"): table, ("two", "m"): table.head(len(table))}, SUMMARY)
    rows = _tabulate(tabulate_accuracy(both), CHOICE_ACCURACY.names)
    assert set(rows["questions"]) == {"one", "two", "all"}
    together = _find(rows, questions="all", way="text", variation="as-shipped")
    assert together["items"] == "120"
    diagnosis = list(tabulate_diagnosis(both))
    assert len(diagnosis) == 10, "of all sets together only"


def test_the_real_questions_of_mmlu_find_the_planted_models_out(shared):
    folder = shared / "mmlu"
    tables = {}
    for name in ("high_school_computer_science", "college_computer_science"):
        settings = Choices(ways=["letter"], chat_factors=["options"])
        table = read_choice_folder(folder, name)
        assert len(table.filter(split="test")) == 100
        planted = ["always-b", "longest", "knows", "guesses"]
        flat = table.with_columns(
            pl.col("question").str.replace_all("\n", " "),
            pl.col("options").list.eval(pl.element().str.replace_all("\n", " ")),
        )
        for model, found in answer_table(flat, settings, True, planted).items():
            tables[name, model] = found
    answers = gather_answers(tables, SUMMARY)
    found = {each.model: name_verdict(diagnose(each)) for each in answers if each.questions == "all"}
    assert found == {"always-b": "favours letter B", "longest": "favours the longest option",
                     "knows": "knows answers", "guesses": "like guessing"}  # fmt: skip
