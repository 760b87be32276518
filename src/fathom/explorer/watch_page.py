"""The page of a watch: its answer, the metrics over the training, each keyword; rewritten after each look."""

import base64
import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fathom.config.scoring import Summary
from fathom.explorer.page import ASSETS
from fathom.figures.following import draw_track
from fathom.figures.style import save_figure, use_style
from fathom.io.contracts.studies import FOLLOWING
from fathom.io.files import write_text
from fathom.io.tables import read_table
from fathom.studies.watching import FORGOTTEN, LEARNED, TRACK, Watch, describe_look

PAGE, FIGURE = "index.html", "watch.png"
_TEMPLATE = "watch.html"
_EXPLAINED = (
    "Change of the mean log-probability of a keyword's targets since the first checkpoint. p is for all "
    "keywords and all looks together: while nothing changes, at most 5 % of watches name any keyword, "
    "however long they last. A keyword is named if two looks in a row agree."
)


def write_watch_page(watch: Watch) -> None:
    """Write the page and the figure of a watch that has at least one look."""
    figure = watch.output / FIGURE
    table = read_table(watch.output / TRACK, FOLLOWING)
    with use_style():
        save_figure(draw_track(table, watch.title, Summary()), None, figure)
    keywords, rows = watch.list_keywords(), watch.rows
    noise = rows[-1]["noise"]
    facts = [f"{len(rows)} checkpoints", f"{rows[-1]['pairs']:,} pairs", f"{len(keywords)} keywords"]
    if noise is not None:
        facts.append(f"the noise of a step moves a keyword by {noise:.2g} nats (standard deviation)")
    answer = describe_look(rows, len(keywords))
    parts = {
        "title": html.escape(f"Fathom: {watch.output.name}"),
        "answer": html.escape(answer),
        "facts": html.escape("; ".join(facts) + "."),
        "alt": html.escape(f"Ranks and log-probability over the training. {answer}"),
        "figure": base64.b64encode(figure.read_bytes()).decode("ascii"),
        "explained": html.escape(_EXPLAINED),
        "rows": _list_rows(_show_keyword(row) for row in keywords),
        "looks": _list_rows(_show_look(row) for row in reversed(rows)),
    }
    # split once, so that nothing in the data is taken for a place of the template
    pieces = (ASSETS / _TEMPLATE).read_text(encoding="utf-8").split("%%")
    filled = "".join(parts[piece] if place % 2 else piece for place, piece in enumerate(pieces))
    write_text(watch.output / PAGE, filled)


def _list_rows(rows: Iterable[Sequence[str]]) -> str:
    """Return rows of cells as HTML; a verdict has its colour, text stands on the left."""
    lines = []
    for row in rows:
        cells = [
            f'<td class="text {cell}">{html.escape(cell)}</td>' if cell in (LEARNED, FORGOTTEN)
            else f"<td>{html.escape(cell)}</td>"
            for cell in row
        ]  # fmt: skip
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(lines)


def _show_keyword(row: Mapping[str, Any]) -> list[str]:
    numbers = (_show(row["change"], "+.2f"), _show(row["error"], ".2f"), _show(row["p_adjusted"], ".2g"))
    return [row["keyword"], f"{row['sentences']:,}", *numbers, row["verdict"], row["since"]]


def _show_look(row: Mapping[str, Any]) -> list[str]:
    numbers = (f"{row['geometric_mean_rank']:,.1f}", f"{row['log_probability']:.3f}", f"{row['change']:+.3f}")
    return [row["checkpoint"], *numbers, str(len(row[FORGOTTEN])), str(len(row[LEARNED]))]


def _show(number: float, form: str) -> str:
    """Return a number, or nothing where there is none."""
    return "" if math.isnan(number) else format(number, form)
