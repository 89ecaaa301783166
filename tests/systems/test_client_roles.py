"""What the exchanges of a client are is said by its role: requests, updates, or neither."""

from __future__ import annotations

import json
from dataclasses import asdict

import pyarrow as pa
import pyarrow.parquet as pq

from brokerweb.comparison.distribution import _answered
from overlay.journal.facts import Sample
from overlay.systems.registry import SYSTEMS
from overlay.systems.roles import REQUESTS, UPDATES, ClientRole
from telemetry.lake.runs import Lake
from tests.systems.echo import Echo
from tests.systems.two_speeds import TwoSpeedsPlan


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


def test_a_system_without_requests_is_asked_for_none():
    assert (Silent().asking_roles, Silent().asks("callers-0")) == ((), False)


def test_a_distribution_is_of_the_requests_of_the_runs_own_system(monkeypatch, tmp_path):
    lake = Lake(tmp_path)
    for system in (Roles(), Silent()):
        monkeypatch.setitem(SYSTEMS, system.name, system)
        lake.manifest_path(system.name).parent.mkdir(parents=True, exist_ok=True)
        lake.manifest_path(system.name).write_text(json.dumps({"system": system.name}))
        part = lake.part("samples", system.name)
        part.parent.mkdir(parents=True)
        rows = [asdict(answered(role)) for role in ("caller", "writer", "consumer")]  # the last is another system's
        pq.write_table(pa.Table.from_pylist(rows), part)
    assert _answered(lake, "roles").tolist() == [250]
    assert _answered(lake, "silent").tolist() == []


def answered(role):
    return Sample(role, 0, 0, "measuring", "answered", 0, 1, 100, 110, 350, "a|b|c", 0)


def test_calibration_times_the_requests_of_the_measured_system_only():
    took_us = TwoSpeedsPlan().took_us
    assert [took_us(answered(role), Roles()) for role in ("caller", "writer", "consumer")] == [250, None, None]
    assert took_us(answered("caller"), Silent()) is None
