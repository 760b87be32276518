"""The table of pairs in a real Chromium: it sorts, filters, goes by keyboard and opens a pair."""

import json

import polars as pl
import pytest
from tests.explorer.browser import SIZES
from tests.explorer.runs import MODELS, SETTINGS, write_run

from fathom.explorer.page import write_page


def test_a_column_sorts_and_the_address_keeps_it(browser, address):
    browser.open(address)
    browser.run("document.querySelector('#pairs [tabulator-field=m0] .head').focus()")
    browser.press("\ue007")
    browser.wait("location.hash.includes('o=m0')")
    cells = "document.querySelectorAll('#pairs .tabulator-row [tabulator-field=m0]')"
    shown = f"return [...{cells}].map((cell) => Number(cell.textContent))"
    ranks = browser.run(shown)
    assert len(ranks) > 3 and ranks == sorted(ranks)
    browser.open(browser.run("return location.href"))
    assert browser.run(shown) == ranks


def test_search_and_filters_leave_what_fits_and_the_address_keeps_them(browser, address):
    browser.open(address)
    browser.run("document.querySelector('#pairs-search').focus()")
    browser.press("1003.0 says")
    status = "document.querySelector('#pairs .status').textContent"
    browser.wait(f"{status} === '12 of 120 pairs'")
    keyword = "const k = document.querySelector('#pairs-keyword'); k.value = 'keyword 004';"
    browser.run(f"{keyword} k.dispatchEvent(new Event('change'))")
    browser.wait(f"{status} === '1 of 120 pairs'")
    browser.open(browser.run("return location.href"), 390, 844)
    assert browser.run(f"return {status}") == "1 of 120 pairs"
    assert browser.run("return document.querySelector('#pairs-search').value") == "1003.0 says"
    columns, rows = browser.run("return Fathom.pairsPart.collect()")
    assert columns[:3] == ["pair_id", "keyword", "prompt"] and columns[-3:] == sorted(MODELS)
    assert [row[0] for row in rows] == ["tf0040003"]


def test_a_pair_opens_by_keyboard_closes_by_escape_and_can_be_sent(browser, address):
    browser.open(address)
    browser.run("document.querySelector('#pairs .pair').focus()")
    browser.press("\ue007")
    browser.wait("document.querySelector('#pair').open")
    rows = (
        "return [...document.querySelectorAll('#pair tbody tr')].map(e => Number(e.children[1].textContent))"
    )
    assert len(browser.run(rows)) == 3 and browser.run(rows) == sorted(browser.run(rows))
    link = browser.run("return document.querySelector('#pair a').href")
    assert link.startswith("https://arxiv.org/abs/")
    sent = browser.run("return location.href")
    browser.press("\ue00c")
    browser.wait("!document.querySelector('#pair').open && !location.hash.includes('p=')")
    browser.open(sent, 390, 844)
    assert browser.run("return document.querySelector('#pair').open")


@pytest.mark.parametrize(("width", "height", "most"), [(1400, 900, 50), (390, 844, 30)])
def test_rows_of_a_grid_are_one_stop_and_arrows_go_through_them(browser, address, width, height, most):
    browser.open(address, width, height)
    browser.run("document.querySelector('#pairs .tabulator-tableholder').focus()")
    own = "Fathom.pairsPart && document.activeElement.closest('.tabulator-row')"
    place = f"({own})?.getAttribute('aria-rowindex') ?? ({own})?.innerText"
    read, drawn = [], []
    for key in ["\ue015"] * 30 + ["\ue013", "\ue011"]:
        before = browser.run(f"return {place}")
        browser.press(key)
        browser.wait(f"({place}) && ({place}) !== {json.dumps(before)}", 20)
        read.append(browser.run(f"return {place}"))
        drawn.append(browser.run("return document.querySelectorAll('#pairs .tabulator-row').length"))
    # rows are as high as Tabulator takes for granted: it draws those in view and some beside, and loses none
    assert max(drawn) < most
    assert len(set(read[:30])) == 30 and read[30:] == [read[28], read[0]]
    browser.press("\ue007")
    browser.wait("document.querySelector('#pair').open")
    browser.press("\ue00c")
    browser.wait("!document.querySelector('#pair').open")
    browser.press("\ue004")
    assert browser.run("return document.activeElement.closest('#pairs') === null")


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_prompts_are_wide_enough_to_read_and_names_break_between_words(browser, tmp_path, width, height):
    models = {f"toy-gpt2+scientific-computing@step{place}": 10.0 + place for place in range(9)}
    run = write_run(tmp_path / "run", models, variants=["tf"])
    path = run / "physics/benchmark/tf/pairs.parquet"
    pairs = pl.read_parquet(path)
    pairs.with_columns(prompt=pl.lit("mean of estimates " * 20) + pl.col("prompt")).write_parquet(path)
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri(), width, height)
    cells = browser.run("""return [...document.querySelectorAll('#pairs .pair')].map((each) => {
      const [own, mark] = [each.getBoundingClientRect(), each.querySelector('mark').getBoundingClientRect()];
      const seen = own.bottom >= mark.bottom && own.right >= mark.right - 1;
      return [each.innerText.length, seen, each.innerText[0]];
    })""")
    assert len(cells) > 3 and all(letters > 80 and seen and first == "…" for letters, seen, first in cells)
    broken = """const heads = [...document.querySelectorAll('.head, thead th, tbody th')];
      const texts = heads.flatMap((head) => {
        const walk = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
        return Array.from({ length: 99 }, () => walk.nextNode()).filter(Boolean);
      });
      const range = document.createRange();
      return texts.filter((text) => {
        if (/\\s/.test(text.data)) return false;
        range.selectNodeContents(text);
        return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1;
      }).map((text) => text.data)"""
    assert browser.run(broken) == []


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("measured", [True, False])
def test_a_pair_shows_bits_by_model_where_they_were_measured(browser, tmp_path, width, height, measured):
    run = write_run(tmp_path / "run", {"alpha": 10.0}, variants=["tf"])
    path = run / "physics/scores/tf/alpha.parquet"
    scores = pl.read_parquet(path)
    value = pl.when(pl.col("pair_id") == "tf0010000").then(-1.234 if measured else float("nan"))
    scores.with_columns(bits=value.otherwise(float("nan"))).write_parquet(path)
    write_page(run, run / "index.html", SETTINGS)
    browser.open(f"{(run / 'index.html').as_uri()}#p=tf0010000", width, height)
    assert browser.list_errors() == []
    heads, cells = browser.run("""return ['#pair thead th', '#pair tbody tr > *']
      .map((place) => [...document.querySelectorAll(place)].map((e) => e.textContent))""")
    found = dict(zip(heads, cells, strict=True))
    assert found.get("bits") == ("-1.23" if measured else None) and "rank among rivals" in found
