"""What the server needs of aggregation (Algorithm 1): a protocol, so that propagation knows no expression."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from overlay.systems.radiator.clients.table import Entry


class Emission(NamedTuple):
    """An entry of ``to_send``."""

    messages: tuple[int, ...]
    """Numbers of the originals, oldest first."""
    body: bytes
    """Canonical JSON."""
    recipients: Sequence[Entry]
    originals: Sequence[Any] = ()
    """What ``halve`` needs of the messages."""


class Aggregator(Protocol):
    """Holds messages back until enough of them can be sent as one. Recipients are the reachable entries.

    The server calls ``handle_timer`` with the instant before ``now`` first, so that deadlines before ``now`` precede
    whatever happens at ``now``.
    """

    @property
    def retained(self) -> int:
        """Messages held back in all."""
        ...

    def is_retained(self, number: int) -> bool:
        """Whether a message is held back for at least one recipient."""
        ...

    @property
    def due(self) -> int:
        """Recipients of the last accepted message."""
        ...

    def read(self, body: bytes) -> Any:
        """The context in the body of a CONTEXT. Raises ``WireError`` for a malformed one."""
        ...

    def accept(self, number: int, sender: Entry, context: Any, now: int) -> Iterable[Emission]:
        """A message has been accepted; the table has its context already."""
        ...

    def change(self, entry: Entry, now: int) -> None:
        """A client is new, or reachable again with nothing pending, or its attributes have changed."""
        ...

    def drop(self, entry: Entry, now: int) -> Iterable[int]:
        """A client is unreachable or deleted. Returns the numbers of its pending messages."""
        ...

    def halve(self, emission: Emission) -> tuple[Emission, Emission]:
        """Two emissions of an aggregate of at least two messages that is too large."""
        ...

    def handle_timer(self, now: int) -> Iterable[Emission]: ...
    def next_timer(self) -> int | None: ...
    def check_invariants(self) -> None: ...
