"""Names that become files and folders, the one way to make a path of what data say, and how it is shown."""

import re
from pathlib import Path
from typing import NamedTuple

from fathom.errors import InputError

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""A name that becomes a folder: letters, digits, dot, underscore, hyphen."""


class Form(NamedTuple):
    """What text must look like: a regular expression that it fits as a whole, and the same in words."""

    pattern: str
    about: str


NAME_FORM = Form(NAME, "a name: letters, digits, dot, underscore, hyphen")
MODEL_FORM = Form(
    rf"{NAME}(\+{NAME})*(@(stage|seed|step)-?[0-9]+)*(@chat)?",
    "a model's name: letters, digits, dot, underscore, hyphen; then +DOMAIN, @stage1, @seed1, @step1, @chat",
)
"""What :class:`fathom.config.model_names.ModelName` writes, of names that the configuration allows."""


def place_inside(folder: Path, *parts: Path | str) -> Path:
    """Return a path below a folder, made of names that tables or other files say.

    The folder need not exist, and may be a link. Raises `InputError` if the path, or what a link on it leads
    to, lies outside of it.
    """
    path = folder.joinpath(*parts)
    if "\0" in str(path) or not is_inside(folder, path):
        hint = "names are no paths, and links lead to files of the same folder"
        raise InputError(f"this leads out of the folder {folder}", str(path), hint)
    return path


def is_inside(folder: Path, path: Path) -> bool:
    """Tell whether a path, its links followed, lies below a folder."""
    return folder.resolve() in path.resolve().parents


def is_utf8(path: Path | str) -> bool:
    """Tell whether a path can be written as UTF-8; on the disk any bytes can be a name."""
    return not any("\ud800" <= letter <= "\udfff" for letter in str(path))


def show_path(path: Path | str) -> str:
    """Return a path with what is no UTF-8 escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def require_utf8(path: Path | str) -> None:
    """Raise `InputError` for a path that is no UTF-8: tables, libraries and messages cannot hold it."""
    if not is_utf8(path):
        raise InputError("this name is no UTF-8", show_path(path), "rename this file or folder")


_LOGIN = re.compile(r"([A-Za-z][\w+.-]*:/{1,2}|(?<![\w/:])//)(?:[^\s/]*|[^\s/:]*:(?!\d+/)\S*)@")
_KEY = re.compile(r"(?i)([?&;][\w.-]*(?:key|token|secret|passw|auth)[\w.-]*=)[^\s&;#]+")
_KEPT = "\n\t"
_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Signs that steer a terminal, or turn the direction of what follows."""


def show_count(number: int, one: str, many: str = "") -> str:
    """Return `1 core`, `2,000 cores`; `many` is the plural, by default with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def show_text(text: str) -> str:
    r"""Return text without logins and keys in addresses; signs that steer a terminal are escaped.

    Lines and tabs stay.

    Examples
    --------
    >>> show_text("a\x1b[2J of https://me:secret@host/v1?api_key=secret")
    'a\\x1b[2J of https://***@host/v1?api_key=***'
    """
    plain = _KEY.sub(r"\1***", _LOGIN.sub(r"\1***@", text))
    return _ODD.sub(lambda found: found[0] if found[0] in _KEPT else ascii(found[0])[1:-1], plain)
