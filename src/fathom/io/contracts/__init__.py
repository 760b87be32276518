"""Contracts of all tables, by room; see fathom.io.tables and fathom.io.delimited for their use."""

from collections.abc import Iterator
from importlib import import_module

from fathom.io.contracts.column import Contract

ROOMS = (
    "corpus", "benchmark", "coverage", "scoring", "statistics", "studies", "layers", "answering", "questions",
    "ranking", "jobs", "figures",
)  # fmt: skip
"""Modules of contracts, in the order of a run."""


def list_contracts() -> Iterator[tuple[str, Contract]]:
    """Yield the contracts of all tables that are files, with their rooms."""
    seen: list[Contract] = []
    for room in ROOMS:
        for value in vars(import_module(f"{__name__}.{room}")).values():
            if isinstance(value, Contract) and value.files and value not in seen:
                seen.append(value)
                yield room, value
