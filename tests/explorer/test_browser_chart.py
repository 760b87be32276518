"""The chart of the answer in a real Chromium: names, ticks and bars of letters at every width."""

from itertools import combinations, pairwise

import pytest
from tests.explorer.browser import SIZES
from tests.explorer.runs import SETTINGS, write_run

from fathom.explorer.page import write_page


def test_a_letter_of_one_model_alone_is_no_bar_and_names_stay_off_bars(browser, tmp_path):
    models = {f"toy-gpt2+cs.AI+cond-mat@step{1000 + place}": 10.0 * 1.6**place for place in range(12)}
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
    models = {f"toy-gpt2+cs.AI+cond-mat@step{100 + place}": 10.0 + place / 10 for place in range(9)}
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


KNOWING = {"SmolLM2-1.7B": 8.0, "pythia-1.4b": 24.0, "gpt2": 60.0, "toy-gpt2+cs.AI@step1000": 230.0}
"""Models by the factor on their ranks; the last one knows nothing."""
SHORT = [*list(KNOWING)[:-1], "toy-gpt2 adapted to cs.AI (step 1000)"]
TEXTS = "[...document.querySelectorAll('#ranking svg text')]"


@pytest.fixture(scope="module")
def knowing(tmp_path_factory):
    """Return the address of the page of models that know a lot and nothing."""
    run = write_run(tmp_path_factory.mktemp("knowing") / "run", KNOWING, keywords=40, variants=["tf"])
    write_page(run, run / "index.html", SETTINGS)
    return (run / "index.html").as_uri()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_knowledge_stands_between_its_zero_and_its_ceiling_above_the_fold(browser, knowing, width, height):
    browser.open(knowing, width, height)
    assert browser.list_errors() == []
    said = browser.run("return ['answer-title', 'further'].map((e) => document.getElementById(e).innerText)")
    assert said[0].startswith("Of four models, SmolLM2-1.7B knows Physics best: 4.")
    assert said[0].endswith(" of at most 8.00 bits.")
    assert (
        said[1] == "toy-gpt2 adapted to cs.AI (step 1000) shows no knowledge of it: its interval contains 0."
    )
    box = f"return {TEXTS}.filter((e) => arguments[0] === e.textContent)[0].getBoundingClientRect().toJSON()"
    zero, ceiling = (browser.run(box, text) for text in ("0: nothing", "8.00: always sure"))
    assert zero["right"] < ceiling["left"]
    dots = """return [...document.querySelectorAll('#ranking [role=img] > svg:not([aria-hidden]) circle')]
      .map((e) => [e.getBoundingClientRect().x, getComputedStyle(e).fill])"""
    places, fills = zip(*browser.run(dots), strict=True)
    assert sorted(places, reverse=True) == list(places)
    assert all(place < ceiling["right"] for place in places) and places[0] > zero["right"]
    assert fills.count(fills[0]) == 1  # only the best one is filled
    # linear: from one tick to the next it is as far everywhere
    ticks = browser.run(f"""return {TEXTS}.filter((e) => /^-?\\d$/.test(e.textContent))
      .map((e) => [Number(e.textContent), e.getBoundingClientRect()])
      .map(([number, box]) => [number, box.left + box.right])""")
    steps = {round((b[1] - a[1]) / (b[0] - a[0])) for a, b in pairwise(sorted(ticks))}
    assert len(ticks) > 3 and max(steps) - min(steps) <= 4
    end = browser.run("return document.querySelector('#ranking svg').getBoundingClientRect().bottom")
    assert end < height
    assert "knowledge, bits" in browser.run("return document.querySelector('#ranking .axis').textContent")


def test_knowledge_comes_first_and_the_metrics_of_the_papers_are_a_group(browser, knowing):
    browser.open(knowing)
    menu = "[...document.querySelectorAll('#choices select')].at(-1)"
    assert browser.run(f"return {menu}.parentElement.firstChild.textContent") == "By "
    children = browser.run(f"return [...{menu}.children].map((e) => e.label)")
    assert children == ["knowledge (bits)", "the papers’ metrics"]
    assert browser.run(f"return {menu}.querySelectorAll('optgroup option').length") == 4
    browser.run(f"{menu}.value = 'geometric_mean'; {menu}.dispatchEvent(new Event('change'))")
    browser.wait("document.querySelector('#ranking .axis').textContent.startsWith('geometric mean rank')")
    assert browser.run("return document.querySelector('#fluency').childElementCount") == 0


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_knowledge_is_drawn_against_fluency_with_every_name_whole(browser, knowing, width, height):
    browser.open(knowing, width, height)
    assert browser.run("return document.querySelector('#fluency h2').textContent") == "How the field sounds"
    names = browser.run("""const part = document.querySelector('#fluency').getBoundingClientRect();
      return [...document.querySelectorAll('#fluency svg text')].filter((e) => /[a-z]/.test(e.textContent))
        .map((e) => [e.textContent, e.getBoundingClientRect().toJSON(), part.left, part.right])""")
    assert sorted(name for name, *_ in names) == sorted(SHORT)
    assert all(left <= box["left"] and box["right"] <= right + 1 for _, box, left, right in names)
    boxes = [box for _, box, *_ in names]
    overlaps = [
        a["left"] < b["right"] and b["left"] < a["right"] and abs(a["top"] - b["top"]) < 12
        for a, b in combinations(boxes, 2)
    ]
    assert not any(overlaps)
    dots = browser.run("""return [...document.querySelectorAll('#fluency circle')]
      .map((e) => e.getBoundingClientRect().x)""")
    # bits per byte fall in the order of the names, so that the last one stands furthest right
    order = browser.run("return Fathom.ranking().map(([model]) => Fathom.short(model))")
    assert [name for _, name in sorted(zip(dots, order, strict=True))] == sorted(SHORT)


def test_without_bits_per_byte_fluency_is_not_drawn(browser, tmp_path):
    run = write_run(tmp_path / "run", variants=["tf"])
    rows = (run / "summary.csv").read_text().splitlines(keepends=True)
    (run / "summary.csv").write_text("".join(row for row in rows if "bits_per_byte" not in row))
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri())
    assert browser.list_errors() == []
    assert browser.run("return document.querySelector('#fluency').childElementCount") == 0
    assert browser.run("return document.querySelectorAll('#ranking svg').length") > 0


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_names_without_room_beside_their_dots_stand_in_a_list(browser, tmp_path, width, height):
    models = {f"toy-gpt2+cs.AI+cond-mat@step{100 * place}": 10.0 * 1.2**place for place in range(18)}
    run = write_run(tmp_path / "run", models, variants=["tf"])
    write_page(run, run / "index.html", SETTINGS)
    browser.open((run / "index.html").as_uri(), width, height)
    listed = browser.run(
        "return [...document.querySelectorAll('#fluency .legend li')].map((e) => e.textContent)"
    )
    assert listed == browser.run("return Fathom.ranking().map(([model]) => Fathom.short(model))")
    texts = browser.run(
        "return [...document.querySelectorAll('#fluency svg text')].map((e) => e.textContent)"
    )
    assert {str(number) for number in range(6, 19)} <= set(texts)
    assert browser.run("return document.documentElement.scrollWidth") == width
