"""What t_c does to a corpus: size, coverage and redundancy against corpora at random [CompComp, Sec. 5.5]."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.style import clean_name, make_figure, wrap_name
from fathom.io.contracts.coverage import CORRELATIONS_VARIED
from fathom.io.delimited import Row, read_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS = (
    ("Share that is kept (%)", (("share_of_sentences", "sentences"), ("share_of_documents", "documents"))),
    ("Share of sentences covered (%)", (("coverage", "this corpus"), ("coverage_at_random", "at random"))),
    (
        "Share of pairs alike (redundancy, %)",
        (("redundancy", "this corpus"), ("redundancy_at_random", "at random")),
    ),
)
_LOOKS = (("#0072B2", "o", "-"), ("#E69F00", "s", "--"))


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw what t_c does to the corpus of a domain."""
    rows = read_rows(inputs["thresholds"], CORRELATIONS_VARIED)
    if not rows:
        where, hint = str(inputs["thresholds"]), "set coverage.ablation.max_correlation"
        raise InputError("there are no thresholds to draw", where, hint)
    return draw_correlations(rows, settings.title or parts["domain"]), (CORRELATIONS_VARIED, rows)


def draw_correlations(rows: Sequence[Row], title: str) -> "Figure":
    """Draw a panel for each kind of number; call it inside `use_style`."""
    figure = make_figure(3.2 * len(_PANELS), 3.4)
    figure.suptitle(wrap_name(clean_name(title), 70))
    most = [row["max_correlation"] for row in rows]
    for axes, (name, lines) in zip(figure.subplots(1, len(_PANELS)), _PANELS, strict=True):
        for (column, label), (color, marker, line) in zip(lines, _LOOKS, strict=True):
            values = [100 * row[column] for row in rows]
            axes.plot(most, values, color=color, marker=marker, linestyle=line, label=label, clip_on=False)
        axes.set_title(name)
        axes.set_xlabel("t_c: documents join below this")
        axes.set_ylim(bottom=0)
        axes.legend()
    return figure
