"""What the server and clients do, counted for the service-time model. Counterpart: ``telemetry.systems.radiator``
measures the costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overlay.systems.cores import OTHER, Meter
from overlay.systems.radiator.names import UNITS
from overlay.systems.radiator.server.service import Service
from overlay.systems.radiator.wire.table import KINDS, MAGIC

NAMES = {MAGIC + bytes([number]): kind.__name__ for kind, number in KINDS.items()}
"""Of datagrams, by their first bytes."""
HEAD = len(MAGIC) + 1


class MessageMeter(Meter):
    """Of a client: its messages by name."""

    def _names(self, datagrams: Sequence[bytes]) -> list[str]:
        return [NAMES.get(data[:HEAD], OTHER) for data in datagrams]


class ServerMeter(MessageMeter):
    """Also evaluations, messages that were joined, and members of chains."""

    def __init__(self, server: Service) -> None:
        self._server = server
        self._before = (0,) * len(UNITS)

    def _units(self) -> Mapping[str, int]:
        before, self._before = self._before, self._server.work()
        return {name: now - was for name, now, was in zip(UNITS, self._before, before, strict=True) if now != was}
