"""A finished run, stage by stage: results of each stage for one keyword, as tables of docs/walkthrough.md.

Also small pictures of the run for that page.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.matches import load_embeddings
from fathom.config.benchmark import VARIANTS
from fathom.config.scoring import Summary
from fathom.config.section import refuse_unknown
from fathom.coverage.sets import Slices
from fathom.errors import InputError
from fathom.figures.example_tables import Examples, read_examples
from fathom.figures.ranking_tables import render_table
from fathom.figures.style import (
    LAYER_COLORS,
    VARIANT_SERIES,
    label_scale,
    make_figure,
    number_ticks,
    save_figure,
    use_style,
)
from fathom.io import paths
from fathom.io.contracts.benchmark import MATCHES, VOCABULARY
from fathom.io.contracts.ranking import AGREEMENT
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import GROUPS, SUMMARY
from fathom.io.delimited import read_rows
from fathom.io.files import read_json, write_atomically
from fathom.io.row_groups import select_rows
from fathom.io.run_path import RunPath
from fathom.io.tables import read_table
from fathom.statistics.aggregates import LEADING, STATISTICS
from fathom.statistics.left_out import read_flagged
from fathom.statistics.metrics import RANK

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SPLITS = ("benchmark", "adapt-train", "adapt-valid", "adapt-test")
TERMS, SENTENCES, PAIRS = 8, 5, 4
"""Terms of a vocabulary, sentences and pairs that the page shows."""
AGREEMENTS = ("mean_tau", "mean_tau_paired", "perplexity_tasks_tau")
"""Statistics of agreement that the page shows."""
_SHOWN = ("doc_id", "abstract", "characters")
_BLOCK = re.compile(r"(?<=<!-- run: )([\w-]+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


@dataclass(frozen=True)
class Walk:
    """The page's example in a finished run: a domain with a benchmark, and models' ranks."""

    run: Path
    domain: str
    models: Sequence[str]

    def find(self, path: RunPath, **fields: str) -> str:
        """Return a file of the run, of its domain and TF benchmark unless others are given."""
        known = {"domain": self.domain, "variant": VARIANTS[0]} | fields
        return path.of(**{name: known[name] for name in path.fields}).under(self.run)

    @cached_property
    def examples(self) -> Examples:
        """Keywords, vocabularies and pairs of the domain."""
        vocabularies, pairs = (
            [(self.domain, name, self.find(path, variant=name)) for name in VARIANTS]
            for path in (paths.VOCABULARY, paths.PAIRS)
        )
        keywords = [(self.domain, "", self.find(paths.KEYWORDS))]
        return read_examples(keywords, vocabularies, [], pairs)[0]

    @cached_property
    def keyword(self) -> str:
        """The page's keyword: the one with most targets among those with pairs of both variants."""
        if not self.examples.detailed:
            raise InputError("no keyword has pairs in both vocabularies", str(self.run), "take another run")
        pairs = self.examples.pairs[VARIANTS[0]].join(self.ranks, on="pair_id", how="semi")
        targets = dict(pairs.group_by("keyword").agg(pl.col("target").n_unique()).iter_rows())
        return max(self.examples.detailed, key=lambda keyword: targets.get(keyword, 0))

    @cached_property
    def matches(self) -> Mapping[str, Any]:
        """Settings that decide which sentences match a keyword."""
        matches: Mapping[str, Any] = read_json(Path(self.find(paths.MANIFEST)))["parameters"]["matches"]
        return matches

    @property
    def min_cosine(self) -> float:
        """Cosine from which a sentence matches a keyword."""
        return float(self.matches["min_cosine"])

    @property
    def named(self) -> bool:
        """Whether a sentence must name a keyword to match it."""
        return bool(self.matches.get("named"))

    @cached_property
    def ranks(self) -> pl.DataFrame:
        """Column pair_id and the TF ranks by each model, without pairs that occur in training text."""
        place = (self.domain, VARIANTS[0])
        flagged = read_flagged([(*place, self.find(paths.OVERLAP))], Summary())
        found, *others = (
            read_table(self.find(paths.SCORES, model=model), SCORES, ["pair_id", "rank"]).rename(
                {"rank": model}
            )
            for model in self.models
        )
        for column in others:
            found = found.join(column, on="pair_id", maintain_order="left")
        left_out = flagged.get(place, pl.Series([], dtype=pl.String))
        return found.filter(~pl.col("pair_id").is_in(left_out.implode()))


def tabulate_corpus(walk: Walk) -> str:
    """Return the documents of each split, and one document that the keyword's sentences come from."""
    inside = pl.col("domains").list.contains(walk.domain)
    own = select_rows(walk.find(paths.INDEX), ["split", *_SHOWN], inside)
    counts = [f"{len(own.filter(split=split)):,}" for split in SPLITS]
    pairs = walk.examples.pairs[VARIANTS[0]].filter(keyword=walk.keyword)
    document = own.filter(pl.col("doc_id").is_in(pairs["doc_id"].implode())).sort("doc_id").row(0, named=True)
    shown = [(name, document[name]) for name in _SHOWN]
    splits = render_table(["domain", *SPLITS], [(walk.domain, *counts)])
    return "\n\n".join([splits, render_table(["column", "value"], shown)])


def tabulate_keywords(walk: Walk) -> str:
    """Return the first keywords."""
    return render_table(["keyword", "abstracts that have it"], walk.examples.keywords[:TERMS])


