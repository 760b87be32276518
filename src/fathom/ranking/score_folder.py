"""Read a folder of scores: a CSV of models by benchmarks for each condition, standard errors, examples.

The configuration takes precedence over the folder's `metadata.json`, and that over `config/models.tsv`, for
directions, categories, families and sizes. Whether a high or a low score is good is never guessed.
"""

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fathom.config.model_names import ModelName
from fathom.config.ranking import RankedBenchmark, Ranking, RankingSettings
from fathom.config.section import refuse_unknown
from fathom.config.short_names import References, Titles, label_variant, shorten_names
from fathom.errors import InputError
from fathom.io.contracts.ranking import KEYWORD, WEIGHT
from fathom.io.contracts.statistics import COMPARISONS, SUMMARY
from fathom.io.delimited import read_delimited, read_number, read_rows
from fathom.jobs.program import log
from fathom.models.registry import ModelRow
from fathom.ranking.condition_files import ConditionFiles, find_score_files
from fathom.ranking.metadata import Metadata, read_metadata
from fathom.ranking.table import Benchmark, Model, ScoreTable, check_size, place_tests
from fathom.statistics.aggregates import LEADING, MEAN
from fathom.statistics.metrics import BITS, BITS_PER_BYTE, METRICS, RANK
from fathom.statistics.significance import ExampleScores, compare_paired

Array = NDArray[np.float64]


MODEL = "model"
MISSING = frozenset({"", "-", "na", "n/a", "nan", "null", "none"})

Grid = dict[str, dict[str, float]]
"""Numbers by model and benchmark; NaN where there is none."""


def read_folder(
    folder: Path | str, settings: RankingSettings, registry: Mapping[str, ModelRow]
) -> ScoreTable:
    """Read every condition of a folder of scores.

    Raise `InputError` if a value cannot be read, with file, line and column; if conditions differ in models
    or benchmarks; if there are too few of either. `folder`: see docs/ranking.md for its files.
    """
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
    scores = np.array([[[grid[model][name] for name in columns] for model in models] for grid in grids])
    known = describe_models(models, settings.ranking, metadata, registry)
    arrays = (
        _blank_where_missing(scores, files),
        np.array([_read_errors(each, models, columns) for each in files]),
    )
    names = tuple(each.name for each in files)
    table = ScoreTable(names, tuple(known), tuple(benchmarks), *arrays, paired * direction[:, None])
    check_size(table, str(files[0].scores))
    return table


def _read_grid(path: Path) -> Grid:
    rows = read_delimited(path)
    if not rows:
        raise InputError("there is no model in this table", str(path), "one line for each model")
    if MODEL not in rows[0]:
        hint = "it names the model of each line; other columns are benchmarks"
        raise InputError(f"there is no column {MODEL!r}", f"{path}, line 1", hint)
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
    bare = text.strip().strip("'\"").strip()
    if bare.lower() in MISSING:
        return math.nan
    try:
        number = read_number(bare)
    except ValueError:
        raise InputError(
            f"{text!r} is not a number", where, "leave the field empty where a model was not scored"
        ) from None
    if not math.isfinite(number):
        raise InputError(f"{text!r} is not a finite number", where, "leave the field empty instead")
    return number


def _require_same(expected: Sequence[str], found: Sequence[str], what: str, first: Path, other: Path) -> None:
    for lacking, extra, path in ((expected, found, other), (found, expected, first)):
        missing = [name for name in lacking if name not in set(extra)]
        if missing:
            names = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
            raise InputError(
                f"{what}s that another condition has are missing ({len(missing)}): {names}",
                str(path),
                "conditions need the same models and benchmarks; leave fields empty where there is no score",
            )


def _blank_where_missing(scores: Array, files: Sequence[ConditionFiles]) -> Array:
    """Blank scores that are missing in some condition, so that all conditions compare the same models."""
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


def _read_errors(files: ConditionFiles, models: Sequence[str], columns: Sequence[str]) -> Array:
    """Return standard errors of shape (n_models, n_benchmarks); log what is missing, NaN there."""
    if files.errors is None:
        log.info("%s: no standard errors, so no difference is tested", files.name)
        return np.full((len(models), len(columns)), np.nan)
    grid = _read_grid(files.errors)
    for number, (model, line) in enumerate(grid.items(), start=2):
        for benchmark, error in line.items():
            where = f"{files.errors}, line {number}, column {benchmark}"
            if model not in models or benchmark not in columns:
                raise InputError(
                    f"{files.scores.name} has no {model!r} on {benchmark!r}", where, "names must be the same"
                )
            if error < 0:
                raise InputError(f"negative standard error {error:g}", where)
    errors = np.array([[grid.get(model, {}).get(name, math.nan) for name in columns] for model in models])
    without = [name for name, unknown in zip(columns, np.isnan(errors).any(axis=0), strict=True) if unknown]
    if without:
        log.info("%s: no standard error of every model on %s", files.name, ", ".join(without))
    return errors


