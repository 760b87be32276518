"""Reads a run: walks its folder once and reads each table once, for all parts of the page.

A run need not be finished. Missing parts are named; a missing summary is computed from the scores.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.benchmark.benchmark_files import name_reference, read_manifest
from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.explorer.checks import check_scores, check_tables, describe_left_out
from fathom.explorer.run import (
    AGREEMENT,
    CHOICE_ACCURACY,
    CHOICE_DIAGNOSIS,
    COMPARISONS,
    CORRELATIONS,
    GROUPS,
    QUESTION_SCORES,
    SUMMARY,
    TUNING,
    WHATEVER,
    Benchmark,
    CoverageMap,
    Named,
    QuestionSet,
    Row,
    Run,
    rank_models,
)
from fathom.io import paths
from fathom.io.contracts import answering, jobs, layers, questions, ranking, statistics
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS, OVERLAP, PAIRS
from fathom.io.contracts.column import Contract
from fathom.io.contracts.coverage import COVERAGE_MAP
from fathom.io.contracts.scoring import SCORES
from fathom.io.delimited import read_fields, read_rows, type_fields
from fathom.io.files import hash_file, read_object
from fathom.io.names import is_inside, is_utf8, show_count, show_path
from fathom.io.run_path import RunPath
from fathom.io.tables import read_table
from fathom.jobs.file_contents import find_changes
from fathom.jobs.program import log
from fathom.models.origins import find_origins
from fathom.questions.asked_items import select_own
from fathom.statistics.comparisons import resample_scores, tabulate_comparisons
from fathom.statistics.left_out import Key
from fathom.statistics.metrics import METRICS, RANK, RANKED
from fathom.statistics.summaries import summarize_scores

_READ: dict[str, tuple[Contract, Sequence[str] | None]] = {
    SUMMARY: (statistics.SUMMARY, None),
    COMPARISONS: (statistics.COMPARISONS, statistics.COMPARISONS.names[:-2]),
    GROUPS: (statistics.GROUPS, statistics.GROUPS.names[:-2]),
    CORRELATIONS: (statistics.CORRELATIONS, None),
    TUNING: (
        jobs.TUNING, ("model", "task", "metric", "direct", "chosen", "direct_error", "chosen_error")
    ),
    AGREEMENT: (ranking.AGREEMENT, None),
    CHOICE_ACCURACY: (answering.CHOICE_ACCURACY, None),
    CHOICE_DIAGNOSIS: (answering.CHOICE_DIAGNOSIS, None),
    QUESTION_SCORES: (questions.QUESTION_SCORES, None),
}  # fmt: skip
"""Tables that the page computes with, and the needed columns, if not all; older runs lack `pairs`."""

_APART = {"logs", "timings", "weights", "tokenizer", "checkpoints", "lm-eval"}
"""Folders without files for the page."""

PAIR_COLUMNS = ("pair_id", "keyword", "prompt", "target", "doc_id", "date", "association")
"""Columns of a pair on the page."""

_SCORE_COLUMNS = ("pair_id", "rank_share", "rival", "ceiling", *(metric.name for metric in RANKED))

_RECORDED = (
    paths.PAIRS,
    *(paths.OVERLAP.ending(suffix) for suffix in (".parquet", ".json")),
    paths.HELD_OUT_OVERLAP.ending(".json"),
    *(paths.MANIFEST, paths.SCORES, paths.KEYWORDS, paths.COVERAGE_MAP, paths.COVERAGE_MAP.ending(".json")),
    *(paths.QUESTIONS, paths.QUESTION_ANSWERS),
    *(paths.SCORES.ending(".json"), paths.KEYWORD_VECTORS, paths.POINTER),
    *(paths.SENTENCES.ending(".json"), paths.JOIN_REPORT),
)
"""Files that the record of a run has, beside its tables of text."""

_NAMED = (*_RECORDED, paths.CURVE, paths.FIGURE)
"""Files that the page reads, beside its tables of text."""

_SHOWN = 5  # most left-out tables to name
_LONGEST = 1.01  # a number of a unit vector, rounded
_MOST_ENTRIES = 2**31  # of a vocabulary
_QUESTION = ("question_id", "level", "form", "question", "options", "right", "answer", "sources", "query")
_ANSWER = ("question_id", "prompting", "corpus", "chosen", "text")


def read_run(folder: Path, settings: Summary, named: Named = WHATEVER) -> Run:
    """Read all existing parts of a run.

    Parameters
    ----------
    named : Named, optional
        What the configuration of the run names; other models and benchmarks are not read.

    Raises
    ------
    InputError
        If the folder is not that of a run, or a table in it is damaged.
    """
    if not folder.is_dir():
        raise InputError("there is no such folder", str(folder), "give the folder of a run: results/RUN")
    files = _Files(folder, named)
    missing = [
        *(f"{name} and all models adapted from it are left out: not fetched." for name in named.left_out),
        *files.list_left_out(),
        *find_changes(folder, files.list_read()),
    ]
    read = {name: read_fields(folder / name) for name in files.names if _is_shown(name)}
    tables = {
        name: [dict(zip(header, fields, strict=True)) for _, fields in lines]
        for name, ((_, header), *lines) in read.items()
    }
    rows = _type_tables(read, missing)
    missing += check_tables(rows)
    tables |= describe_left_out(
        [files.load(name) for _, name in files.find(paths.SENTENCES.ending(".json"))],
        files.load(paths.JOIN_REPORT.below),
        missing,
    )
    benchmarks = _read_benchmarks(files, rows, settings, missing)
    asked = _read_questions(files, rows, missing)
    if not benchmarks and not tables and not asked:
        raise InputError(
            "no benchmark and no table in this folder", str(folder), "give the folder of a run: results/RUN"
        )
    computed = not rows.get(SUMMARY) and any(benchmark.ranks for benchmark in benchmarks)
    _name_missing(benchmarks, rows, computed, missing)
    if computed:
        rows |= compute_tables(benchmarks, settings)
    scored = {model for benchmark in benchmarks for model in benchmark.ranks}
    models = sorted(scored | {row["model"] for row in rows.get(SUMMARY, [])})
    return Run(
        folder.resolve().name,
        [replace(benchmark, rankings=rank_models(benchmark, rows)) for benchmark in benchmarks],
        rows,
        tables,
        [
            CoverageMap(
                **found, table=read_table(folder / name, COVERAGE_MAP), numbers=files.load(name, ".json")
            )
            for found, name in files.find(paths.COVERAGE_MAP)
        ],
        asked,
        dict(_read_vectors(files)),
        {model: files.load(paths.POINTER.of(model=model).below) for model in models},
        find_origins(models, lambda name: paths.CURVE.of(model=name).below in files.names),
        [folder / name for _, name in files.find(paths.FIGURE)],
        computed,
        missing,
        {each.domain: each.title for each in benchmarks} | dict(named.titles),
    )


def is_read(name: str) -> bool:
    """Say whether the page reads a file of a run, by its path below the run's folder."""
    if not _APART.isdisjoint(name.split("/")[:-1]):
        return False
    return _is_shown(name) or any(template.is_of(name) for template in _NAMED)


