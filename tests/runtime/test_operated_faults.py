"""Faults that an operator begins and ends: what the supervisor writes, a server sees once, also after a restart."""

from __future__ import annotations

import pytest

from overlay.core.errors import WaxwingError
from overlay.deployment.deployment import Deployment
from overlay.runtime.operated_faults import OperatedFaults
from overlay.systems.registry import SYSTEMS

KNOWN = (("127.0.0.1", 7000), ("127.0.0.1", 7001), ("127.0.0.1", 7002))


@pytest.fixture
def deployment():
    settings = SYSTEMS["federation"].whole({"mobile_brokers": "1"})
    topology = {"brokers": 2, "links": [{"a": 0, "b": 1}]}
    return Deployment.from_json(
        {
            "id": "n",
            "kind": "network",
            "epoch": 1,
            "directory": "/unused",
            "seed": 1,
            "system": "federation",
            "topology": topology,
            "settings": settings,
            "workload": None,
            "lease_s": None,
            "version": 0,
            "members": {},
        }
    )


def seen(server):
    return [(fault.what, begins) for fault, begins in server.look()]


def test_a_server_sees_each_order_once_and_a_restarted_one_what_still_lasts(deployment):
    orders = OperatedFaults()
    server = orders.of(deployment, 1)
    server.begin()
    assert seen(server) == []
    orders.set(deployment, 1, "offline", True)
    assert orders.set(deployment, 1, "offline", True) is None, "it is offline already"
    orders.set(deployment, 1, "move", True)
    assert (seen(server), seen(server)) == ([("offline", True), ("move", True)], [])
    assert orders.active() == {1: ["offline"]}
    server.begin()
    assert seen(server) == [("offline", True)], "it has its radio off, and does not move again"
    orders.set(deployment, 1, "offline", False)
    assert (seen(server), orders.active()) == ([("offline", False)], {})


def test_the_supervisor_learns_the_port_to_which_a_server_has_moved(deployment):
    orders = OperatedFaults()
    server = orders.of(deployment, 1)
    server.begin()
    assert orders.addresses(KNOWN) == KNOWN
    server.moved(("127.0.0.1", 9000))
    assert orders.addresses(KNOWN)[1] == ("127.0.0.1", 9000)


@pytest.mark.parametrize(("index", "name"), [(0, "offline"), (1, "vanish"), (2, "offline")])
def test_only_mobile_brokers_can_be_operated(deployment, index, name):
    with pytest.raises(WaxwingError, match="has no fault"):
        OperatedFaults().set(deployment, index, name, True)
