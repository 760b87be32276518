"""What stands in the way of a run is said before it starts."""

import os

import pytest
from tests.refusals import refuses

from fathom.errors import InputError
from fathom.planning.failures import refusing, require_working_folder


def test_a_folder_in_which_snakemake_cannot_take_notes_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_working_folder()
    # a mount without the right to write, which tests may not make
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or path != tmp_path)
    with refuses(tmp_path, "cannot be written", "-d FOLDER"):
        require_working_folder()
    (tmp_path / ".snakemake").mkdir()
    require_working_folder()


def test_bad_input_ends_with_its_message_alone_and_other_errors_are_not_hidden(capsys):
    with pytest.raises(SystemExit) as ended, refusing():
        raise InputError("it is wrong", "here", "mend it")
    assert ended.value.code == 1
    assert capsys.readouterr().err == "Error: here: it is wrong\nHint: mend it\n"
    with pytest.raises(ZeroDivisionError), refusing():
        raise ZeroDivisionError
