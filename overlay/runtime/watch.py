"""Detects brokers that run but do not answer, such as stopped processes.

Brokers of a network are pinged. Brokers of a run are not, because pings would be part of the measurement; each
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
"""A broker without a sign of life for this long does not answer. A busy machine causes delays of a second or two."""
LOOK = SECOND // 2
ROUND = 4
"""Looks per round of pings. The answers of a thousand brokers at once would not fit into a socket's buffer."""

Heard = Callable[[Mapping[str, Address], int], set[str]]
"""Called with the running brokers, by name, and the time. Returns those with a sign of life since the last call."""


class Watch:
    """Watches the brokers of one deployment."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._silences: dict[str, Silence] = {}
        self._next = 0
        self.silent: frozenset[str] = frozenset()
        """The names of silent brokers."""

    def look(self, up: Mapping[str, Address], now: int) -> None:
        """``up`` are the running brokers, by name. Call it often; it looks every ``LOOK``."""
        if now < self._next:
            return
        self._next = now + LOOK
        heard = self._heard(up, now)
        self._silences = {name: self._silences.get(name) or Silence(now) for name in up}
        for name in heard & up.keys():
            self._silences[name].hear(now)
        self.silent = frozenset(name for name, silence in self._silences.items() if silence.look(now) >= SILENT)


class Journals:
    """Signs of life from the growth of journals."""

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
    """Signs of life from answers to pings."""

    def __init__(self, ping: Callable[[int], bytes]) -> None:
        """``ping`` creates the datagram, given Unix milliseconds."""
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
            with suppress(OSError, KeyError):  # lost, like any datagram, or no longer running
                self._sock.sendto(question, up[name])
        return heard

    def _answers(self) -> set[Address]:
        sources: set[Address] = set()
        with suppress(OSError):  # no more datagrams
            while True:
                sources.add(self._sock.recvfrom(512)[1])
        return sources

    def close(self) -> None:
        self._sock.close()
