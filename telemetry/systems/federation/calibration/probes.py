"""Processor time of servers for each kind of message, and the loads of runs that measure fleets. ``plan`` takes
differences::

discover                 DISCOVER and HERE, outside sessions          discover, together: in one batch
lookup                   LOOKUP and FOUND, a datagram each way        lookup, kept alive: KEEPALIVEs in the same one
lookup, more             several LOOKUPs in one datagram, and their answers in one
lookup, rested           after a sleep, with cold caches; the same of others
subscribe, publish       accepted; nobody else is told
publish, told            the same, and one consumer is told
publish, notified        the same, and ``NOTIFIED`` consumers are told
subtable, forward, query, regtable    at one end of a link, for what a client at the other end did
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.federation.names import SERVICE, broker_name
from overlay.systems.federation.profiles import resolved
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.system import SYSTEM
from overlay.systems.federation.wire import messages as m
from telemetry.calibration.fleets import clients_of
from telemetry.calibration.live import Standing, standing
from telemetry.calibration.speaking import ACKNOWLEDGED_S, PATIENCE_S, RESTS_S, rested, rested_us
from telemetry.errors import TelemetryError
from telemetry.systems.federation.calibration.speaker import Speaker, speaking

MESSAGES, WARMING, PORTIONS = 200, 20, 5
ROUNDS = 20
"""Of messages that lead to many."""
TOGETHER, MORE, NOTIFIED = 32, 20, 20
RESTED = 12
"""Messages after each of ``RESTS_S``."""
OUT_OF_TURN_S = 0.06
"""Between changed registrations, so that each is told alone."""
FINDS = 100
"""The registration service takes 200 messages of one peer at once, those to warm up included."""
KEPT = 2_000
"""Subscriptions for which memory is measured."""
CONTEXTML: Mapping[str, Any] = {"encoding": "contextml"}
PATIENT: Mapping[str, Any] = {"keepalive_s": 3_600, "broker_keepalive_s": 3_600, "cache_cap": 0, "covering": "off"}
"""Nothing but what a probe causes; without covering, as in the published profile, each subscription is told."""
QUIET = {"providers": 1, "consumers": 1, "scopes": 1, "queries": 100, "rate_per_s": 0.01, "stagger_ms": 0}
PUBLISHED: Mapping[str, Any] = {"profile": "published", "cache_cap": 0}
BINARY: Mapping[str, Any] = {"encoding": "msgpack"}
FLEET = {"queries": 1_000, "rate_per_s": 200.0, "stagger_ms": 10, "expiry_s": 5}
"""Of runs that measure clients, with the settings of E1.1, but that providers answer every query."""
SLOW = {"queries": 100, "rate_per_s": 20.0, "stagger_ms": 10, "expiry_s": 5}
"""The same with sleep before each datagram."""
SCOPE = "measured"
CLIENTS = clients_of(SYSTEM)
Found = dict[str, float]
"""Microseconds of processor time by what was done; bytes in ``memory``."""


def server_costs(client: SupervisorClient, _: Path) -> Found:
    """Of a broker. Raises ``TelemetryError``."""
    found: Found = {}
    for name, settings in (("", {}), ("contextml: ", CONTEXTML)):
        with _network(client, 1, settings) as (broker, *_others):
            found |= {name + what: us for what, us in _of_clients(broker, _settings(settings), bool(name)).items()}
    with _network(client, 2, {}) as (near, far, _service):
        found |= _of_links(near, far)
    return found


def service_costs(client: SupervisorClient, _: Path) -> Found:
    """Of the registration service."""
    with _network(client, 1, {}) as (_broker, service), speaking(SERVICE, service, _settings({}), ["p900"]) as (one,):

        def find() -> None:
            one.say(m.Find(one.draw()))
            one.hear(m.Found)

        find()
        idle = service.memory()
        return {"find": _us(service, find, FINDS), **_discoveries(one, service), **_sizes(idle)}


def memory(client: SupervisorClient, _directory: Path) -> Found:
    """Bytes of an idle broker, and of a subscription in its table."""
    with _network(client, 1, {}) as (broker, _), speaking(broker_name(0), broker, _settings({}), ["c900"]) as (one,):
        one.register()
        idle = broker.memory()
        for _ in range(KEPT):
            one.subscribe(one.subscription("nowhere"))
        return {**_sizes(idle), "subscriptions": max(0.0, (broker.memory()[2] - idle[2]) / KEPT)}


# ---- servers


def _settings(values: Mapping[str, Any]) -> Settings:
    return Settings(**resolved({**PATIENT, **values}))


@contextmanager
def _network(client: SupervisorClient, brokers: int, settings: Mapping[str, Any]) -> Iterator[list[Standing]]:
    """A chain of brokers, and the registration service."""
    links = [{"a": number, "b": number + 1} for number in range(brokers - 1)]
    servers = standing(client, "federation", brokers, {**PATIENT, **settings}, QUIET, SYSTEM.name, links)
    with servers as found:
        yield found


def _sizes(sizes: tuple[int, int, int]) -> Found:
    return dict(zip(("idle_rss", "idle_pss", "idle_uss"), map(float, sizes), strict=True))


def _us(server: Standing, act: Callable[[], object], times: int = MESSAGES) -> float:
    return server.cheapest_us(act, times, warming=min(WARMING, times), portions=PORTIONS)


def _rested_us(server: Standing, act: Callable[[], object], rest_s: float, speakers: Sequence[Speaker] = ()) -> float:
    return rested_us(server, act, rest_s, RESTED, speakers)


def _after_rests(server: Standing, what: str, act: Callable[[], object], *speakers: Speaker) -> Found:
    return {rested(what, rest_s): _rested_us(server, act, rest_s, speakers) for rest_s in RESTS_S}


def _discoveries(one: Speaker, server: Standing) -> Found:
    def each() -> None:
        one.discover()
        one.hear(m.Here)

    def together() -> None:
        with server.halted():
            one.discover(TOGETHER)
        for _ in range(TOGETHER):
            one.hear(m.Here)

    return {"discover": _us(server, each), "discover, together": _us(server, together, ROUNDS) / TOGETHER}


def _of_clients(broker: Standing, settings: Settings, is_short: bool) -> Found:
    """``is_short``: only what encodings make different."""
    found: Found = {}
    with speaking(broker_name(0), broker, settings, ["c900"]) as (asking,):
        asking.register()

        def subscribe() -> None:
            asking.subscribe(asking.subscription("nowhere"))

        found |= {"subscribe": _us(broker, subscribe), **_after_rests(broker, "subscribe", subscribe, asking)}
        if not is_short:
            found |= _discoveries(asking, broker)
            found["lookup"] = _us(broker, asking.lookup)
            found["lookup, kept alive"] = _us(broker, lambda: asking.lookup(keepalives=MORE))
            found["lookup, more"] = _us(broker, lambda: asking.lookup(times=MORE), 5 * ROUNDS)
            found |= _after_rests(broker, "lookup", asking.lookup, asking)
    with speaking(broker_name(0), broker, settings, ["p900"]) as (provider,):
        provider.register("unwanted")

        def publish() -> None:
            provider.publish("unwanted")

        found |= {"publish": _us(broker, publish), **_after_rests(broker, "publish", publish, provider)}
    return found | _told(broker, settings) | _notified(broker, settings)


def _told(broker: Standing, settings: Settings) -> Found:
    with speaking(broker_name(0), broker, settings, ["p902", "c902"]) as (provider, consumer):
        provider.register("told")
        consumer.register()
        consumer.subscribe(consumer.subscription("told"))

        def publish() -> None:
            provider.publish("told")
            consumer.hear(m.Notify)

        return {
            "publish, told": _us(broker, publish),
            **_after_rests(broker, "publish, told", publish, provider, consumer),
        }


def _notified(broker: Standing, settings: Settings) -> Found:
    """Nobody else speaks meanwhile, so that no session falls silent."""
    pushing = list[int]()
    names = ["p901", *(f"c{901 + number}" for number in range(NOTIFIED))]
    with speaking(broker_name(0), broker, settings, names) as (provider, *consumers):
        provider.register(SCOPE)
        for one in consumers:
            one.register()
            one.subscribe(one.subscription(SCOPE))
        for _ in range(ROUNDS):
            before = broker.processor_ns()
            provider.publish(SCOPE)
            for one in consumers:
                one.hear(m.Notify)
            pushing.append(broker.processor_ns() - before)
            for one in consumers:  # which acknowledge late
                one.pump(ACKNOWLEDGED_S)
    return {"publish, notified": min(pushing) / 1_000}


def _of_links(near: Standing, far: Standing) -> Found:
    """A consumer at one broker, and a provider at the other: first of one subscription, then of many."""
    settings = _settings({})
    with (
        speaking(broker_name(0), near, settings, ["c900"]) as (consumer,),
        speaking(broker_name(1), far, settings, ["p900"]) as (provider,),
    ):
        consumer.register()
        provider.register(SCOPE)
        _until_found(consumer)
        consumer.subscribe(consumer.subscription(SCOPE))
        provider.hear(m.Offer)

        def subscribe() -> None:
            consumer.subscribe(consumer.subscription(SCOPE))
            provider.hear(m.Offer)

        def publish() -> None:
            provider.say(provider.publication(SCOPE))
            consumer.hear(m.Notify)

        def query() -> None:
            consumer.say(m.Query(consumer.draw(), None, None, (SCOPE,), 5_000))
            asked = provider.hear(m.Query)
            (one,) = provider.publication(SCOPE).publications
            provider.say(m.Answer(asked.req, m.Code.GOOD, (one.notification,)))
            consumer.hear(m.Answer)

        def change() -> None:
            provider.register(SCOPE)
            time.sleep(OUT_OF_TURN_S)

        found = {"forward": _us(near, publish), **_after_rests(near, "forward", publish, consumer, provider)}
        found |= {"query": _us(near, query), "subtable": _us(far, subscribe)}
        found |= _after_rests(far, "subtable", subscribe, consumer, provider)
        return {**found, "regtable, rested": _rested_us(near, change, 0)}


def _until_found(consumer: Speaker) -> None:
    """Until the consumer's broker knows the provider. Raises ``TelemetryError``."""
    for _ in range(round(PATIENCE_S / OUT_OF_TURN_S)):
        consumer.say(m.Lookup(consumer.draw(), SCOPE))
        if consumer.hear(m.Found).found:
            return
        time.sleep(OUT_OF_TURN_S)
    raise TelemetryError("A broker did not hear of a provider at its neighbour.")
