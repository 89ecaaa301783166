"""The measures of small runs, from the facts that clients and servers report."""

from __future__ import annotations

import pytest

from overlay.journal.facts import Connection, Delivery, Event, HandOver, Sample, Tick
from overlay.systems.contextnet.measuring.figures import measures
from overlay.systems.contextnet.names import MEASURES, answer_id, node_id
from overlay.systems.contextnet.rows import (
    Absence,
    Cast,
    ContextSet,
    Dropped,
    Held,
    Planned,
    Repeated,
    Shifted,
    Stayed,
    Unanswered,
    entity,
    row,
)

S = 1_000_000
BEGIN, END, DRAINED = 100 * S, 700 * S, 760 * S


def event(at_us, name, process="supervisor", **detail):
    return Event(process, at_us, name, detail)


def phases():
    return [event(BEGIN, "phase", phase="measuring"), event(END, "phase", phase="draining")]


def id_of(number):
    return bytes([number]) * 16


def sample(number, outcome="answered", rtt_ms=5.0, node=0, role="node", at=BEGIN, order=0):
    times = at, at, at + round(rtt_ms * 1_000)
    return Sample(role, node, 0, "measuring", outcome, 0, 1, *times, entity(id_of(number), node, order), 0)


def figures(*facts):
    found = measures([*phases(), *facts])
    assert set(found) == set(MEASURES)
    columns = ("delivered", "late", "expired", "evicted", "refused", "lost")
    assert found["sent"] == sum(found[name] for name in columns), "each message is in one column of the ledger"
    return found


def tick(process, at_us, **counters):
    return Tick(process, at_us, counters, "", 0, 0, 0, 0)


def test_nothing_is_divided_by_nothing():
    found = figures()
    assert found["sent"] == 0
    assert found["te"] is found["rtt_mean_us"] is found["nodes_with_all_share"] is found["group_wrong"] is None


def test_each_message_is_delivered_late_dropped_refused_or_lost():
    found = figures(
        sample(1),
        sample(2, "timed_out", node=1),
        sample(3, "timed_out", node=1),
        sample(4, "timed_out", node=2),
        sample(5, "timed_out", node=2),
        sample(6, "refused", node=3),
        sample(7, "timed_out", node=3),
        sample(8, "timed_out", node=4),
        sample(9, "timed_out", node=4),
        row(0, Unanswered(id_of(8).hex())),
        row(0, Held(id_of(2).hex())),
        row(0, Held(answer_id(id_of(3)).hex())),
        row(0, Stayed(id_of(4).hex(), 2, BEGIN, END, "expired")),
        row(0, Stayed(id_of(5).hex(), 2, BEGIN, END, "evicted")),
        row(0, Dropped(id_of(9).hex())),
        row(0, Repeated(id_of(1).hex(), END)),
        row(0, Repeated(id_of(99).hex(), END)),
    )
    wanted = {"sent": 9, "delivered": 1, "late": 2, "expired": 2, "evicted": 1, "refused": 2, "lost": 1}
    assert {name: found[name] for name in wanted} == wanted
    assert found["duplicates"] == 1, "only of messages that were due while measuring"
    assert found["te"] == pytest.approx(100 / 9)
    assert found["nodes_with_all_share"] == 20


def test_disconnecting_nodes_and_directions_are_told_apart():
    found = figures(
        row(0, Planned([], 10, [1])),
        sample(1, rtt_ms=10),
        sample(2, rtt_ms=30, node=1),
        sample(3, "timed_out", node=1),
        sample(4, rtt_ms=4_000, node=1, role="application"),
        row(0, Stayed(id_of(4).hex(), 1, BEGIN, BEGIN + 4 * S, "sent")),
    )
    assert (found["te_fixed"], found["te_disconnecting"]) == (100, pytest.approx(200 / 3))
    assert (found["te_inbound"], found["te_outbound"]) == (pytest.approx(200 / 3), 100)
    assert found["nodes_with_all_share"] == 0, "of disconnecting nodes"
    assert found["rtt_mean_us"] == (10_000 + 30_000 + 4_000_000) / 3
    assert found["rtt_fixed_p50_us"] == 10_000
    assert found["share_within_20ms"] == pytest.approx(100 / 3)
    assert found["share_over_2s_disconnecting"] == 50
    assert found["stored_delay_mean_s"] == 4


