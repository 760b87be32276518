"""Folders of scores as a user has them."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.tables import write_delimited

Write = Callable[..., Path]


@pytest.fixture
def write_scores(tmp_path: Path) -> Write:
    """Return a function that writes one CSV of a folder of scores: header and lines as they are given."""

    def write(name: str, header: Sequence[str], lines: Sequence[Sequence[object]]) -> Path:
        write_delimited(tmp_path / "scores" / name, header, lines, ",")
        return tmp_path / "scores"

    return write
