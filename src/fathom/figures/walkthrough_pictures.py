"""Small pictures of a finished run for docs/walkthrough.md."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.matches import load_embeddings
from fathom.coverage.sets import Slices
from fathom.errors import InputError
from fathom.figures.style import LAYER_COLORS, make_figure, number_ticks, save_figure, use_style
from fathom.figures.walkthrough import Walk
from fathom.io import paths
from fathom.io.files import write_atomically
from fathom.io.row_groups import select_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, NARROW, COLORS = 800, 640, 255
"""Pixels across, of a map less, and colours: what keeps a picture small."""
_STEP = 0.02
_LINES = ("-", "--", ":", "-.")


def draw_matches(walk: Walk) -> "Figure":
    """Draw the highest cosine of each sentence with a keyword; call it inside `use_style`."""
    best, least = measure_cosines(walk), walk.min_cosine
    figure = make_figure(6.4, 2.6)
    axes = figure.subplots()
    below, above = (math.ceil(abs(end - least) / _STEP) for end in (best.min(), 1.0))
    edges = [least + _STEP * step for step in range(-below, above + 1)]
    axes.hist(best, edges, color="0.75")
    axes.hist(best[best >= least], edges, color=LAYER_COLORS[1])
    axes.axvline(least, color="black", linestyle="--", linewidth=1)
    share = 100 * (best >= least).mean()
    which = "sentences that name a keyword match" if walk.named else "sentences match a keyword"
    axes.set_title(f"{share:.0f} % of {len(best):,} {which}", loc="left")
    axes.set_xlabel("highest cosine with a keyword")
    axes.set_ylabel("sentences")
    return figure


def measure_cosines(walk: Walk) -> npt.NDArray[np.float32]:
    """Return the highest cosine with a keyword of every sentence of the domain."""
    tables, arrays = (
        (paths.NAMED, paths.NAMED_EMBEDDINGS) if walk.named else (paths.SENTENCES, paths.EMBEDDINGS)
    )
    sentences, vectors = ([path for _, path in each.find_files(walk.run)] for each in (tables, arrays))
    slices = Slices(sentences, vectors)
    inside = pl.col("domains").list.contains(walk.domain)
    found = slices.find(select_rows(Path(paths.INDEX.under(walk.run)), ["doc_id"], inside))
    keywords = load_embeddings(walk.run / walk.domain / "keywords.npy")
    best: npt.NDArray[np.float32] = (slices.read(found) @ keywords.T).max(axis=1)
    return best


def draw_ranks(walk: Walk) -> "Figure":
    """Draw the share of pairs up to each rank, a line for each model; call it inside `use_style`."""
    ranks = walk.ranks
    figure = make_figure(6.4, 2.8)
    axes = figure.subplots()
    heights = np.arange(1, len(ranks) + 1) / len(ranks)
    for place, model in enumerate(walk.models):
        axes.step(
            np.sort(ranks[model].to_numpy()), heights, where="post", label=model,
            color=LAYER_COLORS[1 + place % 6], linestyle=_LINES[place % 4],
        )  # fmt: skip
    axes.set_xscale("log")
    number_ticks(axes.xaxis)
    axes.set_ylim(0, 1)
    axes.set_xlabel("rank of the target")
    axes.set_ylabel("share of pairs up to it")
    axes.legend(loc="upper left")
    return figure


DRAWN = {"matches": draw_matches, "ranks": draw_ranks}
"""Pictures that no run makes, by name."""
TAKEN = {
    "models": "{domain}.model-ranks",
    "adapted": "{domain}.adapted.{base}.trimmed_mean",
    "layers": "{domain}.layers.{base}.rates",
    "coverage": "{domain}.coverage.tf",
}
"""Figures of the run that the page shows, by the name of the picture."""


def save_pictures(walk: Walk, folder: Path) -> list[Path]:
    """Draw the pictures of the page, or take them from the run, and save them small.

    Raises
    ------
    InputError
        If the run lacks a figure.
    """
    saved = []
    for name, draw in DRAWN.items():
        path = folder / f"{name}.png"
        with use_style():
            save_figure(draw(walk), None, path)
        saved.append(shrink(path, path, WIDTH))
    for name, figure in TAKEN.items():
        source = walk.run / "figures" / f"{figure.format(domain=walk.domain, base=walk.models[0])}.png"
        saved.append(shrink(source, folder / f"{name}.png", NARROW if name == "coverage" else WIDTH))
    return saved


def shrink(source: Path, target: Path, width: int) -> Path:
    """Save a picture with fewer pixels and colours; return where."""
    from PIL import Image

    if not source.is_file():
        raise InputError("there is no such figure", str(source), "make it: docs/figures.md says by what")
    with Image.open(source) as picture:
        height = round(picture.height * width / picture.width)
        small = picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
    few = small.quantize(COLORS, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    with write_atomically(target) as temporary:
        few.save(temporary, "png", optimize=True)
    return target
