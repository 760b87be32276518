"""What t_c does to a corpus: size, coverage and redundancy against corpora at random [CompComp, Sec. 5.5]."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.errors import InputError
from fathom.figures.style import clean_name, make_figure, save_figure, use_style, wrap_name
from fathom.io.files import write_delimited

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

Row = Mapping[str, str]


def plot_correlations(rows: Sequence[Row], title: str, files: tuple[Path, Path, Path]) -> None:
    """Draw and save what t_c does to a corpus, and write the numbers.

    Parameters
    ----------
    rows : sequence of mapping
        Under CORRELATION_COLUMNS.
    title : str
        Name of the domain.
    files : tuple of Path
        PDF, PNG, and CSV with the numbers.

    Raises
    ------
    InputError
        If there is no row.
    """
    if not rows:
        raise InputError("there are no thresholds to draw", title, "set coverage.ablation.max_correlation")
    pdf, png, numbers = files
    with use_style():
        save_figure(draw_correlations(rows, title), pdf, png)
    write_delimited(numbers, tuple(rows[0]), [tuple(row.values()) for row in rows], ",")


def draw_correlations(rows: Sequence[Row], title: str) -> "Figure":
    """Draw a panel for each kind of number; call it inside `use_style`."""
    figure = make_figure(3.2 * len(_PANELS), 3.4)
    figure.suptitle(wrap_name(clean_name(title), 70))
    most = [float(row["max_correlation"]) for row in rows]
    for axes, (name, lines) in zip(figure.subplots(1, len(_PANELS)), _PANELS, strict=True):
        for (column, label), (color, marker, line) in zip(lines, _LOOKS, strict=True):
            values = [100 * float(row[column] or "nan") for row in rows]
            axes.plot(most, values, color=color, marker=marker, linestyle=line, label=label)
        axes.set_title(name)
        axes.set_xlabel("t_c: documents join below this")
        axes.set_ylim(bottom=0)
        axes.legend()
    return figure