def list_read(folder: Path, named: Named = WHATEVER) -> list[str]:
    """Return the files of a run for its page, as paths below its folder."""
    return _Files(folder, named).list_read()


def is_run(folder: Path) -> bool:
    """Return whether a folder contains a file that only runs have."""
    known = [each for each in paths.ALL.values() if each != paths.PAGE]
    found = (path for each in known for _, path in each.find_files(folder))
    return folder.is_dir() and any(path.is_file() for path in found)


class _Files:
    """The files of a run, listed once.

    Sets aside links that lead out of it, as pages are passed on, and pairs, scores and answers of models
    and benchmarks that only an earlier configuration named.
    """

    def __init__(self, folder: Path, named: Named) -> None:
        self.folder = folder
        found = []
        for place, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if name not in _APART and not name.startswith(".")]
            found += [Path(place, name) for name in names if not name.startswith(".")]
        self.leaving = sorted(path for path in found if path.is_symlink() and not is_inside(folder, path))
        # no page can contain their names
        self.unreadable = sorted(path for path in found if not is_utf8(path))
        kept = set(found) - {*self.leaving, *self.unreadable}
        # read only files of :func:`is_read`: a job elsewhere gets no others
        named_below = (path.relative_to(folder).as_posix() for path in kept)
        self.names = dict.fromkeys(sorted(filter(is_read, named_below)))
        self.unnamed = sorted(self._find_unnamed(named))
        for name in self.unnamed:
            del self.names[name]

    def list_left_out(self) -> Iterator[str]:
        """Yield a sentence on what is set aside, by reason."""
        if self.unnamed:
            shown = ", ".join(self.unnamed[:_SHOWN])
            yield (
                f"Left out: {show_count(len(self.unnamed), 'table')} of models or benchmarks that the"
                f" configuration does not name: {shown}{', ...' if len(self.unnamed) > _SHOWN else '.'}"
            )
        for found, reason in (
            (self.leaving, "leads out of the run"),
            (self.unreadable, "has a name that is not UTF-8"),
        ):
            for path in found:
                yield f"{show_path(path.relative_to(self.folder))} {reason}, and is left out."

    def list_read(self) -> list[str]:
        """Return the files that a page is made from."""
        listed = {name for template in _RECORDED for _, name in self.find(template)}
        return [name for name in self.names if name in listed or _is_shown(name)]

    def _find_unnamed(self, named: Named) -> Iterator[str]:
        pairs = {f"{found['domain']}/{found['variant']}": name for found, name in self.find(paths.PAIRS)}
        models, gone = set(named.models), set(pairs) - set(named.benchmarks or pairs)
        yield from (pairs[place] for place in gone)
        for found, name in self.find(paths.SCORES):
            place = f"{found['domain']}/{found['variant']}"
            # tables of other measures are beside scores
            if place in gone or (place in pairs and models and found["model"] not in models):
                yield name
        for found, name in self.find(paths.QUESTION_ANSWERS):
            if models and found["model"] not in models:
                yield name

    def find(self, template: RunPath) -> list[tuple[dict[str, str], str]]:
        """Return the files of one kind: the values of the fields in their paths, and these."""
        read = ((template.read(name), name) for name in self.names if template.is_of(name))
        return [(found, name) for found, name in read if found is not None]

    def load(self, name: str, ending: str = "") -> Mapping[str, Any]:
        """Return a JSON file, or the one beside a table; empty if missing."""
        wanted = str(Path(name).with_suffix(ending)) if ending else name
        return read_object(self.folder / wanted) if wanted in self.names else {}


