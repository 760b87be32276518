"""Where the programs of the workflow lie."""

from pathlib import Path

_SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def list_programs() -> list[Path]:
    """Return all programs, sorted."""
    return sorted(_SCRIPTS.glob("*/*.py"))


def find_program(name: str) -> Path:
    """Return the file of a program by its name, with or without `.py`."""
    (path,) = _SCRIPTS.glob(f"*/{name.removesuffix('.py')}.py")
    return path
