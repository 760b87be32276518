"""The folder of this workflow, which another one may use as a module; the run's own folder is the working folder."""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from snakemake.sourcecache import HostingProviderFile, LocalSourceFile


def find_root():
    """Return the folder of this workflow, or a whole copy if Snakemake reads it from a Git repository."""
    here = workflow.current_basedir
    if isinstance(here, LocalSourceFile):
        return Path(here.path).parents[1]
    # rules are fetched file by file, but programs and library are needed whole
    if isinstance(here, HostingProviderFile):
        here.cache_path = workflow.sourcecache.cache_path
        repository = here.hosted_repo.repo.git_dir
    else:
        repository = here.repo_path
    return unpack(["git", "-C", str(repository)], here.ref) / Path(here.path).parents[1]


def unpack(git, ref):
    """Return a folder with the files of a repository at a commit, made once and atomically."""
    commit = subprocess.check_output(
        [*git, "rev-parse", f"{ref}^{{commit}}"], text=True
    )
    folder = Path(workflow.source_cache_path, "fathom", commit.strip())
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        archive = subprocess.check_output([*git, "archive", commit.strip()])
        with tempfile.TemporaryDirectory(dir=folder.parent) as place:
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(Path(place, "whole"), filter="data")
            try:
                os.rename(Path(place, "whole"), folder)
            except OSError:
                if not folder.exists():  # else another run was faster
                    raise
    return folder


ROOT = find_root()
sys.path.insert(0, str(ROOT / "src"))  # a clone; else the installed library is imported

import fathom

LIBRARY = Path(fathom.__file__).parent
