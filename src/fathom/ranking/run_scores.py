"""Make a table of scores from a run's own results: trimmed mean ranks and bits per byte."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.config.model_names import ModelName
from fathom.config.ranking import RankingSettings
from fathom.io.contracts.statistics import COMPARISONS, SUMMARY
from fathom.io.delimited import read_rows
from fathom.models.registry import ModelRow
from fathom.ranking.score_folder import Metadata, describe_benchmarks, describe_models
from fathom.ranking.table import ScoreTable, check_size
from fathom.statistics.aggregates import LEADING, MEAN
from fathom.statistics.metrics import BITS, BITS_PER_BYTE, RANK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

CONDITION = "direct"
_BY_RANK, _BY_BITS = (RANK.name, LEADING.name), (BITS.name, MEAN.name)
_OF_TEXT = (BITS_PER_BYTE.name, MEAN.name)


def collect_run(
    summary: Path | str, comparisons: Path | str, settings: RankingSettings, registry: Mapping[str, ModelRow]
) -> ScoreTable:
    """Make a table of scores from a run's summary and the paired differences of its models.

    A benchmark is a domain and variant, such as `law.tf`, scored by what leads: knowledge in bits or, with
    `summary.lead: rank` and in a run without bits, trimmed mean rank. A domain's held-out text is a corpus,
    such as `law.text`, scored in bits per byte. The standard error is the width of the interval over that of
    a normal one. Paired tests are those of comparisons.csv, a bootstrap over keywords.

    Raises
    ------
    InputError
        If a column is missing, a value is not a number, or there are too few models or benchmarks.
    """
    import numpy as np
    from scipy.stats import norm

    metrics: dict[str, str] = {}
    domains: dict[str, str] = {}
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
        value, low, high = (row[key] for key in ("value", "ci_low", "ci_high"))
        # no width: a benchmark of one keyword, of which nothing is known
        found[row["model"], name] = value, (high - low) / width if high > low else float("nan")
    models = sorted({model for model, _ in found})
    metadata = Metadata(metric=metrics, category=domains)
    benchmarks = describe_benchmarks(sorted(metrics), settings.ranking, metadata, str(summary))
    names = [each.name for each in benchmarks]
    missing = (float("nan"), float("nan"))
    values = np.array([[found.get((model, name), missing) for name in names] for model in models])
    values = values.reshape(len(models), len(names), 2)
    known = describe_models(models, settings.ranking, metadata, _complete_registry(models, registry))
    paired = _read_paired(comparisons, models, names, lead)
    table = ScoreTable(
        (CONDITION,),
        tuple(known),
        tuple(benchmarks),
        values[None, :, :, 0],
        values[None, :, :, 1],
        paired[None],
    )
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
            # what an adapted model has seen beyond its base is not counted in tokens
            entries[name] = replace(like, name=name, source=name, tokens=None)
    return entries


def _read_paired(path: Path | str, models: list[str], names: list[str], lead: tuple[str, str]) -> "Array":
    """Return which model of each pair is ahead, of shape (n_benchmarks, n_model_pairs)."""
    import numpy as np

    places = {model: place for place, model in enumerate(models)}
    rows = {name: place for place, name in enumerate(names)}
    found = np.full((len(names), len(models), len(models)), np.nan)
    for row in read_rows(path, COMPARISONS):
        name = f"{row['domain']}.{row['variant']}"
        if (row["metric"], row["aggregate"]) == lead and name in rows and not np.isnan(row["p"]):
            a, b = places[row["better"]], places[row["worse"]]
            ahead = 1.0 if a < b else -1.0
            found[rows[name], min(a, b), max(a, b)] = ahead if row["apart"] else 0.0
    upper = np.triu_indices(len(models), 1)
    return np.asarray(found[:, upper[0], upper[1]])
