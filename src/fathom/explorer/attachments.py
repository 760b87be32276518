"""What a page shows beside its own charts: finished tables and figures of other parts of a run."""

import base64
from pathlib import Path
from typing import Any

from fathom.figures.catalogue import CATALOGUE, find_figure
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

OTHER = "Other"
"""Section of figures that the catalogue does not know."""

_REPEATING = tuple(f".{name}" for name in STATISTICS if name != LEADING.name)


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
    """Return the figures of a run, by section, and the images inside the page in base64 by id.

    Each has the name of its file, title, caption and the id of its image. Beyond FIGURE_BYTES a figure has no
    image; those that repeat others with another statistic are the first to lack theirs.
    """
    found, images, used = [], {}, 0
    paths = sorted(run.glob("figures/*.png"), key=lambda path: (path.stem.endswith(_REPEATING), path.name))
    for number, path in enumerate(paths):
        used += path.stat().st_size
        image = f"figure-{number}" if used <= FIGURE_BYTES else ""
        if image:
            images[image] = base64.b64encode(path.read_bytes()).decode("ascii")
        found.append({"name": path.name, "image": image, **_describe(path.stem)})
    order = [*dict.fromkeys(figure.section for figure in CATALOGUE.values()), OTHER]
    return sorted(found, key=lambda each: order.index(each["section"])), images


def _describe(name: str) -> dict[str, str]:
    """Return section, title and caption of a figure from its name without ending."""
    known = find_figure(name)
    if known is None:
        return {"section": OTHER, "title": name, "caption": ""}
    figure, parts = known
    return {"section": figure.section, "title": figure.entitle(parts), "caption": figure.describe(parts)}


def collect_models(run: Path, models: list[str]) -> list[dict[str, str]]:
    """Return what a run knows of its models: kind, base, number format, revision, fingerprint."""
    found = []
    for model in models:
        path = run / "models" / model / "model.json"
        known = read_json(path) if path.is_file() else {}
        names = ("kind", "base", "dtype", "quantization", "revision", "fingerprint")
        found.append({"model": model, **{name: str(known.get(name) or "") for name in names}})
    return found
