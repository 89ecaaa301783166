"""The structured arm as ten processes over real UDP."""

from collections.abc import Callable

import pytest

from overlay.programs.context_broker.client import ContextClient, NotFound
from tests.runtime.daemons import Daemon, ring
from tests.waiting import wait_for

BROKERS = 10
QUICK = ("--arm", "structured", "--dht-refresh-ms", "300", "--dht-timeout-ms", "200")


def contacts(daemon: Daemon) -> int:
    return ContextClient([daemon.address]).statistics()["contacts"]


def copies(clients: list[ContextClient]) -> int:
    return sum(client.statistics()["entries"] for client in clients)


def test_ten_brokers_keep_and_find_and_survive_crashes(start_daemon: Callable[..., Daemon]) -> None:
    daemons = [start_daemon(*QUICK) for _ in range(BROKERS)]
    ring(daemons)
    wait_for(lambda: all(contacts(daemon) == BROKERS - 1 for daemon in daemons), "all know all")
    clients = [ContextClient([daemon.address]) for daemon in daemons]
    keys = [("room", f"r{i}", "climate") for i in range(30)]
    for i, key in enumerate(keys):
        clients[i % BROKERS].provide("p", key, b"n=%d" % i, 600_000)
    found = [clients[(7 * i + 3) % BROKERS].ask(key).payload for i, key in enumerate(keys)]
    assert found == [{"n": str(i)} for i in range(30)]
    wait_for(lambda: copies(clients) == 3 * len(keys), "three copies of each")
    with pytest.raises(NotFound):
        clients[0].ask(("room", "nowhere", "climate"))

    for dead in daemons[:2]:
        dead.end()
    living = clients[2:]
    wait_for(lambda: all(contacts(daemon) == BROKERS - 3 for daemon in daemons[2:]), "the dead are forgotten")
    wait_for(lambda: copies(living) >= 3 * len(keys), "three copies of each again")
    found = [living[i % len(living)].ask(key).payload for i, key in enumerate(keys)]
    assert found == [{"n": str(i)} for i in range(30)]
