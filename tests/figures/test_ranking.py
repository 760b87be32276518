"""Figures and tables of rankings: nothing cut, no labels over each other, notes where there is nothing."""

import math
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from tests.figures.frames import check_inside, draw_twice
from tests.programs import STATISTICS, find_program, run_program
from tests.refusals import refuses
from tests.tables import read_delimited

from fathom.config.ranking import CorpusTable, Ranking, RankingSettings
from fathom.config.scoring import Summary
from fathom.figures.catalogue import CATALOGUE, find_figure
from fathom.figures.drawing import FigureSettings
from fathom.figures.ranking_agreement import draw_forecast_figure, draw_preparations_figure, format_power
from fathom.figures.ranking_tables import order_models, render_markdown
from fathom.figures.style import use_style
from fathom.io.contracts.ranking import AGREEMENT, FORECAST, PAIRWISE, PREPARATION
from fathom.io.delimited import read_rows, write_rows
from fathom.io.files import write_json
from fathom.models.registry import read_registry
from fathom.planning.plans import merge_configuration
from fathom.ranking.resampled_scores import PLAIN
from fathom.ranking.score_folder import read_folder
from fathom.ranking.table import Benchmark, Model, ScoreTable, write_score_table

_ROOT = Path(__file__).resolve().parents[2]
_ENVIRONMENT = os.environ | {"PYTHONPATH": str(_ROOT / "src")}
FIGURES = ["alignment", "mean-tau", "mean-tau-significant", "categories", "categories-significant",
           "perplexity", "perplexity-before", "pca", "pca-family", "pc1-compute", "pc1-scores", "tau.before",
           "tau.after", "tau-significant.before"]  # fmt: skip
SETTINGS = RankingSettings(ranking=Ranking(one_family="F1"), summary=Summary(rounds=20))


