"""Checks that models in a configuration are known, and removes optional ones that are not fetched."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from fathom.config.model_names import ModelName
from fathom.config.models import Models
from fathom.config.section import Section, describe_unknown
from fathom.config.whole import Config, read_config
from fathom.errors import InputError
from fathom.io import paths
from fathom.models.registry import PICKLED, ModelRow, is_address, list_fitting, read_registry

_FITTING = 3
"""Most rows to name in a message if a name is a prefix of theirs."""


def check_models(config: Config, registry: Path, source: str) -> None:
    """Check that every model that a configuration names is trained, adapted or in the table of models."""
    made = {*config.models.train, *config.models.adapted}
    named = [(key, name) for key, name in _list_names(config) if name not in made]
    entries = read_registry(registry) if named or config.models.follow else {}
    checked = [(key, _find_fault(name, entries, made)) for key, name in named]
    wrong = [f"{key}: {fault}" for key, fault in checked if fault]
    served = find_served(config, registry)
    wrong += [
        f"{key} = {name!r}: it is behind a server, but this needs its weights"
        for key, name in _list_needing_weights(config)
        if name in served
    ]
    wrong += [
        f"models.optional = {name!r}: it is not in models.score or models.follow, nor a base"
        for name in config.models.optional
        if name not in {*config.models.score, *config.models.bases, *chain(*config.models.follow.values())}
    ]
    if config.models.follow:
        wrong += _check_followed(config.models.follow, entries)
    pickled = ", ".join(_find_pickled(config, entries))
    if pickled and not wrong:
        raise InputError(
            f"the hub has only pickled weights of {pickled}, which are never opened",
            str(registry),
            f"models.optional: [{pickled}] skips them; or convert them (docs/models.md, Pickled weights)",
        )
    if wrong:
        hint = (
            f"train models under models.train, list them in {registry}, or name them by id, path or address"
        )
        raise InputError("; ".join(wrong), source, hint)


def find_served(config: Config, registry: Path) -> frozenset[str]:
    """Return the models of a configuration that are behind a server."""
    made = {*config.models.train, *config.models.adapted}
    named = {name for _, name in (*_list_names(config), *_list_needing_weights(config)) if name not in made}
    entries = read_registry(registry) if named and registry.is_file() else {}
    rows = {name: entries.get(ModelName.parse(name).plain) for name in named}
    return frozenset(name for name, row in rows.items() if row and is_address(row.source))


def _list_needing_weights(config: Config) -> Iterator[tuple[str, str]]:
    yield from _list_bases(config)
    for name, models in config.models.follow.items():
        yield from ((f"models.follow.{name}.{place}", model) for place, model in enumerate(models))
    prepared = config.train_before_test
    tuned = (prepared.models or config.models.scored) if prepared.tasks else []
    yield from (("train_before_test.models", model) for model in tuned)
    yield from (("choices.models", model) for model in config.asked_models)
    yield from (("layers.models", model) for model in config.layers.models)


def _list_names(config: Config) -> Iterator[tuple[str, str]]:
    yield from ((f"models.only.{place}", name) for place, name in enumerate(config.models.only))
    yield from ((f"models.score.{place}", name) for place, name in enumerate(config.models.score))
    yield from _list_bases(config)
    if config.pairs is not None:
        yield "pairs.tokenizer", config.pairs.tokenizer


def _list_bases(config: Config) -> Iterator[tuple[str, str]]:
    yield from ((f"models.adapt.{place}.base", each.base) for place, each in enumerate(config.models.adapt))
    yield from (
        (f"models.continual.{name}.base", each.base) for name, each in config.models.continual.items()
    )


def _find_pickled(config: Config, entries: Mapping[str, ModelRow]) -> list[str]:
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
            where = f"models.follow.{key}.{place}"
            if name not in entries:
                yield f"{where}: {describe_unknown('model', name, entries)}"
            elif entries[name].tokens is None:
                yield f"{where} = {name!r}: its row lacks the tokens that it has seen; fill in column tokens"


def _find_fault(name: str, entries: Mapping[str, ModelRow], made: Collection[str]) -> str:
    """Return what is wrong with the name of a model that the run does not train; empty if valid."""
    plain = ModelName.parse(name).plain
    if plain not in entries:
        fitting = list_fitting(plain, entries)
        if 1 < len(fitting) <= _FITTING:
            return f"several models fit {plain!r}: {' or '.join(fitting)}"
        return describe_unknown("model", plain, [*made, *entries])
    if plain != name and entries[plain].kind != "chat":
        return f"{plain!r} is not a chat model"
    return ""


Keep = Callable[[str], bool]


def leave_out_unfetched(
    config: Config,
    results: Path | str,
    source: str,
    is_made: Callable[[str], bool] = lambda path: Path(path).is_file(),
) -> tuple[Config, list[str]]:
    """Return a configuration without optional models that are not fetched, and their names.

    Models adapted from them are also left out, and both are removed from lists and comparisons, but not
    from `models.only`.

    Raises
    ------
    InputError
        If a required key names a model that is left out.
    """
    models = config.models
    asked = {ModelName.parse(name).base for name in models.only}
    absent = [
        name
        for name in models.optional
        if name not in asked and not is_made(paths.POINTER.of(model=name).under(results))
    ]
    if not absent:
        return config, []
    sections = {name: getattr(config, name) for name in config.model_fields_set}
    changed = _leave_out(config, absent, lambda name: ModelName.parse(name).base not in absent, source)
    try:
        return read_config(sections | changed, source), absent
    except InputError as error:
        hint = f"this key needs {', '.join(absent)}, which models.optional names and is not fetched yet"
        raise InputError(error.what, error.where, hint) from error


def describe_absent(absent: Collection[str], entries: Mapping[str, ModelRow]) -> str:
    """Return why optional models are left out, and how to get them; empty if there are none."""
    if not absent:
        return ""
    pickled = [name for name in absent if name in entries and entries[name].weights == PICKLED]
    fetched = [name for name in absent if name not in pickled]
    ways = [f"`fathom run -c1 fetch` fetches {', '.join(fetched)}"] if fetched else []
    if pickled:
        ways.append(f"weights of {', '.join(pickled)} are pickled: docs/models.md says how to convert them")
    return f"left out, with all models adapted from it: {', '.join(absent)}; {'; '.join(ways)}"


def _leave_out(config: Config, absent: Collection[str], kept: Keep, source: str) -> dict[str, Section]:
    follow = {key: [name for name in names if kept(name)] for key, names in config.models.follow.items()}
    changed = {
        "score": [name for name in config.models.score if kept(name)],
        "adapt": [each for each in config.models.adapt if each.base not in absent],
        "continual": {
            name: each for name, each in config.models.continual.items() if each.base not in absent
        },
        # a figure of a single point is useless
        "follow": {key: names for key, names in follow.items() if len(names) > 1},
    }
    said = {name: getattr(config.models, name) for name in config.models.model_fields_set}
    evaluation = config.coverage.evaluation
    answering = [name for name in evaluation.models if kept(name)]
    sections: dict[str, Section] = {
        "models": Models(**(said | changed)),
        "coverage": _change(config.coverage, evaluation=_change(evaluation, models=answering)),
        "targets": _change(config.targets, against=_keep_pairs(config.targets.against, kept)),
        "layers": _change(config.layers, against=_keep_pairs(config.layers.against, kept)),
    }
    table = config.ranking.corpus_table
    listed = _change(table, models=[name for name in table.models if kept(name)])
    sections["ranking"] = _change(config.ranking, corpus_table=listed)
    for key in ("layers", "choices", "train_before_test"):
        section = sections.get(key, getattr(config, key))
        names = [name for name in section.models if kept(name)]
        if section.models and not names:  # an empty list would mean all
            what = f"{key}.models names only models that are not fetched: {', '.join(section.models)}"
            hint = f"add others there, or remove {', '.join(absent)} from models.optional"
            raise InputError(what, source, hint)
        sections[key] = _change(section, models=names)
    return sections


def _change(section: Any, **changes: Any) -> Any:
    return type(section)(**{name: getattr(section, name) for name in section.model_fields_set} | changes)


def _keep_pairs(against: Mapping[str, str], kept: Keep) -> dict[str, str]:
    return {name: other for name, other in against.items() if kept(name) and kept(other)}
