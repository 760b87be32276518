"""The page of two runs of one benchmark: each model in both, keywords that moved, what else changed."""

import html
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fathom.config.short_names import shorten_names
from fathom.explorer.page import render_plain
from fathom.io.files import write_text
from fathom.io.names import show_count
from fathom.ranking.paired_runs import BenchmarkChange, KeywordChange, ModelChange, RunChanges, judge_change
from fathom.statistics.aggregates import STATISTICS
from fathom.statistics.bootstrap import Estimate
from fathom.statistics.metrics import BITS, Metric

_KEYWORDS, _SETTINGS, _LONGEST = 12, 200, 60
"""Most keywords in each direction, settings, and letters of a setting's value to show."""
_WIDTH, _EDGE = 240, 10
_KINDS = ("first", "second")
_FIRST = ' id="answer"'
_EXPLAINED = (
    "Bars are 95 % intervals; that of the difference is paired. Models that share a letter, in whichever run,"
    " are not significantly different, all compared together; the verdict follows the letters."
)
_OF_KEYWORDS = "Means over a keyword's pairs (geometric ones of ranks); no keyword was tested by itself."


def write_changes_page(output: Path, changes: RunChanges, runs: tuple[Path, Path]) -> None:
    """Write the page of two runs."""
    first, second = (path.resolve() for path in runs)
    same = first.name == second.name
    plain = [str(path) if same else path.name for path in (first, second)]
    names = [html.escape(name) for name in plain]
    parts = {
        "benchmarks": "\n".join(
            _show_benchmark(each, names, place) for place, each in enumerate(changes.benchmarks)
        ),
        "others": _show_others(changes, names),
    }
    write_text(output, render_plain("changes", f"from {plain[0]} to {plain[1]}", parts))


def form_number(number: float, metric: Metric, sign: bool = False) -> str:
    """Format a number of a metric; empty without one."""
    form = f"{'+' if sign else ''}{'z.2f' if metric is BITS else '.3g'}"
    return "" if math.isnan(number) else format(number, form)


def _show_benchmark(change: BenchmarkChange, names: Sequence[str], place: int) -> str:
    metric, level = change.resampled.metric, 2 if place else 1
    label = html.escape(metric.describe(STATISTICS[change.resampled.aggregate]))
    short = shorten_names(sorted(each.model for each in change.models))
    scale = _Scale.of(change.models, metric)
    rows = "\n".join(_show_model(each, short[each.model], metric, scale) for each in change.models)
    heads = "".join(f'<th scope="col" class="number">{name}</th>' for name in (*names, "difference"))
    samples = [f"{name} {_draw_sample(kind)}" for name, kind in zip(names, _KINDS, strict=True)]
    alone = f"{change.first_only:,} of the first and {change.second_only:,} of the second run alone"
    parts = [
        f"<section{'' if place else _FIRST}>",
        f"<h{level}>{html.escape(change.answer)}.</h{level}>",
        f'<p class="facts">{samples[0]}, {samples[1]}: {label} on'
        f" {show_count(change.pairs, 'pair')} of both runs;"
        f" {alone} do not count.</p>",
        _open_table(f"Models in both runs on {change.domain}, {change.variant}"),
        f'<thead><tr><th scope="col">model</th><th scope="col">{label}{scale.kind}</th>{heads}'
        '<th scope="col">verdict</th></tr></thead>',
        f"<tbody>{rows}</tbody></table></div>",
        f'<p class="facts">{_EXPLAINED}</p>',
        *(_show_keywords(change, each, short[each.model], names) for each in change.models),
        "</section>",
    ]
    return "\n".join(parts)


class _Scale(NamedTuple):
    low: float
    high: float
    is_factor: bool

    @classmethod
    def of(cls, models: Sequence[ModelChange], metric: Metric) -> "_Scale":
        """Return the scale that holds all numbers of a benchmark; 0 is on that of differences."""
        ends = [end for each in models for end in (*each.first, *each.second) if math.isfinite(end)]
        ends += [] if metric.is_factor else [0.0]
        return cls(min(ends, default=1.0), max(ends, default=1.0), metric.is_factor)

    @property
    def kind(self) -> str:
        """Its description."""
        return ", logarithmic" if self.is_factor else ""

    def place(self, number: float) -> float:
        """Return where a number stands in the picture."""
        ends = (self.low, self.high, number)
        low, high, here = map(math.log, ends) if self.is_factor else ends
        return _EDGE + (_WIDTH - 2 * _EDGE) * (here - low) / ((high - low) or 1.0)


