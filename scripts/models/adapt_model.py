"""Adapt a model to a domain's texts, all its weights or an adapter; write its folder, pointer and curve.

Writes the models of earlier steps too, where settings ask for checkpoints. A stopped run on one device
resumes from `.{output}.partial` beside the output. Several GPUs share each batch.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.models import Adaptation
from fathom.config.scoring import Scoring
from fathom.errors import InputError
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.jobs import TRAINING_CURVE
from fathom.io.delimited import write_rows
from fathom.io.files import hash_file
from fathom.io.tables import read_table
from fathom.jobs.devices import describe_device, pick_device
from fathom.jobs.resume import Resume, make_key
from fathom.jobs.signature import run
from fathom.models.loading import check_fingerprint, hash_weights, load_copies, read_pointer, write_pointer
from fathom.models.memory import Training
from fathom.models.parallel import join_processes, start_processes
from fathom.models.placement import check_training
from fathom.models.saving import Checkpoints, has_learned, point_to_trained, save_trained
from fathom.models.training import train


def main(
    *,
    base: Annotated[Path, "pointer to the base model (JSON), or its folder"],
    texts: Annotated[Path, "texts of the domain (parquet)"],
    model: Annotated[str, "name of the new model"],
    weights: Annotated[Path, "folder of the model to write"],
    pointer: Annotated[Path, "pointer to the model to write (JSON)"],
    curve: Annotated[Path, "training curve: losses by step (CSV)"],
    checkpoints: Annotated[Path | None, "folder of the models of earlier steps to write"] = None,
    device: Annotated[str, "auto, cpu, cuda, cuda:N or mps"] = "auto",
    gpus: Annotated[int, "visible GPUs that share each batch"] = 1,
    settings: Adaptation,
) -> None:
    """Load the base model, train it, write model, curve and pointer."""
    start_processes(gpus, device)
    processes = join_processes(pick_device(device, "--device"))
    start, lora = read_pointer(base), settings.lora
    how = Training(0, lora.dtype, rank=lora.rank) if lora else Training(0)
    check_training(start.path, how, processes.device)
    inputs = [hash_file(texts), check_fingerprint(start), start.add_bos]
    key = make_key(__file__, settings, inputs, describe_device(processes.device))
    table = read_table(texts, TEXTS)
    loading = Scoring(dtype=lora.dtype if lora else "float32", device="cpu")
    (adapted, *_), tokenizer = load_copies(start, loading, merge=lora is None)
    resume: Resume | None = Resume(weights, key) if processes.count == 1 else None
    if checkpoints is not None and not processes.index:
        steps, alone = settings.list_checkpoints(), processes.count == 1
        resume = Checkpoints(weights, key, steps, start, tokenizer, alone)
    before = "" if lora else hash_weights(adapted)
    losses = train(adapted, tokenizer, table, settings, processes, start.add_bos, resume)
    processes.leave()
    if processes.index:
        return  # the first writes the model, which all of them hold
    if not (has_learned(adapted) if lora else hash_weights(adapted) != before):
        raise InputError("training changed no weight", model, "raise learning_rate or steps")
    save_trained(weights, adapted, tokenizer, start)
    write_rows(curve, losses, TRAINING_CURVE)
    if checkpoints is not None and isinstance(resume, Checkpoints):
        resume.publish(checkpoints, model)
    write_pointer(pointer, point_to_trained(model, weights, start))
    if resume is not None:
        resume.remove()


if __name__ == "__main__":
    run(main)