def _read_examples(
    files: ConditionFiles, models: Sequence[str], benchmarks: Sequence[Benchmark], settings: RankingSettings
) -> Array:
    """Return paired tests of shape (n_benchmarks, n_model_pairs); NaN where there are no examples.

    The score is a trimmed mean of ranks, and a weighted mean of everything else.
    """
    columns = [each.name for each in benchmarks]
    found = np.full((len(columns), len(models) * (len(models) - 1) // 2), np.nan)
    for path in files.examples:
        if path.stem not in columns:
            raise refuse_unknown("benchmark", path.stem, columns, str(path))
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


def describe_benchmarks(
    names: Sequence[str], settings: Ranking, metadata: Metadata, where: str
) -> list[Benchmark]:
    """Return the metadata of each benchmark, grouped by category, corpora last.

    Raise `InputError` if the direction of some benchmark is unknown.
    """
    absent = [name for name in settings.benchmarks if name not in names]
    if absent:
        log.info(
            "%s: no column for %s of the configured benchmarks: %s", where, len(absent), ", ".join(absent)
        )
    found, unclear = [], []
    for name in names:
        said = settings.benchmarks.get(name, RankedBenchmark())
        metric = metadata.metric.get(name, "").split(",")[0].removeprefix("test_")
        known = METRICS.get(metric)
        of_text = known is not None and known.variant == "text"
        corpus = name in metadata.corpora or of_text if said.corpus is None else said.corpus
        lower = said.lower_is_better
        if lower is None:
            lower = metadata.lower_is_better.get(name, known.low_is_best if known else None)
        if lower is None:
            unclear.append(name)
            continue
        category = said.category or metadata.category.get(name, "")
        examples = metadata.training_examples.get(name)
        title = said.title or metadata.benchmark_title.get(name, name)
        found.append(Benchmark(name, title, category, corpus, lower, metric, examples))
    if unclear:
        what = f"it is unknown whether high or low scores are good on {', '.join(unclear)}"
        hint = f"ranking.benchmarks.{unclear[0]}.lower_is_better: true or false, or a metric in metadata.json"
        raise InputError(what, where, hint)
    categories = list(dict.fromkeys([*settings.categories, *(each.category for each in found)]))
    return sorted(found, key=lambda each: (each.corpus, categories.index(each.category)))


def describe_models(
    names: Sequence[str], settings: Ranking, metadata: Metadata, registry: Mapping[str, ModelRow]
) -> list[Model]:
    """Return the metadata of each model, in the order of `names`; log the unknown ones.

    Sizes come from the metadata if it has any, else from the registry: a published figure shows only models
    whose size its authors knew.
    """
    by_name = {key: entry for entry in registry.values() for key in (entry.source, entry.name)}
    by_name |= dict(registry)
    groups = {family: group for group, families in settings.families.items() for family in families}
    found, strangers = [], []
    for name in names:
        entry = by_name.get(name)
        if entry is None and name not in metadata.kind:
            strangers.append(name)
        family = entry.family if entry else ""
        sizes: tuple[float | None, float | None] = (None, None)
        if metadata.size:
            sizes = metadata.size.get(name, sizes)
        elif entry:
            sizes = entry.parameters, entry.tokens
        title = metadata.title.get(name) or (entry.name if entry else name)
        kind = metadata.kind.get(name) or (entry.kind if entry else "")
        found.append(Model(name, title, groups.get(family, family), kind, *sizes))
    if strangers:
        near = difflib.get_close_matches(strangers[0], by_name, n=1)
        log.info(
            "%s of %s models are in neither models.tsv nor metadata.json (%s%s): they count among all "
            "models, but in no family, kind or size",
            len(strangers), len(names), ", ".join(strangers[:5]) + (", ..." if len(strangers) > 5 else ""),
            f"; did you mean {near[0]}?" if near else "",
        )  # fmt: skip
    titles = Counter(model.title for model in found)
    return [replace(model, title=model.name) if titles[model.title] > 1 else model for model in found]


CONDITION = "direct"
_BY_RANK, _BY_BITS = (RANK.name, LEADING.name), (BITS.name, MEAN.name)
_OF_TEXT = (BITS_PER_BYTE.name, MEAN.name)


def collect_run(
    summary: Path | str,
    comparisons: Path | str,
    settings: RankingSettings,
    registry: Mapping[str, ModelRow],
    titles: Titles | None = None,
    references: Mapping[str, References] | None = None,
) -> ScoreTable:
    """Make a table of scores from a run's summary and the paired differences of its models.

    A benchmark is a domain and variant, such as `law.tf`, scored by what leads: knowledge in bits or, with
    `summary.lead: rank` and in a run without bits, trimmed mean rank. A domain's held-out text is a corpus,
    such as `law.text`, scored in bits per byte. The standard error is the width of the interval over that of
    a normal one. Paired tests are those of comparisons.csv, a bootstrap over keywords. Domains are called by
    `titles`, their references as in `references`. Raise `InputError` if a column is missing, a value is not a
    number, or there are too few models or benchmarks.
    """
    from scipy.stats import norm

    titles = titles or {}
    metrics: dict[str, str] = {}
    domains: dict[str, str] = {}
    called: dict[str, str] = {}
    found: dict[tuple[str, str], tuple[float, float]] = {}
    width = 2 * norm.isf((1 - settings.summary.confidence) / 2)
    rows = read_rows(summary, SUMMARY)
    has_bits = settings.summary.lead == BITS.name and any(row["metric"] == BITS.name for row in rows)
    lead = _BY_BITS if has_bits else _BY_RANK
    for row in rows:
        if (row["metric"], row["aggregate"]) not in (lead, _OF_TEXT):
            continue
        name = f"{row['domain']}.{row['variant']}"
        metrics[name], domains[name] = row["metric"], row["domain"]
        variant = label_variant(row["variant"], (references or {}).get(row["domain"], ()))
        called[name] = f"{titles.get(row['domain'], row['domain'])}: {variant}"
        value, low, high = (row[key] for key in ("value", "ci_low", "ci_high"))
        # no width: a benchmark of one keyword, with unknown error
        found[row["model"], name] = value, (high - low) / width if high > low else float("nan")
    models = sorted({model for model, _ in found})
    short = shorten_names(models, titles)
    metadata = Metadata(metric=metrics, category=domains, title=short, benchmark_title=called)
    named = describe_benchmarks(sorted(metrics), settings.ranking, metadata, str(summary))
    benchmarks = [replace(each, category=titles.get(each.category, each.category)) for each in named]
    names = [each.name for each in benchmarks]
    missing = (float("nan"), float("nan"))
    values = np.array([[found.get((model, name), missing) for name in names] for model in models])
    values = values.reshape(len(models), len(names), 2)
    known = describe_models(models, settings.ranking, metadata, _complete_registry(models, registry))
    paired = _read_paired(comparisons, models, names, lead)
    scores, errors = values[None, :, :, 0], values[None, :, :, 1]
    table = ScoreTable((CONDITION,), tuple(known), tuple(benchmarks), scores, errors, paired[None])
    check_size(table, str(summary))
    return table


def _complete_registry(models: Iterable[str], registry: Mapping[str, ModelRow]) -> dict[str, ModelRow]:
    """Return the registry with this run's own models; `base+domain` belongs to the family of its base.

    `name@chat` is the model `name`, asked in its chat template.
    """
    entries = dict(registry)
    for name in models:
        parts = ModelName.parse(name)
        base = parts.base
        if parts.plain in entries:
            entries.setdefault(name, replace(entries[parts.plain], name=name, source=name))
        else:
            like = entries.get(base) or ModelRow(base, base, base, "", "base", "", None, None, "float32")
            # tokens that an adapted model has seen beyond its base are not counted
            entries[name] = replace(like, name=name, source=name, tokens=None)
    return entries


def _read_paired(path: Path | str, models: list[str], names: list[str], lead: tuple[str, str]) -> Array:
    """Return which model of each pair is ahead, of shape (n_benchmarks, n_model_pairs)."""
    rows = [(f"{row['domain']}.{row['variant']}", row) for row in read_rows(path, COMPARISONS)]
    tests = [
        ("", name, row["better"], row["worse"], row["apart"])
        for name, row in rows
        if (row["metric"], row["aggregate"]) == lead and name in names and not np.isnan(row["p"])
    ]
    return np.asarray(place_tests(tests, [""], names, models)[0])