def tabulate_matches(walk: Walk) -> str:
    """Return sentences of the keyword, from the closest to the farthest that still matches."""
    table = read_table(walk.find(paths.MATCHED), MATCHES).filter(keyword=walk.keyword)
    order = table.sort("cosine", "doc_id", "position", descending=[True, False, False])
    last = len(order) - 1
    places = sorted({round(step * last / (SENTENCES - 1)) for step in range(SENTENCES)})
    rows = [order.row(place, named=True) for place in places]
    return render_table(["cosine", "sentence"], [(f"{row['cosine']:.3f}", row["clean"]) for row in rows])


def tabulate_vocabularies(walk: Walk) -> str:
    """Return the first terms of both vocabularies of the keyword, with their sort keys."""
    columns = []
    for variant, form in zip(VARIANTS, (".0f", ".2f"), strict=True):
        rows = read_rows(walk.find(paths.VOCABULARY, variant=variant), VOCABULARY)
        own = [row for row in rows if row["keyword"] == walk.keyword][:TERMS]
        columns.append([(row["term"].strip(), format(row["score"], form)) for row in own])
    header = [cell for name in VARIANTS for cell in (VARIANT_SERIES[name].label, "score")]
    lines = [
        tuple(cell for cells in line for cell in cells) for line in zip_longest(*columns, fillvalue=("", ""))
    ]
    return render_table(header, lines)


def tabulate_pairs(walk: Walk) -> str:
    """Return pairs of the keyword."""
    pairs = _choose_pairs(walk)
    return render_table(["pair", "prompt", "target"], [(row[0][:6], row[1], row[2].strip()) for row in pairs])


def tabulate_ranks(walk: Walk) -> str:
    """Return the rank of the same pairs' targets by each model."""
    ranks = walk.ranks
    rows = []
    for name, _, target in _choose_pairs(walk):
        values = ranks.row(by_predicate=pl.col("pair_id") == name)[1:]
        rows.append((name[:6], target.strip(), *(f"{value:,.0f}" for value in values)))
    return render_table(["pair", "target", *walk.models], rows)


def _choose_pairs(walk: Walk) -> list[tuple[str, str, str]]:
    """Return id, prompt and target of pairs of the keyword, each target once, in the order of their ids."""
    pairs = walk.examples.pairs[VARIANTS[0]].filter(keyword=walk.keyword)
    counted = pairs.join(walk.ranks, on="pair_id", how="semi").sort("pair_id")
    return counted.unique("target", keep="first", maintain_order=True).select(
        "pair_id", "prompt", "target"
    ).rows()[:PAIRS]  # fmt: skip


def tabulate_statistics(walk: Walk) -> str:
    """Return the statistics of the ranks of all pairs by model."""
    found = {
        (row["model"], row["aggregate"]): row
        for row in read_rows(walk.find(paths.SUMMARY), SUMMARY)
        if (row["domain"], row["variant"], row["metric"]) == (walk.domain, VARIANTS[0], "rank")
    }
    rows = [
        (model, *(_tell(found[model, statistic.name]) for statistic in STATISTICS.values()))
        for model in walk.models
    ]
    return render_table(["model", *(each.label for each in STATISTICS.values())], rows)


def tabulate_groups(walk: Walk) -> str:
    """Return all models in their order, with the letters of their groups."""
    rows = [
        (row["place"], row["model"], f"{row['value']:,.0f}", row["groups"])
        for row in read_rows(walk.find(paths.GROUPS), GROUPS)
        if (row["domain"], row["variant"], row["aggregate"]) == (walk.domain, VARIANTS[0], LEADING.name)
        and (row["metric"] or RANK.name) == RANK.name
    ]
    return render_table(["place", "model", f"{LEADING.label} rank", "groups"], rows)


def tabulate_agreement(walk: Walk) -> str:
    """Return the agreement of the run's benchmarks on the order of models."""
    rows = [
        (row["statistic"], _tell(row))
        for row in read_rows(walk.find(paths.RANKING, table="agreement"), AGREEMENT)
        if row["statistic"] in AGREEMENTS
    ]
    return render_table(["statistic", "value"], rows)


def _tell(row: Mapping[str, Any]) -> str:
    value, low, high = (row[name] for name in ("value", "ci_low", "ci_high"))
    form = ",.0f" if value >= 10 else ".2f"
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


BLOCKS = {
    "corpus": tabulate_corpus,
    "keywords": tabulate_keywords,
    "matches": tabulate_matches,
    "vocabularies": tabulate_vocabularies,
    "pairs": tabulate_pairs,
    "ranks": tabulate_ranks,
    "statistics": tabulate_statistics,
    "groups": tabulate_groups,
    "agreement": tabulate_agreement,
}
"""Blocks of the page from `<!-- run: NAME -->` to `<!-- end -->`."""


def fill_page(text: str, walk: Walk, where: str) -> str:
    """Return the page with all blocks renewed; `where` names it in messages.

    Raise `InputError` if the page names an unknown block, or a file of the run is missing.
    """

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if name not in BLOCKS:
            raise refuse_unknown("block", name, BLOCKS, where)
        return f"{name}{found[2]}\n{BLOCKS[name](walk)}\n\n"

    return _BLOCK.sub(fill, text)


WIDTH, NARROW, COLORS = 800, 640, 255
"""Width in pixels, less for a map, and number of colours, to keep pictures small."""
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
    axes.set_xlabel(label_scale("rank of the target", axes.xaxis))
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

    Raise `InputError` if the run lacks a figure.
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
        raise InputError("there is no such figure", str(source), "make it as in docs/figures.md")
    with Image.open(source) as picture:
        height = round(picture.height * width / picture.width)
        small = picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
    few = small.quantize(COLORS, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    with write_atomically(target) as temporary:
        few.save(temporary, "png", optimize=True)
    return target
