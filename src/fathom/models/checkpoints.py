"""Models of some steps of a training, kept until it is done, so that a stopped one loses none."""

import os
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from fathom.config.model_names import ModelName
from fathom.io.files import write_atomically
from fathom.jobs.program import log
from fathom.jobs.resume import Resume, State
from fathom.models.loading import Pointer, write_pointer
from fathom.models.saving import point_to_trained, save_trained


class Checkpoints(Resume):
    """The state of a training, and beside it the models of some of its steps.

    Parameters
    ----------
    steps : collection of int
        Steps whose models are kept.
    resumes : bool
        Whether the state is saved too; not by several processes that train together.
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
        """Return the saved state, or None; one whose earlier checkpoints are not all there is not used."""
        saved = super().load() if self._resumes else None
        if saved is None:
            return None
        missing = [
            step for step in self.steps if step <= saved.values["step"] and not self._name(step).is_dir()
        ]
        if missing:
            log.info("starting afresh: the checkpoint of step %s is missing", missing[0])
            return None
        return saved

    def keep(self, step: int, model: Any) -> None:
        """Write the model of a step, or its adapter; a step that is not to be kept is passed over."""
        if step not in self.steps:
            return
        save_trained(self._name(step), model, self._tokenizer, self._start)
        log.info("checkpoint of step %s kept", step)

    def publish(self, folder: Path, model: str) -> None:
        """Write a folder with each checkpoint and its pointer, `step{N}` and `step{N}.json`.

        Its files are links to those that are kept, where there can be links: a stop here loses nothing.
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
