"""Estimated quantities of a run. Pure."""

from __future__ import annotations

from math import ceil, log2

from overlay.load.expectations import FLEET_SIZE, Expected, Kept, Recorded
from overlay.systems.federation.names import Routing
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.workload import ONCE, Workload

HOP = 0.5
"""Work of a message over a link between brokers and its acknowledgement, relative to a client's exchange."""
QUERY = 3.0
"""The same of a query at its broker: SUBSCRIBE, NOTIFY, and half an OFFER and a PUBLISH, each acknowledged."""
BEGIN = 20
"""The same of the beginning of a broker: sessions, HELLO, tables, trees."""
HEADERS = 120
"""Bytes of a message and its acknowledgement without its text, and of the recording."""
SUBSCRIPTION = {"contextml": 420, "msgpack": 60}
NOTIFICATION = {"contextml": 480, "msgpack": 90}
"""Bytes without a payload, by encoding."""
KEPT_BYTES = 1_800
"""Memory of a subscription at a broker."""


def expected(settings: Settings, workload: Workload, brokers: int) -> Expected:
    clients = workload.providers + workload.consumers
    asked, notes = sent(workload)
    seconds = _ramp_s(settings, workload, brokers) + _duration_s(workload)
    to_all = max(0, brokers - 1)
    far = min(to_all, distance(brokers))
    asked_hops = {Routing.NOTIFICATIONS: 0, Routing.FLOODING: to_all}.get(Routing(settings.routing), far)
    note_hops = to_all if settings.routing == Routing.NOTIFICATIONS else far
    kept_alive = clients * seconds / (settings.keepalive_s * settings.keepalive_share)
    exchanged = 2 * to_all * seconds / settings.exchange_s + brokers * seconds / settings.broker_keepalive_s
    between = asked * asked_hops + notes * note_hops
    notified = _notified(workload, notes)
    exchanges = (
        QUERY * asked + notes + 0.5 * notified + HOP * between + exchanged + kept_alive + clients + BEGIN * brokers
    )
    sizes = (
        SUBSCRIPTION[settings.encoding] + HEADERS,
        workload.payload_bytes + NOTIFICATION[settings.encoding] + HEADERS,
    )
    of_clients = 2 * asked * sizes[0] + 2 * notes * sizes[1] + kept_alive * HEADERS
    over_links = 2 * (asked * asked_hops * sizes[0] + notes * note_hops * sizes[1] + exchanged * HEADERS)
    return Expected(
        servers=brokers + 1,
        clients={"providers": workload.providers, "consumers": workload.consumers},
        processes=brokers + 1 + ceil(workload.providers / FLEET_SIZE) + ceil(workload.consumers / FLEET_SIZE),
        seconds=seconds,
        exchanges=exchanges,
        samples=2 * asked + 2 * notes + 2 * notified,
        records=4 * asked + 4 * notes + 2 * notified + 4 * between + 2 * exchanged + 2 * kept_alive,
        recorded=(Recorded(of_clients, brokers), Recorded(over_links, brokers)),
        kept=Kept("subscriptions", workload.subscriptions if workload.kind != ONCE else 0, KEPT_BYTES),
    )


def sent(workload: Workload) -> tuple[int, int]:
    """Subscriptions and notifications of the whole run."""
    if workload.kind == ONCE:
        return workload.queries, workload.queries
    return workload.subscriptions, workload.notifications


def _notified(workload: Workload, notes: int) -> float:
    """Notifications that reach consumers of streams; those of queries are in ``QUERY``."""
    return 0.0 if workload.kind == ONCE else notes * min(workload.consumers, workload.subscriptions / workload.scopes)


def _ramp_s(settings: Settings, workload: Workload, brokers: int) -> float:
    """Roughly; ``load.schedule`` has it exactly."""
    each_s = 0.0 if settings.out_of_turn else settings.exchange_s
    starts_s = (workload.providers + workload.consumers) * workload.stagger_ms / 1e3
    return starts_s + 1 + each_s * (2 * distance(brokers) if brokers > 1 else 0)


def _duration_s(workload: Workload) -> float:
    """Arrivals are drawn: their mean."""
    asked, notes = sent(workload)
    if workload.kind == ONCE:
        return asked / workload.rate_per_s if asked else workload.duration_s
    return max(notes / workload.rate_per_s, 1.0) if asked or notes else workload.duration_s


def distance(brokers: int) -> float:
    """Links between two brokers of a tree, roughly."""
    return log2(brokers + 1) * (1 - 1 / brokers)
