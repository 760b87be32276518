"""Figure of the papers' claims: what stands where, in the colour of its verdict."""

import pytest
from tests.figures.frames import check_inside, draw_one, draw_twice

from fathom.errors import InputError
from fathom.figures.study_figures import VERDICT_SERIES
from fathom.io.contracts.studies import CLAIM_CORRELATIONS, CLAIMS
from fathom.io.delimited import write_rows

TF, TEXT = ("tf", "rank", "trimmed_mean"), ("text", "perplexity", "mean")


@pytest.fixture
def tables(tmp_path):
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


def test_claims_stand_right_of_the_line_where_they_hold(tables):
    figure = draw_one("claims", tables, {"domain": "cs.AI"}, title="Artificial intelligence")
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


def test_files_are_written_and_unknown_domains_refused(tables, tmp_path):
    (numbers,) = draw_twice(tmp_path, "claims", tables, {"domain": "cs.AI"}, title="AI")
    assert numbers.read_text() == tables["claims"].read_text()
    with pytest.raises(InputError, match="unknown domain 'law'"):
        draw_one("claims", tables, {"domain": "law"})