def _table(models: int, tasks: int, bare: bool = False) -> ScoreTable:
    """Return a table of two conditions; a bare one has no errors, corpora, categories, families or sizes."""
    random = np.random.default_rng(models)
    ability = random.normal(size=(1, models, 1))
    corpora = 0 if bare else 2
    noise = random.normal(size=(2, models, tasks + corpora)) * np.array([1.5, 0.3])[:, None, None]
    described = [
        Benchmark(f"task_{n:02d}", f"A task: $x_{n}$", "" if bare else f"C{n % 4}") for n in range(tasks)
    ]
    described += [
        Benchmark(f"text_{n}", f"Text {n}", "", True, True, "bits_per_byte") for n in range(corpora)
    ]
    known = [Model(f"m{n}", f"Family-{n / 7:.1f}B-IT" + "+adapted-to-law" * (n % 3),
                   "" if bare else f"F{n % 5}", "" if bare else ("base", "chat")[n % 2],
                   None if bare else 1e9 * (n + 1), 1e12)
             for n in range(models)]  # fmt: skip
    scores = ability + noise
    scores[:, :, tasks:] *= -1
    shape = (2, tasks + corpora, models * (models - 1) // 2)
    errors = np.full(scores.shape, np.nan if bare else 0.3)
    return ScoreTable(
        ("before", "after"), tuple(known), tuple(described), scores, errors, np.full(shape, np.nan)
    )


def _compare(folder: Path, table: ScoreTable) -> Path:
    write_score_table(folder, table)
    _run("compare_rankings", "--scores", folder, "--tables", folder, "--settings", SETTINGS.model_dump_json())
    return folder


def _run(program: str, *arguments: object) -> None:
    run_program(program, *arguments, imports=STATISTICS)


@pytest.fixture(scope="module")
def full(tmp_path_factory) -> Path:
    return _compare(tmp_path_factory.mktemp("full"), _table(61, 24))


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Path:
    return _compare(tmp_path_factory.mktemp("bare"), _table(3, 2, bare=True))


@pytest.fixture(scope="module")
def flat(tmp_path_factory) -> Path:
    """Make a table with a task that is the same for all models, and a missing score."""
    table = _table(8, 5)
    table.scores[:, :, 2] = 0.7
    table.scores[:, 3, 0] = np.nan
    return _compare(tmp_path_factory.mktemp("flat"), table)


@pytest.fixture(scope="module")
def few(tmp_path_factory) -> Path:
    """Make a table of two categories, whose scores are compared example by example."""
    table = _table(8, 2)
    first, second = np.triu_indices(8, 1)
    signs = np.sign(table.scores[:, first] - table.scores[:, second]).transpose(0, 2, 1)
    return _compare(tmp_path_factory.mktemp("few"), replace(table, paired=signs))


def test_figures_say_their_means_and_what_whiskers_are(full):
    with use_style():
        means, _ = _draw(full, "mean-tau")
        cells, _ = _draw(full, "categories")
        shares, _ = _draw(full, "pca")
        first, _ = _draw(full, "pc1-scores")
        aligned, _ = _draw(full, "alignment")
    before, after = (text.get_text() for text in means.axes[0].get_legend().get_texts())
    (row,) = (
        row for row in read_rows(full / "agreement.csv", AGREEMENT)
        if (row["condition"], row["statistic"]) == ("after", f"mean_{PLAIN}")
    )  # fmt: skip
    assert before.startswith("Before: mean 0.") and after.startswith(f"After: mean {row['value']:.2f} [")
    assert means.get_supxlabel() == "n: 61 models. Whiskers and brackets: 95 % intervals"
    assert "61 models, PC1 to PC5: " in shares.axes[0].get_title()
    assert cells.get_supxlabel().startswith("n: 61 models, in a cell ")
    assert shares.get_supxlabel() == "Whiskers: 95 % intervals"
    assert all("61 models, " in axes.get_title() for axes in aligned.axes)
    assert first.get_supxlabel() == "n: 61 models. Whiskers: 95 % intervals"


def test_the_axis_of_compute_says_that_it_is_logarithmic(flat):
    with use_style():
        figure, _ = _draw(flat, "pc1-compute")
        figure.draw_without_rendering()
    assert [axes.get_xscale() for axes in figure.axes] == ["log", "log"]
    assert all(axes.get_xlabel().endswith("log axis") for axes in figure.axes)
    check_inside(figure, [axes.xaxis.label for axes in figure.axes])
    left, right = (axes.xaxis.label.get_window_extent() for axes in figure.axes)
    assert left.x1 < right.x0


def _draw(folder: Path, name: str):
    figure, parts = find_figure(f"ranking.{name}")
    inputs = {each: folder / Path(path).name for each, path in figure.reads.items()}
    settings = FigureSettings(ranking=SETTINGS.ranking, summary=SETTINGS.summary)
    return figure.find_function()(inputs, parts, settings)


def test_a_colour_of_tau_means_the_same_in_every_condition(full):
    limits, conditions = set(), ("before", "after")
    with use_style():
        for condition in conditions:
            figure, _ = _draw(full, f"tau.{condition}")
            limits.add(figure.axes[0].images[0].get_clim())
    rows = [row for row in read_rows(full / "pairwise.csv", PAIRWISE) if row["statistic"] == PLAIN]
    lowest = [min(row["value"] for row in rows if row["condition"] == each) for each in conditions]
    assert lowest[0] != lowest[1] and len(limits) == 1 and min(limits)[0] <= min(0.0, *lowest)


@pytest.mark.parametrize(
    ("size", "name"), [*(("full", name) for name in FIGURES), ("few", "categories-significant")]
)
def test_no_label_is_cut_or_covers_another(request, size, name):
    from matplotlib.text import Text

    with use_style():
        figure, (contract, rows) = _draw(request.getfixturevalue(size), name)
        figure.draw_without_rendering()
        frame, boxes = figure.bbox, []
        for axes in figure.axes:
            ticks = [label for axis in (axes.xaxis, axes.yaxis)
                     for label, place in zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=False)
                     if min(axis.get_view_interval()) <= place <= max(axis.get_view_interval())]  # fmt: skip
            some = [text for text in [*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label, *ticks]
                    if text.get_visible() and text.get_text().strip()]  # fmt: skip
            boxes += [
                (text.get_text(), Text.get_window_extent(text))
                for text in some
                if not text.get_rotation() % 90
            ]
            for text in some:
                box = Text.get_window_extent(text)
                assert (
                    box.x0 >= -1 and box.y0 >= -1 and box.x1 <= frame.width + 1 and box.y1 <= frame.height + 1
                ), text.get_text()
    covered = [
        (a, b) for n, (a, first) in enumerate(boxes) for b, second in boxes[:n] if _overlap(first, second)
    ]
    assert covered == []
    for box in (legend.get_window_extent() for legend in figure.legends):
        assert box.x0 >= -1 and box.x1 <= frame.width + 1
    assert len(boxes) > 5 and rows and list(rows[0]) == contract.names


