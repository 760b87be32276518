"""Folders of trained models: all weights, or the trained adapter, which stays beside its base [LoRA].

Checkpoints are kept until a training is done, so that a stopped one loses none.
"""

import os
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from fathom.config.model_names import ModelName
from fathom.errors import InputError
from fathom.io.files import write_atomically, write_json
from fathom.jobs.program import log
from fathom.jobs.resume import Resume, State
from fathom.models.adapters import ADAPTER_WEIGHTS, TRAINED, list_adapted
from fathom.models.folders import ADAPTER_CONFIG, save_model
from fathom.models.loading import Pointer, check_fingerprint, write_pointer

_SNAPSHOTS = "snapshots"  # as in the hub's cache: models--{organisation}--{name}/snapshots/{commit}


def has_learned(model: Any) -> bool:
    """Tell whether a trained model's adapter has changed."""
    parts = (layer.lora_B for layer in list_adapted(model).values())
    return any(bool(part[TRAINED].weight.any()) for part in parts if TRAINED in part)


def save_trained(folder: Path, model: Any, tokenizer: Any, start: Pointer) -> None:
    """Write a trained model, on the processor, and its tokenizer to one folder, atomically.

    An adapter is written as PEFT reads it, in float32, with the name of its base: an id of the hub and a
    commit, or a folder. If training started from an adapted model, both adapters become one, whose rank is
    the sum of theirs. Raise `InputError` if that one's kind does not allow it.
    """
    from safetensors.torch import save_file

    layers = list_adapted(model)
    if not layers:
        save_model(folder, model, tokenizer)
        return
    weights: dict[str, Any] = {}
    alone = all([*layer.lora_A] == [TRAINED] for layer in layers.values())
    for name, layer in layers.items():
        first, second = _join(name, layer, alone)
        weights[f"base_model.model.{name}.lora_A.weight"] = first
        weights[f"base_model.model.{name}.lora_B.weight"] = second
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        tokenizer.save_pretrained(temporary)
        save_file(weights, temporary / ADAPTER_WEIGHTS, {"format": "pt"})
        write_json(temporary / ADAPTER_CONFIG, {**_name_base(start.path, folder), **_describe(layers, alone)})


def point_to_trained(name: str, folder: Path, start: Pointer) -> Pointer:
    """Return the pointer of a model written by :func:`save_trained`, with its fingerprint."""
    kept = {key: getattr(start, key) for key in ("kind", "add_bos", "licence", "terms")}
    made = Pointer(name, folder, base=start.name, **kept)
    if (folder / ADAPTER_CONFIG).is_file():
        made = replace(made, path=start.path, adapter=folder, quantization=start.quantization)
    return replace(made, fingerprint=check_fingerprint(made))


def _join(name: str, layer: Any, alone: bool) -> tuple[Any, Any]:
    """Return the two matrices of all adapters of a layer together; scaled, unless there is only one."""
    import torch

    firsts, seconds = [], []
    for each, first in layer.lora_A.items():
        if layer.use_dora.get(each) or first.bias is not None or layer.lora_B[each].bias is not None:
            what = "an adapter with magnitudes (DoRA) or biases cannot be trained further"
            raise InputError(what, name, "merge it with PEFT, save the whole model, and start from that")
        firsts.append(first.weight.detach().float())
        seconds.append(layer.lora_B[each].weight.detach().float() * (1 if alone else layer.scaling[each]))
    return torch.cat(firsts).contiguous(), torch.cat(seconds, 1).contiguous()


def _describe(layers: dict[str, Any], alone: bool) -> dict[str, Any]:
    ranks = {name: sum(layer.r.values()) for name, layer in layers.items()}
    rank = max(ranks.values())
    others = {name: each for name, each in ranks.items() if each != rank}
    own = next(iter(layers.values()))
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "inference_mode": True,
        "r": rank,
        "lora_alpha": own.lora_alpha[TRAINED] if alone else rank,
        "rank_pattern": others,
        "alpha_pattern": others,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": bool(getattr(own, "fan_in_fan_out", False)),
        "target_modules": sorted(layers),
    }


def _name_base(base: Path, folder: Path) -> dict[str, str | None]:
    commit, repository = base.name, base.parent.parent.name
    if base.parent.name == _SNAPSHOTS and repository.startswith("models--"):
        identifier = repository.removeprefix("models--").replace("--", "/")
        return {"base_model_name_or_path": identifier, "revision": commit}
    own, wanted = folder.resolve(), base.resolve()
    if own.parent.parent in wanted.parents:  # a relative path within the run, whose folder may move
        return {"base_model_name_or_path": os.path.relpath(wanted, own), "revision": None}
    return {"base_model_name_or_path": str(wanted), "revision": None}


class Checkpoints(Resume):
    """The state of a training, with its checkpoints.

    `steps`: steps whose models are kept. `resumes`: whether to save the state as well; not with several
    processes.
    """

    def __init__(
        self,
        output: Path,
        key: str,
        steps: Collection[int],
        start: Pointer,
        tokenizer: Any,
        resumes: bool = True,
    ) -> None:
        super().__init__(output, key)
        self.steps, self._start, self._tokenizer, self._resumes = sorted(steps), start, tokenizer, resumes

    def is_due(self) -> bool:
        """See :meth:`fathom.jobs.resume.Resume.is_due`."""
        return self._resumes and super().is_due()

    def load(self) -> State | None:
        """Return the saved state, or None if there is none or earlier checkpoints are missing."""
        saved = super().load() if self._resumes else None
        if saved is None:
            return None
        kept = [step for step in self.steps if step <= saved.values["step"]]
        if missing := [step for step in kept if not self._name(step).is_dir()]:
            log.info("starting afresh: the checkpoint of step %s is missing", missing[0])
            return None
        return saved

    def keep(self, step: int, model: Any) -> None:
        """Write the model of a step, or its adapter, if the step is to be kept."""
        if step in self.steps:
            save_trained(self._name(step), model, self._tokenizer, self._start)
            log.info("checkpoint of step %s kept", step)

    def publish(self, folder: Path, model: str) -> None:
        """Write a folder with each checkpoint and its pointer, `step{N}` and `step{N}.json`.

        Uses links to the kept files if possible, so that a stop here loses nothing.
        """
        with write_atomically(folder) as temporary:
            temporary.mkdir()
            for step in self.steps:
                shutil.copytree(self._name(step), temporary / f"step{step}", copy_function=_link)
                name = str(replace(ModelName.parse(model), step=step))
                own = point_to_trained(name, temporary / f"step{step}", self._start)
                write_pointer(temporary / f"step{step}.json", own)

    def _name(self, step: int) -> Path:
        return self.folder / f"step{step}"


def _link(source: str, target: str) -> str:
    """Give a file a second name, or copy it where the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    return target
