"""The page of a run in a real Chromium: it opens at every size, keeps what is chosen, makes no request."""

from urllib.parse import quote

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests.explorer.browser import SIZES
from tests.explorer.runs import SCRIPT, SETTINGS, write_run

from fathom.explorer import subfields
from fathom.explorer.page import write_page
from fathom.explorer.run import ORDERS
from fathom.io.files import write_json

FIRST = ".tabulator-row"
LETTERS = """return [...document.querySelectorAll('#multiple-choice svg text')]
    .map((mark) => mark.firstChild.textContent)"""


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
    """Not what a single interval says: here all of them lie above 0."""
    apart = np.zeros((3, 3), dtype=bool)
    apart[1, 2] = True
    monkeypatch.setattr(subfields, "measure_strengths", lambda *_: subfields.Strengths(
        *(np.full((3, 3), value) for value in (5.0, 2.0, 1.5, 3.0)), apart))  # fmt: skip
    run = write_run(tmp_path / "run")
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri())
    cells = browser.run("return [...document.querySelectorAll('#subfields td')].map((one) => one.innerText)")
    assert [cell for cell in cells if cell[0] in "▲▼"] == ["▲ +2.00"]


def test_a_wide_figure_keeps_a_size_that_can_be_read(browser, tmp_path):
    run = write_run(tmp_path / "run")
    (run / "figures").mkdir()
    Image.new("L", (3600, 200)).save(run / "figures" / "physics.metrics.all.mean.png")
    write_page(run, run / "index.html", SETTINGS)
    for width, height in SIZES:
        browser.open((run / "index.html").as_uri(), width, height)
        browser.run("document.querySelector('#figures details').open = true")
        browser.wait("document.querySelector('#figures img')?.naturalWidth")
        browser.wait("document.querySelector('#figures .hint')?.offsetHeight", 20)
        assert browser.run("return document.querySelector('#figures img').clientWidth") >= 1800
        assert browser.run("return document.documentElement.scrollWidth") == width


def test_a_fingerprint_out_of_sight_makes_no_row_high(browser, tmp_path):
    run = write_run(tmp_path / "run")
    for model in ("alpha", "beta"):
        known = {"kind": "base", "base": "alpha", "dtype": "float32", "fingerprint": "0123456789abcdef" * 4}
        (run / "models" / model).mkdir(parents=True)
        write_json(run / "models" / model / "model.json", known)
    write_page(run, run / "index.html", SETTINGS)
    for width, height in SIZES:
        browser.open((run / "index.html").as_uri(), width, height)
        heights = browser.run("""return [...document.querySelectorAll('#made td code')]
            .filter((each) => each.textContent.startsWith('0123456789ab'))
            .map((each) => each.closest('tr').offsetHeight)""")
        assert len(heights) == 2 and max(heights) < 90


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
    for order, by in (("bits", "by knowledge"), ("trimmed_mean", "by rank")):
        browser.open(f"{address}#s={order}")
        said = browser.run(note)
        assert "3 of 3 pairs of models" in said and "Vocabularies" not in said
        assert f"2 of these are significantly different {by}" in said
        ahead = [line.split(" ")[0] for line in said.split("\n") if f"is ahead {by}" in line]
        assert ahead == ["alpha", "beta"]
        assert "gamma adapted to fine-tuned (" in said, "as sentences call models"
    run = write_run(tmp_path / "run", variants=["tf"])
    path = run / "physics/scores/tf/beta.parquet"
    scores = pl.read_parquet(path)
    scores.with_columns(rank_share=pl.col("rank") / 50_257).write_parquet(path)
    summary = (run / "summary.csv").read_text()
    (run / "summary.csv").write_text(summary.replace("bits_per_byte,mean,1.9,", "bits_per_byte,mean,1.998,"))
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri())
    assert "50,257" not in browser.run(note)
    browser.open(f"{(run / 'index.html').as_uri()}#s=trimmed_mean")
    said = browser.run(note)
    assert "beta has 50,257" in said
    assert "alpha (2.000 bits per byte)" in said and "beta (1.998; " in said
    browser.open(f"{(run / 'index.html').as_uri()}#s=rival_rank.trimmed_mean")
    assert "entries" not in browser.run(note) and "pairs of models" in browser.run(note)


