"""One broker's tables in a process of their own: ``python -m benchmarks.silbops.loaded SUBSCRIPTIONS ARM INDEX``.

Prints one line of JSON: ``resident_mib``, the most memory that the process has had before subscribers move, whatever it
is for, and microseconds of processor for each ``message`` of a context change and each ``notification``.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Sequence
from time import process_time

from overlay.runtime.usage import peak_memory
from overlay.systems.silbops.names import SILBOPS
from overlay.systems.silbops.tables import Link
from telemetry.systems.silbops.in_process.brokers import Broker, Clients, Message
from telemetry.systems.silbops.in_process.population import Population, evenly

CHANGES, NOTIFICATIONS = {SILBOPS: 20_000, "siena": 1_000}, 100
SLOW = "counting"
SLOW_NOTIFICATIONS = 5


def main(subscriptions: str, arm: str, index: str) -> None:
    gc.disable()
    population = Population(evenly(int(subscriptions)), 1)
    clients = Clients(arm, Broker(index, 48 if arm == SILBOPS else 0), population)
    clients.load(keeps_filters=arm != SILBOPS)
    number = SLOW_NOTIFICATIONS if index == SLOW else NOTIFICATIONS
    notification = _cost(clients, [clients.publication(*population.event()) for _ in range(number)])
    resident = peak_memory()  # before subscribers move, of which each has a random source of its own here
    movers = (change % len(clients.links) for change in range(CHANGES[arm]))
    changes = [one for number in movers for one in clients.change(number, population.moved(number))]
    print(
        json.dumps({"resident_mib": resident / 2**20, "message": _cost(clients, changes), "notification": notification})
    )


def _cost(clients: Clients, messages: Sequence[tuple[Link, Message]]) -> float:
    """Microseconds of each."""
    began = process_time()
    clients.play(messages)
    return (process_time() - began) * 1e6 / len(messages)


if __name__ == "__main__":
    main(*sys.argv[1:])
