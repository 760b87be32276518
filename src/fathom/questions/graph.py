"""The ontology as an RDF graph, and queries over it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import require_file
from fathom.questions.ontology import NAMESPACE

PREFIXES = (
    f"PREFIX : <{NAMESPACE}>\n"
    "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
    "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
)
"""What every query may use without saying so."""

_KNOWN = {"rdfs", "xsd"}
_PREFIX = re.compile(r"(?<![\w:?$])([A-Za-z][\w-]*):")
_QUOTED = re.compile(r"<[^<>\s]*>|\"[^\"]*\"|'[^']*'|#[^\n]*")

Bindings = Mapping[str, str]
"""IRIs by the name of a variable."""


class Query:
    """A query, parsed once.

    Parameters
    ----------
    text : str
        SPARQL without prefixes.
    kind : str
        `SELECT` or `ASK`.
    where : str
        Where it stands, for messages.

    Raises
    ------
    InputError
        If it is no valid query of the kind, or asks another server.
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
            raise InputError("it asks elsewhere", where, "remove SERVICE and FROM: tables alone are asked")

    @property
    def variables(self) -> set[str]:
        """All variables that the query names."""
        return {str(each) for each in self.prepared.algebra["_vars"]}

    @property
    def columns(self) -> set[str]:
        """Variables that a SELECT gives."""
        return {str(each) for each in self.prepared.algebra["PV"]}


class OntologyGraph:
    """Statements in memory.

    Parameters
    ----------
    path : Path
        N-Triples, as :func:`fathom.questions.ontology.write_statements` writes them.
    """

    def __init__(self, path: Path) -> None:
        from rdflib import Graph

        self._graph = Graph().parse(require_file(path), format="nt")

    def __len__(self) -> int:
        """Return the number of statements."""
        return len(self._graph)

    def select(self, query: Query) -> Iterator[dict[str, str]]:
        """Yield the rows of a SELECT: IRIs and plain values by variable, those that are bound."""
        for row in self._graph.query(query.prepared).bindings:
            yield {str(name): str(value) for name, value in row.items()}

    def ask(self, query: Query, bindings: Bindings) -> bool:
        """Return the answer of an ASK with some of its variables put in."""
        from rdflib import URIRef

        terms: dict[str, Any] = {name: URIRef(iri) for name, iri in bindings.items()}
        return bool(self._graph.query(query.prepared, initBindings=terms).askAnswer)
