"""An ontology: entities of some classes, statements about them, and texts [CompComp, App. B.2].

Plain values are numbers, dates or, if neither is clear, text.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import polars as pl

from fathom.errors import InputError
from fathom.io.contracts.questions import ENTITIES
from fathom.io.files import write_atomically
from fathom.io.tables import make_empty_table

_GAP = "[ \u00a0\u2009\u202f]"
_WHOLE = rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}(?:{_GAP}\d{{3}})+|\d{{1,3}}(?:['’]\d{{3}})+|\d+)"
_NUMBER = re.compile(rf"([-+\u2212]?)({_WHOLE}(?:\.\d+)?|\.\d+)([eE][-+\u2212]?\d{{1,2}})?( ?%)?", re.ASCII)
_BETWEEN = re.compile(rf"{_GAP}|[,'’]")
_MEANT = re.compile(r"[^A-Za-z]*\d[^A-Za-z]*")
_APPROXIMATE = re.compile(r"[~≈<>≤≥±]|(?:ca?|about|approx)\b", re.IGNORECASE)
_DAYS = {
    "%Y-%m-%d": r"\d{4}-\d\d-\d\d",
    "%d %B %Y": r"\d\d? [A-Za-z]+ \d{4}",
    "%d %b %Y": r"\d\d? [A-Za-z]{3} \d{4}",
    "%B %d, %Y": r"[A-Za-z]+ \d\d?, \d{4}",
    "%b %d, %Y": r"[A-Za-z]{3} \d\d?, \d{4}",
}

NUMBER, PERCENT, DATE, UNCLEAR = "number", "percent", "date", "unclear"


class Value(NamedTuple):
    """A plain value: its text, and its kind in XML Schema; empty for text."""

    text: str
    kind: str = ""


class Cell(NamedTuple):
    """A non-empty field of a column, and its place."""

    text: str
    where: str


def read_column(name: str, cells: Sequence[Cell]) -> list[Value]:
    """Return the values of a column: all numbers, all dates, or all text.

    A comma, a blank or an apostrophe may stand between thousands; the point is decimal. Raise `InputError` if
    some cells are numbers or dates and one is not, or not in the same way; it names the first.
    """
    read = [_read(cell.text) for cell in cells]
    kinds = [kind for kind, _ in read]
    known = [kind for kind in kinds if kind not in ("", UNCLEAR)]
    if not known and UNCLEAR not in kinds:
        return [Value(cell.text) for cell in cells]
    # the most frequent kind of cells is the column's; ties go to the first
    wanted = max(dict.fromkeys(known), key=known.count) if known else NUMBER
    for place, (cell, kind) in enumerate(zip(cells, kinds, strict=True)):
        if kind != wanted:
            alone = not place and len(cells) > 2 and set(kinds[1:]) == {wanted}
            raise _refuse(name, cell, wanted, is_header=alone and not kind)
    return [value for _, value in read]


def _read(text: str) -> tuple[str, Value]:
    found = _NUMBER.fullmatch(text)
    if found:
        sign, digits, power, percent = found.groups(default="")
        number = Decimal(f"{sign}{_BETWEEN.sub('', digits)}{power}".replace("\u2212", "-"))
        written = format(number, "f")
        value = Value(written, "decimal" if "." in written else "integer")
        return PERCENT if percent else NUMBER, value
    day = _find_day(text)
    if day:
        return DATE, Value(day, "date")
    meant = _MEANT.fullmatch(text) or (_APPROXIMATE.match(text) and text[-1:].isdigit())
    return UNCLEAR if meant else "", Value(text)


def _find_day(text: str) -> str:
    """Return a date such as `1789-07-14`, `14 July 1789` or `July 14, 1789` in ISO form, else nothing."""
    for form, shape in _DAYS.items():
        if re.fullmatch(shape, text, re.ASCII):
            try:
                return datetime.strptime(text, form).replace(tzinfo=UTC).date().isoformat()
            except ValueError:
                continue
    return ""


def _refuse(name: str, cell: Cell, wanted: str, is_header: bool) -> InputError:
    place = f"{cell.where}, column {name}"
    if is_header:
        what = f"{cell.text!r} in column {name}, where all other rows have numbers: a second header line?"
        return InputError(what, place, "remove this line: one header is needed")
    kind = {NUMBER: "number", PERCENT: "number in percent, as in the other rows", DATE: "date"}[wanted]
    hint = "leave the cell empty if the value is unknown; if it is text, make the column a link"
    if _APPROXIMATE.match(cell.text):
        hint = "an approximate value decides no comparison: write a number, or leave the cell empty"
    elif wanted == DATE:
        hint = "write 1789-07-14 or 14 July 1789, or leave the cell empty"
    elif re.search(r"\d[.,]\d", cell.text):
        hint = "the point is decimal, and commas stand between thousands: write 1234.5 or 1,234.5"
    return InputError(f"{cell.text!r} is no {kind}", place, hint)


NAMESPACE = "urn:fathom:"
"""What names of classes, properties and entities begin with; queries write `:author`."""
UNKNOWN = "urn:fathom-records:unknown"
"""Links an entity to a property missing from its record."""
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


class Entity(NamedTuple):
    """An entity that questions name.

    `likeness`: what it shares with entities that may be the same thing; the label in lower case if there are
    none. `text`: the record in words; empty if it is no record.
    """

    kind: str
    label: str
    source: str
    likeness: str
    text: str = ""


@dataclass
class Ontology:
    """Entities and statements.

    `links`: statements of entity, property, entity; `values`: of entity, property, plain value. `unknown`:
    entity and property of an empty field, whose value is unknown. `refusing`: classes in which entities with
    equal names are an error; in others no question is about them.
    """

    entities: dict[str, Entity] = field(default_factory=dict)
    links: list[tuple[str, str, str]] = field(default_factory=list)
    values: list[tuple[str, str, Value]] = field(default_factory=list)
    unknown: list[tuple[str, str]] = field(default_factory=list)
    refusing: set[str] = field(default_factory=set)
    report: dict[str, Any] = field(default_factory=dict)

    def find_ambiguous(self) -> set[str]:
        """Return entities that share their name with another one of their class.

        Raise `InputError` if there are any in a class that refuses them.
        """
        by_name: dict[tuple[str, str], list[str]] = defaultdict(list)
        for iri, entity in self.entities.items():
            by_name[entity.kind, entity.label.casefold()].append(iri)
        found: set[str] = set()
        for (kind, _), members in by_name.items():
            if len(members) > 1 and kind in self.refusing:
                first, second = (self.entities[iri] for iri in members[:2])
                raise InputError(
                    f"two entities of the class {kind} have the name {second.label!r}; the other is in "
                    f"{first.source}: a question about one would be ambiguous",
                    second.source,
                    "rename one, or set same_label: leave-out in the file of tables",
                )
            found.update(members if len(members) > 1 else [])
        return found


def name_entity(kind: str, key: str) -> str:
    """Return the IRI of an entity."""
    return f"{NAMESPACE}{kind}/{quote(key, safe='')}"


def put_in_words(label: str, facts: Iterable[tuple[str, Sequence[str]]], texts: Iterable[str]) -> str:
    """Return a record in words: its name, its properties with their values, its texts."""
    said = [f"{name.replace('_', ' ')}: {', '.join(values)}" for name, values in facts if values]
    parts = [label, "; ".join(said), *texts]
    return " ".join(part if part[-1] in ".!?" else f"{part}." for part in parts if part)


def tabulate_entities(ontology: Ontology) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the table of entities, under ENTITIES, and the report."""
    if not ontology.entities:
        raise InputError("no records", hint="check the tables, or the categories")
    ambiguous = ontology.find_ambiguous()
    rows = [(iri, *entity, iri not in ambiguous) for iri, entity in ontology.entities.items()]
    names = ["iri", "class", "label", "source", "likeness", "text", "usable"]
    table = pl.DataFrame(rows, schema=names, orient="row").sort("class", "iri")
    counts = table.group_by("class").agg(
        entities=pl.len(), records=(pl.col("text") != "").sum(), same_name=(~pl.col("usable")).sum()
    )
    classes = {row["class"]: {k: row[k] for k in row if k != "class"} for row in counts.iter_rows(named=True)}
    statements = (
        len(ontology.links) + len(ontology.values) + len(ontology.unknown) + 2 * len(ontology.entities)
    )
    report = {**ontology.report, "classes": classes, "statements": statements}
    return table.select(make_empty_table(ENTITIES).columns), report


def write_statements(path: Path, ontology: Ontology) -> None:
    """Write all statements as N-Triples, sorted."""
    lines = [f"<{s}> <{NAMESPACE}{p}> <{o}> .\n" for s, p, o in ontology.links]
    lines += [f"<{s}> <{NAMESPACE}{p}> {_write_value(o)} .\n" for s, p, o in ontology.values]
    lines += [f"<{s}> <{UNKNOWN}> <{NAMESPACE}{p}> .\n" for s, p in ontology.unknown]
    for iri, entity in ontology.entities.items():
        lines.append(f"<{iri}> <{_TYPE}> <{NAMESPACE}{entity.kind}> .\n")
        lines.append(f'<{iri}> <{_LABEL}> "{entity.label.translate(_ESCAPES)}" .\n')
    with write_atomically(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(sorted(set(lines)))


def _write_value(value: Value) -> str:
    quoted = f'"{value.text.translate(_ESCAPES)}"'
    return f"{quoted}^^<{_XSD}{value.kind}>" if value.kind else quoted
