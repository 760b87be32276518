"""Scores several models in rounds, until their comparisons are settled: one model in memory at a time.

A round scores, for each model that goes on, the next pairs of each benchmark; then all scores of that round
are looked at together. So what is decided depends on the pairs and scores alone, not on which model was
faster.
"""

import gc
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

import polars as pl

from fathom.config.scoring import Settled, Summary
from fathom.io.contracts.scoring import SCORES
from fathom.io.files import hash_file, read_json, write_json, write_json_lines
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.models.open_model import OpenModel, measure_all
from fathom.scoring.pair_files import COLUMNS, read_pairs
from fathom.scoring.rank_files import name_files, plan_ranks
from fathom.scoring.ranks import check_pairs
from fathom.scoring.settling import SLACK, Settling, order_pairs, place_pairs, plan_looks
from fathom.statistics.anytime import Order
from fathom.statistics.left_out_pairs import read_flagged
from fathom.statistics.metrics import METRICS, SUMMARIZED
from fathom.statistics.summaries import format_number

Open = Callable[[], OpenModel]
_SUMS = ("pairs", "backed_off", "ties")


@dataclass
class SettledBenchmark:
    """One benchmark: its pairs in the order in which they are scored, and what has been scored.

    Attributes
    ----------
    domain, variant : str
    path : Path
        Its pairs.
    pairs : DataFrame
        In the order of scoring, without those that summaries leave out.
    order : Order
        Of these pairs.
    left_out : int
        Number of pairs that summaries leave out.
    settling : Settling
    blocks : dict of str to list of Path
        Tables of scores of each model, in the order of scoring.
    scored : dict of str to int
        Number of pairs that each model has been scored on.
    """

    domain: str
    variant: str
    path: Path
    pairs: pl.DataFrame
    order: Order
    left_out: int
    settling: Settling
    blocks: dict[str, list[Path]] = field(default_factory=dict)
    scored: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Domain and variant."""
        return f"{self.domain}.{self.variant}"


class SettledScoring:
    """Scores of several models on several benchmarks, in rounds.

    Parameters
    ----------
    models : mapping of str to callable
        Opens each model; its weights are let go after each round.
    groups : mapping of str to sequence of (domain, variant, path of pairs)
        Benchmarks whose pairs are read together, by a name.
    settled : Settled
    summary : Summary
    work : Path
        Folder for what lies on disk between rounds; what is finished there is taken over.
    overlap : iterable of (domain, variant, path)
        Pairs that occur in training text; see :func:`fathom.statistics.left_out_pairs.read_flagged`.

    Raises
    ------
    InputError
        If there are fewer than two models, pairs cannot be read, none is left, or the first block is as
        large as a benchmark.
    """

    def __init__(
        self,
        models: Mapping[str, Open],
        groups: Mapping[str, Sequence[tuple[str, str, Path]]],
        settled: Settled,
        summary: Summary,
        work: Path,
        overlap: Iterable[tuple[str, str, str]] = (),
    ) -> None:
        self._models, self._work, self._summary = models, work, summary
        self.rows: list[tuple[Any, ...]] = []
        flagged = read_flagged(overlap, summary)
        self.groups = {
            name: _read_group(files, list(models), settled, summary, flagged)
            for name, files in groups.items()
        }
        self._looks = {
            name: plan_looks(
                max(len(each.pairs) for each in group), settled.block, f"settled.block, pairs of {name}"
            )
            for name, group in self.groups.items()
        }

    def run(self) -> None:
        """Score all rounds; a group whose looks have ended waits for the others."""
        for number in range(max(len(looks) for looks in self._looks.values())):
            for model, open_model in self._models.items():
                plans = [self._plan(name, model, number) for name in self.groups]
                measurements = [measurement for plan in plans for measurement in plan]
                if measurements:
                    measure_all(open_model(), measurements, self._work / "finished" / model)
                    gc.collect()  # the weights go before those of the next model come
            for name, group in self.groups.items():
                if number < len(self._looks[name]):
                    for benchmark in group:
                        self._look(benchmark, self._looks[name][number], number + 1)

    def _plan(self, name: str, model: str, number: int) -> list[Any]:
        """Return what is to be measured of a model on one group in a round; nothing where it has stopped."""
        looks, pairs, scores, told = self._looks[name], list[Path](), list[Path](), list[str]()
        if number >= len(looks):
            return []
        for benchmark in self.groups[name]:
            start, end = benchmark.scored.get(model, 0), benchmark.order.find_end(looks[number])
            goes_on = number == 0 or model in benchmark.settling.open
            if not goes_on or start == end:
                continue
            part = f"{benchmark.name}.{start}-{end}"
            pairs.append(self._work / "blocks" / f"{part}.jsonl")
            write_json_lines(pairs[-1], benchmark.pairs[start:end].select(COLUMNS).iter_rows(named=True))
            scores.append(self._work / "scores" / model / f"{part}.parquet")
            told.append(part)
            benchmark.blocks.setdefault(model, []).append(scores[-1])
            benchmark.scored[model] = end
        return [plan_ranks("+".join(told), name_files(pairs, scores))] if pairs else []

    def _look(self, benchmark: SettledBenchmark, share: float, number: int) -> None:
        """Compare the models that have the pairs of this round; after the last one nothing is early."""
        end = benchmark.order.find_end(share)
        if share >= 1:
            return
        here = [model for model, count in benchmark.scored.items() if count == end]
        frames = {model: self._read(benchmark, model) for model in sorted(here)}
        values = {
            metric: {model: frame[metric].to_numpy() for model, frame in frames.items()}
            for metric in SUMMARIZED
        }
        benchmark.settling.look(values, share)
        self.rows += tabulate_look(benchmark, sorted(here), number, self._summary)
        log.info(
            "%s, %s pairs of %s: %s of %s models go on",
            benchmark.name,
            f"{end:,}",
            f"{len(benchmark.pairs):,}",
            len(benchmark.settling.open),
            len(self._models),
        )

    @staticmethod
    def _read(benchmark: SettledBenchmark, model: str) -> pl.DataFrame:
        """Return the scores of a model so far, in the order of scoring."""
        return pl.concat([read_table(path, SCORES) for path in benchmark.blocks[model]])

    def write(self, model: str, benchmark: SettledBenchmark, output: Path) -> None:
        """Write the scores of a model, in the order of the benchmark's pairs, and a report beside them."""
        found = self._read(benchmark, model)
        order = read_pairs(benchmark.path).select("pair_id")
        write_table(output, order.join(found, on="pair_id", how="inner", maintain_order="left"), SCORES)
        reports = [read_json(path.with_suffix(".json")) for path in benchmark.blocks[model]]
        shared = {key: value for key, value in reports[0].items() if key != "together_with"}
        sums = {name: sum(report[name] for report in reports) for name in _SUMS}
        told = {
            "until": "settled",
            "pairs_of_benchmark": len(order),
            "pairs_left_out": benchmark.left_out,
            "pairs_sha256": hash_file(benchmark.path),
            "blocks": len(reports),
        }
        write_json(output.with_suffix(".json"), shared | sums | told)


