"""The questions of a run in a real Chromium: charts of scores, search, filters, one as a whole."""

import pytest
from tests.explorer.runs import SCRIPT, SETTINGS, write_questions

from fathom.explorer.page import write_page

STATUS = "document.querySelector('#questions .status').textContent"
CELLS = """return [...document.querySelectorAll('#questions .tabulator-row')]
    .map((row) => [...row.querySelectorAll('.tabulator-cell')].map((cell) => cell.textContent))"""
CHOOSE = """const s = document.querySelector('#questions-{0}'); s.value = '{1}';
    s.dispatchEvent(new Event('change'))"""
ROWS = """return [...document.querySelectorAll('{} tbody tr')]
    .map((row) => [...row.cells].map((cell) => cell.textContent))"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    run = write_questions(tmp_path_factory.mktemp("page") / "asked", SCRIPT)
    write_page(run, run / "index.html", SETTINGS)
    return (run / "index.html").as_uri()


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_scores_have_a_chart_for_each_form_and_level(browser, address, width, height):
    browser.list_errors()
    browser.open(address, width, height)
    assert browser.list_errors() == []
    assert browser.run("return document.documentElement.scrollWidth") == width
    told = browser.run(
        "return [...document.querySelectorAll('#questions svg[role=img]')].map((e) => e.ariaLabel)"
    )
    assert [each.partition(": ")[0] for each in told] == [
        "accuracy on questions that are binary, memorise",
        "accuracy on questions that are multiple-choice, understand",
        "F1 on questions that are multiple-answer, apply",
        "BLEU-4 on questions that are open, create",
    ]
    assert ": alpha plain 100 %, rag 100 %; beta plain 50 %, rag 50 %." in told[0]
    assert ": alpha plain 0.02, rag 0.02; beta plain 0.01, rag 0.01." in told[3]
    numbers = browser.run(ROWS.format("#questions"))
    assert len(numbers) == 20
    assert numbers[0] == ["alpha", "plain", "binary, memorise", "accuracy", "1", "[0.5, 1]", "1", "0"]


def test_questions_are_searched_filtered_and_asked_in_another_way(browser, address):
    browser.open(address)
    assert browser.run(f"return {STATUS}") == "5 of 5 questions"
    rows = browser.run(CELLS)
    assert [row[3:5] for row in rows] == [
        ["", ""], ["✓ no", "✗ yes"], ["✓ C", "✗ B"], ["✗ A C (F1 0.50)", "✗ no answer (F1 0.00)"],
        ["of alpha", "of beta"],
    ]  # fmt: skip
    assert rows[3][2] == "A. a; B. b"
    browser.run(CHOOSE.format("shown", "nobody"))
    browser.wait(f"{STATUS} === '1 of 5 questions'")
    browser.run(CHOOSE.format("asked", "rag"))
    browser.wait(f"{STATUS} === '0 of 5 questions'")
    browser.run(CHOOSE.format("shown", "split"))
    browser.wait(f"{STATUS} === '2 of 5 questions'")
    browser.run("document.querySelector('#questions-search').focus()")
    browser.press("here cy")
    browser.wait(f"{STATUS} === '1 of 5 questions'")
    browser.open(browser.run("return location.href"), 390, 844)
    assert browser.run(f"return {STATUS}") == "1 of 5 questions"
    columns, found = browser.run("return Fathom.questionsPart.collect()")
    assert columns[-2:] == ["alpha", "beta"] and found[0][0] == "q2" and found[0][4:] == ["Cy", "✓ C", "✗ B"]
    browser.open(f"{address}#e=none&r=none&m=none&h=none&i=none")
    assert browser.list_errors() == []


def test_a_question_opens_by_keyboard_with_all_answers_and_can_be_sent(browser, address):
    browser.open(f"{address}#m=multiple-choice, understand")
    browser.run("document.querySelector('#questions .pair').focus()")
    browser.press("\ue007")
    browser.wait("document.querySelector('#question').open")
    part = "document.querySelector('#question')"
    assert browser.run(f"return {part}.querySelector('mark').textContent") == "Cy"
    assert browser.run(ROWS.format("#question")) == [
        ["alpha", "plain", "✓ C"], ["alpha", "rag", "✓ C"], ["beta", "plain", "✗ B"], ["beta", "rag", "✗ B"]
    ]  # fmt: skip
    text = browser.run(f"return {part}.textContent")
    assert "From courses.csv, line 4." in text and "ASK { ?mu :here true }" in text
    assert SCRIPT in text and browser.run("return window.planted === undefined")
    sent = browser.run("return location.href")
    browser.press("\ue00c")
    browser.wait(f"!{part}.open && !location.hash.includes('i=')")
    browser.open(sent, 390, 844)
    assert browser.run(f"return {part}.open") and browser.check_accessibility() == []
    browser.open(f"{address}#i=q0", dark=True)
    assert "No model was asked" in browser.run(f"return {part}.textContent")


@pytest.mark.parametrize(("width", "height", "dark"), [(1400, 900, False), (390, 844, True)])
def test_nothing_serious_stands_in_the_way_of_anybody(browser, address, width, height, dark):
    browser.open(address, width, height, dark)
    browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    assert browser.check_accessibility() == []