def test_a_connection_breaks_once_though_it_lingers_first():
    def gone(at, name, node, **detail):
        return event(at, name, "gateway-0", node=node_id(node).hex(), epoch=1, **detail)

    found = figures(
        sample(1, "timed_out"),
        sample(2, "timed_out"),
        row(0, Absence(1, BEGIN + 10 * S, BEGIN + 40 * S)),
        row(0, Absence(2, BEGIN + 10 * S, BEGIN + 40 * S)),
        gone(BEGIN + 22 * S, "NodeSilent", 1),
        gone(BEGIN + 82 * S, "NodeDisconnected", 1, reason="broken", undelivered=0),
        gone(BEGIN + 24 * S, "NodeDisconnected", 2, reason="broken", undelivered=0),
        gone(BEGIN + 25 * S, "NodeDisconnected", 3, reason="done", undelivered=0),
    )
    assert (found["breaks"], found["detect_mean_s"], found["lost_per_break"]) == (2, 13, 1)


def test_hand_overs_count_and_later_ones_per_minute():
    def move(at):
        return HandOver("node", 1, 0, 1, "measuring", "done", at, at, -1)

    moves = [move(BEGIN + at * S) for at in (10, 20, 320, 350, 400)]
    assert figures(*moves)["handovers"] == 5
    assert figures(*moves)["handovers_per_min"] == 3 / 5, "from 300 s on, five minutes"
    drained = [event(BEGIN + 420 * S, "fault_began"), event(BEGIN + 500 * S, "fault_ended")]
    assert figures(*moves, *drained)["handovers_per_min"] is None, "what comes before a fault does not count"
    drained = [event(BEGIN + 10 * S, "fault_began"), event(BEGIN + 60 * S, "fault_ended")]
    assert figures(*moves, *drained)["handovers_per_min"] == 1 / 4, "from 360 s on"


def test_loads_are_even_when_the_highest_is_near_the_mean():
    def ticks(at, *connections):
        return [tick(f"gateway-{n}", BEGIN + at * S, connections=count) for n, count in enumerate(connections)]

    story = [row(0, Planned([100, 50], 100, []))]
    for at, loads in (
        (100, (90, 0)),
        (200, (70, 20)),
        (300, (62, 28)),
        (400, (60, 30)),
        (500, (60, 30)),
        (600, (60, 30)),
    ):
        story += ticks(at, *loads)
    found = figures(*story)
    assert found["seconds_to_even"] == 300
    assert found["max_load_over_mean"] == pytest.approx((1.0508 + 3 * 1) / 4, abs=1e-3)


def test_counters_grow_from_the_start_of_measuring():
    found = figures(
        tick("gateway-0", BEGIN, transport_repeated=4, out_inbound=10),
        tick("applications-0", BEGIN, handled=10),
        tick("gateway-0", BEGIN + 100 * S, transport_repeated=5, out_inbound=60),
        tick("applications-0", BEGIN + 100 * S, handled=40),
        tick("gateway-0", BEGIN + 200 * S, transport_repeated=7, out_inbound=110),
        tick("applications-0", BEGIN + 200 * S, handled=70),
        tick("nodes-0", BEGIN, repeated=1),
        tick("nodes-0", DRAINED, repeated=3),
    )
    assert found["repeats"] == 5
    assert found["app_queue_slope"] == pytest.approx(0.2), "20 more each 100 s"


def test_a_new_address_costs_the_next_message_time():
    usual = [sample(n, node=1, at=BEGIN + n * S, order=n) for n in range(8)]
    after = sample(9, node=1, at=BEGIN + 9 * S, rtt_ms=25)
    found = figures(*usual, after, row(0, Shifted(1, BEGIN + 8 * S + 1)))
    assert found["path_extra_ms"] == 20


def test_what_arrives_within_measuring_is_goodput():
    found = figures(sample(1), sample(2), sample(3, at=END - 1, rtt_ms=30_000))
    assert found["goodput_per_s"] == 2 / 600


def test_groups_are_judged_where_they_are_certain():
    def came(node, id):
        return Delivery("node", node, 0, "measuring", id_of(id).hex(), BEGIN + 50 * S, BEGIN + 50 * S, 1)

    def lost_connection(node):
        return Connection("node", node, 0, "measuring", "lost", BEGIN, BEGIN, END, "broken")

    story = [
        *(row(0, ContextSet(node, [group], BEGIN)) for node, group in ((0, 1), (1, 1), (2, 3), (3, 1), (4, 1))),
        row(0, ContextSet(3, [2], BEGIN + 49 * S)),
        lost_connection(4),
        row(0, Cast(id_of(7).hex(), 0, 1, BEGIN + 50 * S)),
    ]
    assert figures(*story, came(0, 7), came(1, 7))["group_wrong"] == 0
    assert figures(*story, came(0, 7))["group_wrong"] == 1, "one is missing"
    assert figures(*story, came(0, 7), came(1, 7), came(2, 7))["group_wrong"] == 1, "one is outside"
    ended = event(BEGIN + 51 * S, "process_ended")
    assert figures(*story, ended)["group_wrong"] is None, "it was still under way"
