"""Cases of answers: multiple choice, questions about tables, tuned tasks; sub-fields; sizes."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
from perf.calibration.case import FAMILY, POWER, SMALL, TEST, Case, Outcome, Shape, hold
from perf.calibration.of_statistics import Random, read
from perf.calibration.simulate import MEAN, draw_clusters, draw_effects, find_truth, make_ranks
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student

from fathom.answering.diagnosis import (
    Answers,
    tabulate_accuracy,
    tabulate_diagnosis,
    tabulate_orders,
    tabulate_rankings,
)
from fathom.answering.variations import AS_SHIPPED, ORDERS
from fathom.config.scoring import Summary
from fathom.explorer.subfields import Keywords, measure_strengths
from fathom.io.contracts import answering as contracts
from fathom.io.contracts import questions, ranking
from fathom.questions.answer_scores import (
    list_comparisons,
    score_answers,
    tabulate_differences,
    tabulate_scores,
)
from fathom.statistics.aggregates import TRIMMED_MEAN, measure_values
from fathom.statistics.clustered_tests import compare_clustered, measure_influence
from fathom.statistics.significance import ExampleScores, compare_paired
from fathom.statistics.sizing import count_keywords, estimate_variances
from fathom.tuning.task_scores import compute_standard_error

OPTIONS = 4
KNOWN = 0.45
"""Share of right answers of a model that knows something."""
SAME = 5
"""Promptings of a model that answers alike with each."""
ABILITY = 1.2
"""Standard deviation of questions, in logits: models find the same ones hard."""


def _solve(random: Random, questions_: int, models: int) -> np.ndarray:
    """Return the chance of each model to answer each question, with a mean of nearly KNOWN."""
    hard = random.normal(0, ABILITY, questions_)
    return expit(
        hard + math.log(KNOWN / (1 - KNOWN)) * math.sqrt(1 + 0.35 * ABILITY**2) + 0 * np.zeros((models, 1))
    )


_PLACES = (np.arange(100_000) + 0.5) / 100_000
"""For means over questions that there could be."""


def _find_accuracy() -> float:
    logits = norm.ppf(_PLACES, 0, ABILITY) + math.log(KNOWN / (1 - KNOWN)) * math.sqrt(1 + 0.35 * ABILITY**2)
    return float(expit(logits).mean())


TRUTH = _find_accuracy()


def _ask(random: Random, chances: np.ndarray, model: str, settings: Summary) -> Answers:
    """Return answers of one model in all cyclic orders; one that guesses chooses any letter."""
    count, tables = len(chances), []
    right, longest = random.integers(OPTIONS, size=(2, count))
    for order in range(OPTIONS):
        is_right = random.random(count) < chances
        wrong = (right + random.integers(1, OPTIONS, count)) % OPTIONS
        option = np.where(is_right, right, wrong)
        tables.append(pl.DataFrame({
            "item_id": [f"{place:06d}" for place in range(count)],
            "variation": f"order-{order}" if order else AS_SHIPPED, "factor": ORDERS if order else "",
            "baseline": AS_SHIPPED, "way": "letter", "right": (right + order) % OPTIONS,
            "chosen": (option + order) % OPTIONS, "option": option, "is_right": is_right, "shots": 5,
            "cut": 0, "options": OPTIONS, "longest": longest}))  # fmt: skip
    return Answers(model, "set", "letter", pl.concat(tables), settings)


def choose(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether accuracies hold, and a change of order, or a habit, is found that is not there."""
    asked = [_ask(random, row, f"model-{place}", settings)
             for place, row in enumerate(_solve(random, shape.clusters, 7))]  # fmt: skip
    few = settings.model_copy(update={"rounds": 1})  # no interval of them is looked at
    rows = [
        dict(zip(contracts.CHOICE_ACCURACY.names, row, strict=True)) for row in tabulate_accuracy(asked[:1])
    ]
    yield hold("accuracy", TRUTH, read(rows[0]["ci_low"], rows[0]["ci_high"]))
    yield hold("change", 0.0, read(rows[1]["change_low"], rows[1]["change_high"]))
    yield hold("relative change", 0.0, read(rows[1]["relative_low"], rows[1]["relative_high"]))
    yield Outcome("one change: p < 0.05", TEST, read(rows[1]["p"])[0] < 0.05)
    every = [dict(zip(contracts.CHOICE_ACCURACY.names, row, strict=True))
             for row in tabulate_accuracy([replace(each, settings=few) for each in asked])]  # fmt: skip
    yield Outcome("21 changes of 7 models: any apart", FAMILY, any(row["apart"] == "yes" for row in every))
    for row in tabulate_orders(asked[:1]):
        if row[3] == "score":
            yield hold("score over orders", TRUTH, read(*row[5:7]))
    rankings = [dict(zip(contracts.CHOICE_RANKINGS.names, row, strict=True))
                for row in tabulate_rankings(asked, few)]  # fmt: skip
    ps = [read(row["p"])[0] for row in rankings]
    yield Outcome("tau of 7 equal models: p < 0.05", TEST, ps[0] < 0.05)
    guessing = _ask(random, np.full(shape.clusters, 1 / OPTIONS), "guesses", settings)
    found = [
        dict(zip(contracts.CHOICE_DIAGNOSIS.names, row, strict=True))
        for row in tabulate_diagnosis([guessing])
    ]
    for row in found:
        if row["finding"] == "knowledge":
            yield hold("knowledge of one who guesses", 1 / OPTIONS, read(row["ci_low"], row["ci_high"]))
    yield Outcome(
        "diagnosis of one who guesses: any finding", FAMILY, any(row["found"] == "yes" for row in found)
    )


