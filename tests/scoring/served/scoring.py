"""Pairs scored through a server, and with the weights here."""

from pathlib import Path

import polars as pl
from tests.scoring.sentences import cut_sentences
from tests.scoring.served.stub_server import NAME, Stub

from fathom.config.scoring import Scoring
from fathom.config.served import Served
from fathom.models.loading import load_model
from fathom.models.served import ServedModel, point_to_server
from fathom.scoring.rank_files import name_files, score_files
from fathom.scoring.ranks import score_benchmarks

PAIRS = pl.concat([cut_sentences(name, [2, 4]) for name in ("tf", "tfidf")])
QUICK = Served(timeout=30.0, retries=0)


def score(stub: Stub, pairs: Path, tokenizer: Path | None, settings: Served = QUICK) -> pl.DataFrame:
    model = ServedModel(point_to_server(f"{stub.url}#{NAME}", tokenizer, settings), settings)
    (found,) = score_files(model, name_files([pairs], [pairs.with_suffix(".parquet")]))
    return found


def score_here(folder: Path) -> pl.DataFrame:
    model, tokenizer = load_model(folder)
    return score_benchmarks(model, tokenizer, [PAIRS], Scoring(device="cpu"))[0]


def count_sentences() -> int:
    """Return the number of texts that no other one begins with."""
    texts = {prompt + target for prompt, target in PAIRS.select("prompt", "target").iter_rows()}
    return sum(
        not any(other != text and f"{other} ".startswith(f"{text} ") for other in texts) for text in texts
    )
