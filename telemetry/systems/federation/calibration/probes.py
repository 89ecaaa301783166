"""Processor time of servers for each kind of message, and of fleets for each datagram. ``plan`` takes differences::

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
from statistics import median
from typing import Any, NamedTuple

from overlay.core.engines import SIMULATED
from overlay.core.processes import role_of
from overlay.core.service_times import Costs, ServiceModel
from overlay.deployment.deployment import Deployment
from overlay.journal.facts import Tick
from overlay.journal.journal import read_journal
from overlay.runtime.calibrated import reference
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.sim.engine import simulate
from overlay.systems.federation.names import SERVICE, broker_name
from overlay.systems.federation.profiles import resolved
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.system import SYSTEM
from overlay.systems.federation.wire import messages as m
from telemetry.calibration.live import Standing, files_of, run, standing
from telemetry.errors import TelemetryError
from telemetry.systems.federation.calibration.speaker import PATIENCE_S, Speaker, speaking

MESSAGES, WARMING, PORTIONS = 200, 20, 5
ROUNDS = 20
"""Of messages that lead to many."""
TOGETHER, MORE, NOTIFIED = 32, 20, 20
RESTS_S = (0.001, 0.004, 0.012, 0.04, 0.12)
RESTED = 12
"""Messages after each of these sleeps."""
SETTLED_S = 0.002
"""After an answer was heard, until the server sleeps again."""
OUT_OF_TURN_S = 0.06
"""Between changed registrations, so that each is told alone."""
ACKNOWLEDGED_S = 0.05
"""Twice as long as a client waits with an acknowledgement, or longer."""
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
CLIENTS = tuple(role.processes for role in SYSTEM.client_roles.values())
Found = dict[str, float]
"""Microseconds of processor time by what was done; bytes in ``memory``."""


class Fleet(NamedTuple):
    """What a group of clients did in a run."""

    spent_us: float
    """Processor time."""
    datagrams: float
    """Sent and received."""
    kilobytes: float
    """In them; 1,000 bytes."""


def rested(what: str, seconds: float) -> str:
    return f"{what}, rested {1_000 * seconds:g} ms"


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


def fleet_costs(
    client: SupervisorClient, directory: Path, workload: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Fleet]:
    """By group of clients, in a run with one broker.

    Datagrams and bytes are counted in virtual time, where each takes the clients 1 µs and the others none.
    """
    document = document_of(
        directory.name,
        directory,
        brokers=1,
        links=(),
        settings={**PUBLISHED, **settings},
        workload=workload,
        seed=1,
        system=SYSTEM.name,
    )
    spent = _spent_us(run(client, document).journals())
    datagrams = _counted(document, "datagrams", Costs(0, 1, 1))
    kilobytes = _counted(document, "kilobytes", Costs(0, 0, 0, kilobyte_us=1))
    return {name: Fleet(spent[name], max(1.0, datagrams[name]), kilobytes[name]) for name in CLIENTS}


def _counted(document: Mapping[str, Any], what: str, each: Costs) -> Found:
    """The processor time of clients, µs, with these costs."""
    counted = {**document, "directory": f"{document['directory']}-{what}"}
    files = files_of(counted, SIMULATED)
    deliveries = reference().deliveries
    assert deliveries is not None, "the reference has deliveries"
    costs = {**dict.fromkeys(SYSTEM.role_names, Costs(0, 0, 0)), **dict.fromkeys(CLIENTS, each)}
    simulate(Deployment.from_json(counted, SIMULATED), ServiceModel(costs, deliveries))
    return _spent_us(files.journals())


def _spent_us(journals: Any) -> Found:
    """Processor time of each group of clients between its first tick and its last."""
    ticks: dict[str, list[int]] = {}
    for path in journals:
        for fact in read_journal(path):
            if isinstance(fact, Tick) and role_of(fact.process) in CLIENTS:
                ticks.setdefault(role_of(fact.process), []).append(fact.cpu_us)
    return {name: float(max(found) - min(found)) for name, found in ticks.items()}


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
    """Of one ``act`` after a sleep: the median, so that what the server does once a second does not count. Between
    two, ``speakers`` acknowledge what they heard, so that nothing is sent again."""
    spent = []
    for _ in range(RESTED):
        for one in speakers:
            one.pump(ACKNOWLEDGED_S / len(speakers))
        time.sleep(rest_s)
        before = server.processor_ns()
        act()
        time.sleep(SETTLED_S)
        spent.append(server.processor_ns() - before)
    return median(spent) / 1_000


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
