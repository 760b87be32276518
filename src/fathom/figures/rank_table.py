"""The ranks of a run as tables for the terminal, best model first."""

import textwrap
from collections.abc import Mapping
from pathlib import Path

from fathom.benchmark.benchmark_files import name_reference
from fathom.benchmark.target_words import find_ceiling
from fathom.config.short_names import References, clean_name, label_variant
from fathom.errors import InputError
from fathom.figures.model_ranks import (
    ModelRanks,
    describe_agreement,
    find_variants,
    measure_agreements,
    read_model_ranks,
)
from fathom.io import paths
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.statistics import GROUPS
from fathom.io.delimited import read_rows
from fathom.io.files import read_numbers
from fathom.io.names import place_inside
from fathom.io.tables import read_table
from fathom.jobs.program import has_extra
from fathom.models.origins import find_origins
from fathom.statistics.aggregates import LEADING, STATISTICS
from fathom.statistics.clusters import explain_clusters
from fathom.statistics.metrics import BITS, METRICS, RANK, RANKED, RIVAL_RANK, Metric
from fathom.statistics.summaries import format_value

KNOWLEDGE = (
    "Knowledge in bits says how much a prompt tells a model about the author's word, among the benchmark's "
    "other words. 0: nothing; the ceiling: it is always sure. What is likely after any prompt does not "
    "count. [low, high] is an interval over keywords."
)
AMONG_RIVALS = (
    "The rank among rivals is the place among the benchmark's other targets, ordered by how much more "
    "likely the prompt makes each than other prompts do. "
)
MEANING = (
    "A rank says how far down a model's list of likely next tokens the true word stands, over the pairs of a "
    "benchmark: 1 is the top, so low is best. The trimmed mean leaves out the pairs at either end (20 % of "
    "each by default); the geometric mean takes all, and a factor of two counts the same at every rank. "
    f"{AMONG_RIVALS}[low, high] is an interval from a bootstrap over keywords."
)
SHARED = (
    "Letters: two models with a letter in common are not significantly different on that benchmark by that "
    "mean; two with none are. Letters hold for all comparisons together: of benchmarks on which all models "
    "are equal, 5 % show different ones."
)

Letters = dict[tuple[str, str], str]
"""Letters by variant and model."""
Groups = dict[tuple[str, str, str, str], str]
"""Letters by domain, label of metric and aggregate, variant and model."""


_COUNTED = ("words", "words_in_training_text", "sentences", "sentences_in_training_text")
"""Numbers of the report on held-out text."""


def describe_run(folder: Path, width: int, ranks_too: bool = False) -> list[str]:
    """Return the tables of each domain of a run as blocks of lines, then a block of explanations.

    Raise `InputError` if the folder has no `summary.csv`, or a table is damaged. `width`: characters in a
    line. `ranks_too`: whether the papers' ranks follow where knowledge in bits leads.
    """
    if not (folder / "summary.csv").is_file():
        raise InputError("there is no summary.csv", str(folder), "give the folder of a run: results/RUN")
    groups = _read_groups(folder / "groups.csv")
    metrics = {metric.describe(statistic): metric for metric in RANKED for statistic in metric.compared}
    ranks = {
        metric.describe(statistic): read_model_ranks(folder / "summary.csv", statistic, metric)
        for metric in RANKED
        for statistic in metric.compared
    }
    led = bool(ranks[BITS.label])
    shown = dict(ranks) if ranks_too or not led else {BITS.label: ranks[BITS.label]}
    leading = ranks[BITS.label] if led else ranks[RANK.describe(LEADING)]
    named = {domain: name_reference(folder, domain) for domain in leading}
    blocks = [
        "\n".join(
            [
                _format_domain(domain, shown, metrics, width, groups, named[domain]),
                *(_describe_zero(folder, domain, models, width, named[domain]) if led else []),
                *_describe_overlap(folder, domain, models, width, named[domain]),
                *_describe_clusters(models, width, named[domain]),
            ]
        )
        for domain, models in leading.items()
    ]
    scored = [each.model for models in leading.values() for each in models]
    blocks += _describe_origins(folder, scored, width)
    meaning = MEANING if ranks[RIVAL_RANK.describe(LEADING)] else MEANING.replace(AMONG_RIVALS, "")
    meanings = [*([KNOWLEDGE] if led else []), *([meaning] if RANK.describe(LEADING) in shown else [])]
    said = [line for text in [*meanings, *([SHARED] if groups else [])] for line in _wrap(text, width)]
    return [*blocks, "\n".join(said)]


def _describe_zero(
    folder: Path, domain: str, models: list[ModelRanks], width: int, references: References
) -> list[str]:
    """Return lines on the ceiling of bits, and on models whose intervals contain 0."""
    ends, lines = [], []
    for variant in find_variants(models):
        pairs = place_inside(folder, paths.PAIRS.of(domain=domain, variant=variant).below)
        if pairs.is_file() and not has_extra("models"):
            lines = ["  Ceiling: not counted because it takes lemmas: pip install 'fathom-lm[models]'"]
        elif pairs.is_file():
            ceiling = find_ceiling(read_table(pairs, PAIRS, ["target"])["target"].to_list())
            ends.append(f"{ceiling:.2f} ({label_variant(variant, references)})")
    lines += _wrap(f"Ceiling, bits: {', '.join(ends)}.", width) if ends else []
    nothing = [
        clean_name(each.model) for each in models if all(rank.low <= 0 for rank in each.ranks.values())
    ]
    if nothing:
        lines += _wrap(f"No knowledge shown (intervals contain 0): {', '.join(nothing)}.", width)
    return lines


