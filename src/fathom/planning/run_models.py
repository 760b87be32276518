"""Models in a configuration by their usual names: their rows, pinned in the run's own table of models."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from fathom.config.model_names import ModelName
from fathom.config.models import Models
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.names import NAME
from fathom.io.places import RUNS, find_own
from fathom.jobs.program import log
from fathom.models.folders import GGUF
from fathom.models.named import find_rows, place_rows, write_models
from fathom.models.registry import (
    CHAT,
    ModelRow,
    find_known,
    is_address,
    is_local,
    list_fitting,
    read_registry,
    split_chat,
)

_NAMING = (
    ("pairs", "tokenizer"),
    ("models", "adapt", "*", "base"),
    ("models", "continual", "*", "base"),
    ("models", "score", "*"),
    ("models", "follow", "*", "*"),
    ("models", "only", "*"),
)
"""Keys that define the models."""
_REPEATING = (
    ("models", "optional", "*"),
    ("layers", "models", "*"),
    ("layers", "against"),
    ("targets", "against"),
    ("train_before_test", "models", "*"),
    ("choices", "models", "*"),
    ("coverage", "evaluation", "models", "*"),
    ("coverage", "questions", "*", "writer"),
    ("ranking", "corpus_table", "models", "*"),
)
"""Keys that refer to these models; under `against` both keys and values are models."""

Say = Callable[[str], object]
Change = Callable[[str, str], str]
"""Takes the key of a text and the text; returns what takes its place."""


def locate_models(run: str) -> Path:
    """Return the path of a run's own table of models, for models that no table has."""
    return Path(RUNS, run, paths.MODELS.below)


def find_table(config: Config, root: Path) -> Path:
    """Return the table that has all models of a checked configuration: the run's own, if it needs one."""
    table, own = find_own(config.models.registry, root), locate_models(config.run)
    if not own.is_file():
        return table
    models = config.models
    tokenizers = [config.pairs.tokenizer] if config.pairs else []
    named = (*models.bases, *models.scored, *models.offered, *models.followed, *models.optional, *tokenizers)
    made = {*models.train, *models.adapted, *models.checkpoints}
    rows = {ModelName.parse(name).plain for name in named if name not in made}
    return table if rows <= read_registry(table).keys() else own


def pin_models(
    values: Mapping[str, Any], root: Path, source: str, say: Say | None = log.info
) -> dict[str, Any]:
    """Replace ids, folders, files, adapters and addresses in a configuration by names of rows.

    What the table of models lacks is read from the hub or the disk once, and written into the run's own
    table, pinned to a commit. A configuration that names rows needs neither.

    Parameters
    ----------
    root : Path
        The folder of the workflow.
    source : str
        Where the values come from, for messages.
    say : callable, optional
        Gets a line on each pinned model. None in a job, which only reads what was pinned when the run was
        planned.

    Raises
    ------
    InputError
        If a name fits nothing, the hub refuses the model, or a model of this name is trained.
    """
    pinned = dict(values)
    run = values.get("run", Config.model_fields["run"].default)
    models = values["models"] if isinstance(values.get("models"), Mapping) else {}
    table = models.get("registry", Models.model_fields["registry"].default)
    sections = [models.get(key) for key in ("train", "speaking")]
    made = {name for each in sections if isinstance(each, Mapping) for name in each}
    named = [text for path in _NAMING for text in _list_texts(values, path)]
    is_plain = all(_is_made(each, made) for each in named)
    # other types are left to the checks of values
    if is_plain or not isinstance(table, str) or not isinstance(run, str) or not re.fullmatch(NAME, run):
        return pinned
    names = _Names(find_own(table, root), locate_models(run), made, source, say)
    for path in _NAMING:
        pinned = _replace(pinned, path, names.find)
    for path in _REPEATING:
        pinned = _replace(pinned, path, names.recall)
    names.write()
    return pinned