def test_a_legend_is_as_wide_as_the_figure_of_one_condition(full, tmp_path):
    folder = shutil.copytree(full, tmp_path / "one")
    means = [row for row in read_rows(full / "means.csv", PAIRWISE) if row["condition"] == "before"]
    write_rows(folder / "means.csv", means, PAIRWISE)
    for name in ("alignment", "pc1-compute"):
        with use_style():
            figure, _ = _draw(folder, name)
            figure.draw_without_rendering()
            (box,) = (legend.get_window_extent() for legend in figure.legends)
        assert box.x0 >= -1 and box.x1 <= figure.bbox.width + 1, name


def _overlap(first, second) -> bool:
    """Say whether two boxes share more than a pixel in both directions."""
    return (
        min(first.x1, second.x1) - max(first.x0, second.x0) > 1
        and min(first.y1, second.y1) - max(first.y0, second.y0) > 1
    )


def test_a_title_that_is_longer_than_its_figure_has_several_lines(flat):
    with use_style():
        figure, _ = _draw(flat, "perplexity-before")
        figure.draw_without_rendering()
    check_inside(figure, [axes.title for axes in figure.axes])
    title, numbers = figure.axes[0].get_title().rsplit("\n", 1)
    assert title.replace("\n", " ") == "Base models: perplexity before, benchmarks after"
    assert re.fullmatch(r"mean over benchmarks -?0\.\d\d, \d models", numbers)


def test_benchmarks_without_any_tau_have_a_heading(full, tmp_path):
    folder = tmp_path / "none"
    shutil.copytree(full, folder)
    rows = [row for row in read_rows(full / "pairwise.csv", PAIRWISE) if row["statistic"] == PLAIN]
    write_rows(folder / "pairwise.csv", rows, PAIRWISE)
    with use_style():
        figure, (_, drawn) = _draw(folder, "tau-significant.before")
    first, *others = figure.axes[0].get_title().split("\n")
    assert drawn == [] and first.startswith("Before: mean ")
    assert others[0] == "n: 61 models, 0 of 276 pairs of benchmarks"


def test_a_matrix_counts_models_and_pairs_and_says_what_brackets_are(full, flat, tmp_path):
    for folder, counted in (
        (full, "n: 61 models, 276 of 276 pairs"),
        (flat, "n: 7 to 8 models, 6 of 10 pairs"),
    ):
        with use_style():
            figure, _ = _draw(folder, "tau.after")
            figure.draw_without_rendering()
        title = figure.axes[0].get_title().replace("\n", " ")
        assert f"{counted} of benchmarks" in title and title.endswith("Brackets: 95 % intervals over models")
        check_inside(figure, [figure.axes[0].title])
    folder = tmp_path / "alike"
    shutil.copytree(flat, folder)
    rows = [row | {"value": math.nan, "ci_low": math.nan, "ci_high": math.nan}
            for row in read_rows(flat / "agreement.csv", AGREEMENT)]  # fmt: skip
    write_rows(folder / "agreement.csv", rows, AGREEMENT)
    with use_style():
        figure, _ = _draw(folder, "tau.after")
    title = figure.axes[0].get_title().replace("\n", " ")
    assert title.startswith("After: mean undefined n: 7 to 8 models") and "Brackets" not in title


@pytest.mark.parametrize("name", FIGURES)
def test_where_there_is_nothing_to_draw_a_note_says_why(bare, name):
    with use_style():
        figure, (contract, rows) = _draw(bare, name)
        figure.draw_without_rendering()
    notes = [text.get_text() for text in figure.texts if text is not figure._supxlabel]
    expected = {"mean-tau-significant": "no standard errors", "categories-significant": "no standard errors",
                "tau-significant.before": "no standard errors", "categories": "no categories",
                "perplexity": "a perplexity", "perplexity-before": "a perplexity",
                "pca-family": "too few models", "pc1-compute": "training compute"}  # fmt: skip
    if name in expected:
        assert len(notes) == 1 and expected[name] in notes[0] and rows == [] and contract.names
    else:
        assert notes == [] and rows


