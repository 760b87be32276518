"""Train a tuned lens: an affine map per layer whose predictions match the model's output [TunedLens].

Reads a model (pointer or folder) and a domain's texts. Trains on fold adapt-train, validates on adapt-valid.
Writes the maps as safetensors, and a report. The model is not changed.
"""

import argparse
from pathlib import Path

from fathom.config.layers import TunedLens
from fathom.config.scoring import Scoring
from fathom.config.section import Section
from fathom.errors import InputError
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import hash_file, write_json
from fathom.io.tables import read_table
from fathom.layers.lens import save_lens, train_lens
from fathom.models.loading import describe_loaded, open_model
from fathom.running.program import add_settings, log, read_settings, run_program


class Settings(Section):
    """Settings of this program."""

    scoring: Scoring = Scoring()
    lens: TunedLens = TunedLens()


def main(arguments: argparse.Namespace) -> None:
    """Train the lens, write its maps and a report."""
    settings = read_settings(arguments.settings, Settings)
    if not settings.lens.steps:
        raise InputError("lens.steps is 0: nothing to train", "--settings", "set at least 1")
    texts = read_table(arguments.texts, TEXTS)
    scoring = settings.scoring
    pointer, model, tokenizer = open_model(arguments.model, scoring.dtype, scoring.device)
    report = describe_loaded(pointer, model, scoring.dtype)
    maps, points = train_lens(model, tokenizer, texts, settings.lens, pointer.add_bos, pointer.name)
    for point in points:
        log.info("layer %s: divergence %.3f, tuned %.3f", *point)
    save_lens(arguments.output, maps, report["fingerprint"])
    values = [point._asdict() for point in points]
    write_json(arguments.report, {**report, "texts_sha256": hash_file(arguments.texts), "layers": values})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="model pointer (JSON) or model folder")
    parser.add_argument("--texts", type=Path, required=True, help="texts of the domain (parquet)")
    parser.add_argument("--output", type=Path, required=True, help="output: the translators (safetensors)")
    parser.add_argument("--report", type=Path, required=True, help="report with divergences by layer (JSON)")
    add_settings(parser, Settings)
    run_program(parser, main)
