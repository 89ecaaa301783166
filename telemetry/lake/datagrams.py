"""The datagrams of a recorded run in the order in which they were sent, and a capture of them for Wireshark.

``overlay.journal.recording`` has what each server received and sent; this joins the two ends of each datagram. One
between two clients is in no recording. All servers of a run share one host's monotonic zero, so their times compare.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from typing import NamedTuple

from overlay import __version__
from overlay.core.addresses import Address
from overlay.core.engines import SIMULATED
from overlay.core.node import SECOND
from overlay.journal.recording import BadRecording, Recording, What, recordings_in
from telemetry.errors import TelemetryError
from telemetry.lake import pcapng
from telemetry.lake.runs import RunFiles

PIECE_BYTES = 1 << 18
"""Of a capture that are handed on at a time."""

Happening = tuple[int, Address, int, Address, bytes]
"""When (ns), at which server, received or sent, from or to whom, the datagram."""


class Datagram(NamedTuple):
    """One datagram, as its sender recorded it, or its receiver where only that recorded."""

    number: int
    """From 0, as they are first told of."""
    at_ns: int
    """Since the deployment's zero."""
    source: Address
    to: Address
    data: bytes
    is_sender: bool
    """Whether the sender recorded it."""

    @property
    def at_us(self) -> int:
        return self.at_ns // 1000


class Passage(NamedTuple):
    """A datagram, and what became of it."""

    of: Datagram
    arrived_us: int | None
    """Since the deployment's zero; ``None`` if no server recorded it."""
    is_lost: bool | None
    """Whether it went to a server that recorded something later, and not it; ``None`` if it arrived, or unknown."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which messages: those to which all of this applies."""

    from_us: int = 0
    to_us: int = 10**11
    """Until before."""
    query: str | None = None
    """Of systems whose messages belong to queries."""
    code: int | None = None
    """Of the message; -1 for unreadable ones."""
    broker: int | None = None
    """Index of the sender or the receiver."""


class InOrder:
    """What several recordings tell, in order: each happening with the number of the datagram that it is of.

    Datagrams are numbered from 0 as they are first told of: by who sent them, or else by who received them.
    """

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self.recorders = frozenset(one.begin.address for one in recordings)
        self.under_way: dict[tuple[Address, Address, bytes], deque[int]] = defaultdict(deque)
        """Numbers of what was sent to a server that records, and did not arrive yet."""
        self._recordings = recordings

    def __iter__(self) -> Iterator[tuple[int, bool, Happening]]:
        """``(number, whether it is told of for the first time, happening)``."""
        count = 0
        for happening in self._in_order():
            _, own, what, other, data = happening
            waiting = self.under_way.get((other, own, data)) if what == What.RECEIVED else None
            if waiting:
                yield waiting[0], False, happening
                waiting.popleft()
                if not waiting:
                    del self.under_way[other, own, data]
                continue
            yield count, True, happening
            if what == What.SENT and other in self.recorders:
                self.under_way[own, other, data].append(count)
            count += 1

    def _in_order(self) -> Iterator[Happening]:
        """By time; of one instant each server's in its order, and nothing arrives before it was sent.

        Simulated links may take no time at all, and whole walks happen within one instant.
        """
        for _, of_one_instant in groupby(merge(*map(_happenings, self._recordings), key=_time), key=_time):
            queues: dict[Address, deque[Happening]] = defaultdict(deque)
            for happening in of_one_instant:
                queues[happening[1]].append(happening)
            while queues:
                queue = next((queue for queue in queues.values() if self._can_be(queue[0])), None)
                if queue is None:  # what arrives here was sent before anything was recorded there
                    queue = next(iter(queues.values()))
                yield queue.popleft()
                queues = {own: queue for own, queue in queues.items() if queue}

    def _can_be(self, happening: Happening) -> bool:
        _, own, what, other, data = happening
        return what == What.SENT or other not in self.recorders or (other, own, data) in self.under_way


def _happenings(recording: Recording) -> Iterator[Happening]:
    own, zero = recording.begin.address, recording.begin.zero_ns
    for record in recording:
        if record[0] in (What.RECEIVED, What.SENT):
            what, at, host, port, data = record
            yield at - zero, own, what, (host, port), data


def _time(happening: Happening) -> int:
    return happening[0]


def recordings_of(files: RunFiles) -> list[Recording]:
    """The readable recordings of a run. Raises ``TelemetryError`` if there are none."""
    made = []
    for path in recordings_in(files.journal_directory):
        try:
            made.append(Recording(path))
        except BadRecording:  # the run's page says so
            continue
    if not made:
        raise TelemetryError(f"Run {files.run} has no recordings: it was not recorded, or they were removed.")
    return made


def datagrams(recordings: Sequence[Recording]) -> Iterator[Datagram]:
    """Each datagram once."""
    for number, is_new, (at, own, what, other, data) in InOrder(recordings):
        if is_new:
            is_sender = what == What.SENT
            source, to = (own, other) if is_sender else (other, own)
            yield Datagram(number, at, source, to, data, is_sender)


def passages(recordings: Sequence[Recording], most: int) -> tuple[list[Passage], bool]:
    """The first ``most`` datagrams with their arrivals, and whether there are more."""
    order, found, cut_ns = InOrder(recordings), list[Datagram](), None
    arrivals: dict[int, int] = {}
    last: dict[Address, int] = {}
    for number, is_new, (at, own, what, other, data) in order:
        if cut_ns is not None and at > cut_ns + SECOND:  # what was under way has arrived or is lost
            break
        last[own] = at
        if what == What.RECEIVED:
            arrivals[number] = at // 1000
        if not is_new:
            continue
        if number >= most:
            cut_ns = at if cut_ns is None else cut_ns
            continue
        is_sender = what == What.SENT
        source, to = (own, other) if is_sender else (other, own)
        found.append(Datagram(number, at, source, to, data, is_sender))
    waiting = {number for numbers in order.under_way.values() for number in numbers}
    return [
        Passage(one, arrivals.get(one.number), one.at_ns < last.get(one.to, 0) if one.number in waiting else None)
        for one in found
    ], cut_ns is not None


def capture(
    recordings: Sequence[Recording], found: Iterable[Datagram], title: str, name_of: Callable[[bytes], str]
) -> Iterator[bytes]:
    """``found`` as pcapng, in pieces. ``title`` says of what run; ``name_of`` names a datagram in its comment."""
    piece = bytearray(pcapng.section(title, f"Waxwing {__version__}") + pcapng.interface("overlay"))
    begin = recordings[0].begin
    epoch = begin.zero_ns + begin.wall_offset_ns  # of one host, or of one simulation: its servers share a clock
    for one in found:
        teller, direction = ("sender", pcapng.OUTBOUND) if one.is_sender else ("receiver", pcapng.INBOUND)
        comment = f"{name_of(one.data)}, recorded by the {teller}; message {one.number}."
        piece += pcapng.packet(epoch + one.at_ns, one.source, one.to, one.data, direction, comment)
        if len(piece) >= PIECE_BYTES:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def title_of(files: RunFiles) -> str:
    """What a capture of this run says of itself."""
    how = "simulated in virtual time" if files.read_manifest().get("engine") == SIMULATED else "as they were recorded"
    return (
        f"Messages of run {files.run}, {how}. A message is told of by its sender, or by its receiver where only that "
        "recorded. IP and UDP heads are made up from the recorded addresses."
    )
