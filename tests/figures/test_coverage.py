"""Maps show every point in its place, and their numbers stand beside them."""

import polars as pl
import pytest
from tests.figures.frames import draw_twice, list_cut
from tests.refusals import refuses

from fathom.figures.benchmark_map import draw_map, read_maps
from fathom.figures.coverage import draw_benchmark, draw_expansion
from fathom.figures.style import use_style
from fathom.io.contracts.coverage import COVERAGE_MAP, EXPANSION_MAP
from fathom.io.tables import write_table


@pytest.fixture(scope="module")
def benchmark() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "kind": ["sentence"] * 4 + ["pair"],
            "id": list("abcde"),
            "x": [0.0, 1.0, 2.0, 3.0, 0.5],
            "y": [0.0, 1.0, 0.0, 1.0, 0.5],
            "difference": [-1.0, -0.5, 0.5, 2.0, float("nan")],
            "gap": [False, False, True, True, False],
            "large": [False, False, False, True, False],
        }
    )


@pytest.fixture(scope="module")
def expansion() -> pl.DataFrame:
    rounds = [0, 1, 2, 3, 4, 5, 6, 7, 7]
    return pl.DataFrame(
        {"doc_id": "d", "position": 0, "x": float(r), "y": 1.0, "round": r, "gap": r == 0} for r in rounds
    )


def _count(axes) -> dict[str, int]:
    return {each.get_label(): len(each.get_offsets()) for each in axes.collections}


def test_a_map_of_a_benchmark(benchmark, tmp_path):
    with use_style():
        figure = draw_benchmark(benchmark, "A_$domain")
    assert _count(figure.axes[0]) == {"sentence, covered": 2, "gap": 1, "large gap": 1, "pair": 1}
    assert "1 pairs cover 50 % of the domain" in figure.get_suptitle()
    write_table(tmp_path / "map.parquet", benchmark, COVERAGE_MAP)
    parts = {"domain": "D", "variant": "tf"}
    (numbers,) = draw_twice(tmp_path, "coverage", {"map": tmp_path / "map.parquet"}, parts)
    lines = numbers.read_text().splitlines()
    assert len(lines) == 6 and lines[1].split(",")[:2] == ["sentence", "a"]


def test_benchmarks_share_a_map_of_their_domain(benchmark, tmp_path):
    other = benchmark.with_columns(id=pl.when(kind="pair").then(pl.lit("z")).otherwise("id"), y=pl.col("y"))
    variants = ("reference", "reference-b", "tf", "tfidf")
    named = {name: tmp_path / f"{name}.parquet" for name in variants}
    for path, table in zip(named.values(), (other, benchmark, benchmark, other), strict=True):
        write_table(path, table, COVERAGE_MAP)
    rows, references = read_maps(named), {"reference": "By hand", "reference-b": "Written $by a model_2"}
    assert rows["variant"].to_list() == [""] * 4 + ["tf", "tfidf", "reference", "reference-b"]
    with use_style():
        figure = draw_map(rows, "A_$domain", references)
    shown = ("TF", "TF-IDF", "By hand", "Written $by a model_2")
    assert [_count(axes) for axes in figure.axes if axes.get_visible()] == [
        *({"sentence": 4, label: 1} for label in shown), {"sentence": 4, **dict.fromkeys(shown, 1)}
    ]  # fmt: skip
    figure.draw_without_rendering()
    assert not list_cut(figure)
    # the third panel has none below it
    named_below = [bool(axes.get_xlabel()) for axes in figure.axes if axes.get_visible()]
    assert named_below == [False, False, True, True, True]
    (numbers,) = draw_twice(tmp_path, "benchmarks", named, {"domain": "D"}, references=references)
    assert len(numbers.read_text().splitlines()) == 9
    write_table(named["tfidf"], other.with_columns(x=pl.col("x") + 1), COVERAGE_MAP)
    with refuses("same sentences", "tfidf.parquet"):
        read_maps(named)


def test_crowded_points_are_smaller_and_paler_but_not_in_the_legend():
    def draw(count):
        points = [
            {"kind": "pair", "x": float(number), "y": 0.0, "gap": False, "large": False}
            for number in range(count)
        ]
        with use_style():
            return draw_benchmark(pl.DataFrame(points), "D")

    few, many = draw(1000), draw(6000)
    (sparse,), (dense,) = (
        [each for each in figure.axes[0].collections if each.get_label() == "pair"] for figure in (few, many)
    )
    assert dense.get_sizes()[0] == pytest.approx(sparse.get_sizes()[0] / 2)
    assert dense.get_alpha() < sparse.get_alpha()
    shown = [figure.legends[0].legend_handles[-1].get_sizes()[0] for figure in (few, many)]
    assert shown[0] == shown[1]


def test_a_map_of_an_expansion_shows_the_first_rounds_and_the_last(expansion, tmp_path):
    with use_style():
        figure = draw_expansion(expansion, "Domain")
    assert [axes.get_title() for axes in figure.axes] == [f"Round {number}" for number in (1, 2, 3, 4, 5, 7)]
    assert _count(figure.axes[-1]) == {"not in it": 1, "in it before": 6, "joined in this round": 2}
    assert _count(figure.axes[1]) == {"not in it": 7, "in it before": 1, "joined in this round": 1}
    write_table(tmp_path / "map.parquet", expansion.filter(round=1), EXPANSION_MAP)
    draw_twice(tmp_path, "expansion", {"map": tmp_path / "map.parquet"}, {"domain": "D"})
