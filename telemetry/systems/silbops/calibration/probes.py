"""Processor time of brokers for each kind of message. ``plan`` takes differences::

setctx                   SETCTX and OK, a datagram each way          setctx, together: of many clients in one batch
setctx, more             several in one datagram, and their answers in one
setctx, rested           after a sleep, with cold caches; the same of others
unsubscribe, advertise   answered; no other client or broker is told
replace                  ``REPLACED`` times UNSUBSCRIBE and SUBSCRIBE in one datagram, as SIENA changes contexts
replace, sent on         the same, and another broker is told
publish                  before a SETCTX in one datagram; nobody is notified        publish, more: several of them
publish, told            the same, and one client is notified; with ``more`` in one datagram
publish, notified        the same, and ``NOTIFIED`` clients are notified
publish, candidates      ``CANDIDATES`` subscriptions match its content: the publisher's own, which are not tested
publish, tested          as many of another client, whose function is false
ctx, unsub, replace, far    at the far end of a link, for what a client at the other end did
pub                      at the near end, where one client is notified
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.silbops.names import SIENA
from overlay.systems.silbops.profiles import resolved
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.system import SYSTEM
from overlay.systems.silbops.wire import messages as m
from telemetry.calibration.live import Standing, standing
from telemetry.calibration.speaking import ACKNOWLEDGED_S, RESTS_S, rested, rested_us
from telemetry.systems.silbops.calibration.speaker import HERE, Speaker, speaking

MESSAGES, WARMING, PORTIONS = 200, 20, 5
ROUNDS = 20
"""Of messages that lead to many."""
TOGETHER, MORE, NOTIFIED = 16, 20, 20
REPLACED = 5
"""As many as fit into one datagram."""
CANDIDATES = 500
"""More than ``scope_batch``, so they are tested together."""
RESTED = 12
"""Messages after each of ``RESTS_S``."""
KEPT = 2_000
"""Subscriptions for which memory is measured."""
ADVERTISED_S = 0.1
"""Until a neighbour knows an advertisement."""
QUIET = {"publishers": 1, "subscribers": 0, "publish_interval_s": 3_600, "duration_s": 3_600, "stagger_ms": 0}
FLEET = {"publishers": 5, "subscribers": 50, "publish_interval_s": 0.1, "context_interval_s": 0.1, "stagger_ms": 10}
"""Of runs that measure clients."""
SLOW = {**FLEET, "publish_interval_s": 1.0, "context_interval_s": 1.0}
"""The same with sleep before each datagram."""
AT_ONCE = {**FLEET, "notifications": 5_000, "changes": 20_000}
"""The same without sleep: as fast as the broker takes them."""
IN_SIENA = {"arm": SIENA}
"""Its clients send long messages."""
PATIENT = {"keep_s": 3_600}
"""Clients that are silent are away, and their subscriptions stay."""
FAR = {"x": 0.0, "y": 0.0}
Found = dict[str, float]
"""Microseconds of processor time by what was done; bytes in ``memory``."""


def broker_costs(client: SupervisorClient, _: Path) -> Found:
    """Raises ``TelemetryError``."""
    with _network(client, 1) as (broker,):
        found = _of_clients(broker) | _of_publications(broker) | _notified(broker) | _candidates(broker)
    with _network(client, 2) as (near, far):
        found |= _of_links(near, far)
    with _network(client, 2, IN_SIENA) as (near, far):
        return found | _replaced(near, far)


def memory(client: SupervisorClient, _: Path) -> Found:
    """Bytes of an idle broker, and of a subscription in its tables."""
    with _network(client, 1) as (broker,), speaking(broker, _settings(), ["keeps"]) as (one,):
        idle = broker.memory()
        for number in range(KEPT):
            one.subscribe(f"kind {number}")
        each = max(0.0, (broker.memory()[2] - idle[2]) / KEPT)
        return {**dict(zip(("idle_rss", "idle_pss", "idle_uss"), map(float, idle), strict=True)), "each": each}


def _settings(arm: Mapping[str, Any] = {}) -> Settings:
    return Settings(**resolved({**PATIENT, **arm}))


@contextmanager
def _network(client: SupervisorClient, brokers: int, arm: Mapping[str, Any] = {}) -> Iterator[list[Standing]]:
    """A chain of brokers."""
    links = [{"a": number, "b": number + 1} for number in range(brokers - 1)]
    with standing(client, SYSTEM.name, brokers, {**PATIENT, **arm}, QUIET, SYSTEM.name, links) as found:
        yield found


def _us(broker: Standing, act: Callable[[], object], times: int = MESSAGES) -> float:
    return broker.cheapest_us(act, times, warming=min(WARMING, times), portions=PORTIONS)


def _after_rests(broker: Standing, what: str, act: Callable[[], object], *speakers: Speaker) -> Found:
    return {rested(what, rest_s): rested_us(broker, act, rest_s, RESTED, speakers) for rest_s in RESTS_S}


def _of_clients(broker: Standing) -> Found:
    names = [f"changes {number}" for number in range(TOGETHER)]
    with speaking(broker, _settings(), names) as several:
        one = several[0]

        def together() -> None:
            with broker.halted():
                for each in several:
                    each.say(each.change())
            for each in several:
                each.hear(m.Ok)

        return {
            "setctx": _us(broker, one.set_context),
            "setctx, more": _us(broker, lambda: one.set_context(MORE), 5 * ROUNDS),
            "setctx, together": _us(broker, together, ROUNDS) / TOGETHER,
            **_after_rests(broker, "setctx", one.set_context, one),
            "unsubscribe": _unsubscribing(broker, one),
            "advertise": _us(broker, one.advertise),
        }


def _unsubscribing(broker: Standing, one: Speaker) -> float:
    numbers = [one.subscribe(f"kind {number}") for number in range(MESSAGES)]
    return _us(broker, lambda: one.unsubscribe(numbers.pop()), MESSAGES // 2)


def _replaced(near: Standing, far: Standing) -> Found:
    """A subscriber changes context at one broker: first alone, then with a publisher at the other broker, to which its
    subscriptions are forwarded."""
    settings = _settings(IN_SIENA)
    with speaking(near, settings, ["replaces"]) as (one,), speaking(far, settings, ["publishes"], 1) as (publisher,):
        numbers: Sequence[int] = [one.subscribe(f"first {turn}", is_near=False) for turn in range(REPLACED)]

        def replace() -> None:
            nonlocal numbers
            numbers = one.replace(numbers, "of a box")

        alone = {"replace": _us(near, replace, 5 * ROUNDS), **_after_rests(near, "replace", replace, one)}
        publisher.advertise()
        time.sleep(ADVERTISED_S)
        told = {"replace, sent on": _us(near, replace, 5 * ROUNDS), "replace, far": _us(far, replace, 5 * ROUNDS)}
        return {**alone, **told, **_after_rests(far, "replace, far", replace, one, publisher)}


def _published(publisher: Speaker, kind: str, heard: Sequence[Speaker], times: int = 1) -> Callable[[], None]:
    def act() -> None:
        publisher.publish(kind, times)
        for each in heard:
            for _ in range(times):
                each.hear(m.Notify)

    return act


def _of_publications(broker: Standing) -> Found:
    """To one client. A client that is silent for seconds is away, so each of these has few."""
    with speaking(broker, _settings(), ["publishes", "hears"]) as (publisher, one):
        publisher.advertise()
        one.go(HERE)
        one.subscribe("of one")
        told, told_more = (_published(publisher, "of one", [one], times) for times in (1, MORE))
        return {
            "publish, told": _us(broker, told),
            "publish, told, more": _us(broker, told_more, 5 * ROUNDS),
            **_after_rests(broker, "publish, told", told, publisher, one),
            "publish": _us(broker, _published(publisher, "of nobody", ())),
            "publish, more": _us(broker, _published(publisher, "of nobody", (), MORE), 5 * ROUNDS),
        }


def _notified(broker: Standing) -> Found:
    names = ["to many", *(f"hears {number}" for number in range(NOTIFIED))]
    with speaking(broker, _settings(), names) as (publisher, *hearers):
        publisher.advertise()
        for one in hearers:
            one.go(HERE)
            one.subscribe("of many")
        act, spent = _published(publisher, "of many", hearers), list[int]()
        for _ in range(ROUNDS):
            before = broker.processor_ns()
            act()
            spent.append(broker.processor_ns() - before)
            for one in hearers:  # which acknowledge late
                one.pump(ACKNOWLEDGED_S / NOTIFIED)
        return {"publish, notified": min(spent) / 1_000}


def _candidates(broker: Standing) -> Found:
    with speaking(broker, _settings(), ["to itself", "is far"]) as (publisher, far):
        publisher.advertise()
        far.go(FAR)
        for _ in range(CANDIDATES):
            publisher.subscribe("of the publisher", is_near=False)
            far.subscribe("of one that is far")
        kinds = {"publish, candidates": "of the publisher", "publish, tested": "of one that is far"}
        return {what: _us(broker, _published(publisher, kind, ()), 5 * ROUNDS) for what, kind in kinds.items()}


def _of_links(near: Standing, far: Standing) -> Found:
    """A subscriber at one broker, and a publisher at the other."""
    with (
        speaking(near, _settings(), ["subscribes"]) as (subscriber,),
        speaking(far, _settings(), ["publishes"], 1) as (publisher,),
    ):
        publisher.advertise()
        time.sleep(ADVERTISED_S)
        subscriber.go(HERE)
        subscriber.subscribe("of one")
        time.sleep(ADVERTISED_S)

        def publish() -> None:
            publisher.publish("of one")
            subscriber.hear(m.Notify)

        at_near = {"pub": _us(near, publish), **_after_rests(near, "pub", publish, subscriber, publisher)}
        at_far = {
            "ctx": _us(far, subscriber.set_context),
            **_after_rests(far, "ctx", subscriber.set_context, subscriber),
        }
        return {**at_near, **at_far, "unsub": _unsubscribing(far, subscriber)}
