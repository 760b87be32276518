"""The browser, and the runs, that tests of pages share."""

import shutil

import pytest
from tests.explorer.browser import find_chromium, start_browser
from tests.explorer.runs import SCRIPT, SETTINGS, write_analyses, write_questions, write_run

from fathom.explorer.page import write_page
from fathom.explorer.reader import read_run


@pytest.fixture(scope="module")
def browser():
    if find_chromium() is None:
        pytest.skip("needs Chromium and its driver: tests/explorer/install.sh installs them")
    with start_browser() as page:
        yield page


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Return the address of the page of a run with everything, with scripts in its texts."""
    run = write_run(tmp_path_factory.mktemp("page") / "planted", planted=SCRIPT)
    write_analyses(run, planted=SCRIPT)
    write_questions(run, SCRIPT)
    figures = run / "figures"
    figures.mkdir()
    # one grey pixel
    pixel = "89504e470d0a1a0a0000000d4948445200000001000000010800000000" + "3a7e9b55"
    rest = "0000000a49444154789c63680000008200" + "81dd436af40000000049454e44ae426082"
    (figures / "physics.layers.alpha.png").write_bytes(bytes.fromhex(pixel + rest))
    write_page(run, run / "index.html", SETTINGS)
    return (run / "index.html").as_uri()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Return the folder of a finished run."""
    return write_run(tmp_path_factory.mktemp("runs") / "small")


@pytest.fixture(scope="session")
def run(folder):
    """Return that run as it is read."""
    return read_run(folder, SETTINGS)


@pytest.fixture
def copied(folder, tmp_path):
    """Return a copy of its folder, to change."""
    return shutil.copytree(folder, tmp_path / "run")
