"""An ontology from one's own CSV tables, whose columns a YAML file explains."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

from fathom.config.questions import Link, Table, name_property, read_tables_file
from fathom.config.section import is_visible, suggest
from fathom.corpus.latex import convert_latex
from fathom.corpus.lines import JsonLines, parse_object
from fathom.corpus.metadata import read_arxiv_id, read_categories, read_first_day, read_text
from fathom.corpus.records import clean_line
from fathom.corpus.selection import matches_category
from fathom.errors import InputError
from fathom.io.delimited import scan_csv
from fathom.io.files import read_plain_text
from fathom.io.names import show_count
from fathom.questions.ontology import Cell, Entity, Ontology, Value, name_entity, put_in_words, read_column

_SHOWN = 8  # entities of a cycle in a message


class Row(NamedTuple):
    """A row of a table: its place, for messages and for questions, and its fields by column."""

    where: str
    source: str
    fields: dict[str, str]


def read_tables(path: Path) -> Ontology:
    """Return the ontology of the tables that a YAML file explains.

    Raise `InputError` if a table is missing or no CSV with one header line, a column is missing, a key or
    label is empty or there twice, a link leads nowhere, a hierarchy has a cycle, or a column of numbers or
    dates holds something else. `path`: under :class:`fathom.config.questions.Tables`; its tables lie beside
    it.
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
        raise InputError("a quote is not closed, or is followed by text", broken,
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
                f"{show_count(len(fields), 'field')} where the header has {len(header)}",
                where,
                "check for a missing or an extra comma or quote",
            )
        if [field.casefold() for field in fields] == [name.casefold() for name in header]:
            raise InputError("repeated header", where, "remove this line: one header is needed")
        rows.append(Row(where, f"{path.name}, line {line}", dict(zip(header, fields, strict=True))))
    return rows


def _check_header(path: Path, header: list[str], second: list[list[str]], table: Table) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"duplicate columns: {', '.join(twice)}", f"{path}, line 1")
    wanted = dict.fromkeys([table.key, table.label, *table.links, *table.values, *table.text])
    missing = [name for name in wanted if name not in header]
    if missing and second and set(wanted) <= set(second[0]):
        raise InputError("two header lines", f"{path}, line 1", "remove the first one")
    if missing:
        raise InputError(
            f"missing columns: {', '.join(missing)}", f"{path}, line 1", suggest(missing[0], header)
        )


def _name_rows(rows: Sequence[Row], table: Table) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        for what, column in (("key", table.key), ("label", table.label)):
            if not is_visible(row.fields[column]):
                raise InputError(
                    f"the {what} is missing: column {column} is empty",
                    row.where,
                    "questions cannot name this row: fill it in, or remove the row",
                )
        key = row.fields[table.key]
        if key in found:
            raise InputError(
                f"the key {key!r} occurs in {found[key].source} too", row.where, "keys must be unique"
            )
        found[key] = row
    return found


def _add_rows(ontology: Ontology, rows: Sequence[Row], table: Table, with_tables: Collection[str]) -> None:
    """Add the rows of a table as entities, without texts so far."""
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
            "correct it, or remove tree: true if it is not a hierarchy",
        ) from None


_BRACKETS = re.compile(r"\([^()]*\)")
_BETWEEN = re.compile(r",|;| and | & ")
_NUMBER = re.compile(r"\d.*$")
_ENDS = re.compile(r"[\s,.:;(\[]+(?:vol(?:ume)?|no|pp|issue)?[\s,.:;(\[]*$", re.IGNORECASE)
_CATEGORY = re.compile(r"[a-z]+(-[a-z]+)?(\.[A-Za-z]+(-[a-z]+)?)?")
_WORD = re.compile(r"[^\W\d_]+")
_SMALL = {"of", "the", "and", "for", "in", "on", "de"}
_OTHERS = {"et al", "et al.", "others"}
_MOST_AUTHORS = 20
"""Most authors of a paper to name in its text."""


class Paper(NamedTuple):
    """Fields read from a record."""

    key: str
    title: str
    abstract: str
    authors: Sequence[str]
    categories: Sequence[str]
    primary: str
    year: str
    journal: str


