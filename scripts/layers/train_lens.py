"""Train a tuned lens: a map for each layer whose projection is nearest to the model's own output [TunedLens].

Reads a model (its pointer or a plain folder) and a domain's texts; learns on fold adapt-train, measures on
adapt-valid; writes the maps as safetensors, and a report. The model stays as it is.
"""

import argparse
import os
from pathlib import Path

from fathom.config.layers import TunedLens
from fathom.config.scoring import Scoring
from fathom.config.section import Section
from fathom.errors import InputError
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import hash_file, write_json
from fathom.io.tables import read_table
from fathom.layers.lens import save_lens, train_lens
from fathom.models.loading import describe_loaded, load_model, read_pointer
from fathom.running.program import add_settings, log, read_settings, run_program


class Settings(Section):
    """Settings of this program."""

    scoring: Scoring = Scoring()
    lens: TunedLens = TunedLens()


def main(arguments: argparse.Namespace) -> None:
    """Load model and texts, train, write maps and report."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    settings = read_settings(arguments.settings, Settings)
    if not settings.lens.steps:
        raise InputError("lens.steps is 0: there is nothing to train", "--settings", "give it at least 1")
    texts = read_table(arguments.texts, TEXTS)
    pointer = read_pointer(arguments.model)
    model, tokenizer = load_model(pointer, settings.scoring.dtype, settings.scoring.device)
    report = describe_loaded(pointer, model, settings.scoring.dtype)
    maps, points = train_lens(model, tokenizer, texts, settings.lens, pointer.add_bos, pointer.name)
    for point in points:
        log.info("layer %s: divergence %.3f, tuned %.3f", *point)
    save_lens(arguments.output, maps, report["fingerprint"])
    values = [point._asdict() for point in points]
    write_json(arguments.report, {**report, "texts_sha256": hash_file(arguments.texts), "layers": values})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="pointer to a model (JSON), or its folder")
    parser.add_argument("--texts", type=Path, required=True, help="texts of the domain (parquet)")
    parser.add_argument("--output", type=Path, required=True, help="the maps (safetensors)")
    parser.add_argument("--report", type=Path, required=True, help="divergence by layer (JSON)")
    add_settings(parser, Settings)
    run_program(parser, main)
