"""The figure of chat models less their bases: signs, panels, and that nothing is cut."""

import itertools
from pathlib import Path

import pytest
from tests.figures.frames import check_apart, check_inside, draw_one, draw_twice, list_cut, list_names
from tests.tables import read_delimited

from fathom.config.short_names import shorten_names
from fathom.errors import InputError
from fathom.figures.chat_models import read_taxes
from fathom.io.contracts.figures import CHAT_MODELS
from fathom.io.contracts.statistics import COMPARISONS, SUMMARY
from fathom.io.delimited import write_rows
from fathom.statistics.aggregates import STATISTICS

PAIRS = [
    ("Qwen2-1.5B-Instruct", "Qwen2-1.5B", "qwen2"),
    ("Llama-3.1-8B-Instruct@chat", "Llama-3.1-8B", "llama-3"),
]


@pytest.fixture
def comparisons(tmp_path):
    (first, base, _), (second, other, _) = PAIRS
    rows = []
    for domain, variant in itertools.product(("cs.AI", "law"), ("tf", "tfidf")):
        for aggregate in ("trimmed_mean", "geometric_mean"):
            told = (domain, variant, "rank", aggregate)
            rows.append((*told, base, first, 40, 10, 70, 0.01, 0.02, "yes", 9))  # the chat model is worse
            rows.append((*told, second, other, 5, -20, 30, 0.6, 1, "no", 9))  # the chat model is better
            rows.append((*told, second, base, 90, 50, 120, 0.001, 0.002, "yes", 9))  # no pair
        rows.append(
            (domain, variant, "probability", "trimmed_mean", base, first, 1, 0, 2, 0.01, 0.02, "yes", 9)
        )
    write_rows(tmp_path / "comparisons.csv", rows, COMPARISONS, COMPARISONS.names[:-1])
    return tmp_path / "comparisons.csv"


def test_a_chat_model_that_is_worse_stands_above_0(comparisons, tmp_path):
    taxes = read_taxes(comparisons, PAIRS)
    assert len(taxes) == 2 * 2 * 2 * 2
    for (chat, *_), ends in zip(PAIRS, ((40, 10, 70), (-5, -30, 20)), strict=True):
        found = {(tax["difference"], tax["ci_low"], tax["ci_high"]) for tax in taxes if tax["chat"] == chat}
        assert found == {ends}
    told = {"titles": {"law": "Law", "cs.AI": "AI"}, "chat_pairs": PAIRS}
    (numbers,) = draw_twice(tmp_path, "chat-models", {"comparisons": comparisons}, {}, **told)
    rows = read_delimited(numbers, ",", CHAT_MODELS.names)
    assert {(row["chat"], row["difference"]) for row in rows} == {(PAIRS[0][0], "40"), (PAIRS[1][0], "-5")}


def test_a_reference_is_called_by_its_name(tmp_path):
    ((chat, base, _), _) = PAIRS
    told = ("law", "reference", "rank", "trimmed_mean")
    row = (*told, base, chat, 40, 10, 70, 0.01, 0.02, "yes", 9)
    write_rows(tmp_path / "comparisons.csv", [row], COMPARISONS, COMPARISONS.names[:-1])
    named = {"chat_pairs": PAIRS, "references": [("reference", "claude")]}
    (axes,) = draw_one("chat-models", {"comparisons": tmp_path / "comparisons.csv"}, {}, **named).axes
    assert axes.get_title() == "claude: 9 pairs"


def test_each_benchmark_has_a_panel_and_each_domain_a_mark(comparisons):
    told = {"titles": {"law": "Law", "cs.AI": "AI"}, "chat_pairs": PAIRS}
    figure = draw_one("chat-models", {"comparisons": comparisons}, {}, **told)
    assert [axes.get_title() for axes in figure.axes] == ["TF: 9 pairs", "TF-IDF: 9 pairs"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Law", "AI"]
    for axes in figure.axes:
        llama = "Llama-3.1-8B-Instruct (chattemplate)− Llama-3.1-8B"  # a line break stands for the space
        assert list_names(axes) == ["Qwen2-1.5B-Instruct− Qwen2-1.5B", llama]
        law, ai = (line for line in axes.lines if line.get_marker() not in ("None", ""))
        assert list(law.get_ydata()) == list(ai.get_ydata()) == [40, -5]
        pairs = zip(law.get_xdata(), ai.get_xdata(), strict=True)
        assert all(place - 0.5 < left < right < place + 0.5 for place, (left, right) in enumerate(pairs))
        assert axes.get_ylim()[0] < -20 and axes.get_ylim()[1] > 70
    assert figure.get_supylabel().endswith("above 0: worse)\nWhiskers: 95 % intervals")


@pytest.mark.parametrize("count", [3, 8, 16])
def test_names_of_many_pairs_are_not_cut(count, tmp_path):
    pairs = [(f"Mistral-7B-Instruct-v0.{n}@chat", f"Mistral-7B-v0.{n}", "mistral") for n in range(count)]
    domains = {f"q-bio.{n}": f"Populations and Evolution {n}" for n in range(4)}
    rows = [
        (domain, variant, "rank", "trimmed_mean", base, chat, 9, 2, 20, 0.01, 0.02, "yes", 9)
        for domain, variant, (chat, base, _) in itertools.product(domains, ("tf", "tfidf"), pairs)
    ]
    write_rows(tmp_path / "comparisons.csv", rows, COMPARISONS, COMPARISONS.names[:-1])
    tables = {"comparisons": tmp_path / "comparisons.csv"}
    figure = draw_one("chat-models", tables, {}, titles=domains, chat_pairs=pairs)
    assert all(len(list_names(axes)) == count for axes in figure.axes)
    check_inside(figure, [*figure.legends[0].get_texts(), figure._supylabel])
    check_apart(figure.axes)
    assert not list_cut(figure)


def test_models_that_are_not_compared_are_refused(comparisons):
    with pytest.raises(InputError, match="no chat model is compared with its base"):
        read_taxes(comparisons, [("gpt2", "gpt2-xl", "gpt2")])


CHAT_PAIRS = [
    ("Llama-2-7b-chat", "Llama-2-7b", "llama"),
    ("Mistral-7B-Instruct-v0.3", "Mistral-7B-v0.3", "mistral"),
    ("OLMo-2-1124-7B-Instruct", "OLMo-2-1124-7B", "olmo2"),
    ("OLMo-2-1124-7B-Instruct@chat", "OLMo-2-1124-7B", "olmo2"),
]
BASES = ["Llama-2-7b", "Mistral-7B-v0.3", "OLMo-2-1124-7B"]
CHATS = [chat for chat, _, _ in CHAT_PAIRS]
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
    figure = draw_one("base-and-chat", tables, PARTS, title="Econ-GN", chat_pairs=CHAT_PAIRS)
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
    assert [side.get_suptitle() for side in figure.subfigs] == ["3 base models", "4 chat models"]
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
    drawn = draw_twice(tmp_path, "base-and-chat", tables, parts, chat_pairs=CHAT_PAIRS)
    assert len(drawn) == 4
    rows = read_delimited(drawn[0], ",")
    assert [row["model"] for row in rows if row["metric"] == "tf"] == [*BASES, *CHATS]
    assert {row["metric"] for row in rows} == {"reference", "tf", "tfidf"}
