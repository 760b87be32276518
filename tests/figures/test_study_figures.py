"""Figures of stages, targets, claims and controls: what is drawn, and that nothing is cut."""

import itertools
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb
from tests.figures.frames import check_inside, draw_one, draw_twice
from tests.programs import STATISTICS, run_program
from tests.scores import tabulate_scores
from tests.studies.test_stages import make_order, make_rows
from tests.tables import read_delimited, write_delimited

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.catalogue import CATALOGUE
from fathom.figures.study_figures import (
    KINDS,
    VERDICT_SERIES,
    draw_changes,
    draw_order,
    draw_stages,
    list_rows,
    read_changes,
    read_relations,
)
from fathom.figures.style import use_style
from fathom.io.contracts.benchmark import DOMAIN_ORDERS, OVERLAP, PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.studies import (
    CLAIM_CORRELATIONS,
    CLAIMS,
    CONTRASTS,
    CONTROLS,
    EXTREMES,
    FOLLOWING,
    RELATIONS,
    TARGET_CHANGES,
)
from fathom.io.delimited import write_rows
from fathom.io.tables import read_table, write_table
from fathom.studies.stages import relate_stages, select_stages

PLACES = [
    *((variant, metric, aggregate) for variant in ("reference", "tf", "tfidf")
      for metric in ("rank", "probability")
      for aggregate in ("trimmed_mean", "geometric_mean", "mean", "median")),
    ("tf", "log_probability", "mean"), ("text", "perplexity", "mean"), ("keywords", "attribute_rate", "mean"),
]  # fmt: skip


