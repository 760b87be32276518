"""What a run reads from outside: files of the corpus, tables of scores, tasks, an earlier run.

Finds wrong packages, categories and columns of a corpus before any job.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

from fathom.config.tuning import Task
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.io.places import RUNS
from fathom.io.run_path import RunPath
from fathom.jobs.file_contents import is_unchanged, sample_content
from fathom.jobs.job_slices import Slice, divide_part
from fathom.jobs.resources import measure_text

SLICE_MB = 10
"""Default megabytes of JSON lines or documents in a slice, without corpus.slice_mb."""

DIRECT = ["direct"]
TUNED = ["direct_eval", "train_before_test"]
"""Names of the conditions that a run compares when it tunes models."""


@dataclass(frozen=True)
class Inputs:
    """What a run reads from outside.

    `shards`: files of the corpus by part; no file for an installed package, nor for a part of a folder.
    `slices`: units that one job each splits, embeds and matches, by name: parts, large ones divided.
    """

    shards: Mapping[str, Path | None]
    metadata: Path | None  # metadata file of an arXiv dump
    abstract_parts: Sequence[str]  # parts for documents of a dump without full text
    slices: Mapping[str, Slice]
    score_files: Sequence[str]
    conditions: Sequence[str]
    tasks: Mapping[str, Task]
    tuned_models: Sequence[str]
    previous: str  # folder `corpus` of the earlier run whose work is reused; empty without one

    @property
    def parts(self) -> list[str]:
        """All parts of the corpus: shards first, then abstracts."""
        return [*sorted(self.shards), *self.abstract_parts]


def find_inputs(config: Config, results: Path | str) -> Inputs:
    """Find everything that a configured run reads; nothing is opened."""
    tasks, tuned = find_tuned(config)
    shards, metadata = find_corpus(config)
    check_texts(config)
    count = config.corpus.abstract_parts if metadata else 0
    abstracts = [f"abstracts-{number:02d}" for number in range(count)]
    score_files, conditions = find_scores(config)
    return Inputs(
        shards=shards,
        metadata=metadata,
        abstract_parts=abstracts,
        slices=divide_parts(config, shards, abstracts),
        score_files=score_files,
        conditions=conditions,
        tasks=tasks,
        tuned_models=tuned,
        previous=find_previous(config, results),
    )


def find_corpus(config: Config) -> tuple[Mapping[str, Path | None], Path | None]:
    """Return the files of the corpus by part, and the metadata file of a dump; nothing without domains."""
    if not config.domains:
        return {}, None
    from fathom.corpus.corpus_files import find_dump, find_json_lines, find_tables

    if config.corpus.source == "arxiv":
        return find_dump(Path(config.dump or ""))
    if config.corpus.source == "jsonl":
        return find_json_lines(config.corpus.files), None
    if config.corpus.source == "folder":
        return dict.fromkeys(measure_folder(config)), None
    if config.corpus.source == "table":
        return find_tables(config.corpus.files), None
    is_dataset = config.corpus.source == "dataset"
    return dict.fromkeys(["dataset"] if is_dataset else config.corpus.packages), None


def measure_folder(config: Config) -> dict[str, float]:
    """Return the megabytes of each part of a folder of documents, without files too large to be read."""
    from fathom.corpus.corpus_files import list_documents, name_parts_of_folder

    files, _ = list_documents(config.corpus.files)
    return name_parts_of_folder([file for file in files if file.size <= config.corpus.max_file_mb * 1e6])


def sample_part(config: Config, part: str) -> str:
    """Return a sample of the content of all files of a part of a folder, and their names."""
    from fathom.corpus.corpus_files import list_documents, take_part

    listed, skipped = list_documents(config.corpus.files)
    files, first = take_part(listed, part)
    pieces = [piece for file in files for piece in (file.name, sample_content(file.path))]
    others = [f"{reason} {count}" for reason, count in sorted(skipped.counts.items())] if first else []
    return hash_text(*pieces, *others)


def check_texts(config: Config) -> None:
    """Check that text of the user's own is there; the hub is asked when text is fetched."""
    keys = ("models.texts", config.models.texts), ("perplexity.texts", config.perplexity.texts)
    for key, name, source in ((key, *each) for key, sources in keys for each in sources.items()):
        missing = next((path for path in source.local_paths if not Path(path).exists()), None)
        if missing is not None:
            hint = "check the path; a data set of the hub needs its revision"
            raise InputError(f"there is no such file or folder: {missing}", f"{key}.{name}", hint)


def require_reference(file: str, where: str) -> None:
    """Raise `InputError` if the file of a reference is missing, unless a run makes it."""
    if RUNS not in Path(file).parts and not Path(file).is_file():
        raise InputError("there is no such file", f"{where}: {file}", "check the path")


def divide_parts(
    config: Config, shards: Mapping[str, Path | None], abstracts: Sequence[str]
) -> dict[str, Slice]:
    """Return the slices of all parts by name, in the order of the parts.

    Raises
    ------
    InputError
        If a slice has the name of a part.
    """
    own = config.corpus.source in ("jsonl", "folder", "table")
    limit = config.corpus.slice_mb or (SLICE_MB if own else None)
    folder_parts = measure_folder(config) if config.corpus.source == "folder" else {}
    found: list[Slice] = []
    for name, path in sorted(shards.items()):
        size = measure_text(path.name, path.stat().st_size) if path and limit else folder_parts.get(name, 0.0)
        found += divide_part(name, size, limit or 1)
    found += [Slice(name) for name in abstracts]
    slices = {each.name: each for each in found}
    if len(slices) < len(found):
        what = "a file has the same name as another's slice"
        raise InputError(what, "corpus.files", "rename files that end in NUMBER-of-NUMBER")
    return slices


