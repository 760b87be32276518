"""An ontology from one's own CSV tables, whose columns a YAML file explains."""

from collections.abc import Collection, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from fathom.config.questions import Link, Table, name_property, read_tables_file
from fathom.config.section import is_visible, suggest
from fathom.corpus.records import clean_line
from fathom.errors import InputError
from fathom.io.delimited import scan_csv
from fathom.io.files import read_plain_text
from fathom.questions.ontology import Cell, Entity, Ontology, Value, name_entity, put_in_words, read_column

_SHOWN = 8  # entities of a cycle in a message


class Row(NamedTuple):
    """A row of a table: where it stands, for messages and for questions, and its fields by column."""

    where: str
    source: str
    fields: dict[str, str]


def read_tables(path: Path) -> Ontology:
    """Return the ontology of the tables that a YAML file explains.

    Parameters
    ----------
    path : Path
        Under :class:`fathom.config.questions.Tables`; its tables lie beside it.

    Raises
    ------
    InputError
        If a table is missing or no CSV with one header line, a column is missing, a key or label is empty or
        there twice, a link leads nowhere, a hierarchy has a cycle, or a column of numbers or dates holds
        something else.
    """
    tables = read_tables_file(path)
    rows = {file: read_rows(path.parent / file, table) for file, table in tables.items()}
    keys = {table.kind: _name_rows(rows[file], table) for file, table in tables.items()}
    ontology = Ontology(report={"tables": {file: len(found) for file, found in rows.items()}})
    for file, table in tables.items():
        _add_rows(ontology, rows[file], table, keys)
    for file, table in tables.items():
        _add_statements(ontology, rows[file], table, keys)
    return ontology


def read_rows(path: Path, table: Table) -> list[Row]:
    """Return the rows of a CSV table, fields with white space collapsed."""
    records = [(line, each) for line, each in scan_csv(read_plain_text(path)) if each]
    broken = next((f"{path}, line {line}" for line, each in records if isinstance(each, str)), None)
    if broken:
        raise InputError("a quote is opened and not closed, or text follows one that is closed", broken,
                         'put a field with commas in quotes, and write "" for a quote inside it')  # fmt: skip
    found = [
        (line, [clean_line(field) for field in each]) for line, each in records if isinstance(each, list)
    ]
    if not found:
        raise InputError("the file is empty", str(path), "it needs a header line")
    header = found[0][1]
    _check_header(path, header, [fields for _, fields in found[1:2]], table)
    rows = []
    for line, fields in found[1:]:
        where = f"{path}, line {line}"
        if len(fields) != len(header):
            raise InputError(
                f"{len(fields)} fields where the header has {len(header)}",
                where,
                "check for a missing or an extra comma or quote",
            )
        if [field.casefold() for field in fields] == [name.casefold() for name in header]:
            raise InputError("the header stands here again", where, "remove this line: one header is needed")
        rows.append(Row(where, f"{path.name}, line {line}", dict(zip(header, fields, strict=True))))
    return rows


def _check_header(path: Path, header: list[str], second: list[list[str]], table: Table) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"duplicate columns: {', '.join(twice)}", f"{path}, line 1")
    wanted = dict.fromkeys([table.key, table.label, *table.links, *table.values, *table.text])
    missing = [name for name in wanted if name not in header]
    if missing and second and set(wanted) <= set(second[0]):
        raise InputError("there are two header lines", f"{path}, line 1", "remove the first one")
    if missing:
        raise InputError(
            f"missing columns: {', '.join(missing)}", f"{path}, line 1", suggest(missing[0], header)
        )


def _name_rows(rows: Sequence[Row], table: Table) -> dict[str, Row]:
    """Return rows by key; raise `InputError` for empty keys or labels, and for repeated keys."""
    found: dict[str, Row] = {}
    for row in rows:
        for what, column in (("key", table.key), ("label", table.label)):
            if not is_visible(row.fields[column]):
                raise InputError(
                    f"the {what} is missing: column {column} is empty",
                    row.where,
                    "questions could not name this row: fill it in, or remove the row",
                )
        key = row.fields[table.key]
        if key in found:
            raise InputError(
                f"the key {key!r} occurs in {found[key].source} too", row.where, "keys are unique"
            )
        found[key] = row
    return found


