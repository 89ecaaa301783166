"""The interface between drivers and pure cores.

Counterparts: ``overlay.runtime`` (real UDP) and ``overlay.sim`` (virtual time) drive a ``Node``; the servers and
clients in ``overlay.systems`` implement it. The rules:

- ``now`` is in integer monotonic nanoseconds. The wall clock is an offset set by the driver (``set_wall_clock``), so a
  clock step affects validity, but never time-outs.
- A driver passes a batch of datagrams, calls ``handle_timer`` when ``next_timer() <= now``, then calls
  ``datagrams_to_send()`` and ``events()`` once each. Both return and clear a queue, and leave the timer as it is.
- A core never raises an exception because of data from a peer. It raises exceptions for bugs in our own code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

from overlay.core.addresses import Address

MILLISECOND: Final = 1_000_000
"""Nanoseconds."""

SECOND: Final = 1_000_000_000
"""Nanoseconds."""

NEVER: Final = (1 << 62) - 1
"""Later than any instant. Compiled code keeps integers below 2^62 without an object."""


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """A rare event reported by a core, such as the death of a neighbour. Names are past participles."""

    def detail(self) -> dict[str, Any]:
        """The event's fields as plain values, for a journal."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TimedEvent(NodeEvent):
    """One whose instant matters: a live driver collects events once a second only."""

    at: int = field(default=0, compare=False, kw_only=True)
    """``now`` when it happened."""

    def detail(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "at"}


class Node(Protocol):
    """Anything with an address in an overlay."""

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        """Process datagrams in order, with the same result as one by one."""
        ...

    def handle_timer(self, now: int) -> None: ...
    def next_timer(self) -> int | None: ...
    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]: ...
    def events(self) -> Sequence[NodeEvent]: ...
