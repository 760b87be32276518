"""The table of a rehearsal says which panels a figure lacks."""

from pathlib import Path

from tests.tables import read_delimited

from fathom.io.contracts.figures import REHEARSED
from fathom.io.delimited import read_rows
from fathom.planning.rehearsal.rehearse import Drawn, add_outcome, describe_outcome, draw_table

HEADER = "panel,series,layer,value,low,high"
PRESET = "beyond-benchmarks-layers"


def write_figure(run, model, *rows):
    (run / "figures").mkdir(parents=True, exist_ok=True)
    (run / "figures" / f"cs.AI.layers.{model}.sums.png").touch()
    (run / "figures" / f"cs.AI.layers.{model}.sums.csv").write_text("\n".join([HEADER, *rows, ""]))


def describe(run):
    (found,) = [row for row in describe_outcome(PRESET, [], run, run) if row.file.endswith(".sums.png")]
    return found


def test_a_panel_that_other_files_have_or_without_a_finite_number_is_missing(tmp_path):
    write_figure(tmp_path, "a", "one,s,0,1.5,,", "two,s,0,,,", "three,s,0,nan,,", "three,s,1,2,,")
    write_figure(tmp_path, "b", "one,s,0,1.5,,", "four,s,0,1,,")
    row = describe(tmp_path)
    assert (row.files, row.points, row.missing) == (2, 4, "two; four")
    assert "(missing: two; four)" in draw_table([row])[1]


def test_whole_figures_and_none_lack_nothing_that_is_known(tmp_path):
    assert describe(tmp_path).missing == ""
    for model in "ab":
        write_figure(tmp_path, model, "one,s,0,1.5,,")
    row = describe(tmp_path)
    assert row.missing == ""
    assert "missing" not in draw_table([row])[1]


def test_a_table_from_before_is_read_and_gets_the_column(tmp_path):
    table = Path(tmp_path, "rehearsal.csv")
    table.write_text("configuration,paper,number,file,files,points,panels\nx,CompComp,Fig. 5,b,1,9,p\n")
    assert len(read_rows(table, REHEARSED)) == 1
    add_outcome(table, "y", [Drawn("CompComp", "Fig. 4", "c", 2, 9, "p; q", "q")])
    rows = {row["configuration"]: row["missing"] for row in read_delimited(table, ",")}
    assert rows == {"x": "", "y": "q"}