def read_papers(path: Path, patterns: Sequence[str], max_malformed: float = 0.01) -> Ontology:
    """Return the ontology of arXiv's metadata.

    An author is a name: what several people of one name wrote cannot be separated. Categories are those of
    arXiv, without archives such as `cond-mat` that are divided: `cond-mat.soft` would belong to both. A
    journal is what stands before the first digit of a reference, whose words count by their first three
    letters. A year is that of the first version. Of several records with one id the last one counts. Raise
    `InputError` if the file is truncated or has too many malformed lines. `patterns`: categories that count:
    `cs.AI`, `cs.*`, `*`.
    """
    lines, left_out = JsonLines(path, max_malformed), Counter[str]()
    papers: dict[str, Paper] = {}
    for paper in lines.parse(_read_paper):
        if not any(matches_category(pattern, each) for pattern in patterns for each in paper.categories):
            left_out["in other categories"] += 1
        elif not paper.title:
            left_out["without a title"] += 1
        else:
            left_out["repeated ids"] += paper.key in papers
            papers[paper.key] = paper
    divided = {name.split(".")[0] for paper in papers.values() for name in paper.categories if "." in name}
    papers = {
        key: paper._replace(categories=[name for name in paper.categories if name not in divided])
        for key, paper in papers.items()
    }
    ontology = Ontology(report={**lines.report(), "papers": len(papers)})
    spellings: dict[str, Counter[str]] = {}
    for paper in papers.values():
        if paper.journal:
            spellings.setdefault(shorten_journal(paper.journal), Counter())[paper.journal] += 1
    journals = {key: min(found, key=lambda name: (-found[name], name)) for key, found in spellings.items()}
    for paper in papers.values():
        _add_paper(ontology, paper, journals)
    without = {name: sum(not getattr(paper, name) for paper in papers.values())
               for name in ("authors", "categories", "year", "journal")}  # fmt: skip
    ontology.report |= {"left_out": dict(sorted((+left_out).items())), "without": without}
    return ontology


def _read_paper(line: bytes) -> Paper:
    record = parse_object(line)
    categories = read_categories(record.get("categories"))
    return Paper(
        read_arxiv_id(record.get("id"), Counter()),
        clean_line(read_text(record, "title")),
        clean_line(read_text(record, "abstract")),
        read_authors(record),
        [name for name in categories if _CATEGORY.fullmatch(name)],
        categories[0] if categories else "",
        read_first_day(record.get("versions"))[:4],
        read_journal(read_text(record, "journal-ref")),
    )


def read_authors(record: dict[str, Any]) -> list[str]:
    """Return the names of a record's authors, each once, in order: parsed ones, else from a string.

    LaTeX becomes text, and initials stand apart: `C.-P. Yuan`, `E. L. Berger`.
    """
    parsed = record.get("authors_parsed")
    if isinstance(parsed, list) and all(isinstance(each, list) and len(each) > 1 for each in parsed):
        names = [f"{each[1]} {each[0]}" for each in parsed]
    else:
        text = clean_line(read_text(record, "authors"))
        while (shorter := _BRACKETS.sub(" ", text)) != text:
            text = shorter
        names = _BETWEEN.split(text)
    found = (_clean_name(name) for name in names)
    return list(dict.fromkeys(name for name in found if name and name.casefold() not in _OTHERS))


@lru_cache(maxsize=1 << 16)
def _clean_name(name: str) -> str:
    if "\\" in name or "{" in name or "$" in name:
        name = convert_latex(name, Counter())
    name = re.sub(r"\.(?=[^\W\d_])", ". ", unicodedata.normalize("NFC", name))
    return clean_line(name.replace(" -", "-")).strip(" ,*")


def _cut_surname(name: str) -> str:
    """Return the last word of a name in lower case, without accents: who shares it may be one person."""
    letters = unicodedata.normalize("NFKD", name.rsplit(maxsplit=1)[-1])
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()


def read_journal(reference: str) -> str:
    """Return the journal of a reference: what stands before its first digit; empty if too short."""
    name = clean_line(_NUMBER.sub("", clean_line(reference)))
    while (shorter := _ENDS.sub("", name)) != name:
        name = shorter
    return name if len(shorten_journal(name)) > 2 else ""


def shorten_journal(name: str) -> str:
    """Return what spellings of one journal share: the first three letters of each of its words."""
    words = [word.casefold() for word in _WORD.findall(name)]
    return " ".join(word[:3] for word in words if word not in _SMALL)


def _add_paper(ontology: Ontology, paper: Paper, journals: dict[str, str]) -> None:
    iri = name_entity("Paper", paper.key)
    journal = shorten_journal(paper.journal)
    facts = [
        ("author", "Author", [(name, name, _cut_surname(name)) for name in paper.authors]),
        ("category", "Category", [(name, name, name) for name in paper.categories]),
        ("year", "Year", [(paper.year,) * 3] if paper.year else []),
        ("journal", "Journal", [(journal, journals[journal], journal[:3])] if journal else []),
    ]
    for name, kind, others in facts:
        for key, label, likeness in others:
            other = name_entity(kind, key)
            ontology.entities.setdefault(other, Entity(kind, label, f"arXiv:{paper.key}", likeness))
            ontology.links.append((iri, name, other))
    if paper.primary in paper.categories:
        ontology.links.append((iri, "primary", name_entity("Category", paper.primary)))
    named = [(name, [label for _, label, _ in others[:_MOST_AUTHORS]]) for name, _, others in facts]
    text = put_in_words(paper.title, named, [paper.abstract])
    source = f"arXiv:{paper.key}"
    ontology.entities[iri] = Entity("Paper", paper.title, source, paper.title.casefold(), text)
