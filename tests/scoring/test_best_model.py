"""Which model is best on few pairs: the order of pairs, the looks, who goes on, and what is said."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tests.refusals import refuses
from tests.scores import tabulate_scores
from tests.scoring.word_pairs import ENTRIES
from tests.scoring.word_pairs import WORDS as ITEMS
from tests.scoring.word_pairs import make_pairs as make_word_pairs
from tests.tiny import make_config, make_model

from fathom.benchmark.target_words import list_words
from fathom.commands import best
from fathom.config.scoring import Scoring
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.files import read_json, read_json_lines, write_json_lines
from fathom.io.tables import write_table
from fathom.models.folders import save_model
from fathom.models.loading import Pointer, point_to_folder
from fathom.models.open_model import OpenModel
from fathom.scoring import best_model
from fathom.scoring.best_model import APART, Contest, find_best, order_pairs, plan_looks
from fathom.scoring.bits import Rivals, measure_bits
from fathom.scoring.rank_files import read_first_tokens
from fathom.scoring.ranks import ScoringOptions, score_among, score_benchmarks

SHIFTS = {"far": 2.0, "near": 0.0, "other": 0.02}
GAINS = {"far": 4.0, "near": 0.0, "other": 0.02}
WORDS = ("grain", "stamp", "lever", "oxide", "plume", "hinge", "cedar", "quartz")


def make_pairs(sizes: dict[str, int], end: str = "") -> pl.DataFrame:
    rows = [
        (f"{keyword}{number}{end}", keyword, f"{keyword} text {number} goes on{end}", " here")
        for keyword, size in sizes.items()
        for number in range(size)
    ]
    return pl.DataFrame(rows, ["pair_id", "keyword", "prompt", "target"], orient="row")


def test_any_first_part_holds_that_part_of_every_keyword():
    sizes = {"a": 40, "b": 7, "c": 100, "d": 1}
    pairs, order = order_pairs(make_pairs(sizes))
    assert order.places.tolist() == sorted(set(order.places)) and 0 <= order.places[0] < 1
    for share in (0.1, 0.5, 0.9, 1):
        counts = pairs[: order.find_end(share)]["keyword"].value_counts()
        drawn = dict(zip(counts["keyword"], counts["count"], strict=True))
        assert all(abs(drawn.get(name, 0) - share * size) < 1 for name, size in sizes.items())


def test_the_order_depends_on_texts_alone_and_mixes_them():
    pairs = make_pairs({"a": 20, "b": 9})
    ordered, order = order_pairs(pairs)
    again, same = order_pairs(pairs.sample(fraction=1, shuffle=True, seed=1))
    assert ordered.equals(again) and order.places.tolist() == same.places.tolist()
    assert ordered["pair_id"].to_list() != sorted(pairs["pair_id"])
    assert ["ab"[code] for code in order.keywords] == ordered["keyword"].to_list()


def test_pairs_that_share_three_words_are_drawn_together():
    prompts = ["one two three four", "one two other four", "one two three five"]
    pairs = pl.DataFrame({"pair_id": list("abc"), "keyword": ["k", "k", "k"], "prompt": prompts})
    other = pairs.with_columns(pair_id=pl.lit("d"), keyword=pl.lit("l")).head(1)
    ordered, order = order_pairs(pl.concat([pairs, other]))
    places = dict(zip(ordered["pair_id"], order.places, strict=True))
    assert places["a"] == places["c"] != places["b"]


def test_pairs_without_keywords_are_a_keyword_each():
    pairs = make_pairs({"": 50})
    assert len(set(order_pairs(pairs)[1].keywords.tolist())) == 50


def test_looks_grow_until_all_pairs_are_scored():
    assert plan_looks(1000) == pytest.approx([0.2, 0.3, 0.45, 0.675, 1.0])
    assert plan_looks(200) == plan_looks(3) == [1.0]


def draw_ranks(
    random: np.random.Generator, shifts: Sequence[float], keywords: int = 60, each: int = 20
) -> Any:
    """Return log ranks of shape (n_models, n_pairs) in an order, and the order."""
    places = ((np.arange(each) + random.random((keywords, 1))) / each).ravel()
    rows = np.argsort(places)
    codes = np.arange(keywords).repeat(each)[rows]
    shared = random.normal(4, 1, keywords)[codes] + random.normal(0, 0.5, len(codes))
    noise = random.normal(0, 0.3, (len(shifts), len(codes)))
    own = random.normal(0, 0.1, (len(shifts), keywords))[:, codes]
    return shared + noise + own + np.array(shifts)[:, None], best_model.Order(codes, places[rows])


def run(shifts: Sequence[float], seed: int = 5) -> tuple[Contest, list[list[str]]]:
    """Return the looks at models a, b, ..., and who goes on after each."""
    ranks, order = draw_ranks(np.random.default_rng(seed), shifts)
    models = [chr(ord("a") + number) for number in range(len(shifts))]
    contest, going = Contest(models, order), [models]
    for share in plan_looks(len(order.places)):
        end = order.find_end(share)
        contest.look({model: ranks[models.index(model), :end] for model in going[-1]}, share)
        going.append(contest.going)
        if not going[-1]:
            break
    return contest, going[1:]


def test_models_far_behind_stop_and_close_ones_go_on_to_the_end():
    contest, going = run([2.0, 0.0, 0.015])
    assert going[0] == ["b", "c"] and going[-1] == []
    assert contest.pairs[1, 0] < 0.2 * contest.pairs[1, 2]
    assert contest.verdicts[0, 1] == APART and contest.models[contest.best] == "b"


def test_nothing_is_open_after_the_last_pair():
    for shifts in ([0.0, 0.0], [0.0, 0.05, 0.1]):
        contest, going = run(shifts)
        assert going[-1] == [] and (contest.verdicts[contest.best] > 0).sum() >= len(shifts) - 1


def test_equal_models_are_called_different_as_rarely_as_they_should():
    """At most 5 % of contests of four equal models: 200 of them, so 10 expected at most, 18 by chance."""
    wrong = 0
    for seed in range(200):
        contest, _ = run([0.0] * 4, seed)
        wrong += bool((contest.verdicts[contest.best] == APART).any())
    assert wrong <= 18


def test_verdicts_are_those_of_all_pairs():
    for seed in range(30):
        shifts = [0.0, 0.03, 0.1, 0.3]
        ranks, order = draw_ranks(np.random.default_rng(seed), shifts)
        whole = Contest(list("abcd"), order)
        whole.look(dict(zip("abcd", ranks, strict=True)), 1.0)
        contest, _ = run(shifts, seed)
        best = contest.best
        assert best == whole.best or whole.verdicts[best, whole.best] != APART
        decided = [place for place in range(4) if place != best]
        differ = [contest.verdicts[best, place] != whole.verdicts[best, place] for place in decided]
        assert sum(differ) == 0


def test_one_model_has_nothing_to_be_compared_with():
    with refuses("two or more"):
        Contest(["a"], draw_ranks(np.random.default_rng(0), [0.0])[1])


class Scorer:
    """Stands for loading and scoring: ranks are drawn by model and pair, and reads are counted."""

    def __init__(self) -> None:
        self.read: dict[str, int] = {}

    def measure(self, model: str, measurements: Sequence[Any], finished: Path) -> None:
        for each in measurements:
            if each.outputs[0].exists():
                continue
            rows, words = read_json_lines(each.inputs[0]), each.settings
            self.read[model] = self.read.get(model, 0) + len(rows)
            names, keywords = ([row[key] for row in rows] for key in ("pair_id", "keyword"))
            write_table(
                each.outputs[0], tabulate_scores(names, keywords, [draw(model, n) for n in names]), SCORES
            )
            favour = self.know(model, [row["target"] for row in rows], words)
            own = np.array([line[words.index(row["target"])] for line, row in zip(favour, rows, strict=True)])
            save_file({"own": own.astype(np.float64), "others": favour}, each.outputs[1])

    def know(self, model: str, targets: list[str], words: list[str]) -> NDArray[np.float32]:
        """Return log-probabilities of all words after each prompt: a model knows the target by its gain."""
        right = np.array([[word == target for word in words] for target in targets])
        noise = np.random.default_rng(len(targets)).normal(0, 0.5, right.shape)
        return (GAINS[model] * right + noise - 9).astype(np.float32)


def draw(model: str, pair: str) -> float:
    seeds = [int(best_model.hash_text(text)[:8], 16) for text in (pair, model + pair)]
    noise = [np.random.default_rng(seed).normal(0, size) for seed, size in zip(seeds, (1, 0.1), strict=True)]
    return float(1 + np.exp(4 + sum(noise) + SHIFTS[model]))


@pytest.fixture
def scorer(monkeypatch: pytest.MonkeyPatch) -> Scorer:
    found = Scorer()
    monkeypatch.setattr(best_model, "measure_all", found.measure)
    monkeypatch.setattr(best_model.gc, "collect", lambda: 0)  # there are no weights to let go
    return found


def test_the_best_is_found_and_what_was_read_is_taken_over(tmp_path, scorer):
    pairs = make_pairs({f"k{number:02d}": 15 for number in range(40)})
    models = {name: (lambda name=name: name) for name in SHIFTS}
    found = find_best(models, pairs, tmp_path)
    assert [each.model for each in found] == ["near", "other", "far"]
    assert [found[0].verdict, found[2].verdict] == ["best", "worse"] and found[2].pairs < 220
    assert scorer.read["far"] == found[2].pairs < scorer.read["near"] == scorer.read["other"] <= 600
    told = read_json(tmp_path / "best.json")
    assert told["read"] == sum(scorer.read.values()) and told["pairs"] == 600
    before = dict(scorer.read)
    turned = find_best(dict(reversed(models.items())), pairs.reverse(), tmp_path)
    assert turned == found and scorer.read == before
    # the answer names the best, and those that do not differ
    first, *lines = best.describe(found, len(pairs)).splitlines()
    assert "near is best" in first and len(lines) == 5
    assert {line.split()[0]: line.split()[-1] for line in lines[1:4]}["far"] == "worse"


def test_the_one_that_knows_most_is_best_whatever_the_ranks(tmp_path, scorer):
    pairs = make_pairs({f"k{number:02d}": 15 for number in range(40)})
    targets = [f" {WORDS[number % 8]}" for number in range(len(pairs))]
    pairs = pairs.with_columns(target=pl.Series(targets))
    models = {name: (lambda name=name: name) for name in SHIFTS}
    found = find_best(models, pairs, tmp_path / "bits")
    assert [found[0].model, found[0].verdict] == ["far", "best"] and found[0].bits > 1
    assert {each.verdict for each in found[1:]} == {"worse"} and all(each.bits < 0.2 for each in found[1:])
    assert found[0].rank > found[1].rank
    assert "far knows most, significantly." in best.describe(found, len(pairs))
    assert find_best(models, pairs, tmp_path / "rank", "rank")[0].model == "near"
    told = read_json(tmp_path / "bits" / "best.json")
    assert told["by"] == "bits" and told["models"][0]["bits"] == found[0].bits


def test_models_whose_tokens_span_prompt_and_target_are_not_compared_by_bits(tmp_path, scorer, monkeypatch):
    pairs = make_pairs({f"k{number:02d}": 15 for number in range(6)})
    targets = [f" {WORDS[number % 8]}" for number in range(len(pairs))]
    pairs = pairs.with_columns(target=pl.Series(targets))
    models = {name: (lambda name=name: name) for name in SHIFTS}

    def read_with_one_unknown(scores: Path) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        own, others = read_first_tokens(scores)
        return np.where(np.arange(len(own)) == 0, np.nan, own), others

    monkeypatch.setattr(best_model, "read_first_tokens", read_with_one_unknown)
    with refuses("far", "of 90 pairs", "--by rank"):
        find_best(models, pairs, tmp_path / "bits")
    assert find_best(models, pairs, tmp_path / "rank", "rank")[0].model == "near"


def test_bits_of_parts_are_those_of_the_whole(word_model, word_tokenizer):
    """A model that is read part by part has the bits that all pairs have together."""
    pairs = make_word_pairs("p", [ITEMS[number * 7 % 11] for number in range(20)])
    targets = pairs["target"].to_list()
    (whole,) = score_benchmarks(word_model, word_tokenizer, [pairs], Scoring())
    words = list_words(targets)
    options = ScoringOptions(Scoring(), Pointer("m", Path()))
    read = [score_among(word_model, word_tokenizer, part, words, options) for part in (pairs[:7], pairs[7:])]
    own, others = (np.concatenate([getattr(first, name) for _, first in read]) for name in ("own", "others"))
    bits = measure_bits(Rivals(words, []), targets, pairs["keyword"].to_list(), own, others).bits
    assert bits == pytest.approx(whole["bits"].to_numpy(), abs=1e-6)  # batches have other shapes
    assert pl.concat([scores for scores, _ in read])["rank"].equals(whole["rank"])


def test_models_are_scored_from_files_to_files(tmp_path, word_model, word_tokenizer):
    """The bits that it ends with are those of `fathom score`."""
    save_model(tmp_path / "one", word_model, word_tokenizer)
    other = make_model(make_config("gpt2", ENTRIES, 40, initializer_range=0.3), seed=3)
    save_model(tmp_path / "two", other, word_tokenizer)
    pairs = make_word_pairs("p", [ITEMS[number * 7 % 11] for number in range(20)])
    pointers = {name: point_to_folder(name, tmp_path / name) for name in ("one", "two")}
    settings = Scoring(device="cpu")
    models = {name: partial(OpenModel, pointer, settings) for name, pointer in pointers.items()}
    found = find_best(models, pairs, tmp_path / "best")
    for each in found:
        (whole,) = score_benchmarks(
            {"one": word_model, "two": other}[each.model], word_tokenizer, [pairs], settings
        )
        assert each.bits == pytest.approx(whole["bits"].mean(), abs=1e-6)
    assert found[0].bits >= found[1].bits and found[1].best_bits == found[0].bits
    assert find_best(models, pairs, tmp_path / "best") == found


def test_pairs_of_a_run_that_occur_in_training_text_are_left_out(tmp_path):
    folder = tmp_path / "results" / "r" / "law" / "benchmark" / "tf"
    folder.mkdir(parents=True)
    pairs = make_pairs({"a": 6, "b": 4})
    write_json_lines(tmp_path / "pairs.jsonl", pairs.iter_rows(named=True))
    assert len(best._read_pairs(tmp_path / "pairs.jsonl")) == 10
    table = pl.DataFrame({name: pairs[name] if name in pairs.columns else None for name in PAIRS.names})
    from fathom.benchmark.reference import ReferencePair, make_reference_pairs  # the contract's other columns

    table = make_reference_pairs([ReferencePair(n, "graphs", f"The {n} of a", " graph") for n in range(9)])
    write_table(folder / "pairs.parquet", table, PAIRS)
    flags = table.select("pair_id", sentence=False, ending=pl.int_range(pl.len()) < 4)
    write_table(folder / "overlap.parquet", flags, OVERLAP)
    assert len(best._read_pairs(folder / "pairs.parquet")) == 5
