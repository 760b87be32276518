"""The state of an unfinished run: what is saved, what is loaded, and what is deleted."""

import numpy as np
import pytest

from fathom.jobs import resume
from fathom.jobs.resume import Resume, State, make_key


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
    assert "starting afresh, the state of a stopped run is not used: " in caplog.text
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
