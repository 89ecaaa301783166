"""What the exchanges of a client are is said by its role: requests, updates, or neither."""

from __future__ import annotations

import pytest

from overlay.systems.registry import SYSTEMS, asking_roles
from overlay.systems.roles import REQUESTS, UPDATES, ClientRole
from tests.systems.echo import Echo


class Roles(Echo):
    name = "roles"
    client_roles = {
        "caller": ClientRole("callers", REQUESTS),
        "searcher": ClientRole("searching", REQUESTS),
        "writer": ClientRole("writers", UPDATES),
        "listener": ClientRole("listeners"),
    }


class Silent(Echo):
    name, client_roles = "silent", {}


def test_roles_are_told_apart_by_their_exchanges_and_processes_by_their_names():
    system = Roles()
    assert (system.asking_roles, system.updating_roles) == (("caller", "searcher"), ("writer",))
    assert [system.client_role(name) for name in ("searching-0", "listeners-3", "echo-0")] == [
        "searcher",
        "listener",
        "",
    ]
    assert [system.asks(name) for name in ("callers-1", "searching-0", "writers-0", "listeners-0", "supervisor")] == [
        *(True, True),
        *(False, False, False),
    ]


def test_a_system_without_requests_is_asked_for_none(monkeypatch: pytest.MonkeyPatch):
    before = asking_roles()
    monkeypatch.setitem(SYSTEMS, "silent", Silent())
    assert (Silent().asking_roles, Silent().asks("callers-0"), asking_roles()) == ((), False, before)
    monkeypatch.setitem(SYSTEMS, "roles", Roles())
    assert set(asking_roles()) == {*before, "caller", "searcher"}
