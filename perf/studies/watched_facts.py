"""Which keywords a watch names, by bits and by log-probability, in trainings whose facts are known.

A small GPT-2 learns sentences `{style} {keyword} {cue} {target}` in which keyword and cue decide the target.
It then trains on, in another style; of a quarter of the keywords all targets are exchanged (forgotten), or of
none (control). Each checkpoint is a look, tested as `fathom watch` does.

    python -m perf.studies.watched_facts --sentences 5 10 20 --seeds 5
"""

import argparse
from collections import Counter

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from transformers import GPT2Config, GPT2LMHeadModel

from fathom.scoring.bits import Rivals, measure_bits
from fathom.statistics.forgetting import confirm, look_at
from fathom.statistics.metrics import BITS, LOG_PROBABILITY
from fathom.studies.watching import group_sentences

KEYWORDS, EXCHANGED, TARGETS, CUES, STYLES = 40, 10, 60, 80, 8
BEFORE, AFTER, LOOKS, BATCH = 900, 300, 12, 64

Facts = NDArray[np.int64]
"""Keyword, cue and target of each sentence, of shape (n_sentences, 3)."""


def draw_facts(random: np.random.Generator, sentences: int) -> Facts:
    """Return facts with different cues, and targets at random, of each keyword."""
    rows = []
    for keyword in range(KEYWORDS):
        cues = random.permutation(CUES)[:sentences]
        rows += [(keyword, cue, random.integers(TARGETS)) for cue in cues]
    return np.array(rows)


def exchange(facts: Facts, keywords: int, random: np.random.Generator) -> Facts:
    """Return facts in which the first keywords have other targets."""
    found = facts.copy()
    some = found[:, 0] < keywords
    found[some, 2] = (found[some, 2] + random.integers(1, TARGETS, some.sum())) % TARGETS
    return found


def spell(facts: Facts, style: NDArray[np.int64]) -> torch.Tensor:
    """Return the tokens of sentences; targets come first among the entries, then keywords, cues, styles."""
    starts = np.cumsum([TARGETS, KEYWORDS, CUES])
    columns = [style + starts[2], facts[:, 0] + starts[0], facts[:, 1] + starts[1], facts[:, 2]]
    return torch.tensor(np.stack(columns, axis=1))


def train(
    model: GPT2LMHeadModel, facts: Facts, styles: tuple[int, int], steps: int, random: np.random.Generator
) -> None:
    """Train on facts in any of some styles."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    model.train()
    for _ in range(steps):
        some = facts[random.integers(len(facts), size=BATCH)]
        ids = spell(some, random.integers(*styles, BATCH))
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def measure(model: GPT2LMHeadModel, facts: Facts) -> dict[str, NDArray[np.float64]]:
    """Return the log-probability and the bits of each target, in the first style."""
    model.eval()
    with torch.no_grad():
        ids = spell(facts, np.zeros(len(facts), dtype=np.int64))
        logits = model(input_ids=ids[:, :3]).logits[:, -1]
    logs = torch.log_softmax(logits.double(), dim=1).numpy()
    own = logs[np.arange(len(facts)), facts[:, 2]]
    rivals = Rivals([name_target(place) for place in range(TARGETS)], [*range(TARGETS)])
    targets, keywords = (
        [name_target(place) for place in facts[:, 2]],
        [f"k{place:02d}" for place in facts[:, 0]],
    )
    found = measure_bits(rivals, targets, keywords, own, logs[:, :TARGETS].astype(np.float32))
    return {BITS.name: found.bits, LOG_PROBABILITY.name: own}


def name_target(place: int) -> str:
    """Return a word of which no other one is a form."""
    return f" {'bcdfghklmn'[place // 6]}{'aeiouy'[place % 6]}zk"


def follow(seed: int, sentences: int, exchanged: int) -> dict[str, Counter[str]]:
    """Return how many keywords are named at the last look: those that were exchanged, and others."""
    random = np.random.default_rng(seed)
    torch.manual_seed(seed)
    facts = draw_facts(random, sentences)
    size = TARGETS + KEYWORDS + CUES + 2 * STYLES
    settings = {"vocab_size": size, "n_positions": 8, "n_embd": 96, "n_layer": 2, "n_head": 4}
    model = GPT2LMHeadModel(GPT2Config(**settings, bos_token_id=None, eos_token_id=None))
    train(model, facts, (0, STYLES), BEFORE * sentences // 10, random)
    later = exchange(facts, exchanged, random)
    values = [measure(model, facts)]
    for _ in range(LOOKS):
        train(model, later, (STYLES, 2 * STYLES), AFTER // LOOKS, random)
        values.append(measure(model, facts))
    pairs = pl.DataFrame({
        "keyword": [f"k{place:02d}" for place in facts[:, 0]],
        "prompt": [f"{row[0]} {row[1]}" for row in facts], "target": [name_target(row[2]) for row in facts],
        "doc_id": [str(place) for place in range(len(facts))],
    })  # fmt: skip
    grouped = group_sentences(pairs)
    found = {}
    for metric in values[0]:
        scores = np.stack([grouped.average(each[metric]) for each in values])
        looks = [
            look_at(scores[:end], grouped.keywords, grouped.can_be_named).found for end in (LOOKS, LOOKS + 1)
        ]
        named = confirm(looks)
        counts = Counter({"forgotten": int((named[:exchanged] == -1).sum())})
        counts["false"] = int((named[exchanged:] != 0).sum())
        found[metric] = counts
        print(f"  {metric}: mean {values[0][metric].mean():.2f} to {values[-1][metric].mean():.2f}", end="")
    print()
    return found


def main() -> None:
    """Print how many keywords are named, by number of sentences and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for sentences in arguments.sentences:
        for exchanged in (EXCHANGED, 0):
            sums: dict[str, Counter[str]] = {}
            for seed in range(arguments.seeds):
                for metric, counts in follow(seed, sentences, exchanged).items():
                    sums.setdefault(metric, Counter()).update(counts)
            for metric, counts in sums.items():
                most, others = (count * arguments.seeds for count in (exchanged, KEYWORDS - exchanged))
                print(
                    f"{sentences} sentences, {metric}: forgotten {counts['forgotten']} of {most},"
                    f" named falsely {counts['false']} of {others}"
                )


if __name__ == "__main__":
    main()
