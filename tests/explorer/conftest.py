"""The browser that tests of pages share."""

import pytest
from tests.explorer.browser import find_chromium, start_browser


@pytest.fixture(scope="module")
def browser():
    if find_chromium() is None:
        pytest.skip("needs Chromium and its driver: tests/explorer/install.sh installs them")
    with start_browser() as page:
        yield page
