"""Corpora with several t_c, against an expansion with each; the program and its figure."""

import json

import numpy as np
import pytest
from tests.coverage.conftest import SETTINGS
from tests.figures.frames import draw_twice
from tests.programs import MODELS, run_program

from fathom.coverage.correlations_varied import vary_correlation
from fathom.coverage.expanded_corpus import RoundFolder, gather_corpus
from fathom.coverage.sets import Slices, read_space
from fathom.errors import InputError
from fathom.figures.coverage_figures import draw_correlations
from fathom.figures.style import use_style
from fathom.io.contracts.coverage import CORRELATIONS_VARIED
from fathom.io.delimited import read_rows, write_rows

_TRIED = SETTINGS.model_copy(
    update={"bandwidth": 3.0,
            "ablation": SETTINGS.ablation.model_copy(update={"max_correlation": [1.0, -1.0]})},
)  # fmt: skip


@pytest.fixture(scope="module")
def written(project, tmp_path_factory):
    """Return the rows that the program writes."""
    path = tmp_path_factory.mktemp("ablation") / "correlations.csv"
    run_program(
        "vary_correlation", "--sentences", *project.sentences, "--embeddings", *project.embeddings,
        "--index", project.index, "--domain", "d",
        "--settings", json.dumps({"coverage": _TRIED.model_dump()}),
        "--thresholds", path, imports=MODELS,
    )  # fmt: skip
    return read_rows(path, CORRELATIONS_VARIED)


def test_each_threshold_gives_the_corpus_of_its_expansion(project, written, tmp_path):
    space = read_space(Slices(project.sentences, project.embeddings), project.index, "d", _TRIED)
    rows = [dict(zip(CORRELATIONS_VARIED.names, row, strict=True)) for row in vary_correlation(space, _TRIED)]
    assert [row["max_correlation"] for row in rows] == [-1.0, SETTINGS.max_correlation, 1.0]
    alone = gather_corpus(space, _TRIED, RoundFolder(tmp_path, "key")).report
    middle = rows[1]
    assert middle["documents"] == alone["corpus"]["documents"]
    assert middle["coverage"] == alone["corpus"]["coverage"]
    assert middle["redundancy"] == alone["redundancy"]["corpus"]
    assert middle["redundancy_removed"] == pytest.approx(
        1 - alone["redundancy"]["corpus"] / alone["redundancy"]["domain"]
    )
    assert rows[0]["documents"] == 1  # nothing correlates less than -1: the first one stays alone
    sizes = [row["sentences"] for row in rows]
    assert sizes == sorted(sizes) and sizes[0] < sizes[1]
    told = [float(row["coverage_at_random"]) for row in written]
    assert told == pytest.approx([row["coverage_at_random"] for row in rows], rel=1e-5)
    assert np.all(np.array(told) > 0)


def test_the_figure_shows_each_threshold(written, tmp_path):
    with use_style():
        figure = draw_correlations(written, "A_$domain")
    first = figure.axes[0].lines[0]
    assert list(first.get_xdata()) == [-1.0, 0.05, 1.0]
    assert list(first.get_ydata()) == [100 * float(row["share_of_sentences"]) for row in written]
    assert len(figure.axes) == 3
    ends = written[0]["sentences"], written[-1]["sentences"]
    assert f"n: {ends[0]:,} to {ends[1]:,} sentences, 1 to " in figure.get_suptitle()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        *("sentences", "documents", "this corpus", "at random")
    ]
    path = tmp_path / "t.csv"
    write_rows(path, [tuple(row.values()) for row in written], CORRELATIONS_VARIED)
    (numbers,) = draw_twice(tmp_path, "thresholds", {"thresholds": path}, {"domain": "a"}, title="Domain")
    assert numbers.read_bytes() == path.read_bytes()
    write_rows(path, [], CORRELATIONS_VARIED)
    with pytest.raises(InputError, match="no thresholds to draw"):
        draw_twice(tmp_path, "thresholds", {"thresholds": path}, {"domain": "a"})
