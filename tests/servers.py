"""Stubs of servers on this machine, for tests."""

import os

import pytest

from fathom.planning.rehearsal.hub_stub import listen

__all__ = ["forget_servers", "listen"]


def forget_servers(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Forget the variables of other servers: proxies, and those with a word in their names."""
    for each in [each for each in os.environ if each.lower().endswith("_proxy") or name in each]:
        monkeypatch.delenv(each)