def _describe_origins(folder: Path, models: list[str], width: int) -> list[str]:
    """Return a block on models that the run has trained from scratch, if any."""
    found = find_origins(
        models, lambda name: place_inside(folder, paths.CURVE.of(model=name).below).is_file()
    )
    lines = [f"Trained by this run, from scratch: {', '.join(found.trained)}."] if found.trained else []
    lines += [f"Pretrained: {', '.join(found.pretrained)}."] if lines and found.pretrained else []
    return ["\n".join(line for text in lines for line in _wrap(text, width))] if lines else []


def _read_groups(path: Path) -> Groups:
    if not path.is_file():
        return {}
    found = {}
    for row in read_rows(path, GROUPS):
        label = METRICS[row["metric"] or RANK.name].describe(STATISTICS[row["aggregate"]])
        found[row["domain"], label, row["variant"], row["model"]] = row["groups"]
    return found


def _format_domain(
    domain: str,
    ranks: Mapping[str, Mapping[str, list[ModelRanks]]],
    metrics: Mapping[str, Metric],
    width: int,
    groups: Groups,
    references: References,
) -> str:
    lines = [clean_name(domain)]
    for label, domains in ranks.items():
        letters = {
            (variant, model): text
            for (name, by, variant, model), text in groups.items()
            if (name, by) == (domain, label)
        }
        if domain in domains:
            lines += _format_ranks(f"by {label}", domains[domain], metrics[label], width, letters, references)
    return "\n".join(lines)


def _describe_overlap(
    folder: Path, domain: str, models: list[ModelRanks], width: int, references: References
) -> list[str]:
    """Return lines on pairs and held-out words left out because they occur in training text."""
    left_out = []
    for variant in find_variants(models):
        report, pairs = (
            place_inside(folder, template.of(domain=domain, variant=variant).below)
            for template in (paths.OVERLAP.ending(".json"), paths.PAIRS)
        )
        counts = [model.ranks[variant].pairs for model in models if variant in model.ranks]
        if counts and (report.is_file() or pairs.is_file()):
            kept = max(counts)
            total = (
                len(read_table(pairs, PAIRS, ["pair_id"]))
                if pairs.is_file()
                else read_numbers(report, ["pairs"]).get("pairs", 0)
            )
            if total > kept:
                left_out.append(f"{total - kept:,} of {total:,} {label_variant(variant, references)} pairs")
    held_out = place_inside(folder, paths.HELD_OUT_OVERLAP.ending(".json").of(domain=domain).below)
    counts_of_text = read_numbers(held_out, _COUNTED) if held_out.is_file() else {}
    for what, name in (("held-out words", "words"), ("matched sentences", "sentences")):
        number = counts_of_text.get(f"{name}_in_training_text")
        if number and name in counts_of_text:
            left_out.append(f"{number:,} of {counts_of_text[name]:,} {what}")
    text = f"Left out because they occur in text that models were trained on: {', '.join(left_out)}."
    return _wrap(text, width) if left_out else []


def _describe_clusters(models: list[ModelRanks], width: int, references: References) -> list[str]:
    """Return lines on variants whose intervals do not draw keywords."""
    lines = []
    for variant in find_variants(models):
        drawn = {model.ranks[variant].clusters for model in models if variant in model.ranks}
        if text := "".join(explain_clusters(each) for each in sorted(drawn)):
            lines += _wrap(f"{label_variant(variant, references)}: {text}", width)
    return lines


def _list_cells(model: ModelRanks, variants: list[str], letters: Letters, unit: str) -> list[str]:
    """Return the cells after a model's name: value or hyphen, and letters, by variant."""
    cells = []
    for variant in variants:
        rank = model.ranks.get(variant)
        cells.append(format_value(unit, rank.value, rank.low, rank.high) if rank else "-")
        cells.append(letters.get((variant, model.model), ""))
    return cells


def _format_ranks(
    title: str,
    models: list[ModelRanks],
    metric: Metric,
    width: int,
    letters: Letters,
    references: References,
) -> list[str]:
    """Return the table of one statistic; a block for each model if the terminal is too narrow."""
    variants = find_variants(models)
    labels = [label_variant(variant, references) for variant in variants]
    what = " rank" if metric.unit == RANK.unit else ""
    heads = [head for label in labels for head in (f"{label}{what}", "")]
    rows = [[clean_name(m.model), *_list_cells(m, variants, letters, metric.unit)] for m in models]
    table = [[title, *heads], *rows]
    wide = [max(len(row[column]) for row in table) for column in range(len(heads) + 1)]
    texts = []
    for name, *cells in table:
        line = f"  {name:<{wide[0]}}"
        for place in range(0, len(cells), 2):
            rank, group = (f"{cells[place]:>{wide[place + 1]}}", f"{cells[place + 1]:<{wide[place + 2]}}")
            line += f"  {rank} {group}" if letters else f"  {rank}"
        texts.append(line.rstrip())
    if max(map(len, texts)) > width:
        texts = [f"  {title}"]
        for name, *cells in rows:
            texts.append(f"  {name}")
            for place in range(0, len(cells), 2):
                texts.append(f"    {heads[place]}: {cells[place]} {cells[place + 1]}".rstrip())
    several = len(models) > 2  # of fewer there is no correlation
    measured = measure_agreements(models) if several else []
    agreements = [describe_agreement(found, references) for found in measured]
    return [*texts, *(line for text in agreements for line in _wrap(text, width))]


def _wrap(text: str, width: int) -> list[str]:
    """Break a sentence into indented lines no wider than the terminal."""
    return textwrap.wrap(
        text, max(20, width - 2), initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
