"""What nodes with the channel do, counted for the service-time model. Pure.

A datagram of the channel carries several messages. Datagrams are counted by their kind in the channel, and messages as
further work of a server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from overlay.channel import wire
from overlay.peers.names import IN_OTHER, OUT
from overlay.systems.cores import OTHER, Meter

_NAMES = {
    number: name
    for name, number in vars(wire).items()
    if type(number) is int and name in ("DATA", "ACK", "HELLO", "WELCOME", "RESET", "BYE", "PROBE", "PROBED", "LOOSE")
}


class MessageMeter(Meter):
    """Of a client: datagrams only."""

    def _names(self, datagrams: Sequence[bytes]) -> list[str]:
        return [_NAMES.get(data[1], OTHER) if len(data) > 1 else OTHER for data in datagrams]


class ServerMeter(MessageMeter):
    """Also messages, and other work."""

    def __init__(self, work: Callable[[], Mapping[str, int]]) -> None:
        """``work``: all of it so far, by unit."""
        self._work = work
        self._before: Mapping[str, int] = {}

    def _units(self) -> Mapping[str, int]:
        before, self._before = self._before, self._work()
        grown = {name: now - before.get(name, 0) for name, now in self._before.items()}
        if min(grown.values()) < 0:  # a server that had vanished began again
            return {name: count for name, count in self._before.items() if count}
        return {name: count for name, count in grown.items() if count}


def messages(counters: Mapping[str, int], units: Sequence[str]) -> dict[str, int]:
    """Of ``overlay.peers``: messages so far. Those received whose counter is none of ``units`` are ``IN_OTHER``; those
    sent are all ``OUT``, and counted by kind as well where that is one of ``units``."""
    found = dict.fromkeys(units, 0)
    for name, count in counters.items():
        if name.startswith("in_"):
            found[name if name in found else IN_OTHER] += count
        elif name.startswith("out_") and not name.endswith("_bytes"):
            found[OUT] += count
            if name in found:
                found[name] += count
    return found
