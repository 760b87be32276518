"""Reading of YAML, with one clear message where it is wrong, and writing of it."""

from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import read_plain_text


def read_values(path: Path | str) -> dict[str, Any]:
    """Read one YAML file unchecked; raise `InputError` if it is missing, not UTF-8 or no YAML mapping."""
    values = parse_yaml(read_plain_text(path), str(path)) or {}
    if not isinstance(values, dict):
        raise InputError("not a mapping of keys to values", str(path), "write `key: value` lines")
    return values


def parse_yaml(text: str, where: str) -> Any:
    """Return what some YAML says; raise `InputError` if it is not valid."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML: {error}", where) from error


def dump_yaml(value: Any) -> str:
    """Return plain values as YAML, in their own order."""
    import yaml

    text: str = yaml.safe_dump(value, sort_keys=False)
    return text
