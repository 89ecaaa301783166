"""The seam between pure cores and drivers.

Counterparts: ``overlay.runtime`` (real UDP) and ``overlay.sim`` (virtual time) drive a ``Node``; servers and clients of
``overlay.systems`` are nodes. The rules:

- ``now`` is integer monotonic nanoseconds. The wall clock is an offset that the driver sets (``set_wall_clock``), so a
  step of the clock touches validity and never a time-out.
- A driver feeds a batch of datagrams, calls ``handle_timer`` when ``next_timer() <= now``, then drains
  ``datagrams_to_send()`` and ``events()`` once. Draining empties.
- A core never raises for what a peer sent; what our own code does wrong raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from overlay.core.addresses import Address

MILLISECOND = 1_000_000
"""Nanoseconds."""

SECOND = 1_000_000_000
"""Nanoseconds."""

NEVER = 2**63
"""Later than any instant."""


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """Something rare that a core wants known: a neighbour died, a limit was hit. Named in past participle."""

    def detail(self) -> dict[str, Any]:
        """The event's fields as plain values, for a journal."""
        return asdict(self)


class Node(Protocol):
    """Anything that lives at one address of an overlay."""

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        """Each of them, in order, as if they came alone."""
        ...

    def handle_timer(self, now: int) -> None: ...
    def next_timer(self) -> int | None: ...
    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]: ...
    def events(self) -> Sequence[NodeEvent]: ...
