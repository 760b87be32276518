"""Templates: texts with gaps, and the queries that fill and prove them."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from fathom.config.questions import Template, Templates
from fathom.config.section import check_values
from fathom.config.yaml_files import read_values
from fathom.errors import InputError
from fathom.questions.graph import Query


class Asker(NamedTuple):
    """A template with its queries, parsed; `where` is for messages."""

    name: str
    template: Template
    select: Query
    ask: Query
    where: str


def read_templates(files: Iterable[Path]) -> dict[str, Asker]:
    """Return the templates of some files by name; raise `InputError` if one is wrong, or there twice."""
    found: dict[str, Asker] = {}
    for file in files:
        for name, template in check_values(read_values(file), Templates, str(file)).templates.items():
            where = f"{file}, templates.{name}"
            if name in found:
                raise InputError("two templates have this name", where, f"the other: {found[name].where}")
            found[name] = _parse(name, template, where)
    return found


def _parse(name: str, template: Template, where: str) -> Asker:
    """Return a template with its queries; raise `InputError` if they lack a variable."""
    select = Query(template.select, "SELECT", f"{where}.select")
    ask = Query(template.ask, "ASK", f"{where}.ask")
    needed = {*template.placeholders, template.answer}
    for key, known in (("select", select.columns), ("ask", ask.variables)):
        missing = sorted(needed - known)
        if missing:
            raise InputError(
                f"?{missing[0]} is missing",
                f"{where}.{key}",
                f"text and answer name {', '.join(f'?{each}' for each in sorted(needed))}",
            )
    return Asker(name, template, select, ask, where)
