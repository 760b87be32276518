"""The figure of chat models less their bases: signs, panels, and that nothing is cut."""

import itertools

import pytest
from tests.figures.frames import draw_one, draw_twice, list_cut
from tests.tables import read_delimited

from fathom.errors import InputError
from fathom.figures.chat_models import read_taxes
from fathom.io.contracts.figures import CHAT_MODELS
from fathom.io.contracts.statistics import COMPARISONS
from fathom.io.delimited import write_rows

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


def test_a_chat_model_that_is_worse_stands_right_of_0(comparisons, tmp_path):
    taxes = read_taxes(comparisons, PAIRS)
    assert len(taxes) == 2 * 2 * 2 * 2
    for (chat, *_), ends in zip(PAIRS, ((40, 10, 70), (-5, -30, 20)), strict=True):
        found = {(tax["difference"], tax["ci_low"], tax["ci_high"]) for tax in taxes if tax["chat"] == chat}
        assert found == {ends}
    told = {"titles": {"law": "Law", "cs.AI": "AI"}, "chat_pairs": PAIRS}
    (numbers,) = draw_twice(tmp_path, "chat-models", {"comparisons": comparisons}, {}, **told)
    rows = read_delimited(numbers, ",", CHAT_MODELS.names)
    assert {(row["chat"], row["difference"]) for row in rows} == {
        (PAIRS[0][0], "40"),
        (PAIRS[1][0], "-5"),
    }


def test_each_domain_has_a_panel_and_nothing_is_cut(comparisons):
    told = {"titles": {"law": "Law", "cs.AI": "AI"}, "chat_pairs": PAIRS}
    figure = draw_one("chat-models", {"comparisons": comparisons}, {}, **told)
    assert [axes.get_title() for axes in figure.axes] == ["Law", "AI"]
    lines = [line for axes in figure.axes for line in axes.lines if len(line.get_xdata()) == len(PAIRS)]
    assert {tuple(line.get_xdata()) for line in lines if line.get_marker() in ("o", "s")} == {(40, -5)}
    assert list_cut(figure) == []


def test_models_that_are_not_compared_are_refused(comparisons):
    with pytest.raises(InputError, match="no chat model is compared with its base"):
        read_taxes(comparisons, [("gpt2", "gpt2-xl", "gpt2")])
