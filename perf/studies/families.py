"""What works for which family of models: tiny random ones of each are scored, looked into and trained.

    .venv/bin/python -m perf.studies.families [FAMILY...] --table docs/results/families.csv

`scores` compares a padded batch with each sequence alone and with the
model's own logits, `layers` asks for the last layer's logits, `LoRA` and `all weights` train three steps,
save, resume and compare the bytes, and read back the model that is written.
"""

import argparse
import csv
import multiprocessing
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging

from fathom.config.adapter import Adapter
from fathom.config.models import Adaptation
from fathom.errors import InputError
from fathom.io.files import write_atomically
from fathom.layers.projection import open_layer_reader
from fathom.models.adapters import add_adapter, find_modules, list_adapted
from fathom.models.parallel import SingleProcess
from fathom.models.text_model import choose_class, list_other_weights
from fathom.models.training import choose_losses, make_stepper
from fathom.planning.rehearsal.tiny_models import CONTEXT, ENTRIES, FAMILIES, WRAPPERS, make_family
from fathom.scoring.logits import choose_projection, evaluate_models, score_batch
from fathom.scoring.scored_sequences import ScoredSequence

IDS = [5, 9, 33, 2, 7, 60, 11, 40, 18]
SETTINGS = Adaptation(base="m", paths=[["d"]], batch=4, sequence=16, precision="float32")


def try_scores(kind: str) -> str:
    """Return `yes`, with how logits are computed; raise if a batch changes a score, or logits are others."""
    model = make_family(kind)
    sequences = [ScoredSequence(tuple(IDS[:n]), [(at, IDS[at + 1]) for at in range(n - 1)]) for n in (9, 4)]
    with evaluate_models([model]):
        projection = choose_projection(model, IDS, kind)
        together = score_batch(projection, sequences, "cpu").log_probability
        alone = [score_batch(projection, [each], "cpu").log_probability for each in sequences]
        own = model(input_ids=torch.tensor([IDS]), use_cache=False).logits[0].log_softmax(1)
    expected = [float(own[at, IDS[at + 1]]) for at in range(8)]
    batch = max(abs(a - b) for a, b in zip(together, [*alone[0], *alone[1]], strict=True))
    change = max(abs(a - b) for a, b in zip(alone[0], expected, strict=True))
    if batch > 1e-4:
        raise InputError(f"padding changes a log-probability by {batch:.2g}", kind)
    if change > 1e-4:
        raise InputError(f"log-probabilities differ by {change:.2g}", kind)
    return "yes" if projection.name != "native logits" else "yes, native"


def try_layers(kind: str) -> str:
    """Return `yes`; raise if the last layer does not give the model's logits."""
    with torch.inference_mode():
        reader = open_layer_reader(make_family(kind), IDS, kind)
    return "yes" if reader.final else "yes, no final norm"


def try_adapter(kind: str) -> str:
    """Return how many kinds of modules have an adapter, after a training with it."""

    def add(model: Any) -> None:
        add_adapter(model, Adapter(rank=2, dropout=0.0), kind)

    modules = find_modules(make_family(kind), "all", kind)
    _train(kind, add)
    return ", ".join(sorted({each.rpartition(".")[2] for each in modules}))


def try_all_weights(kind: str) -> str:
    """Return `yes` after a training of all weights; raise if those for images have changed."""

    def freeze(model: Any) -> None:
        for weight in list_other_weights(model):
            weight.requires_grad_(False)

    model, before = _train(kind, freeze), make_family(kind)
    pairs = zip(list_other_weights(model), list_other_weights(before), strict=True)
    if not all(torch.equal(one, other) for one, other in pairs):
        raise InputError("weights for images have changed", kind)
    return "yes"


def _train(kind: str, prepare: Callable[[Any], None]) -> Any:
    """Train three steps, once in one go and once stopped after the second; write and read the model."""
    batches = torch.randint(2, ENTRIES, (3, 4, 16), generator=torch.Generator().manual_seed(0))
    whole = _start(kind, prepare, batches[0])
    first = [whole.take(batch, 1e-2) for batch in batches[:2]]
    saved = whole.list_values(), {name: array.copy() for name, array in whole.list_arrays().items()}
    whole.take(batches[2], 1e-2)
    resumed = _start(kind, prepare, batches[0])
    resumed.restore(*saved)
    resumed.take(batches[2], 1e-2)
    wrong = [name for name, each in whole.weights.items() if not torch.equal(each, resumed.weights[name])]
    if wrong or first[0] == first[1]:
        raise InputError(f"a resumed training ends elsewhere: {wrong[:1]}", kind)
    return _read_back(whole.model, batches[0], kind)


def _start(kind: str, prepare: Callable[[Any], None], batch: torch.Tensor) -> Any:
    model = make_family(kind)
    prepare(model)
    return make_stepper(model, SETTINGS, SingleProcess(), choose_losses(model, batch[:1]))


def _read_back(model: Any, ids: torch.Tensor, kind: str) -> Any:
    """Write a trained model and read it; raise if its logits are others."""
    model.eval()
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        expected = model(input_ids=ids, use_cache=False).logits
        layers = list_adapted(model)
        for layer in layers.values():
            layer.merge()
        for name, layer in layers.items():
            if not name.endswith(".base_layer"):  # two adapters of one module lie in each other
                model.set_submodule(name, layer.get_base_layer())
        model.save_pretrained(folder)
        found = choose_class(model.config, kind).from_pretrained(folder).eval()
        change = float((found(input_ids=ids, use_cache=False).logits - expected).abs().max())
    if not change < 1e-3:
        raise InputError(f"logits of the written model differ by {change:.2g}", kind)
    return model


FAILURES = (InputError, RuntimeError, ValueError, TypeError, AttributeError, LookupError)
TRIALS = {"scores": try_scores, "layers": try_layers, "LoRA": try_adapter, "all weights": try_all_weights}


def try_all(kind: str) -> list[str]:
    """Return a row of the table."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(1)
    cells = [kind]
    for attempt in TRIALS.values():
        try:
            cells.append(attempt(kind))
        except FAILURES as error:  # the table says which
            cells.append(f"no: {' '.join(str(error).split())[:140]}")
    return cells


def main() -> None:
    """Write the table; print its rows as they come."""
    assert CONTEXT > 16
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="all if none is named")
    parser.add_argument("--table", type=Path, help="where to write, such as docs/results/families.csv")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    kinds, rows = arguments.families or [*FAMILIES, *WRAPPERS], [["family", *TRIALS]]
    with multiprocessing.get_context("spawn").Pool(arguments.processes) as workers:
        for row in workers.imap(try_all, kinds):
            print(" | ".join(row), flush=True)
            rows.append(row)
    if arguments.table is not None:
        with write_atomically(arguments.table) as draft, draft.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
