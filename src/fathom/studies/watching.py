"""A training that is watched: checkpoints scored once each, as they come, and what each look says.

All that is known follows from the scores in the folder of the watch, so a stopped watch goes on as if it had
not been.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.following import Point
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
from fathom.scoring.ranks import check_pairs, encode_benchmarks
from fathom.statistics.forgetting import FIRST, Look, confirm, look_at
from fathom.statistics.metrics import LOG_PROBABILITY, RANK
from fathom.studies.following import CONTROLLED, add_noise, follow_tracks, measure_pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEARNED, FORGOTTEN = "learned", "forgotten"
VERDICTS = {1: LEARNED, 0: "", -1: FORGOTTEN}
LOOKS, IDENTITY, KEYWORDS, TRACK = "looks.jsonl", "watch.json", "keywords.csv", "following.parquet"
"""Files in the folder of a watch: a line for each look, what is watched, the keywords now, all looks."""
NO_KEYWORD, PAIRS = "(no keyword)", "pairs"
_WORDS = 3  # first words of a prompt: pairs that share them are of one sentence, if no documents are known


class Sentences(NamedTuple):
    """What the pairs of a benchmark are put together to: independent sentences of keywords.

    Attributes
    ----------
    names : list of str
        Of the keywords.
    keywords : ndarray of shape (n_sentences,), int64
        The keyword of each sentence.
    places : ndarray of shape (n_pairs,), int64
        The sentence of each pair.
    """

    names: list[str]
    keywords: "NDArray[np.int64]"
    places: "NDArray[np.int64]"

    def average(self, values: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """Return the mean of each sentence's pairs."""
        import numpy as np

        return np.asarray(np.bincount(self.places, values) / np.bincount(self.places))


def group_sentences(pairs: pl.DataFrame) -> Sentences:
    """Put pairs of one document (without documents: of one sentence) and keyword together."""
    import numpy as np

    own = pairs["doc_id"] if "doc_id" in pairs.columns else [
        " ".join(prompt.split()[:_WORDS]) for prompt in pairs["prompt"]
    ]  # fmt: skip
    names, keywords = np.unique([name or NO_KEYWORD for name in pairs["keyword"]], return_inverse=True)
    sentences, places = np.unique(
        [f"{keyword:09d} {text}" for keyword, text in zip(keywords, own, strict=True)], return_inverse=True
    )
    return Sentences(names.tolist(), np.array([int(each[:9]) for each in sentences]), places)


class Watch:
    """The looks at the checkpoints of one training.

    Parameters
    ----------
    pairs : Path
        File of pairs, see :func:`fathom.scoring.pair_files.read_pairs`.
    output : Path
        Folder of the watch; what is there is gone on with.
    base : str
        How the model that all are compared with was named; empty: the first checkpoint.
    open_model : callable
        Returns the model of a pointer, not loaded yet.

    Attributes
    ----------
    rows : list of dict
        A line for each look.

    Raises
    ------
    InputError
        If the pairs cannot be read, or the folder holds a watch of something else.
    """

    def __init__(
        self, pairs: Path, output: Path, base: str, open_model: Callable[[Pointer], OpenModel]
    ) -> None:
        self._file, self.output, self._open = pairs, output, open_model
        self.pairs = read_pairs(pairs)
        check_pairs(self.pairs)
        self._sentences = group_sentences(self.pairs)
        self._identity = {"pairs": hash_file(pairs), "base": base, "tokens": "", "tensors": ""}
        self.rows: list[dict[str, Any]] = []
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
    def forgotten(self) -> list[str]:
        """Keywords that were called forgotten at any look."""
        return sorted({name for row in self.rows for name in row[FORGOTTEN]})

    def _resume(self) -> None:
        """Take over what an earlier watch in this folder has scored, its order too."""
        if not (self.output / IDENTITY).is_file():
            return
        found = read_object(self.output / IDENTITY)
        for key in ("pairs", "base"):
            if found.get(key) != self._identity[key]:
                raise InputError(
                    f"this folder holds a watch with {'other pairs' if key == 'pairs' else 'another base'}",
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
            return  # of which adapters hold a part
        folder = pointer.adapter or pointer.path
        tensors = describe_tensors(folder)
        require_like(tensors, self._identity["tensors"], "another architecture", folder)
        self._identity["tensors"] = tensors

    def _hash_tokens(self, model: OpenModel) -> str:
        """Return a hash of the pairs' tokens: what a tokenizer is to scores."""
        encoded = encode_benchmarks(model.tokenizer, self.pairs, model.pointer)
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
        values = scores[LOG_PROBABILITY.name].to_numpy()
        self._values.append(self._sentences.average(values))
        self._looks.append(look_at(np.stack(self._values), self._sentences.keywords))
        self._confirmed.append(confirm([each.found for each in self._looks[-2:]]))
        now, is_base = self._looks[-1], name == self._identity["base"]
        step = 0 if is_base else read_step(name) or len(self.rows)
        row: dict[str, Any] = {
            "look": len(self.rows), "checkpoint": name, "step": step, "pairs": len(scores),
            "geometric_mean_rank": _round(np.exp(np.log(scores[RANK.name].to_numpy()).mean())),
            "log_probability": _round(values.mean()),
            "change": _round((self._values[-1] - self._values[0])[self._sentences.places].mean()),
            "noise": _round(now.noise),
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
                "keyword": name, "sentences": int(sizes[place]), "change": float(now.change[place]),
                "error": float(now.error[place]), "p": float(now.p[place]),
                "p_adjusted": float(now.p_adjusted[place]), "verdict": VERDICTS[verdict],
                "since": self._find_since(place, verdict),
            })  # fmt: skip
        return sorted(rows, key=lambda row: (row["verdict"] != FORGOTTEN, row["change"], row["keyword"]))

    def _find_since(self, place: int, verdict: int) -> str:
        """Return the checkpoint from which on a keyword has had its verdict; nothing without a verdict."""
        since = ""
        for row, confirmed in zip(reversed(self.rows), reversed(self._confirmed), strict=True):
            if not verdict or confirmed[place] != verdict:
                break
            since = str(row["checkpoint"])
        return since


def _round(number: float) -> float | None:
    """Return six significant digits of a number; None if it is not known."""
    return None if math.isnan(number) else float(f"{number:.6g}")


def describe_look(rows: Sequence[dict[str, Any]], keywords: int) -> str:
    """Return what the last look says, in a sentence or two."""
    row = rows[-1]
    if len(rows) < FIRST + 1:
        missing = FIRST + 1 - len(rows)
        further = "one further checkpoint" if missing == 1 else f"{missing} further checkpoints"
        return f"{row['checkpoint']} is scored. Keywords can be named after {further}."
    counts = ((len(row[verdict]), verdict) for verdict in (FORGOTTEN, LEARNED))
    found = " and ".join(f"{count or 'none'} {'is' if count < 2 else 'are'} {each}" for count, each in counts)
    return f"{row['checkpoint']}: of {keywords} keywords {found} since {rows[0]['checkpoint']}."
