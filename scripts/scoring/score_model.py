"""Measure a model with one load of it: ranks and probabilities, perplexity, attribute rate.

Reads a model (pointer or folder) and any number of these: pairs [RawCorpora, Sec. 2.6], texts of domains, of
which only split adapt-test is used [BeyondBenchmarks, Sec. 2.11], matched sentences of domains [RawCorpora,
App. A.3.3]. Writes a table for each, and a report beside it. What is finished is kept in a folder of its own:
a job that was interrupted, or gets one more input, does not make it again.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from fathom.config.scoring import AttributeRate, Perplexity, Scoring
from fathom.config.section import Section
from fathom.config.served import Served
from fathom.io import paths
from fathom.jobs.signature import Gpus, ModelFile, PairTables, Tables, Threads, Wordlists, run
from fathom.models.loading import read_pointer
from fathom.models.open_model import (
    Measurement,
    OpenModel,
    measure_all,
)
from fathom.models.served import ServedModel
from fathom.scoring.attribute_rate import plan_attribute_rate
from fathom.scoring.perplexity import plan_perplexity
from fathom.scoring.rank_files import name_files, name_reading, plan_ranks


class Settings(Section):
    """Settings of this program."""

    scoring: Scoring = Scoring()
    perplexity: Perplexity = Perplexity()
    attribute_rate: AttributeRate = AttributeRate()
    served: Served = Served()


def main(
    *,
    model: ModelFile,
    pairs: PairTables = (),
    scores: Annotated[list[Path], "scores of each benchmark to write (parquet)"] = (),
    texts: Annotated[Tables, paths.TEXTS, "texts of domains"] = (),
    held_out_overlap: Annotated[
        Tables, paths.HELD_OUT_OVERLAP, "stretches of them that occur in training text"
    ] = (),
    perplexity: Annotated[list[Path], "likelihoods of each domain to write (parquet)"] = (),
    sentences: Annotated[Tables, paths.MATCHED, "matched sentences of domains"] = (),
    sentence_overlap: Annotated[Tables, paths.SENTENCE_OVERLAP, "those that occur in training text"] = (),
    rates: Annotated[list[Path], "attribute rates of each domain to write (parquet)"] = (),
    wordlists: Wordlists = Path("config/wordlists"),
    finished: Annotated[Path, "folder where finished results are kept"],
    threads: Threads = 1,
    gpus: Gpus = 1,
    settings: Settings,
) -> None:
    """Plan all measurements and make them."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    stopwords, rate = wordlists / "stopwords.txt", settings.attribute_rate
    stretches, known = (
        {domain: Path(path) for domain, path in files} for files in (held_out_overlap, sentence_overlap)
    )
    planned = plan_pairs(pairs, scores)
    planned += [
        plan_perplexity(
            f"{domain}.perplexity", Path(path), output, settings.perplexity, stretches.get(domain)
        )
        for (domain, path), output in zip(texts, perplexity, strict=True)
    ]
    planned += [
        plan_attribute_rate(
            f"{domain}.attribute-rate", Path(path), stopwords, output, rate, known.get(domain)
        )
        for (domain, path), output in zip(sentences, rates, strict=True)
    ]
    pointer = read_pointer(model)
    if pointer.server:
        opened: OpenModel = ServedModel(pointer, settings.served)
    else:
        opened = OpenModel(pointer, settings.scoring, threads, gpus)
    measure_all(opened, planned, finished)


def plan_pairs(pairs: Tables, scores: Sequence[Path]) -> list[Measurement]:
    """Return how benchmarks are scored; pairs of one name are read together."""
    together: dict[str, tuple[list[Path], list[Path]]] = {}
    for (domain, variant, path), output in zip(pairs, scores, strict=True):
        read, written = together.setdefault(name_reading(domain, variant), ([], []))
        read.append(Path(path))
        written.append(output)
    return [plan_ranks(f"{name}.ranks", name_files(*files)) for name, files in together.items()]


if __name__ == "__main__":
    run(main)
