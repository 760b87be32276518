"""Commands on runs that were damaged: each ends well or with one message, never in a traceback."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson
import polars as pl
import pytest
from tests.explorer.runs import SETTINGS, write_analyses, write_questions, write_run
from tests.refusals import refuses

from fathom.benchmark.matches import load_embeddings
from fathom.commands.main import main
from fathom.explorer.page import write_page
from fathom.explorer.reader import read_run

SEEDS = range(48)
VALUES = (
    None,
    True,
    -1,
    0,
    3.5,
    float("nan"),
    "",
    "text",
    "\x1b[2J",
    "../../x",
    [],
    [1, "a"],
    {},
    {"a": None},
)
"""What stands where something else should."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Return a run with all that commands read of one."""
    folder = write_run(tmp_path_factory.mktemp("whole") / "run", keywords=4, each=3)
    write_analyses(folder)
    return write_questions(folder)


def damage_json(path: Path, chance: random.Random) -> None:
    """Put another value at some place of a JSON file."""
    value = orjson.loads(path.read_bytes())
    holder, key, here = None, None, value
    while isinstance(here, dict | list) and here and chance.random() < 0.7:
        holder = here
        key = chance.choice(list(here)) if isinstance(here, dict) else chance.randrange(len(here))
        here = holder[key]
    if holder is None:
        value = chance.choice(VALUES)
    elif chance.random() < 0.3:
        del holder[key]
    else:
        holder[key] = chance.choice(VALUES)
    path.write_bytes(orjson.dumps(value))


def damage_parquet(path: Path, chance: random.Random) -> None:
    """Give a column another type, other values or another name, or leave it out."""
    frame = pl.read_parquet(path)
    name = chance.choice(frame.columns)
    values = frame[name].to_list()
    kind = chance.randrange(6)
    if kind == 0:
        frame = frame.drop(name)
    elif kind == 1:
        frame = frame.with_columns(pl.Series(name, [str(value) for value in values]))
    elif kind == 2:
        frame = frame.with_columns(
            pl.Series(name, [chance.choice([0, -1, 3.5, float("nan"), 1e300])] * len(values))
        )
    elif kind == 3:
        frame = frame.with_columns(pl.Series(name, [None, *values[1:]], dtype=frame[name].dtype))
    elif kind == 4:
        frame = frame.head(chance.randrange(3))
    else:
        frame = pl.concat([frame, frame.head(1)])
    frame.write_parquet(path)


def damage_table(path: Path, chance: random.Random) -> None:
    """Put another value into a field, or leave out or double a column or line."""
    cut = "\t" if path.suffix == ".tsv" else ","
    rows = [line.split(cut) for line in path.read_text().splitlines()]
    row, kind = chance.choice(rows), chance.randrange(5)
    place = chance.randrange(len(row))
    if kind <= 2:
        row[place] = chance.choice([str(value) for value in VALUES if value is not None])
    elif kind == 3:
        rows = [each[:place] + each[place + 1 :] for each in rows]
    else:
        rows.insert(chance.randrange(len(rows) + 1), row)
    path.write_text("".join(cut.join(each) + "\n" for each in rows))


def damage_vectors(path: Path, chance: random.Random) -> None:
    """Change the shape, the type or a value of vectors."""
    values = np.load(path)
    values[0, 0] = chance.choice([np.nan, np.inf, 1e300])
    np.save(
        path,
        chance.choice(
            [values, values[1:], values[0], values.astype(str), values.astype(complex), values[:, :0]]
        ),
    )


DAMAGES: dict[str, Callable[[Path, random.Random], None]] = {
    ".json": damage_json, ".parquet": damage_parquet, ".csv": damage_table, ".tsv": damage_table,
    ".npy": damage_vectors,
}  # fmt: skip


def damage(run: Path, chance: random.Random) -> Path:
    """Damage a file of a run in one way; return it."""
    path = chance.choice(sorted(path for path in run.rglob("*") if path.suffix in DAMAGES))
    kind = chance.randrange(10)
    if kind == 0:
        path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])
    elif kind == 1:
        path.unlink()
    elif kind == 2:
        path.unlink()
        path.mkdir()
    else:
        DAMAGES[path.suffix](path, chance)
    return path


@pytest.mark.parametrize("seed", SEEDS)
def test_a_damaged_run_is_read_or_refused(whole, tmp_path, capsys, seed):
    chance = random.Random(seed)
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    path = damage(run, chance)
    for command in (["page", run], ["summary", run], ["questions", run],
                    ["export", run, "--output", tmp_path / "export"]):  # fmt: skip
        try:
            main(list(map(str, command)))
        except SystemExit as end:
            assert end.code == 1, (path, command)
            text = capsys.readouterr().err
            assert "Error: " in text and "Traceback" not in text and "\x1b" not in text
    assert {each.name for each in tmp_path.iterdir()} <= {"run", "export"}


def test_a_table_whose_name_is_no_utf8_is_left_out_and_named(whole, tmp_path):
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    (run / "summary.csv").rename(run / "sum\udce9.csv")
    found = read_run(run, SETTINGS)
    assert any(r"sum\udce9.csv has a name that is not UTF-8" in line for line in found.missing)
    write_page(run, tmp_path / "page.html", SETTINGS)


@pytest.mark.parametrize(
    "header", [b"{'descr': '<f4', 'fortran_order': (((", b"{'descr': '<f4',\n   'a'\n  1:"]
)
def test_an_array_with_a_damaged_header_is_named(tmp_path, header):
    path = tmp_path / "a.npy"
    np.save(path, np.ones((2, 3), dtype=np.float32))
    content = path.read_bytes()
    path.write_bytes(content[:10] + header.ljust(117) + b"\n" + content[128:])
    with refuses(path, "not a NumPy array"):
        load_embeddings(path)


@pytest.mark.parametrize(("column", "name"), [("aggregate", "geom[[["), ("metric", "depth")])
def test_a_name_that_is_no_statistic_or_metric_is_named_with_its_column(
    whole, tmp_path, capsys, column, name
):
    folder = shutil.copytree(whole, tmp_path / "run")
    first = pl.int_range(pl.len()) == 0
    table = pl.read_csv(folder / "groups.csv").with_columns(
        pl.when(first).then(pl.lit(name)).otherwise(column).alias(column)
    )
    table.write_csv(folder / "groups.csv")
    with pytest.raises(SystemExit) as ended:
        main(["summary", str(folder)])
    said = capsys.readouterr().err
    assert ended.value.code == 1 and said.count("Error: ") == 1
    assert name in said and f"column {column}" in said
