"""The page of logs in a real Chromium: answer, tasks, groups, two models, items, one item as a whole."""

import polars as pl
import pytest
from tests.explorer.item_logs import make_logs
from tests.explorer.runs import SCRIPT, SETTINGS

from fathom.explorer.page import write_item_page

STATUS = "document.querySelector('#items .status').textContent"
TEXT = "return document.querySelector('{}').textContent"
CELLS = """return [...document.querySelectorAll('{} tbody tr')]
    .map((row) => [...row.cells].map((cell) => cell.textContent))"""
CHOOSE = "const s = document.querySelector('{}'); s.value = '{}'; s.dispatchEvent(new Event('change'))"


def write(folder, name, logs, notes=()):
    path = folder / f"{name}.html"
    write_item_page(name, logs, notes, path, SETTINGS)
    return path.as_uri()


@pytest.fixture(scope="module")
def logs():
    return make_logs(planted=SCRIPT, metrics=("acc", "loss"))


@pytest.fixture(scope="module")
def address(tmp_path_factory, logs):
    return write(tmp_path_factory.mktemp("logs"), "one", logs, [f"a note {SCRIPT}"])


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    logs = make_logs(tasks=("sums", "dates"), items=60, clusters=20)
    return write(tmp_path_factory.mktemp("logs"), "several", logs)


@pytest.mark.parametrize(("width", "height", "dark"), [(1400, 900, False), (390, 844, True)])
def test_it_opens_without_an_error_a_request_or_a_sideways_scroll(browser, address, width, height, dark):
    browser.list_errors(), browser.list_requests()
    browser.open(address, width, height, dark)
    assert browser.list_errors() == []
    assert {each for each in browser.list_requests() if each != "about:blank"} == {address}
    assert browser.run("return document.documentElement.scrollWidth") == width
    assert browser.run(TEXT.format("h1")).startswith("Of three models, beta")
    assert browser.run("return document.querySelectorAll('#ranking svg[role=img]').length") == 1
    assert "accuracy, with 95\u00a0% intervals; further right is better" in browser.run(
        TEXT.format("#ranking")
    )
    browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    assert browser.check_accessibility() == []
    assert browser.run("return window.planted === undefined && !document.querySelector('img[src=x]')")
    parts = browser.run("return [...document.querySelectorAll('section')].map((each) => each.id)")
    assert parts == ["answer", "settle", "groups", "sides", "items", "made"]


def test_scores_stand_in_the_numbers_and_in_the_two_models(browser, address, logs):
    browser.open(address)
    browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    rows = browser.run(CELLS.format("#ranking"))
    best = logs.filter(metric="acc").group_by("model").agg(pl.col("score").mean())["score"].max()
    assert rows[0][2] == f"{100 * best:.1f} %" and rows[0][4] == "a"
    two = browser.run(TEXT.format("#sides"))
    assert "exact test of signs" in two and "they are not significantly different" in two
    assert browser.run("return document.querySelectorAll('#sides table').length") == 2
    browser.run(CHOOSE.format(".choices select", "loss"))
    browser.wait("document.querySelector('#ranking').textContent.includes('further left is better')")
    assert "the lowest loss" in browser.run(TEXT.format("h1"))


