"""What is finished is taken over while it is current and whole, and made again otherwise."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from fathom.jobs.resume import Finished


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
        assert "x is made again: inputs, settings or code have changed" in caplog.text
        outputs[0].write_text("by hand")  # the same file as the one that is kept
        assert not kept.provide("x", "other", outputs, Maker("3"))
        assert "was changed after it was finished" in caplog.text
        (tmp_path / "f" / "x" / "key.json").write_text("{")
        assert not kept.provide("x", "other", outputs, Maker("4"))
        assert "cannot be read" in caplog.text
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
