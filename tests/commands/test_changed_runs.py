"""Runs whose files were changed, swapped or deleted: never another result without a word."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.explorer.runs import write_run

from fathom.commands.main import main
from fathom.explorer.reader import list_read
from fathom.io import paths
from fathom.io.files import hash_file, write_json
from fathom.jobs.file_contents import write_contents

ALPHA, BETA = (f"physics/scores/tf/{name}.parquet" for name in ("alpha", "beta"))
TF = "physics/benchmark/tf"


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Return a run, as the workflow leaves it."""
    folder = write_run(tmp_path_factory.mktemp("whole") / "run", keywords=12, each=3)
    for variant in ("tf", "tfidf"):
        write_json(folder / "physics/benchmark" / variant / "overlap.json", {"pairs": 36})
    write_json(
        (folder / BETA).with_suffix(".json"), {"pairs_sha256": hash_file(folder / TF / "pairs.parquet")}
    )
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


def edit(name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path], None]:
    """Return what changes a table of text."""
    return lambda run: change(pl.read_csv(run / name)).write_csv(run / name)


def name_other_pairs(run: Path) -> None:
    """Let the report beside scores name other pairs."""
    write_json((run / BETA).with_suffix(".json"), {"pairs_sha256": "0" * 64})


def put_a_folder(name: str) -> Callable[[Path], None]:
    """Return what puts a folder where a file was."""

    def replace(run: Path) -> None:
        (run / name).unlink()
        (run / name).mkdir()

    return replace


def forget_bits(run: Path) -> None:
    """Take the bits of some pairs away from a model."""
    table = pl.read_parquet(run / BETA)
    few = pl.when(pl.int_range(pl.len()) < 9).then(math.nan).otherwise("bits")
    table.with_columns(bits=few).write_parquet(run / BETA)


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
    "sides of comparisons exchanged": (
        edit("comparisons.csv", lambda table: table.rename({"better": "worse", "worse": "better"})),
        "comparisons.csv",
    ),
    "no difference is significant": (
        edit("comparisons.csv", lambda table: table.with_columns(apart=pl.lit("no"))),
        "comparisons.csv",
    ),
    "groups in another order": (edit("groups.csv", pl.DataFrame.reverse), "groups.csv"),
    "groups with other values": (
        edit("groups.csv", lambda table: table.with_columns(value=pl.lit(1.0))),
        "groups.csv",
    ),
    "one letter for all": (
        edit("groups.csv", lambda table: table.with_columns(groups=pl.lit("a"))),
        "groups.csv",
    ),
    "a summary without bits": (
        edit("summary.csv", lambda table: table.filter(pl.col("metric") != "bits")),
        "comparisons.csv",
    ),
    "a summary of each model twice": (
        edit("summary.csv", lambda table: pl.concat([table, table])),
        "duplicate row",
    ),
    "intervals turned": (
        edit("summary.csv", lambda table: table.rename({"ci_low": "ci_high", "ci_high": "ci_low"})),
        "interval",
    ),
    "intervals of another value": (
        edit(
            "summary.csv", lambda table: table.with_columns(pl.col("ci_low", "ci_high") + pl.col("ci_high"))
        ),
        "interval",
    ),
    "bits of fewer pairs": (forget_bits, "beta"),
    "a report on other pairs": (name_other_pairs, "beta"),
    "no pairs but a folder": (put_a_folder(f"{TF}/pairs.parquet"), "physics, tf"),
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
    _, _, missing = said.partition("What is missing")
    assert name in (missing if ended else said)
    if recorded:
        ended, said = call(capsys, "export", run, "--output", tmp_path / "export")
        assert not ended and not (tmp_path / "export").exists()


@pytest.mark.parametrize("kind", DAMAGES)
def test_what_is_exported_is_checked_without_a_record(whole, tmp_path, capsys, kind):
    damage, name = DAMAGES[kind]
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    (run / paths.CONTENTS.below).unlink()
    damage(run)
    _, said = call(capsys, "export", run, "--output", tmp_path / "export")
    assert name in said


@pytest.mark.parametrize("share", [0.0, 5e-324, 1.0])
def test_ranks_of_no_vocabulary_are_refused(whole, tmp_path, capsys, share):
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    table = pl.read_parquet(run / BETA)
    table.with_columns(rank_share=pl.lit(share), rank=pl.lit(5e307)).write_parquet(run / BETA)
    ended, said = call(capsys, "page", run, "--output", tmp_path / "page.html")
    assert not ended and "beta.parquet" in said and "rank_share" in said


def test_a_file_that_the_record_lacks_is_said(whole, tmp_path, capsys):
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    (run / "new.csv").write_text("a\n1\n")
    assert "new.csv" in call(capsys, "summary", run)[1]


def test_names_in_a_record_that_no_file_can_have_are_refused(whole, tmp_path, capsys):
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    write_json(run / paths.CONTENTS.below, {"files": {"a\0b": "0"}})
    ended, said = call(capsys, "summary", run)
    assert not ended and "a\\x00b" in said


def test_hidden_files_are_no_tables(whole, tmp_path, capsys):
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    (run / BETA).with_name("._beta.parquet").write_bytes(b"\0\5\x16\7")
    _, said = call(capsys, "summary", run)
    assert said.replace(str(run), "") == call(capsys, "summary", whole)[1].replace(str(whole), "")


def test_a_whole_run_has_nothing_to_say(whole, tmp_path, capsys):
    ended, said = call(capsys, "summary", whole)
    assert ended and "What is missing" not in said and "1 of 36 TF pairs" in " ".join(said.split())
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    (run / TF / "overlap.json").unlink()
    ended, said = call(capsys, "summary", run)
    words = " ".join(said.split())
    assert ended and "1 of 36 TF pairs" in words and "overlap.json is missing" in words
