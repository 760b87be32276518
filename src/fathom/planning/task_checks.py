"""Checks of tasks of lm-evaluation-harness before any job: names and files."""

import difflib
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from fathom.config.whole import Config
from fathom.errors import InputError

_NAME = re.compile(rb"^[ \t\-]*[\"']?task[\"']?[ \t]*:[ \t]*[\"']?([^\s\"'#\[\]{},]+)", re.MULTILINE)
"""A task's name in its YAML file. The files are not parsed: there are 14,000, and they name functions."""


def check_tasks(config: Config, in_environments: bool = False) -> None:
    """Check that the harness has each task that is tuned for, if it is installed; it is not imported.

    Parameters
    ----------
    config : Config
        The whole configuration.
    in_environments : bool, default=False
        Whether jobs have packages of their own, which this process does not see.

    Raises
    ------
    InputError
        With the key of a task that it does not have and a near name; or if a task's own file is not there.
    """
    tasks = config.train_before_test.tasks
    named = {f"train_before_test.tasks.{key}.task": each.task for key, each in tasks.items() if each.task}
    own = {key for key, task in named.items() if Path(task).suffix in (".yaml", ".yml")}
    for key in sorted(own):
        if not Path(named[key]).is_file():
            raise InputError(f"there is no such task file: {named[key]}", key)
    folders = _find_folders() if len(named) > len(own) and not in_environments else []
    if not folders:
        return
    known = set(_iterate_names(folders))
    for key in sorted(named.keys() - own):
        if named[key] not in known:
            near = difflib.get_close_matches(named[key], known, n=1)
            hint = (
                f"did you mean {near[0]}?" if near else "`lm_eval ls tasks` lists them; a group is not a task"
            )
            raise InputError(f"the harness has no task {named[key]!r}", key, hint)


def _find_folders() -> list[Path]:
    spec = find_spec("lm_eval")
    places = spec.submodule_search_locations if spec else None
    return [Path(place) / "tasks" for place in places or ()]


def _iterate_names(folders: list[Path]) -> Iterator[str]:
    for folder in folders:
        for path in folder.rglob("*.yaml"):
            yield from (name.decode("utf-8", "replace") for name in _NAME.findall(path.read_bytes()))
