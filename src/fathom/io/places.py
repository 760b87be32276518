"""Places of files: the working folder, the folder that runs write to, the repository, if there is one."""

from pathlib import Path

RUNS = "results"
"""The folder in the working folder that runs write to, each to one of its name."""


def find_checkout() -> Path | None:
    """Return the repository that the package is imported from, or None if it was installed without one."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "Snakefile").is_file() else None


def find_own(path: str, root: Path) -> Path:
    """Return a file or folder of the working folder, or the workflow's own where there is none.

    Parameters
    ----------
    path : str
        Its path in either.
    root : Path
        Folder of the workflow.
    """
    return shorten_path(root / path) if not Path(path).exists() and (root / path).exists() else Path(path)


def shorten_path(path: Path) -> Path:
    """Return a path relative to the working folder where it lies in it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