@pytest.mark.parametrize("name", FIGURES)
def test_a_constant_task_and_a_missing_score_leave_the_rest(flat, name):
    with use_style():
        figure, (_, rows) = _draw(flat, name)
        figure.draw_without_rendering()
    assert rows or name == "pca-family"


@pytest.mark.parametrize(("which", "panels"), [([0], 1), ([1], 1), ([0, 1], 0)])
def test_models_that_are_alike_on_every_task_of_a_condition_leave_the_others(tmp_path, which, panels):
    table = _table(8, 4)
    table.scores[which, :, :4] = 0.5
    folder = _compare(tmp_path, table)
    with use_style():
        figure, (_, rows) = _draw(folder, "pc1-scores")
        assert len(rows) == 8 * panels
        assert [len(axes.lines) for axes in figure.axes] == [17] * panels
        figure, (_, rows) = _draw(folder, "perplexity-before")
        assert len(rows) == 2 * 2 * 4 and all(math.isnan(row["value"]) == (1 in which) for row in rows)


def test_a_constant_task_has_no_tau_and_no_part_in_means(flat):
    pairs = {(row["first"], row["second"]): row for row in read_delimited(flat / "pairwise.csv", ",")
             if row["condition"] == "after" and row["statistic"] == "tau"}  # fmt: skip
    assert all((row["value"] == "") == ("task_02" in pair) for pair, row in pairs.items())
    assert {row["models"] for pair, row in pairs.items() if "task_00" in pair} == {"7"}
    means = {row["first"]: row["value"] for row in read_delimited(flat / "means.csv", ",")
             if row["condition"] == "after" and row["statistic"] == "tau"}  # fmt: skip
    assert means["task_02"] == "" and all(value for name, value in means.items() if name != "task_02")
    shares = [row for row in read_delimited(flat / "pca.csv", ",") if row["group"] == "all"]
    assert {(row["models"], row["benchmarks"]) for row in shares} == {("7", "4")}


def test_every_number_of_the_tables_is_a_number(full):
    for name in ("agreement", "pairwise", "means", "categories", "perplexity", "pca", "pc1"):
        rows = read_delimited(full / f"{name}.csv", ",")
        for row in rows:
            key = "share" if name == "pca" else "score" if name == "pc1" else "value"
            value = float(row[key])
            if row["ci_low"]:  # a share of pairs that improve has no interval
                assert float(row["ci_low"]) <= float(row["ci_high"]), (name, row)
            assert np.isfinite(value), (name, row)
    assert {row["condition"] for row in read_delimited(full / "agreement.csv", ",")} == {
        "before", "after", "after - before", "before > after"}  # fmt: skip


