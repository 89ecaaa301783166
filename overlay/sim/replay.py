"""Replays a recorded broker: a new one gets the recorded input and must send exactly the same bytes, and append and
commit the same in its log.

Counterpart: ``overlay.journal.recording`` has the order of inputs and outputs. Nothing is scheduled here; times come
from the recording. Output may follow several inputs, because a driver collects it once per batch. A missing datagram is
therefore detected at once, and a surplus one at the next datagram sent or at the next input.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.errors import InvalidSetting
from overlay.journal.recording import INPUTS, OUTPUTS, BadRecording, Begin, Record, Recording, What, recordings_in
from overlay.log.node import Assignment
from overlay.log.topics import Record as LogRecord
from overlay.sim.differences import OF_LOG, Difference, Output, input_in_words
from overlay.systems.contract import System
from overlay.systems.cores import Server, Usage
from overlay.systems.recordings import server_code
from overlay.systems.registry import system_of
from overlay.systems.roles import Place

CHANCES: dict[str, Callable[[int, bytes], Chances]] = {
    "random": lambda seed, secret: Chances.of_one(Random(seed), secret),
    "streams": lambda seed, _: Chances.streams(seed),
}
OF_STREAMS, OUT_OF_STREAMS = {What.OPENED, What.STREAMED, What.CLOSED}, {What.WRITTEN, What.ENDS}
"""What connections say to a server, and it to them."""
BEFORE = 5
"""Number of inputs shown before a difference."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """The replay of one broker."""

    begin: Begin
    inputs: int
    datagrams: int
    """Datagrams sent both times."""
    appends: int
    """Records appended to the log both times."""
    difference: Difference | None
    end: What | None
    """``ENDED``; ``FULL`` if the recording ends before the broker did; ``None`` if the broker died."""
    bad_bytes: int
    """Unreadable bytes at the end of the recording."""


def replay(path: Path) -> Replayed:
    """Replay a recorded broker until its recording ends, or until it differs.

    Also raises ``BadRecording`` for a damaged recording, since records after the damage were not compared.
    """
    recording = Recording(path)
    again = _Again(recording.begin)
    difference = None
    for record in recording:
        difference = again.follow(record)
        if difference is not None:
            break
    if difference is None and recording.is_damaged:
        raise BadRecording(
            f"{path} is damaged: its last {recording.bad_bytes:,} bytes cannot be read. The {again.inputs} inputs "
            "before them were replayed without a difference."
        )
    if difference is None and recording.end == What.ENDED:  # if the broker died, its last datagrams may be missing
        difference = again.surplus()
    return Replayed(
        recording.begin,
        again.inputs,
        again.same[What.SENT],
        again.same[What.APPENDED],
        difference,
        recording.end,
        recording.bad_bytes,
    )


def replay_all(directory: Path) -> list[Replayed]:
    """Replay every recording in a directory, up to the first difference. Raises ``BadRecording``."""
    found = []
    for path in recordings_in(directory):
        found.append(replay(path))
        if found[-1].difference is not None:
            break
    return found


class _Again:
    """A new broker, compared with the recording of the first one."""

    def __init__(self, begin: Begin) -> None:
        self.inputs = 0
        self.same = Counter[What]()
        """Outputs of each kind that were the same both times."""
        self._begin = begin
        self._system = _system(begin)
        self._server = _make(begin, self._system)
        self._waiting: dict[What, deque[Output]] = {what: deque() for what in OUTPUTS}
        """Outputs of the new broker, by kind, that are not yet matched by the recording."""
        self._appended = 0
        self._tokens: dict[int, object] = {}
        """Of its appends, by number, until they are durable."""
        self._batch: list[tuple[bytes, Address]] = []
        """Datagrams that wait for the others of their batch."""
        self._missing = 0
        """How many others."""
        self._before: deque[tuple[int, Record]] = deque(maxlen=BEFORE)
        self._now: int | None = None
        """Time of the last input; ``None`` before the first."""
        self._drained: set[What] = set()
        """The kinds of the outputs since the last input. All of a kind precede the next input.

        Output is taken where the recording has some, since a server may pack together what it sends until then."""

    def follow(self, record: Record) -> Difference | None:
        what, *fields = record
        if self._missing and what != What.RECEIVED:
            raise BadRecording(f"a batch of datagrams of {self._begin.name} is not whole, at input {self.inputs}.")
        if what == What.BATCH:
            self._missing = fields[0]
            return None
        if what in OUTPUTS:
            kind, (at, *rest) = What(what), fields
            if kind not in self._drained:
                self._drain(kind)
            return self._compare(at, (kind, *rest))
        if what not in INPUTS:
            raise BadRecording(f"the recording of {self._begin.name} begins again, at input {self.inputs}.")
        surplus = self._left(self._drained)
        if surplus is not None:
            return surplus
        self._drained.clear()
        self._feed(what, fields)
        return None

    def surplus(self) -> Difference | None:
        """Output that only the new broker has."""
        for kind in self._kinds - self._drained:
            self._drain(kind)
        return self._left(self._kinds)

    def _left(self, kinds: Iterable[What]) -> Difference | None:
        left = [self._waiting[kind][0] for kind in sorted(kinds) if self._waiting[kind]]
        return self._difference(self._at, None, left[0]) if left else None

    def _compare(self, at: int, recorded: Output) -> Difference | None:
        kind = recorded[0]
        replayed = self._waiting[kind].popleft() if self._waiting[kind] else None
        if replayed != recorded:
            return self._difference(at, recorded, replayed)
        self.same[kind] += 1
        return None

    def _feed(self, what: int, fields: list[Any]) -> None:
        server = self._server
        if what == What.TRACED:
            server.traces()
        elif what == What.CLOCK:
            server.set_wall_clock(fields[0])
        else:
            now, *rest = fields
            if self._now is not None and now < self._now:
                raise BadRecording(f"the recording of {self._begin.name} goes back in time, at input {self.inputs}.")
            self._now = now
            if what == What.RECEIVED:
                host, port, data = rest
                self._receive(data, (host, port), now)
            elif what == What.FAULT:
                self._fault(rest[0], rest[1], now)
            elif what == What.USAGE:
                self._use(Usage(*rest), now)
            elif what in OF_STREAMS:
                self._feed_stream(What(what), rest, now)
            elif what in OF_LOG:
                self._feed_log(What(what), rest[0], now)
            else:
                if what == What.TIMER:
                    server.next_timer()  # every driver has asked for it
                {What.TIMER: server.handle_timer, What.COUNTED: server.statistics, What.LEAVING: server.leave}[
                    What(what)
                ](now)
        server.events()
        self.inputs += 1
        self._before.append((self._at, (what, *fields)))

    def _receive(self, data: bytes, source: Address, now: int) -> None:
        """A server may answer a batch otherwise than its datagrams one by one: by one acknowledgement, for example."""
        self._batch.append((data, source))
        self._missing -= 1
        if self._missing <= 0:
            batch, self._batch, self._missing = self._batch, [], 0
            self._server.receive_datagrams(batch, now)

    def _use(self, usage: Usage, now: int) -> None:
        server: Any = self._server
        if not hasattr(server, "set_usage"):
            raise BadRecording(f"the recording of {self._begin.name} has a usage, which its server does not take.")
        server.set_usage(usage, now)

    def _feed_log(self, what: What, parts: tuple[Any, ...], now: int) -> None:
        server: Any = self._server
        if not self._has_log:
            raise BadRecording(f"the recording of {self._begin.name} has a log, which its server has not.")
        if what == What.READ:
            server.receive_records([LogRecord(*part) for part in parts], now)
        elif what == What.DURABLE:
            if not all(number in self._tokens for (number,) in parts):
                raise BadRecording(
                    f"the recording of {self._begin.name} has a record durable that it did not append, at input "
                    f"{self.inputs}."
                )
            server.appended([self._tokens.pop(number) for (number,) in parts], now)
        else:
            (server.assigned if what == What.ASSIGNED else server.revoked)([Assignment(*part) for part in parts], now)

    def _feed_stream(self, what: What, rest: list[Any], now: int) -> None:
        server: Any = self._server
        if not hasattr(server, "bytes_to_send"):
            raise BadRecording(f"the recording of {self._begin.name} has connections, which its server has not.")
        {What.OPENED: server.opened, What.STREAMED: server.received, What.CLOSED: server.closed}[what](*rest, now)

    def _drain(self, kind: What) -> None:
        self._drained.add(kind)
        server: Any = self._server
        waiting = self._waiting[kind]
        if kind == What.SENT:
            waiting.extend((kind, *to, data) for data, to in server.datagrams_to_send())
        elif kind not in self._kinds:
            return
        elif kind == What.WRITTEN:
            waiting.extend((kind, *one) for one in server.bytes_to_send())
        elif kind == What.ENDS:
            waiting.extend((kind, number) for number in server.connections_to_close())
        elif kind == What.COMMITTED:
            waiting.extend((kind, *position) for position in server.positions_to_commit())
        else:
            for topic, key, value, token in server.records_to_append():
                if token is not None:
                    self._tokens[self._appended] = token
                self._appended += 1
                waiting.append((kind, topic, key, value))

    @property
    def _has_log(self) -> bool:
        return hasattr(self._server, "subscriptions")

    @property
    def _kinds(self) -> Set[What]:
        """The kinds of outputs that its server has."""
        of_log = {What.APPENDED, What.COMMITTED} if self._has_log else set()
        return {What.SENT} | of_log | (OUT_OF_STREAMS if hasattr(self._server, "bytes_to_send") else set())

    def _fault(self, text: str, begins: bool, now: int) -> None:
        server: Any = self._server
        try:
            document, fault = json.loads(text), server.fault
        except (ValueError, AttributeError):
            raise BadRecording(
                f"the recording of {self._begin.name} has a fault that its server cannot have, at input {self.inputs}."
            ) from None
        fault(document, begins, now)

    @property
    def _at(self) -> int:
        return self._begin.zero_ns if self._now is None else self._now

    def _difference(self, at: int, recorded: Output | None, replayed: Output | None) -> Difference:
        zero = self._begin.zero_ns
        before = tuple(f"{(now - zero) / 1e9:.6f} s  {input_in_words(record)}" for now, record in self._before)
        is_other = self._begin.code != server_code(self._system)
        return Difference(self._begin.name, at - zero, recorded, replayed, before, is_other)


def _system(begin: Begin) -> System:
    try:
        return system_of(begin.system)
    except InvalidSetting:
        raise BadRecording(f"the recording of {begin.name} is of the unknown system {begin.system!r:.40}.") from None


def _make(begin: Begin, system: System) -> Server:
    """A server in its state before the first input. Raises ``BadRecording``."""
    if begin.chance not in CHANCES:
        raise BadRecording(f"the recording of {begin.name} has the unknown source of randomness {begin.chance!r:.40}.")
    chances = CHANCES[begin.chance](begin.seed, begin.secret)
    try:
        config = system.read_config(begin.config)
    except InvalidSetting as error:
        raise BadRecording(
            f"the recording of {begin.name} has settings that this version does not accept: {error}"
        ) from None
    place = Place(begin.process, begin.index, begin.address, begin.servers or (begin.address,))
    return system.make_server(config, place, chances, begin.wall_offset_ns)
