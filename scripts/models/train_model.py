"""Train a small language model from scratch on a domain's texts; write its folder, pointer and curve.

A stopped run resumes from `.{output}.partial` beside the output.
"""

import argparse
from pathlib import Path

from fathom.config.models import Training
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import hash_file, write_delimited
from fathom.io.tables import read_table
from fathom.jobs.devices import describe_device, pick_device
from fathom.jobs.program import add_settings, read_settings, run_program
from fathom.jobs.resume import Resume, make_key
from fathom.models.building import build_model
from fathom.models.folders import fingerprint_folder, load_tokenizer, save_model
from fathom.models.loading import Pointer, write_pointer
from fathom.models.parallel import Alone
from fathom.models.training import CURVE_COLUMNS, train


def main(arguments: argparse.Namespace) -> None:
    """Build and train the model, write model, curve and pointer."""
    settings = read_settings(arguments.settings, Training)
    texts = read_table(arguments.texts, TEXTS)
    tokenizer = load_tokenizer(arguments.tokenizer)
    device = pick_device(arguments.device, "--device")
    inputs = [hash_file(arguments.texts), fingerprint_folder(arguments.tokenizer)]
    resume = Resume(arguments.output, make_key(__file__, settings, inputs, describe_device(device)))
    model = build_model(settings, tokenizer)
    curve = train(model, tokenizer, texts, settings, Alone(device), resume=resume)
    save_model(arguments.output, model, tokenizer)
    write_delimited(arguments.curve, CURVE_COLUMNS, curve, delimiter=",")
    pointer = Pointer(arguments.name, arguments.output, fingerprint=fingerprint_folder(arguments.output))
    write_pointer(arguments.pointer, pointer)
    resume.remove()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="texts of the domain (parquet)")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of its tokenizer")
    parser.add_argument("--name", required=True, help="name of the new model")
    parser.add_argument("--output", type=Path, required=True, help="folder of the model to write")
    parser.add_argument("--pointer", type=Path, required=True, help="pointer to the model to write (JSON)")
    parser.add_argument("--curve", type=Path, required=True, help="training curve: losses by step (CSV)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    add_settings(parser, Training)
    run_program(parser, main)
