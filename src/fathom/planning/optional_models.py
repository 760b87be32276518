"""A run without the optional models that it has not fetched: they leave every list that names them."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from fathom.config.model_names import ModelName
from fathom.config.models import Models
from fathom.config.section import Section
from fathom.config.whole import Config, read_config
from fathom.errors import InputError
from fathom.io import paths
from fathom.models.registry import PICKLED, ModelRow

Keep = Callable[[str], bool]


def leave_out_unfetched(
    config: Config,
    results: Path | str,
    source: str,
    is_made: Callable[[str], bool] = lambda path: Path(path).is_file(),
) -> tuple[Config, list[str]]:
    """Return a configuration without the optional models that a run has not fetched, and their names.

    Models that are adapted from them are left out, too, and no list or comparison names either. `models.only`
    says which models there are, so what it names stays.

    Raises
    ------
    InputError
        If a key that cannot be without a model needs one that is left out.
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
        hint = f"models.optional names {', '.join(absent)}, not fetched yet, and this key needs it"
        raise InputError(error.what, error.where, hint) from error


def describe_absent(absent: Collection[str], entries: Mapping[str, ModelRow]) -> str:
    """Return why a run goes without optional models, and how it gets them; nothing if there are none."""
    if not absent:
        return ""
    pickled = [name for name in absent if name in entries and entries[name].weights == PICKLED]
    fetched = [name for name in absent if name not in pickled]
    ways = [f"`fathom run -c1 fetch` fetches {', '.join(fetched)}"] if fetched else []
    if pickled:
        ways.append(f"weights of {', '.join(pickled)} are pickled: docs/models.md says how to convert them")
    return f"left out, with what is adapted from it: {', '.join(absent)}; {'; '.join(ways)}"


def _leave_out(config: Config, absent: Collection[str], kept: Keep, source: str) -> dict[str, Section]:
    """Return the sections that name models, without those that are absent."""
    follow = {key: [name for name in names if kept(name)] for key, names in config.models.follow.items()}
    changed = {
        "score": [name for name in config.models.score if kept(name)],
        "adapt": [each for each in config.models.adapt if each.base not in absent],
        "continual": {
            name: each for name, each in config.models.continual.items() if each.base not in absent
        },
        # a figure of a single point says nothing
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
            raise InputError(
                f"{key}.models names only models that have not been fetched: {', '.join(section.models)}",
                source,
                f"name others there, too, or take {', '.join(absent)} out of models.optional",
            )
        sections[key] = _change(section, models=names)
    return sections


def _change(section: Any, **changes: Any) -> Any:
    return type(section)(**{name: getattr(section, name) for name in section.model_fields_set} | changes)


def _keep_pairs(against: Mapping[str, str], kept: Keep) -> dict[str, str]:
    """Return the comparisons of which both models are there."""
    return {name: other for name, other in against.items() if kept(name) and kept(other)}