def _is_shown(name: str) -> bool:
    """Return whether a file is a table of the page: not one of a figure or of a single tuning, nor times."""
    return name.endswith(".csv") and not name.startswith(("figures/", "tuning/", paths.RESOURCES.below))


def _type_tables(
    tables: Mapping[str, list[tuple[str, list[str]]]], missing: list[str]
) -> dict[str, list[Row]]:
    """Return the tables that the page computes with; name and leave out those of other versions."""
    found = {}
    for name, table in tables.items():
        contract, columns = (
            (layers.LAYER_SUMMARY, None) if paths.LAYERS.read(name) else _READ.get(name, (None, None))
        )
        if contract is None:
            continue
        optional = {each.name for each in contract if not each.needed}
        if not set(columns or contract.names) - optional <= set(table[0][1]):
            missing.append(f"{Path(name).name} was written by another version of Fathom and is left out.")
            continue
        found[name] = [row for _, row in type_fields(table, contract, columns)]
    return found


def _read_benchmarks(
    files: _Files, rows: Mapping[str, list[Row]], settings: Summary, missing: list[str]
) -> list[Benchmark]:
    """Read the benchmarks with the scores that belong to them, by domain, then in the order of variants."""
    expected: dict[tuple[str, str], int] = {}
    for row in rows.get(SUMMARY, []):
        if row["metric"] == RANK.name:
            place = row["domain"], row["variant"]
            expected[place] = max(expected.get(place, 0), row["pairs"])
    order = (*VARIANTS, REFERENCE)
    places = [(found["domain"], found["variant"], name) for found, name in files.find(paths.PAIRS)]
    places.sort(key=lambda each: (each[0], order.index(each[1]) if each[1] in order else len(order), each[1]))
    benchmarks = []
    folder = files.folder
    for domain, variant, name in places:
        pairs = read_table(folder / name, PAIRS, PAIR_COLUMNS)
        if variant in VARIANTS and pairs["association"].is_nan().all():
            missing.append(f"{domain}, {variant}: the association of targets and prompts is unknown.")
        overlap = paths.OVERLAP.of(domain=domain, variant=variant).below
        flags = read_table(folder / overlap, OVERLAP) if overlap in files.names else None
        wanted = expected.get((domain, variant))
        left_out = _find_left_out(pairs, flags, wanted, settings)
        own_hash = hash_file(folder / name)
        scores = _read_scores(files, domain, variant, pairs, missing)
        missing += _check_hashes(files, (domain, variant), scores, own_hash)
        missing += check_scores(rows.get(SUMMARY, []), (domain, variant), scores, ~left_out)
        ranks = {model: each["rank"].to_numpy() for model, each in scores.items()}
        if wanted is not None and wanted != len(pairs) - int(left_out.sum()):
            missing.append(f"{domain}, {variant}: summary.csv was made from other pairs ({wanted:,}).")
        made = paths.MANIFEST.of(domain=domain, variant=variant).below
        manifest = read_manifest(folder / made) if made in files.names else {}
        if manifest.get("files", {}).get(Path(name).name, own_hash) != own_hash:
            missing.append(f"{domain}, {variant}: manifest.json is of other pairs than the present ones.")
        entries = {model: _count_entries(each) for model, each in scores.items() if len(each)}
        named = name_reference(folder, domain).get(variant, "")
        parts = (domain, variant, pairs, left_out, ranks, manifest)
        benchmarks.append(Benchmark(*parts, rivals=scores, vocabularies=entries, name=named))
    read = {(each.domain, each.variant) for each in benchmarks}
    for domain, variant in sorted(expected.keys() - read):
        missing.append(f"{domain}, {variant}: summary.csv has it, but its pairs are missing.")
    return benchmarks


