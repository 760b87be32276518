"""The page of a run in a real Chromium: it opens, sorts, filters, keeps its state, makes no request."""

import json
from itertools import pairwise
from urllib.parse import quote

import numpy as np
import polars as pl
import pytest
from tests.explorer.runs import MODELS, SCRIPT, SETTINGS, write_analyses, write_questions, write_run

from fathom.explorer import subfields
from fathom.explorer.page import write_page
from fathom.explorer.run import ORDERS

SIZES = ((1400, 900), (390, 844))
FIRST = ".tabulator-row"
LETTERS = """return [...document.querySelectorAll('#multiple-choice svg text')]
    .map((mark) => mark.firstChild.textContent)"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    run = write_run(tmp_path_factory.mktemp("page") / "planted", planted=SCRIPT)
    write_analyses(run, planted=SCRIPT)
    write_questions(run, SCRIPT)
    figures = run / "figures"
    figures.mkdir()
    # one grey pixel
    pixel = "89504e470d0a1a0a0000000d4948445200000001000000010800000000" + "3a7e9b55"
    rest = "0000000a49444154789c63680000008200" + "81dd436af40000000049454e44ae426082"
    (figures / "physics.layers.alpha.png").write_bytes(bytes.fromhex(pixel + rest))
    write_page(run, run / "index.html", SETTINGS)
    return (run / "index.html").as_uri()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_it_opens_without_an_error_a_request_or_a_sideways_scroll(browser, address, width, height):
    browser.list_errors(), browser.list_requests()
    browser.open(address, width, height)
    assert browser.list_errors() == []
    assert {each for each in browser.list_requests() if each != "about:blank"} == {address}
    assert browser.run("return document.documentElement.scrollWidth") == width
    answer = browser.run("return document.querySelector('h1').textContent")
    assert answer.startswith("Of three models, alpha and beta know Physics")
    assert "are not significantly different" in answer
    assert "300 of 2,000 held-out words left out" in browser.run(
        "return document.querySelector('#facts').textContent"
    )
    assert browser.run("return document.querySelectorAll('#ranking svg svg').length") == 2
    assert browser.run("return document.querySelectorAll('#subfields tbody tr').length") == 3
    assert browser.run("return document.querySelectorAll('#pairs .tabulator-row').length") > 3


def test_strong_and_weak_are_what_was_tested_together(browser, tmp_path, monkeypatch):
    """Not what a single interval says: here all of them lie above 1."""
    apart = np.zeros((3, 3), dtype=bool)
    apart[1, 2] = True
    monkeypatch.setattr(subfields, "measure_strengths", lambda *_: subfields.Strengths(
        *(np.full((3, 3), value) for value in (5.0, 2.0, 1.5, 3.0)), apart))  # fmt: skip
    run = write_run(tmp_path / "run")
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri())
    cells = browser.run("return [...document.querySelectorAll('#subfields td')].map((one) => one.innerText)")
    assert [cell for cell in cells if cell[0] in "▲▼"] == ["▲ 2.00×"]


def test_every_id_in_the_page_is_there_once(browser, address):
    browser.open(address)
    ids = browser.run("return [...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert sorted(set(ids)) == sorted(ids)


def test_a_script_in_title_keyword_prompt_and_target_stays_text(browser, address):
    browser.open(f"{address}#p=tf0000000")
    assert browser.run("return window.planted === undefined")
    for place in ("h1", "#pairs-keyword", "#keywords .tabulator", "#pair", "#pair mark"):
        text = browser.run(f"return document.querySelector('{place}').textContent")
        assert "<img src=x onerror=window.planted=1>" in text, place
    assert browser.run("return document.querySelectorAll('img[src=x]').length") == 0
    assert browser.run("return document.querySelector('#pair').textContent").endswith("were trained on.")


@pytest.mark.parametrize("name", ["constructor", "toString", "no-such", ""])
def test_a_wrong_statistic_in_the_address_falls_back_to_the_first(browser, address, name):
    browser.open(address)
    first, ranking = browser.run("return [Fathom.statistic(), Fathom.ranking()]")
    browser.list_errors()
    browser.open(f"{address}#s={name}")
    assert browser.run("return [Fathom.statistic(), Fathom.ranking()]") == [first, ranking]
    assert browser.list_errors() == []


def test_what_to_mind_stands_beside_the_answer(browser, address, tmp_path):
    """Each conflict with bits per byte, and vocabularies that differ where a rank counts among them."""
    note = "return document.querySelector('#cautions').innerText"
    browser.open(address)
    said = browser.run(note)
    assert "3 of 3 pairs of models" in said and "Vocabularies" not in said
    assert [line.split(" ")[0] for line in said.split("\n") if "is ahead by rank" in line] == [
        "alpha",
        "beta",
    ]
    run = write_run(tmp_path / "run", variants=["tf"])
    path = run / "physics/scores/tf/beta.parquet"
    scores = pl.read_parquet(path)
    scores.with_columns(rank_share=pl.col("rank") / 50_257).write_parquet(path)
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri())
    assert "beta has 50,257" in browser.run(note)
    browser.open(f"{(run / 'index.html').as_uri()}#s=rival_rank.trimmed_mean")
    assert "entries" not in browser.run(note) and "pairs of models" in browser.run(note)


@pytest.mark.parametrize("name", [*ORDERS])
def test_answer_chart_and_what_to_do_next_speak_of_one_statistic(browser, address, name):
    browser.open(f"{address}#s={name}")
    label = ORDERS[name].label
    for place in ("#choices select:last-of-type option:checked", "#details", "#ranking .axis", "#next"):
        assert label in browser.run(f"return [...document.querySelectorAll('{place}')].at(-1).textContent"), (
            place
        )
    others = {each.label for each in ORDERS.values()} - {label}
    text = browser.run("return document.querySelector('#next').textContent").replace(label, "")
    assert not any(other in text for other in others)


def test_words_of_the_first_screen_are_explained_before_they_are_used(browser, address):
    browser.open(address)
    terms = "[...document.querySelectorAll('#terms dfn')]"
    assert {"rank", "TF", "TF-IDF", "trimmed mean"} <= set(
        browser.run(f"return {terms}.map((e) => e.innerText)")
    )
    follows = "document.querySelector('#%s').compareDocumentPosition(document.querySelector('#terms')) & 2"
    for place in ("details", "ranking", "facts"):
        assert browser.run(f"return {follows % place}"), place


def test_differences_have_the_digits_of_ranks(browser, address):
    browser.open(address)
    shown = browser.run("return [2573.04, -2573.04, 99.94, -6.7, 12, 0].map(Fathom.rank)")
    assert shown == ["2,573", "-2,573", "99.9", "-6.7", "12", "0"]


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


def test_benchmark_statistic_and_models_are_chosen_and_kept(browser, address):
    browser.open(f"{address}#b=physics/tfidf&s=geometric_mean&a=beta&c=alpha")
    assert browser.run("return Fathom.benchmark().variant") == "tfidf"
    assert "geometric mean" in browser.run("return document.querySelector('#ranking').textContent")
    assert browser.run("return Fathom.two()") == ["beta", "alpha"]
    captions = browser.run("return [...document.querySelectorAll('#two caption')].map(e => e.textContent)")
    assert captions == ["beta is furthest ahead here", "alpha is furthest ahead here"]
    browser.open(f"{address}#b=nothing&s=none&a=nobody&o=wrong&p=absent&v=nowhere&k={quote(SCRIPT)}")
    assert browser.list_errors() == []
    assert browser.run("return Fathom.benchmark().variant") == "tf"


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_analyses_are_charts_with_their_numbers_beneath(browser, address, width, height):
    browser.open(address, width, height)
    told = {
        part: browser.run(
            f"return document.querySelector('#{part} svg[role=img]').getAttribute('aria-label')"
        )
        for part in ("multiple-choice", "layers", "tuning", "coverage")
    }
    assert "gamma+fine-tuned 26.0 % as shipped, 0.0 % to 100.0 % over all" in told["multiple-choice"]
    assert "alpha from 2,000 at layer 0 to 80 at layer 4" in told["layers"]
    assert "best after it first: alpha 900 to 450; beta 840 to 510;" in told["tuning"]
    assert "of 4,000 sentences, 3,000 are covered; 1,000 gaps," in told["coverage"]
    drawn = browser.run(LETTERS)
    assert {"As", "B", "C", "D", "ACD", "s", "gamma+fine-tuned"} <= set(drawn) and "+1" not in drawn
    rows = (
        "return [...document.querySelectorAll('#%s tbody tr')]"
        ".map((row) => [...row.cells].map((e) => e.textContent))"
    )
    answers = browser.run(rows % "multiple-choice")
    assert ["gamma+fine-tuned", "right option at B", "100.0 %", "[94.0 %, 100.0 %]", "+75.0",
            "[+70.0, +80.0]"] in answers  # fmt: skip
    assert ["gamma+fine-tuned", "the most likely letter", "favours letter B"] in answers
    assert browser.run(rows % "layers")[1][:2] == ["beta", "2,000"]
    assert browser.run(rows % "tuning")[0] == ["alpha", "900", "0.01", "450", "0.02", "3", "1"]
    assert ["gaps", "1,000"] in browser.run(rows % "coverage")
    outside = """return [...document.querySelectorAll('main svg text')].filter((e) => {
      const [box, part] = [e.getBoundingClientRect(), e.closest('section').getBoundingClientRect()];
      return box.width && (box.left < part.left - 1 || box.right > part.right + 1);
    }).map((e) => e.textContent)"""
    assert browser.run(outside) == []


def test_what_an_analysis_shows_is_chosen_and_kept(browser, address):
    browser.open(f"{address}#x=orders.text&l=physics/rate/50/1200&n=exam{quote(SCRIPT)}&g=nothing")
    shown = browser.run(LETTERS)
    assert {"+1", "+2", "+3"} <= set(shown) and "B" not in shown
    assert "attribute rate, 50 likeliest words" in browser.run(
        "return document.querySelector('#layers figure').textContent"
    )
    assert "accuracy; further right is better" in browser.run(
        "return document.querySelector('#tuning').textContent"
    )
    choose = "const s = document.querySelector('#multiple-choice select'); s.value = 'options.letter';"
    browser.run(f"{choose} s.dispatchEvent(new Event('change'))")
    browser.wait("location.hash.includes('x=options.letter')")
    browser.wait("document.querySelector('#multiple-choice svg').textContent.includes('B')")
    browser.open(f"{address}#x=wrong&l=wrong&n=wrong")
    assert browser.list_errors() == []
    assert browser.run("return document.querySelector('#tuning select').selectedIndex") == 0


def test_colours_follow_the_system_and_the_switch(browser, address):
    colour = "return getComputedStyle(document.body).backgroundColor"
    browser.open(address, dark=True)
    dark = browser.run(colour)
    browser.open(address)
    light = browser.run(colour)
    assert light != dark
    browser.run("document.querySelector('#theme').click()")
    assert browser.run(colour) == dark and "t=dark" in browser.run("return location.hash")


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_stands_in_the_way_of_anybody(browser, address, width, height, dark):
    browser.open(address, width, height, dark)
    browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    browser.wait("document.querySelector('#figures img')")
    assert browser.check_accessibility() == []
    browser.open(f"{address}#p=tf0010000", width, height, dark)
    assert browser.check_accessibility() == []


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_control_is_reached_in_order_and_named(browser, address, width, height):
    browser.open(address, width, height)
    stops = []
    while True:
        browser.press("\ue004")
        place = browser.run("""const every = [...document.querySelectorAll('*')];
          return every.indexOf(document.activeElement === document.body ? null : document.activeElement)""")
        if place < 0 or place in stops:
            break
        stops.append(place)
        assert len(stops) < 200
    assert stops == sorted(stops)
    missed = browser.run("""const every = [...document.querySelectorAll('*')];
      const controls = [...document.querySelectorAll('a[href], button, select, input, summary')];
      return controls.filter((each) => each.checkVisibility() && !each.closest('.tabulator-row, dialog')
        && !arguments[0].includes(every.indexOf(each))).map((each) => each.outerHTML)""", stops)  # fmt: skip
    assert missed == []
    tree = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    shown = [node for node in tree if not node["ignored"]]
    focusable = [
        node for node in shown
        if any(each["name"] == "focusable" and each["value"]["value"] for each in node["properties"])
    ]  # fmt: skip
    assert len(focusable) > 100
    assert [node["role"]["value"] for node in focusable if not node["name"]["value"].strip()] == []


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


def test_a_run_that_is_not_finished_says_so(browser, tmp_path):
    run = write_run(tmp_path / "begun", variants=["tf"])
    for path in run.glob("*.csv"):
        path.unlink()
    (run / "physics/benchmark/tf/manifest.json").unlink()
    write_page(run, run / "index.html", SETTINGS)
    browser.list_errors()
    browser.open((run / "index.html").as_uri(), 390, 844)
    assert browser.list_errors() == []
    parts = set(browser.run("return [...document.querySelectorAll('section')].map((each) => each.id)"))
    assert "next" in parts and not parts & {
        "questions",
        "multiple-choice",
        "layers",
        "tuning",
        "coverage",
        "figures",
    }
    note = browser.run("return document.querySelector('#missing').textContent")
    assert "This run is not complete" in note
    assert "No manifest yet: physics tf." in note
    assert "Without a summary.csv" in note
    assert "know physics best" in browser.run("return document.querySelector('h1').textContent")


def test_a_run_of_rankings_alone_shows_its_tables(browser, tmp_path):
    run = tmp_path / "rankings"
    (run / "ranking").mkdir(parents=True)
    (run / "ranking/agreement.csv").write_text("first,second,tau\na,b,0.5\n")
    write_page(run, run / "index.html", SETTINGS)
    browser.list_errors()
    browser.open((run / "index.html").as_uri())
    assert browser.list_errors() == []
    title = browser.run("return document.querySelector('h1').textContent")
    assert title == "This run has no completion benchmark; what it has follows."
    browser.run("document.querySelectorAll('#made details').forEach((each) => (each.open = true))")
    browser.wait("document.querySelector('#made td')")
    assert browser.run("return [...document.querySelectorAll('#made td')].map((e) => e.textContent)")[
        -3:
    ] == ["a", "b", "0.5"]


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


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_one_model_is_compared_with_none_and_long_keywords_are_seen_whole(browser, tmp_path, width, height):
    run = write_run(tmp_path / "run", {"alpha": 10.0}, variants=["tf"], planted=" of file-system hierarchies")
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri(), width, height)
    said = browser.run("return document.querySelector('main').innerText")
    assert not any(each in said for each in ("Kendall", "joined by a bar", "let expect", "doublings"))
    assert browser.run("return document.querySelectorAll('#keywords .tabulator-row').length") > 3
    cut = """return [...document.querySelectorAll('.tabulator-row .tabulator-cell')]
      .filter((e) => e.scrollHeight > e.clientHeight + 1).map((e) => e.innerText)"""
    assert browser.run(cut) == []


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


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_table_that_goes_on_says_so(browser, address, width, height):
    browser.open(address, width, height)
    found = browser.run("""return [...document.querySelectorAll('main .scroll, main .tabulator-tableholder')]
      .filter((each) => each.clientWidth && !each.closest('details:not([open])')).map((each) => {
        const frame = each.closest('.grid') || each;
        return [each.scrollWidth > each.clientWidth + 2, frame.previousElementSibling.offsetHeight > 0,
                frame.classList.contains('goes-on')];
      })""")
    assert len(found) > 8 and all(wide == said == faded for wide, said, faded in found)
    assert any(wide for wide, *_ in found) or width > 640


def test_parts_say_that_their_data_are_being_unpacked(browser, address):
    never = """window.DecompressionStream = class {
      readable = new ReadableStream();
      writable = new WritableStream();
    };"""
    command = browser.driver.execute_cdp_cmd
    added = command("Page.addScriptToEvaluateOnNewDocument", {"source": never})
    try:
        browser.driver.get("about:blank")
        browser.driver.get(address)
        browser.wait("document.querySelector('#next h3')")
        bodies = "[...document.querySelectorAll('section:not(#answer) > div')].map((each) => each.innerText)"
        assert browser.run("return document.documentElement.dataset.ready") == "answer"
        assert len(browser.run(f"return {bodies}")) > 8 and all(browser.run(f"return {bodies}"))
    finally:
        command("Page.removeScriptToEvaluateOnNewDocument", added)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_prompts_are_wide_enough_to_read_and_names_break_between_words(browser, tmp_path, width, height):
    models = {f"gpt2-small+scientific-computing@step{place}": 10.0 + place for place in range(9)}
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


def test_links_and_downloads_of_odd_tables_are_harmless(browser, tmp_path):
    run = tmp_path / "odd"
    (run / "50% #1?").mkdir(parents=True)
    (run / "50% #1?" / "a&b.csv").write_text("a\n")
    write_page(run, run / "index.html", SETTINGS)
    browser.list_errors()
    browser.open((run / "index.html").as_uri())
    browser.run("document.querySelectorAll('#made details').forEach((each) => (each.open = true))")
    browser.wait("document.querySelector('#made details a')")
    link = browser.run("return document.querySelector('#made details a').href")
    assert link == (run / "50% #1?" / "a&b.csv").as_uri()
    cells = ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "'=1", "-0.5", "+1e-5", "-", "'kept", 'a "b"', -2.5]
    text = browser.run("return Fathom.toCsv(arguments[0], [])", cells)
    guarded = ["'=1+1", "'+A1", "'-A1", "'@SUM(A1)", "'\t=1", "''=1", "-0.5", "+1e-5", "'-", "'kept"]
    assert text == ",".join([*guarded, '"a ""b"""', "-2.5"]) + "\n"
    assert browser.list_errors() == []
