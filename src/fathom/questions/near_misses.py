"""Wrong answers that fail one condition only, of those that a query joins by "and"."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fathom.questions.open_world import list_joined, list_variables

if TYPE_CHECKING:
    from fathom.questions.graph import OntologyGraph
    from fathom.questions.templates import Asker

Found = dict[tuple[str, ...], list[str]]


class NearMisses:
    """What meets all conditions of a template's ASK but one, for each of them.

    A condition is a statement about an entity or a filter. Each query is evaluated once, over the whole
    graph.

    Parameters
    ----------
    asker : Asker
    graph : OntologyGraph
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
        """Return what fails each condition alone, or is right, for what a question is about."""
        found = (pool.get(tuple(about[name] for name in keys), []) for keys, pool in self._pools)
        return [members for members in found if members]


def _list_conditions(pattern: Any) -> list[Any]:
    """Return statements and filters that are joined by "and"; none if a query does anything else."""
    filters: list[Any] = []
    while pattern.name in {"Project", "Filter"}:
        if pattern.name == "Filter":
            filters += list_joined(pattern.expr)
        pattern = pattern.p
    if pattern.name != "BGP" or any("EXISTS" in str(each) for each in filters):
        return []
    return [*pattern.triples, *filters]


def _split(conditions: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """Return statements, and filters."""
    every = list(conditions)
    return [each for each in every if type(each) is tuple], [
        each for each in every if type(each) is not tuple
    ]


def _tells(condition: Any) -> bool:
    """Say whether a condition is more than the class or the name of an entity."""
    from rdflib.namespace import RDF, RDFS

    return type(condition) is not tuple or condition[1] not in (RDF.type, RDFS.label)


def _select_connected(conditions: Sequence[Any], answer: Any, about: set[Any]) -> list[Any]:
    """Return the conditions that bear on the answer, without filters that lack a variable."""
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
