"""The ontology as an RDF graph, templates with their queries, and wrong answers that fail one condition.

An option is wrong only if its ASK could not be true for any values of empty cells: a query is split into
alternatives, in each of which empty cells match some of its patterns.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.config.questions import Template, Templates
from fathom.config.section import check_values
from fathom.config.yaml_files import read_values
from fathom.errors import InputError
from fathom.io.files import require_file
from fathom.questions.ontology import NAMESPACE, UNKNOWN

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue


Found = dict[tuple[str, ...], list[str]]
PREFIXES = (
    f"PREFIX : <{NAMESPACE}>\n"
    "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
    "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
)
"""Prefixes that every query may use."""

_KNOWN = {"rdfs", "xsd"}
_PREFIX = re.compile(r"(?<![\w:?$])([A-Za-z][\w-]*):")
_QUOTED = re.compile(r"<[^<>\s]*>|\"[^\"]*\"|'[^']*'|#[^\n]*")

Bindings = Mapping[str, str]
"""IRIs by the name of a variable."""


class NearMisses:
    """Entities that meet all conditions of a template's ASK but one, for each condition.

    A condition is a statement about an entity or a filter. Each query is evaluated once, over the whole
    graph.
    """

    def __init__(self, asker: "Asker", graph: "OntologyGraph") -> None:
        from rdflib.term import Variable

        template = asker.template
        self._about = [name for name in template.placeholders if name != template.answer]
        answer, about = Variable(template.answer), {Variable(name) for name in self._about}
        conditions = _list_conditions(asker.ask.prepared.algebra.p)
        self._pools: list[tuple[list[str], Found]] = []
        seen: list[Any] = []
        for left_out in conditions:
            others = [each for each in conditions if each is not left_out]
            kept = _select_connected(others, answer, about)
            if not any(_tells(each) for each in kept) or kept in seen:
                continue
            seen.append(kept)
            used = set().union(*(list_variables(each) for each in kept))
            keys = [name for name in self._about if Variable(name) in used]
            found: dict[tuple[str, ...], set[str]] = defaultdict(set)
            for row in graph.select_where(asker.ask, *_split(kept), [*keys, template.answer]):
                found[tuple(row[name] for name in keys)].add(row[template.answer])
            self._pools.append((keys, {key: sorted(members) for key, members in found.items()}))

    def list_pools(self, about: dict[str, str]) -> list[list[str]]:
        """Return the entities that fail only one condition, or are right, for a question's subject."""
        found = (pool.get(tuple(about[name] for name in keys), []) for keys, pool in self._pools)
        return [members for members in found if members]


def _list_conditions(pattern: Any) -> list[Any]:
    filters: list[Any] = []
    while pattern.name in {"Project", "Filter"}:
        if pattern.name == "Filter":
            filters += list_joined(pattern.expr)
        pattern = pattern.p
    if pattern.name != "BGP" or any("EXISTS" in str(each) for each in filters):
        return []
    return [*pattern.triples, *filters]