def test_the_same_tables_give_the_same_bytes(full, tmp_path):
    again = tmp_path / "again"
    write_score_table(again, _table(61, 24))
    command = [sys.executable, str(find_program("compare_rankings")), "--scores", str(again),
               "--tables", str(again), "--settings", SETTINGS.model_dump_json()]  # fmt: skip
    subprocess.run(command, check=True, env=_ENVIRONMENT | {"PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "2"})
    files = sorted(path.name for path in full.glob("*") if path.suffix in (".csv", ".parquet"))
    assert [name for name in files if (full / name).read_bytes() != (again / name).read_bytes()] == []
    figure = CATALOGUE["ranking-means"]
    draw_twice(
        tmp_path, figure.name, {name: full / Path(path).name for name, path in figure.reads.items()}, {}
    )


def test_tables_list_categories_families_corpora_and_compute(full, bare, tmp_path):
    for folder in (full, bare):
        out = tmp_path / folder.name
        options = [f"--{name}={out / name}.csv" for name in ("categories", "families", "corpora", "compute")]
        _run("write_ranking_tables", "--tables", folder, "--page", out / "tables.md", *options,
             "--settings", SETTINGS.model_dump_json())  # fmt: skip
    out = tmp_path / full.name
    assert [row["category"] for row in read_delimited(out / "categories.csv", ",")] == [
        "C0", "C1", "C2", "C3", "corpora"]  # fmt: skip
    assert sum(int(row["number"]) for row in read_delimited(out / "families.csv", ",")) == 61
    assert len(read_delimited(out / "corpora.csv", ",")[0]) == 1 + 2 * 2
    compute = read_delimited(out / "compute.csv", ",")
    found = {row["model"]: float(row["compute (10^18 FLOP)"]) for row in compute}
    assert len(compute) == 61 and found["Family-0.1B-IT+adapted-to-law"] == pytest.approx(
        6 * 2e9 * 1e12 / 1e18
    )
    assert (out / "tables.md").read_text().count("\n## ") == 3
    assert read_delimited(tmp_path / bare.name / "compute.csv", ",") == []


def test_models_stand_by_family_as_configured_and_by_size():
    sizes = {"gemma-7b": 8e9, "llama-8b-it": 8e9, "llama-1b": 1e9, "gemma-2b": 2e9, "yi-6b": 6e9, "x": None}
    models = [
        Model(
            name,
            name,
            "" if name == "x" else name.partition("-")[0],
            "chat" if "it" in name else "base",
            size,
        )
        for name, size in [*sizes.items(), ("llama-8b", 8e9)]
    ]
    found = [model.name for model in order_models(models, ["llama", "gemma"])]
    assert found == ["llama-1b", "llama-8b", "llama-8b-it", "gemma-2b", "gemma-7b", "yi-6b", "x"]


def _tabulate_chosen(folder, out, *more, **wanted):
    """Return the table of chosen models' scores on corpora, and the page."""
    options = [f"--{name}={out / name}.csv" for name in ("categories", "families", "corpora", "compute")]
    settings = RankingSettings(ranking=Ranking(corpus_table=CorpusTable(**wanted)))
    _run("write_ranking_tables", "--tables", folder, "--page", out / "tables.md", *options,
         "--chosen", out / "chosen.csv", "--settings", settings.model_dump_json(), *more)  # fmt: skip
    return read_delimited(out / "chosen.csv", ","), (out / "tables.md").read_text()


def test_chosen_models_have_a_table_of_their_scores_on_corpora(tmp_path):
    table = _table(8, 3)
    named = [replace(each, name=f"owner/{each.name}", title=each.name.upper()) for each in table.models]
    table.scores[1, 5, 4] = np.nan
    folder = _compare(tmp_path, replace(table, models=tuple(named)))
    write_json(tmp_path / "metadata.json", {"model_rename": {"owner/absent": "Absent-2B", "x/m5": "no"}})
    rows, page = _tabulate_chosen(
        folder, tmp_path, "--metadata", tmp_path / "metadata.json", corpora=["text_1", "text_0"],
        models=["m5", "owner/m2", "absent", "o/t"], condition="after",
    )  # fmt: skip
    assert rows == [
        {"model": "M5", "Text 1": "", "Text 0": f"{table.scores[1, 5, 3]:.3f}"},
        {"model": "M2", "Text 1": f"{table.scores[1, 2, 4]:.3f}", "Text 0": f"{table.scores[1, 2, 3]:.3f}"},
        {"model": "Absent-2B", "Text 1": "", "Text 0": ""},
        {"model": "o/t", "Text 1": "", "Text 0": ""},
    ]
    assert "## Scores of chosen models on corpora, after\n" in page
    # by default the first condition, and every corpus
    rows, _ = _tabulate_chosen(folder, tmp_path, models=["m0"])
    assert rows == [{"model": "M0"} | {f"Text {n}": f"{table.scores[0, 0, 3 + n]:.3f}" for n in (0, 1)}]
    for wanted, key, known in (({"corpora": ["task_00"]}, "corpora", "text_0, text_1"),
                               ({"condition": "zz"}, "condition", "after, before")):  # fmt: skip
        with refuses(f"ranking.corpus_table.{key}", f"known: {known}"):
            _tabulate_chosen(folder, tmp_path, models=["m0"], **wanted)


def test_the_papers_table_of_gemma_and_pythia(shared, tmp_path):
    scores = shared / "lm-harmony"
    if not scores.is_dir():
        pytest.skip("needs the published table beside the repository (../shared/data/lm-harmony)")
    ranking = merge_configuration(
        [str(_ROOT / "config/papers/train-before-test.yaml")], [f"scores={scores}"]
    ).ranking
    settings = RankingSettings(ranking=ranking.model_copy(update={"forecast": []}), summary=SETTINGS.summary)
    entries = read_registry(_ROOT / "config" / "models.tsv")
    write_score_table(tmp_path, read_folder(scores, settings, entries))
    _run(
        "compare_rankings",
        "--scores",
        tmp_path,
        "--tables",
        tmp_path,
        "--settings",
        settings.model_dump_json(),
    )
    rows, _ = _tabulate_chosen(tmp_path, tmp_path, **ranking.corpus_table.model_dump())
    gemma = ("2B", "2B-IT", "7B", "7B-IT", "2-2B", "2-2B-IT", "2-9B", "2-9B-IT")
    # as printed in the paper; the published scores have none of Gemma
    assert rows == [
        *({"model": f"Gemma-{name}", "arXiv": "", "Wiki": "", "Stack": ""} for name in gemma),
        {"model": "Pythia-410M", "arXiv": "0.791", "Wiki": "1.065", "Stack": "0.945"},
    ]


def test_bars_and_powers_in_text():
    assert format_power(1e21) == "10²¹" and format_power(1e-3) == "10⁻³"
    assert "a\\|b" in render_markdown("t", ("x",), [("a|b",)])


FORECASTS = [
    ("after-before", 5, 0.2, -0.1, 0.5, 0.6, 0.3, 100, 3),
    ("after-before", 20, 0.21, 0.05, 0.4, 0.35, 0.9, 100, 3),
    ("other-before", 5, 0.1, -0.2, 0.4, 0.6, 0.1, 100, 3),
    ("other-before", 20, 0.1, "", "", "", 1.0, 1, 3),
]
PREPARATIONS = [
    ("none", 0, 0, 0.4, 0.3, 0.5, 3, "", "", "", 0, 0.3, 0.2, 0.4, 3),
    ("some", 500, 5, 0.6, 0.5, 0.7, 3, 0.2, 0.1, 0.3, 3, 0.1, 0.0, 0.2, 3),
    ("short", "", 1, 0.65, 0.55, 0.75, 3, 0.2, 0.1, 0.3, 3, 0.1, 0.0, 0.2, 3),
    ("whole", "", 5, 0.7, 0.6, 0.8, 3, 0.3, 0.2, 0.4, 3, "", "", "", 0),
]


@pytest.fixture(autouse=True)
def _style():
    matplotlib.use("agg")
    with use_style():
        yield


def draw(tmp_path, function, name, contract, rows):
    write_rows(tmp_path / f"{name}.csv", rows, contract)
    figure, numbers = function({"models": tmp_path / "models.csv"}, {}, FigureSettings())
    figure.draw_without_rendering()
    return figure, numbers


def test_a_forecast_has_a_line_for_each_condition_and_shares_in_percent(tmp_path):
    figure, (contract, rows) = draw(tmp_path, draw_forecast_figure, "forecast", FORECAST, FORECASTS)
    changes, shares = figure.axes
    assert (contract, len(rows)) == (FORECAST, 4)
    for line, of in zip(changes.lines, (FORECASTS[:2], FORECASTS[2:]), strict=False):
        np.testing.assert_allclose(line.get_xydata(), [row[1:3] for row in of])
    assert [line.get_ydata().tolist() for line in shares.lines] == [[30.0, 90.0], [10.0, 100.0]]
    assert len(changes.collections) == 2  # a band for each
    labels = [text.get_text() for text in shares.get_legend().get_texts()]
    assert len(set(labels)) == 2


def test_a_forecast_of_one_condition_says_what_it_needs(tmp_path):
    figure, (contract, rows) = draw(tmp_path, draw_forecast_figure, "forecast", FORECAST, [])
    assert [text.get_text() for text in figure.texts] == ["A forecast needs two conditions."]
    assert (contract, rows) == (FORECAST, [])


def test_preparations_stand_by_examples_and_by_epochs_the_whole_one_last(tmp_path):
    figure, (_, rows) = draw(tmp_path, draw_preparations_figure, "preparation", PREPARATION, PREPARATIONS)
    left, right = figure.axes
    assert len(rows) == 4
    # each panel varies one cost, and has the other one of the whole preparation
    assert [text.get_text() for text in left.get_xticklabels()] == ["0", "500", "all"]
    assert [text.get_text() for text in right.get_xticklabels()] == ["0", "1", "5"]
    assert left.lines[0].get_ydata() == pytest.approx([0.4, 0.6, 0.7])
    assert right.lines[0].get_ydata() == pytest.approx([0.4, 0.65, 0.7])
