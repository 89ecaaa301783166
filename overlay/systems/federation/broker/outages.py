"""Faults of a broker: it is offline, or has vanished. Counterpart: ``fault_kinds`` describes them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from overlay.core.addresses import Address

Datagram = tuple[bytes, Address]


class Outages:
    """Which of its datagrams pass. Faults may overlap."""

    def __init__(self) -> None:
        self._offline = 0
        self._silent_from: list[int] = []
        """Of each fault in which it has vanished, ns."""
        self._output: list[Datagram] = []

    def __bool__(self) -> bool:
        return self._offline > 0 or bool(self._silent_from)

    def offline(self, begins: bool) -> None:
        self._offline += 1 if begins else -1

    def vanish(self, silent_from: int) -> None:
        self._silent_from.append(silent_from)

    def come_back(self) -> None:
        """One of the faults in which it has vanished ends."""
        self._silent_from.pop()

    @property
    def is_offline(self) -> bool:
        """Whether it reaches no other server; clients reach it."""
        return self._offline > 0

    @property
    def has_vanished(self) -> bool:
        return bool(self._silent_from)

    def silences(self, now: int) -> bool:
        """Whether nothing passes."""
        return bool(self._silent_from) and min(self._silent_from) <= now

    def keep(self, datagrams: Sequence[Datagram]) -> None:
        """Output of one input, without what was dropped. What is dropped must not depend on when a driver takes the
        output: a replay takes it only where some was recorded."""
        self._output += datagrams

    @property
    def has_output(self) -> bool:
        return bool(self._output)

    def sent(self, datagrams: Sequence[Datagram]) -> Sequence[Datagram]:
        """What was kept, and further ones."""
        output, self._output = self._output, []
        return [*output, *datagrams]

    def passing(self, datagrams: Sequence[Datagram], servers: Collection[Address], now: int) -> Sequence[Datagram]:
        """Those to or from clients while it is offline, none while it is silent. ``servers``: the addresses of all
        other servers."""
        if self.silences(now):
            return ()
        if not self._offline:
            return datagrams
        return [datagram for datagram in datagrams if datagram[1] not in servers]
