"""What a page shows beside its own charts: finished tables and figures of other parts of a run."""

import base64
from pathlib import Path
from typing import Any

from fathom.io.files import read_delimited, read_json
from fathom.statistics.aggregates import LEADING, STATISTICS

TABLES = (
    ("summary.csv", "Every metric of every model, with intervals"),
    ("comparisons.csv", "Every two models: who is ahead, how far, and whether they are apart"),
    ("groups.csv", "Models by rank, with letters for those that cannot be told apart"),
    ("correlations.csv", "How far benchmarks and metrics agree on the order of models"),
    ("references.csv", "Ranks on references beyond the first"),
    ("*/targets/target-groups.csv", "Best and worst targets of adapted models, by nearness to the domain"),
    ("*/targets/best-and-worst.csv", "Best and worst targets of adapted models"),
    ("*/layers/layers.csv", "Attribute rates and targets by layer"),
    ("*/layers/layer-changes.csv", "Changes between layers"),
    ("*/layers/layer-onsets.csv", "Layers at which knowledge appears"),
    ("following/*.csv", "Models over their training"),
    ("tuning.csv", "Models before and after tuning for a task"),
    ("ranking/*.csv", "How far rankings agree"),
    ("choices/accuracy.csv", "Multiple choice: right answers by how questions are asked"),
    ("choices/orders.csv", "Multiple choice: over all orders of the options"),
    ("choices/rankings.csv", "Multiple choice: how far rankings agree"),
    ("choices/diagnosis.csv", "Multiple choice: what is behind the answers"),
    ("*/coverage/correlations.csv", "The corpus that is kept by threshold"),
)
"""Tables that are shown, and what they hold."""

MOST_ROWS = 5_000
"""Rows of a table that is shown; a longer one is linked."""

FIGURE_BYTES = 3_000_000
"""Bytes of figures inside a page; further ones are linked."""

_REPEATING = tuple(f".{name}" for name in STATISTICS if name != LEADING.name)
_KINDS = {
    "model-ranks": "Models by rank",
    "metrics": "By every metric",
    "references": "References",
    "sizes": "By size",
    "dates": "Before and after the end of the training text",
    "chat-models": "Chat models less their bases",
    "claims": "The papers' claims",
    "targets": "Best and worst targets",
    "layers": "Layers",
    "following": "Over training",
    "coverage": "Coverage of the domain",
    "expansion": "Expansion of the corpus",
    "controls": "Knowledge or style",
    "adapted": "Adapted models",
    "paths": "Paths of adaptation",
    "ranking": "Rankings",
    "order": "Domains by similarity",
    "stages": "Stages of training",
    "choices": "Multiple choice",
}


def collect_tables(run: Path) -> list[dict[str, Any]]:
    """Return the finished tables of a run: name, what it holds, columns, rows; long ones without rows."""
    found: list[dict[str, Any]] = []
    for pattern, about in TABLES:
        for path in sorted(run.glob(pattern)):
            rows = read_delimited(path, ",")
            name = path.relative_to(run).as_posix()
            entry: dict[str, Any] = {"name": name, "about": about, "count": len(rows), "rows": []}
            if rows:
                entry["columns"] = list(rows[0])
            if rows and len(rows) <= MOST_ROWS:
                entry["rows"] = [list(row.values()) for row in rows]
            found.append(entry)
    for path in sorted(run.glob("*/benchmark/*/coverage.json")):
        values = sorted(read_json(path).items())
        lines = [[key, str(value)] for key, value in values if isinstance(value, str | int | float)]
        name = path.relative_to(run).as_posix()
        about = "How far the benchmark covers its domain"
        found.append(
            {"name": name, "about": about, "count": len(lines), "columns": ["what", "value"], "rows": lines}
        )
    return found


def collect_figures(run: Path) -> tuple[list[dict[str, str]], dict[str, str]]:
    """Return the figures of a run: name, caption and the id of an image each, and images in base64 by id.

    Those that repeat others with another statistic come last. Beyond FIGURE_BYTES a figure has no image.
    """
    found, images, used = [], {}, 0
    paths = sorted(run.glob("figures/*.png"), key=lambda path: (path.stem.endswith(_REPEATING), path.name))
    for number, path in enumerate(paths):
        used += path.stat().st_size
        name = f"figure-{number}" if used <= FIGURE_BYTES else ""
        if name:
            images[name] = base64.b64encode(path.read_bytes()).decode("ascii")
        found.append({"name": path.name, "caption": _describe(path.stem), "image": name})
    return found, images


def _describe(name: str) -> str:
    """Return a caption for a figure from its name, such as `machine-learning.targets.MODEL`.

    Names of domains and models may hold dots, so that what stands on either side of the kind stays whole.
    """
    parts = name.split(".")
    for place, part in enumerate(parts):
        if part in _KINDS:
            statistic = STATISTICS[parts.pop()].label if parts[-1] in STATISTICS else ""
            others = (".".join(parts[:place]), ".".join(parts[place + 1 :]), statistic)
            return f"{_KINDS[part]}: {' · '.join(other for other in others if other)}"
    return name


def collect_models(run: Path, models: list[str]) -> list[dict[str, str]]:
    """Return what a run knows of its models: kind, base, number format, revision, fingerprint."""
    found = []
    for model in models:
        path = run / "models" / model / "model.json"
        known = read_json(path) if path.is_file() else {}
        names = ("kind", "base", "dtype", "quantization", "revision", "fingerprint")
        found.append({"model": model, **{name: str(known.get(name) or "") for name in names}})
    return found
