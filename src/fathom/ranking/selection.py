"""Which benchmarks may be compared: enough to train on, better after tuning, not against all others.

Source: [TrainBeforeTest, Sec. 3.1, App. A.1].
"""

import math
from typing import TYPE_CHECKING, Any

from fathom.jobs.program import log
from fathom.ranking.benchmark_agreement import TauMatrices
from fathom.ranking.resampled_scores import PLAIN
from fathom.ranking.table import ScoreTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FEWEST_EXAMPLES = 1000
"""A benchmark has so many training examples at least."""
MOST_UNIMPROVED = 0.2
"""Share of the models that may be no better after tuning."""
MOST_OPPOSED = 0.5
"""Share of the other benchmarks that may rank models in the opposite way before it.

The paper gives no share: it leaves out one benchmark, which was against 23 of 24.
"""


def select_benchmarks(table: ScoreTable, matrices: list[TauMatrices]) -> list[tuple[Any, ...]]:
    """Judge each downstream benchmark by the rules of the paper; log those that it would leave out.

    Parameters
    ----------
    table : ScoreTable
        Its first condition is before tuning, its last one after; with one alone nothing has improved.

    Returns
    -------
    list of tuple
        Rows under contract SELECTION.
    """
    (tau,) = (each.values[0] for each in matrices
              if each.statistic == PLAIN and each.condition == table.conditions[0])  # fmt: skip
    scores, rows = table.oriented(), []
    for column in table.downstream:
        benchmark = table.benchmarks[column]
        models, unimproved = _count_unimproved(scores[:, :, column])
        others = [tau[column, other] for other in table.downstream if other != column]
        known = [value for value in others if not math.isnan(value)]  # NaN: it orders no models
        opposed = sum(bool(value < 0) for value in known)
        examples = benchmark.training_examples
        reasons = []
        if examples is not None and examples < FEWEST_EXAMPLES:
            reasons.append("few training examples")
        if unimproved is not None and unimproved > MOST_UNIMPROVED * models:
            reasons.append("not better after tuning")
        if opposed > MOST_OPPOSED * len(known):
            reasons.append("against the others")
        rows.append((benchmark.name, examples, models, unimproved, len(known), opposed, "; ".join(reasons)))
    left_out = [f"{row[0]} ({row[-1]})" for row in rows if row[-1]]
    if left_out:
        log.info("the paper's rules would leave out %s", ", ".join(left_out))
    return rows


def _count_unimproved(scores: "Array") -> tuple[int, int | None]:
    """Return the models that are scored, and how many of them are no better in the last condition."""
    import numpy as np

    known = ~np.isnan(scores).any(axis=0)
    if len(scores) < 2:
        return int(known.sum()), None
    return int(known.sum()), int((scores[-1] <= scores[0])[known].sum())