def _show_model(change: ModelChange, name: str, metric: Metric, scale: _Scale) -> str:
    gap = change.difference
    ends = [form_number(end, metric, sign=True) for end in (gap.low, gap.high)]
    cells = [
        f"{form_number(change.first.value, metric)} {change.first_letters}",
        f"{form_number(change.second.value, metric)} {change.second_letters}",
        form_number(gap.value, metric, sign=True) + (f" [{ends[0]}, {ends[1]}]" if all(ends) else ""),
    ]
    shown = "".join(f'<td class="number whole">{html.escape(cell)}</td>' for cell in cells)
    verdict = judge_change(change, metric) if change.apart else "not different" if any(gap) else "the same"
    return (
        f'<tr><th scope="row" title="{html.escape(change.model)}">{html.escape(name)}</th>'
        f"<td>{_draw_shift(change.first, change.second, scale)}</td>{shown}"
        f'<td class="whole">{verdict}</td></tr>'
    )


def _draw_shift(first: Estimate, second: Estimate, scale: _Scale) -> str:
    marks = "".join(
        _draw_mark(kind, [scale.place(found.value if math.isnan(each) else each) for each in found], height)
        for kind, found, height in zip(_KINDS, (first, second), (6, 16), strict=True)
        if math.isfinite(found.value)
    )
    zero = "" if scale.is_factor else _draw_zero(scale.place(0))
    return f'<svg class="shift" viewBox="0 0 {_WIDTH} 22" aria-hidden="true">{zero}{marks}</svg>'


def _draw_zero(place: float) -> str:
    return f'<line class="zero" x1="{place:.1f}" x2="{place:.1f}" y1="0" y2="22"/>'


def _draw_mark(kind: str, places: Sequence[float], height: int) -> str:
    """Return a dot on the line of its interval; `places` are those of number, low and high end."""
    dot, low, high = places
    return (
        f'<line class="{kind}" x1="{low:.1f}" x2="{high:.1f}" y1="{height}" y2="{height}"/>'
        f'<circle class="{kind} dot" cx="{dot:.1f}" cy="{height}" r="4"/>'
    )


def _draw_sample(kind: str) -> str:
    mark = _draw_mark(kind, (14, 2, 26), 6)
    return f'<svg class="sample" width="28" height="12" viewBox="0 0 28 12" aria-hidden="true">{mark}</svg>'


def _show_keywords(benchmark: BenchmarkChange, change: ModelChange, name: str, names: Sequence[str]) -> str:
    moved = [each for each in change.keywords if each.first != each.second]
    if not moved:
        return ""
    metric = benchmark.resampled.metric
    heads = "".join(f'<th scope="col" class="number">{each}</th>' for each in ("pairs", *names))
    sides = []
    for what, way, found in (("Lost", -1, moved), ("Gained", 1, moved[::-1])):
        some = [each for each in found if way * metric.sign * (each.second - each.first) > 0][:_KEYWORDS]
        if not some:
            sides.append(f"<div><p>{what} most: no keyword.</p></div>")
            continue
        rows = "".join(_show_keyword(each, metric) for each in some)
        label = f"{what} by {name} on {benchmark.domain}, {benchmark.variant}"
        sides.append(
            f"<div>{_open_table(label)}<caption>{what} most</caption><thead><tr>"
            f'<th scope="col">keyword</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div></div>'
        )
    count = f"{len(moved):,} of {len(change.keywords):,} keywords moved"
    return (
        f"<details><summary><strong>{html.escape(name)}</strong>: {count}</summary>"
        f'<p class="facts">{_OF_KEYWORDS}</p><div class="columns">{"".join(sides)}</div></details>'
    )


def _open_table(label: str, kind: str = "") -> str:
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label)}">'
        f"<table{f' class={kind!r}' if kind else ''}>"
    )


def _show_keyword(change: KeywordChange, metric: Metric) -> str:
    numbers = (f"{change.pairs:,}", form_number(change.first, metric), form_number(change.second, metric))
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return f'<tr><th scope="row">{html.escape(change.keyword)}</th>{cells}</tr>'


def _show_others(changes: RunChanges, names: Sequence[str]) -> str:
    lines = [
        f"<p>Only in {name}: {html.escape('; '.join(alone))}.</p>"
        for name, alone in zip(names, (changes.first_only, changes.second_only), strict=True)
        if alone
    ]
    if not changes.settings:
        return "\n".join([*lines, "<p>No change of settings, input files, packages or models is known.</p>"])
    rows = "".join(
        f'<tr><th scope="row">{html.escape(what)}</th>{_show_value(one)}{_show_value(other)}</tr>'
        for what, one, other in changes.settings[:_SETTINGS]
    )
    heads = "".join(f'<th scope="col">{each}</th>' for each in ("what", *names))
    over = len(changes.settings) - _SETTINGS
    return "\n".join([
        *lines,
        "<p>Settings, input files, packages, and models as they were scored:</p>",
        _open_table("What else changed", "settings"),
        f'<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>',
        *([f"<p>{over:,} more are in changes.json.</p>"] if over > 0 else []),
    ])  # fmt: skip


def _show_value(value: str) -> str:
    line = " ".join(value.split())
    if len(line) <= _LONGEST:
        return f"<td>{html.escape(line)}</td>"
    return f'<td title="{html.escape(line)}">{html.escape(line[:_LONGEST])}…</td>'
