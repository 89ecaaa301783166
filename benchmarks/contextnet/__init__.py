"""ContextNet: what a gateway does for each message, memory of connections, and others with the same exchange.

- ``hot_paths``  a gateway in this process, without sockets and log (``standing``), next to minimal Python (``least``)
- ``memory``     of a gateway per idle connection (``connected``)
- ``transports`` Tether next to QUIC
- ``overload``   live runs up to and past the limit of this machine
- ``peers``      Mosquitto, NATS and plain echoes with the same exchange (``echo``), next to live runs
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.contextnet import hot_paths, memory, overload, peers, transports
from benchmarks.figures import Figure, measure_parts

TITLE = "ContextNet: hot paths of a gateway, memory, and others with the same exchange"
PARTS = (hot_paths, memory, transports, overload, peers)


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """All parts. Raises ``Unavailable`` at the end, with what is lacking."""
    return measure_parts(PARTS, rounds, say)