def find_scores(config: Config) -> tuple[list[str], list[str]]:
    """Return the files of the folder of scores, and the names of the conditions that are compared."""
    if config.scores is None:
        named = [each.name for each in config.ranking.conditions]
        return [], named or (TUNED if config.train_before_test.tasks else DIRECT)
    from fathom.ranking.condition_files import find_score_files, list_score_files

    files, _ = find_score_files(config.scores, config.ranking)
    return list_score_files(config.scores, config.ranking), [each.name for each in files]


def find_tuned(config: Config) -> tuple[Mapping[str, Task], list[str]]:
    """Return the tasks by name and the models that are tuned for them; nothing where scores are given."""
    section = config.train_before_test
    if config.scores is not None or not section.tasks:
        return {}, []
    models = section.models or config.models.scored
    if not models:
        raise InputError(
            "there is no model to tune", "train_before_test.tasks", "list models under models.score"
        )
    for name, task in section.tasks.items():
        if task.file is not None and not Path(task.file).is_file():
            raise InputError(
                "there is no such file",
                f"train_before_test.tasks.{name}.file = {task.file}",
                "put JSON lines with `text` there; or rank existing tables of scores: --config scores=FOLDER",
            )
    return section.tasks, models


def find_previous(config: Config, results: Path | str) -> str:
    """Return the folder of the earlier run that is named; nothing without one."""
    if config.previous is None:
        return ""
    from fathom.corpus.previous import require_index

    previous = Path(results).parent / config.previous
    require_index(previous)
    return str(previous)


def is_unchanged_input(path: Path | str, results: Path, table: RunPath) -> bool:
    """Say whether an input file with a newer date has the same bytes as when the run read it.

    Parameters
    ----------
    table : RunPath
        The table made from it, beside a report.
    """
    memory = Path(results, "corpus", "dates", f"{Path(path).name}.json")
    return is_unchanged(Path(path), Path(table.ending(".json").under(results)), memory)


def sample_input(path: Path | str | None) -> str:
    """Return a sample of an input file's content: a file that was replaced under an old date is noticed."""
    return sample_content(path) if path and Path(path).is_file() else ""


_SHOWN = 8
_NO_DOCUMENTS = "no document is in these categories: {}"


def check_corpus(config: Config, in_environments: bool = False) -> None:
    """Check what a run's corpus names, without reading texts.

    Parameters
    ----------
    in_environments : bool, default=False
        Whether jobs have their own packages, which this process does not see.

    Raises
    ------
    InputError
        If a package is not installed, a domain has impossible categories, or a table lacks a column.
    """
    if not config.domains:
        return
    if config.corpus.source == "docstrings":
        if not config.corpus.packages:
            raise InputError("no package is named", "corpus.packages", "list packages that are installed")
        if not in_environments:
            check_packages(config.corpus.packages)
        _require_categories(config, config.corpus.packages, are_packages=True)
    elif config.corpus.source == "folder":
        from fathom.corpus.corpus_files import list_documents

        files, _ = list_documents(config.corpus.files)
        _require_categories(config, {each for file in files for each in file.categories})
    elif config.corpus.source == "table":
        _check_columns(config)


def check_packages(packages: Collection[str]) -> None:
    """Raise `InputError` if a package is not installed; only imports its parent packages."""
    for name in packages:
        with suppress(ModuleNotFoundError):  # of what is above it
            if find_spec(name) is not None:
                continue
        installed = packages_distributions()
        own = sorted(key for key, names in installed.items() if name in names)
        near = difflib.get_close_matches(name, installed, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "install it, or remove it from the list"
        hint = f"it is imported as {', '.join(own)}" if own else hint
        raise InputError(f"package {name} is not installed", "corpus.packages", hint)


def _require_categories(config: Config, there: Collection[str], are_packages: bool = False) -> None:
    """Raise `InputError` for a domain none of whose categories can occur.

    With `are_packages`, the corpus has packages, whose modules are categories.
    """
    from fathom.corpus.selection import matches_category

    for name, domain in config.domains.items():
        wanted = domain.categories
        if are_packages:
            tops = {each.partition(".")[0] for each in there}
            fits = any(each == "*" or each.partition(".")[0] in tops for each in wanted)
        else:
            fits = any(matches_category(pattern, each) for pattern in wanted for each in ("", *there))
        if not fits:
            what = _NO_DOCUMENTS.format(", ".join(wanted))
            raise InputError(what, f"domains.{name}.categories", _hint(wanted, there, are_packages))


def _hint(wanted: Collection[str], there: Collection[str], are_packages: bool) -> str:
    kind = "packages, whose modules are categories" if are_packages else "categories, which are sub-folders"
    known = sorted(there)
    near = [match for each in wanted for match in difflib.get_close_matches(each.removesuffix(".*"), known)]
    if near:
        return f"did you mean {' or '.join(dict.fromkeys(near))}?"
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"there are these {kind}: {', '.join(known[:_SHOWN]) or 'none'}{more}"


def _check_columns(config: Config) -> None:
    """Raise `InputError` if a table lacks a named column; empty tables are left to their jobs."""
    from fathom.config.corpus import Selection
    from fathom.corpus.corpus_files import find_tables
    from fathom.corpus.table_rows import find_columns, read_rows_of_table, take_names

    selection = Selection(corpus=config.corpus, domains=config.domains)
    for path in find_tables(config.corpus.files).values():
        names, _ = take_names(read_rows_of_table(path, selection)[0])
        if names is not None:
            find_columns(names, config.corpus.columns, path.name)
