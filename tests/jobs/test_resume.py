"""The state of an unfinished run: what is saved, what is loaded, and what is deleted."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from fathom.jobs import resume
from fathom.jobs.resume import Finished, Resume, State, make_key


def make_state(count: int) -> State:
    return State({"step": count, "losses": [0.1, 1 / 3]}, {"weight": np.arange(count, dtype=np.float32)})


def test_the_last_state_is_loaded_as_it_was_saved_whatever_the_layout_of_its_arrays(tmp_path):
    saved = Resume(tmp_path / "out.parquet", "key")
    assert saved.load() is None
    for count in (3, 4):
        saved.save(make_state(count))
    loaded = Resume(tmp_path / "out.parquet", "key").load()
    assert loaded.values == make_state(4).values
    assert loaded.arrays["weight"].dtype == np.float32
    assert loaded.arrays["weight"].tolist() == [0, 1, 2, 3]
    saved.remove()
    assert not list(tmp_path.iterdir())
    values = np.arange(6, dtype=np.int64).reshape(2, 3).T
    Resume(tmp_path / "out", "key").save(State({}, {"turned": values}))
    assert Resume(tmp_path / "out", "key").load().arrays["turned"].tolist() == values.tolist()


def test_a_save_is_due_after_an_interval(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(resume.time, "monotonic", lambda: now[0])
    saved = Resume(tmp_path / "out", "key")
    assert not saved.is_due()
    now[0] += resume.INTERVAL
    assert saved.is_due()
    saved.save(make_state(1))
    assert not saved.is_due()


@pytest.mark.parametrize("wrong", ["key", "damage"])
def test_a_state_that_does_not_fit_is_deleted(tmp_path, caplog, wrong):
    saved = Resume(tmp_path / "out.parquet", "key")
    saved.save(make_state(3))
    if wrong == "damage":
        saved.file.write_bytes(saved.file.read_bytes()[:-4])
    with caplog.at_level("INFO", "fathom"):
        assert Resume(tmp_path / "out.parquet", "other" if wrong == "key" else "key").load() is None
    assert "starting again, the state of a stopped run cannot be used: " in caplog.text
    assert ("inputs, settings or code have changed" in caplog.text) == (wrong == "key")
    assert not saved.file.exists()


def test_parts_of_a_run_are_saved_apart_and_deleted_together(tmp_path):
    saved = Resume(tmp_path / "out", "key")
    for count, name in enumerate(["plain", "chat"]):
        saved.part(name).save(make_state(count))
    assert Resume(tmp_path / "out", "other").part("chat").load() is None
    assert saved.part("chat").load() is None
    assert saved.part("plain").load().values["step"] == 0
    saved.remove()
    assert not list(tmp_path.iterdir())


def test_a_key_depends_on_values_and_on_the_source(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import fathom.errors")
    keys = {make_key(program, 1), make_key(program, 2), make_key(program, [1])}
    changed = tmp_path / "changed.py"
    changed.write_text("import fathom.io.files")
    keys.add(make_key(changed, 1))
    assert len(keys) == 4
    assert make_key(program, 1) == make_key(str(program), 1)


class Maker:
    """Writes its name into every file, and counts how often it was asked to."""

    def __init__(self, text: str) -> None:
        self.text, self.count = text, 0

    def __call__(self, files: Sequence[Path]) -> None:
        self.count += 1
        for file in files:
            file.write_text(self.text)


@pytest.fixture
def outputs(tmp_path: Path) -> list[Path]:
    return [tmp_path / "a" / "same.parquet", tmp_path / "b" / "same.json"]


def test_a_result_outlives_its_outputs_and_has_a_new_date(tmp_path, outputs):
    kept, first, second = Finished(tmp_path / "f"), Maker("1"), Maker("2")
    assert not kept.provide("x", "key", outputs, first)
    for output in outputs:
        os.utime(output, (1, 1))
    outputs[0].unlink()  # as Snakemake does before a job
    assert kept.provide("x", "key", outputs, second)
    assert (first.count, second.count) == (1, 0)
    assert [output.read_text() for output in outputs] == ["1", "1"]
    assert all(output.stat().st_mtime > 1 for output in outputs)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == sorted(
        ["same.parquet", "same.json", "key.json", "same.parquet", "same.json"]
    )


def test_another_key_and_a_changed_file_are_made_again(tmp_path, outputs, caplog):
    kept = Finished(tmp_path / "f")
    kept.provide("x", "key", outputs, Maker("1"))
    with caplog.at_level(logging.INFO, "fathom"):
        assert not kept.provide("x", "other", outputs, Maker("2"))
        assert "making x again: inputs, settings or code have changed" in caplog.text
        outputs[0].write_text("by hand")  # the same file as the one that is kept
        assert not kept.provide("x", "other", outputs, Maker("3"))
        assert "was changed after it was finished" in caplog.text
        (tmp_path / "f" / "x" / "key.json").write_text("{")
        assert not kept.provide("x", "other", outputs, Maker("4"))
        assert "cannot read" in caplog.text
        (tmp_path / "f" / "x" / "1" / "same.json").unlink()
        assert not kept.provide("x", "other", outputs, Maker("5"))
    assert [output.read_text() for output in outputs] == ["5", "5"]
    assert not kept.provide("y", "other", outputs, Maker("6"))  # a name of its own


def test_a_result_that_failed_leaves_nothing(tmp_path, outputs):
    def fail(files: Sequence[Path]) -> None:
        files[0].touch()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        Finished(tmp_path / "f").provide("x", "key", outputs, fail)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_a_killed_job_left_is_replaced(tmp_path, outputs):
    (tmp_path / "f" / ".x.new").mkdir(parents=True)
    (tmp_path / "f" / ".x.new" / "left.over").touch()
    Finished(tmp_path / "f").provide("x", "key", outputs, Maker("1"))
    assert [path.name for path in (tmp_path / "f").iterdir()] == ["x"]
    assert len(list((tmp_path / "f" / "x").iterdir())) == 3


def test_where_no_link_can_be_it_is_copied(tmp_path, outputs, monkeypatch):
    def refuse(*names: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    Finished(tmp_path / "f").provide("x", "key", outputs, Maker("1"))
    assert [output.read_text() for output in outputs] == ["1", "1"]
    assert outputs[0].stat().st_nlink == 1
