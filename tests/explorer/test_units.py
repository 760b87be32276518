"""Values are shown by their unit: the page and the table of a run that is ordered by a probability."""

from dataclasses import replace

import polars as pl
import pytest
from tests.explorer.runs import SETTINGS, write_run
from tests.figures.rank_summaries import make_row, write_summary

from fathom.explorer.data import collect_data
from fathom.explorer.page import render_page
from fathom.explorer.reader import read_run
from fathom.explorer.run import ORDERS, Order, rank_models
from fathom.figures import rank_table
from fathom.io import paths
from fathom.io.contracts.scoring import SCORES
from fathom.io.tables import read_table
from fathom.statistics.aggregates import TRIMMED_MEAN
from fathom.statistics.metrics import PROBABILITY, RANKED
from fathom.statistics.summaries import format_value

NAME = "probability.trimmed_mean"


@pytest.mark.parametrize(
    ("unit", "shown"),
    [("bits", "0.12 [0.11, 0.14]"), ("rank", "0.1 [0.1, 0.1]"), ("proportion", "12.3 [11.1, 13.5] %"),
     ("nats", "0.1234 [0.1111, 0.1352]")],
)  # fmt: skip
def test_a_value_is_written_as_its_unit_is(unit, shown):
    assert format_value(unit, 0.1234, 0.1111, 0.1352) == shown


@pytest.fixture
def ordered(tmp_path, monkeypatch):
    """Return a run as it would be read if its models were ordered by probability, too."""
    folder = write_run(tmp_path / "run", variants=["tf"])
    run = read_run(folder, SETTINGS)
    monkeypatch.setitem(ORDERS, NAME, Order(PROBABILITY, TRIMMED_MEAN))
    (benchmark,) = run.benchmarks
    rivals = {}
    for model, each in benchmark.rivals.items():
        path = folder / paths.SCORES.of(domain="physics", variant="tf", model=model).below
        known = read_table(path, SCORES, ["pair_id", "probability"])
        joined = benchmark.pairs.select("pair_id").join(known, on="pair_id", maintain_order="left")
        rivals[model] = each.with_columns(probability=pl.Series(joined["probability"]))
    benchmark = replace(benchmark, rivals=rivals)
    return replace(run, benchmarks=[replace(benchmark, rankings=rank_models(benchmark, run.rows))])


def test_the_data_of_a_page_have_units_and_no_limit_where_a_metric_has_none(ordered):
    (benchmark,) = collect_data(ordered, SETTINGS).overview["benchmarks"]
    found = benchmark["statistics"]
    assert {name: each["unit"] for name, each in found.items()} == {
        "bits": "bits", "trimmed_mean": "rank", "geometric_mean": "rank", "rival_rank.trimmed_mean": "rank",
        "rival_rank.geometric_mean": "rank", NAME: "proportion",
    }  # fmt: skip
    assert [name for name, each in found.items() if each["low"]] == [n for n in found if "_mean" in n][:4]
    assert (found[NAME]["advice"]["limit"], found[NAME]["advice"]["unknown"]) == (None, [])
    assert found["trimmed_mean"]["advice"]["limit"] == 100


def test_a_probability_is_no_rank_on_the_page(browser, ordered, tmp_path):
    (tmp_path / "page.html").write_text(render_page(collect_data(ordered, SETTINGS)), encoding="utf-8")
    browser.open(f"{(tmp_path / 'page.html').as_uri()}#s={NAME}")
    assert browser.list_errors() == []
    first = ordered.benchmarks[0].rankings[NAME].models[0]
    cells = browser.run("return [...document.querySelectorAll('#ranking td')].map((one) => one.textContent)")
    assert cells[:3] == [
        "1",
        f"{100 * first.value:.1f} %",
        f"[{100 * first.low:.1f} %, {100 * first.high:.1f} %]",
    ]
    heads = browser.run("return [...document.querySelectorAll('#ranking th')].map((one) => one.textContent)")
    assert "trimmed mean probability" in heads and "rank" not in heads
    assert "right is better" in browser.run("return document.querySelector('#ranking .axis').textContent")
    ticks = "return [...document.querySelectorAll('#ranking svg text')].map((one) => one.textContent)"
    assert [each for each in browser.run(ticks) if each[:1].isdigit() and not each.endswith(" %")] == []
    minded = browser.run("return document.querySelector('#cautions').innerText")
    assert "ahead by probability" in minded and "rank" not in minded
    assert "What does no model know" not in browser.run("return document.querySelector('#next').innerText")


def test_keywords_of_a_probability_are_its_means(browser, ordered, tmp_path):
    (tmp_path / "page.html").write_text(render_page(collect_data(ordered, SETTINGS)), encoding="utf-8")
    address = (tmp_path / "page.html").as_uri()
    browser.open(f"{address}#s={NAME}&a=alpha&c=gamma%2Bfine-tuned")
    assert browser.list_errors() == []
    (benchmark,) = ordered.benchmarks
    scores, pairs = benchmark.select_values(PROBABILITY)
    own = scores["alpha"][pairs["keyword"].to_numpy() == "keyword 003"].mean()
    row = """return [...document.querySelectorAll('#keywords [role=row]')]
      .find((one) => one.textContent.startsWith('keyword 003')).textContent"""
    assert f"{100 * own:.1f} %" in browser.run(row)
    said = browser.run("return document.querySelector('#keywords').innerText")
    assert "Mean probability of each model" in said
    marks = """return [...document.querySelectorAll('#two svg')].map((one) => one.textContent).join(' ')"""
    assert "probability of alpha" in browser.run(marks) and "rank of" not in browser.run(marks)
    # above the diagonal, where the second one has more, no mark is filled
    compared = browser.run("return document.querySelector('#two figure [role=img]').ariaLabel")
    assert "alpha has the higher probability on 12" in compared
    assert "A cell says how much better" in browser.run(
        "return document.querySelector('#subfields').innerText"
    )


def test_a_probability_is_no_rank_in_the_table_of_the_terminal(tmp_path, monkeypatch):
    monkeypatch.setattr(rank_table, "RANKED", (*RANKED, PROBABILITY))
    rows = [
        make_row(name, variant, *values, metric=metric)
        for name, share in (("low", (0.02, 0.01, 0.03)), ("high", (0.5, 0.4, 0.6)))
        for variant in ("tf", "tfidf")
        for metric, values in (("rank", (9.0, 8.0, 30.0)), ("probability", share))
    ]
    write_summary(tmp_path / "summary.csv", rows)
    lines = "\n".join(rank_table.describe_run(tmp_path, 120)).splitlines()
    start = next(place for place, line in enumerate(lines) if "by trimmed mean probability" in line)
    assert lines[start].split()[-2:] == ["TF", "TF-IDF"]
    assert lines[start + 1].split() == ["high", *["50.0", "[40.0,", "60.0]", "%"] * 2]