def _check_hashes(
    files: _Files, place: tuple[str, str], models: Iterable[str], own_hash: str
) -> Iterator[str]:
    domain, variant = place
    for model in models:
        report = files.load(paths.SCORES.of(domain=domain, variant=variant, model=model).below, ".json")
        if report.get("pairs_sha256", own_hash) != own_hash:
            what = f"the report beside the scores of {model} is of other pairs than the present ones"
            yield f"{domain}, {variant}: {what}."


def _count_entries(scores: pl.DataFrame) -> int:
    """Return the size of the vocabulary that ranks count among, which their shares are divided by."""
    return round(float(scores["rank"][0]) / float(scores["rank_share"][0]))


def _require_vocabulary(scores: pl.DataFrame, path: Path) -> None:
    entries = scores["rank"] / scores["rank_share"]
    if len(scores) and not entries.is_between(1, _MOST_ENTRIES).all():
        raise InputError(
            "columns rank and rank_share fit no size of a vocabulary", str(path), "score the model again"
        )


def _read_scores(
    files: _Files, domain: str, variant: str, pairs: pl.DataFrame, missing: list[str]
) -> dict[str, pl.DataFrame]:
    """Read ranks and rivals of each model on one benchmark; name and leave out scores of other pairs."""
    found_scores = {}
    for found, name in files.find(paths.SCORES.of(domain=domain, variant=variant)):
        model = found["model"]
        scores = read_table(files.folder / name, SCORES, _SCORE_COLUMNS)
        _require_vocabulary(scores, files.folder / name)
        matched = pairs.select("pair_id").join(scores, on="pair_id", how="left", maintain_order="left")
        if len(scores) == len(pairs) and not matched["rank"].null_count():
            found_scores[model] = matched.drop("pair_id")
            continue
        what = f"the scores of {model} belong to other pairs and are left out."
        missing.append(f"{domain}, {variant}: {what}")
    if not found_scores:
        missing.append(f"{domain}, {variant}: no model has been scored on it yet.")
    without = [name for name, each in found_scores.items() if each["bits"].is_nan().all()]
    if without and len(pairs):
        which = f"{', '.join(without)} without bits and ranks among rivals"
        missing.append(f"{domain}, {variant}: {which}: scored by an older version, or by a server.")
    return found_scores


def _read_questions(files: _Files, rows: Mapping[str, list[Row]], missing: list[str]) -> list[QuestionSet]:
    found = []
    scored: dict[str, set[str]] = {}
    for row in rows.get(QUESTION_SCORES, []):
        scored.setdefault(row["set"], set()).add(row["model"])
    for place, path in files.find(paths.QUESTIONS):
        name = place["set"]
        asked = read_table(files.folder / path, questions.QUESTIONS, _QUESTION)
        counts = asked.select("question_id", options=pl.col("options").list.len())
        answers, others = {}, set()
        for given, file in files.find(paths.QUESTION_ANSWERS.of(set=name)):
            own = select_own(read_table(files.folder / file, questions.ANSWERED, _ANSWER), asked)
            fitting = own.join(counts, on="question_id", maintain_order="left")
            repeated = own.select("question_id", "prompting").is_duplicated().any()
            if len(own) and not repeated and (fitting["chosen"].list.len() == fitting["options"]).all():
                answers[given["model"]] = own
                continue
            others.add(given["model"])
            what = f"the answers of {given['model']} belong to other questions and are left out."
            missing.append(f"{name}: {what}")
        known = scored.pop(name, set())
        for models, what in (
            (known - set(answers) - others, "question-scores.csv has {}, but the answers are missing"),
            (
                set(answers) - known if known else (),
                "there are answers of {}, but question-scores.csv lacks them",
            ),
        ):
            missing += [f"{name}: {what.format(model)}." for model in sorted(models)]
        found.append(QuestionSet(name, asked, answers))
    missing += [f"{name}: question-scores.csv has it, but its questions are missing." for name in scored]
    return found


