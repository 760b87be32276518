"""Adapt a model to a domain's texts, all its weights or an adapter; write its folder, pointer and curve.

Writes the models of earlier steps too, where settings ask for checkpoints. A stopped run on one device
resumes from `.{output}.partial` beside the output. Several GPUs share each batch.
"""

import argparse
from pathlib import Path

from fathom.config.models import Adaptation
from fathom.errors import InputError
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import hash_file, write_delimited
from fathom.io.tables import read_table
from fathom.jobs.devices import describe_device, pick_device
from fathom.jobs.program import add_settings, read_settings, run_program
from fathom.jobs.resume import Resume, make_key
from fathom.models.checkpoints import Checkpoints
from fathom.models.folders import fingerprint_folder, save_model
from fathom.models.loading import (
    Pointer,
    check_fingerprint,
    hash_weights,
    load_model,
    read_pointer,
    write_pointer,
)
from fathom.models.memory import Training
from fathom.models.parallel import join_processes, start_processes
from fathom.models.placement import check_training
from fathom.models.training import CURVE_COLUMNS, train


def main(arguments: argparse.Namespace) -> None:
    """Load the base model, train it, write model, curve and pointer."""
    settings = read_settings(arguments.settings, Adaptation)
    start_processes(arguments.gpus, arguments.device)
    processes = join_processes(pick_device(arguments.device, "--device"))
    base, lora = read_pointer(arguments.model), settings.lora
    how = Training(0, lora.dtype, rank=lora.rank) if lora else Training(0)
    check_training(base.path, how, processes.device)
    inputs = [hash_file(arguments.texts), check_fingerprint(base), base.add_bos]
    key = make_key(__file__, settings, inputs, describe_device(processes.device))
    texts = read_table(arguments.texts, TEXTS)
    model, tokenizer = load_model(base)
    resume: Resume | None = Resume(arguments.output, key) if processes.count == 1 else None
    if arguments.checkpoints is not None and not processes.index:
        steps, alone = settings.list_checkpoints(), processes.count == 1
        resume = Checkpoints(arguments.output, key, steps, tokenizer, alone)
    before = hash_weights(model)
    curve = train(model, tokenizer, texts, settings, processes, base.add_bos, resume)
    processes.leave()
    if processes.index:
        return  # the first writes the model, which all of them hold
    if hash_weights(model) == before:
        raise InputError("training changed no weight", arguments.name, "raise learning_rate or steps")
    save_model(arguments.output, model, tokenizer)
    write_delimited(arguments.curve, CURVE_COLUMNS, curve, delimiter=",")
    pointer = Pointer(
        arguments.name,
        arguments.output,
        kind=base.kind,
        fingerprint=fingerprint_folder(arguments.output),
        base=base.name,
        add_bos=base.add_bos,
    )
    if isinstance(resume, Checkpoints):
        resume.publish(arguments.checkpoints, pointer)
    write_pointer(arguments.pointer, pointer)
    if resume is not None:
        resume.remove()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--model", type=Path, required=True, help="pointer to the base model (JSON), or its folder"
    )
    parser.add_argument("--texts", type=Path, required=True, help="texts of the domain (parquet)")
    parser.add_argument("--name", required=True, help="name of the new model")
    parser.add_argument("--output", type=Path, required=True, help="folder of the model to write")
    parser.add_argument("--pointer", type=Path, required=True, help="pointer to the model to write (JSON)")
    parser.add_argument("--curve", type=Path, required=True, help="training curve: losses by step (CSV)")
    parser.add_argument("--checkpoints", type=Path, help="folder of the models of earlier steps to write")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--gpus", type=int, default=1, help="visible GPUs that share each batch")
    add_settings(parser, Adaptation)
    run_program(parser, main)
