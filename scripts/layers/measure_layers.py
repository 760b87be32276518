"""Measure a model layer by layer, with one load of it [BeyondBenchmarks, Secs. 2.8, 3.3].

Reads a model (pointer or folder) and for each domain its keywords, matched sentences and pairs. Writes, for
every layer, attribute rates and probability sums, the most likely tokens after each keyword, token lists and
example tokens of keywords, and rank, probability, entropy, agreement and divergence of the pairs' targets.
With texts it trains a tuned lens on split adapt-train and looks through it at the targets [TunedLens]; the
model is not changed. What is finished is kept in a folder of its own: an interrupted job goes on from there.
"""

import argparse
import os
from pathlib import Path

from fathom.config.layers import LayerSettings, TunedLens
from fathom.errors import InputError
from fathom.jobs.program import add_settings, add_tables, read_settings, run_program
from fathom.layers.layer_files import DomainFiles, plan_layers
from fathom.models.loading import read_pointer
from fathom.models.open_model import OpenModel, add_measuring, add_wordlists, measure_all


class Settings(LayerSettings):
    """Settings of this program."""

    lens: TunedLens = TunedLens()


def main(arguments: argparse.Namespace) -> None:
    """Plan all measurements and make them."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    settings = read_settings(arguments.settings, Settings)
    if arguments.texts and not settings.lens.steps:
        raise InputError(
            "lens.steps is 0: nothing to train", "--settings", "set at least 1, or give no texts"
        )
    texts = {name: Path(path) for name, path in arguments.texts}
    planned = []
    for name, keywords, sentences, pairs, prefix in arguments.domain:
        files = map(Path, (keywords, sentences, pairs, arguments.wordlists / "stopwords.txt"))
        domain = DomainFiles(name, *files, prefix)
        planned += plan_layers(domain, settings.layers, texts.get(name), settings.lens)
    model = OpenModel(read_pointer(arguments.model), settings.scoring, arguments.threads)
    measure_all(model, planned, arguments.finished)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_measuring(parser)
    add_wordlists(parser)
    add_tables(
        parser,
        "--domain",
        ("NAME", "KEYWORDS", "SENTENCES", "PAIRS"),
        "a domain: its name, keywords (TSV), matched sentences, pairs, and what the names of files to write"
        " begin with",
        required=True,
    )
    add_tables(parser, "--texts", ("NAME",), "name and texts of a domain, to train a tuned lens on")
    add_settings(parser, Settings)
    run_program(parser, main)
