"""The figure of models by size: what stands where, and that nothing is cut."""

import itertools
from dataclasses import astuple

import pytest
from matplotlib.text import Text
from tests.figures.frames import draw_twice, list_cut
from tests.tables import read_delimited

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.model_ranks import ModelRanks, Rank
from fathom.figures.sizes import draw_sizes, format_count, join_sizes, read_size
from fathom.figures.style import use_style
from fathom.io.contracts.figures import MODEL_SIZES
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import write_rows

ROWS = [
    ("gpt2", "gpt2", "base", 124e6, 0), ("gpt2-xl", "gpt2", "base", 1.56e9, 0),
    ("Qwen2-1.5B", "qwen2", "base", 1.54e9, 7e12), ("Qwen2-1.5B-Instruct", "qwen2", "chat", 1.54e9, 7e12),
    ("Llama-3.1-8B", "llama-3", "base", 8.03e9, 15e12), ("OLMo-2-1124-7B", "", "base", 7.3e9, 4e12),
]  # fmt: skip
RANKS = (900, 400, 210, 260, 80, 110)


@pytest.fixture
def models():
    ranks = [
        ModelRanks(row[0], {"tf": Rank(rank, 0.8 * rank, 1.3 * rank, 500)})
        for row, rank in zip(ROWS, RANKS, strict=True)
    ]
    strangers = [ModelRanks("unknown", {"tf": Rank(1, 1, 1, 500)})]
    return join_sizes([*ranks, *strangers], [read_size(row) for row in ROWS])


def test_models_stand_over_their_size_and_unknown_tokens_are_left_out(models):
    assert [each.size.parameters for each in models] == sorted(row[3] for row in ROWS)
    with use_style():
        figure = draw_sizes(models, "Law", Summary())
        figure.draw_without_rendering()
    parameters, tokens, names = figure.axes
    drawn = [
        {(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1}
        for axes in (parameters, tokens)
    ]
    assert drawn[0] == {(row[3], rank) for row, rank in zip(ROWS, RANKS, strict=True)}
    assert drawn[1] == {(row[4], rank) for row, rank in zip(ROWS, RANKS, strict=True) if row[4]}
    assert [label.get_text() for label in tokens.get_xticklabels()] == ["5T", "10T", "20T"]
    assert names.texts[0].get_text().startswith("1  gpt2\n2  Qwen2-1.5B")
    assert list_cut(figure) == []
    labels = {parameters.get_xlabel(), tokens.get_xlabel()}
    assert labels == {"Parameters, log axis", "Training tokens, log axis"}


@pytest.mark.parametrize(
    "parameters", [(2.55e6, 2.6e6, 2.62e6), (1.02e9, 1.1e9, 1.2e9), (8.2e9, 8.4e9, 9e9), (14e6, 160e6, 70e9)]
)
def test_two_sizes_are_named_at_least_and_numbers_leave_whiskers_free(parameters):
    ranks = [
        ModelRanks(f"m{place}", {"tf": Rank(100 + place, 60, 150, 9)}) for place in range(len(parameters))
    ]
    sizes = [read_size((f"m{place}", "f", "base", size, 0)) for place, size in enumerate(parameters)]
    with use_style():
        figure = draw_sizes(join_sizes(ranks, sizes), "Law", Summary())
        figure.draw_without_rendering()
    axes, _ = figure.axes
    low, high = axes.get_xlim()
    named = [place for place in axes.get_xticks() if low <= place <= high]
    labels = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert len(named) >= 2 and all(left.x1 < right.x0 for left, right in itertools.pairwise(labels))
    columns = [axes.transData.transform((each.parameters, 100))[0] for each in sizes]
    for text in axes.texts:
        box = Text.get_window_extent(text)
        assert not any(box.x0 < column < box.x1 for column in columns)


def test_numbers_are_beside_the_figure_and_the_same_again(models, tmp_path):
    rows = [("law", "tf", each.size.model, "rank", "trimmed_mean", *astuple(each.rank)) for each in models]
    write_rows(tmp_path / "summary.csv", rows, SUMMARY)
    sizes = [(*each.size[:4], each.size.tokens or 0) for each in models]
    (numbers,) = draw_twice(
        tmp_path, "sizes", {"summary": tmp_path / "summary.csv"}, {"domain": "law"}, sizes=sizes
    )
    rows = read_delimited(numbers, ",", MODEL_SIZES.names)
    assert rows[0] == dict(
        zip(
            MODEL_SIZES.names,
            ("gpt2", "gpt2", "base", "124000000", "", "900", "720", "1170", "500"),
            strict=True,
        )
    )


@pytest.mark.parametrize("row", [("a", "f", "base", 1, -1), ("a", "f", "base", 0, 0)])
def test_a_wrong_size_is_refused(row):
    with pytest.raises(InputError, match="parameters"):
        read_size(row)


def test_one_model_is_too_few(models):
    with pytest.raises(InputError, match="fewer than two models"):
        join_sizes([ModelRanks("gpt2", {"tf": Rank(1, 1, 1, 9)})], [each.size for each in models])


def test_counts_are_short():
    assert [format_count(n) for n in (124e6, 1.5e12, 2e9, 800)] == ["124M", "1.5T", "2B", "800"]
