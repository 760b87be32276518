"""Maps show every point in its place, and their numbers stand beside them."""

import polars as pl
import pytest
from tests.figures.frames import draw_one, draw_twice, list_cut
from tests.refusals import refuses

from fathom.figures.coverage_figures import (
    draw_benchmark,
    draw_benchmarks,
    draw_corpora,
    draw_expansion,
    read_benchmarks,
    read_expansions,
)
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
    assert "50 % of the domain covered by 1 pair" in figure.get_suptitle()
    write_table(tmp_path / "map.parquet", benchmark, COVERAGE_MAP)
    parts = {"domain": "D", "variant": "tf"}
    (numbers,) = draw_twice(tmp_path, "coverage", {"map": tmp_path / "map.parquet"}, parts)
    lines = numbers.read_text().splitlines()
    assert len(lines) == 6 and lines[1].split(",")[:2] == ["sentence", "a"]
    parts["variant"] = "reference"
    tables = {"map": tmp_path / "map.parquet"}
    named = draw_one("coverage", tables, parts, references=[("reference", "claude")])
    assert named.get_suptitle().startswith("D: claude benchmark\n")


def test_benchmarks_share_a_map_of_their_domain(benchmark, tmp_path):
    other = benchmark.with_columns(id=pl.when(kind="pair").then(pl.lit("z")).otherwise("id"), y=pl.col("y"))
    variants = ("reference", "reference-b", "tf", "tfidf")
    named = {name: tmp_path / f"{name}.parquet" for name in variants}
    for path, table in zip(named.values(), (other, benchmark, benchmark, other), strict=True):
        write_table(path, table, COVERAGE_MAP)
    rows, references = (
        read_benchmarks(named),
        {"reference": "By hand", "reference-b": "Written $by a model_2"},
    )
    assert rows["variant"].to_list() == [""] * 4 + ["tf", "tfidf", "reference", "reference-b"]
    with use_style():
        figure = draw_benchmarks(rows, "A_$domain", references)
    shown = ("TF", "TF-IDF", "By hand", "Written $by a model_2")
    assert [_count(axes) for axes in figure.axes if axes.get_visible()] == [
        *({"sentence": 4, label: 1} for label in shown), {"sentence": 4, **dict.fromkeys(shown, 1)}
    ]  # fmt: skip
    figure.draw_without_rendering()
    assert not list_cut(figure)
    # the third panel has none below it
    named_below = [bool(axes.get_xlabel()) for axes in figure.axes if axes.get_visible()]
    assert named_below == [False, False, True, True, True]
    (numbers,) = draw_twice(tmp_path, "benchmarks", named, {"domain": "D"},
                            references=list(references.items()))  # fmt: skip
    assert len(numbers.read_text().splitlines()) == 9
    write_table(named["tfidf"], other.with_columns(x=pl.col("x") + 1), COVERAGE_MAP)
    with refuses("same sentences", "tfidf.parquet"):
        read_benchmarks(named)


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


def test_the_corpora_of_all_domains_stand_beside_each_other(expansion, tmp_path):
    names = [f"field.{number}" for number in range(12)]
    titles = {name: f"The ${name} with a title of two lines_2" for name in names[1:]}
    named = {str(number): tmp_path / f"results/r/{name}/coverage/expansion-map.parquet"
             for number, name in enumerate(names, 1)}  # fmt: skip
    for number, path in enumerate(named.values()):
        path.parent.mkdir(parents=True)
        write_table(path, expansion.with_columns(x=pl.col("x") + 100 * number), EXPANSION_MAP)
    rows = read_expansions(named)
    assert rows["domain"].unique(maintain_order=True).to_list() == names and len(rows) == 12 * 9
    with use_style():
        figure = draw_corpora(rows, titles)
    figure.draw_without_rendering()
    assert not list_cut(figure)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 3 * 12
    first, second, later = (shown[0], shown[5], shown[10])
    keys = ("not in the corpus", "in it before", "newly added")
    counts = [list(_count(axes).values()) for axes in (first, second, later)]
    assert list(_count(first)) == [*keys] and counts == [[8, 0, 1], [7, 1, 1], [1, 2, 6]]
    assert first.get_title() == "field.0\n1 of 9 (11 %)" and later.get_title() == "8 of 9 (89 %)"
    assert shown[1].get_title().startswith("The $field.1") and "%" not in figure.get_suptitle()
    assert [axes.get_ylabel() for axes in (first, second, later)] == [
        "First round", "Second round", "Later rounds"]  # fmt: skip
    # a domain has the same frame in each phase, and another has its own
    assert first.get_xlim() == later.get_xlim() != shown[1].get_xlim()
    (numbers,) = draw_twice(tmp_path, "expansions", named, {}, titles=titles)
    assert numbers.read_text().splitlines()[1].split(",")[0] == "field.0"


@pytest.mark.parametrize("count", [1, 2])
def test_few_corpora_are_drawn_whole(count, expansion):
    rows = pl.concat([expansion.with_columns(domain=pl.lit(f"d{number}")) for number in range(count)])
    with use_style():
        figure = draw_corpora(rows, {"d0": "A title that is longer than the panel below it is wide"})
    figure.draw_without_rendering()
    assert not list_cut(figure)
    assert len([axes for axes in figure.axes if axes.get_visible()]) == 3 * count
