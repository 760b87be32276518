"""Watching a training: each checkpoint is scored once, as it comes, and reported by a look.

The scores in the folder of the watch are its whole state, so a stopped watch resumes without a trace. The
pairs of a watch have sentences, and keywords that can be named.
"""

import math
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.benchmark.target_words import find_forms
from fathom.config.models import Point
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.studies import FOLLOWING, WATCHED
from fathom.io.delimited import write_rows
from fathom.io.files import hash_file, hash_text, read_json_lines, read_object, write_json, write_json_lines
from fathom.io.names import place_inside, show_count
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.models import arriving
from fathom.models.fetching import find_pointer
from fathom.models.loading import Pointer
from fathom.models.open_model import OpenModel
from fathom.scoring.bits import find_known
from fathom.scoring.pair_files import read_pairs
from fathom.scoring.rank_files import name_files, score_files
from fathom.scoring.ranks import check_lengths, check_pairs, encode_benchmarks
from fathom.statistics.clustered_tests import bound_mean
from fathom.statistics.forgetting import FIRST, Look, confirm, look_at
from fathom.statistics.metrics import BITS, LOG_PROBABILITY, RANK, Metric
from fathom.studies.following import CONTROLLED, add_noise, follow_tracks, measure_pairs

LEARNED, FORGOTTEN = "learned", "forgotten"
VERDICTS = {1: LEARNED, 0: "", -1: FORGOTTEN}
LOOKS, IDENTITY, KEYWORDS, TRACK = "looks.jsonl", "watch.json", "keywords.csv", "following.parquet"
"""Files in the folder of a watch: a line for each look, what is watched, the keywords now, all looks."""
PAIRS = "pairs"
TIED = "To {} all words are equally likely after every prompt: are its weights zeros?"
MEASURES = {each.name: each for each in (BITS, LOG_PROBABILITY)}
"""Metrics for testing keywords; the first one is the default."""
SEVERAL = 3
"""Distinct targets from which a keyword can be named, as learning a single word is not enough."""
MOST_OF_ONE = 0.5
"""Share of a keyword's pairs that may have the same target."""
NO_KEYWORD = "(no keyword)"
_WORDS = 3  # first words of a prompt: pairs that share them are of one sentence, if no documents are known


