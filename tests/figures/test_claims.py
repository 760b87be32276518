"""Figure of the papers' claims: what stands where, in the colour of its verdict."""

import pytest
from tests.figures.frames import draw_twice

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.claims import VERDICT_SERIES, draw_claims, read_claims
from fathom.figures.style import use_style
from fathom.io.contracts.studies import CLAIM_CORRELATIONS, CLAIMS
from fathom.io.delimited import write_rows

TF, TEXT = ("tf", "rank", "trimmed_mean"), ("text", "perplexity", "mean")


@pytest.fixture
def tables(tmp_path):
    claims = [
        ("cs.AI", "gpt2", "goes with it", "RawCorpora", "says", *TF, "unused", "rho", 0.9, 0.8, 0.95,
         "above 0.7", 5, "holds"),
        ("cs.AI", "gpt2", "attribute rate does not", "RawCorpora", "says", *TEXT, "clozes", "rho",
         0.8, 0.5, 0.9, "below 0.3", 5, "does not"),
        ("cs.AI", "gpt2", "near before far", "RawCorpora", "says", *TF, "", "gain", "", "", "",
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
    return files


def test_claims_stand_right_of_the_line_where_they_hold(tables):
    claims, correlations = read_claims(*tables, "cs.AI")
    with use_style():
        figure = draw_claims(claims, correlations, "Artificial intelligence", Summary())
        figure.draw_without_rendering()
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
    page = figure.bbox
    for text in [figure._suptitle, *left.get_yticklabels(), *right.get_yticklabels()]:
        box = text.get_window_extent()
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and box.y1 <= page.y1
    for label in (left.xaxis.label, right.xaxis.label):
        assert page.x0 <= label.get_window_extent().x0 and label.get_window_extent().x1 <= page.x1
    right_edge = left.get_window_extent().x1
    assert all(label.get_window_extent().x0 > right_edge for label in right.get_yticklabels())


def test_files_are_written_and_unknown_domains_refused(tables, tmp_path):
    named = dict(zip(("claims", "correlations"), tables, strict=True))
    (numbers,) = draw_twice(tmp_path, "claims", named, {"domain": "cs.AI"}, title="AI")
    assert numbers.read_text() == tables[0].read_text()
    with pytest.raises(InputError, match="unknown domain 'law'"):
        read_claims(*tables, "law")
