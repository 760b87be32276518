"""A training that is watched: checkpoints scored once each, as they come, and what each look says.

All that is known follows from the scores in the folder of the watch, so a stopped watch goes on as if it had
not been.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.models import Point
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.studies import FOLLOWING, WATCHED
from fathom.io.delimited import write_rows
from fathom.io.files import hash_file, hash_text, read_json_lines, read_object, write_json, write_json_lines
from fathom.io.names import place_inside
from fathom.io.tables import read_table, write_table
from fathom.models.arriving import describe_tensors, read_step, require_like
from fathom.models.loading import Pointer
from fathom.models.open_model import OpenModel
from fathom.scoring.pair_files import read_pairs
from fathom.scoring.rank_files import name_files, score_files
from fathom.scoring.ranks import check_lengths, check_pairs, encode_benchmarks
from fathom.statistics.forgetting import FIRST, Look, confirm, look_at
from fathom.statistics.metrics import BITS, LOG_PROBABILITY, RANK
from fathom.studies.following import CONTROLLED, add_noise, follow_tracks, measure_pairs
from fathom.studies.watched_pairs import NO_KEYWORD, plan_watch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEARNED, FORGOTTEN = "learned", "forgotten"
VERDICTS = {1: LEARNED, 0: "", -1: FORGOTTEN}
LOOKS, IDENTITY, KEYWORDS, TRACK = "looks.jsonl", "watch.json", "keywords.csv", "following.parquet"
"""Files in the folder of a watch: a line for each look, what is watched, the keywords now, all looks."""
PAIRS = "pairs"
TIED = "To {} all words are equally likely after every prompt: are its weights zeros?"


class UnusablePairsError(InputError):
    """No checkpoint of a training can be scored on these pairs."""


class Watch:
    """The looks at the checkpoints of one training.

    Parameters
    ----------
    pairs : Path
        File of pairs, see :func:`fathom.scoring.pair_files.read_pairs`.
    output : Path
        Folder of the watch; an existing watch resumes.
    base : str
        How the model that all are compared with was named; empty: the first checkpoint.
    open_model : callable
        Returns the model of a pointer, not loaded yet.
    by : str, optional
        What keywords are tested by, see :func:`fathom.studies.watched_pairs.plan_watch`.

    Attributes
    ----------
    rows : list of dict
        A line for each look.
    plan : WatchedPairs
        What is measured on which pairs.

    Raises
    ------
    InputError
        If the pairs cannot be read, or the folder holds a watch of something else.
    """

    def __init__(
        self,
        pairs: Path,
        output: Path,
        base: str,
        open_model: Callable[[Pointer], OpenModel],
        by: str | None = None,
    ) -> None:
        self._file, self.output, self._open = pairs, output, open_model
        self.pairs = read_pairs(pairs)
        check_pairs(self.pairs)
        self.plan = plan_watch(self.pairs, by)
        self._sentences = self.plan.sentences
        self._identity = {
            "pairs": hash_file(pairs), "base": base, "by": self.plan.metric.name, "tokens": "", "tensors": "",
        }  # fmt: skip
        self.rows: list[dict[str, Any]] = []
        self._ends: list[NDArray[np.float64]] = []  # values of pairs: of the reference, and of the last look
        self._values: list[NDArray[np.float64]] = []
        self._looks: list[Look] = []
        self._confirmed: list[NDArray[np.int64]] = []
        self._resume()

    @property
    def title(self) -> str:
        """What the checkpoints are scored on: the name of the file of pairs."""
        return self._file.stem

    @property
    def scored(self) -> list[str]:
        """Names of what was scored, in the order of the looks."""
        return [row["checkpoint"] for row in self.rows]

    @property
    def base(self) -> str:
        """What all are compared with; empty before the first look."""
        return self._identity["base"] or next(iter(self.scored), "")

    @property
    def has_checkpoint(self) -> bool:
        """Whether anything but the base is scored."""
        return any(name != self._identity["base"] for name in self.scored)

    @property
    def forgotten(self) -> list[str]:
        """Keywords that were called forgotten at any look."""
        return sorted({name for row in self.rows for name in row[FORGOTTEN]})

    def _resume(self) -> None:
        """Take over what an earlier watch in this folder has scored, its order too."""
        if not (self.output / IDENTITY).is_file():
            return
        found = read_object(self.output / IDENTITY)
        found.setdefault("by", LOG_PROBABILITY.name)  # the only one that watches once had
        for key, other in {"pairs": "other pairs", "base": "another base", "by": "another --by"}.items():
            if found.get(key) != self._identity[key]:
                raise InputError(
                    f"this folder holds a watch with {other}",
                    str(self.output),
                    "give another --output, or delete it",
                )
        self._identity = {key: str(found.get(key, "")) for key in self._identity}
        looks = self.output / LOOKS
        lines = read_json_lines(looks) if looks.is_file() else []
        if any(not isinstance(row.get("checkpoint"), str) for row in lines):
            raise InputError("a line names no checkpoint", str(looks), "delete the file: scores are kept")
        names = [row["checkpoint"] for row in lines]
        reports = (file.stem for file in sorted((self.output / "scores").glob("*.json")))
        # a watch that was stopped between its scores and its line has the scores
        for name in [*names, *(name for name in reports if name not in names)]:
            self._take(name)
        if self.rows:
            self._write()

    def look(self, name: str, pointer: Pointer) -> dict[str, Any]:
        """Score a checkpoint, and write what the look says; return the line of the look.

        Parameters
        ----------
        name : str
            Of the checkpoint.
        pointer : Pointer

        Raises
        ------
        InputError
            If it cannot be scored, or has another architecture or tokenizer than the first one.
        UnusablePairsError
            If the fault is that of the pairs: the first checkpoint is read, and they do not fit it.
        """
        self._check(name, pointer)
        model = self._open(pointer)
        tokens = self._hash_tokens(model)
        require_like(tokens, self._identity["tokens"], "another tokenizer", pointer.adapter or pointer.path)
        self._identity["tokens"] = tokens
        write_json(self.output / IDENTITY, self._identity)
        score_files(model, name_files([self._file], [self._place(name)]))
        self._take(name)
        self._write()
        return self.rows[-1]

    def _check(self, name: str, pointer: Pointer) -> None:
        """Compare the tensors of a checkpoint with those of the first one."""
        if name == self._identity["base"]:
            return  # an adapter holds only a part of its tensors
        folder = pointer.adapter or pointer.path
        tensors = describe_tensors(folder)
        require_like(tensors, self._identity["tensors"], "another architecture", folder)
        self._identity["tensors"] = tensors

    def _hash_tokens(self, model: OpenModel) -> str:
        """Return a hash of the pairs' tokens: what a tokenizer is to scores."""
        tokenizer, opened = model.tokenizer, model.model  # what is wrong with these is the checkpoint's fault
        try:
            encoded = encode_benchmarks(tokenizer, self.pairs, model.pointer)
            check_lengths(opened, encoded, self.pairs["pair_id"].to_list(), model.pointer.name)
        except InputError as error:
            if self.has_checkpoint:
                raise
            what = f"no checkpoint can be scored on these pairs: {error.where}: {error.what}"
            raise UnusablePairsError(what, str(self._file), error.hint) from error
        return hash_text(*(f"{pair.start} {pair.ids}" for pair in encoded))

    def _place(self, name: str) -> Path:
        return place_inside(self.output / "scores", f"{name}.parquet")

    def _read(self, name: str) -> pl.DataFrame:
        """Return the scores of a checkpoint."""
        scores = read_table(self._place(name), SCORES)
        if scores["pair_id"].to_list() != self.pairs["pair_id"].to_list():
            raise InputError("these are scores of other pairs", str(self._place(name)), "delete the folder")
        return scores

    def _take(self, name: str) -> None:
        """Add the look at a scored checkpoint."""
        import numpy as np

        scores = self._read(name)
        values = scores[self.plan.metric.name].to_numpy()[self.plan.kept]
        self._ends = [*self._ends[:1], values]
        self._values.append(self._sentences.average(values))
        named = self._sentences.can_be_named
        self._looks.append(look_at(np.stack(self._values), self._sentences.keywords, named))
        self._confirmed.append(confirm([each.found for each in self._looks[-2:]]))
        is_base = name == self._identity["base"]
        row: dict[str, Any] = {
            "look": len(self.rows), "checkpoint": name,
            "step": 0 if is_base else read_step(name) or len(self.rows),
            "pairs": len(values), "bits": _average(scores[BITS.name].to_numpy()),
            "geometric_mean_rank": _round(np.exp(np.log(scores[RANK.name].to_numpy()).mean())),
            "log_probability": _average(scores[LOG_PROBABILITY.name].to_numpy()),
            "change": _round((values - self._ends[0]).mean()), "noise": _round(self._looks[-1].noise),
            "tied": is_tied(scores),
        }  # fmt: skip
        for code, verdict in ((-1, FORGOTTEN), (1, LEARNED)):
            row[verdict] = self._name(self._confirmed[-1] == code)
        self.rows.append(row)

    def _name(self, which: "NDArray[np.bool_]") -> list[str]:
        return [name for name, chosen in zip(self._sentences.names, which, strict=True) if chosen]

    def _write(self) -> None:
        """Write the keywords, the metrics of all looks, and last the lines that say which looks there are."""
        write_rows(self.output / KEYWORDS, self.list_keywords(), WATCHED)
        table, track, settings = self.output / TRACK, self.output.name, Summary()
        rows = read_table(table, FOLLOWING).rows(named=True) if table.is_file() else []
        known = {row["model"] for row in rows}
        for each in (row for row in self.rows if row["checkpoint"] not in known):
            name = each["checkpoint"]
            frame = self._read(name)
            if "doc_id" in self.pairs.columns:
                frame = frame.with_columns(self.pairs["doc_id"])
            measured = measure_pairs({(track, PAIRS, name): frame.sort("pair_id")}, settings, CONTROLLED)
            rows += follow_tracks({track: [Point(model=name, step=each["step"])]}, measured, settings)
        write_table(table, pl.DataFrame(add_noise(rows), infer_schema_length=None), FOLLOWING)
        write_json_lines(self.output / LOOKS, self.rows)

    def list_keywords(self) -> list[dict[str, Any]]:
        """Return what the last look says of each keyword, under WATCHED: forgotten most first."""
        import numpy as np

        now, sizes = self._looks[-1], np.bincount(self._sentences.keywords)
        rows = []
        for place, name in enumerate(self._sentences.names):
            verdict = int(self._confirmed[-1][place])
            rows.append({
                "keyword": name, "sentences": int(sizes[place]),
                "targets": int(self._sentences.targets[place]), "change": float(now.change[place]),
                "error": float(now.error[place]), "p": float(now.p[place]),
                "p_adjusted": float(now.p_adjusted[place]), "verdict": VERDICTS[verdict],
                "since": self._find_since(place, verdict),
            })  # fmt: skip
        return sorted(rows, key=lambda row: (row["verdict"] != FORGOTTEN, row["change"], row["keyword"]))

    def list_pairs(self, keyword: str) -> list[dict[str, Any]]:
        """Return the pairs of a keyword, with their values at the reference and now, most changed first."""
        first, last = self._ends[0], self._ends[-1]
        rows = self.pairs.filter(pl.Series(self.plan.kept)).with_columns(
            first=pl.Series(first), last=pl.Series(last), change=pl.Series(last - first)
        )
        own = rows.filter(keyword="" if keyword == NO_KEYWORD else keyword)
        shown = own.select("pair_id", "prompt", "target", "first", "last", "change")
        return shown.sort(-pl.col("change").abs(), "pair_id").to_dicts()

    def _find_since(self, place: int, verdict: int) -> str:
        """Return the checkpoint from which on a keyword has had its verdict; nothing without a verdict."""
        since = ""
        for row, confirmed in zip(reversed(self.rows), reversed(self._confirmed), strict=True):
            if not verdict or confirmed[place] != verdict:
                break
            since = str(row["checkpoint"])
        return since


