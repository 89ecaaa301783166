"""Sends blobs to single addresses, in segments that are acknowledged by bitmap. Counterpart: ``arrivals``.

Up to 256 segments are in flight; only missing ones are repeated, ``tries`` times without progress. The wait for an
acknowledgement begins when the last segment has left the sender's uplink.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from overlay.core.addresses import Address
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.timers import Timers
from overlay.systems.radiator.wire.messages import WINDOW, Ack, Push
from overlay.systems.radiator.wire.table import BITMAP_BYTES, encode

TransferKey = tuple[Address, int, int, int, int]
"""Destination, epoch, propagation, chain and attempt: what an ACK and its source say."""

MOST_RESTARTS = 10
"""A receiver that starts again more often is not listened to, so that every transfer ends."""
ALL = (1 << (8 * BITMAP_BYTES)) - 1


@dataclass(slots=True, eq=False)
class Transfer:
    """A blob on its way to one address."""

    push: Push
    """The header of all its segments."""
    blob: bytes
    to: Address
    tag: Any
    """The caller's."""
    segment_bytes: int
    base: int = 0
    """All segments before it are acknowledged."""
    next: int = 0
    """The first segment that has never been sent."""
    beyond: set[int] = field(default_factory=set)
    """Acknowledged segments after ``base``."""
    tries: int = 1
    queued: int = 0
    """Datagrams that have not left yet."""
    has_left: bool = False
    is_over: bool = False
    restarts: int = 0
    """How often the receiver has started again."""

    @property
    def key(self) -> TransferKey:
        push = self.push
        return self.to, push.epoch, push.propagation, push.chain, push.attempt

    def datagram(self, segment: int) -> bytes:
        at = segment * self.segment_bytes
        return encode(self.push._replace(segment=segment, part=self.blob[at : at + self.segment_bytes]))

    def part_bytes(self, segment: int) -> int:
        return min(self.segment_bytes, len(self.blob) - segment * self.segment_bytes)

    def acknowledge(self, ack: Ack) -> bool:
        """Returns whether a segment is new.

        What a receiver has only grows, unless it has dropped a blob of which nothing came for long. An ACK that has
        a new segment and lacks a known one is of a receiver that started again, so it replaces all that is known.
        """
        if ack.base > self.push.segments:
            return False
        said = self._beyond(ack)
        if ack.base <= self.base and not any(one >= self.base and one not in self.beyond for one in said):
            return False
        has_restarted = ack.base < self.base or any(one >= ack.base and one not in said for one in self.beyond)
        if has_restarted:
            self.restarts += 1
            if self.restarts > MOST_RESTARTS:
                return False
        self.base, self.beyond = ack.base, said
        while self.base in self.beyond:
            self.beyond.remove(self.base)
            self.base += 1
        self.next = max(self.base, min(self.next, self.base + WINDOW))
        return not has_restarted

    def _beyond(self, ack: Ack) -> set[int]:
        """The segments in the bitmap of an ACK."""
        bits, found = int.from_bytes(ack.bitmap, "big"), set[int]()
        while bits:
            segment = ack.base + WINDOW - bits.bit_length()
            bits &= ALL >> (segment - ack.base + 1)
            if segment < self.push.segments:
                found.add(segment)
        return found

    def fresh(self) -> Iterator[int]:
        """Segments to send for the first time."""
        while self.next < min(self.push.segments, self.base + WINDOW):
            self.next += 1
            if self.next - 1 not in self.beyond:
                yield self.next - 1

    def missing(self) -> list[int]:
        return [segment for segment in range(self.base, self.next) if segment not in self.beyond]


Send = Callable[[Transfer, int, bool, int], None]
"""Sends a segment of a transfer, which may be a repeat, at a time. The sender calls ``left`` when it leaves."""


class Transfers:
    """The transfers of one sender."""

    def __init__(self, config: Transport, send: Send) -> None:
        self._config, self._send = config, send
        self._open: dict[TransferKey, Transfer] = {}
        self._open_to: dict[Address, dict[TransferKey, Transfer]] = {}
        """The same by destination."""
        self._timers = Timers()

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, push: Push, blob: bytes, to: Address, tag: Any, now: int) -> None:
        """``push`` is the header of its first segment, without its part. What is being sent already goes on."""
        size = self._config.segment_bytes
        transfer = Transfer(push._replace(segments=max(1, -(-len(blob) // size))), blob, to, tag, size)
        if transfer.key not in self._open:
            self._open[transfer.key] = transfer
            self._open_to.setdefault(to, {})[transfer.key] = transfer
            self._advance(transfer, now)

    def to(self, address: Address) -> list[Transfer]:
        """Those that are open to this address."""
        return list(self._open_to.get(address, {}).values())

    def unsent(self, to: Address) -> list[Transfer]:
        """Those to an address of which nothing has left."""
        return [one for one in self.to(to) if not one.has_left]

    def acknowledge(self, ack: Ack, source: Address, now: int) -> Any:
        """The tag of the transfer that is complete now, or ``None``."""
        transfer = self._open.get((source, ack.epoch, ack.propagation, ack.chain, ack.attempt))
        if transfer is None or not transfer.acknowledge(ack):
            return None
        if transfer.base == transfer.push.segments:
            self._end(transfer)
            return transfer.tag
        transfer.tries = 1
        self._advance(transfer, now)
        self._wait(transfer, now)
        return None

    def left(self, transfer: Transfer, now: int) -> None:
        """A datagram of it has left."""
        transfer.queued -= 1
        transfer.has_left = True
        self._wait(transfer, now)

    def cancel(self, transfer: Transfer) -> None:
        self._end(transfer)

    def clear(self) -> None:
        for transfer in list(self._open.values()):
            self._end(transfer)

    def handle_timer(self, now: int) -> list[Any]:
        """The tags of transfers that have failed."""
        failed = []
        for key in self._timers.due(now):
            transfer = self._open[key]
            if transfer.tries >= self._config.tries:
                self._end(transfer)
                failed.append(transfer.tag)
                continue
            transfer.tries += 1
            for segment in transfer.missing():
                self._emit(transfer, segment, now, is_repeat=True)
        return failed

    def next_timer(self) -> int | None:
        return self._timers.next_timer()

    def _advance(self, transfer: Transfer, now: int) -> None:
        for segment in transfer.fresh():
            self._emit(transfer, segment, now, is_repeat=False)

    def _emit(self, transfer: Transfer, segment: int, now: int, *, is_repeat: bool) -> None:
        transfer.queued += 1
        self._timers.cancel(transfer.key)
        self._send(transfer, segment, is_repeat, now)

    def _wait(self, transfer: Transfer, now: int) -> None:
        if not transfer.queued and not transfer.is_over:
            self._timers.set(transfer.key, now + self._config.repeat_after(transfer.tries))

    def _end(self, transfer: Transfer) -> None:
        transfer.is_over = True
        if self._open.pop(transfer.key, None) is not None:
            others = self._open_to[transfer.to]
            del others[transfer.key]
            if not others:
                del self._open_to[transfer.to]
        self._timers.cancel(transfer.key)

    def check_invariants(self) -> None:
        assert {key: one for ones in self._open_to.values() for key, one in ones.items()} == self._open
        assert all(self._open_to.values())
        for key, transfer in self._open.items():
            assert key == transfer.key
            assert not transfer.is_over
            assert transfer.base <= transfer.next <= transfer.push.segments
            assert transfer.next - transfer.base <= WINDOW
            assert transfer.base not in transfer.beyond
            assert 1 <= transfer.tries <= self._config.tries
            assert (key in self._timers) == (not transfer.queued), "it waits for its uplink or for an ACK"
