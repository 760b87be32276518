"""Rounds of scoring: who is scored on what, what is written, and what tables say of it."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.programs import MODELS, run_program
from tests.refusals import refuses
from tests.scores import tabulate_scores
from tests.tables import read_delimited

from fathom.config.scoring import Scoring, Settled, Summary
from fathom.io.contracts.benchmark import OVERLAP
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import SETTLED
from fathom.io.delimited import write_rows
from fathom.io.files import read_json, read_json_lines, write_json, write_json_lines
from fathom.io.tables import read_table, write_table
from fathom.scoring import settled_scoring
from fathom.scoring.settled_scoring import SettledScoring
from fathom.statistics.comparisons import read_settled, resample_scores, tabulate_comparisons
from fathom.statistics.left_out_pairs import leave_out_overlap
from fathom.statistics.summaries import read_scores, summarize_scores

SUMMARY = Summary(rounds=200)
WORDS = [f"w{number}" for number in range(60)]
SHIFTS = {"far": 2.0, "near": 0.0, "other": 0.02}


def make_pairs(keywords: int = 40, each: int = 15) -> pl.DataFrame:
    """Return pairs of sentences that differ by their first words."""
    rows = []
    for number in range(keywords * each):
        words = [WORDS[(number * 7 + place * (number // 60 + 1)) % 60] for place in range(6)]
        rows.append(
            {"pair_id": f"p{number:04d}", "keyword": f"k{number % keywords:02d}",
             "prompt": " ".join(words[:5]), "target": f" {words[5]}"}
        )  # fmt: skip
    return pl.DataFrame(rows)


@cache
def draw(model: str, pair: str) -> float:
    """Return a rank that depends on model and pair alone; models differ by their shift."""
    seeds = [int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) for text in (pair, model + pair)]
    noise = [np.random.default_rng(seed).normal(0, size) for seed, size in zip(seeds, (1, 0.1), strict=True)]
    return float(1 + np.exp(4 + sum(noise) + SHIFTS[model]))


def make_frame(model: str, pairs: Sequence[dict[str, str]]) -> pl.DataFrame:
    names, keywords = ([pair[name] for pair in pairs] for name in ("pair_id", "keyword"))
    return tabulate_scores(names, keywords, [draw(model, name) for name in names])


class Scored:
    """Three models whose ranks are drawn instead of computed, scored until settled on two benchmarks."""

    def __init__(self, folder, models, monkeypatch, overlap=(), **settled):
        def measure(model: str, measurements: Sequence[Any], finished: Path) -> None:
            for each in measurements:
                for pairs, scores, report in zip(
                    each.inputs, each.outputs[::2], each.outputs[1::2], strict=True
                ):
                    rows = read_json_lines(pairs)
                    self.read[model] = self.read.get(model, 0) + len(rows)
                    write_table(scores, make_frame(model, rows), SCORES)
                    told = {
                        "model": model, "pairs": len(rows), "backed_off": 0, "ties": 0, "together_with": [],
                    }  # fmt: skip
                    write_json(report, told)

        monkeypatch.setattr(settled_scoring, "measure_all", measure)
        monkeypatch.setattr(settled_scoring, "gc", SimpleNamespace(collect=lambda: 0))  # no weights to free
        self.folder, self.read = folder, dict[str, int]()
        self.pairs = {"tf": make_pairs(), "tfidf": make_pairs()[:560]}
        files = []
        for variant, pairs in self.pairs.items():
            write_json_lines(folder / f"{variant}.jsonl", pairs.iter_rows(named=True))
            files.append(("law", variant, folder / f"{variant}.jsonl"))
        openers: dict[str, Callable[[], Any]] = {model: lambda model=model: model for model in models}
        work = folder / "work"
        self.scoring = SettledScoring(openers, {"law": files}, Settled(**settled), SUMMARY, work, overlap)
        self.scoring.run()
        for benchmark in self.scoring.groups["law"]:
            for model in models:
                self.scoring.write(model, benchmark, folder / benchmark.variant / f"{model}.parquet")
        write_rows(folder / "settled.csv", self.scoring.rows, SETTLED)

    def list_scores(self) -> list[tuple[str, str, str, str]]:
        return [
            ("law", variant, model, str(self.folder / variant / f"{model}.parquet"))
            for variant in self.pairs
            for model in sorted(SHIFTS)
        ]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scored]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield Scored(tmp_path_factory.mktemp("scored"), list(SHIFTS), monkeypatch, block=100)


def test_a_model_stops_when_its_comparisons_are_settled(scored):
    for variant, pairs in scored.pairs.items():
        frames = {model: read_table(scored.folder / variant / f"{model}.parquet", SCORES) for model in SHIFTS}
        counts = {model: len(frame) for model, frame in frames.items()}
        assert counts["far"] < 0.3 * len(pairs) < counts["near"] == counts["other"]
        for model, frame in frames.items():
            kept = pairs.filter(pl.col("pair_id").is_in(frame["pair_id"].to_list()))
            assert frame.equals(
                make_frame(model, list(kept.iter_rows(named=True)))
            )  # in the order of the pairs
        report = read_json(scored.folder / variant / "far.json")
        assert report["pairs"] == counts["far"] and report["pairs_of_benchmark"] == len(pairs)
        assert report["until"] == "settled"
    assert scored.read["far"] < 0.3 * scored.read["near"]  # no pair is scored twice, or after the end
    assert scored.read["near"] <= sum(len(pairs) for pairs in scored.pairs.values())


def test_the_order_of_models_changes_no_byte(scored, tmp_path, monkeypatch):
    again = Scored(tmp_path, list(SHIFTS)[::-1], monkeypatch, block=100)
    names = ["tf/far.parquet", "tfidf/near.parquet", "tf/far.json"]
    for name in names:
        assert (scored.folder / name).read_bytes() == (again.folder / name).read_bytes()
    first, second = (read_delimited(each.folder / "settled.csv", ",") for each in (scored, again))
    assert sorted(map(str, first)) == sorted(map(str, second))


def test_tables_say_how_many_pairs_were_scored(scored):
    scores = read_scores(scored.list_scores())
    with refuses("pairs"):
        summarize_scores(scores, SUMMARY)
    rows = summarize_scores(scores, SUMMARY, settled=True)
    assert {(row[1], row[2]): row[-1] for row in rows}["tf", "far"] == len(scores["law", "tf", "far"])
    settled = read_settled(scored.folder / "settled.csv", scores)
    comparisons, groups = tabulate_comparisons(resample_scores(scores, SUMMARY, True), SUMMARY, settled)
    few = len(scores["law", "tf", "far"])
    for row in comparisons:
        if row[:3] == ("law", "tf", "rank"):
            early = "far" in row[4:6]
            assert row[-1] == (few if early else len(scores["law", "tf", "near"]))
            assert not early or row[10] == "yes"
    placed = {row[3]: row for row in groups if row[1:3] == ("tf", "geometric_mean")}
    assert placed["far"][-1] == few and placed["far"][4] == 3


def test_settled_comparisons_are_those_of_all_pairs(scored):
    full = {
        ("law", variant, model): make_frame(model, list(pairs.iter_rows(named=True)))
        for variant, pairs in scored.pairs.items()
        for model in SHIFTS
    }
    _, whole = tabulate_comparisons(resample_scores(full, SUMMARY), SUMMARY)
    scores = read_scores(scored.list_scores())
    settled = read_settled(scored.folder / "settled.csv", scores)
    _, found = tabulate_comparisons(resample_scores(scores, SUMMARY, True), SUMMARY, settled)
    letters = [{(*row[:4],): row[6] for row in rows} for rows in (whole, found)]
    assert letters[0] == letters[1]


def test_pairs_that_summaries_leave_out_are_not_scored(tmp_path, monkeypatch):
    table = make_pairs().select("pair_id", sentence=False, ending=pl.int_range(pl.len()) < 50)
    write_table(tmp_path / "overlap.parquet", table, OVERLAP)
    overlap = [("law", "tf", str(tmp_path / "overlap.parquet"))]
    found = Scored(tmp_path, list(SHIFTS), monkeypatch, overlap, block=100)
    scores = read_scores(found.list_scores())
    assert len(scores["law", "tf", "near"]) == 550 and len(scores["law", "tfidf", "near"]) == 560
    flagged = table.filter("ending")["pair_id"]
    assert all(not len(frame.filter(pl.col("pair_id").is_in(flagged.implode())))
               for key, frame in scores.items() if key[1] == "tf")  # fmt: skip
    report = read_json(tmp_path / "tf" / "near.json")
    assert [report[key] for key in ("pairs", "pairs_of_benchmark", "pairs_left_out")] == [550, 600, 50]
    assert {row[4] for row in found.scoring.rows if row[1] == "tf"} == {550}
    assert leave_out_overlap(scores, overlap, SUMMARY)["law", "tf", "far"].equals(scores["law", "tf", "far"])
    settled = read_settled(tmp_path / "settled.csv", scores)
    few = settled["law", "tf", "rank", "trimmed_mean"]
    assert few[frozenset(("far", "near"))].apart and frozenset(("near", "other")) not in few


def test_scores_of_other_pairs_are_refused():
    frames = {("law", "tf", name): make_frame(name, [{"pair_id": name, "keyword": "k"}]) for name in SHIFTS}
    with refuses("pairs"):
        summarize_scores(frames, SUMMARY, settled=True)


def test_a_block_as_large_as_the_benchmark_is_refused(tmp_path, monkeypatch):
    with refuses("600 pairs"):
        Scored(tmp_path, list(SHIFTS), monkeypatch, block=600)
    with refuses("compare"):
        Scored(tmp_path, ["far"], monkeypatch)


def test_the_program_scores_models_as_without_looks(tmp_path):
    # the other tests do without torch
    from tests.scores import score_pairs
    from tests.scoring.sentences import make_tokenizer
    from tests.tiny import make_config, make_model

    from fathom.models.folders import save_model

    tokenizer, pairs, scores, models = make_tokenizer(), make_pairs(20, 4), list[str](), dict[str, Any]()
    write_json_lines(tmp_path / "pairs.jsonl", pairs.iter_rows(named=True))
    for seed, name in enumerate(("one", "two")):
        models[name] = make_model(make_config("gpt2", 62, 40, width=16, heads=2, layers=1), seed)
        save_model(tmp_path / name, models[name], tokenizer)
        scores += ["--models", f"{name}={tmp_path / name}"]
        scores += ["--scores", f"law/tf/{name}={tmp_path / 'scores' / name}.parquet"]
    settings = '{"scoring": {"until": "settled", "device": "cpu"}, "settled": {"block": 30}}'
    run_program(
        "score_settled", *scores, "--pairs", f"law/tf={tmp_path / 'pairs.jsonl'}",
        "--looks", tmp_path / "settled.csv", "--work", tmp_path / "work", "--settings", settings,
        imports=MODELS,
    )  # fmt: skip
    assert {row["look"] for row in read_delimited(tmp_path / "settled.csv", ",")} >= {"1"}
    for name, model in models.items():
        found = read_table(tmp_path / "scores" / f"{name}.parquet", SCORES)
        alone = score_pairs(model.eval(), tokenizer, pairs, Scoring(device="cpu"))
        assert found["rank"].to_list() == alone.join(found, on="pair_id", how="semi")["rank"].to_list()
