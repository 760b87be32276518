"""Read a folder of scores: for each condition a CSV of models by benchmarks, standard errors, examples."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.config.ranking import RankingSettings
from fathom.errors import InputError
from fathom.io.contracts.ranking import KEYWORD, WEIGHT
from fathom.io.delimited import read_delimited
from fathom.jobs.program import log
from fathom.models.registry import ModelRow
from fathom.ranking.condition_files import ConditionFiles, find_score_files
from fathom.ranking.table import (
    Benchmark,
    ScoreTable,
    check_size,
    describe_benchmarks,
    describe_models,
    read_metadata,
)
from fathom.statistics.metrics import RANK
from fathom.statistics.significance import ExampleScores, compare_paired

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MODEL = "model"
MISSING = frozenset({"", "-", "na", "n/a", "nan", "null", "none"})

Grid = dict[str, dict[str, float]]
"""Numbers by model and benchmark; NaN where there is none."""


def read_folder(
    folder: Path | str, settings: RankingSettings, registry: Mapping[str, ModelRow]
) -> ScoreTable:
    """Read every condition of a folder of scores.

    Parameters
    ----------
    folder : Path or str
        See docs/ranking.md for its files.

    Raises
    ------
    InputError
        If a value cannot be read, with file, line and column; if conditions differ in models or benchmarks;
        if there are too few of either.
    """
    import numpy as np

    files, metadata_file = find_score_files(folder, settings.ranking)
    grids = [_read_grid(each.scores) for each in files]
    models, columns = list(grids[0]), list(next(iter(grids[0].values()), {}))
    for each, grid in zip(files[1:], grids[1:], strict=True):
        _require_same(models, list(grid), MODEL, files[0].scores, each.scores)
        _require_same(columns, list(next(iter(grid.values()), {})), "benchmark", files[0].scores, each.scores)
    metadata = read_metadata(metadata_file)
    benchmarks = describe_benchmarks(columns, settings.ranking, metadata, str(files[0].scores))
    columns = [each.name for each in benchmarks]
    direction = np.array([-1.0 if each.lower_is_better else 1.0 for each in benchmarks])
    paired = np.array([_read_examples(each, models, benchmarks, settings) for each in files])
    table = ScoreTable(
        tuple(each.name for each in files),
        tuple(describe_models(models, settings.ranking, metadata, registry)),
        tuple(benchmarks),
        _blank_where_missing(np.array([_to_array(grid, models, columns) for grid in grids]), files),
        np.array([_read_errors(each, models, columns) for each in files]),
        paired * direction[:, None],
    )
    check_size(table, str(files[0].scores))
    return table


def _read_grid(path: Path) -> Grid:
    rows = read_delimited(path)
    if not rows:
        raise InputError("there is no model in this table", str(path), "one line for each model")
    if MODEL not in rows[0]:
        raise InputError(
            f"there is no column {MODEL!r}",
            f"{path}, line 1",
            "it names the model of each line; other columns are benchmarks",
        )
    grid: Grid = {}
    for number, row in enumerate(rows, start=2):
        name, where = row.pop(MODEL).strip(), f"{path}, line {number}"
        if not name:
            raise InputError("this line has no model", where, f"fill in the column {MODEL!r}")
        if name in grid:
            raise InputError(f"duplicate model {name!r}", where, "one line for each model")
        grid[name] = {column: _read_number(text, f"{where}, column {column}") for column, text in row.items()}
    return grid


def _read_number(text: str, where: str) -> float:
    """Return a number; NaN if the field marks a missing value."""
    bare = text.strip().strip("'\"").strip()
    if bare.lower() in MISSING:
        return math.nan
    try:
        number = float(bare)
    except ValueError:
        raise InputError(
            f"{text!r} is not a number", where, "leave the field empty where a model was not scored"
        ) from None
    if not math.isfinite(number):
        raise InputError(f"{text!r} is not a finite number", where, "leave the field empty instead")
    return number


def _require_same(expected: Sequence[str], found: Sequence[str], what: str, first: Path, other: Path) -> None:
    """Raise `InputError` unless both tables have the same models or benchmarks, in any order."""
    for lacking, extra, path in ((expected, found, other), (found, expected, first)):
        missing = [name for name in lacking if name not in set(extra)]
        if missing:
            names = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
            raise InputError(
                f"{what}s that another condition has are missing ({len(missing)}): {names}",
                str(path),
                "conditions have the same models and benchmarks; leave fields empty where there is no score",
            )


def _to_array(grid: Grid, models: Sequence[str], columns: Sequence[str]) -> "Array":
    import numpy as np

    return np.array([[grid[model][column] for column in columns] for model in models], dtype=np.float64)


def _blank_where_missing(scores: "Array", files: Sequence[ConditionFiles]) -> "Array":
    """Blank scores that are missing in some condition, so that all conditions compare the same models."""
    import numpy as np

    missing = np.isnan(scores)
    some = missing.any(axis=0)
    for each, mine in zip(files, missing, strict=True):
        if mine.any():
            log.info("%s: %s of %s scores are missing", each.name, f"{mine.sum():,}", f"{mine.size:,}")
        if (some & ~mine).any():
            log.info(
                "%s: %s scores are left out: other conditions lack them", each.name, (some & ~mine).sum()
            )
    return np.where(some, np.nan, scores)


def _read_errors(files: ConditionFiles, models: Sequence[str], columns: Sequence[str]) -> "Array":
    """Return standard errors of shape (n_models, n_benchmarks); log what is missing, NaN there."""
    import numpy as np

    errors = np.full((len(models), len(columns)), np.nan)
    if files.errors is None:
        log.info("%s: no standard errors, so no difference is tested", files.name)
        return errors
    grid = _read_grid(files.errors)
    rows = {name: place for place, name in enumerate(models)}
    places = {name: place for place, name in enumerate(columns)}
    for number, (model, line) in enumerate(grid.items(), start=2):
        for benchmark, error in line.items():
            where = f"{files.errors}, line {number}, column {benchmark}"
            if model not in rows or benchmark not in places:
                raise InputError(
                    f"{files.scores.name} has no {model!r} on {benchmark!r}", where, "names must be the same"
                )
            if error < 0:
                raise InputError(f"negative standard error {error:g}", where)
            errors[rows[model], places[benchmark]] = error
    without = [name for name in columns if np.isnan(errors[:, places[name]]).any()]
    if without:
        log.info("%s: no standard error of every model on %s", files.name, ", ".join(without))
    return errors


def _read_examples(
    files: ConditionFiles, models: Sequence[str], benchmarks: Sequence[Benchmark], settings: RankingSettings
) -> "Array":
    """Return paired tests of shape (n_benchmarks, n_model_pairs); NaN where there are no examples.

    The score is a trimmed mean of ranks, and a weighted mean of everything else.
    """
    import numpy as np

    columns = [each.name for each in benchmarks]
    found = np.full((len(columns), len(models) * (len(models) - 1) // 2), np.nan)
    for path in files.examples:
        if path.stem not in columns:
            raise InputError(
                f"there is no benchmark {path.stem!r}",
                str(path),
                f"{files.scores.name} has none of this name",
            )
        rows = read_delimited(path)
        unknown = [name for name in (rows[0] if rows else {}) if name not in (*models, KEYWORD, WEIGHT)][1:]
        lacking = [name for name in models if rows and name not in rows[0]]
        if unknown or lacking or len(rows) < 2:
            raise InputError(
                f"{len(rows)} examples, models that are unknown: {', '.join(unknown) or 'none'}, missing: "
                f"{', '.join(lacking) or 'none'}",
                str(path),
                f"a line for each example: name, score by each model; {KEYWORD}, {WEIGHT} if any",
            )
        numbers = [
            [
                _read_number(row.get(name, "1"), f"{path}, line {number}, column {name}")
                for name in (WEIGHT, *models)
            ]
            for number, row in enumerate(rows, start=2)
        ]
        weights, values = np.split(np.array(numbers), [1], axis=1)
        place = columns.index(path.stem)
        keywords = [row.get(KEYWORD, "") for row in rows]
        trim = settings.summary.trim if benchmarks[place].metric == RANK.name else None
        examples = ExampleScores(values, weights[:, 0], keywords, trim)
        found[place] = compare_paired(examples, settings.ranking.significance)
    return found
