"""Measure a model with one load of it: ranks and probabilities, perplexity, attribute rate.

Reads a model (pointer or folder) and any number of these: pairs [RawCorpora, Sec. 2.6], texts of domains, of
which only split adapt-test is used [BeyondBenchmarks, Sec. 2.11], matched sentences of domains [RawCorpora,
App. A.3.3]. Writes a table for each, and a report beside it. What is finished is kept in a folder of its own:
a job that was interrupted, or gets one more input, does not make it again.
"""

import argparse
import os
from pathlib import Path

from fathom.config.scoring import AttributeRate, Perplexity, Scoring
from fathom.config.section import Section
from fathom.jobs.program import add_settings, add_tables, read_settings, run_program
from fathom.models.loading import read_pointer
from fathom.models.open_model import (
    Measurement,
    OpenModel,
    add_gpus,
    add_measuring,
    add_wordlists,
    measure_all,
)
from fathom.scoring.attribute_rate import plan_attribute_rate
from fathom.scoring.perplexity import plan_perplexity
from fathom.scoring.rank_files import name_files, plan_ranks


class Settings(Section):
    """Settings of this program."""

    scoring: Scoring = Scoring()
    perplexity: Perplexity = Perplexity()
    attribute_rate: AttributeRate = AttributeRate()


def main(arguments: argparse.Namespace) -> None:
    """Plan all measurements and make them."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    settings = read_settings(arguments.settings, Settings)
    pointer = read_pointer(arguments.model)
    model = OpenModel(pointer, settings.scoring, arguments.threads, arguments.gpus)
    measure_all(model, plan(arguments, settings), arguments.finished)


def plan(arguments: argparse.Namespace, settings: Settings) -> list[Measurement]:
    """Return all measurements that the arguments ask for."""
    together: dict[str, tuple[list[Path], list[Path]]] = {}
    for name, pairs, scores in arguments.pairs:
        read, written = together.setdefault(name, ([], []))
        read.append(Path(pairs))
        written.append(Path(scores))
    stopwords, rate = arguments.wordlists / "stopwords.txt", settings.attribute_rate
    return [
        *(plan_ranks(f"{name}.ranks", name_files(*files)) for name, files in together.items()),
        *(
            plan_perplexity(f"{name}.perplexity", Path(texts), Path(output), settings.perplexity)
            for name, texts, output in arguments.texts
        ),
        *(
            plan_attribute_rate(f"{name}.attribute-rate", Path(sentences), stopwords, Path(output), rate)
            for name, sentences, output in arguments.sentences
        ),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_measuring(parser)
    add_wordlists(parser)
    add_tables(
        parser,
        "--pairs",
        ("NAME", "PAIRS"),
        "a name, pairs (.parquet or .jsonl) and scores to write; pairs of one name are read together",
    )
    add_tables(
        parser, "--texts", ("NAME", "TEXTS"), "a name, texts of a domain and likelihoods by document to write"
    )
    add_tables(
        parser,
        "--sentences",
        ("NAME", "SENTENCES"),
        "a name, matched sentences and rates by keyword to write",
    )
    add_gpus(parser)
    add_settings(parser, Settings)
    run_program(parser, main)
