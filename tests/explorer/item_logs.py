"""Logs made in code: scores of models on items, as the readers return them."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from scipy.special import expit

SCHEMA = {
    **dict.fromkeys(("task", "metric", "model", "item", "cluster", "group"), pl.String),
    "score": pl.Float64,
    "higher_is_better": pl.Boolean,
    **dict.fromkeys(("prompt", "target", "answer"), pl.String),
    "options": pl.Int64,
}
MODELS = {"alpha": 0.9, "beta": 0.8, "gamma": -1.2}
"""Models by how many logits they are better than the items are hard."""


def make_logs(
    models: Mapping[str, float] = MODELS,
    items: int = 120,
    tasks: Sequence[str] = ("arithmetic",),
    groups: int = 4,
    clusters: int = 0,
    planted: str = "",
    metrics: Sequence[str] = ("acc",),
) -> pl.DataFrame:
    """Return right and wrong answers; a metric `loss` is low where an answer is right.

    `clusters` of items have their difficulty in common. `planted` is put into names and texts.
    """
    frames = []
    for number, task in enumerate(tasks):
        random = np.random.default_rng([5, number])
        places = np.arange(items)
        own = random.normal(0, 1, items)
        hard = random.normal(0, 1, max(clusters, 1))[places % clusters] if clusters else own
        for model, skill in models.items():
            right = (random.random(items) < expit(skill - hard)).astype(float)
            for metric in metrics:
                noise = random.random(items) / 10
                score = 1 - right + noise if metric == "loss" else right
                frames.append(pl.DataFrame({
                    "task": f"{task}{planted}", "metric": metric, "model": f"{model}{planted}",
                    "item": [str(place) for place in places],
                    "cluster": [f"text {place % clusters}" if clusters else "" for place in places],
                    "group": [f"group {place % groups}{planted}" if groups else "" for place in places],
                    "score": score, "higher_is_better": metric != "loss",
                    "prompt": [f"Question {place} of {task}{planted}: what is it?" for place in places],
                    "target": [f"right {place}{planted}" for place in places],
                    "answer": [f"right {place}" if is_right else f"wrong {place % 3}{planted}"
                               for place, is_right in zip(places, right, strict=True)],
                    "options": 0,
                }, SCHEMA))  # fmt: skip
    return pl.concat(frames)
