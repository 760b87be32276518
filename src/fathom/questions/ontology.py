"""An ontology: entities of some classes, statements about them, and texts [CompComp, App. B.2]."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import polars as pl

from fathom.errors import InputError
from fathom.io.contracts.questions import ENTITIES
from fathom.io.files import write_atomically
from fathom.io.tables import make_empty_table
from fathom.questions.values import Value

NAMESPACE = "urn:fathom:"
"""What names of classes, properties and entities begin with; queries write `:author`."""
UNKNOWN = "urn:fathom-records:unknown"
"""Leads from an entity to a property of which its record says nothing."""
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


class Entity(NamedTuple):
    """One thing that questions name.

    Attributes
    ----------
    likeness : str
        What it shares with entities that may be the same thing; the label in lower case if there are none.
    text : str
        The record in words; empty if it is no record.
    """

    kind: str
    label: str
    source: str
    likeness: str
    text: str = ""


@dataclass
class Ontology:
    """Entities and statements.

    Attributes
    ----------
    links : list of (str, str, str)
        Statements: entity, property, entity.
    values : list of (str, str, Value)
        Statements: entity, property, plain value.
    unknown : list of (str, str)
        Entity and property whose field is empty: what it would hold is not known.
    refusing : set of str
        Classes in which two entities of one name are an error; in others no question is about them.
    """

    entities: dict[str, Entity] = field(default_factory=dict)
    links: list[tuple[str, str, str]] = field(default_factory=list)
    values: list[tuple[str, str, Value]] = field(default_factory=list)
    unknown: list[tuple[str, str]] = field(default_factory=list)
    refusing: set[str] = field(default_factory=set)
    report: dict[str, Any] = field(default_factory=dict)

    def find_ambiguous(self) -> set[str]:
        """Return entities that share their name with another one of their class.

        Raises
        ------
        InputError
            If there are any in a class that refuses them.
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
    told = [f"{name.replace('_', ' ')}: {', '.join(values)}" for name, values in facts if values]
    parts = [label, "; ".join(told), *texts]
    return " ".join(part if part[-1] in ".!?" else f"{part}." for part in parts if part)


def tabulate_entities(ontology: Ontology) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the table of entities, under ENTITIES, and the report."""
    if not ontology.entities:
        raise InputError("there are no records", hint="check the tables, or the categories")
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
    """Return a plain value as a literal."""
    quoted = f'"{value.text.translate(_ESCAPES)}"'
    return f"{quoted}^^<{_XSD}{value.kind}>" if value.kind else quoted
