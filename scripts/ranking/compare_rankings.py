"""Compare rankings of models by benchmarks: tau, significance, perplexity, components, alignment.

Source: [TrainBeforeTest, Sec. 3].

Reads the four files of a table of scores; writes one CSV for each kind of statistic, with intervals from a
bootstrap over models.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.ranking import RankingSettings
from fathom.io.contracts.ranking import (
    AGREEMENT,
    ALIGNMENT,
    CATEGORIES,
    COMPONENTS,
    CORPUS_AGREEMENT,
    FIRST_COMPONENT,
    PAIRWISE,
    SELECTION,
)
from fathom.io.delimited import write_rows
from fathom.jobs.program import log
from fathom.jobs.signature import run
from fathom.ranking.alignment import align_conditions
from fathom.ranking.benchmark_agreement import (
    compare_corpora,
    measure_tau_matrices,
    select_benchmarks,
    summarize_benchmarks,
    summarize_corpora,
    tabulate_categories,
    tabulate_corpora,
    tabulate_means,
    tabulate_pairs,
)
from fathom.ranking.components import find_spectra, summarize_components, tabulate_first, tabulate_shares
from fathom.ranking.resampled_scores import ResampledScores, add_changes, tabulate_statistics
from fathom.ranking.table import read_score_table


def main(
    *,
    scores: Annotated[Path, "folder of the table of scores"],
    tables: Annotated[Path, "folder for the tables (CSV)"],
    settings: RankingSettings,
) -> None:
    """Compare all rankings, write all tables."""
    table = read_score_table(scores)
    resampled = ResampledScores(table, settings)
    matrices = measure_tau_matrices(resampled)
    comparisons, spectra = compare_corpora(resampled), find_spectra(resampled)
    aligned, crossings = align_conditions(matrices, resampled)
    statistics = [
        *summarize_benchmarks(matrices, resampled),
        *summarize_corpora(comparisons, resampled),
        *summarize_components(spectra, resampled),
        *crossings,
    ]
    written = [
        (
            "agreement",
            AGREEMENT,
            tabulate_statistics(add_changes(statistics, table.conditions), resampled),
        ),
        ("pairwise", PAIRWISE, tabulate_pairs(matrices, resampled)),
        ("means", PAIRWISE, tabulate_means(matrices, resampled)),
        ("categories", CATEGORIES, tabulate_categories(matrices, resampled)),
        ("perplexity", CORPUS_AGREEMENT, tabulate_corpora(comparisons, resampled)),
        ("pca", COMPONENTS, tabulate_shares(spectra, resampled)),
        ("pc1", FIRST_COMPONENT, tabulate_first(spectra, resampled)),
        ("alignment", ALIGNMENT, aligned),
        ("selection", SELECTION, select_benchmarks(table, matrices)),
    ]
    for name, contract, rows in written:
        write_rows(tables / f"{name}.csv", rows, contract)
    for condition, name, value, low, high, _ in written[0][2]:
        if name.startswith(("mean_tau", "share")) and "categories" not in name:
            log.info("%s: %s %s [%s, %s]", condition, name, value, low, high)


if __name__ == "__main__":
    run(main)
