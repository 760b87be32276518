"""Starting Snakemake on a workflow, as people do who type its name."""

import sys
from collections.abc import Sequence
from pathlib import Path

from fathom.io.places import find_own, find_root
from fathom.jobs.child import run_to_end
from fathom.jobs.extras import require_extra
from fathom.jobs.program import log
from fathom.planning.caches import place_caches
from fathom.planning.plans import find_snakefile

_YAML = (".yaml", ".yml")
_PROFILE = "--profile"


def start_snakemake(words: Sequence[str]) -> int:
    """Run Snakemake on the workflow of the working folder, else on Fathom's own; return its exit code.

    Parameters
    ----------
    words : sequence of str
        Its options and targets. Configurations that are not in the working folder are Fathom's own, and
        so are profiles that Snakemake does not find.

    Raises
    ------
    InputError
        If Snakemake, or what the workflow needs beside it, is not installed, or has no place for its cache.
    """
    require_extra("workflow", "fathom run")
    place_caches()
    own = [_find_word(word, before) for before, word in zip(["", *words], words, strict=False)]
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(find_snakefile(None)), *own]
    return run_to_end(command)


def _find_word(word: str, before: str) -> str:
    """Return an option or target, with files and profiles that only Fathom has by their paths."""
    if before == _PROFILE:
        return find_profile(word)
    if word.startswith(f"{_PROFILE}="):
        return f"{_PROFILE}={find_profile(word.partition('=')[2])}"
    return str(find_own(word)) if word.endswith(_YAML) and not Path(word).exists() else word


def find_profile(name: str) -> str:
    """Return a profile as it is given, or the folder of Fathom's own if Snakemake finds none so called."""
    from platformdirs import AppDirs  # of Snakemake, as are the places

    own, of_user = find_root() / "profiles" / name, AppDirs("snakemake", "snakemake")
    places = (".", of_user.user_config_dir, of_user.site_config_dir)
    if not name or not own.is_dir() or any(Path(place, name).exists() for place in places):
        return name
    log.info("%s %s is Fathom's own; to adapt it to your cluster: cp -r %s %s", _PROFILE, name, own, name)
    return str(own)
