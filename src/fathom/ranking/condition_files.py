"""Find the tables in a folder of scores, one CSV for each condition, before any job is planned."""

from dataclasses import dataclass, field
from pathlib import Path

from fathom.config.ranking import Ranking
from fathom.errors import InputError

ERRORS, EXAMPLES, METADATA = "_stderr", "_examples", "metadata.json"


@dataclass(frozen=True)
class ConditionFiles:
    """The files of one condition.

    `scores`: models by benchmarks. `examples`: scores of single examples, one file for each benchmark, named
    after it.
    """

    name: str
    scores: Path
    errors: Path | None = None
    examples: list[Path] = field(default_factory=list)


def find_score_files(folder: Path | str, settings: Ranking) -> tuple[list[ConditionFiles], Path | None]:
    """Return the files of every condition in a folder of scores, and its `metadata.json` if it has one.

    Raise `InputError` if the folder, a configured table, or any table at all is missing.
    """
    folder = Path(folder)
    if not folder.is_dir():
        what = "there is no such folder"
        raise InputError(what, f"scores = {folder}", "--config scores=FOLDER takes a folder of CSV files")
    tables = {path.stem: path for path in sorted(folder.glob("*.csv"))}
    wanted = {each.file: each.name for each in settings.conditions} or {
        stem: stem for stem in tables if not stem.endswith(ERRORS)
    }
    if not wanted:
        raise InputError("there is no table of scores (*.csv)", f"scores = {folder}", "see docs/ranking.md")
    missing = [stem for stem in wanted if stem not in tables]
    if missing:
        where = f"scores = {folder}"
        hint = f"there is: {', '.join(path.name for path in tables.values()) or 'no CSV file'}"
        raise InputError(f"there is no {missing[0]}.csv, which ranking.conditions names", where, hint)
    found = []
    for stem, name in wanted.items():
        examples = sorted((folder / f"{stem}{EXAMPLES}").glob("*.csv"))
        found.append(ConditionFiles(name, tables[stem], tables.get(f"{stem}{ERRORS}"), examples))
    metadata = folder / METADATA
    return found, metadata if metadata.is_file() else None


def list_score_files(folder: Path | str, settings: Ranking) -> list[str]:
    """Return the files that are read from a folder of scores, as inputs of a rule."""
    found, metadata = find_score_files(folder, settings)
    paths = [
        path for each in found for path in (each.scores, each.errors, *each.examples) if path is not None
    ]
    return [str(path) for path in (*paths, *([metadata] if metadata else []))]
