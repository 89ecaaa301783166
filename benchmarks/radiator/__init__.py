"""Radiator: its hot paths, its exchange next to C, live pushes, and NATS and Mosquitto with the same messages.

- ``hot_paths``  the server's work without sockets, next to minimal Python (``least``)
- ``memory``     of the server, per client
- ``codecs``     bytes of a message
- ``exchange``   a message to all clients and their acknowledgements over UDP, next to C and minimal Python (``bare``)
- ``pushes``     the highest rate of a server and its fleets on this machine
- ``peers``      NATS and Mosquitto, by their own clients (``fanout``)

``samples`` has the messages of all parts, ``standing`` a server in this process, ``runs`` live runs. Processor time is
measured where it can be, because other load changes it least. ``pushes`` and ``peers`` need a quiet machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.figures import Figure, measure_parts
from benchmarks.radiator import codecs, exchange, hot_paths, memory, peers, pushes

TITLE = "Radiator: hot paths, live pushes, and others with the same messages"
PARTS = (hot_paths, memory, codecs, exchange, pushes, peers)


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """All parts. Raises ``Unavailable`` at the end, with what is lacking."""
    return measure_parts(PARTS, rounds, say)
