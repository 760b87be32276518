"""Measure how far keywords are from independent: pairs and documents of several, and errors by document.

Prints a line for each benchmark of a finished run: the shares of pairs that stand word for word under another
keyword (`pairs.in_other_keyword: true`), and whose document has pairs under another keyword; how much larger
standard errors of the mean log rank are by keyword and document (variances by keyword and by document, less
that by both) than by keyword alone: the smallest, the middle and the largest one of all models, and of all
differences between two.
"""

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from fathom.config.scoring import Summary
from fathom.io import paths
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.tables import read_table
from fathom.statistics.left_out import leave_out_overlap
from fathom.statistics.sizing import find_overlaps, find_scores
from fathom.statistics.summaries import read_scores


def compare_errors(values, keywords, documents):
    """Return the standard error by keyword and document, as a share of that by keyword."""
    both = np.unique(np.stack([keywords, documents]), axis=1, return_inverse=True)[1].ravel()
    centred = values - values.mean()

    def vary(clusters):
        sums = np.bincount(clusters, centred)
        return len(sums) / (len(sums) - 1) * (sums**2).sum()

    by_keyword = vary(keywords)
    return np.sqrt((by_keyword + vary(documents) - vary(both)) / by_keyword)


def describe_benchmark(frames):
    """Return the smallest, the middle and the largest share over models, and over differences."""
    logs = [np.log(frame["rank"].to_numpy()) for frame in frames]
    codes = [np.unique(frames[0][name].to_numpy(), return_inverse=True)[1] for name in ("keyword", "doc_id")]
    differences = [first - second for first, second in combinations(logs, 2)]
    cells = []
    for each in (logs, differences):
        found = [compare_errors(values, *codes) for values in each]
        cells.append(", ".join(f"{100 * (share - 1):+.1f}" for share in np.quantile(found, [0, 0.5, 1])))
    return cells


def main(run):
    """Print the table of a run."""
    files = find_scores(run)
    names = list(dict.fromkeys(file[:2] for file in files))
    pairs = [(*name, str(run / paths.PAIRS.of(domain=name[0], variant=name[1]).below)) for name in names]
    scores = leave_out_overlap(read_scores(files), find_overlaps(run, files), Summary())
    print("| benchmark | pairs | word for word, % | same document, % | models, % | differences, % |")
    print("|---|---|---|---|---|---|")
    for domain, variant, path in pairs:
        texts = read_table(path, PAIRS, ["pair_id", "doc_id", "prompt", "target"])
        frames = [frame.join(texts, on="pair_id").sort("pair_id")
                  for key, frame in scores.items() if key[:2] == (domain, variant)]  # fmt: skip
        keywords = pl.col("keyword").n_unique()
        shared = [frames[0].select(keywords.over(*columns) > 1).to_series().mean()
                  for columns in (["prompt", "target"], ["doc_id"])]  # fmt: skip
        cells = (f"{len(frames[0]):,}", *(f"{100 * share:.1f}" for share in shared))
        print("|", " | ".join((f"{domain}, {variant}", *cells, *describe_benchmark(frames))), "|")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="results of a finished run: results/RUN")
    main(parser.parse_args().run)
