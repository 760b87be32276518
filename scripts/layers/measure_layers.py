"""Measure a model layer by layer, with one load of it [BeyondBenchmarks, Secs. 2.8, 3.3].

Reads a model (pointer or folder) and for each domain its keywords, matched sentences and pairs. Writes, for
every layer, attribute rates and probability sums, the most likely tokens after each keyword, token lists and
example tokens of keywords, and rank, probability, entropy, agreement and divergence of the pairs' targets.
With texts it trains a tuned lens on split adapt-train and looks through it at the targets [TunedLens]; the
model is not changed. What is finished is kept in a folder of its own: an interrupted job resumes from there.
"""

import os
from pathlib import Path
from typing import Annotated

from fathom.config.layers import LayerSettings, TunedLens
from fathom.errors import InputError
from fathom.io import paths
from fathom.jobs.signature import ModelFile, Tables, Threads, Wordlists, run
from fathom.layers.layer_files import DomainFiles, plan_layers
from fathom.models.loading import read_pointer
from fathom.models.open_model import OpenModel, measure_all


class Settings(LayerSettings):
    """Settings of this program."""

    lens: TunedLens = TunedLens()


def main(
    *,
    model: ModelFile,
    keywords: Annotated[Tables, paths.KEYWORDS, "keywords of a domain"],
    sentences: Annotated[list[Path], "its matched sentences (parquet)"],
    sentence_overlap: Annotated[
        Tables, paths.SENTENCE_OVERLAP, "matched sentences that occur in training text"
    ] = (),
    pairs: Annotated[list[Path], "its pairs (parquet)"],
    texts: Annotated[Tables, paths.TEXTS, "texts of domains, to train tuned lenses on"] = (),
    wordlists: Wordlists = Path("config/wordlists"),
    finished: Annotated[Path, "folder where finished results are kept"],
    rates: Annotated[list[Path], "rates of each domain to write (parquet); others are written beside them"],
    threads: Threads = 1,
    settings: Settings,
) -> None:
    """Plan all measurements and make them."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    if texts and not settings.lens.steps:
        raise InputError(
            "lens.steps is 0: nothing to train", "--settings", "set at least 1, or give no texts"
        )
    known = {name: Path(path) for name, path in sentence_overlap}
    trained_on = {name: Path(path) for name, path in texts}
    planned = []
    for (name, found), *files, output in zip(keywords, sentences, pairs, rates, strict=True):
        prefix = str(output).removesuffix(".rates.parquet")
        domain = DomainFiles(name, Path(found), *files, wordlists / "stopwords.txt", prefix, known.get(name))
        planned += plan_layers(domain, settings.layers, trained_on.get(name), settings.lens)
    measure_all(OpenModel(read_pointer(model), settings.scoring, threads), planned, finished)


if __name__ == "__main__":
    run(main)