def _split(conditions: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    every = list(conditions)
    return [each for each in every if type(each) is tuple], [
        each for each in every if type(each) is not tuple
    ]


def _tells(condition: Any) -> bool:
    """Say whether a condition is more than the class or the name of an entity."""
    from rdflib.namespace import RDF, RDFS

    return type(condition) is not tuple or condition[1] not in (RDF.type, RDFS.label)


def _select_connected(conditions: Sequence[Any], answer: Any, about: set[Any]) -> list[Any]:
    statements, filters = _split(conditions)
    reached = {answer}
    while True:
        kept = [each for each in statements if list_variables(each) & reached]
        more = set().union(*(list_variables(each) for each in kept)) - about if kept else set()
        if more <= reached:
            break
        reached |= more
    bound = set().union(*(list_variables(each) for each in kept)) if kept else set()
    return [*kept, *(each for each in filters if list_variables(each) <= bound)]


class Query:
    """A SELECT or ASK without prefixes, parsed once; `InputError` if it is neither, or asks another server.

    `where` is for messages.
    """

    def __init__(self, text: str, kind: str, where: str) -> None:
        from pyparsing import ParseException
        from rdflib.plugins.sparql import prepareQuery

        unknown = sorted(set(_PREFIX.findall(_QUOTED.sub("", text.removeprefix(PREFIXES)))) - _KNOWN)
        if unknown:
            raise InputError(
                f"unknown prefix {unknown[0]}:",
                where,
                "classes, properties and entities of tables begin with :",
            )
        self.text = text
        try:
            self.prepared = prepareQuery(text if text.startswith(PREFIXES) else PREFIXES + text)
        except ParseException as error:
            line = error.lineno - PREFIXES.count("\n")
            place = f"line {line}, column {error.column}"
            raise InputError(f"not valid SPARQL: {place}: {error.msg}", where, "try it on its own") from error
        found = self.prepared.algebra.name.removesuffix("Query").upper()
        if found != kind:
            raise InputError(f"this is {found}, where {kind} is needed", where)
        if "ServiceGraphPattern" in str(self.prepared.algebra) or self.prepared.algebra.datasetClause:
            raise InputError(
                "it asks other servers or graphs",
                where,
                "remove SERVICE and FROM: queries can only ask the tables",
            )

    @property
    def variables(self) -> set[str]:
        """All variables that the query names."""
        return {str(each) for each in self.prepared.algebra["_vars"]}

    @property
    def columns(self) -> set[str]:
        """Variables that a SELECT gives."""
        return {str(each) for each in self.prepared.algebra["PV"]}


class OntologyGraph:
    """Statements in memory, from :func:`fathom.questions.ontology.write_statements`."""

    def __init__(self, path: Path) -> None:
        from rdflib import Graph, URIRef

        self._graph = Graph().parse(require_file(path), format="nt")
        self._unknown = {str(each) for each in self._graph.objects(None, URIRef(UNKNOWN), unique=True)}
        self._alternatives: dict[str, list[Any]] = {}
        self._near_misses: dict[str, NearMisses] = {}

    def __len__(self) -> int:
        return len(self._graph)

    def select(self, query: Query) -> Iterator[dict[str, str]]:
        """Yield the rows of a SELECT: IRIs and plain values by variable, those that are bound."""
        for row in self._graph.query(query.prepared).bindings:
            yield {str(name): str(value) for name, value in row.items()}

    def select_where(
        self, query: Query, statements: list[Any], filters: list[Any], columns: list[str]
    ) -> Iterator[dict[str, str]]:
        """Yield what meets some conditions of a query: IRIs by variable."""
        from rdflib.plugins.sparql.parserutils import CompValue
        from rdflib.plugins.sparql.sparql import Query as Prepared
        from rdflib.term import Variable

        bound = list_variables(statements)
        pattern = CompValue("BGP", triples=statements, _vars=bound)
        for each in filters:
            pattern = CompValue("Filter", expr=each, p=pattern, _vars=bound)
        wanted = [Variable(name) for name in columns]
        pattern = CompValue("Project", p=pattern, PV=wanted, _vars=bound)
        algebra = CompValue("SelectQuery", p=pattern, datasetClause=None, PV=wanted, _vars=bound)
        for row in self._graph.query(Prepared(query.prepared.prologue, algebra)).bindings:
            yield {str(name): str(value) for name, value in row.items()}

    def check_order(self, query: Query, where: str) -> None:
        """Raise `InputError` if a query compares text by size."""
        from rdflib import Literal, Variable

        compared = {name for name in list_compared(query.prepared.algebra) if isinstance(name, Variable)}
        for _, link, value in list_statements(query.prepared.algebra):
            if value not in compared:
                continue
            for _, found in self._graph.subject_objects(link):
                if isinstance(found, Literal) and found.datatype is None:
                    raise InputError(
                        f"it compares by size, and {link.removeprefix(NAMESPACE)} is text: {str(found)!r}",
                        where,
                        "compare numbers or dates; for text there are = and !=",
                    )

    def ask(self, query: Query, bindings: Bindings) -> bool:
        """Return the answer of an ASK with some of its variables put in."""
        from rdflib import URIRef

        terms: dict[str, Any] = {name: URIRef(iri) for name, iri in bindings.items()}
        return bool(self._graph.query(query.prepared, initBindings=terms).askAnswer)

    def could_hold(self, query: Query, bindings: Bindings) -> bool:
        """Return whether an ASK is true for some values of the cells that are empty."""
        from rdflib import URIRef

        terms: dict[str, Any] = {name: URIRef(iri) for name, iri in bindings.items()}
        if query.text not in self._alternatives:
            self._alternatives[query.text] = self._list_alternatives(query)
        return any(
            self._graph.query(each, initBindings=terms).askAnswer for each in self._alternatives[query.text]
        )

    def find_near_misses(self, asker: "Asker") -> NearMisses:
        """Return what fails one condition of a template only."""
        if asker.name not in self._near_misses:
            self._near_misses[asker.name] = NearMisses(asker, self)
        return self._near_misses[asker.name]

    def check_unknown(self, query: Query, where: str) -> None:
        """Raise `InputError` if a query negates, counts or is optional about cells that are empty."""
        empty = sorted(iri.removeprefix(NAMESPACE) for iri in self._list_empty(query))
        if empty and list_branches(query.prepared.algebra.p, self._unknown) is None:
            raise InputError(
                f"it negates, counts or is optional, but cells of {', '.join(empty)} are empty",
                where,
                "fill these cells, or avoid NOT EXISTS, MINUS, OPTIONAL and counts: values of empty cells "
                "are unknown",
            )

    def _list_empty(self, query: Query) -> set[str]:
        if asks_any_property(query.prepared.algebra):
            return self._unknown
        return self._unknown & {f"{NAMESPACE}{name}" for name in list_named(query.text)}

    def _list_alternatives(self, query: Query) -> list[Any]:
        """Return queries one of which is true if an ASK can be."""
        from rdflib.plugins.sparql.parserutils import CompValue
        from rdflib.plugins.sparql.sparql import Query as Prepared

        empty = self._list_empty(query)
        branches = list_branches(query.prepared.algebra.p, self._unknown) if empty else None
        if branches is None:
            return [query.prepared]
        algebras = [
            CompValue("AskQuery", p=each.pattern, datasetClause=None, PV=[*each.bound], _vars=set(each.bound))
            for each in branches
        ]
        return [Prepared(query.prepared.prologue, algebra) for algebra in algebras]


_NAMED = re.compile(rf"(?<![\w>]):(\w+)|<{NAMESPACE}(\w+)>")


class Branch(NamedTuple):
    """An alternative: a pattern of the algebra, and the variables that it binds."""

    pattern: "CompValue"
    bound: frozenset[Any]


def list_named(text: str) -> set[str]:
    """Return the names of classes and properties in a query."""
    return {first or second for first, second in _NAMED.findall(text)}


def list_branches(pattern: "CompValue", unknown: Collection[str]) -> list[Branch] | None:
    """Return alternatives, one of which is true if a query can be; None if it negates or counts."""
    name = pattern.name
    if name in {"Project", "Distinct", "Reduced"}:
        return list_branches(pattern.p, unknown)
    if name == "BGP":
        choices = [
            list(_list_choices(triple, unknown, place)) for place, triple in enumerate(pattern.triples)
        ]
        return [_make_basic([each for some in chosen for each in some]) for chosen in product(*choices)]
    if name in {"Filter", "Extend"} and "EXISTS" not in str(pattern.expr):
        inner = list_branches(pattern.p, unknown)
        return inner and [_apply(pattern, branch) for branch in inner]
    if name in {"Join", "Union"}:
        return _list_joined(pattern, unknown)
    if name == "ToMultiSet" and pattern.p.name == "values":
        return [Branch(pattern, frozenset(each for row in pattern.p.res for each in row))]
    return None


def _list_joined(pattern: "CompValue", unknown: Collection[str]) -> list[Branch] | None:
    first, second = (list_branches(each, unknown) for each in (pattern.p1, pattern.p2))
    if first is None or second is None:
        return None
    if pattern.name == "Union":
        return [*first, *second]
    return [_join(pattern, one, other) for one, other in product(first, second)]


def list_variables(expression: Any) -> set[Any]:
    """Return the variables of an expression or of triples."""
    from rdflib.term import Variable

    if isinstance(expression, Variable):
        return {expression}
    if isinstance(expression, dict):
        return set().union(*(list_variables(each) for key, each in expression.items() if key != "_vars"))
    if isinstance(expression, (list, tuple)):
        return set().union(*map(list_variables, expression))
    return set()


def list_statements(pattern: Any) -> list[tuple[Any, ...]]:
    """Return the statements of a query whose property is named."""
    from rdflib.term import URIRef

    if getattr(pattern, "name", "") == "BGP":
        return [each for each in pattern["triples"] if isinstance(each[1], URIRef)]
    return [each for part in _list_parts(pattern) for each in list_statements(part)]


def list_compared(pattern: Any) -> set[Any]:
    """Return both sides of the comparisons by size in a query."""
    found: set[Any] = set()
    if isinstance(pattern, dict) and pattern.get("op") in ("<", ">", "<=", ">="):
        found = {pattern["expr"], pattern["other"]}
    return found.union(*map(list_compared, _list_parts(pattern)))


def asks_any_property(pattern: Any) -> bool:
    """Tell whether a statement of a query is of any property: a variable, or all but some."""
    from rdflib.term import Variable

    if getattr(pattern, "name", "") == "BGP":
        return any(isinstance(link, Variable) or _excludes(link) for _, link, _ in pattern["triples"])
    return any(map(asks_any_property, _list_parts(pattern)))


def _excludes(path: Any) -> bool:
    from rdflib.paths import NegatedPath

    parts = [*getattr(path, "args", []), getattr(path, "arg", None), getattr(path, "path", None)]
    return isinstance(path, NegatedPath) or any(_excludes(each) for each in parts if each is not None)


def _list_parts(pattern: Any) -> list[Any]:
    if isinstance(pattern, dict):
        # the entry of an EXISTS lacks its filters, which the attribute has
        return [
            getattr(pattern, key) if key == "graph" else pattern[key] for key in pattern if key != "_vars"
        ]
    return pattern if isinstance(pattern, list) else []


def _make_basic(triples: list[tuple[Any, ...]]) -> Branch:
    from rdflib.plugins.sparql.parserutils import CompValue

    bound = list_variables(triples)
    return Branch(CompValue("BGP", triples=triples, _vars=bound), frozenset(bound))


def _apply(pattern: "CompValue", branch: Branch) -> Branch:
    """Return an alternative under a filter or BIND, without what an empty cell decides of it."""
    is_bind = pattern.name == "Extend"
    for each in [pattern.expr] if is_bind else list_joined(pattern.expr):
        if list_variables(each) <= branch.bound:
            bound = branch.bound | ({pattern.var} if is_bind else set())
            changed = pattern.clone()
            changed.update(p=branch.pattern, expr=each, _vars=set(bound))
            branch = Branch(changed, bound)
    return branch


def list_joined(expression: Any) -> list[Any]:
    """Return the parts of an expression that "and" joins."""
    if getattr(expression, "name", "") == "ConditionalAndExpression":
        return [part for each in (expression.expr, *expression.other) for part in list_joined(each)]
    return [expression]


def _join(pattern: "CompValue", one: Branch, other: Branch) -> Branch:
    bound = one.bound | other.bound
    changed = pattern.clone()
    changed.update(p1=one.pattern, p2=other.pattern, lazy=True, _vars=set(bound))
    return Branch(changed, bound)


def _list_choices(
    triple: tuple[Any, ...], unknown: Collection[str], place: int
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield a pattern of one triple, and its alternatives for empty cells."""
    from rdflib.paths import AlternativePath, InvPath, MulPath, Path, SequencePath
    from rdflib.term import URIRef, Variable

    yield [triple]
    subject, link, other = triple
    if isinstance(link, InvPath) and isinstance(link.arg, URIRef):
        subject, link = other, link.arg
    if isinstance(link, URIRef) and str(link) in unknown:
        yield [(subject, URIRef(UNKNOWN), link)]
    elif isinstance(link, Variable) and unknown:
        yield []
    elif isinstance(link, Path):
        names, plain = _list_properties(link, (AlternativePath, MulPath, SequencePath))
        if not plain:
            yield []
            return
        steps = MulPath(AlternativePath(*names) if len(names) > 1 else names[0], "*")
        for number, name in enumerate(name for name in names if str(name) in unknown):
            last = Variable(f"last_{place}_{number}")
            yield [(subject, steps, last), (last, URIRef(UNKNOWN), name)]


def _list_properties(path: Any, forward: tuple[type, ...]) -> tuple[list[Any], bool]:
    from rdflib.term import URIRef

    if isinstance(path, URIRef):
        return [path], True
    if not isinstance(path, forward):
        return [], False
    parts = [_list_properties(each, forward) for each in getattr(path, "args", [getattr(path, "path", None)])]
    return list(dict.fromkeys(name for names, _ in parts for name in names)), all(plain for _, plain in parts)


class Asker(NamedTuple):
    """A template with its queries, parsed; `where` is for messages."""

    name: str
    template: Template
    select: Query
    ask: Query
    where: str


def read_templates(files: Iterable[Path]) -> dict[str, Asker]:
    """Return the templates of some files by name; raise `InputError` if one is wrong or repeated."""
    found: dict[str, Asker] = {}
    for file in files:
        for name, template in check_values(read_values(file), Templates, str(file)).templates.items():
            where = f"{file}, templates.{name}"
            if name in found:
                raise InputError("two templates have this name", where, f"the other: {found[name].where}")
            found[name] = _parse(name, template, where)
    return found


def _parse(name: str, template: Template, where: str) -> Asker:
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
