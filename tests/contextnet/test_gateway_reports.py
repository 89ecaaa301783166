"""What a gateway says of itself and its nodes, and what it does when told by others."""

from __future__ import annotations

from dataclasses import replace

from overlay.systems.contextnet.gateway.pings import MOST_SPREAD
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.records import (
    GatewayList,
    HandOver,
    HelloPoa,
    Message,
    Outbound,
    PingConfig,
    Presence,
    Ranked,
)
from overlay.systems.contextnet.transport import controls
from overlay.systems.contextnet.transport.events import Answered, Arrived, Ended, Ending
from overlay.systems.contextnet.transport.packets import Kind
from overlay.systems.cores import Usage
from tests.contextnet.site import GATEWAY, WALL, Site

BREAK_MS = 32_000
"""A connection without a sample of its round trip is broken after 1 + 2 + 4 + 8 + 8 + 8 s."""
OTHER = "127.0.0.1", 4_001


def presence(site):
    return [(found.node, found.epoch, found.connected) for found in site.records("presence")]


def list_gateways(site, version=1, score=1.0):
    site.feed("gw_list", GatewayList(version, (Ranked("gateway-1", OTHER, 2.0), Ranked("gateway-0", GATEWAY, score))))


def told(phone, kind):
    return [event.data for event in phone.heard(Arrived) if event.kind is kind]


