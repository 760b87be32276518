"""The dump that perf/ makes: its bytes follow from its arguments, and the real doors take it."""

from argparse import Namespace
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from perf import make_dump
from tests.programs import run_program

from fathom.config.corpus import Selection
from fathom.corpus.arxiv_join import join_shard
from fathom.corpus.metadata import read_metadata

_ROOT = Path(__file__).resolve().parents[2]


def test_a_dump_follows_from_its_arguments_and_can_be_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, again, large = (tmp_path / name for name in "abc")
    arguments = ("--documents", 40, "--shards", 2, "--output", small)
    run_program(_ROOT / "perf" / "make_dump.py", *arguments).check_returncode()
    monkeypatch.setattr(make_dump, "choose_words", cache(make_dump.choose_words))
    for folder, count in ((again, 40), (large, 60)):
        make_dump.main(Namespace(documents=count, shards=2, output=folder))
    names = ("arxiv-metadata-oai-snapshot.json", "redpajama/arxiv_000.jsonl", "redpajama/arxiv_001.jsonl")
    for name in names:
        assert (small / name).read_bytes() == (again / name).read_bytes()
        assert (large / name).read_bytes().startswith((small / name).read_bytes())
    selection = Selection.model_validate({"domains": {"ai": {"categories": ["cs.AI"]}}})
    read = read_metadata(large / names[0], selection, tmp_path / "metadata.parquet")
    assert read["lines"] == 60 and read["malformed"]["count"] == read["duplicates"] == 0
    assert 0 < read["selected"] < 60
    joined = join_shard(
        tmp_path / "metadata.parquet", large / names[1], selection.corpus, tmp_path / "d.parquet"
    )
    assert joined["malformed"]["count"] == 0 and joined["documents"] > 0
    text = pl.read_parquet(tmp_path / "d.parquet")["text"][0]
    assert text.startswith("\\section{Introduction}") and "\\begin{equation}" in text
