"""Where the repository is, if there is one."""

from pathlib import Path


def find_checkout() -> Path | None:
    """Return the repository that the package is imported from, or None if it was installed without one."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "Snakefile").is_file() else None
