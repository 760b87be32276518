"""What the points do at which densities are compared: which documents join, and what they seem to cover.

Reads a finished run. Draws points several times, and expands the corpus of a domain with
`coverage.own_points` and without. Prints shares of documents, sentences and points that join, coverage at the
points and at held-out sentences, and how much two corpora of other points share: means of the draws, with
standard errors.
"""

import argparse
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from perf.studies.expansion import open_slices
from perf.turns import DEMO, print_table

from fathom.config.coverage import Coverage
from fathom.coverage.expanded_corpus import Expansion, HeldOut, divide_documents, find_owners, measure_subsets
from fathom.coverage.sets import Space, read_space, resolve_bandwidth
from fathom.jobs.program import run_program


def expand_twice(space: Space, settings: Coverage) -> dict[bool, tuple[Any, ...]]:
    """Return, by `own_points`, which documents join, and numbers of the corpus."""
    _, starts = divide_documents(space.sentences, settings.documents)
    sizes = np.diff(np.append(starts, len(space.vectors)))
    points, bandwidth = space.vectors[space.points], resolve_bandwidth(space, settings)
    densities = np.empty((len(starts), len(points)), dtype=np.float32)
    measure_subsets(points, space.vectors, starts, bandwidth, densities)
    held_out = HeldOut(space, bandwidth)
    found = {}
    for own in (True, False):
        owners = find_owners(space, starts, own)
        expansion = Expansion(densities, sizes, owners, settings.max_correlation)
        while not expansion.is_finished:
            expansion.run_round()
        joined = expansion.joined > 0
        kept = np.repeat(joined, sizes)
        covered = 1 - expansion.gaps.mean(), held_out.measure_coverage(kept)
        found[own] = joined, (joined.mean(), kept.mean(), kept[space.points].mean(), *covered)
    return found


def describe(draws: list[tuple[Any, ...]]) -> list[str]:
    """Return means and standard errors of numbers of several corpora, and what two of them share."""
    numbers = 100 * np.array([values for _, values in draws])
    told = [f"{values.mean():.1f} %" for values in numbers.T]
    for more, less in ((2, 1), (3, 4)):
        apart = numbers[:, more] - numbers[:, less]
        error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else float("nan")
        told.append(f"{apart.mean():+.1f} ± {error:.1f}")
    shared = [(one & other).sum() / (one | other).sum() for (one, _), (other, _) in combinations(draws, 2)]
    return [*told, f"{np.mean(shared):.2f}" if shared else ""]


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the table."""
    slices, index = open_slices(arguments.run)
    generator = np.random.default_rng(0)
    rows = []
    for count in arguments.points:
        settings = Coverage(points=count, max_correlation=arguments.threshold)
        space = read_space(slices, index, arguments.domain, settings)
        draws: dict[bool, list[tuple[Any, ...]]] = {True: [], False: []}
        for number in range(arguments.draws):
            # the first draw is that of the rule
            points = np.sort(generator.permutation(len(space.vectors))[:count]) if number else space.points
            for own, found in expand_twice(space._replace(points=points), settings).items():
                draws[own].append(found)
        rows += [[f"{count:,}", "yes" if own else "no", *describe(draws[own])] for own in (True, False)]
    header = ["documents", "sentences", "points", "coverage at points", "held out"]
    apart = ["points less sentences", "at points less held out", "shared"]
    print_table(["compared at", "own points", *header, *apart], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=DEMO, help="a finished run")
    parser.add_argument("--domain", default="machine-learning")
    parser.add_argument("--points", type=int, nargs="+", default=[300, 800, 2000])
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--threshold", type=float, default=0.05, help="t_c")
    run_program(parser, main)
