"""Checkpoints of a folder that is watched, one after the other, each once it is complete."""

from collections.abc import Collection
from pathlib import Path

from fathom.errors import InputError
from fathom.jobs.program import log
from fathom.models.arriving import Signature, find_lack, list_arrivals, sign_files
from fathom.models.fetching import find_pointer
from fathom.studies.watching import TIED, UnusablePairsError, Watch


class Arrivals:
    """What arrives in a folder, and what was said of it.

    Parameters
    ----------
    base : str or None
        What adapters are applied to; None: the folder that they name.

    Attributes
    ----------
    changing : bool
        Whether files of any checkpoint changed since the look before: one is being written.
    """

    def __init__(self, folder: Path, base: str | None) -> None:
        self._folder, self._base, self.changing = folder, base, False
        self._seen: dict[str, Signature] = {}
        self._passed: dict[str, Signature] = {}
        self._said: dict[str, str] = {}

    @property
    def passed(self) -> list[str]:
        """Names of what was passed over and is so still."""
        return sorted(name for name, signature in self._passed.items() if self._seen.get(name) == signature)

    def find_next(self, scored: Collection[str]) -> Path | None:
        """Return the first complete checkpoint that was not scored; None while there is none.

        A checkpoint is complete if nothing is missing and its files are as they were at the look before. One
        that cannot be used is passed over, with one message, until its files change.
        """
        found = [each for each in list_arrivals(self._folder) if each.name not in scored]
        now = {each.name: signature for each in found if (signature := self._sign(each)) is not None}
        changed = {name for name, signature in now.items() if self._seen.get(name) != signature}
        self._seen, self.changing = now, bool(changed)
        for each in found:
            name = each.name
            if name in changed:
                return None  # it is first in the order of steps
            if name in now and self._passed.get(name) != now[name] and self._is_whole(each):
                return each
        return None

    def score(self, watch: Watch, folder: Path) -> bool:
        """Score a checkpoint; return False, with one message, if it cannot be scored."""
        try:
            # a whole model needs no base
            adapter = (folder / "adapter_config.json").is_file() and not (folder / "config.json").is_file()
            watch.look(folder.name, find_pointer(folder, self._base if adapter else None))
        except UnusablePairsError:
            raise
        except (InputError, OSError) as error:
            if str(watch.output) in str(error):
                raise  # the watch's own files: no checkpoint can be scored
            self._pass_over(folder, error)
            return False
        if watch.rows[-1]["tied"]:
            log.warning(TIED.format(folder.name))
        return True

    def _sign(self, folder: Path) -> Signature | None:
        try:
            return sign_files(folder)
        except (InputError, OSError) as error:
            self._say(folder, f"cannot be read: {error}")
            return None

    def _is_whole(self, folder: Path) -> bool:
        """Tell whether a checkpoint is complete; if not, say once what it lacks."""
        try:
            lack = find_lack(folder)
        except (InputError, OSError) as error:
            self._pass_over(folder, error)
            return False
        if lack:
            self._say(folder, f"waits: {lack}")
        return not lack

    def _pass_over(self, folder: Path, error: Exception) -> None:
        """Leave a checkpoint out until its files change; say why."""
        self._passed[folder.name] = self._seen[folder.name]
        if folder.is_dir():
            self._say(folder, f"is passed over: {error}")
        else:
            self._say(folder, "was deleted before it was scored")

    def _say(self, folder: Path, what: str) -> None:
        if self._said.get(folder.name) != what:
            self._said[folder.name] = what
            log.warning("%s %s", folder.name, what)