@pytest.mark.parametrize("name", [*ORDERS])
def test_answer_chart_and_what_to_do_next_speak_of_one_statistic(browser, address, name):
    browser.open(f"{address}#s={name}")
    label = ORDERS[name].label
    short = {"#details": "bits", "#ranking .axis": "knowledge, bits"} if name == "bits" else {}
    for place in ("#choices select:last-of-type option:checked", "#details", "#ranking .axis", "#next"):
        said = browser.run(f"return [...document.querySelectorAll('{place}')].at(-1).textContent")
        assert short.get(place, label) in said, place
    others = {each.label for each in ORDERS.values()} - {label}
    text = browser.run("return document.querySelector('#next').textContent").replace(label, "")
    assert not any(other in text for other in others)


@pytest.mark.parametrize(
    ("order", "what", "tau"), [("trimmed_mean", "Ranks", "-1.00"), ("bits", "Knowledge", "-0.50")]
)
def test_a_tau_is_that_of_the_orders_whichever_end_is_good(browser, tmp_path, order, what, tau):
    run = write_run(tmp_path / "run", variants=["tf"])
    path = run / "correlations.csv"
    columns = path.read_text().strip().split(",")
    rows = []
    for series, value in (("tf rank", "-1"), ("tf bits", "0.5")):
        row = dict.fromkeys(columns, "") | {"domain": "physics", "x": series, "y": "bits_per_byte"}
        rows.append(row | {"statistic": "kendall", "value": value, "models": "3"})
    path.write_text("\n".join([",".join(columns), *(",".join(row.values()) for row in rows), ""]))
    write_page(run, run / "index.html", SETTINGS)
    browser.open(f"{(run / 'index.html').as_uri()}#s={order}")
    said = f"{what} and bits per byte agree on the order of models with Kendall’s tau = {tau} (3 models)."
    assert said in browser.run("return document.querySelector('main').innerText")


def test_words_of_the_first_screen_are_explained_before_they_are_used(browser, address):
    browser.open(address)
    terms = "return [...document.querySelectorAll('#terms dfn')].map((e) => e.innerText)"
    assert browser.run(terms) == ["knowledge (bits)", "TF", "TF-IDF"]
    follows = "document.querySelector('#%s').compareDocumentPosition(document.querySelector('#terms')) & 2"
    for place in ("details", "ranking", "facts"):
        assert browser.run(f"return {follows % place}"), place
    browser.open(f"{address}#s=trimmed_mean")
    assert {"rank", "TF", "TF-IDF", "trimmed mean"} <= set(browser.run(terms))


def test_differences_have_the_digits_of_ranks(browser, address):
    browser.open(address)
    shown = browser.run("return [2573.04, -2573.04, 99.94, -6.7, 12, 0].map(Fathom.rank)")
    assert shown == ["2,573", "-2,573", "99.9", "-6.7", "12.0", "0.0"]


def test_a_model_has_one_name_all_over_the_page(browser, address):
    browser.open(address)
    tables = "return [...document.querySelectorAll(`%s`)].map(each => each.textContent)"
    for place in (
        "#ranking tbody th",
        "#domains tbody th",
        "#two option",
        "#subfields th",
        "#keywords button",
    ):
        said = browser.run(tables % place)
        assert any("gamma adapted to fine-tuned" in each for each in said), place
        assert not any("gamma+fine-tuned" in each for each in said), place


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
    shares = "gamma adapted to fine-tuned 26.0 % as shipped, 0.0 % to 100.0 % over all"
    assert shares in told["multiple-choice"]
    assert "alpha from 2,000 at layer 0 to 80.0 at layer 4" in told["layers"]
    assert "best after it first: alpha 900 to 450; beta 840 to 510;" in told["tuning"]
    assert "of 4,000 sentences, 3,000 are covered; 1,000 gaps," in told["coverage"]
    drawn = browser.run(LETTERS)
    assert {"As", "B", "C", "D", "ACD", "s", "gamma adapted to fine-tuned"} <= set(drawn)
    assert "+1" not in drawn
    rows = (
        "return [...document.querySelectorAll('#%s tbody tr')]"
        ".map((row) => [...row.cells].map((e) => e.textContent))"
    )
    answers = browser.run(rows % "multiple-choice")
    assert ["gamma adapted to fine-tuned", "right option at B", "100.0 %", "[94.0 %, 100.0 %]", "+75.0",
            "[+70.0, +80.0]"] in answers  # fmt: skip
    assert ["gamma adapted to fine-tuned", "the most likely letter", "favours letter B"] in answers
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
    assert "summary.csv" in note
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
