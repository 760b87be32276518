"""Folders of scores as a user has them."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write_scores(tmp_path: Path) -> Write:
    """Return a function that writes one CSV of a folder of scores: header and lines as they are given."""

    def write(name: str, header: Sequence[str], lines: Sequence[Sequence[object]]) -> Path:
        path = tmp_path / "scores" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(header)
            writer.writerows(lines)
        return tmp_path / "scores"

    return write
