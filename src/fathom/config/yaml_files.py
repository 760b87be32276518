"""Reading of YAML, with one clear message where it is wrong, and writing of it."""

from functools import cache
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import read_plain_text


def read_values(path: Path | str) -> dict[str, Any]:
    """Read one YAML file unchecked; raise `InputError` if it is missing, not UTF-8 or not a YAML mapping."""
    values = parse_yaml(read_plain_text(path), str(path)) or {}
    if not isinstance(values, dict):
        raise InputError("not a mapping of keys to values", str(path), "write `key: value` lines")
    return values


def parse_yaml(text: str, where: str, distinct: bool = True) -> Any:
    """Parse YAML; raise `InputError` if it is not valid.

    With `distinct`, duplicate keys in a mapping are an error; else the last one counts.
    """
    import yaml

    try:
        loader = (_make_loader() if distinct else yaml.SafeLoader)(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML: {error}", where) from error
    except RecursionError as error:
        raise InputError("not valid YAML: lists and mappings are nested too deeply", where) from error
    except ValueError as error:  # an invalid date or number
        raise InputError(f"not valid YAML: {error}", where, "put it in quotes if it is text") from error


@cache
def _make_loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_mapping_node(self, anchor: Any) -> Any:
            node = super().compose_mapping_node(anchor)
            seen = dict[str, Any]()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and seen.setdefault(key.value, key) is not key:
                    raise yaml.composer.ComposerError(
                        None, None, f"the key {key.value!r} is repeated here", key.start_mark
                    )
            return node

    return Loader


def dump_yaml(value: Any) -> str:
    """Return plain values as YAML, in their order."""
    import yaml

    text: str = yaml.safe_dump(value, sort_keys=False)
    return text
