"""The server's state of one chain: what is known of its members, and what to do after a report or after silence.

Soundness: an injection at a position leaves only failed members between the last known position and itself, so a
report on a position is true for all members before it, whatever its attempt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.radiator.clients.table import Entry, Key
from overlay.systems.radiator.config import Transport, ns
from overlay.systems.radiator.wire.messages import Push

HOP = 50 * MILLISECOND
"""Wait for one hop, on top of ``chain_wait_s``."""


class Member(NamedTuple):
    """A recipient as it was when the propagation began."""

    key: Key
    instance: int
    address: Address

    @classmethod
    def of(cls, entry: Entry) -> Member:
        return cls(entry.key, entry.instance, entry.address)


@dataclass(slots=True, eq=False)
class Chain:
    """A chain under way. Positions are from 0."""

    members: list[Member]
    push: Push
    """The header of its segments."""
    blob: bytes
    raw_bytes: int = 0
    """Of the blob before compression."""
    known: int = -1
    """The last position known to have the blob; so have all before it that have not failed."""
    at: int = -1
    """The position of the latest injection."""
    attempt: int = -1
    """The number of the latest injection."""
    silences: int = 0
    """Injections after silence."""
    failed: set[int] = field(default_factory=set)
    """Positions that were silent or absent."""
    heard_at: int | None = None
    """When it was last heard of, at first when its first push left."""
    is_direct: bool = False
    """Whether chains were given up, and each member gets a push of its own."""
    is_traced: bool = False

    @property
    def last(self) -> int:
        return len(self.members) - 1

    def learn(self, position: int) -> list[int]:
        """``position`` and all before it have it. Returns the positions for which that is new."""
        new = [one for one in range(self.known + 1, position + 1) if one not in self.failed]
        self.known = max(self.known, position)
        return new

    def fail(self, position: int, attempt: int) -> bool:
        """A member is silent. Returns whether to inject after it: not for a report that an injection has overtaken."""
        is_new = position >= self.at or attempt == self.attempt
        self.failed.add(position)
        return is_new and not self.is_direct

    def first_after(self, position: int) -> int:
        """The next position that has not failed."""
        position += 1
        while position in self.failed:
            position += 1
        return position

    def inject(self, position: int) -> Push:
        """The header of the next injection."""
        self.at = position
        self.attempt += 1
        return self.push._replace(position=position, attempt=self.attempt)

    def wait(self, config: Transport) -> int:
        """Nanoseconds of silence after which it is injected again."""
        every = config.report_every
        due = (self.known + 1) // every * every + every - 1 if every else self.last
        return ns(config.chain_wait_s) + HOP * (min(due, self.last) - self.known)

    def is_too_late(self, config: Transport, now: int) -> bool:
        """Clients remember propagations for ``seen_s``; nothing is repeated when they may have forgotten."""
        return self.heard_at is not None and now > self.heard_at + ns(config.seen_s) // 2

    def check_invariants(self) -> None:
        assert all(0 <= position <= self.last for position in self.failed)
        assert -1 <= self.known <= self.last and self.at <= self.last
        assert all(position in self.failed for position in range(self.known + 1, self.at)), "a member was passed over"
