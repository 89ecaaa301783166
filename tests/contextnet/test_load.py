"""Applications of a workload."""

from __future__ import annotations

from overlay.load.windows import Windows
from overlay.log.node import Assignment
from overlay.systems.contextnet.load.fleet import Fleet
from overlay.systems.contextnet.load.plans import ClientPlan
from overlay.systems.contextnet.load.times import schedule
from overlay.systems.contextnet.names import APPLICATION
from overlay.systems.contextnet.records.records import Inbound, Message
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.workload import Workload
from tests.contextnet.records_of import gateway_list, node, presence, record


def application(**fields):
    settings, workload = Settings(), Workload(nodes=8, messages=4, **fields)
    windows = Windows.of(schedule(settings, workload), 0, 0)
    plans, gateways = [ClientPlan(APPLICATION, 0)], [("192.0.2.1", 4_000)]
    fleet = Fleet(plans, gateways, settings, workload, windows, seed=1, secret=bytes(32), wall_offset_ns=0)
    (made,) = fleet.clients
    made.assigned([Assignment(one.topic, one.group, 0, 0) for one in made.subscriptions()], 0)
    return made


def asked(number):
    message = Message(bytes([number]) * 16, node(7).hex(), "inbound", 1, reply_to=node(7).hex())
    return record("inbound", Inbound(message, "gateway-0", 3), node(7))


def test_messages_wait_until_it_knows_where_nodes_are():
    """An answer that is sent before goes to the store, which waits for the next report of the node."""
    made = application()
    made.receive_records([asked(1), presence(7, 0, 3), asked(2)], 1)
    assert (made.records_to_append(), made.next_timer()) == ([], None)
    made.receive_records([gateway_list(1, 0)], 2)
    assert made.next_timer() <= 2
    made.handle_timer(2)
    assert [one.topic for one in made.records_to_append()] == ["gateway.0", "gateway.0"]
    made.receive_records([asked(3)], 3)
    assert [one.topic for one in made.records_to_append()] == ["gateway.0"], "at once"
