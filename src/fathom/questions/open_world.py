"""What an ASK could answer if empty cells held anything: options are wrong only if it cannot be true.

A query is taken apart into alternatives, in each of which some of its patterns are met by an empty cell.
"""

import re
from collections.abc import Collection, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.questions.ontology import NAMESPACE, UNKNOWN

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue

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
    """Return alternatives of two patterns, both or either of which are needed."""
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
    """Tell whether a path goes along all properties but some."""
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
    """Yield a pattern of one triple as it stands, and as empty cells meet it."""
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
    """Return the properties of a path, and whether it goes forward only."""
    from rdflib.term import URIRef

    if isinstance(path, URIRef):
        return [path], True
    if not isinstance(path, forward):
        return [], False
    parts = [_list_properties(each, forward) for each in getattr(path, "args", [getattr(path, "path", None)])]
    return list(dict.fromkeys(name for names, _ in parts for name in names)), all(plain for _, plain in parts)
