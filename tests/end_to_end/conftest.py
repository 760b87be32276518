"""A small corpus of real text for the end-to-end runs."""

import pytest
from tests.end_to_end.project import read_records


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """Return documents of two fields."""
    return read_records(tmp_path_factory.mktemp("docstrings"))
