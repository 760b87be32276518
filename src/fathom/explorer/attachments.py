"""What a page shows beside its own charts: finished tables and figures of other parts of a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fathom.explorer.run import Run
from fathom.figures.catalogue import CATALOGUE, find_figure
from fathom.io import paths
from fathom.io.contracts import list_contracts
from fathom.io.run_path import RunPath
from fathom.statistics.aggregates import LEADING, STATISTICS

MOST_ROWS = 5_000
"""Rows of a table that is shown; a longer one is linked."""

FIGURE_BYTES = 3_000_000
"""Bytes of figures inside a page; further ones are linked."""

OTHER = "Other"
"""Section of figures that the catalogue does not know."""

_REPEATING = tuple(f".{name}" for name in STATISTICS if name != LEADING.name)


def collect_tables(run: Run) -> list[dict[str, Any]]:
    """Return the tables of a run: name, what it and its lines hold, columns, rows; long ones without rows."""
    meanings = [(path, path.meaning) for path in paths.ALL.values()]
    contracts = [
        (RunPath(file), contract.about)
        for _, contract in list_contracts()
        for file in contract.files.split(", ")
    ]
    contracts.sort(key=lambda each: len(each[0].fields))  # of several that fit, the one that says most
    found = [
        {
            "name": name,
            "about": _find_text(name, meanings),
            "lines": _find_text(name, contracts),
            "count": len(rows),
            "columns": list(rows[0]) if rows else [],
            "rows": [list(row.values()) for row in rows] if len(rows) <= MOST_ROWS else [],
        }
        for name, rows in (run.tables | _tabulate_coverage(run)).items()
    ]
    order = [text for _, text in meanings]
    return sorted(found, key=lambda each: order.index(each["about"]) if each["about"] else len(order))


def _tabulate_coverage(run: Run) -> dict[str, list[dict[str, str]]]:
    """Return the numbers of coverage.json as tables."""
    return {
        paths.COVERAGE.of(domain=each.domain, variant=each.variant).below: [
            {"what": key, "value": str(value)}
            for key, value in sorted(each.numbers.items())
            if isinstance(value, str | int | float)
        ]
        for each in run.coverage
    }


def _find_text(name: str, known: Sequence[tuple[RunPath, str]]) -> str:
    """Return the text of the first kind of file that a path fits; nothing if it fits none."""
    depth = name.count("/")
    fitting = (text for path, text in known if path.below.count("/") == depth and path.read(name) is not None)
    return next(fitting, "")


def collect_figures(run: Run) -> tuple[list[dict[str, str]], dict[str, Path]]:
    """Return the figures of a run, in the order of the catalogue, and the images inside the page by id.

    Each has the name of its file, kind, section, title, caption and id of its image. Beyond FIGURE_BYTES a
    figure has no image; those that repeat others with another statistic are the first to lack theirs.
    """
    found, images, used = [], {}, 0
    figures = sorted(run.figures, key=lambda path: (path.stem.endswith(_REPEATING), path.name))
    for number, path in enumerate(figures):
        used += path.stat().st_size
        image = f"figure-{number}" if used <= FIGURE_BYTES else ""
        if image:
            images[image] = path
        found.append({"name": path.name, "image": image, **_describe(path.stem)})
    sections = [*dict.fromkeys(figure.section for figure in CATALOGUE.values()), OTHER]
    kinds = [*CATALOGUE, OTHER]
    found.sort(key=lambda each: (sections.index(each["section"]), kinds.index(each["kind"])))
    return found, images


def _describe(name: str) -> dict[str, str]:
    """Return kind, section, title and caption of a figure from its name without ending."""
    known = find_figure(name)
    if known is None:
        return {"kind": OTHER, "section": OTHER, "title": name, "caption": ""}
    figure, parts = known
    return {
        "kind": figure.name,
        "section": figure.section,
        "title": figure.entitle(parts),
        "caption": figure.describe(parts),
    }


def collect_models(run: Run) -> list[dict[str, str]]:
    """Return what a run knows of its models: kind, base, number format, revision, fingerprint."""
    names = ("kind", "base", "dtype", "quantization", "revision", "fingerprint")
    return [
        {"model": model, **{name: str(known.get(name) or "") for name in names}}
        for model, known in run.models.items()
    ]
