"""Applications of a workload, and nodes that share a socket."""

from __future__ import annotations

from overlay.core.chance import Stream
from overlay.core.node import SECOND
from overlay.load.windows import Windows
from overlay.log.node import Assignment
from overlay.systems.contextnet.keys import node_secret
from overlay.systems.contextnet.load.fleet import Fleet
from overlay.systems.contextnet.load.plans import ClientPlan
from overlay.systems.contextnet.load.times import schedule
from overlay.systems.contextnet.names import APPLICATION, NODE
from overlay.systems.contextnet.records.records import Inbound, Message
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.gateway import GatewayEnd
from overlay.systems.contextnet.workload import Workload
from tests.contextnet.records_of import gateway_list, node, presence, record

GATEWAY, SOCKET = ("192.0.2.1", 4_000), ("192.0.2.9", 40_000)


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


def sharing(nodes, life=1):
    """A fleet of nodes with one socket, and a gateway that answers at once."""
    settings, workload = Settings(), Workload(nodes=nodes, fleet_sockets="one", connect_interval_ms=100)
    windows = Windows.of(schedule(settings, workload), 0, 0)
    plans, secret = [ClientPlan(NODE, number) for number in range(nodes)], bytes(32)
    fleet = Fleet(plans, [GATEWAY], settings, workload, windows, seed=1, secret=secret, wall_offset_ns=0)
    gateway = GatewayEnd(0, b"g" * 32, lambda id: Secret(node_secret(secret, id)), settings, Stream(life))
    return fleet, gateway


def run(shared, gateway, until):
    """Until that second."""
    while True:
        now = min(due for one in (shared, gateway) if (due := one.next_timer()) is not None)
        if now > until * SECOND:
            return
        shared.handle_timer(now)
        gateway.handle_timer(now)
        while sent := shared.datagrams_to_send():
            shared.check_invariants()
            assert {(lane, to) for lane, _, to in sent} == {(0, GATEWAY)}
            gateway.receive_datagrams([(data, SOCKET) for _, data, _ in sent], now)
            for data, to in gateway.datagrams_to_send():
                assert to == SOCKET
                shared.receive_datagram(0, data, GATEWAY, now)
        shared.check_invariants()
        gateway.check_invariants()


def test_connections_and_handshakes_tell_apart_nodes_that_share_a_socket():
    fleet, gateway = sharing(5)
    (shared,) = fleet.clients
    run(shared, gateway, 3)
    assert sorted(gateway.opened()) == [node(number) for number in range(5)]
    assert len({member.connection.address for member in gateway.members.values()}) == 1


def test_a_node_that_starts_anew_after_a_restart_of_its_gateway_gets_what_is_for_it():
    fleet, gateway = sharing(3)
    (shared,) = fleet.clients
    run(shared, gateway, 3)
    restarted = sharing(3, life=2)[1]
    restarted.gate.secret_of = gateway.gate.secret_of
    run(shared, restarted, 120)
    assert len(restarted.opened()) == 3, "each heard the RESET of its connection"


def test_what_is_for_none_of_them_is_counted():
    fleet, gateway = sharing(2)
    (shared,) = fleet.clients
    run(shared, gateway, 3)
    strange = bytes([0x15, 0, *bytes(40)]), bytes([0x12, *bytes(36)]), b"", b"\x25", bytes([0x11, *bytes(255)])
    assert not any(shared.receive_datagram(0, data, GATEWAY, 3 * SECOND) for data in strange)
    assert {name: fleet.tally.counters[name] for name in ("unknown", "length", "version", "type")} == {
        "unknown": 2,
        "length": 1,
        "version": 1,
        "type": 1,
    }