class PinnedModels:
    """Rows of a table of models, and further rows of a run's own table.

    `own`: the run's own table, see :func:`locate_models`. `is_here`: whether folders in rows are on this
    machine: rows of missing folders are dropped.
    """

    def __init__(self, table: Path, own: Path, is_here: bool = True) -> None:
        self.table, self.own = table, own
        self.known = read_registry(table) if table.is_file() or not own.is_file() else {}
        added = read_registry(own) if own.is_file() else {}
        added = {name: row for name, row in added.items() if row.asked and name not in self.known}
        folders = {name: row.source for name, row in added.items() if is_here and row.source.startswith("/")}
        gone = {name for name, folder in folders.items() if not Path(folder).exists()}
        while more := {
            name
            for name, row in added.items()
            if name not in gone and not gone.isdisjoint((row.adapter_of, row.original, row.base_of))
        }:
            gone |= more
        self._added = {name: row for name, row in added.items() if name not in gone}

    @property
    def rows(self) -> dict[str, ModelRow]:
        """All rows by name."""
        return {**self.known, **self._added}

    def add(self, row: ModelRow) -> bool:
        """Add a row; return whether its name is new."""
        is_new = row.name not in self.rows
        if is_new:
            self._added[row.name] = row
        return is_new

    def write(self) -> None:
        """Write the run's own table, unless it is unchanged or has no row of its own."""
        rows = [*place_rows(self.known.values(), self.table), *self._added.values()]
        there = self.own.is_file() and list(read_registry(self.own).values()) == rows
        if self._added and not there:
            self.own.parent.mkdir(parents=True, exist_ok=True)
            write_models(self.own, rows)


class _Names:
    """Rows of the models of a configuration, by the names that it gives them."""

    def __init__(self, table: Path, own: Path, made: Collection[str], source: str, say: Say | None) -> None:
        self._models = PinnedModels(table, own, say is not None)
        self._made, self._source, self._say = made, source, say
        self._given = dict[str, str]()
        self.write = self._models.write if say is not None else lambda: None

    def find(self, key: str, text: str) -> str:
        """Return the row of a name, pinned if new; text that cannot be a model is unchanged."""
        if (found := self.recall(key, text)) != text:
            return found
        name, is_chat = split_chat(text)
        rows = self._models.rows
        if name in rows or _is_made(name, self._made) or not _is_name(name, rows):
            return text
        where = f"{key}, {self._source}"
        found = self._look_up(text, where) if self._say else self._require_pinned(name, where)
        self._given[name] = found
        return f"{found}{CHAT}" if is_chat else found

    def recall(self, key: str, text: str) -> str:
        """Return the row of a name that was found before, or of a model derived from it."""
        name, is_chat = split_chat(text)
        fitting = (each for each in self._given if name == each or name.startswith(f"{each}+"))
        given = max(fitting, default="")  # the longest: all are beginnings of one name
        if not given:
            return text
        return self._given[given] + name.removeprefix(given) + (CHAT if is_chat else "")

    def _look_up(self, name: str, where: str) -> str:
        rows = find_rows(name, self._models.rows, where)
        for row in rows:
            if row.name in self._made:
                hint = "rename one of them"
                raise InputError(
                    f"{name} would be called {row.name}, like a model that is trained", where, hint
                )
            if self._models.add(row) and self._say:
                self._say(f"{row.asked}: row {row.name} of {self._models.own}, {row.revision or row.source}")
        return rows[-1].name

    def _require_pinned(self, name: str, where: str) -> str:
        rows = self._models.rows
        row = find_known(name, rows)
        found = [row.name] if row else list_fitting(name, rows)
        if len(found) != 1:
            what = f"{name} is not in the run's table of models, {self._models.own}"
            raise InputError(what, where, "plan the run again")
        return found[0]


def _is_made(name: str, made: Collection[str]) -> bool:
    return ModelName.parse(name).base in made


def _is_name(name: str, rows: Mapping[str, ModelRow]) -> bool:
    """Say whether a text may name a model by other than its row: an id, a path, a short name."""
    if "/" in name or name.lower().endswith((GGUF, ".json")) or is_local(name) or is_address(name):
        return True
    if "@" in ModelName.parse(name).base:  # no name of a model that a run makes
        return True
    return re.fullmatch(NAME, name) is not None and len(list_fitting(name, rows)) == 1


def _list_texts(values: Any, path: Sequence[str]) -> list[str]:
    found: list[str] = []

    def note(_: str, text: str) -> str:
        found.append(text)
        return text

    _replace(values, path, note)
    return found


def _replace(values: Any, path: Sequence[str], change: Change, key: str = "") -> Any:
    if not path:
        if isinstance(values, Mapping):
            return {change(key, each): _replace(other, (), change, key) for each, other in values.items()}
        return change(key, values) if isinstance(values, str) else values
    first, *rest = path
    prefix = f"{key}." if key else ""
    if isinstance(values, Mapping):
        keys = values if first == "*" else [first] if first in values else []
        changed = {each: _replace(values[each], rest, change, f"{prefix}{each}") for each in keys}
        return {**values, **changed}
    if isinstance(values, list) and first == "*":
        return [_replace(each, rest, change, f"{prefix}{place}") for place, each in enumerate(values)]
    return values
