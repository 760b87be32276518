"""Compare two models by target: which ones improved, and how near they are to the domain.

Source: [RawCorpora, App. A.9, Table 9]. Reads pairs and scores of one domain, writes all targets with their
gains, the contrast of the best and the worst with intervals, and a table of the best and the worst.
"""

from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from fathom.config.benchmark import Embedding
from fathom.config.scoring import Summary, Targets
from fathom.config.section import Section
from fathom.config.short_names import label_variant, shorten_names
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.studies import EXTREMES, TARGET_CHANGES, TARGET_GROUPS
from fathom.io.delimited import write_rows
from fathom.io.tables import read_table, write_table_in_batches
from fathom.jobs.program import log
from fathom.jobs.signature import OverlapTables, PairTables, ScoreTables, Tables, run
from fathom.statistics.left_out import leave_out_overlap
from fathom.statistics.summaries import format_number
from fathom.studies.target_changes import (
    compare_similarities,
    contrast_groups,
    join_pairs,
    list_extremes,
    score_targets,
)


class Settings(Section):
    """Settings of this program."""

    targets: Targets = Targets()
    embedding: Embedding = Embedding()
    summary: Summary = Summary()


def main(
    *,
    domain: Annotated[str, "name of the domain"],
    phrase: Annotated[str, "what targets are near to or far from"],
    pairs: PairTables,
    scores: ScoreTables,
    overlap: OverlapTables = (),
    compared: Annotated[list[list[str]], "models with scores on all benchmarks, each with another"],
    targets: Annotated[Path, "targets with their gains to write (parquet)"],
    groups: Annotated[Path, "best against worst to write (CSV)"],
    extremes: Annotated[Path, "best and worst targets to write (CSV)"],
    titles: Annotated[dict[str, str] | None, "what each domain is called; as it is written if empty"] = None,
    references: Annotated[dict[str, str] | None, "names of references by variant; none if empty"] = None,
    settings: Settings,
) -> None:
    """Embed all targets once, compare every two models on every benchmark, write the tables."""
    frames, ranks = read_kept(domain, pairs, scores, overlap, settings.summary)
    similarities = measure_similarities(frames, phrase, settings.embedding)
    contrasts: list[tuple[Any, ...]] = []
    listed: list[tuple[Any, ...]] = []
    called = shorten_names(chain.from_iterable(compared), titles)
    with write_table_in_batches(targets, TARGET_CHANGES) as writer:
        for variant, frame in frames.items():
            for model, other in compared:
                place = (variant, model, other)
                where = f"{domain}, {variant}: {model} and {other}"
                joined = join_pairs(ranks[variant, model], ranks[variant, other], frame, where)
                changes = score_targets(joined, similarities, settings.targets)
                names = zip(("variant", "model", "against"), place, strict=True)
                writer.write(changes.with_columns(pl.lit(value).alias(name) for name, value in names))
                shown = (label_variant(variant, references or {}), called[model], called[other])
                listed += [(*shown, *row) for row in list_extremes(changes, settings.targets.listed)]
                found = contrast_groups(joined, similarities, settings.targets, settings.summary)
                value, low, high = found
                numbers = [*value[:3], low.difference, high.difference, value.d, low.d, high.d]
                numbers += compare_similarities(changes)
                counts = (len(changes), int((changes["group"] == "top").sum()))
                sizes = (len(joined), joined["keyword"].n_unique())
                contrasts.append((domain, *place, phrase, *counts, *map(format_number, numbers), *sizes))
                log.info("%s: Cohen's d %.2f, from %.2f to %.2f", where, value.d, low.d, high.d)
    write_rows(groups, contrasts, TARGET_GROUPS)
    write_rows(extremes, listed, EXTREMES)


def read_kept(
    domain: str, pairs: Tables, scores: Tables, overlap: Tables, settings: Summary
) -> tuple[dict[str, pl.DataFrame], dict[tuple[str, str], pl.DataFrame]]:
    """Return pairs by variant and scores by variant and model, without pairs that occur in training text."""
    tables = {
        (domain, variant, model): read_table(path, SCORES, ["pair_id", "rank", "probability"])
        for _, variant, model, path in scores
    }
    for _, variant, path in pairs:
        tables[domain, variant, ""] = read_table(path, PAIRS, ["pair_id", "keyword", "target"])
    kept = leave_out_overlap(tables, overlap, settings)
    found = {(variant, model): frame for (_, variant, model), frame in kept.items() if model}
    return {variant: kept[domain, variant, ""] for _, variant, _ in pairs}, found


def measure_similarities(
    pairs: dict[str, pl.DataFrame], phrase: str, settings: Embedding
) -> dict[str, float]:
    """Return the cosine of each target, without its blank, with the domain's phrase."""
    from fathom.benchmark.embedding import SentenceEncoder

    names = sorted({target.strip() for frame in pairs.values() for target in frame["target"]})
    vectors = SentenceEncoder(settings).encode([phrase, *names]).astype("float64")
    return dict(zip(names, (vectors[1:] @ vectors[0]).clip(-1, 1).tolist(), strict=True))


if __name__ == "__main__":
    run(main)
