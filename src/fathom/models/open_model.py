"""All measurements of one model, with one load of its weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from fathom.config.scoring import Scoring
from fathom.errors import InputError
from fathom.io.files import hash_file, require_file
from fathom.jobs.devices import describe_device, pick_devices
from fathom.jobs.program import log
from fathom.jobs.resume import Finished, Resume, make_key
from fathom.models.adapters import check_adapter
from fathom.models.folders import check_folder
from fathom.models.loading import Pointer, describe_loaded, identify, load_copies, refuse_server
from fathom.models.placement import find_input_device


class OpenModel:
    """A model for several measurements, loaded when the first of them needs it.

    `threads`: of PyTorch; reference results use 1. `gpus`: number of visible GPUs that share the work,
    if `settings.device` is `auto`; 0: none, the processor.
    """

    def __init__(self, pointer: Pointer, settings: Scoring, threads: int = 1, gpus: int = 1) -> None:
        if threads < 1 or gpus < 0:
            raise InputError("must be 1 or more, of GPUs 0 or more", "--threads, --gpus")
        self.pointer, self.settings, self._threads, self._gpus = pointer, settings, threads, gpus

    @cached_property
    def copies(self) -> list[Any]:
        """The model, on each device that shares the work; once if it does not fit one."""
        return self._loaded[0]

    @property
    def model(self) -> Any:
        """The model, on its first device."""
        return self.copies[0]

    @property
    def batch_tokens(self) -> int:
        """Tokens in a batch on its devices."""
        return self.settings.count_tokens(find_input_device(self.model).type)

    @property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        return self._loaded[1]

    @cached_property
    def description(self) -> dict[str, Any]:
        """Description of the model for reports, see :func:`fathom.models.loading.describe_loaded`."""
        return describe_loaded(self.pointer, self.model, self.settings.dtype)

    @cached_property
    def key(self) -> list[Any]:
        """What results depend on besides settings and inputs; known before the model is loaded."""
        refuse_server(self.pointer)
        check_folder(self.pointer.path)
        if self.pointer.adapter is not None:
            check_adapter(self.pointer.adapter)
        machine = describe_device(pick_devices(self.settings.device, "scoring.device", self._gpus)[0])
        return [identify(self.pointer), self.settings.model_dump(mode="json"), self._threads, machine]

    @cached_property
    def _loaded(self) -> tuple[list[Any], Any]:
        import torch

        torch.set_num_threads(self._threads)
        return load_copies(self.pointer, self.settings, self._gpus)


@dataclass(frozen=True)
class Measurement:
    """A measurement of a model, from files to files.

    `name` is unique among the measurements of a model, such as `cs.AI.perplexity`. The source of `module` and
    of what it imports decides whether a result is current; `settings` are what it depends on besides
    `Scoring`. `measure` takes the model, the names of the files to write in the order of `outputs`, and as
    `resume` the state of an earlier attempt that was stopped.
    """

    name: str
    module: str
    inputs: Sequence[Path]
    outputs: Sequence[Path]
    settings: Any
    measure: Callable[..., object]

    def make_key(self, model: OpenModel) -> str:
        """Return a hash of everything that the result depends on."""
        hashes = [hash_file(require_file(path)) for path in self.inputs]
        return make_key(self.module, model.key, self.settings, hashes)


def measure_all(model: OpenModel, measurements: Sequence[Measurement], finished: Path) -> None:
    """Make all measurements of a model, without loading it if all are finished.

    Finished results are kept in `finished` and reused, see :class:`fathom.jobs.resume.Finished`.
    """
    kept = Finished(finished)
    for each in measurements:
        key = each.make_key(model)
        resume = Resume(each.outputs[0], key)
        make = partial(each.measure, model, resume=resume)
        taken_over = kept.provide(each.name, key, each.outputs, make)
        resume.remove()
        if taken_over:
            log.info("%s: %s was finished before", model.pointer.name, each.name)
