"""Base models left, chat models right: what stands where, and that nothing is cut or overlaps."""

from pathlib import Path

import pytest
from tests.figures.frames import check_apart, check_inside, draw_one, draw_twice, list_cut, list_names
from tests.tables import read_delimited

from fathom.config.short_names import shorten_names
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import write_rows
from fathom.statistics.aggregates import STATISTICS

PAIRS = [
    ("Llama-2-7b-chat", "Llama-2-7b", "llama"),
    ("Mistral-7B-Instruct-v0.3", "Mistral-7B-v0.3", "mistral"),
    ("OLMo-2-1124-7B-Instruct", "OLMo-2-1124-7B", "olmo2"),
    ("OLMo-2-1124-7B-Instruct@chat", "OLMo-2-1124-7B", "olmo2"),
]
BASES = ["Llama-2-7b", "Mistral-7B-v0.3", "OLMo-2-1124-7B"]
CHATS = [chat for chat, _, _ in PAIRS]
RANKS = dict(zip([*BASES, *CHATS, "gpt2-xl"], [60, 30, 40, 110, 50, 44, 70, 400], strict=True))
PARTS = {"domain": "econ.GN", "statistic": "trimmed_mean"}


def write_summary(folder: Path, variants=("reference", "tf", "tfidf")) -> dict[str, Path]:
    rows = []
    for model, rank in RANKS.items():
        rows += [
            ("econ.GN", variant, model, "rank", statistic, value, 0.9 * value, 1.1 * value, 50)
            for statistic in STATISTICS
            for value, variant in zip((rank**0.9, rank, rank**1.2), ("reference", "tf", "tfidf"), strict=True)
            if variant in variants
        ]
        rows.append(("econ.GN", "text", model, "perplexity", "mean", 9, 8, 10, 50))
    write_rows(folder / "summary.csv", rows, SUMMARY, SUMMARY.names[:-1])
    return {"summary": folder / "summary.csv"}


def draw(tables):
    figure = draw_one("base-and-chat", tables, PARTS, title="Econ-GN", chat_pairs=PAIRS)
    return figure, [axes for axes in figure.axes if axes.get_visible()]


@pytest.mark.parametrize(
    ("variants", "ranks"),
    [
        (("reference", "tf", "tfidf"), ["reference rank", "TF rank", "TF-IDF rank"]),
        (("tf", "tfidf"), ["TF rank", "TF-IDF rank"]),
    ],
)
def test_base_models_are_left_and_their_chat_models_right_ranks_above_correlations_below(
    tmp_path, variants, ranks
):
    figure, panels = draw(write_summary(tmp_path, variants))
    assert [side.get_suptitle() for side in figure.subfigs] == ["Base models", "Chat models"]
    count = len(ranks)
    left, right = panels[: 2 * count - 1], panels[2 * count - 1 :]
    short = shorten_names([*BASES, *CHATS])
    for side, models in ((left, BASES), (right, CHATS)):
        assert [axes.get_title() for axes in side[:count]] == ranks
        # gpt2-xl, of which no chat model was made, is in neither
        names = [name.split("  ")[0].replace(" ", "") for name in list_names(side[0])]
        assert names == [short[model].replace(" ", "") for model in models]
        assert [axes.get_xlabel() for axes in side[count:]] == ranks[1:]
        assert side[count].get_ylabel() == ranks[0]
        assert all(axes.get_title().startswith("r = ") for axes in side[count:])
        assert len(side[count].texts) == len(models)
    ends = [axes.get_window_extent().x1 for axes in left]
    assert max(ends) < min(axes.get_window_extent().x0 for axes in right)
    rows = [axes.get_window_extent() for axes in (left[0], right[0], left[-1], right[-1])]
    assert rows[0].y0 > rows[2].y1 and rows[1].y0 > rows[3].y1


def test_nothing_is_cut_or_overlaps(tmp_path):
    figure, panels = draw(write_summary(tmp_path))
    assert not list_cut(figure)
    check_inside(figure, [figure._suptitle, *(side._suptitle for side in figure.subfigs)])
    check_apart(panels)


def test_the_numbers_are_those_of_both_sides(tmp_path):
    tables, parts = write_summary(tmp_path), {"domain": "econ.GN"}
    drawn = draw_twice(tmp_path, "base-and-chat", tables, parts, chat_pairs=PAIRS)
    assert len(drawn) == 4
    rows = read_delimited(drawn[0], ",")
    assert [row["model"] for row in rows if row["metric"] == "tf"] == [*BASES, *CHATS]
    assert {row["metric"] for row in rows} == {"reference", "tf", "tfidf"}
