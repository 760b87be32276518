"""The page that follows one keyword through a run."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from fathom.config.benchmark import VARIANTS
from fathom.errors import InputError
from fathom.figures import walkthrough
from fathom.figures.example_tables import Examples
from fathom.figures.walkthrough import BLOCKS, Walk, fill_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "walkthrough.md"


def test_the_page_has_every_block_filled_and_every_picture():
    text = PAGE.read_text(encoding="utf-8")
    blocks = dict(re.findall(r"<!-- run: ([\w-]+) -->\n(.*?)<!-- end -->", text, re.DOTALL))
    assert list(blocks) == list(BLOCKS) and all(block.strip().startswith("|") for block in blocks.values())
    pictures = {*walkthrough.DRAWN, *walkthrough.TAKEN}
    assert set(re.findall(r"\(walkthrough/(\w+)\.png\)", text)) == pictures
    assert {path.stem for path in PAGE.with_suffix("").iterdir()} == pictures


def test_blocks_are_filled_anew_and_the_text_around_them_stays(monkeypatch):
    monkeypatch.setitem(walkthrough.BLOCKS, "pairs", lambda walk: f"| {walk.domain} |")
    walk = Walk(Path("run"), "physics", ["m"])
    page = "before\n\n<!-- run: pairs -->\nold\n\n<!-- end -->\n\nafter\n"
    filled = fill_page(page, walk, "p.md")
    assert filled == "before\n\n<!-- run: pairs -->\n\n| physics |\n\n<!-- end -->\n\nafter\n"
    assert fill_page(filled, walk, "p.md") == filled
    with pytest.raises(InputError, match="unknown block 'pears'"):
        fill_page(page.replace("pairs", "pears"), walk, "p.md")


def test_pictures_get_smaller_and_a_missing_one_is_named(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (600, 1200, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.png")
    walkthrough.shrink(tmp_path / "a.png", tmp_path / "b.png", 300)
    with Image.open(tmp_path / "b.png") as small:
        assert small.size == (300, 150)
        assert len(small.getcolors()) <= walkthrough.COLORS
    with pytest.raises(InputError, match="there is no such figure"):
        walkthrough.shrink(tmp_path / "c.png", tmp_path / "b.png", 300)


def test_pairs_that_stand_in_training_text_have_no_rank(tmp_path):
    from tests.explorer.runs import write_run

    walk = Walk(write_run(tmp_path / "run"), "physics", ["alpha", "beta"])
    pairs = pl.read_parquet(walk.run / "physics" / "benchmark" / "tf" / "pairs.parquet")
    assert walk.ranks.columns == ["pair_id", "alpha", "beta"]
    assert walk.ranks["pair_id"].to_list() == pairs["pair_id"].to_list()[1:]


def test_the_keyword_of_most_targets_that_have_ranks_is_followed(tmp_path):
    from tests.explorer.runs import write_run

    walk = Walk(write_run(tmp_path / "run"), "physics", ["alpha", "beta"])
    pairs = pl.read_parquet(walk.run / "physics" / "benchmark" / "tf" / "pairs.parquet")
    # the first pair of the first keyword occurs in training text
    targets = {"keyword 000": ["a", "b", "c"], "keyword 001": ["a", "b"], "keyword 002": ["a", "b", "c"]}
    place = pl.int_range(pl.len()).over("keyword")
    named = [
        pl.when((pl.col("keyword") == name) & (place == number)).then(pl.lit(target))
        for name, own in targets.items()
        for number, target in enumerate(own)
    ]
    pairs = pairs.with_columns(target=pl.coalesce(*named, pl.lit("b")))
    keywords = [(name, 5) for name in sorted(set(pairs["keyword"]))]
    terms = {variant: {name: ["a"] for name, _ in keywords} for variant in VARIANTS}
    vars(walk)["examples"] = Examples(
        "physics", "Physics", keywords, terms, {}, dict.fromkeys(VARIANTS, pairs)
    )
    assert walk.keyword == "keyword 002"
