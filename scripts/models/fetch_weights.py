"""Fetch a registered model from the hub into a folder that is deleted after the model's last job.

Of a model in a local folder it holds links. Corrupt weights are replaced by those of the row's stand-in. An
interrupted download goes on from `.{folder}.partial`; the cache of the hub is not used.
"""

import shutil
from pathlib import Path
from typing import Annotated

from fathom.io.files import write_atomically
from fathom.jobs.signature import run
from fathom.models.fetching import gather_files, locate_sound


def main(
    *,
    model: Annotated[str, "name in the table of models"],
    registry: Annotated[Path, "table of models (models.tsv)"],
    weights: Annotated[Path, "folder of the model to write"],
) -> None:
    """Fetch the model, and gather its files."""
    partial = weights.absolute().with_name(f".{weights.name}.partial")
    entry, folder, revision = locate_sound(model, registry, partial)
    stand_in = "" if entry.name == model else entry.name
    with write_atomically(weights) as temporary:
        gather_files(folder, temporary, partial, revision, stand_in)
    shutil.rmtree(partial, ignore_errors=True)


if __name__ == "__main__":
    run(main)