def _add_rows(ontology: Ontology, rows: Sequence[Row], table: Table, with_tables: Collection[str]) -> None:
    """Add the rows of a table as entities, yet without texts."""
    for row in rows:
        label = row.fields[table.label]
        iri = name_entity(table.kind, row.fields[table.key])
        ontology.entities[iri] = Entity(table.kind, label, row.source, label.casefold())
    if table.same_label == "refuse":
        new = {link.to for link in table.links.values() if link.to not in with_tables}
        ontology.refusing |= {table.kind, *new}


def _add_statements(
    ontology: Ontology, rows: Sequence[Row], table: Table, keys: dict[str, dict[str, Row]]
) -> None:
    """Add what the rows of a table say, and their texts."""
    values = {name: _read_values(rows, name) for name in table.values}
    for row in rows:
        iri = name_entity(table.kind, row.fields[table.key])
        facts = []
        for name, link in table.links.items():
            others = _follow(ontology, row, name, link, keys.get(link.to))
            ontology.links += [(iri, name_property(name), other) for other in others]
            facts.append((name, [ontology.entities[other].label for other in others]))
            if not others and not link.tree:
                ontology.unknown.append((iri, name_property(name)))
        for name, found in values.items():
            if row.where in found:
                ontology.values.append((iri, name_property(name), found[row.where]))
                facts.append((name, [row.fields[name]]))
            else:
                ontology.unknown.append((iri, name_property(name)))
        entity = ontology.entities[iri]
        text = put_in_words(entity.label, facts, [row.fields[name] for name in table.text])
        ontology.entities[iri] = entity._replace(text=text)
    for name in (name for name, link in table.links.items() if link.tree):
        _check_tree(ontology, name_property(name))


def _read_values(rows: Sequence[Row], name: str) -> dict[str, Value]:
    """Return the values of a column by where their rows stand, without empty cells."""
    cells = [Cell(row.fields[name], row.where) for row in rows if row.fields[name]]
    return {cell.where: value for cell, value in zip(cells, read_column(name, cells), strict=True)}


def _follow(ontology: Ontology, row: Row, column: str, link: Link, keys: dict[str, Row] | None) -> list[str]:
    """Return the entities that a field names; add those of a class without a table."""
    field = row.fields[column]
    names = [each.strip() for each in field.split(link.separator)] if link.separator else [field]
    found = []
    for name in dict.fromkeys(each for each in names if each):
        iri = name_entity(link.to, name)
        if keys is None:
            ontology.entities.setdefault(iri, Entity(link.to, name, row.source, name.casefold()))
        elif name not in keys:
            hint = (
                suggest(name, keys) if not link.separator else f"{suggest(name, keys)}; several stand apart "
            )
            hint += f"by {link.separator!r}" if link.separator else ""
            raise InputError(f"no {link.to} has the key {name!r}", f"{row.where}, column {column}", hint)
        found.append(iri)
    return found


def _check_tree(ontology: Ontology, name: str) -> None:
    """Raise `InputError` if a hierarchy comes back to where it began."""
    order: TopologicalSorter[str] = TopologicalSorter()
    for entity, _, other in (link for link in ontology.links if link[1] == name):
        order.add(entity, other)
    try:
        order.prepare()
    except CycleError as error:
        circle = error.args[1][::-1]  # from an entity to the one above it
        labels = [ontology.entities[each].label for each in circle]
        if len(labels) > _SHOWN:
            labels[_SHOWN - 1 : -1] = [f"{len(labels) - _SHOWN:,} more"]
        raise InputError(
            f"the hierarchy has a cycle: {' → '.join(labels)}",
            f"{ontology.entities[circle[0]].source}, column {name}",
            "mend it, or remove tree: true if it is no hierarchy",
        ) from None