def answer(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether metrics of binary questions hold, half of them true, and differences of equal promptings."""
    count = shape.clusters
    chances = _solve(random, count, 1)[0]
    true = random.random(count) < 0.5
    scores = {}
    for prompting in map(str, range(SAME)):
        exact = random.random(count) < chances
        said = np.where(exact, true, ~true)
        both = said & true
        parts = {"accuracy": (exact, np.ones(count)), "precision": (both, said), "recall": (both, true),
                 "f1": (2 * both, said * 1 + true * 1)}  # fmt: skip
        measures = pl.concat([
            pl.DataFrame({
                "question_id": [f"{place:06d}" for place in range(count)], "form": "binary",
                "level": "memorise", "template": "one", "metric": metric, "numerator": above.astype(float),
                "denominator": below.astype(float), "answered": True})
            for metric, (above, below) in parts.items()
        ])  # fmt: skip
        scores["model", prompting] = score_answers(measures, settings)
    for row in tabulate_scores("set", {("model", "0"): scores["model", "0"]}, settings):
        line = dict(zip(questions.QUESTION_SCORES.names, row, strict=True))
        if not line["template"]:
            yield hold(str(line["metric"]), TRUTH, read(line["ci_low"], line["ci_high"]))
    rows = tabulate_differences("set", scores, list_comparisons(list(scores), {}), settings)
    found = pl.DataFrame(rows, questions.QUESTION_DIFFERENCES.names, orient="row")
    for metric in ("accuracy", "f1"):
        of_metric = found.filter(metric=metric)
        line = of_metric.row(0, named=True)
        yield hold(f"difference, {metric}", 0.0, read(line["ci_low"], line["ci_high"]))
        yield Outcome(f"difference, {metric}: p < 0.05", TEST, float(line["p"]) < 0.05)
        yield Outcome(
            f"{len(of_metric)} differences, {metric}: any apart", FAMILY, "yes" in of_metric["apart"]
        )


def tune(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether two standard errors about a task's score hold, and a paired test finds equal models apart."""
    clusters = draw_clusters(random, shape)
    ranks = make_ranks(MEAN + draw_effects(random, clusters, 2))
    keywords = [f"keyword {code:04d}" for code in clusters.tolist()]
    frame = pl.DataFrame({"keyword": keywords, "value": ranks[0], "weight": 1.0, "gold": 0, "chosen": 0})
    error = compute_standard_error(frame, "trimmed_mean_rank", settings.trim, settings.rounds, settings.seed)
    truth, score = (
        find_truth("rank", TRIMMED_MEAN.name),
        measure_values(ranks[0], TRIMMED_MEAN, settings.trim),
    )
    reach = student.isf(0.025, shape.clusters - 1) * error
    yield hold("score ± t standard errors", truth, (score - reach, score + reach))
    examples = ExampleScores(-ranks.T, np.ones(len(clusters)), keywords, settings.trim)
    yield Outcome(
        "paired test of two equal models, by keyword", TEST, bool(compare_paired(examples, 0.05)[0])
    )
    alone = ExampleScores(
        random.normal(size=(shape.clusters, 2)), np.ones(shape.clusters), [""] * shape.clusters
    )
    yield Outcome("paired test of two equal models, by example", TEST, bool(compare_paired(alone, 0.05)[0]))


def divide(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether a model is found strong in a sub-field where all keywords are alike to all models."""
    clusters = draw_clusters(random, shape)
    logs = np.log(make_ranks(MEAN + draw_effects(random, clusters, 7)))
    sums = np.stack([np.bincount(clusters, row) for row in logs], axis=1)
    names = [f"{code:04d}" for code in range(shape.clusters)]
    codes = np.arange(shape.clusters) * min(12, round(math.sqrt(shape.clusters))) // shape.clusters
    found = measure_strengths(Keywords(names, np.bincount(clusters), sums), codes.tolist(), settings)
    yield hold("factor of one model and sub-field", 1.0, (float(found.low[0, 0]), float(found.high[0, 0])))
    yield Outcome("7 equal models in all sub-fields: any strong or weak", FAMILY, bool(found.apart.any()))


def plan(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether so many keywords as are planned from a pilot find the difference in 80 % of cases."""
    clusters = draw_clusters(random, shape)
    logs = draw_effects(random, clusters, 2, ADAPTED)
    names = [f"{code:04d}" for code in clusters.tolist()]
    each, difference = 8, math.log(1.25)
    needed = count_keywords(estimate_variances(logs[1] - logs[0], names), each, difference, 0.8)
    codes = np.repeat(np.arange(needed), each)
    later = draw_effects(random, codes, 2, ADAPTED)
    means = np.bincount(codes, later[1] - later[0]) / each + difference
    t = means.mean() / (means.std(ddof=1) / math.sqrt(needed))
    yield Outcome("planned for a power of 80 %: found", POWER, bool(abs(t) > student.isf(0.025, needed - 1)))
    pilot = make_ranks(MEAN + logs)
    _, moves = measure_influence(pilot, TRIMMED_MEAN, settings.trim)
    needed = count_keywords(estimate_variances(moves[1] - moves[0], names), each, difference, 0.8)
    codes = np.repeat(np.arange(needed), each)
    ranks = make_ranks(MEAN + draw_effects(random, codes, 2, ADAPTED) + [[0], [difference]])
    p = compare_clustered(ranks, codes, TRIMMED_MEAN, settings.trim)[0, 1]
    yield Outcome("the page, by trimmed mean rank, planned for 80 %: found", POWER, bool(p < 0.05))


ADAPTED = 0.9
_CI = "ci_low"
CASES = (
    Case("choices/*.csv",
         (*product((contracts.CHOICE_ACCURACY,), (_CI, "change_low", "relative_low", "p", "apart")),
          (contracts.CHOICE_ORDERS, _CI), (contracts.CHOICE_RANKINGS, "p"),
          *product((contracts.CHOICE_DIAGNOSIS,), (_CI, "p", "found"))),
         choose, "questions", SMALL, 0.5),
    Case("question-scores.csv and question-differences.csv",
         ((questions.QUESTION_SCORES, _CI), (questions.QUESTION_THRESHOLDS, _CI),
          *product((questions.QUESTION_DIFFERENCES,), (_CI, "p", "apart"))), answer, "questions", SMALL),
    Case("tuning.csv and paired.parquet",
         ((ranking.PAIRED_TESTS, "apart"), (ranking.RANKED_SCORES, "standard_error")), tune, shapes=SMALL,
         share=0.3),
    Case("sub-fields of the page", (), divide, shapes=SMALL),
    Case("pairs needed", (), plan, shapes=(Shape(20), Shape(50), Shape(200))),
)  # fmt: skip
