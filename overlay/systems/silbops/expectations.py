"""Estimated quantities of a run. Pure."""

from __future__ import annotations

from math import ceil, log2

from overlay.load.expectations import FLEET_SIZE, Expected, Kept, Recorded
from overlay.systems.silbops.load.times import SETTLING_S, subscriptions
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.workload import Workload

HOP = 0.5
"""Work of a message over a link between brokers and its acknowledgement, relative to a client's exchange."""
CANDIDATES = 0.01
"""The same of a subscription that a notification matches by content."""
SHARE = 0.001
"""Of the subscriptions, those that a notification matches by content (measured: 0.0011 with the default workload)."""
HEADERS = 60
"""Bytes of a message's part of a datagram and of its acknowledgement, and of the recording."""
CONTEXT, SUBSCRIPTION, NOTIFICATION = 50, 130, 120
"""Bytes of messages."""
KEPT_BYTES = {"silbops": 620, "siena": 1_040}
"""Memory of a subscription at a broker, by arm."""


def expected(settings: Settings, workload: Workload, brokers: int) -> Expected:
    rows, seconds = subscriptions(workload), workload.duration_s
    clients = workload.publishers + workload.subscribers
    changes = float(workload.changes or workload.changing * seconds / workload.context_interval_s)
    notes = float(workload.notifications or workload.publishers * seconds / workload.publish_interval_s)
    of_change = 2 * rows / max(1, workload.subscribers) if settings.is_siena else 1.0
    links = min(brokers - 1, log2(brokers + 1)) if brokers > 1 else 0.0
    told = rows + changes * of_change
    found = notes * rows * SHARE
    sent = clients + told + notes + found
    between = (told + notes) * links
    of_clients = told * (SUBSCRIPTION if settings.is_siena else CONTEXT) + (notes + found) * NOTIFICATION
    return Expected(
        servers=brokers,
        clients={"publishers": workload.publishers, "subscribers": workload.subscribers},
        processes=brokers + ceil(workload.publishers / FLEET_SIZE) + ceil(workload.subscribers / FLEET_SIZE),
        seconds=workload.stagger_ms * clients / 1e3 + SETTLING_S + seconds,
        exchanges=sent + HOP * between + CANDIDATES * found,
        samples=2 * (changes + notes + found) + rows,
        records=2 * (sent + 2 * between),
        recorded=(
            Recorded(of_clients + sent * HEADERS, brokers),
            Recorded(2 * between * (NOTIFICATION + HEADERS), brokers),
        ),
        kept=Kept("subscriptions", round(rows), KEPT_BYTES[settings.arm]),
    )
