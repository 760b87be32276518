"""Train a small language model from scratch on a domain's texts; write its folder, pointer and curve.

A stopped run resumes from `.{output}.partial` beside the output.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.models import Training
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.jobs import TRAINING_CURVE
from fathom.io.delimited import write_rows
from fathom.io.files import hash_file
from fathom.io.tables import read_table
from fathom.jobs.devices import describe_device, pick_device
from fathom.jobs.resume import Resume, make_key
from fathom.jobs.signature import run
from fathom.models.folders import fingerprint_folder, load_tokenizer, save_model
from fathom.models.loading import Pointer, write_pointer
from fathom.models.parallel import SingleProcess
from fathom.models.training import build_model, train


def main(
    *,
    texts: Annotated[Path, "texts of the domain (parquet)"],
    tokenizer: Annotated[Path, "folder of its tokenizer"],
    model: Annotated[str, "name of the new model"],
    weights: Annotated[Path, "folder of the model to write"],
    pointer: Annotated[Path, "pointer to the model to write (JSON)"],
    curve: Annotated[Path, "training curve: losses by step (CSV)"],
    device: Annotated[str, "auto, cpu, cuda, cuda:N or mps"] = "auto",
    settings: Training,
) -> None:
    """Build and train the model, write model, curve and pointer."""
    table = read_table(texts, TEXTS)
    loaded = load_tokenizer(tokenizer)
    device = pick_device(device, "--device")
    inputs = [hash_file(texts), fingerprint_folder(tokenizer)]
    resume = Resume(weights, make_key(__file__, settings, inputs, describe_device(device)))
    built = build_model(settings, loaded)
    losses = train(built, loaded, table, settings, SingleProcess(device), resume=resume)
    save_model(weights, built, loaded)
    write_rows(curve, losses, TRAINING_CURVE)
    made = Pointer(model, weights, fingerprint=fingerprint_folder(weights))
    write_pointer(pointer, made)
    resume.remove()


if __name__ == "__main__":
    run(main)
