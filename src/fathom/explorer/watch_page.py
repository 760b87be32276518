"""The page of a watch: its answer, the metrics over the training, each keyword; rewritten after each look."""

import base64
import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fathom.config.scoring import Summary
from fathom.explorer.page import render_plain
from fathom.figures.following_figures import draw_track
from fathom.figures.style import save_figure, use_style
from fathom.io.contracts.studies import FOLLOWING
from fathom.io.files import write_text
from fathom.io.tables import read_table
from fathom.studies.watching import FORGOTTEN, LEARNED, TRACK, Watch, describe_change, describe_look

PAGE, FIGURE = "index.html", "watch.png"
_SECONDS = 30
"""Seconds after which a browser reloads the page."""
_EXPLAINED = (
    "Change of {what} of a keyword's targets since {base}. p is for all keywords and all looks together: "
    "while nothing changes, at most 5 % of watches name any keyword, however long they last. A keyword is "
    "named if two looks in a row agree, and if it has several different targets. Below it stand its pairs."
)
_LISTED = 20
"""Most pairs to show of a named keyword, the most changed ones."""
_ENDING = 90
"""Number of last letters of a prompt to show."""


def write_watch_page(watch: Watch) -> None:
    """Write the page and the figure of a watch that has at least one look."""
    figure = watch.output / FIGURE
    table = read_table(watch.output / TRACK, FOLLOWING)
    with use_style():
        save_figure(draw_track(table, watch.title, Summary()), None, figure)
    keywords, rows = watch.list_keywords(), watch.rows
    noise, metric = rows[-1]["noise"], watch.plan.metric
    unit = metric.unit
    facts = [change] if (change := describe_change(rows, metric)) else []
    facts.append(f"{len(rows)} checkpoints, compared with {watch.base}")
    if noise is not None:
        facts.append(f"the noise of a step moves a keyword by {noise:.2g} {unit} (standard deviation)")
    facts.append(watch.plan.describe())
    answer = describe_look(rows, watch.plan)
    parts = {
        "answer": html.escape(answer),
        "facts": html.escape("; ".join([facts[0][0].upper() + facts[0][1:], *facts[1:]]) + "."),
        "alt": html.escape(f"Knowledge, ranks and log-probability over the training. {answer}"),
        "figure": base64.b64encode(figure.read_bytes()).decode("ascii"),
        "unit": html.escape(unit),
        "explained": html.escape(_EXPLAINED.format(what=f"the mean {metric.label}", base=watch.base)),
        "rows": "\n".join(_list_keyword(watch, row) for row in keywords),
        "looks": _list_rows(_show_look(row) for row in reversed(rows)),
    }
    text = render_plain("watch", watch.output.name, parts, _SECONDS)
    write_text(watch.output / PAGE, text)


def _list_rows(rows: Iterable[Sequence[str]]) -> str:
    lines = []
    for row in rows:
        cells = [
            f'<td class="text {cell}">{html.escape(cell)}</td>' if cell in (LEARNED, FORGOTTEN)
            else f"<td>{html.escape(cell)}</td>"
            for cell in row
        ]  # fmt: skip
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(lines)


def _list_keyword(watch: Watch, row: Mapping[str, Any]) -> str:
    own = _list_rows([_show_keyword(row)])
    if not row["verdict"]:
        return own
    pairs = watch.list_pairs(row["keyword"])
    shown = _list_rows(_show_pair(pair) for pair in pairs[:_LISTED])
    more = f", the {_LISTED} most changed" if len(pairs) > _LISTED else ""
    heads = f"<tr><th>pair</th><th>at {html.escape(watch.base)}</th><th>now</th><th>change</th></tr>"
    return (
        f'{own}\n<tr><td colspan="8" class="text"><details><summary>its {len(pairs)} pairs{more}</summary>'
        f"<table><thead>{heads}</thead><tbody>{shown}</tbody></table></details></td></tr>"
    )


def _show_pair(pair: Mapping[str, Any]) -> list[str]:
    prompt = pair["prompt"]
    start = f"… {prompt[-_ENDING:]}" if len(prompt) > _ENDING else prompt
    text = f"{start} →{pair['target']}"
    return [
        text,
        *(_show(pair[name], form) for name, form in (("first", ".2f"), ("last", ".2f"), ("change", "+.2f"))),
    ]


def _show_keyword(row: Mapping[str, Any]) -> list[str]:
    numbers = (_show(row["change"], "+.2f"), _show(row["error"], ".2f"), _show(row["p_adjusted"], ".2g"))
    counts = (f"{row[name]:,}" for name in ("sentences", "targets"))
    return [row["keyword"], *counts, *numbers, row["verdict"], row["since"]]


def _show_look(row: Mapping[str, Any]) -> list[str]:
    bits = "" if row["bits"] is None else f"{row['bits']:.2f}"
    ranks = (f"{row['geometric_mean_rank']:,.1f}", f"{row['log_probability']:.3f}")
    numbers = (bits, *ranks, f"{row['change']:+.3f}")
    return [row["checkpoint"], *numbers, str(len(row[FORGOTTEN])), str(len(row[LEARNED]))]


def _show(number: float, form: str) -> str:
    return "" if math.isnan(number) else format(number, form)
