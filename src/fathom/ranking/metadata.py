"""The `metadata.json` of a folder of scores, in the published format."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import read_json

_BILLION = 1e9


@dataclass(frozen=True)
class Metadata:
    """Metadata in a folder of scores; each part may be empty."""

    metric: dict[str, str] = field(default_factory=dict)
    category: dict[str, str] = field(default_factory=dict)
    corpora: frozenset[str] = frozenset()
    training_examples: dict[str, int] = field(default_factory=dict)
    title: dict[str, str] = field(default_factory=dict)
    kind: dict[str, str] = field(default_factory=dict)
    size: dict[str, tuple[float, float]] = field(default_factory=dict)
    lower_is_better: dict[str, bool] = field(default_factory=dict)
    benchmark_title: dict[str, str] = field(default_factory=dict)


def read_metadata(path: Path | str | None) -> Metadata:
    """Read the `metadata.json` of a folder of scores, in the published format."""
    if path is None:
        return Metadata()
    values = read_json(path)
    if not isinstance(values, dict):
        raise InputError("not a JSON object", str(path), "see docs/ranking.md")
    kinds = {name: kind for kind in ("base", "chat") for name in _part(values, f"{kind}_models", list, path)}
    sizes = _part(values, "pretraining_compute_N_billion_D_billion_tokens", dict, path, dict)
    for model, each in sizes.items():
        if not all(isinstance(each.get(name), int | float) for name in ("N", "D")):
            raise InputError(
                f"the size of {model!r} lacks N and D", str(path), "billions of parameters and of tokens"
            )
    return Metadata(
        metric=_part(values, "metric", dict, path),
        category=_part(values, "task_category", dict, path),
        corpora=frozenset(_part(values, "perplexity_tasks", list, path)),
        training_examples=_part(values, "train_size", dict, path, int),
        title=_part(values, "model_rename", dict, path),
        kind=kinds,
        size={name: (each["N"] * _BILLION, each["D"] * _BILLION) for name, each in sizes.items()},
        lower_is_better=_part(values, "lower_is_better", dict, path, bool),
    )


def _part(values: dict[str, Any], name: str, kind: type, path: Path | str, of: type = str) -> Any:
    part = values.get(name, kind())
    if not isinstance(part, dict | list) or not isinstance(part, kind):
        form = "an object" if kind is dict else "a list"
        raise InputError(f"{name} is not {form}", str(path), "see docs/ranking.md")
    held = part.values() if isinstance(part, dict) else list(part)
    wrong = [each for each in held if not isinstance(each, of)]
    if wrong:
        form = {str: "text", int: "whole numbers", dict: "objects", bool: "true or false"}[of]
        raise InputError(f"{name} holds {wrong[0]!r:.40}, not {form}", str(path), "see docs/ranking.md")
    return part