def make_study(count: int, places=PLACES) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of a track of many stages, and its order."""
    random = np.random.default_rng(0)
    similarities = np.round(np.linspace(0.1, 0.9, count), 6).tolist()
    return make_rows((5 + random.random(count + 1)).tolist(), places), make_order(similarities)


def relate(stages):
    """Return the relations of stages as a figure reads them."""
    rows = [dict(zip(RELATIONS.names, row, strict=True)) for row in relate_stages(stages, Summary(rounds=50))]
    return {tuple(row[name] for name in RELATIONS.names[2:9]): row for row in rows}


def check_page(figure):
    figure.draw_without_rendering()
    page = figure.bbox
    for axes in filter(lambda each: each.get_visible(), figure.axes):
        box = axes.get_tightbbox()
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1


@pytest.mark.parametrize(("count", "names"), [(12, True), (165, False)])
def test_a_figure_has_a_row_for_each_metric_however_many_stages(count, names):
    rows, order = make_study(count)
    stages = select_stages(rows, order)
    labels = [row.label for row in list_rows(stages, "trimmed-mean", Summary())]
    assert labels == [
        "reference: 20 % trimmed mean rank", "TF: 20 % trimmed mean rank", "TF-IDF: 20 % trimmed mean rank",
        "Perplexity", "Attribute rate",
    ]  # fmt: skip
    with use_style():
        figure = draw_stages(stages, {}, "trimmed-mean", "Artificial intelligence", Summary())
        check_page(figure)
    left = figure.axes[:-1:2]
    assert len(left) == 5 and f"{count} stages" in figure.get_suptitle()
    drawn = sum(len(each.get_offsets()) for each in left[1].collections[1:])
    assert drawn == count
    minima = stages.filter(variant="tf", aggregate="trimmed_mean", extremum="minimum", metric="rank")
    assert len(left[1].collections[1].get_offsets()) == len(minima) > 0
    ticks = [text.get_text() for text in left[-1].get_xticklabels()]
    assert (ticks[:2] == ["start", "d1"]) == names


def test_stages_say_n_and_name_the_reference_and_correlations_have_a_p_value():
    rows, order = make_study(12)
    place = ("tf", "rank", "trimmed_mean")
    line = {"value": 0.5, "ci_low": 0.25, "ci_high": 0.75, "p": 0.0421}
    relations = relate(select_stages(rows, order)) | {(*place, "similarity", "", "", "pearson"): line}
    stages, named = select_stages(rows, order), [("reference", "claude")]
    with use_style():
        figure = draw_stages(
            stages, relations, "trimmed-mean", "AI", Summary(), named, {"d1": "Law", "t": "AI"}
        )
    assert figure.get_suptitle().splitlines()[0] == "S: a on AI after each of 12 stages"
    assert [tick.get_text() for tick in figure.axes[8].get_xticklabels()][:3] == ["start", "Law", "d2"]
    *_, bands, counts = figure.get_suptitle().split("\n")
    assert (
        bands == "Bands and brackets: 95 % intervals"
        and counts.startswith("n: ")
        and "claude pairs, " in counts
    )
    left, right = figure.axes[2:4]
    assert left.get_title(loc="left").startswith("with similarity r = 0.50, p = 0.042 [0.25, 0.75]")
    assert right.get_title(loc="left") == "r = 1.00, p < 0.001 [1.00, 1.00]"  # the same values in all metrics
    assert figure.axes[0].get_ylabel().startswith("claude\n")
    assert [axes.get_xlabel() for axes in figure.axes if "rank" in axes.get_xlabel()] == ["claude rank"]


def test_the_start_of_a_study_is_seen_in_both_panels_and_in_the_legend():
    rows, order = make_study(12)
    with use_style():
        figure = draw_stages(select_stages(rows, order), {}, "mean", "AI", Summary())
    left, right = figure.axes[2:4]
    (look,) = [
        handle for handle in figure.legends[0].legend_handles if handle.get_label().startswith("start")
    ]
    starts = [line for axes in (left, right) for line in axes.lines if line.get_marker() == look.get_marker()]
    assert [len(line.get_xdata()) for line in starts] == [1, 1]
    for line in (*starts, look):
        assert np.mean(to_rgb(line.get_markerfacecolor())) < 0.5  # dark on white
    assert look.get_linestyle() == left.lines[1].get_linestyle() != "None"


@pytest.mark.parametrize(("kind", "metric", "aggregate"), [
    ("trimmed-mean", "rank", "trimmed_mean"), ("mean", "rank", "mean"),
    ("mean-probability", "probability", "mean"),
])  # fmt: skip
def test_all_metrics_of_a_figure_of_stages_are_set_against_what_it_draws_of_the_reference(
    kind, metric, aggregate
):
    rows, order = make_study(12)
    is_drawn = (pl.col("metric") == metric) & (pl.col("aggregate") == aggregate)
    other = (pl.col("variant") == "reference") & ~is_drawn
    rows = rows.with_columns(value=pl.when(other).then(pl.col("value") ** -2).otherwise("value"))
    stages = select_stages(rows, order)
    with use_style():
        axes = draw_stages(stages, relate(stages), kind, "AI", Summary()).axes[:-1]
    drawn = stages.filter(is_drawn, variant="reference").sort("stage")["value"].to_list()
    for right in axes[1::2]:
        assert right.lines[0].get_xdata().tolist() == pytest.approx(drawn[:1])
        assert right.collections[0].get_offsets()[:, 0].tolist() == pytest.approx(drawn[1:])
    assert [each.get_title(loc="left")[:8] for each in axes[1::2]] == ["", *["r = 1.00"] * 4]
    assert axes[-1].get_xlabel() == f"reference {metric}"
    assert [each.get_visible() for each in axes[1::2]] == [False, *[True] * 4]


def test_a_domain_order_names_what_fits_and_all_that_is_trained_on():
    for count in (13, 165):
        order = make_order(np.linspace(0.1, 0.9, count).tolist())
        order = order.with_columns(
            stage=pl.when(pl.col("place") % 13 == 1).then(pl.col("place")).otherwise(0),
            chosen=pl.col("place") < 14,
        )
        with use_style():
            figure = draw_order(order.cast({"stage": pl.Int32}), "to-t", {"t": "Law", "d1": "Art"})
            check_page(figure)
        (axes,) = figure.axes
        assert figure.get_suptitle() == f"To Law: {count} domains by similarity to Law"
        assert axes.get_yticklabels()[0].get_text() == "Art" and axes.get_xlabel().endswith(" with Law")
        # 13 are chosen; 12 more are a stage
        assert len(axes.get_yticks()) == (13 if count == 13 else 25)
        assert sum(len(each.get_offsets()) for each in axes.collections) == count


def test_the_programs_draw_what_the_tables_hold(tmp_path, monkeypatch):
    entry, two = CATALOGUE["stages"], ("trimmed-mean", "log-probability")
    assert set(entry.values["kind"]) == set(KINDS)
    kinds = {name: entry.values["kind"][name] for name in two}
    monkeypatch.setitem(CATALOGUE, "stages", replace(entry, values={"kind": kinds}))
    rows, order = make_study(8)
    write_table(tmp_path / "following.parquet", rows, FOLLOWING)
    write_table(tmp_path / "order.parquet", order, DOMAIN_ORDERS)
    tables = (
        "--following",
        tmp_path / "following.parquet",
        "--track",
        "a+s",
        "--order",
        tmp_path / "order.parquet",
    )
    relations = ("--relations", tmp_path / "relations.csv", "--settings", '{"rounds": 50}')
    run_program("relate_stages", *tables, *relations, imports=STATISTICS)
    found = read_relations(tmp_path / "relations.csv")
    assert found["tf", "rank", "mean", "reference", "rank", "mean", "pearson"]["value"] == 1
    named = {"order": tmp_path / "order.parquet", "relations": tmp_path / "relations.csv"}
    named["following"] = tmp_path / "following.parquet"
    drawn = draw_twice(tmp_path / "stages", "stages", named, {"track": "a+s"})
    assert {path.name.split(".")[2] for path in drawn} == {*two}
    for path in drawn:
        header, *lines = path.read_text().splitlines()
        assert header.endswith(",similarity,extremum")
        assert len(lines) == (3 if ".log-probability." in path.name else 5) * 9
    (numbers,) = draw_twice(tmp_path / "o", "order", {"order": named["order"]}, {"study": "s"})
    assert len(numbers.read_text().splitlines()) == 9


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
        "--titles", json.dumps({"learning": "Learning"}), "--references", json.dumps({"tf": "claude"}),
    )  # fmt: skip
    return folder


def draw(tables):
    targets, groups = read_changes(tables / "changes.parquet", tables / "groups.csv", "base+learning")
    with use_style():
        title = "Learning by machines, in a long title of a domain"
        figure = draw_changes(targets, groups, title, Summary(), [("tf", "claude")], {"learning": "Learning"})
        figure.draw_without_rendering()
    return figure


def test_the_program_writes_targets_contrast_and_extremes(tables):
    targets = read_table(tables / "changes.parquet", TARGET_CHANGES)
    assert set(targets["target"][:6]) == set(NEAR) and targets["pairs"].to_list() == [5] * 12
    (row,) = read_delimited(tables / "groups.csv", ",", ("d", "top", "bottom", "targets", "keywords"))
    assert float(row["top"]) > float(row["bottom"]) and float(row["d"]) > 1
    assert (row["targets"], row["in_group"], row["keywords"], row["pairs"]) == ("12", "3", "5", "60")
    rows = read_delimited(tables / "extremes.csv", ",", EXTREMES.names)
    assert [*rows[0].values()][:3] == ["claude", "base adapted to Learning", "base"]
    assert [row["place"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert {row["best"] for row in rows} == set(NEAR) and {row["worst"] for row in rows} == set(WORDS[6:])


def test_two_violins_show_all_targets_of_their_groups_and_nothing_is_cut(tables):
    figure = draw(tables)
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_xticklabels()]
    heads = ["top 25 %\n3 of 12 targets", "bottom 25 %\n3 of 12 targets"]
    assert ["\n".join(label.splitlines()[:2]) for label in labels] == heads
    left, right = (label.get_window_extent() for label in axes.get_xticklabels())
    assert left.x1 < right.x0
    assert (
        axes.get_title().startswith("claude targets\nCohen's d = ")
        and "base: to Learning, against the base" in figure.get_suptitle()
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


TF, TEXT = ("tf", "rank", "trimmed_mean"), ("text", "perplexity", "mean")


@pytest.fixture
def claim_tables(tmp_path):
    claims = [
        ("cs.AI", "gpt2", "goes with it", "RawCorpora", "says", *TF, "unused", "rho", 0.9, 0.8, 0.95, 0.01,
         0.03, "above 0.7", 5, "holds"),
        ("cs.AI", "gpt2", "attribute rate does not", "RawCorpora", "says", *TEXT, "clozes", "rho",
         0.8, 0.5, 0.9, 0.01, 0.03, "below 0.3", 5, "does not"),
        ("cs.AI", "gpt2", "near before far", "RawCorpora", "says", *TF, "", "gain", "", "", "", "", "",
         "above 0", 5, "cannot be told"),
    ]  # fmt: skip
    correlations = [
        ("cs.AI", "gpt2", reference, "rank", aggregate, *metric, statistic, 0.9, 0.8, 0.95, 26, 5)
        for reference in ("unused", "clozes")
        for aggregate in ("trimmed_mean", "mean")
        for metric in (TF, TEXT)
        for statistic in ("pearson", "spearman")
    ]
    files = tmp_path / "claims.csv", tmp_path / "correlations.csv"
    write_rows(files[0], claims, CLAIMS)
    write_rows(files[1], correlations, CLAIM_CORRELATIONS)
    return dict(zip(("claims", "correlations"), files, strict=True))


def test_claims_stand_right_of_the_line_where_they_hold(claim_tables):
    figure = draw_one("claims", claim_tables, {"domain": "cs.AI"}, title="Artificial intelligence")
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["TF rank, trimmed mean", "perplexity"]
    names = [label.get_text() for label in right.get_yticklabels()]
    assert names[:2] == [
        "goes with it: TF rank, trimmed mean (unused)",
        "attribute rate does not: perplexity (clozes)",
    ]
    drawn = {line.get_color(): line.get_xydata() for line in right.lines if len(line.get_xydata()) == 1}
    held, failed = (drawn[VERDICT_SERIES[name].color][0] for name in ("holds", "does not"))
    assert held.tolist() == pytest.approx([0.2, 0]) and failed.tolist() == pytest.approx([-0.5, 1])
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [
        "pairs from documents set aside",
        "clozes of held-out text",
        "holds",
        "does not",
        "cannot be told",
    ]
    check_inside(figure, [figure._suptitle, *left.get_yticklabels(), *right.get_yticklabels()])
    check_inside(figure, [left.xaxis.label, right.xaxis.label])
    right_edge = left.get_window_extent().x1
    assert all(label.get_window_extent().x0 > right_edge for label in right.get_yticklabels())


def test_files_are_written_and_unknown_domains_refused(claim_tables, tmp_path):
    (numbers,) = draw_twice(tmp_path, "claims", claim_tables, {"domain": "cs.AI"}, title="AI")
    assert numbers.read_text() == claim_tables["claims"].read_text()
    with pytest.raises(InputError, match="unknown domain 'law'"):
        draw_one("claims", claim_tables, {"domain": "law"})


METRICS = [
    ("tf", "rank", "trimmed_mean"), ("tfidf", "rank", "trimmed_mean"), ("tf", "rank", "geometric_mean"),
    ("tfidf", "rank", "geometric_mean"), ("tf", "log_probability", "mean"), ("text", "perplexity", "mean"),
    ("text", "bits_per_byte", "mean"), ("keywords", "attribute_rate", "mean"),
    ("both", "rank", "trimmed_mean"),
]  # fmt: skip
CONDITIONS = ["base", "cond-mat.mtrl-sci", "as-is", "terms-exchanged", "terms-only"]


@pytest.fixture
def control_tables(tmp_path):
    rows = [
        ("cs.AI", *metric, "toy-gpt2", condition, 3, 100, 90, 110, place / 10, place / 10 - 0.05,
         place / 10 + 0.05, 1, 1, 1, 40)
        for metric in METRICS for place, condition in enumerate(CONDITIONS)
    ]  # fmt: skip
    contrasts = [
        ("cs.AI", *metric, "toy-gpt2", first, second, 1, 0.5, 1.5, 0.01, 0.02, verdict)
        for metric in METRICS
        if metric[0] not in ("tf", "tfidf")
        for first, second, verdict in (("as-is", "terms-exchanged", "ahead"), ("as-is", "far", "behind"))
    ]
    files = tmp_path / "controls.csv", tmp_path / "contrasts.csv"
    for file, columns, lines in zip(files, (CONTROLS.names, CONTRASTS.names), (rows, contrasts), strict=True):
        write_delimited(file, columns, lines, ",")
    return dict(zip(("controls", "contrasts"), files, strict=True))


def draw_controls(control_tables, domain="cs.AI"):
    return draw_one("controls", control_tables, {"domain": domain}, title="Artificial intelligence")


def test_knowledge_stands_above_style_and_nothing_is_cut(control_tables):
    figure = draw_controls(control_tables)
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in panels] == [
        "20 % trimmed mean rank", "Geometric mean rank", "Mean log-probability (nats)", "Perplexity",
        "Bits per byte", "Attribute rate",
    ]  # fmt: skip
    names = [label.get_text().replace("\n", "") for label in panels[0].get_yticklabels()]
    assert names == ["text as it is", "sentences with terms", "terms exchanged", "cond-mat.mtrl-sci"]
    assert (
        "times better" in panels[0].get_xlabel() and "ahead in 1 of 2, behind in 1" in panels[0].get_xlabel()
    )
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == ["TF", "TF-IDF"]
    assert panels[0].yaxis_inverted() and "3 seeds" in figure.get_suptitle()
    check_inside(figure, [figure._suptitle, *panels[0].get_yticklabels()])
    check_inside(figure, [text for axes in panels for text in (axes.title, axes.xaxis.label)])
    titles = [axes.xaxis.label.get_window_extent() for axes in panels[:3]]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(titles))


def test_long_numbers_on_an_axis_do_not_overlap(control_tables):
    small = {"gain": "-0.0067", "gain_low": "-0.0133", "gain_high": "0"}
    rows = [row | small if row["metric"] == "attribute_rate" else row
            for row in read_delimited(control_tables["controls"], ",")]  # fmt: skip
    write_delimited(control_tables["controls"], CONTROLS.names, [tuple(row.values()) for row in rows], ",")
    figure = draw_controls(control_tables)
    for axes in figure.axes:
        low, high = axes.get_xlim()
        labels = [label for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
                  if low <= place <= high]  # fmt: skip
        boxes = [label.get_window_extent() for label in labels if axes.get_visible()]
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_the_same_tables_give_the_same_files_and_an_unknown_domain_is_refused(control_tables, tmp_path):
    draw_twice(tmp_path, "controls", control_tables, {"domain": "cs.AI"}, title="AI")
    with pytest.raises(InputError, match="unknown domain 'math'"):
        draw_controls(control_tables, "math")