def is_tied(scores: pl.DataFrame) -> bool:
    """Return whether all words are equally likely after every prompt, as with weights that are zeros."""
    entries = scores["rank"] / scores["rank_share"]
    return bool((scores["ties"] / scores["tokens"] > entries - 1.5).all())


def _average(values: "NDArray[np.float64]") -> float | None:
    """Return the rounded mean of the values that there are; None if there are none."""
    import numpy as np

    known = values[~np.isnan(values)]
    return _round(float(known.mean())) if len(known) else None


def _round(number: float) -> float | None:
    """Return six significant digits of a number; None if it is not known."""
    return None if math.isnan(number) else float(f"{number:.6g}")


def describe_look(rows: Sequence[dict[str, Any]], keywords: int) -> str:
    """Return what the last look says, in a sentence or two."""
    row = rows[-1]
    tied = f" {TIED.format(row['checkpoint'])}" if row["tied"] else ""
    if len(rows) < FIRST + 1:
        missing = FIRST + 1 - len(rows)
        further = "one further checkpoint" if missing == 1 else f"{missing} further checkpoints"
        return f"{row['checkpoint']} is scored. Keywords can be named after {further}.{tied}"
    counts = ((len(row[verdict]), verdict) for verdict in (FORGOTTEN, LEARNED))
    found = " and ".join(f"{count or 'none'} {'is' if count < 2 else 'are'} {each}" for count, each in counts)
    return f"{row['checkpoint']}: of {keywords} keywords {found} since {rows[0]['checkpoint']}.{tied}"