class Sentences(NamedTuple):
    """The pairs of a benchmark grouped into independent sentences of keywords.

    `places`: the sentence of each pair, shape (n_pairs,). `targets`: how many different targets each keyword
    has; forms of one word are one. `can_be_named`: whether there are several, none of which belongs to most
    pairs; both have the shape (n_keywords,).
    """

    names: list[str]
    keywords: NDArray[np.int64]
    places: NDArray[np.int64]
    targets: NDArray[np.int64]
    can_be_named: NDArray[np.bool_]

    @property
    def keywords_of_pairs(self) -> NDArray[np.int64]:
        """The keyword of each pair, of shape (n_pairs,)."""
        return self.keywords[self.places]

    def average(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of each sentence's pairs."""
        return np.asarray(np.bincount(self.places, values) / np.bincount(self.places))


def group_sentences(pairs: pl.DataFrame) -> Sentences:
    """Group pairs by document (without documents: by sentence) and keyword."""
    own = pairs["doc_id"] if "doc_id" in pairs.columns else [
        " ".join(prompt.split()[:_WORDS]) for prompt in pairs["prompt"]
    ]  # fmt: skip
    names, keywords = np.unique([name or NO_KEYWORD for name in pairs["keyword"]], return_inverse=True)
    sentences, places = np.unique(
        [f"{keyword:09d} {text}" for keyword, text in zip(keywords, own, strict=True)], return_inverse=True
    )
    words = [_count_targets(pairs["target"].filter(keywords == place)) for place in range(len(names))]
    targets = np.array([len(each) for each in words], dtype=np.int64)
    shares = np.array([max(each) / sum(each) for each in words])
    return Sentences(
        names.tolist(),
        np.array([int(each[:9]) for each in sentences]),
        places,
        targets,
        (targets >= SEVERAL) & (shares <= MOST_OF_ONE),
    )


def _count_targets(targets: pl.Series) -> list[int]:
    """Return how many pairs each different target has; a form of a word counts for its first form."""
    counts = targets.str.strip_chars().value_counts().sort(targets.name)
    words, sizes = counts[targets.name].to_list(), counts["count"].to_list()
    firsts = find_forms(words).argmax(axis=1).tolist()
    found: dict[int, int] = {}
    for first, size in zip(firsts, sizes, strict=True):
        found[first] = found.get(first, 0) + size
    return list(found.values())


class WatchedPairs(NamedTuple):
    """What a watch measures: one of MEASURES, pairs that have a value of it, and their sentences."""

    metric: Metric
    kept: NDArray[np.bool_]
    sentences: Sentences

    def describe(self) -> str:
        """Describe what is measured, on what, and what is left out."""
        names = show_count(len(self.sentences.names), "keyword")
        left, few = int((~self.kept).sum()), int((~self.sentences.can_be_named).sum())
        parts = [f"{show_count(int(self.kept.sum()), 'pair')} of {names}, by {self.metric.label}"]
        if left:
            parts.append(f"left out: {show_count(left, 'pair')} without other targets to compare with")
        if few:
            parts.append(
                f"{show_count(few, 'keyword')} cannot be named: fewer than {SEVERAL} different targets, or"
                " one that most pairs share"
            )
        return "; ".join(parts)


def plan_watch(pairs: pl.DataFrame, by: str | None = None) -> WatchedPairs:
    """Return the metric and the pairs to measure.

    Raise `InputError` if no pair can have a value of it. `by`: name of one of MEASURES; None: bits if pairs
    have them, else log-probability.
    """
    kept = find_known(pairs["target"].to_list(), pairs["keyword"].to_list())
    metric = MEASURES[by] if by else BITS if kept.any() else LOG_PROBABILITY
    if metric is not BITS:
        kept = np.ones(len(pairs), dtype=bool)
    if not kept.any():
        raise InputError(
            "these pairs have no bits, which need two keywords and different targets",
            "--pairs",
            f"give each pair its keyword, or --by {LOG_PROBABILITY.name}",
        )
    return WatchedPairs(metric, kept, group_sentences(pairs.filter(pl.Series(kept))))


class UnusablePairsError(InputError):
    """No checkpoint of a training can be scored on these pairs."""


class Watch:
    """The looks at the checkpoints of one training.

    Raise `InputError` if the pairs cannot be read, or the folder holds a watch of something else. `output`:
    folder of the watch; an existing watch resumes. `base`: how the model that all are compared with was
    named; empty: the first checkpoint.
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
        """Name of the file of pairs that checkpoints are scored on."""
        return self._file.stem

    @property
    def scored(self) -> list[str]:
        """Names of what was scored, in the order of the looks."""
        return [row["checkpoint"] for row in self.rows]

    @property
    def base(self) -> str:
        """Name of the reference of all; empty before the first look."""
        return self._identity["base"] or next(iter(self.scored), "")

    @property
    def has_checkpoint(self) -> bool:
        """Whether anything but the base is scored."""
        return any(name != self._identity["base"] for name in self.scored)

    @property
    def forgotten(self) -> list[str]:
        """Keywords found forgotten at any look."""
        return sorted({name for row in self.rows for name in row[FORGOTTEN]})

    def _resume(self) -> None:
        if not (self.output / IDENTITY).is_file():
            return
        found = read_object(self.output / IDENTITY)
        found.setdefault("by", LOG_PROBABILITY.name)  # the only one in early watches
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
            raise InputError("a line without a checkpoint", str(looks), "delete the file; scores are kept")
        names = [row["checkpoint"] for row in lines]
        reports = (file.stem for file in sorted((self.output / "scores").glob("*.json")))
        # a watch stopped between scores and line has only the scores
        for name in [*names, *(name for name in reports if name not in names)]:
            self._take(name)
        if self.rows:
            self._write()

    def look(self, name: str, pointer: Pointer) -> dict[str, Any]:
        """Score a checkpoint, and write the results of the look; return its line.

        Raises
        ------
        InputError
            If it cannot be scored, or has another architecture or tokenizer than the first one.
        UnusablePairsError
            If the pairs do not fit the first checkpoint.
        """
        self._check(name, pointer)
        model = self._open(pointer)
        tokens = self._hash_tokens(model)
        arriving.require_like(
            tokens, self._identity["tokens"], "another tokenizer", pointer.adapter or pointer.path
        )
        self._identity["tokens"] = tokens
        write_json(self.output / IDENTITY, self._identity)
        score_files(model, name_files([self._file], [self._place(name)]))
        self._take(name)
        self._write()
        return self.rows[-1]

    def _check(self, name: str, pointer: Pointer) -> None:
        if name == self._identity["base"]:
            return  # an adapter has only a part of the tensors
        folder = pointer.adapter or pointer.path
        tensors = arriving.describe_tensors(folder)
        arriving.require_like(tensors, self._identity["tensors"], "another architecture", folder)
        self._identity["tensors"] = tensors

    def _hash_tokens(self, model: OpenModel) -> str:
        """Return a hash of the pairs' tokens, which identifies the tokenizer for scores."""
        tokenizer, opened = model.tokenizer, model.model  # errors here are the checkpoint's fault
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
        scores = read_table(self._place(name), SCORES)
        if scores["pair_id"].to_list() != self.pairs["pair_id"].to_list():
            raise InputError("scores of other pairs", str(self._place(name)), "delete the folder")
        return scores

    def _take(self, name: str) -> None:
        scores = self._read(name)
        values = scores[self.plan.metric.name].to_numpy()[self.plan.kept]
        if unknown := int(np.isnan(values).sum()):
            raise UnusablePairsError(
                f"{unknown:,} of {len(values):,} pairs have no bits: tokens span the end of their prompts",
                str(self._place(name)),
                f"give --by {LOG_PROBABILITY.name}",
            )
        self._ends = [*self._ends[:1], values]
        self._values.append(self._sentences.average(values))
        named = self._sentences.can_be_named
        self._looks.append(look_at(np.stack(self._values), self._sentences.keywords, named))
        self._confirmed.append(confirm([each.found for each in self._looks[-2:]]))
        is_base = name == self._identity["base"]
        changes = values - self._ends[0]
        low, high = bound_mean(changes, self._sentences.keywords_of_pairs, Summary().confidence)
        row: dict[str, Any] = {
            "look": len(self.rows), "checkpoint": name,
            "step": 0 if is_base else arriving.read_step(name) or len(self.rows),
            "pairs": len(values), "bits": _average(scores[BITS.name].to_numpy()),
            "geometric_mean_rank": _round(np.exp(np.log(scores[RANK.name].to_numpy()).mean())),
            "log_probability": _average(scores[LOG_PROBABILITY.name].to_numpy()),
            "change": _round(changes.mean()), "low": _round(low), "high": _round(high),
            "noise": _round(self._looks[-1].noise),
            "tied": is_tied(scores),
        }  # fmt: skip
        for code, verdict in ((-1, FORGOTTEN), (1, LEARNED)):
            row[verdict] = self._name(self._confirmed[-1] == code)
        self.rows.append(row)

    def _name(self, which: NDArray[np.bool_]) -> list[str]:
        return [name for name, chosen in zip(self._sentences.names, which, strict=True) if chosen]

    def _write(self) -> None:
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
        """Return the last look's results for each keyword, under WATCHED, most forgotten first."""
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
        """Return the checkpoint since which a keyword has its verdict; nothing without a verdict."""
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


def _average(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return _round(float(known.mean())) if len(known) else None


def _round(number: float) -> float | None:
    return None if math.isnan(number) else float(f"{number:.6g}")


def describe_look(rows: Sequence[dict[str, Any]], plan: WatchedPairs) -> str:
    """Describe the last look's results for keywords in a sentence or two."""
    row, first = rows[-1], rows[0]["checkpoint"]
    tied = f" {TIED.format(row['checkpoint'])}" if row["tied"] else ""
    nameable = int(plan.sentences.can_be_named.sum())
    if len(rows) < FIRST + 1:
        missing = FIRST + 1 - len(rows)
        further = show_count(missing, "further checkpoint")
        answer = f"{row['checkpoint']} is scored. Keywords can be named after {further}."
    elif nameable:
        counts = ((len(row[verdict]), verdict) for verdict in (FORGOTTEN, LEARNED))
        found = " and ".join(
            f"{count or 'none'} {'is' if count < 2 else 'are'} {each}" for count, each in counts
        )
        answer = f"{row['checkpoint']}: of {show_count(nameable, 'keyword')} {found} since {first}."
    else:
        answer = f"{row['checkpoint']}: no keyword has enough different targets to be named."
    return f"{answer}{tied}"


def describe_change(rows: Sequence[dict[str, Any]], metric: Metric) -> str:
    """Describe the change from the first look to the last over all pairs; empty if unknown."""
    row, first = rows[-1], rows[0]["checkpoint"]
    if row["checkpoint"] == first or row["low"] is None:
        return ""
    interval = f"{row['change']:+.2f} {metric.unit} [{row['low']:+.2f}, {row['high']:+.2f}]"
    verdict = "" if row["low"] > 0 or row["high"] < 0 else ", which may be none"
    return f"over all pairs the mean change since {first} is {interval} at this look{verdict}"


class Arrivals:
    """Checkpoints arriving in a folder, and messages on them.

    `base`: what adapters are applied to; None: the folder that they name. `changing`: whether files of any
    checkpoint changed since the look before: one is being written.
    """

    def __init__(self, folder: Path, base: str | None) -> None:
        self._folder, self._base, self.changing = folder, base, False
        self._seen: dict[str, arriving.Signature] = {}
        self._passed: dict[str, arriving.Signature] = {}
        self._said: dict[str, str] = {}

    @property
    def passed(self) -> list[str]:
        """Names of checkpoints that are still skipped."""
        return sorted(name for name, signature in self._passed.items() if self._seen.get(name) == signature)

    def find_next(self, scored: Collection[str]) -> Path | None:
        """Return the first complete checkpoint that was not scored; None while there is none.

        A checkpoint is complete if nothing is missing and its files are as they were at the look before.
        One that cannot be used is skipped, with one message, until its files change.
        """
        found = [each for each in arriving.list_arrivals(self._folder) if each.name not in scored]
        now = {each.name: signature for each in found if (signature := self._sign(each)) is not None}
        changed = {name for name, signature in now.items() if self._seen.get(name) != signature}
        self._seen, self.changing = now, bool(changed)
        for each in found:
            name = each.name
            if name in changed:
                return None  # it is first in the order of steps
            if name in now and self._passed.get(name) != now[name] and self._is_whole(each):
                return each
        return None

    def score(self, watch: Watch, folder: Path) -> bool:
        """Score a checkpoint; return False, with one message, if it cannot be scored."""
        try:
            # a whole model needs no base
            adapter = (folder / "adapter_config.json").is_file() and not (folder / "config.json").is_file()
            watch.look(folder.name, find_pointer(folder, self._base if adapter else None))
        except UnusablePairsError:
            raise
        except (InputError, OSError) as error:
            if str(watch.output) in str(error):
                raise  # the watch's own files are unusable: no checkpoint can be scored
            self._pass_over(folder, error)
            return False
        if watch.rows[-1]["tied"]:
            log.warning(TIED.format(folder.name))
        return True

    def _sign(self, folder: Path) -> arriving.Signature | None:
        try:
            return arriving.sign_files(folder)
        except (InputError, OSError) as error:
            self._say(folder, f"cannot be read: {error}")
            return None

    def _is_whole(self, folder: Path) -> bool:
        """Tell whether a checkpoint is complete; if not, log once what it lacks."""
        try:
            lack = arriving.find_lack(folder)
        except (InputError, OSError) as error:
            self._pass_over(folder, error)
            return False
        if lack:
            self._say(folder, f"waits: {lack}")
        return not lack

    def _pass_over(self, folder: Path, error: Exception) -> None:
        self._passed[folder.name] = self._seen[folder.name]
        if folder.is_dir():
            self._say(folder, f"is skipped: {error}")
        else:
            self._say(folder, "was deleted before it was scored")

    def _say(self, folder: Path, what: str) -> None:
        if self._said.get(folder.name) != what:
            self._said[folder.name] = what
            log.warning("%s %s", folder.name, what)
