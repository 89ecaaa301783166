"""Puts the segments of pushes together. Counterpart: ``transfers``."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from overlay.core.addresses import Address
from overlay.systems.radiator.wire.messages import WINDOW, Ack, Push
from overlay.systems.radiator.wire.table import BITMAP_BYTES

HalfKey = tuple[Address, int, int, int, int]
"""Its sender, and what an ACK says: epoch, propagation, chain and attempt."""
MAX_HALVES = 64
"""Blobs that are half received."""
ACK_EVERY = 32
"""Segments since the last acknowledgement."""


@dataclass(slots=True)
class Half:
    """A blob of which some segments have arrived."""

    push: Push
    """Its first segment to arrive; all others must have the same header."""
    heard_at: int
    parts: dict[int, bytes] = field(default_factory=dict)
    bytes: int = 0
    base: int = 0
    since_ack: int = 0
    acknowledged: int = 0
    """``base`` in the last acknowledgement."""
    has_end: bool = False
    """Whether the last segment has arrived, so that others fill gaps and are acknowledged at once."""

    def add(self, push: Push) -> bool:
        """Returns whether an acknowledgement is due."""
        is_known = push.segment in self.parts
        if not is_known:
            self.parts[push.segment] = push.part
            self.bytes += len(push.part)
            self.since_ack += 1
        while self.base in self.parts:
            self.base += 1
        is_due = is_known or self.has_end or self.since_ack >= ACK_EVERY
        is_due = is_due or self.base - self.acknowledged >= ACK_EVERY  # the sender's window may wait for the gap
        self.has_end = self.has_end or push.segment == push.segments - 1
        return is_due or self.has_end

    def ack(self) -> Ack:
        self.since_ack, self.acknowledged = 0, self.base
        bits = 0
        for segment in range(self.base, self.base + WINDOW):
            bits = bits << 1 | (segment in self.parts)
        return ack_of(self.push, self.base, bits)


def ack_of(push: Push, base: int, bits: int = 0) -> Ack:
    return Ack(push.epoch, push.propagation, push.chain, push.attempt, base, bits.to_bytes(BITMAP_BYTES, "big"))


class Arrivals:
    """Half-received blobs by sender, at most ``MAX_HALVES`` of at most ``most`` bytes each.

    Further ones are ignored until there is room, so that those that have begun can complete. A sender that has fewer
    than another client gets the place of one of the other's: until a blob is whole, it is not known to be of the group.
    ``is_client`` says whether a sender is not the server, which loses no place.
    """

    def __init__(self, wait: int, most: int, is_client: Callable[[Address], bool] = lambda _: True) -> None:
        self._wait, self._most, self._is_client = wait, most, is_client
        self._halves: OrderedDict[HalfKey, Half] = OrderedDict()
        """The longest silent first."""

    def __len__(self) -> int:
        return len(self._halves)

    def receive(self, push: Push, source: Address, now: int) -> tuple[bytes | None, Ack | None]:
        """The blob if it is complete, which the caller acknowledges; else an ACK if it is due."""
        if push.segments == 1:
            return push.part, None
        key = (source, push.epoch, push.propagation, push.chain, push.attempt)
        half = self._halves.get(key)
        if half is None:
            if len(self._halves) >= MAX_HALVES and not self._make_room(source):
                return None, None
            half = self._halves[key] = Half(push, now)
        if half.push._replace(segment=push.segment, part=push.part) != push:
            return None, None
        is_due = half.add(push)
        half.heard_at = now
        self._halves.move_to_end(key)
        if half.bytes > self._most:
            del self._halves[key]
            return None, None
        if half.base < push.segments:
            return None, half.ack() if is_due else None
        del self._halves[key]
        return b"".join(half.parts[segment] for segment in range(push.segments)), None

    def _make_room(self, source: Address) -> bool:
        """Drop the longest silent half of the client that has most, if these are more than ``source`` has."""
        counts = Counter(key[0] for key in self._halves)
        others = {sender: count for sender, count in counts.items() if self._is_client(sender)}
        most = max(others.values(), default=0)
        if most <= counts[source]:
            return False
        del self._halves[next(key for key in self._halves if others.get(key[0]) == most)]
        return True

    def expire(self, now: int) -> None:
        while (timer := self.next_timer()) is not None and timer <= now:
            self._halves.popitem(last=False)

    def clear(self) -> None:
        self._halves.clear()

    def next_timer(self) -> int | None:
        half = next(iter(self._halves.values()), None)
        return None if half is None else half.heard_at + self._wait

    def check_invariants(self) -> None:
        assert len(self._halves) <= MAX_HALVES
        for half in self._halves.values():
            assert half.bytes == sum(map(len, half.parts.values())) <= self._most
            assert half.base not in half.parts and half.base < half.push.segments
