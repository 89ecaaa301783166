"""Sends blobs to single addresses, in segments that are acknowledged by bitmap. Counterpart: ``arrivals``.

Up to 256 segments are in flight; only missing ones are repeated, ``tries`` times without progress. The wait for an
acknowledgement begins when the last segment has left the sender's uplink.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import Any

from overlay.core.addresses import Address
from overlay.core.timers import Timers
from overlay.systems.radiator.config import Transport, ns
from overlay.systems.radiator.wire.codec import encode
from overlay.systems.radiator.wire.messages import WINDOW, Ack, Push
from overlay.systems.radiator.wire.table import BITMAP_BYTES

TransferKey = tuple[int, int, int, int]
"""Epoch, propagation, chain and attempt: what an ACK says."""

MOST_RESTARTS = 10
"""A receiver that starts again more often is not listened to, so that every transfer ends."""
ALL = (1 << (8 * BITMAP_BYTES)) - 1
NONE: frozenset[int] = frozenset()


class Parcel:
    """A blob and the header of its segments, for one address or, with equal datagrams, for many.

    ``push`` is the header of the first segment, without its part.
    """

    __slots__ = ("_datagrams", "blob", "push", "segment_bytes")

    def __init__(self, push: Push, blob: bytes, segment_bytes: int) -> None:
        self.push = push._replace(segments=max(1, -(-len(blob) // segment_bytes)))
        self.blob, self.segment_bytes = blob, segment_bytes
        self._datagrams: dict[int, bytes] = {}

    def datagram(self, segment: int) -> bytes:
        """Encoded once for all that are sent."""
        data = self._datagrams.get(segment)
        if data is None:
            at = segment * self.segment_bytes
            part = self.blob[at : at + self.segment_bytes]
            data = self._datagrams[segment] = encode(self.push._replace(segment=segment, part=part))
        return data

    def part_bytes(self, segment: int) -> int:
        return min(self.segment_bytes, len(self.blob) - segment * self.segment_bytes)


class Transfer:
    """A parcel on its way to one address. ``tag`` is the caller's."""

    __slots__ = (
        *("base", "restarts", "beyond", "has_left", "is_over", "key", "left_at", "next", "parcel", "queued", "tag"),
        *("to", "tries"),
    )

    def __init__(self, parcel: Parcel, to: Address, tag: Any) -> None:
        self.parcel, self.to, self.tag = parcel, to, tag
        push = parcel.push
        self.key: TransferKey = (push.epoch, push.propagation, push.chain, push.attempt)
        self.base = 0
        """All segments before it are acknowledged."""
        self.next = 0
        """The first segment that has never been sent."""
        self.beyond: Set[int] = NONE
        """Acknowledged segments after ``base``."""
        self.tries = 1
        self.queued = 0
        """Datagrams that have not left yet."""
        self.has_left = self.is_over = False
        self.left_at = 0
        """When its first datagram left, or its last progress was heard of, ns."""
        self.restarts = 0
        """How often the receiver has started again."""

    @property
    def push(self) -> Push:
        """The header of all its segments."""
        return self.parcel.push

    @property
    def blob(self) -> bytes:
        return self.parcel.blob

    def datagram(self, segment: int) -> bytes:
        return self.parcel.datagram(segment)

    def part_bytes(self, segment: int) -> int:
        return self.parcel.part_bytes(segment)

    def acknowledge(self, ack: Ack) -> bool:
        """Returns whether a segment is new.

        What a receiver has only grows, unless it has dropped a blob of which nothing came for long. An ACK that has
        a new segment and lacks a known one is of a receiver that started again, so it replaces all that is known.
        """
        segments = self.parcel.push.segments
        if ack.base >= segments:
            return ack.base == segments and self._complete()
        said = self._beyond(ack)
        if ack.base <= self.base and not any(one >= self.base and one not in self.beyond for one in said):
            return False
        has_restarted = ack.base < self.base or any(one >= ack.base and one not in said for one in self.beyond)
        if has_restarted:
            self.restarts += 1
            if self.restarts > MOST_RESTARTS:
                return False
        self.base = ack.base
        while self.base in said:
            said.remove(self.base)
            self.base += 1
        self.beyond = said
        self.next = max(self.base, min(self.next, self.base + WINDOW))
        return not has_restarted

    def _complete(self) -> bool:
        self.base = self.next = self.parcel.push.segments
        self.beyond = NONE
        return True

    def _beyond(self, ack: Ack) -> set[int]:
        """The segments in the bitmap of an ACK."""
        bits, found = int.from_bytes(ack.bitmap, "big"), set[int]()
        while bits:
            segment = ack.base + WINDOW - bits.bit_length()
            bits &= ALL >> (segment - ack.base + 1)
            if segment < self.parcel.push.segments:
                found.add(segment)
        return found

    def fresh(self) -> Iterator[int]:
        """Segments to send for the first time."""
        while self.next < min(self.parcel.push.segments, self.base + WINDOW):
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
        self._open: dict[Address, dict[TransferKey, Transfer]] = {}
        """By destination; none is empty."""
        self._count = 0
        self._timers = Timers()
        self._remembered = ns(config.seen_s) // 2

    def __len__(self) -> int:
        return self._count

    def begin(self, push: Push, blob: bytes, to: Address, tag: Any, now: int) -> None:
        """Send a parcel of its own."""
        self.send(Parcel(push, blob, self._config.segment_bytes), to, tag, now)

    def send(self, parcel: Parcel, to: Address, tag: Any, now: int) -> None:
        """What is being sent already goes on."""
        transfer = Transfer(parcel, to, tag)
        others = self._open.setdefault(to, {})
        if transfer.key not in others:
            others[transfer.key] = transfer
            self._count += 1
            self._advance(transfer, now)

    def to(self, address: Address) -> list[Transfer]:
        """Those that are open to this address."""
        return list(self._open.get(address, {}).values())

    def unsent(self, to: Address) -> list[Transfer]:
        """Those to an address of which nothing has left."""
        return [one for one in self.to(to) if not one.has_left]

    def acknowledge(self, ack: Ack, source: Address, now: int) -> Any:
        """The tag of the transfer that is complete now, or ``None``."""
        to_source = self._open.get(source)
        transfer = to_source and to_source.get((ack.epoch, ack.propagation, ack.chain, ack.attempt))
        if not transfer or not transfer.acknowledge(ack):
            return None
        if transfer.base == transfer.parcel.push.segments:
            self._end(transfer)
            return transfer.tag
        transfer.tries = 1
        transfer.left_at = now  # the receiver lacks a part, so it has not delivered anything that it could forget
        self._advance(transfer, now)
        self._wait(transfer, now)
        return None

    def left(self, transfer: Transfer, now: int) -> None:
        """A datagram of it has left."""
        transfer.queued -= 1
        if not transfer.has_left:
            transfer.has_left, transfer.left_at = True, now
        self._wait(transfer, now)

    def is_too_late(self, transfer: Transfer, now: int) -> bool:
        """Whether its receiver may have forgotten that it has it, so that a repeat could be delivered twice."""
        return transfer.has_left and now > transfer.left_at + self._remembered

    def cancel(self, transfer: Transfer) -> None:
        self._end(transfer)

    def clear(self) -> None:
        for to in list(self._open):
            for transfer in self.to(to):
                self._end(transfer)

    def handle_timer(self, now: int) -> list[Any]:
        """The tags of transfers that have failed."""
        failed = []
        for transfer in self._timers.due(now):
            if transfer.tries >= self._config.tries or self.is_too_late(transfer, now):
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
        if transfer.has_left:
            self._timers.cancel(transfer)
        self._send(transfer, segment, is_repeat, now)

    def _wait(self, transfer: Transfer, now: int) -> None:
        if not transfer.queued and not transfer.is_over:
            self._timers.set(transfer, now + self._config.repeat_after(transfer.tries))

    def _end(self, transfer: Transfer) -> None:
        transfer.is_over = True
        others = self._open.get(transfer.to, {})
        if others.get(transfer.key) is transfer:
            self._count -= 1
            del others[transfer.key]
            if not others:
                del self._open[transfer.to]
        self._timers.cancel(transfer)

    def check_invariants(self) -> None:
        assert all(self._open.values())
        assert self._count == sum(map(len, self._open.values()))
        for to, others in self._open.items():
            for key, transfer in others.items():
                assert (to, key) == (transfer.to, transfer.key)
                assert not transfer.is_over
                assert transfer.base <= transfer.next <= transfer.push.segments
                assert transfer.next - transfer.base <= WINDOW
                assert transfer.base not in transfer.beyond
                assert 1 <= transfer.tries <= self._config.tries
                assert (transfer in self._timers) == (not transfer.queued), "it waits for its uplink or for an ACK"
