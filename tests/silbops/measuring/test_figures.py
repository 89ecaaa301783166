"""The measures of small runs, from the facts that clients and brokers report."""

from __future__ import annotations

from typing import Any

from overlay.journal.facts import Event, HandOver, Tick
from overlay.systems.silbops import names
from overlay.systems.silbops.load.plans import client_id
from overlay.systems.silbops.measuring import measures
from overlay.systems.silbops.rows import (
    Advertised,
    ContextSet,
    Delivered,
    Limits,
    Processed,
    Published,
    Refused,
    Served,
    Subscribed,
    Told,
    row,
)
from overlay.systems.silbops.workload import Workload
from telemetry.systems.silbops.measures import MEASURES
from tests.silbops.clients.world import publisher_key
from tests.silbops.load.world import FleetWorld

S = 1_000_000
BEGIN, DRAINING, END = 10 * S, 60 * S, 70 * S
FIRE = '[["kind","=","fire"]]'
NEAR = "this.x - 20 <= pub.x and pub.x <= this.x + 20"
CAMERA, VEHICLE = "publisher-0", "subscriber-0"


def event(at_us: int, name: str, **detail: Any) -> Event:
    return Event("supervisor", at_us, name, detail)


def tick(process: str, at_us: int, **counters: int) -> Tick:
    return Tick(process, at_us, counters, "", 0, 0, 0, 0)


def attached(client: str, key: str) -> Event:
    return event(0, "ClientAttached", client=client_id(client).hex(), publisher=key, is_resumed=False)


def story(*more: Any) -> list[Any]:
    """A camera and a vehicle that is near it; measuring begins at 10 s."""
    phases = [("measuring", BEGIN), ("draining", DRAINING), ("ending", END)]
    rows = [
        Limits(100, 30, False, [-1, 0]),
        Advertised(CAMERA, 1, "[]", ["x"], [], S),
        Subscribed(VEHICLE, 1, FIRE, NEAR, S),
        ContextSet(VEHICLE, '{"x":5}', S, S, S + 50, True),
        Served(CAMERA, 1, 1, 0, ""),
        Served(VEHICLE, 0, 1, 0, ""),
    ]
    return [
        *(event(at, "phase", phase=phase) for phase, at in phases),
        *(attached(client, key) for client, key in ((CAMERA, "ca"), (VEHICLE, "fe"))),
        *(row(0, one) for one in rows),
        *(one if isinstance(one, Event | Tick | HandOver) else row(0, one) for one in more),
    ]


def published(number: int, at: int, x: int = 0) -> Published:
    return Published(CAMERA, number, '{"kind":"fire"}', f'{{"x":{x}}}', "", at, at + 10)


def delivered(number: int, at: int) -> Delivered:
    return Delivered(VEHICLE, "ca", number, [1], at)


def test_deliveries_and_losses_of_measuring() -> None:
    found = measures(
        story(
            published(1, 5 * S),
            published(2, 20 * S),
            published(3, 21 * S),
            published(4, 22 * S, x=900),
            published(5, 23 * S),
            Refused(CAMERA, 5, 7, "no advertisement", 23 * S),
            delivered(1, 5 * S + 500),
            delivered(2, 20 * S + 500),
            delivered(4, 22 * S + 500),
        )
    )
    counted = ("publications", "refused", "due", "deliveries", "lost", "spurious", "duplicates")
    assert [found[name] for name in counted] == [4, 1, 2, 2, 1, 1, 0]
    assert found["latency_mean_us"] == 500


def test_every_measure_is_described_once() -> None:
    described = [one.path[1] for one in MEASURES]
    assert sorted(described) == sorted(names.MEASURES) == sorted(measures(story()))


def test_a_run_with_nothing_to_measure_has_no_means() -> None:
    found = measures(story())
    assert (found["publications"], found["lost"], found["latency_mean_us"], found["messages_per_change"]) == (
        0,
        0,
        None,
        None,
    )


