"""Examples of a task: completions and questions made of a benchmark's pairs, and texts.

Source: [TrainBeforeTest, Sec. 3.1].

An example is a list of prompts with targets, one of which is correct. A completion has one; a question has
one for each option. Examples of one document share a split, so that nothing from the test split is seen in
training.
"""

from collections.abc import Sequence

import polars as pl

from fathom.config.tuning import Limits
from fathom.errors import InputError
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.ranking import EXAMPLES
from fathom.io.files import hash_text
from fathom.io.tables import make_empty_table
from fathom.jobs.program import log
from fathom.statistics.clusters import PAIRS, choose_clusters

SPLITS = ("train", "valid", "test")
CORPUS_SPLITS = {"adapt-train": "train", "adapt-valid": "valid", "adapt-test": "test"}
"""Split of a document by its split in the corpus."""

_SHARES = (0.6, 0.8)  # of documents: below the first to train, below the second to validate, the rest to test
_TEXT_SHARES = (0.8, 0.9)  # [TrainBeforeTest, Sec. 3.3]


def split_by(name: str, shares: tuple[float, float]) -> str:
    """Return the split of a document, by a hash of its id alone."""
    place = int(hash_text("split", name)[:13], 16) / 16**13
    return SPLITS[sum(place >= share for share in shares)]


def make_completions(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of a benchmark as examples with one target each, under contract EXAMPLES."""
    named = pairs.select("pair_id", "doc_id", "prompt", "target").iter_rows()
    rows = [
        (name, cluster, split_by(doc_id, _SHARES), [prompt], [target], 0)
        for cluster, (name, doc_id, prompt, target) in zip(_name_clusters(pairs), named, strict=True)
    ]
    return _make_table(rows)


def _name_clusters(pairs: pl.DataFrame) -> list[str]:
    """Return each pair's cluster for the bootstrap; empty if the pair is its own."""
    clusters = choose_clusters(pairs)
    return clusters.names if clusters.kind != PAIRS else [""] * len(pairs)


def make_questions(pairs: pl.DataFrame, options: int, seed: int = 0) -> pl.DataFrame:
    """Return multiple-choice questions under contract EXAMPLES: each target among those of other pairs.

    Wrong options are drawn from the benchmark's targets, those of the pair's keyword first, and never from
    the targets of the same prompt. All draws follow from the pair's id.
    """
    right: dict[str, set[str]] = {}
    own: dict[str, list[str]] = {}
    for keyword, prompt, target in pairs.select("keyword", "prompt", "target").iter_rows():
        right.setdefault(prompt, set()).add(target)
        own.setdefault(keyword, []).append(target)
    every = sorted(set(pairs["target"]))
    if len(every) < options:
        what = f"a question has {options} options, the benchmark {len(every)} different targets"
        raise InputError(what, "train_before_test.tasks", "lower options, or make more pairs")
    near = {keyword: sorted(set(targets)) for keyword, targets in own.items()}
    rows = []
    for cluster, pair in zip(_name_clusters(pairs), pairs.iter_rows(named=True), strict=True):
        wrong = _draw(near[pair["keyword"]], right[pair["prompt"]], options - 1, f"{seed} {pair['pair_id']}")
        if len(wrong) < options - 1:
            taken = right[pair["prompt"]] | set(wrong)
            wrong += _draw(every, taken, options - 1 - len(wrong), f"{seed} {pair['pair_id']} more")
        if len(wrong) < options - 1:
            continue  # counted by comparing the numbers of pairs and examples
        gold = int(hash_text("gold", str(seed), pair["pair_id"])[:8], 16) % options
        targets = [*wrong[:gold], pair["target"], *wrong[gold:]]
        split = split_by(pair["doc_id"], _SHARES)
        rows.append((pair["pair_id"], cluster, split, [pair["prompt"]] * options, targets, gold))
    if len(rows) < len(pairs):
        log.info("%s pairs have too few wrong options and are left out", len(pairs) - len(rows))
    return _make_table(rows)


def _draw(targets: Sequence[str], taken: set[str], count: int, key: str) -> list[str]:
    free = [target for target in targets if target not in taken]
    return sorted(free, key=lambda target: hash_text(key, target))[:count]


def make_texts(texts: pl.DataFrame) -> pl.DataFrame:
    """Return documents as examples without a prompt, under contract EXAMPLES.

    The split follows that of the corpus: models may have learned from `adapt-train`, so that only
    `adapt-test` is tested on. Documents without a split, from the user's own file, are split 8:1:1.
    """
    names = TEXTS.names
    full = texts.select(names).filter(pl.col("text").str.strip_chars() != "")
    rows = [
        (doc_id, "", CORPUS_SPLITS.get(split) or split_by(doc_id, _TEXT_SHARES), [""], [text], 0)
        for doc_id, split, text in full.select("doc_id", "split", "text").iter_rows()
    ]
    if len(rows) < len(texts):
        log.info("%s documents without text are left out", len(texts) - len(rows))
    return _make_table(rows)


def limit_examples(examples: pl.DataFrame, limits: Limits) -> tuple[pl.DataFrame, dict[str, int]]:
    """Limit the examples of each split, by a hash of their id; return how many are left out too.

    Without a validation split, a share of the training split becomes one.
    """
    if examples.filter(pl.col("split") == "valid").is_empty():
        share = limits.valid_share
        moved = [
            "valid" if split == "train" and split_by(f"valid {name}", (share, 1.0)) == "train" else split
            for name, split in examples.select("example_id", "split").iter_rows()
        ]
        examples = examples.with_columns(split=pl.Series(moved, dtype=pl.String))
    parts, left = [], {}
    for split in SPLITS:
        part = examples.filter(pl.col("split") == split)
        if part.is_empty():
            what = f"the task has no examples to {'train on' if split == 'train' else split}"
            raise InputError(what, "train_before_test.tasks", "a task needs a training and a test part")
        order = sorted(range(len(part)), key=lambda row: hash_text(part["example_id"][row]))
        parts.append(part[order[: getattr(limits, split)]])
        left[f"{split}_over_limit"] = len(part) - len(parts[-1])
    return pl.concat(parts), left


def take_training(examples: pl.DataFrame, count: int | None) -> pl.DataFrame:
    """Return examples with only the first `count` of the training split, which are a random subset.

    Each split is in the order of a hash, see :func:`limit_examples`: a smaller subset lies in a larger one.
    """
    if count is None:
        return examples
    train = pl.col("split") == "train"
    return pl.concat([examples.filter(train).head(count), examples.filter(~train)])


def _make_table(rows: Sequence[tuple[str, str, str, list[str], list[str], int]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), make_empty_table(EXAMPLES).schema, orient="row")
