"""What the library needs of the channel below it. ``overlay.systems.silbops.peers`` has it; tests have their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from overlay.core.addresses import Address
from overlay.systems.silbops.wire import messages as m

ToBroker = m.Attach | m.SetCtx | m.Advertise | m.Unadvertise | m.Subscribe | m.Unsubscribe | m.Publish
ToClient = m.Attached | m.Notify | m.Ok | m.Refused


class Heard(NamedTuple):
    broker: str
    message: m.Message
    """Of a broker: ``ToClient``, or one that changes nothing."""


class Ended(NamedTuple):
    """A session, or the attempt to open one, has ended."""

    broker: str
    reason: str
    publications: Sequence[m.Publish]
    """Those that the broker may not have received, in order."""


class Wire(Protocol):
    """Reliable, ordered messages to and from brokers by name. Messages wait while a session is being opened."""

    def open(self, broker: str, address: Address, now: int) -> bool:
        """``False`` while its last session is being closed."""
        ...

    def send(self, broker: str, message: ToBroker, now: int) -> bool:
        """``False`` without a session, and for a message that is too large."""
        ...

    def has_session(self, broker: str) -> bool:
        """Whether messages for it are taken: its session is up or being opened."""
        ...

    def is_full(self, broker: str) -> bool:
        """Whether messages for it have reached their bound."""
        ...

    def close(self, broker: str, now: int) -> None: ...
    def receive(self, datagrams: Iterable[tuple[bytes, Address]], now: int) -> None: ...
    def handle_timer(self, now: int) -> None: ...
    def next_timer(self) -> int | None: ...
    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]: ...
    def events(self) -> Sequence[Heard | Ended]: ...
    def check_invariants(self) -> None: ...
