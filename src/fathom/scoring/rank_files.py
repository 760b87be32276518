"""Scoring of files, for the program `score_model.py` and the commands `fathom score` and `best`.

Parts of a benchmark are scored with first tokens, for computing bits of the whole.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.benchmark import VARIANTS
from fathom.errors import InputError
from fathom.io.contracts.scoring import SCORES, TOP_SCORES
from fathom.io.files import hash_file, require_file_name, write_atomically, write_json
from fathom.io.tables import write_table
from fathom.jobs.program import log
from fathom.jobs.resume import Resume
from fathom.models.folders import load_tokenizer
from fathom.models.open_model import Measurement, OpenModel
from fathom.models.served import ServedModel
from fathom.models.tokens import count_encoded_otherwise
from fathom.scoring.pair_files import read_pairs
from fathom.scoring.ranks import ScoringOptions, check_pairs, score_among, score_benchmarks
from fathom.scoring.served_ranks import score_served, score_served_among


class ScoreFiles(NamedTuple):
    """The files of one benchmark: its pairs, and the scores and the report to write."""

    pairs: Path
    scores: Path
    report: Path


def name_beside(pairs: Path, model: str) -> Path:
    """Return the path of a model's scores beside its pairs: `{pairs}.{model}.parquet`."""
    return pairs.with_name(f"{pairs.stem}.{model.rpartition('/')[2]}.parquet")


def name_reading(domain: str, variant: str) -> str:
    """Return the name under which pairs are read together, as TF and TF-IDF share most sentences."""
    return domain if variant in VARIANTS else f"{domain}.{variant}"


def name_files(
    pairs: Sequence[Path], scores: Sequence[Path], reports: Sequence[Path] | None = None
) -> list[ScoreFiles]:
    """Match each file of pairs with its output files, in the same order.

    Without `reports`, they go beside the scores, with suffix `.json`. Raise `InputError` if the numbers of
    files differ, or a file would be written twice, overwrites pairs or is not writable.
    """
    for path in (*scores, *(reports or [])):
        require_file_name(path)
    reports = reports or [path.with_suffix(".json") for path in scores]
    written = [path.resolve() for path in (*scores, *reports)]
    differ = len({len(pairs), len(scores), len(reports)}) > 1
    if differ or len(set(written)) < len(written) or {path.resolve() for path in pairs} & set(written):
        raise InputError(
            "every file of pairs needs its own output and report",
            "--pairs, --output, --report",
            "give as many of each, in the same order",
        )
    return [ScoreFiles(*names) for names in zip(pairs, scores, reports, strict=True)]


def score_files(model: OpenModel, files: Sequence[ScoreFiles]) -> list[pl.DataFrame]:
    """Score a model on files of pairs; write scores, under SCORES or TOP_SCORES, and a report for each.

    A stopped run resumes from `.{name}.partial` beside the first scores. Raise `InputError` if the model
    cannot score the pairs, see :func:`fathom.scoring.ranks.score_benchmarks`.
    """
    benchmarks = _read(files)  # find mistakes in them before hashing a large model
    planned = plan_ranks("", files)
    resume = Resume(files[0].scores, planned.make_key(model))
    found = _score(model, benchmarks, files, planned.outputs, resume)
    resume.remove()
    return found


def plan_ranks(name: str, files: Sequence[ScoreFiles]) -> Measurement:
    """Return the measurement of ranks on files of pairs; shared prefixes are read once."""
    return Measurement(
        name,
        __file__,
        inputs=[file.pairs for file in files],
        outputs=[output for file in files for output in (file.scores, file.report)],
        settings=None,
        measure=lambda model, outputs, resume: _score(model, _read(files), files, outputs, resume),
    )


def _read(files: Sequence[ScoreFiles]) -> list[pl.DataFrame]:
    benchmarks = [read_pairs(file.pairs) for file in files]
    for pairs in benchmarks:
        check_pairs(pairs)
    return benchmarks


