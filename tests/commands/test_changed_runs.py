"""Runs whose files were changed, swapped or deleted: never another result without a word."""

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.explorer.runs import write_run

from fathom.commands.main import main
from fathom.explorer.reader import list_read
from fathom.io import paths
from fathom.io.files import write_json
from fathom.jobs.file_contents import write_contents

ALPHA, BETA = (f"physics/scores/tf/{name}.parquet" for name in ("alpha", "beta"))
TF = "physics/benchmark/tf"


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Return a run, as the workflow leaves it."""
    folder = write_run(tmp_path_factory.mktemp("whole") / "run", keywords=12, each=3)
    for variant in ("tf", "tfidf"):
        write_json(folder / "physics/benchmark" / variant / "overlap.json", {"pairs": 36})
    write_contents(folder / paths.CONTENTS.below, folder, list_read(folder))
    return folder


def keep_rows(count: int) -> Callable[[Path], None]:
    """Return what leaves a table of scores with some rows."""
    return lambda run: pl.read_parquet(run / BETA).head(count).write_parquet(run / BETA)


def take_scores_of_another(run: Path) -> None:
    """Write the scores of one model anew, as those of another."""
    pl.read_parquet(run / ALPHA).write_parquet(run / BETA)


def flip_a_bit(run: Path) -> None:
    """Flip one bit in the middle of a table."""
    content = bytearray((run / BETA).read_bytes())
    content[len(content) // 3] ^= 4
    (run / BETA).write_bytes(content)


def keep_header(run: Path) -> None:
    """Leave the header of the comparisons alone."""
    path = run / "comparisons.csv"
    path.write_text(path.read_text().splitlines()[0] + "\n")


def drop_column(run: Path) -> None:
    """Leave a column of the comparisons out."""
    path = run / "comparisons.csv"
    pl.read_csv(path, infer_schema=False).drop("apart").write_csv(path)


def change_differences(run: Path) -> None:
    """Give the comparisons other differences, as those of another run of the same models have."""
    path = run / "comparisons.csv"
    table = pl.read_csv(path)
    table.with_columns(pl.col("difference") * 0.9, apart=pl.lit("yes")).write_csv(path)


def remove(name: str) -> Callable[[Path], None]:
    """Return what deletes a file."""
    return lambda run: (run / name).unlink()


DAMAGES = {
    "half of the rows": (keep_rows(18), "beta"),
    "one row": (keep_rows(1), "beta"),
    "another model": (take_scores_of_another, "beta"),
    "another model's file": (lambda run: shutil.copy(run / ALPHA, run / BETA), "alpha.parquet"),
    "deleted": (remove(BETA), "beta"),
    "a flipped bit": (flip_a_bit, "beta.parquet"),
    "comparisons without rows": (keep_header, "comparisons.csv"),
    "comparisons without a column": (drop_column, "comparisons.csv"),
    "comparisons of another run": (change_differences, "comparisons.csv"),
    "no comparisons": (remove("comparisons.csv"), "comparisons.csv"),
    "no pairs that overlap": (remove(f"{TF}/overlap.parquet"), "physics"),
}


def call(capsys, *words: object) -> tuple[bool, str]:
    """Return whether a command ended well, and all it said."""
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        said = capsys.readouterr()
        assert end.code == 1 and "Traceback" not in said.err
        return False, said.out + said.err
    said = capsys.readouterr()
    return True, said.out + said.err


@pytest.mark.parametrize("recorded", [True, False], ids=["with a record", "without"])
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_changed_file_is_said(whole, tmp_path, capsys, kind, recorded):
    damage, name = DAMAGES[kind]
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    if not recorded:
        (run / paths.CONTENTS.below).unlink()
    damage(run)
    ended, said = call(capsys, "summary", run)
    _, _, missing = said.partition("What is missing, or does not belong together")
    assert name in (missing if ended else said)
    if recorded:
        ended, said = call(capsys, "export", run, "--output", tmp_path / "export")
        assert not ended and not (tmp_path / "export").exists()


@pytest.mark.parametrize(
    "kind", [kind for kind in DAMAGES if "comparisons" not in kind and "overlap" not in kind]
)
def test_what_single_pairs_are_exported_from_is_checked_without_a_record(whole, tmp_path, capsys, kind):
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    (run / paths.CONTENTS.below).unlink()
    DAMAGES[kind][0](run)
    ended, said = call(capsys, "export", run, "--output", tmp_path / "export")
    assert not ended or "beta.parquet has no record" in said


def test_a_whole_run_has_nothing_to_say(whole, tmp_path, capsys):
    ended, said = call(capsys, "summary", whole)
    assert ended and "What is missing" not in said and "1 of 36 TF pairs" in " ".join(said.split())
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    (run / TF / "overlap.json").unlink()
    ended, said = call(capsys, "summary", run)
    words = " ".join(said.split())
    assert ended and "1 of 36 TF pairs" in words and "overlap.json is gone" in words
