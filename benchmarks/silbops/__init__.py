"""SilboPS and SIENA: hot paths of a broker, its memory, and others on the same matching work.

- ``hot_paths``  notifications, context changes and subscriptions, next to the least Python (``least``)
- ``growth``     memory and time with the number of subscriptions, each in a process of its own (``loaded``)
- ``rows``       SQLite's R*Tree and PostgreSQL with filters as rows
- ``topics``     Redis, NATS and Mosquitto with content and position as topics (``topic_clients``)

All have the subscribers, filters, positions and notifications of ``telemetry.systems.silbops.in_process.population``.
Processor time is measured, because other load changes it least. That others can do less is no reason to leave it out:
what they deliver is compared at the same useful deliveries, next to what they deliver in addition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.figures import Figure, measure_parts
from benchmarks.silbops import growth, hot_paths, rows, topics

TITLE = "SilboPS and SIENA: hot paths of a broker, memory, and others on the same matching work"
PARTS = (hot_paths, growth, rows, topics)


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """All parts. Raises ``Unavailable`` at the end, with what is lacking."""
    return measure_parts(PARTS, rounds, say)
