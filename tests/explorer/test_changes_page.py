"""The page of two runs: what it says, that texts stay texts, how it looks in a browser."""

import html
import re
import shutil

import polars as pl
import pytest
from tests.explorer.browser import SIZES
from tests.explorer.runs import SCRIPT, write_run

from fathom.commands.main import main
from fathom.io.contracts.scoring import SCORES
from fathom.io.files import read_json, write_json
from fathom.io.tables import read_table, write_table

MODELS = {"SmolLM2-135M-Instruct-Q4_1": 1.0, "beta": 1.1, "gamma": 30.0}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the page of two runs; in the second the first model lost, most at keyword 001."""
    folder = tmp_path_factory.mktemp("changes")
    first = write_run(folder / "may", MODELS, keywords=12, variants=["tf"], planted=SCRIPT)
    second = shutil.copytree(first, folder / "june")
    path = second / "physics" / "scores" / "tf" / "SmolLM2-135M-Instruct-Q4_1.parquet"
    loss = pl.when(pl.col("keyword") == "keyword 001").then(5.0).otherwise(1.5)
    write_table(path, read_table(path, SCORES).with_columns(bits=pl.col("bits") - loss), SCORES)
    manifest = second / "physics" / "benchmark" / "tf" / "manifest.json"
    write_json(manifest, read_json(manifest) | {"parameters": {"corpus": {"source": SCRIPT}}})
    (second / "physics" / "scores" / "tf" / "gamma.parquet").unlink()
    main(["compare-runs", str(first), str(second), "--output", str(folder / "out")])
    return folder / "out" / "index.html"


def read_text(page) -> str:
    """Return the page's text without marks."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.read_text())).split())


def test_the_page_says_what_changed(page):
    said = read_text(page)
    assert "SmolLM2-135M-Instruct became worse on physics, tf; 1 of 2 did not change significantly." in said
    assert "may" in said and "june" in said and "119 pairs of both runs" in said
    assert "gamma on physics, tf" in said and "parameters.corpus.source" in said
    (losses,) = re.findall(r"Lost most (.*?) Gained most: no keyword", said)
    assert re.search(r"keyword 001 10 ", losses) and losses.index("keyword 001") < losses.index("keyword 002")
    assert re.search(r"beta [^a-z]+ [a-z] [^a-z]+ [a-z] [^a-z]+ the same", said)
    assert said.count("keywords moved") == 1  # the other model is as it was


def test_runs_without_bits_are_compared_by_rank(tmp_path):
    first = write_run(tmp_path / "first", MODELS, keywords=12, variants=["tf"])
    second = shutil.copytree(first, tmp_path / "second")
    for run in (first, second):
        for path in (run / "physics" / "scores" / "tf").iterdir():
            scores = read_table(path, SCORES).with_columns(bits=float("nan"))
            if run == second and path.stem == "beta":
                scores = scores.with_columns(rank=pl.col("rank") * 9)
            write_table(path, scores, SCORES)
    main(["compare-runs", str(first), str(second), "--output", str(tmp_path / "out")])
    said = read_text(tmp_path / "out" / "index.html")
    assert "beta became worse" in said and "trimmed mean rank, logarithmic" in said
    (losses,) = re.findall(r"Lost most (.*?) Gained most: no keyword", said)
    pairs, before, after = re.findall(r"keyword \d+ (\d+) ([\d.]+) ([\d.]+)", losses)[0]
    assert int(pairs) in (9, 10) and float(after) == pytest.approx(9 * float(before), rel=0.01)


def test_texts_stay_texts(page):
    written = page.read_text()
    assert "<script" not in written and "<img" not in written and html.escape(SCRIPT) in written


def test_the_page_fits_and_can_be_used_by_all(page, browser):
    for width, height in SIZES:
        for dark in (False, True):
            browser.open(page.as_uri(), width, height, dark)
            browser.run("for (const each of document.querySelectorAll('details')) each.open = true")
            assert browser.run("return document.documentElement.scrollWidth") == width
            assert browser.check_accessibility() == []
    # the phone is the last: columns that are out of sight are announced
    hints = browser.run("""return [...document.querySelectorAll('section > .scroll')]
        .filter((each) => each.scrollWidth > each.clientWidth)
        .map((each) => getComputedStyle(each, '::before').content)""")
    assert hints and all("sideways" in each for each in hints)
    assert browser.list_errors() == [] and browser.run("return window.planted") is None
