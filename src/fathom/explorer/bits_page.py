"""The page of models on a text: bits per byte with intervals, words and passages in which they differ."""

import html
import math
from collections.abc import Sequence
from pathlib import Path

from fathom.explorer.page import render_plain
from fathom.io.files import write_text
from fathom.io.names import show_count
from fathom.scoring.text_bits import Comparison, Passage, Word, find_passages, find_words, list_passages
from fathom.statistics.bootstrap import Estimate

_WORDS, _PASSAGES = 25, 8
"""Number of items to show in each direction."""
_FULL = 6.0
"""Bits of a word from which its colour is full."""
_DIGITS = ".4f"
_LEAST, _MANY = 0.05, 9.95
"""Bits from which a word is listed: fewer would show as 0.0; and from which they have no decimals."""


def write_bits_page(output: Path, comparison: Comparison, notes: Sequence[str]) -> None:
    """Write the page of a comparison; `notes` is what was read and left out."""
    parts = {
        "answer": html.escape(comparison.answer),
        "facts": html.escape(" ".join(f"{line}." for line in (comparison.extent, *notes))),
        "rows": "\n".join(_show_model(comparison, model) for model in comparison.order),
        "others": "\n".join(
            _show_other(comparison, other, place == 0) for place, other in enumerate(comparison.order[1:])
        ),
    }
    title = f"bits per byte, {', '.join(comparison.order)}"
    write_text(output, render_plain("bits", title, parts))


def _show_model(comparison: Comparison, model: str) -> str:
    ends = [end for each in comparison.order for end in comparison.estimate(each) if not math.isnan(end)]
    best = comparison.order[0]
    gap = next((each for each in comparison.differences if (each.better, each.worse) == (best, model)), None)
    own = comparison.estimate(model)
    more = f"{gap.value:{_DIGITS}} {_show_interval(gap.low, gap.high)}" if gap else ""
    cells = [f"{own.value:{_DIGITS}} {_show_interval(own.low, own.high)}", more, comparison.letters[model]]
    shown = "".join(f'<td class="number whole">{html.escape(cell)}</td>' for cell in cells[:2])
    return (
        f'<tr><th scope="row">{html.escape(model)}</th>{shown}<td>{cells[2]}</td>'
        f"<td>{_draw_interval(own, (min(ends), max(ends)))}</td></tr>"
    )


def _show_interval(low: float, high: float) -> str:
    return f"[{low:{_DIGITS}}, {high:{_DIGITS}}]" if not math.isnan(low) else ""


def _draw_interval(found: Estimate, scale: tuple[float, float]) -> str:
    low, high = scale
    width = (high - low) or 1.0
    known = [found.value if math.isnan(each) else each for each in (found.low, found.value, found.high)]
    places = [10 + 220 * (each - low) / width for each in known]
    return (
        '<svg class="interval" viewBox="0 0 240 16" aria-hidden="true">'
        f'<line x1="{places[0]:.1f}" x2="{places[2]:.1f}" y1="8" y2="8"/>'
        f'<circle cx="{places[1]:.1f}" cy="8" r="5"/></svg>'
    )


def _show_other(comparison: Comparison, other: str, is_open: bool) -> str:
    best = comparison.order[0]
    found = list_passages(comparison, other)
    words, passages = find_words(found), find_passages(found)
    sides = []
    for model, sign in ((best, 1), (other, -1)):
        name = html.escape(model)
        some = sorted(words, key=lambda each: -sign * each.bits)[:_WORDS]
        here = sorted(passages, key=lambda each: -sign * each.bits)[:_PASSAGES]
        listed = "".join(_show_word(each) for each in some if sign * each.bits >= _LEAST)
        shown = "".join(_show_passage(each) for each in here if sign * each.bits > 0)
        sides.append(
            f'<div><h3>{name} predicts better</h3><ul class="chips">{listed or "<li>no word</li>"}</ul>'
            f"{shown or '<p>No passage.</p>'}</div>"
        )
    gap = comparison.estimate(other).value - comparison.estimate(best).value
    return (
        f"<details{' open' if is_open else ''}><summary><strong>{html.escape(other)}</strong> against"
        f" {html.escape(best)}: {gap:{_DIGITS}} more bits per byte</summary>"
        f'<div class="columns">{"".join(sides)}</div></details>'
    )


def _show_word(word: Word) -> str:
    uses, digits = show_count(word.uses, "use"), 0 if abs(word.bits) >= _MANY else 1
    return f'<li title="{uses}">{html.escape(word.word)} <small>{word.bits:+,.{digits}f}</small></li>'


def _show_passage(passage: Passage) -> str:
    spans = []
    for word, bits in passage.words:
        share = min(abs(bits) / _FULL, 1.0)
        kind = "best" if bits > 0 else "other"
        stripped = word.lstrip()
        blank = " " if stripped != word else ""
        spans.append(
            f'{blank}<span class="{kind}" style="--share:{share:.2f}" title="{bits:+.1f} bits">'
            f"{html.escape(stripped)}</span>"
        )
    where = html.escape(f"{passage.doc_id}, from character {passage.start:,}")
    return (
        f'<figure class="passage"><p>{"".join(spans).strip()}</p>'
        f"<figcaption>{passage.bits:+,.0f} bits; {where}</figcaption></figure>"
    )