def test_items_are_searched_filtered_sorted_opened_and_sent(browser, address, logs):
    browser.open(address)
    assert browser.run(f"return {STATUS}") == "120 of 120 items"
    wide = logs.filter(metric="acc").pivot("model", index="item", values="score").drop("item")
    split = int((wide.min_horizontal() < wide.max_horizontal()).sum())
    browser.run(CHOOSE.format("#items-shown", "split"))
    browser.wait(f"{STATUS} === '{split} of 120 items'")
    browser.run(CHOOSE.format("#items-shown", ""))
    browser.run("document.querySelector('#items-search').focus()")
    browser.press("question 107")
    browser.wait(f"{STATUS} === '1 of 120 items'")
    columns, rows = browser.run("return Fathom.items.collect()")
    assert rows[0][0] == "107" and len(columns) == 10 and rows[0][-1].split()[0] in ("right", "wrong")
    browser.run("document.querySelector('#items .pair').focus()")
    browser.press("\ue007")
    browser.wait("document.querySelector('#pair').open")
    shown = browser.run(TEXT.format("#pair"))
    assert "Question 107 of" in shown and "right 107" in shown and SCRIPT in shown
    sent = browser.run("return location.href")
    browser.press("\ue00c")
    browser.wait("!document.querySelector('#pair').open && !location.hash.includes('p=')")
    browser.open(sent, 390, 844)
    assert browser.run("return document.querySelector('#pair').open") and browser.check_accessibility() == []
    browser.open(f"{address}#b=none&s=none&a=none&k=none&f=none&p=none&o=none")
    assert browser.list_errors() == []


def test_a_table_of_tasks_leads_to_each(browser, several):
    browser.open(several)
    assert "on 2 tasks together" in browser.run(TEXT.format("h1"))
    assert [row[0] for row in browser.run(CELLS.format("#tasks"))] == ["2 tasks together", "dates", "sums"]
    assert browser.run(TEXT.format("#items > div")) == "Choose one of the tasks to see its items."
    browser.run("document.querySelectorAll('#tasks tbody a')[2].click()")
    browser.wait("document.querySelector('h1').textContent.includes('sums')")
    browser.wait("document.querySelector('#items .status')")
    assert browser.run("return Fathom.benchmark().id") == "sums"
    assert "60 items · in 20 clusters" in browser.run(TEXT.format("#facts"))


def test_hundreds_of_tasks_stay_usable(browser, tmp_path):
    logs = make_logs(
        {"a": 0.5, "b": 0.3}, items=4, tasks=[f"task {place:03d}" for place in range(300)], groups=0
    )
    browser.open(write(tmp_path, "hundreds", logs), 390, 844)
    assert browser.run("return document.querySelectorAll('#tasks tbody tr').length") == 301
    assert browser.run("return document.documentElement.scrollWidth") == 390
    first = browser.run("return performance.getEntriesByName('fathom-answer')[0].startTime")
    assert 0 < first < 20_000


@pytest.mark.parametrize("items", [1, 5])
def test_one_model_or_one_item_still_has_a_page(browser, tmp_path, items):
    logs = make_logs({"alone": 0.0}, items=items, groups=0)
    both = make_logs({"a": 0.0, "b": 1.0}, items=1, groups=0)
    browser.list_errors()
    browser.open(write(tmp_path, "alone", logs))
    assert "alone is the only model" in browser.run(TEXT.format("h1"))
    assert browser.run(TEXT.format("#settle > div")) == "There is one model: nothing to compare."
    browser.open(write(tmp_path, "single", both))
    assert "a single item" in browser.run(TEXT.format("h1")) or "same accuracy" in browser.run(
        TEXT.format("h1")
    )
    assert browser.list_errors() == []


@pytest.mark.parametrize("clusters", [0, 1])
def test_models_that_nothing_tells_apart_are_not_said_to_be_apart(browser, tmp_path, clusters):
    rows = [("a", 1.0), ("b", 0.0), ("c", 0.5)]
    base = make_logs({"a": 0.0}, items=3 if clusters else 1, groups=0, clusters=clusters)
    logs = pl.concat(base.with_columns(model=pl.lit(name), score=score) for name, score in rows)
    browser.open(write(tmp_path, "single", logs))
    cells = browser.run(CELLS.format("#settle"))
    assert {(row[0], row[1]) for row in cells} == {("a", "b"), ("a", "c"), ("c", "b")}
    assert [row[3:] for row in cells] == [["–", "–"]] * 3  # neither is known, so none needs too many
    assert "they are not significantly different" in browser.run(TEXT.format("#sides"))
