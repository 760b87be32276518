"""Figures of best and worst targets: what is drawn, that nothing is cut, and the programs' files."""

import json

import numpy as np
import polars as pl
import pytest
from tests.figures.frames import draw_twice
from tests.programs import run_program
from tests.scores import tabulate_scores
from tests.tables import read_delimited

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.study_figures import draw_changes, read_changes
from fathom.figures.style import use_style
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.studies import TARGET_CHANGES
from fathom.io.tables import read_table, write_table

NEAR = ["classifier", "regression", "kernel", "boosting", "estimator", "training"]
WORDS = [*NEAR, "banana", "window", "street", "colour", "river", "cheese"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables of a model that gained on six words of the domain and lost on six others, by the program."""
    folder = tmp_path_factory.mktemp("targets")
    names = [(f"k{keyword}", word) for keyword in range(5) for word in WORDS]
    names += [("k0", "learned")] * 4  # of these, training text has the sentences
    ids = [f"p{number:02d}" for number in range(len(names))]
    pairs = pl.DataFrame(
        {
            "pair_id": ids, "keyword": [keyword for keyword, _ in names], "variant": "tf",
            "prompt": "A prompt", "target": [f" {word}" for _, word in names], "doc_id": "d",
            "date": "", "cosine": 0.6, "target_in_prompt": False, "target_in_keyword": False,
            "association": 2.5,
        }
    )  # fmt: skip
    random = np.random.default_rng(0)
    for model, shift in (("base", 0.0), ("base+learning", 0.3)):
        gain = np.array([shift if word in WORDS[:6] else -shift for _, word in names])
        ranks = np.exp(4 - gain + 0.05 * random.normal(size=len(names)))
        scores = tabulate_scores(ids, pairs["keyword"], ranks)
        write_table(folder / f"{model}.parquet", scores, SCORES)
    write_table(folder / "pairs.parquet", pairs, PAIRS)
    flags = pairs.select("pair_id", sentence=pl.lit(False), ending=pl.col("target") == " learned")
    write_table(folder / "overlap.parquet", flags, OVERLAP)
    scores = [f"learning/tf/{model}={folder / model}.parquet" for model in ("base", "base+learning")]
    run_program(
        "compare_targets", "--pairs", f"learning/tf={folder / 'pairs.parquet'}", "--scores", *scores,
        "--overlap", f"learning/tf={folder / 'overlap.parquet'}", "--compared", '[["base+learning", "base"]]',
        "--domain", "learning", "--phrase", "machine learning",
        "--settings", json.dumps({"summary": {"rounds": 100}}), "--targets", folder / "changes.parquet",
        "--groups", folder / "groups.csv", "--extremes", folder / "extremes.csv",
    )  # fmt: skip
    return folder


def draw(tables):
    targets, groups = read_changes(tables / "changes.parquet", tables / "groups.csv", "base+learning")
    with use_style():
        figure = draw_changes(targets, groups, "Learning by machines, in a long title of a domain", Summary())
        figure.draw_without_rendering()
    return figure


def test_the_program_writes_targets_contrast_and_extremes(tables):
    targets = read_table(tables / "changes.parquet", TARGET_CHANGES)
    assert set(targets["target"][:6]) == set(NEAR) and targets["pairs"].to_list() == [5] * 12
    (row,) = read_delimited(tables / "groups.csv", ",", ("d", "top", "bottom", "targets", "keywords"))
    assert float(row["top"]) > float(row["bottom"]) and float(row["d"]) > 1
    assert (row["targets"], row["in_group"], row["keywords"], row["pairs"]) == ("12", "3", "5", "60")
    rows = read_delimited(tables / "extremes.csv", ",", ("place", "best", "worst"))
    assert [row["place"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert {row["best"] for row in rows} == set(NEAR) and {row["worst"] for row in rows} == set(WORDS[6:])


def test_two_violins_show_all_targets_of_their_groups_and_nothing_is_cut(tables):
    figure = draw(tables)
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert [label.splitlines()[0] for label in labels] == ["top 3 of 12", "bottom 3 of 12"]
    assert (
        "Cohen's d = " in axes.get_title()
        and "base adapted to learning against base" in figure.get_suptitle()
    )
    points = [len(each.get_offsets()) for each in axes.collections]
    assert points.count(3) == 2
    page = figure.bbox
    texts = [axes.title, axes.yaxis.label, *axes.get_xticklabels(), figure._suptitle, figure._supxlabel]
    for text in texts:
        box = text.get_window_extent()
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text


def test_the_same_tables_give_the_same_files_and_an_unknown_model_is_refused(tables, tmp_path):
    named = {"targets": tables / "changes.parquet", "groups": tables / "groups.csv"}
    draw_twice(tmp_path, "targets", named, {"domain": "learning", "model": "base+learning"})
    with pytest.raises(InputError, match="unknown model 'other'"):
        read_changes(tables / "changes.parquet", tables / "groups.csv", "other")