def _find_left_out(
    pairs: pl.DataFrame, flags: pl.DataFrame | None, expected: int | None, settings: Summary
) -> NDArray[np.bool_]:
    """Return which pairs the summary leaves out, as inferred from their number."""
    none = np.zeros(len(pairs), dtype=bool)
    if flags is None or expected == len(pairs):
        return none
    overlap = pairs.select("pair_id").join(flags, on="pair_id", how="left", maintain_order="left")
    flagged = {name: overlap[name].fill_null(False).to_numpy() for name in ("ending", "sentence")}
    if expected is None:
        return flagged.get(settings.overlap, none)
    fitting = [found for found in flagged.values() if len(pairs) - int(found.sum()) == expected]
    return fitting[0] if fitting else none


def _read_vectors(files: _Files) -> Iterator[tuple[str, dict[str, NDArray[np.float64]]]]:
    from fathom.benchmark.matches import load_embeddings

    for found, name in files.find(paths.KEYWORD_VECTORS):
        table = paths.KEYWORDS.of(**found).below
        if table in files.names:
            names = [row["keyword"] for row in read_rows(files.folder / table, DOMAIN_KEYWORDS, ["keyword"])]
            values = load_embeddings(files.folder / name)
            if values.dtype.kind != "f" or not (np.abs(values) <= _LONGEST).all():
                raise InputError("not unit vectors", str(files.folder / name), "make them again")
            if len(names) == len(values):
                yield found["domain"], dict(zip(names, values, strict=True))


def _name_missing(
    benchmarks: Sequence[Benchmark], rows: Mapping[str, list[Row]], computed: bool, missing: list[str]
) -> None:
    bare = [f"{each.domain} {each.variant}" for each in benchmarks if not each.manifest]
    if bare:
        missing.append(f"No manifest yet: {', '.join(bare)}.")
    every = sorted({model for benchmark in benchmarks for model in benchmark.ranks})
    for benchmark in benchmarks:
        absent = [model for model in every if model not in benchmark.ranks]
        if absent and benchmark.ranks:
            missing.append(f"{benchmark.domain}, {benchmark.variant}: no scores of {', '.join(absent)} yet.")
    tables = [name for name in (COMPARISONS, GROUPS, CORRELATIONS) if name not in rows]
    if computed:
        missing.append(
            "Without a usable summary.csv, the ranking was computed for this page from the available "
            "scores. Perplexity and attribute rates are left out."
        )
    elif benchmarks and not rows.get(SUMMARY):
        missing.append("No model has been scored yet.")
    elif benchmarks and tables:
        missing.append(f"Missing so far: {', '.join(tables)}.")


def compute_tables(benchmarks: Sequence[Benchmark], settings: Summary) -> dict[str, list[Row]]:
    """Summarize and compare the available scores, as a finished run does."""
    scores: dict[Key, pl.DataFrame] = {
        (each.domain, each.variant, model): each.select_scores(model).with_columns(probability=pl.lit(0.0))
        for each in benchmarks
        if len(each.kept)
        for model in each.ranks
    }
    log.info("no usable summary.csv: %d tables of scores are summarized for the page", len(scores))
    resampled = [each for each in resample_scores(scores, settings) if each.metric in RANKED]
    comparisons, groups = tabulate_comparisons(resampled, settings)
    named = {
        SUMMARY: [row for row in summarize_scores(scores, settings) if METRICS[row[3]] in RANKED],
        COMPARISONS: comparisons,
        GROUPS: groups,
        CORRELATIONS: [],
    }
    found = {}
    for name, rows in named.items():
        contract = _READ[name][0]
        fields = [(name, [str(value) for value in row]) for row in rows]
        found[name] = [row for _, row in type_fields([(name, contract.names), *fields], contract)]
    return found
