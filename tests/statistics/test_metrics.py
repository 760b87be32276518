"""The table of metrics."""

import pytest

from fathom.io.contracts.scoring import SCORES
from fathom.statistics.aggregates import MEAN, TRIMMED_MEAN
from fathom.statistics.likelihood import Likelihood
from fathom.statistics.metrics import BASELINES, FOLLOWED, METRICS, OF_TEXT, RANK, SUMMARIZED


def test_a_metric_says_which_value_is_better():
    assert RANK.is_better(1, 2) and not RANK.is_better(2, 2)
    assert METRICS["attribute_rate"].is_better(0.5, 0.4)
    assert not METRICS["bits_per_byte"].is_better(1.0, 0.9)


def test_labels_say_how_pairs_are_summed_up_and_their_metrics_are_columns_of_scores():
    assert RANK.describe(TRIMMED_MEAN) == "trimmed mean rank"
    assert [each.describe(MEAN) for each in BASELINES] == ["perplexity", "bits per byte", "attribute rate"]
    assert {*SUMMARIZED, *FOLLOWED} <= {column.name for column in SCORES} & METRICS.keys()


@pytest.mark.parametrize("metric", OF_TEXT, ids=lambda metric: metric.name)
def test_metrics_of_text_stay_on_their_scale(metric):
    assert metric.measure
    assert metric.least <= metric.measure(Likelihood(10, 40, 20.0)) <= metric.most
