"""Which brokers run and do not answer: a process that is stopped is up for the system and gone for everybody else.

Brokers of a network are asked by a ping. Of those of a run nothing is asked, since a question would be measured: each
writes a tick to its journal every second.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.core.silence import Silence
from overlay.runtime.clock import unix_ms

SILENT = 5 * SECOND
"""Without a sign of life for so long a broker does not answer; a busy machine delays one by a second or two."""
LOOK = SECOND // 2
ROUND = 4
"""Looks in which every broker is asked once: the answers of a thousand at one go would not fit into a socket."""

Heard = Callable[[Mapping[str, Address], int], set[str]]
"""Given the brokers that are up, by name, and the instant: those that gave a sign of life since the last call."""


class Watch:
    """Over the brokers of one deployment."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._silences: dict[str, Silence] = {}
        self._next = 0
        self.silent: frozenset[str] = frozenset()
        """The names of those that do not answer."""

    def look(self, up: Mapping[str, Address], now: int) -> None:
        """``up`` are the brokers whose process runs, by name. To be called often; it looks every ``LOOK``."""
        if now < self._next:
            return
        self._next = now + LOOK
        heard = self._heard(up, now)
        self._silences = {name: self._silences.get(name) or Silence(now) for name in up}
        for name in heard & up.keys():
            self._silences[name].hear(now)
        self.silent = frozenset(name for name, silence in self._silences.items() if silence.look(now) >= SILENT)


class Journals:
    """Signs of life of brokers that write a journal: it has grown."""

    def __init__(self, path_of: Callable[[str], Path]) -> None:
        self._path_of = path_of
        self._sizes: dict[str, int] = {}

    def heard(self, up: Mapping[str, Address], now: int) -> set[str]:
        before, self._sizes = self._sizes, {}
        for name in up:
            with suppress(OSError):
                self._sizes[name] = os.stat(self._path_of(name)).st_size  # noqa: PTH116  a thousand of them each second
        return {name for name, size in self._sizes.items() if size != before.get(name)}


class Pings:
    """Signs of life of brokers that are asked for one."""

    def __init__(self, ping: Callable[[int], bytes]) -> None:
        """``ping`` makes the question, given Unix milliseconds."""
        self._ping = ping
        self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sock.setblocking(False)
        self._to_ask: deque[str] = deque()

    def heard(self, up: Mapping[str, Address], now: int) -> set[str]:
        names = {address: name for name, address in up.items()}
        heard = {names[source] for source in self._answers() if source in names}
        if not self._to_ask:
            self._to_ask.extend(up)
        question = self._ping(unix_ms(now))
        for _ in range(min(len(self._to_ask), -(-len(up) // ROUND))):
            name = self._to_ask.popleft()
            with suppress(OSError, KeyError):  # lost, as datagrams may be, or no longer up
                self._sock.sendto(question, up[name])
        return heard

    def _answers(self) -> set[Address]:
        sources: set[Address] = set()
        with suppress(OSError):  # nothing more there
            while True:
                sources.add(self._sock.recvfrom(512)[1])
        return sources

    def close(self) -> None:
        self._sock.close()