def test_live_states_of_a_second_before_and_after_count() -> None:
    def due(changed_at: int) -> Any:
        change = ContextSet(VEHICLE, '{"x":900}', changed_at, changed_at, changed_at + 50, True)
        found = measures(story(change, published(1, 20 * S)))
        return found["due"], found["lost"]

    assert due(21 * S + S) == (1, 1)
    assert due(20 * S + S // 2) == (0, 0)
    assert due(19 * S + S // 2) == (0, 0)


def test_simulated_brokers_say_when_they_have_processed_what() -> None:
    def about(kind: str, number: int, *times: int, key: str = "fe") -> list[Processed | Told]:
        """At the client's broker, and at its neighbour each time that it is told."""
        first, *rest = times
        own = [Processed(key, kind, number, "b0", "", first)]
        heard = [Processed(key, kind, number, "b1", "b0", one) for one in rest]
        told = [Told(key, kind, number, "b0", "b1", first if one < first + S else one) for one in rest]
        return [*own, *heard, *told]

    at = 20 * S
    found = measures(
        story(
            ContextSet(VEHICLE, '{"x":900}', at, at, at + 2_000, True),
            ContextSet(VEHICLE, '{"x":3}', at + 50_000, at + 50_000, at + 52_000, True),
            *about("context", 2, at + 1_000, at + 3_000),
            *about("context", 3, at + 51_000, at + 55_000, at + 9 * S),  # the last one: to a neighbour that is back
            published(7, at + 4_000),
            *about("publication", 7, at + 4_500, at + 6_000, key="ca"),
            published(8, at + 56_000),
            *about("publication", 8, at + 57_000, key="ca"),
            delivered(7, at + 7_000),
        )
    )
    assert (found["spurious"], found["due"], found["lost"]) == (1, 1, 1)
    assert found["change_effective_mean_us"] == (3_000 + 5_000) / 2
    assert found["change_accepted_mean_us"] == 2_000


def test_messages_for_a_change_are_counted_where_only_changes_cause_them() -> None:
    changes = [ContextSet(VEHICLE, f'{{"x":{x}}}', 20 * S + x, 20 * S + x, 20 * S + x + 5, x > 1) for x in range(1, 4)]
    ticks = [
        tick("broker-0", 9 * S, out_ctx=100, out_ok=1, candidates=10),
        tick("broker-0", 59 * S, out_ctx=104, out_ok=9, candidates=40, rows_subscriptions=7, rows_forwarded=3),
        tick("broker-0", 69 * S, out_ctx=104, out_sub=1, candidates=40, rows_subscriptions=1, rows_forwarded=1),
        tick("subscribers-0", 69 * S, out_setctx=3, repeats=2),
    ]
    found = measures(story(*changes, *ticks, published(1, 20 * S)))
    assert (found["context_changes"], found["messages_per_change"]) == (2, (4 + 1 + 3) / 2)
    assert (found["rows"], found["rows_forwarded"], found["candidates_per_publication"]) == (7, 3, 30)
    assert found["repeats"] == 2
    moved = HandOver("subscriber", 0, 0, 1, "measuring", "done", 20 * S, 21 * S, -1)
    assert measures(story(*changes, *ticks, moved))["messages_per_change"] is None


def test_messages_for_a_change_are_not_told_apart_from_those_of_rows_that_end() -> None:
    change = ContextSet(VEHICLE, '{"x":1}', 20 * S, 20 * S, 20 * S + 5, True)
    ticks = [tick("broker-0", 9 * S), tick("broker-0", 69 * S, out_unsub=4)]
    ended = event(30 * S, "ValidityEnded", client="fe", table="subscriptions", id=1)
    assert measures(story(change, *ticks))["messages_per_change"] == 4
    assert measures(story(change, *ticks, ended))["messages_per_change"] is None


def test_nothing_is_due_by_what_has_ended_and_nobody_may_get_it() -> None:
    """A second after the end of its validity, all brokers know."""
    vehicle = event(30 * S, "ValidityEnded", client=client_id(VEHICLE).hex(), table="subscriptions", id=1)
    camera = event(50 * S, "ValidityEnded", client=client_id(CAMERA).hex(), table="advertisements", id=1)
    publications = [published(number, at * S) for number, at in ((1, 20), (2, 30), (3, 40), (4, 41))]
    found = measures(story(vehicle, *publications, delivered(1, 20 * S + 500), delivered(3, 40 * S + 500)))
    assert (found["due"], found["lost"], found["spurious"]) == (1, 0, 1)
    refused = Refused(CAMERA, 5, 7, "", 55 * S)
    found = measures(story(camera, published(1, 20 * S), published(5, 55 * S), delivered(1, 20 * S + 500), refused))
    assert (found["due"], found["lost"], found["refused"]) == (1, 0, 1)


def test_counters_of_a_broker_that_starts_again_begin_at_0() -> None:
    change = ContextSet(VEHICLE, '{"x":1}', 20 * S, 20 * S, 20 * S + 5, True)
    ticks = [tick("broker-0", at * S, out_ctx=value) for at, value in ((9, 100), (30, 104), (40, 3), (69, 5))]
    assert measures(story(change, *ticks))["messages_per_change"] == 4 + 3 + 2


def test_messages_per_second_have_those_that_tell_contexts_of_publishers() -> None:
    sent = {"out_publish": 10, "out_pub": 20, "out_pctx": 5, "out_unsub": 15, "out_notify": 900, "out_ok": 900}
    ticks = [tick("broker-0", 9 * S), tick("broker-0", 69 * S, **sent), tick("subscribers-0", 69 * S, out_setctx=50)]
    assert measures(story(*ticks))["messages_per_s"] == (10 + 20 + 5 + 15 + 50) / 50
    assert measures(story())["messages_per_s"] is None


def test_what_comes_after_a_later_publication_of_its_publisher_is_late() -> None:
    numbers = [*range(2, 6), 3, 4, 7, 6]
    came = [delivered(number, 20 * S + at) for at, number in enumerate(numbers)]
    other = Delivered("subscriber-1", "ca", 1, [1], 21 * S)
    assert measures(story(*came, other))["late"] == 3


def test_processor_time_is_that_of_notifications_and_of_all_messages_of_a_change() -> None:
    changes = [ContextSet(VEHICLE, f'{{"x":{x}}}', 20 * S + x, 20 * S + x, 20 * S + x + 5, True) for x in (1, 2)]
    ticks = [
        tick("broker-0", 9 * S, in_publish=1, busy_publish_us=100, busy_subscribe_us=50),
        tick("broker-0", 69 * S, in_publish=3, busy_publish_us=160, busy_subscribe_us=62, busy_unsubscribe_us=8),
        tick("broker-1", 69 * S, in_pub=2, busy_pub_us=20, busy_sub_us=900),
    ]
    found = measures(story(*changes, *ticks))
    assert (found["notification_core_us"], found["change_core_us"]) == ((60 + 20) / 4, (12 + 8) / 2)
    subscribed = Subscribed(VEHICLE, 2, FIRE, "", 30 * S)
    assert measures(story(*changes, *ticks, subscribed))["change_core_us"] is None
    untimed = measures(story(*changes, tick("broker-0", 69 * S, in_publish=3)))
    assert (untimed["notification_core_us"], untimed["change_core_us"]) == (None, None)


def test_a_fault_excuses_what_is_lost_in_it() -> None:
    fault = event(20 * S, "fault_began", what="partition", islands=[[0], [1]], at_s=10, until_s=12)
    found = measures(story(fault, published(1, 21 * S), published(2, 50 * S)))
    assert (found["lost_fault"], found["lost"]) == (1, 1)


def test_a_run_at_brokers_that_lose_nothing_has_no_losses() -> None:
    workload = Workload(
        publishers=2, subscribers=3, filters_max=3, attribute_names=12, string_values=3, square_km=60, duration_s=8
    )
    for arm in ("silbops", "siena"):
        world = FleetWorld(workload, brokers=2, arm=arm)
        world.finish()
        windows = world.windows
        phases = [("measuring", windows.measuring), ("draining", windows.end), ("ending", windows.drained)]
        facts = [
            *(event(at // 1_000, "phase", phase=phase) for phase, at in phases),
            *(attached(driven.life.name, f"{publisher_key(driven.id):016x}") for driven in world.clients),  # type: ignore[attr-defined]
            *(fact for driven in world.clients for fact in driven.facts),  # type: ignore[attr-defined]
        ]
        found = measures(facts)
        assert found["publications"] == 16
        assert found["deliveries"] == len(world.rows(Delivered)) > 0
        assert (found["lost"], found["spurious"], found["duplicates"]) == (0, 0, 0)
