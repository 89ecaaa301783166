"""Figures of several roles are never one mean: each role has its own, and a measure finds it by a path."""

from __future__ import annotations

from overlay.journal.facts import Connection, Delivery, Sample, Tick
from overlay.systems.roles import REQUESTS, UPDATES, ClientRole
from telemetry.lake.records import SOME, to_table
from telemetry.measures import Measure
from telemetry.summary import by_role
from telemetry.summary.processes import Servers, broker_memory
from tests.systems.echo import SYSTEM, Echo
from tests.systems.echo_directory import SYSTEM as TWO_ROLES

SECOND_US = 1_000_000


class Searching(Echo):
    client_roles = {
        "caller": ClientRole("callers", REQUESTS),
        "searcher": ClientRole("searchers", REQUESTS),
        "writer": ClientRole("writers", UPDATES),
    }


def sample(role, took_us, phase="measuring"):
    return Sample(role, 1, 0, phase, "answered", 102, 1, 100, 110, 100 + took_us, "e", 0)


def delivery(role, delay_us):
    return Delivery(role, 1, 0, "measuring", "news", 100, 100 + delay_us, 1)


def tables(samples=(), deliveries=(), connections=()):
    facts = {"samples": samples, "deliveries": deliveries, "connections": connections}
    return {name: to_table(name, facts.get(name, ())) for name in ("samples", *SOME)}


def of_clients(system, **facts):
    return by_role.of_clients(system, tables(**facts), SECOND_US)


def test_two_roles_that_request_have_response_times_of_their_own():
    samples = [sample("caller", 200), sample("searcher", 900), sample("searcher", 5, "warming"), sample("writer", 7)]
    clients = of_clients(Searching(), samples=samples)["clients"]
    assert {role: (found["requests"], found["p50_us"]) for role, found in clients.items()} == {
        "caller": (1, 200.0),
        "searcher": (1, 900.0),
    }
    slow = Measure("searching", "Search", "us", ("clients", "searcher", "p50_us"), "lower")
    assert slow.of({"clients": clients}) == 900


def test_a_role_that_is_alone_in_what_it_does_is_the_figures_of_all():
    assert of_clients(SYSTEM, samples=[sample("caller", 200)], deliveries=[delivery("caller", 5)]) == {}


def test_receivers_of_two_roles_have_delays_of_their_own():
    deliveries = [delivery("phone", 50), delivery("phone", 70), delivery("car", 900)]
    connections = [Connection("phone", 1, 0, "measuring", "closed", 1, 2, 3, "")]
    clients = of_clients(SYSTEM, deliveries=deliveries, connections=connections)["clients"]
    assert {role: found["deliveries"]["delay_us"]["max"] for role, found in clients.items()} == {
        "phone": 70,
        "car": 900,
    }
    assert "connections" not in clients["phone"], "only phones have them"


def test_only_a_declared_gauge_is_the_memory_of_tables():
    class WithTable(Echo):
        table_gauge = "held_bytes"

    ticks = [
        Tick("echo-0", at_us, {"bytes": 9, "held_bytes": held}, "", 0, 0, 0, 0) for at_us, held in ((1, 40), (2, 60))
    ]
    assert [broker_memory(one, 0, ticks, 0, 0, 5)["table_bytes"] for one in (WithTable(), SYSTEM)] == [50, None]


def test_servers_of_two_roles_have_memory_and_processor_time_of_their_own():
    names = ("echo-0", "echo-1", "directory-0")
    kinds = dict.fromkeys(("rss_bytes", "pss_bytes", "uss_bytes", "over_idle_bytes", "table_bytes"))
    memory = [{**kinds, "index": index, "rss_bytes": rss} for index, rss in enumerate((10, 30, 500))]
    cores = {"echo-0": 0.25, "echo-1": 0.5, "directory-0": 0.125, "callers-0": 0.9}
    found = by_role.of_servers(Servers(TWO_ROLES, names), memory, cores)["servers"]
    assert {role: (one["memory"]["rss_bytes"], one["cores_used"]) for role, one in found.items()} == {
        "echo": (20, 0.75),
        "directory": (500, 0.125),
    }
    assert by_role.of_servers(Servers(SYSTEM, ("echo-0",)), memory[:1], cores) == {}
