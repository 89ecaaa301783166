"""Faults that a client has: it is silent, late, lossy, cut off, or crashes at its next push. Counterpart: ``faults``.

Faults of links are those of clients' ends: what is lost between two clients is lost where it arrives, once, and links
to the server are impaired both ways here, since the server knows no client's link.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND
from overlay.core.timers import earliest
from overlay.systems.radiator.faults import EVERY, islands_of
from overlay.systems.radiator.wire.messages import Ack, Push
from overlay.systems.radiator.wire.table import KINDS, MAGIC

HEAD = {kind: MAGIC + bytes([KINDS[kind]]) for kind in (Ack, Push)}
Sent = tuple[bytes, Address]
SERVER, PEERS = "server", "peers"


class Delayed:
    """Datagrams that wait, by the time at which they go on."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, bytes, Address]] = []
        self._order = count()

    def put(self, at: int, data: bytes, address: Address) -> None:
        heappush(self._waiting, (at, next(self._order), data, address))

    def due(self, now: int) -> Iterator[Sent]:
        while self._waiting and self._waiting[0][0] <= now:
            _, _, data, address = heappop(self._waiting)
            yield data, address

    def next_timer(self) -> int | None:
        return self._waiting[0][0] if self._waiting else None

    def clear(self) -> None:
        self._waiting.clear()


class Impairments:
    """Of client ``number``; ``chance`` draws what is lost."""

    def __init__(self, chance: Chance, server: Address, number: int) -> None:
        self._chance, self._server, self._number = chance, server, number
        self._faults: list[Mapping[str, Any]] = []
        self.arriving, self.leaving = Delayed(), Delayed()
        self._loss = dict.fromkeys((SERVER, PEERS), 0.0)
        """Of what arrives, by where it is from."""
        self._loss_of_sent = dict.fromkeys((SERVER, PEERS), 0.0)
        self._delay = dict.fromkeys((SERVER, PEERS), 0)
        self._delay_to_server = 0
        self._islands: list[dict[int | str, int]] = []
        self._is_armed = False
        self.has_crashed = False
        """At a push, since the fault began."""

    def change(self, document: Mapping[str, Any], begins: bool) -> None:
        (self._faults.append if begins else self._faults.remove)(dict(document))
        for side in (SERVER, PEERS):
            linked = [fault for fault in self._faults if fault.get("links") in (side, EVERY)]
            own = [fault for fault in self._faults if "links" not in fault]
            self._loss[side] = _lost(own + linked)
            self._loss_of_sent[side] = _lost(own + linked if side == SERVER else own)
            self._delay[side] = _delay(own + linked)
            if side == SERVER:
                self._delay_to_server = _delay(linked)
        self._islands = [islands_of(fault["islands"]) for fault in self._faults if "islands" in fault]
        self._is_armed = any(fault["what"] == "crash_at_push" for fault in self._faults)
        self.has_crashed = self.has_crashed and self._is_armed

    def _side(self, address: Address) -> str:
        return SERVER if address == self._server else PEERS

    def receive(self, data: bytes, source: Address, now: int) -> bool:
        """Whether it is received now; it may also be lost, or wait."""
        if not self._faults:
            return True
        side = self._side(source)
        if (side == SERVER and not self.hears(SERVER)) or self._is_lost(self._loss[side]):
            return False
        if self._delay[side]:
            self.arriving.put(now + self._delay[side], data, source)
            return False
        return True

    def sent(self, outgoing: Sequence[Sent], now: int) -> Sequence[Sent]:
        """What is sent now of what waits and of ``outgoing``."""
        if not self._faults and self.leaving.next_timer() is None:
            return outgoing
        return [*self.leaving.due(now), *(one for one in outgoing if self._send(*one, now))]

    def _send(self, data: bytes, to: Address, now: int) -> bool:
        side = self._side(to)
        if (side == SERVER and not self.hears(SERVER)) or self._is_lost(self._loss_of_sent[side]):
            return False
        if side == SERVER and self._delay_to_server:
            self.leaving.put(now + self._delay_to_server, data, to)
            return False
        return True

    def hears(self, other: int | str) -> bool:
        """Whether no partition separates it from the server or a client."""
        own = self._number
        return not any(own in one and other in one and one[own] != one[other] for one in self._islands)

    def _is_lost(self, share: float) -> bool:
        return bool(share) and self._chance.random() < share

    def next_timer(self) -> int | None:
        return earliest(self.arriving.next_timer(), self.leaving.next_timer())

    def clear(self) -> None:
        self.arriving.clear()
        self.leaving.clear()

    def crashes_at_push(self, outgoing: Sequence[Sent]) -> bool:
        """Whether it crashes instead of forwarding what it has acknowledged."""
        if self._is_armed and not self.has_crashed:
            self.has_crashed = any(data.startswith(HEAD[Push]) for data, _ in outgoing)
            return self.has_crashed
        return False

    def acknowledgements(self, outgoing: Sequence[Sent]) -> list[Sent]:
        return [(data, to) for data, to in outgoing if data.startswith(HEAD[Ack])]


def _lost(faults: Sequence[Mapping[str, Any]]) -> float:
    """The share that all of them together lose."""
    passing = 1.0
    for fault in faults:
        passing *= 1 - (1.0 if fault["what"] == "silent" else fault.get("share", fault.get("loss", 0.0)))
    return 1 - passing


def _delay(faults: Sequence[Mapping[str, Any]]) -> int:
    delay_ms: float = sum(fault.get("by_ms", fault.get("delay_ms", 0.0)) for fault in faults)
    return round(delay_ms * MILLISECOND)
