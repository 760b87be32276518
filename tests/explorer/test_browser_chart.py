"""The chart of the answer in a real Chromium: names, ticks and bars of letters at every width."""

from itertools import pairwise

import pytest
from tests.explorer.runs import SETTINGS, write_run

from fathom.explorer.page import write_page


def test_a_letter_of_one_model_alone_is_no_bar_and_names_stay_off_bars(browser, tmp_path):
    models = {f"gpt2-small+cs.AI+cond-mat@step{1000 + place}": 10.0 * 1.6**place for place in range(12)}
    run = write_run(tmp_path / "apart", models, keywords=30, variants=["tf"])
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri(), 390, 844)
    groups = browser.run("return Fathom.ranking().map((row) => row[4]).join('')")
    assert any(groups.count(letter) == 1 for letter in groups)
    bars = "[...document.querySelectorAll('#ranking svg[aria-hidden] circle')]"
    assert browser.run(f"return {bars}.length") == sum(1 for letter in groups if groups.count(letter) > 1)
    edge = f"Math.min(innerWidth, ...{bars}.map((e) => e.getBoundingClientRect().left))"
    names = "[...document.querySelectorAll('#ranking svg[role=img] text')]"
    named = f"{names}.filter((e) => /step/.test(e.textContent))"
    assert browser.run(f"return {named}.every((e) => e.getBoundingClientRect().right < {edge})")


def test_many_models_with_long_names_are_named_whole(browser, tmp_path):
    models = {f"gpt2-small+cs.AI+cond-mat@step{100 + place}": 10.0 + place / 10 for place in range(9)}
    run = write_run(tmp_path / "many", models, variants=["tf"])
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri())
    cut = """const part = document.querySelector('#ranking').getBoundingClientRect();
      return [...document.querySelectorAll('#ranking svg text')]
        .filter((e) => e.getBoundingClientRect().left < part.left - 1).map((e) => e.textContent)"""
    assert browser.run(cut) == []
    first = "return document.querySelector('#next tbody').rows.length"
    every = browser.run("return document.querySelector('#next details summary').textContent")
    assert browser.run(first) == 10 and int(every.removeprefix("All ")) > 10
    parts = "return Fathom.breakable('cond-mat@step150').map((e) => e.textContent ?? e).filter(Boolean)"
    assert browser.run(parts) == ["cond-", "mat", "@step150"]


@pytest.mark.parametrize("width", [1400, 390, 330])
def test_ticks_stand_apart_at_every_width(browser, tmp_path, width):
    run = write_run(tmp_path / "run", {f"m{place}": 10.0 * 2**place for place in range(8)}, variants=["tf"])
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri(), width, 844)
    boxes = browser.run("""const main = '#ranking [role=img] > svg:not([aria-hidden]) text';
      return [...document.querySelectorAll(main)].map((e) => e.getBoundingClientRect().toJSON())""")
    lowest = max(box["top"] for box in boxes)
    ticks = sorted((box["left"], box["right"]) for box in boxes if box["top"] == lowest)
    assert len(ticks) > 1
    assert all(right + 3 < left for (_, right), (left, _) in pairwise(ticks))


@pytest.mark.parametrize("width", [1400, 390, 300])
def test_bars_of_letters_stand_beside_the_models_at_every_width(browser, address, width):
    browser.open(address, width, 844)
    circles = """return ['[role=img] > svg:not([aria-hidden])', '[aria-hidden]'].map((kind) =>
      [...document.querySelectorAll(`#ranking svg${kind} circle`)].map((e) => e.getBoundingClientRect())
        .map((box) => box.toJSON()))"""
    models, bars = browser.run(circles)
    rows = {round(each["top"] + each["height"] / 2) for each in models}
    assert len(models) == 3 and len(bars) == 2
    assert all(max(dot["right"] for dot in models) < each["left"] < width for each in bars)
    assert {round(each["top"] + each["height"] / 2) for each in bars} <= rows