def _score(
    model: OpenModel,
    benchmarks: Sequence[pl.DataFrame],
    files: Sequence[ScoreFiles],
    outputs: Sequence[Path],
    resume: Resume,
) -> list[pl.DataFrame]:
    """Write scores and reports to `outputs`, each file's two in turn."""
    hashes = [hash_file(file.pairs) for file in files]
    shared = {**model.description, "chat_template": model.pointer.chat_template}
    if isinstance(model, ServedModel):
        found, details = score_served(model, benchmarks, resume, shared)
    else:
        found = score_benchmarks(
            model.copies, model.tokenizer, benchmarks, model.settings, model.pointer, resume, shared
        )
        details = [{"ties": int((scores["ties"] > 0).sum())} for scores in found]
        for counts, otherwise in zip(details, _compare_tokenizers(model, benchmarks), strict=True):
            counts.update(otherwise)
    fitted = shared.pop("sharpness")
    for index, scores in enumerate(found):
        report = shared | {
            "pairs_sha256": hashes[index],
            "together_with": hashes[:index] + hashes[index + 1 :],
            "pairs": len(scores),
            "backed_off": int(scores["backed_off"].sum()),
            **details[index],
            # fitted on the keywords of all other folds; a keyword's name decides its fold
            "sharpness": fitted[index],
        }
        log.info(
            "%s: pairs %s, backed off %s; %s",
            *(report[key] for key in ("model", "pairs", "backed_off")),
            ", ".join(f"{name} {value}" for name, value in details[index].items()),
        )
        write_table(outputs[2 * index], scores, SCORES if "ties" in scores.columns else TOP_SCORES)
        write_json(outputs[2 * index + 1], report)
    return found


def _compare_tokenizers(model: OpenModel, benchmarks: Sequence[pl.DataFrame]) -> list[dict[str, int]]:
    """Return how many prompts of each benchmark a converted model encodes differently than its original.

    Empty for each if the original's tokenizer is not available.
    """
    pointer = model.pointer
    if pointer.original is None or not pointer.original.is_dir():
        return [{} for _ in benchmarks]
    original = load_tokenizer(pointer.original)
    prompts = [pairs["prompt"].to_list() for pairs in benchmarks]
    counts = [count_encoded_otherwise(model.tokenizer, original, each, pointer.add_bos) for each in prompts]
    return [{"encoded_otherwise": count} for count in counts]


def plan_part(name: str, pairs: Path, scores: Path, words: Sequence[str]) -> Measurement:
    """Return the measurement of a part of a benchmark, with first tokens in a file beside the scores.

    `words` are the candidates, the distinct targets of the whole benchmark.
    """

    def measure(model: OpenModel, outputs: Sequence[Path], resume: Resume) -> None:
        from safetensors.numpy import save_file

        if isinstance(model, ServedModel):
            found, first = score_served_among(model, read_pairs(pairs), words, resume)
        else:
            options = ScoringOptions(model.settings, model.pointer, resume)
            found, first = score_among(model.copies, model.tokenizer, read_pairs(pairs), words, options)
        write_table(outputs[0], found, SCORES)
        # safetensors writes raw memory, whatever the order of its axes
        arrays = {"own": np.ascontiguousarray(first.own), "others": np.ascontiguousarray(first.others)}
        with write_atomically(outputs[1]) as temporary:
            save_file(arrays, temporary)

    return Measurement(
        name, __file__, [pairs], [scores, _name_first_tokens(scores)], [*words], measure
    )  # fmt: skip


def read_first_tokens(scores: Path) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Return the log-probabilities of the first tokens of targets, and of all candidates, beside scores."""
    from safetensors.numpy import load_file

    found = load_file(_name_first_tokens(scores))
    return found["own"], found["others"]


def _name_first_tokens(scores: Path) -> Path:
    return scores.with_suffix(".safetensors")