def _read_group(
    files: Sequence[tuple[str, str, Path]],
    models: list[str],
    settled: Settled,
    summary: Summary,
    flagged: Mapping[tuple[str, str], pl.Series],
) -> list[SettledBenchmark]:
    """Read benchmarks that are scored together; put their pairs in the order of scoring."""
    whole = [read_pairs(path) for _, _, path in files]
    for frame in whole:
        check_pairs(frame)
    frames = [
        frame.filter(~pl.col("pair_id").is_in(flagged[name].implode())) if name in flagged else frame
        for name, frame in zip([file[:2] for file in files], whole, strict=True)
    ]
    found = []
    for file, frame, places, all_pairs in zip(files, frames, place_pairs(frames), whole, strict=True):
        pairs, order = order_pairs(frame, places)
        settling = Settling(models, order, settled, summary, SUMMARIZED)
        found.append(SettledBenchmark(*file, pairs, order, len(all_pairs) - len(pairs), settling))
    return found


def tabulate_look(
    benchmark: SettledBenchmark, models: Sequence[str], number: int, summary: Summary
) -> list[tuple[Any, ...]]:
    """Return the rows of a look under SETTLED, for every two of the models that were compared.

    The interval holds, at every look, the one that all pairs will give; p is the highest that they will.
    """
    settling, rows = benchmark.settling, []
    width = NormalDist().inv_cdf((1 + summary.confidence) / 2)
    places = {model: place for place, model in enumerate(settling.models)}
    for (metric, statistic), found in settling.found.items():
        for a, b in combinations(models, 2):
            place = places[a], places[b]
            difference = float(found.differences[place])
            better, worse = (a, b) if METRICS[metric].sign * difference >= 0 else (b, a)
            value, half = abs(difference), float(found.half[place]) * (1 + SLACK)
            reach = float(found.reach[place]) + half
            error = half / width
            sure = max(0.0, value - float(found.reach[place]))
            p = math.erfc(sure / error / math.sqrt(2)) if error > 0 else float("nan")
            numbers = [format_number(each) for each in (value, value - reach, value + reach, p)]
            verdict = "apart" if found.apart[place] else "alike" if found.alike[place] else "open"
            count, total = int(settling.pairs[place]), len(benchmark.pairs)
            where = (benchmark.domain, benchmark.variant, number, count, total)
            rows.append((*where, metric, statistic, better, worse, *numbers, verdict))
    return rows
