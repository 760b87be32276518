"""Names of models in the configuration, looked up before any job starts."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from fathom.config.model_names import ModelName
from fathom.config.section import suggest
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.models.addresses import is_address
from fathom.models.folders import GGUF
from fathom.models.registry import PICKLED, ModelRow, list_fitting, read_registry

_FITTING = 3
"""Rows that a message names where a name is the start of theirs."""


def check_models(config: Config, registry: Path, source: str) -> None:
    """Check that every model that a configuration names is trained, adapted or in the table of models.

    Parameters
    ----------
    config : Config
        The whole configuration.
    registry : Path
        The table of models.
    source : str
        Name of its file, for the message.

    Raises
    ------
    InputError
        With each unknown model, its key and the nearest known name; or if the table cannot be read.
    """
    made = {*config.models.train, *config.models.adapted}
    named = [(key, name) for key, name in _list_names(config) if name not in made]
    entries = read_registry(registry) if named or config.models.follow else {}
    checked = [(key, name, _find_fault(name, entries, made)) for key, name in named]
    wrong = [f"{key} = {name!r}: {fault}" for key, name, fault in checked if fault]
    served = find_served(config, registry)
    wrong += [
        f"{key} = {name!r}: it is behind a server, and this needs its weights"
        for key, name in _list_needing_weights(config)
        if name in served
    ]
    wrong += [
        f"models.optional = {name!r}: neither models.score, models.follow nor a base names it"
        for name in config.models.optional
        if name not in {*config.models.score, *config.models.bases, *chain(*config.models.follow.values())}
    ]
    if config.models.follow:
        wrong += _check_followed(config.models.follow, entries)
    pickled = ", ".join(_find_pickled(config, entries))
    if pickled and not wrong:
        raise InputError(
            f"weights of {pickled} are pickled on the hub, and pickles are never opened",
            str(registry),
            f"models.optional: [{pickled}] lets a run go without; or convert them (docs/models.md, Pickled"
            " weights)",
        )
    if wrong:
        hint = f"models are trained under models.train or listed in {registry}"
        raise InputError("; ".join(wrong), source, hint)


def find_served(config: Config, registry: Path) -> frozenset[str]:
    """Return the models that a configuration names and the table of models has behind a server."""
    made = {*config.models.train, *config.models.adapted}
    named = {name for _, name in (*_list_names(config), *_list_needing_weights(config)) if name not in made}
    entries = read_registry(registry) if named and registry.is_file() else {}
    rows = {name: entries.get(ModelName.parse(name).plain) for name in named}
    return frozenset(name for name, row in rows.items() if row and is_address(row.source))


def _list_needing_weights(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the key and the name of each model whose weights are needed."""
    for place, adaptation in enumerate(config.models.adapt):
        yield f"models.adapt.{place}.base", adaptation.base
    for name, study in config.models.continual.items():
        yield f"models.continual.{name}.base", study.base
    for name, models in config.models.follow.items():
        for place, model in enumerate(models):
            yield f"models.follow.{name}.{place}", model
    prepared = config.train_before_test
    for model in (prepared.models or config.models.scored) if prepared.tasks else []:
        yield "train_before_test.models", model
    for model in config.asked_models:
        yield "choices.models", model
    for model in config.layers.models:
        yield "layers.models", model


def _list_names(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the key and the name of each model that must be known."""
    for place, name in enumerate(config.models.only):
        yield f"models.only.{place}", name
    for place, name in enumerate(config.models.score):
        yield f"models.score.{place}", name
    for place, adaptation in enumerate(config.models.adapt):
        yield f"models.adapt.{place}.base", adaptation.base
    for name, study in config.models.continual.items():
        yield f"models.continual.{name}.base", study.base
    if config.pairs is not None:
        yield "pairs.tokenizer", config.pairs.tokenizer


def _find_pickled(config: Config, entries: Mapping[str, ModelRow]) -> list[str]:
    """Return the models that a run cannot go without and whose row says that their weights are pickled."""
    models = config.models
    used = [*models.scored, *models.followed, *config.coverage.evaluation.models, *config.layers.models]
    asked = {ModelName.parse(name).base for name in models.only}
    needed = dict.fromkeys(ModelName.parse(name).base for name in used)
    return [
        name
        for name in needed
        if name in entries and entries[name].weights == PICKLED
        if name in asked or name not in models.optional
    ]


def _check_followed(follow: Mapping[str, Sequence[str]], entries: Mapping[str, ModelRow]) -> Iterator[str]:
    """Yield a message for each followed model that is unknown or whose row lacks the tokens it has seen."""
    for key, names in follow.items():
        for place, name in enumerate(names):
            where = f"models.follow.{key}.{place} = {name!r}"
            if name not in entries:
                yield f"{where}: there is no such row, {suggest(name, entries)}"
            elif entries[name].tokens is None:
                yield f"{where}: its row does not say how many tokens it has seen; fill in column tokens"


def _find_fault(name: str, entries: Mapping[str, ModelRow], made: Collection[str]) -> str:
    """Return what is wrong with the name of a model that the run does not train; empty if nothing is."""
    plain = ModelName.parse(name).plain
    if plain not in entries and ("/" in name or name.endswith(GGUF)):
        return f"a configuration names rows of the table; `fathom models add {name}` adds one"
    if plain not in entries:
        fitting = list_fitting(plain, entries)
        if fitting and len(fitting) <= _FITTING:
            return f"rows are named in full: {' or '.join(fitting)}"
        return f"there is no such model, {suggest(plain, [*made, *entries])}"
    if plain != name and entries[plain].kind != "chat":
        return f"{plain} is not a chat model"
    return ""
