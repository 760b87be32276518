"""A home that cannot be written: caches lie in the working folder."""

import getpass
import os
import pwd
from pathlib import Path

import pytest
from tests.refusals import refuses

from fathom.planning import starting
from fathom.planning.caches import VARIABLE, place_caches


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder of a user whose home is a file, which root cannot write to either."""
    (tmp_path / "home").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv(VARIABLE, "")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def test_without_a_home_snakemake_keeps_its_files_in_the_working_folder(homeless, monkeypatch):
    seen = []
    monkeypatch.setattr(starting, "run_to_end", lambda _: seen.append(os.environ[VARIABLE]) or 0)
    assert starting.start_snakemake(["-n"]) == 0
    assert [Path(each) for each in seen] == [homeless / ".snakemake" / "cache"]


def test_a_home_that_can_be_written_is_left_alone(homeless, monkeypatch):
    monkeypatch.setenv("HOME", str(homeless))
    place_caches()
    assert os.environ[VARIABLE] == "" and not list(homeless.iterdir())


def test_where_nothing_can_be_written_one_message_says_what_to_set(homeless):
    (homeless / ".snakemake").write_text("")
    with refuses(str(homeless.parent / "home"), VARIABLE):
        place_caches()


def test_a_user_whom_the_machine_does_not_know_has_a_name(homeless, monkeypatch):
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    monkeypatch.setattr(pwd, "getpwuid", lambda number: pwd.getpwnam(f"no user {number}"))
    monkeypatch.setattr(starting, "run_to_end", lambda _: int(getpass.getuser() != "user-12345"))
    assert starting.start_snakemake(["-n"]) == 0