def test_a_gateway_announces_itself_once_it_knows_groups_and_presence():
    site = Site(nodes=0)
    assert site.records("hello_poa") == [HelloPoa("gateway-0", GATEWAY, WALL // 1_000_000, 20_000)]
    site.feed("presence", Presence(b"n" * 16, "gateway-1", 3, True), key=b"n" * 16)
    site.log.clear()
    site.start()
    assert not site.gateway.is_ready
    assert (site.room("groupcast"), site.room("gateway.0")) == (256, 256), "there are no groups to be read"
    site.reread("presence")
    site.feed("presence", Presence(b"n" * 16, "gateway-1", 3, True), key=b"n" * 16)
    assert site.gateway.is_ready
    assert len(site.records("hello_poa")) == 1


def test_presence_follows_connections_and_their_epochs():
    site = Site()
    (phone,) = site.phones
    phone.is_on = False
    site.give(phone)
    site.run(BREAK_MS)
    assert presence(site) == [(phone.id, 1, True)], "while it lingers it is present"
    phone.is_on = True
    phone.end.ping(0, site.now)
    site.drain(phone)
    site.run(5_000)
    phone.end.close(site.now)
    site.drain(phone)
    site.run(100)
    epoch = phone.end.epoch
    assert presence(site) == [(phone.id, 1, True), (phone.id, epoch, True), (phone.id, epoch, False)]
    assert [type(event).__name__ for event in site.noted] == [
        "NodeConnected",
        "NodeSilent",
        "NodeConnected",
        "NodeDisconnected",
    ]
    assert (site.noted[-1].reason, site.noted[-1].undelivered) == ("done", 0)


def test_a_node_that_is_seen_elsewhere_with_a_higher_epoch_is_closed_as_superseded():
    site = Site()
    (phone,) = site.phones
    site.feed("presence", Presence(phone.id, "gateway-1", 1, True), key=phone.id)
    assert phone.id in site.gateway.end.members, "its epoch is not higher"
    phone.is_on = False
    site.give(phone)
    site.feed("presence", Presence(phone.id, "gateway-1", 2, True), key=phone.id)
    site.run(100)
    assert [(found.reason, found.epoch) for found in site.records("unsent")] == [("broken", 1)]
    assert presence(site) == [(phone.id, 1, True)], "that it left is older than what the other gateway said"
    site.give(phone)
    assert site.records("unsent")[-1].epoch == 2


def test_what_is_older_does_not_hide_a_node_in_the_topic_of_presence():
    site = Site()
    (phone,) = site.phones
    phone.end.close(site.now)
    site.drain(phone)
    phone.connect()
    site.run(100)
    site.feed("presence", Presence(phone.id, "gateway-1", 1, False), key=phone.id)
    assert presence(site)[-1] == (phone.id, 2, True)


def test_nodes_of_an_earlier_life_are_gone_after_a_restart():
    site = Site(nodes=0)
    gone, elsewhere = b"g" * 16, b"e" * 16
    told = [
        (gone, Presence(gone, "gateway-0", 4, True)),
        (elsewhere, Presence(elsewhere, "gateway-0", 5, True)),
        (elsewhere, Presence(elsewhere, "gateway-1", 6, True)),
    ]
    site.positions["presence"] = 3
    site.start()
    site.reread("presence")
    for node, found in told:
        site.feed("presence", found, key=node)
    assert presence(site) == [(gone, 4, False)]


def test_each_round_pings_all_nodes_and_reports_the_pongs_that_came_in_time():
    site = Site(5, config={"ping_period_s": 20, "ping_window_ms": 1_000})
    site.phones[3].is_on = False
    site.run(20_000 + MOST_SPREAD // 10**6 + 1_000)
    (report,) = site.records("connection_report")
    assert (report.seq, report.part, report.parts, report.pinged, report.window_ms) == (0, 0, 1, 5, 1_000)
    assert sorted(pong.node for pong in report.pongs) == sorted(phone.id for phone in site.phones if phone.is_on)
    assert {pong.rtt_us for pong in report.pongs} == {2_000}
    assert {held.node: held.epoch for held in report.nodes} == {phone.id: 1 for phone in site.phones}
    assert (report.at - report.ping_sent_at) == 6_000_000


def test_a_pong_after_its_window_is_only_counted():
    site = Site(config={"ping_period_s": 20, "ping_window_ms": 10})
    site.run(20_000 - 101)
    site.phones[0].is_on = False
    site.run(5_020)
    (report,) = site.records("connection_report")
    assert (report.pinged, report.pongs) == (1, ())
    site.gateway.pings.answered(Answered(site.phones[0].id, 1))
    assert site.gateway.counters["late_pongs"] == 1


def test_a_report_of_many_nodes_comes_in_parts_of_4096():
    site = Site(nodes=0, config={"ping_period_s": 20})

    class Member:
        epoch, is_open = 3, True

    nodes = [number.to_bytes(16, "big") for number in range(5_000)]
    site.run(20_000)
    site.gateway.end.opened = lambda: nodes
    site.gateway.end.members = dict.fromkeys(nodes, Member)
    site.gateway.pings.report()
    parts = [record.value for record in site.gateway.records_to_append()]
    assert len(parts) == 2
    found = [codec.read("connection_report", part) for part in parts]
    assert [(one.part, one.parts, len(one.nodes)) for one in found] == [(0, 2, 4_096), (1, 2, 904)]


def test_a_window_as_long_as_its_round_ends_with_a_report():
    site = Site(config={"ping_period_s": 20})
    site.feed("ping_config", PingConfig(2, 20_000, 3))
    site.run(30_500)
    assert len(site.records("connection_report")) == 5


def test_the_ping_period_follows_the_newest_configuration():
    site = Site(config={"ping_period_s": 20})
    site.feed("ping_config", PingConfig(2, 500, 3))
    site.feed("ping_config", PingConfig(50, 500, 2))
    site.feed("ping_config", PingConfig(50, 500, 9), key=b"gateway-1")
    site.run(30_000)
    assert len(site.records("connection_report")) == 5
    assert site.records("connection_report")[0].window_ms == 500


def test_the_load_is_reported_each_period():
    site = Site(2, load_report_s=5, pool_size=8)
    site.phones[0].send()
    site.phones[1].is_on = False
    site.give(site.phones[1])
    site.gateway.set_usage(Usage(1_000_000, 20_000_000, 8_000_000_000, 6_000_000_000), site.now)
    site.run(4_000)
    site.gateway.set_usage(Usage(1_400_000, 20_000_000, 8_000_000_000, 6_000_000_000), site.now)
    site.run(1_000)
    (report,) = site.records("load_report")
    assert (report.seq, report.connections, report.messages_in, report.messages_out) == (0, 2, 1, 1)
    assert (report.pool_size, report.pool_used, report.queue) == (8, 0, 1)
    assert report.cpu == 0.1
    assert (report.memory.free, report.memory.total) == (6_000_000_000, 8_000_000_000)
    assert report.process_memory.total - report.process_memory.free == 20_000_000


def test_in_virtual_time_a_tenth_of_the_memory_is_used():
    site = Site(load_report_s=5)
    site.run(5_000)
    (report,) = site.records("load_report")
    assert round(1 - report.memory.free / report.memory.total, 6) == 0.1


def test_a_given_capacity_replaces_the_measured_load():
    site = Site(3, load_report_s=5, config={"capacity": 4})
    site.run(5_000)
    assert site.records("load_report")[0].cpu == 0.75


def test_nodes_are_told_the_list_of_gateways_when_it_changes_and_when_they_come():
    site = Site(2, is_connected=False)
    early, late = site.phones
    early.connect()
    site.run(100)
    list_gateways(site, 1)
    site.run(6_000)
    late.connect()
    site.run(100)
    expected = controls.GatewayList(1, (controls.Gateway(OTHER, 255), controls.Gateway(GATEWAY, 128)))
    for phone in site.phones:
        assert [controls.read_gateway_list(data) for data in told(phone, Kind.GATEWAY_LIST)] == [expected]
    list_gateways(site, 2)
    site.run(6_000)
    assert len(told(early, Kind.GATEWAY_LIST)) == 1, "it is the same but for its version"
    list_gateways(site, 3, score=2.0)
    site.run(6_000)
    assert [len(told(phone, Kind.GATEWAY_LIST)) for phone in site.phones] == [2, 2]
    list_gateways(site, 4, score=0)
    site.run(6_000)
    drained = controls.GatewayList(4, (controls.Gateway(OTHER, 255), controls.Gateway(GATEWAY, 0)))
    assert controls.read_gateway_list(told(early, Kind.GATEWAY_LIST)[-1]) == drained, "nodes try it last"


def test_an_order_to_move_reaches_its_node():
    site = Site(2)
    for key in (b"gateway-1", b"gateway-0"):
        site.feed("handover", HandOver(7, site.phones[1].id, (OTHER,), "load"), key=key)
    site.run(100)
    assert [len(told(phone, Kind.HAND_OVER)) for phone in site.phones] == [0, 1]
    assert controls.read_hand_over(told(site.phones[1], Kind.HAND_OVER)[0]) == controls.HandOver(7, (OTHER,))
    assert site.settled("handover") == 2


def test_a_gateway_that_leaves_closes_its_connections_one_after_the_other_and_takes_no_more():
    site = Site(4, evict_per_s=2)
    list_gateways(site)
    site.run(6_000)
    for phone in site.phones:
        phone.is_on = phone is not site.phones[1]
        site.give(phone)
    site.run(100)
    took = site.gateway.leave(site.now)
    site.drain(None)
    site.run(100)
    assert took == 3_000_000_000
    assert len(site.gateway.end.members) == 3
    site.run(took / 10**6)
    assert len(site.gateway.end.members) == 0
    on = [phone for phone in site.phones if phone.is_on]
    assert all(phone.heard(Ended)[0].reason is Ending.SHUTTING_DOWN for phone in on)
    assert [(key, found.reason) for key, found in site.log["unsent"]] == [(site.phones[1].id, "broken")]
    assert site.settled() == 4
    assert not any(phone.end.is_open for phone in on), "it refuses them"


def test_with_routing_to_everyone_one_gateway_answers_for_a_node_that_is_nowhere():
    site = Site(nodes=1, config={"is_everyone": True})
    list_gateways(site)
    theirs, ours, unseen = b"t" * 16, b"o" * 16, b"u" * 16
    site.feed("presence", Presence(theirs, "gateway-1", 3, False), key=theirs)
    site.feed("presence", Presence(ours, "gateway-0", 3, False), key=ours)
    for node in (theirs, ours, unseen, site.phones[0].id):
        message = Message(bytes(16), "applications-0", node.hex(), site.wall_us)
        site.feed("outbound", Outbound(message), key=node)
    site.run(100)
    assert [key for key, _ in site.log["unsent"]] == [ours, unseen], "gateway-0 is the lowest that is listed"
    assert (len(site.phones[0].messages), site.settled("outbound")) == (1, 4)


def test_with_routing_to_everyone_who_is_behind_answers_for_what_came_before_a_node_moved():
    """The gateway that has the node now may have passed over it, when another one had it."""
    site = Site(nodes=0, config={"is_everyone": True})
    list_gateways(site)
    moved = b"m" * 16
    site.feed("presence", Presence(moved, "gateway-0", 3, True), key=moved, ago_s=60)
    site.feed("presence", Presence(moved, "gateway-1", 4, True), key=moved, ago_s=5)
    site.feed("presence", Presence(moved, "gateway-1", 5, True), key=moved, ago_s=1)
    for ago_s in (6, 4):
        message = Message(bytes([ago_s]) * 16, "applications-0", moved.hex(), site.wall_us)
        site.feed("outbound", Outbound(message), key=moved, ago_s=ago_s)
    assert [found.message.id[0] for found in site.records("unsent")] == [6], "gateway-1 has seen to the later one"
    assert site.settled("outbound") == 2


def test_a_gateway_says_again_that_it_runs_and_has_no_room_while_an_operator_drains_it():
    site = Site(nodes=0)
    first = site.records("hello_poa")[0]
    site.gateway.fault({"what": "drain"}, True, site.now)
    site.drain(None)
    assert site.records("hello_poa") == [first, replace(first, capacity=0)]
    site.run(300_000)
    assert site.records("hello_poa")[2:] == [replace(first, capacity=0)]
    site.gateway.fault({"what": "drain"}, False, site.now)
    site.drain(None)
    assert site.records("hello_poa")[3:] == [first]
