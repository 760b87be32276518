"""What all tests share."""

from pathlib import Path

import pytest

_SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture
def shared() -> Path:
    """Return the folder of real data beside the repository; skip where there is none."""
    if not _SHARED.is_dir():
        pytest.skip("needs the real data beside the repository (../shared/data)")
    return _SHARED
