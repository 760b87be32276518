"""A path below the folder of a run, with fields: made from values, and read back into them."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from string import Formatter

RESULTS = "<results>"
"""What stands for the folder of the run, here and in rules."""


class RunPath(str):
    """A path below the folder of a run, with fields in braces such as `{domain}`.

    As text it begins with `<results>/`, as rules write it. `meaning`: what the file holds, for
    `results/README.md`.
    """

    meaning: str

    def __new__(cls, path: str, meaning: str = "") -> "RunPath":
        """Return the template; `<results>/` before the path is added where it is missing."""
        text = str(path)
        made = super().__new__(cls, text if text.startswith(RESULTS) else f"{RESULTS}/{text}")
        made.meaning = meaning
        return made

    @property
    def below(self) -> str:
        """The path below the folder of the run."""
        return self.removeprefix(f"{RESULTS}/")

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields, in the order of the path."""
        return tuple(dict.fromkeys(name for _, name, _, _ in Formatter().parse(self.below) if name))

    def of(self, **fields: object) -> "RunPath":
        """Return the path with some fields filled in; others stay; `ValueError` if it has no such field."""
        unknown = sorted(set(fields) - set(self.fields))
        if unknown:
            raise ValueError(f"{self.below} has no field {', '.join(unknown)}")
        values = {name: fields.get(name, f"{{{name}}}") for name in self.fields}
        return RunPath(self.below.format(**values), self.meaning)

    def of_each(self, places: Iterable[Sequence[object]]) -> "list[RunPath]":
        """Return the path of each place: values of the first fields, in their order."""
        return [self.of(**dict(zip(self.fields, place, strict=False))) for place in places]

    def ending(self, suffix: str) -> "RunPath":
        """Return the path of a file beside it that differs in its ending, such as `.json`."""
        stem = self.below.rsplit(".", 1)[0] if "." in self.below.rsplit("/", 1)[-1] else self.below
        return RunPath(stem + suffix)

    def under(self, results: Path | str) -> str:
        """Return the path below a folder of results."""
        return f"{results}/{self.below}"

    def read(self, path: Path | str) -> dict[str, str] | None:
        """Return the values of the fields in a path that ends like this one; None for another path."""
        found = self._pattern.search(Path(path).as_posix())
        return found.groupdict() if found else None

    def is_of(self, below: str) -> bool:
        """Say whether a path below a run's folder has this form, from its first part on."""
        return below.count("/") == self.below.count("/") and self._pattern.search(below) is not None

    def find_end(self, path: Path | str) -> str:
        """Return the end of a path that has this form; nothing of another path."""
        found = self._pattern.search(Path(path).as_posix())
        return found.group().removeprefix("/") if found else ""

    def find_files(self, results: Path | str) -> list[tuple[dict[str, str], Path]]:
        """Return each file of this kind in a folder of results, with the values of its fields, by path.

        Hidden ones are none: temporary files, and what other systems put beside a file that is copied.
        """
        folder = Path(results)
        paths = sorted(folder.glob(re.sub(r"\{\w+\}", "[!.]*", self.below)))
        return [(found, path) for path in paths if (found := self.read(path.relative_to(folder))) is not None]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """What a path must end with; a field's second use has the value of its first."""
        parts, seen = list[str](), set[str]()
        for text, name, _, _ in Formatter().parse(self.below):
            parts.append(re.escape(text))
            if name:
                parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>[^/]+)")
                seen.add(name)
        return re.compile(f"(?:^|/){''.join(parts)}$")
