"""Finished results of a job that makes many, kept apart from its outputs, so that none is made twice."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from fathom.errors import InputError
from fathom.io import paths
from fathom.io.files import hash_file, make_folder, write_atomically, write_json
from fathom.jobs.program import log

_RECORD = "key.json"

Maker = Callable[[Sequence[Path]], object]


class Finished:
    """Finished results of one job, each in a folder of its own.

    Snakemake deletes the outputs of a job that failed, and those of one that it runs again. What lies here
    stays: a job that was interrupted, or is run again for one more domain, takes over what is finished.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def provide(self, name: str, key: str, outputs: Sequence[Path], make: Maker) -> bool:
        """Write the output files of a result: those that lie here under the same key, or new ones.

        Parameters
        ----------
        name : str
            Name of the result, and of its folder here; a result under another key is replaced.
        key : str
            Hash of everything that the result depends on, see :func:`fathom.jobs.resume.make_key`.
        make : callable
            Writes the result into files with the names that it is given, in the order of `outputs`; they end
            as the final names do, for a table carries its place in a run.

        Returns
        -------
        bool
            Whether the result was taken over.
        """
        folder = self._folder / name
        files = [folder / str(place) / _find_end(output) for place, output in enumerate(outputs)]
        found = _is_whole(folder, key, files)
        if not found:
            self._keep(folder, key, files, make)
        for file, output in zip(files, outputs, strict=True):
            _link(file, output)
        return found

    @staticmethod
    def _keep(folder: Path, key: str, files: Sequence[Path], make: Maker) -> None:
        """Make a result in a folder beside its own, then give it its name."""
        new = folder.with_name(f".{folder.name}.new")  # what a killed job left there is replaced
        shutil.rmtree(new, ignore_errors=True)
        make_folder(new)
        try:
            written = [new / file.relative_to(folder) for file in files]
            for file in written:
                make_folder(file.parent)
            make(written)
            write_json(new / _RECORD, {"key": key, "files": [hash_file(file) for file in written]})
            shutil.rmtree(folder, ignore_errors=True)
            new.rename(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _find_end(output: Path) -> str:
    """Return the end of a path that says what its file belongs to in a run; elsewhere its name."""
    return max((each.find_end(output) for each in paths.ALL.values()), key=len, default="") or output.name


def _is_whole(folder: Path, key: str, files: Sequence[Path]) -> bool:
    """Say whether a result lies in a folder, under this key and unchanged."""
    try:
        record = json.loads((folder / _RECORD).read_bytes())
        if record["key"] == key:
            whole: bool = record["files"] == [hash_file(file) for file in files]
            if not whole:
                log.info("%s was changed after it was finished: it is made again", folder)
            return whole
        log.info("%s is made again: inputs, settings or code have changed", folder.name)
    except (FileNotFoundError, InputError):
        pass  # nothing is finished yet, or a file of it was deleted
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.info("%s cannot be read, it is made again: %s", folder, error)
    return False


def _link(file: Path, output: Path) -> None:
    """Give a finished file its final name too, by a link where there can be one, and the present as date."""
    with write_atomically(output) as temporary:
        try:
            os.link(file, temporary)
        except OSError:
            shutil.copyfile(file, temporary)
        os.utime(temporary)  # else Snakemake takes it for older than the inputs of this job
