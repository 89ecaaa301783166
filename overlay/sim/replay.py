"""Replays a recorded broker: a new one gets the recorded input and must send exactly the same bytes.

Counterpart: ``overlay.journal.recording`` has the order of inputs and outputs. Nothing is scheduled here; times come
from the recording. Output may follow several inputs, because a driver collects it once per batch. A missing datagram is
therefore detected at once, and a surplus one at the next datagram sent or at the next input.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from overlay.core.addresses import Address, format_address
from overlay.core.chance import Chances
from overlay.core.errors import InvalidSetting
from overlay.journal.recording import INPUTS, BadRecording, Begin, Record, Recording, What, recordings_in
from overlay.systems.contract import System
from overlay.systems.cores import Server
from overlay.systems.recordings import server_code
from overlay.systems.registry import system_of
from overlay.systems.roles import Place

CHANCES: dict[str, Callable[[int, bytes], Chances]] = {
    "random": lambda seed, secret: Chances.of_one(Random(seed), secret),
    "streams": lambda seed, _: Chances.streams(seed),
}
BEFORE = 5
"""Number of inputs shown before a difference."""
SHOWN_BYTES = 160
"""Maximum bytes of a datagram in a sentence."""

Datagram = tuple[bytes, Address]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of a replay."""

    broker: str
    at_ns: int
    """Since the deployment's zero."""
    recorded: Datagram | None
    replayed: Datagram | None
    """``None`` if there was none."""
    before: tuple[str, ...]
    """The last inputs before it, in words, the newest last."""
    by_other_code: bool
    """Whether the broker's code has changed since the recording, which may explain the difference."""

    def __str__(self) -> str:
        lines = [
            f"{self.broker} differs {self.at_ns / 1e9:.6f} s after the deployment's zero:",
            f"  recorded {_datagram_in_words(self.recorded)}",
            f"  replayed {_datagram_in_words(self.replayed)}",
            "  the last inputs before it:",
        ]
        lines += [f"    {line}" for line in self.before]
        if self.by_other_code:
            lines.append("  The broker's code has changed since the recording.")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The replay of one broker."""

    begin: Begin
    inputs: int
    datagrams: int
    """Datagrams sent both times."""
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
    return Replayed(recording.begin, again.inputs, again.datagrams, difference, recording.end, recording.bad_bytes)


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
        self.datagrams = 0
        self._begin = begin
        self._system = _system(begin)
        self._server = _make(begin, self._system)
        self._waiting: deque[Datagram] = deque()
        """Datagrams sent by the new broker that are not yet matched by the recording."""
        self._before: deque[tuple[int, Record]] = deque(maxlen=BEFORE)
        self._now: int | None = None
        """Time of the last input; ``None`` before the first."""
        self._is_drained = False
        """Whether the last record was a sent datagram. All of them precede the next input.

        Output is taken where the recording has some, since a server may pack together what it sends until then."""

    def follow(self, record: Record) -> Difference | None:
        what, *fields = record
        if what == What.SENT:
            if not self._is_drained:
                self._drain()
            self._is_drained = True
            at, host, port, data = fields
            return self._compare(at, (data, (host, port)))
        if what not in INPUTS:
            raise BadRecording(f"the recording of {self._begin.name} begins again, at input {self.inputs}.")
        if self._is_drained and self._waiting:
            return self.surplus()
        self._is_drained = False
        self._feed(what, fields)
        return None

    def surplus(self) -> Difference | None:
        """A datagram that only the new broker sends."""
        if not self._is_drained:
            self._drain()
        return self._difference(self._at, None, self._waiting[0]) if self._waiting else None

    def _compare(self, at: int, recorded: Datagram) -> Difference | None:
        replayed = self._waiting.popleft() if self._waiting else None
        if replayed != recorded:
            return self._difference(at, recorded, replayed)
        self.datagrams += 1
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
                server.receive_datagrams(((data, (host, port)),), now)
            elif what == What.FAULT:
                self._fault(rest[0], rest[1], now)
            else:
                if what == What.TIMER:
                    server.next_timer()  # every driver has asked for it
                {What.TIMER: server.handle_timer, What.COUNTED: server.statistics, What.LEAVING: server.leave}[
                    What(what)
                ](now)
        server.events()
        self.inputs += 1
        self._before.append((self._at, (what, *fields)))

    def _drain(self) -> None:
        self._waiting.extend(self._server.datagrams_to_send())

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

    def _difference(self, at: int, recorded: Datagram | None, replayed: Datagram | None) -> Difference:
        zero = self._begin.zero_ns
        before = tuple(f"{(now - zero) / 1e9:.6f} s  {_input_in_words(record)}" for now, record in self._before)
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


def _input_in_words(record: Record) -> str:
    what, *fields = record
    if what == What.RECEIVED:
        _, host, port, data = fields
        return f"received {_shown(data)} from {format_address((host, port))}"
    if what == What.CLOCK:
        return f"its wall clock was set to {fields[0]} ns ahead"
    if what == What.FAULT:
        return f"a fault {'began' if fields[2] else 'ended'}: {fields[1]:.{SHOWN_BYTES}}"
    return {
        What.TIMER: "its timer was due",
        What.COUNTED: "its statistics were read",
        What.TRACED: "its traces were collected",
        What.LEAVING: "it was ordered to leave",
    }[What(what)]


def _datagram_in_words(datagram: Datagram | None) -> str:
    return f"{_shown(datagram[0])} to {format_address(datagram[1])}" if datagram else "nothing"


def _shown(data: bytes) -> str:
    return f"{data[:SHOWN_BYTES]!r}" + (f" and {len(data) - SHOWN_BYTES} more bytes" if len(data) > SHOWN_BYTES else "")
