"""Conversations as ASCII pictures, held by real brokers, so that no picture shows what no broker sends. Pure.

Counterpart: ``page`` puts them into ``docs/wire.md``. Datagrams arrive at once and in order; nothing is lost.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from brokerweb.wirelab.lab import Conversation, Line
from brokerweb.wirelab.pictures import drawn
from overlay.core.addresses import Address, format_address
from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.wire.codec import code_of

NOW = 1_795_338_000_000
"""Unix milliseconds, in every example."""
A, B, D, C, P, K = "A", "B", "D", "C", "P", "K"
NAMES = {A: "broker A", B: "broker B", D: "broker D", C: "consumer", P: "provider", K: "controller"}
ADDRESSES: dict[str, Address] = {name: (f"10.0.0.{at}", 7000 + at) for at, name in enumerate(NAMES, 1)}
_STATUS = re.compile(rb"[56]\|\d+\|N?ACK\|Status:(\d+)")
_MOMENT = re.compile(rf"\b{NOW // 10**6}\d{{6}}\b")
_NETWORKS = "10.0.0.0/8"
_OPEN: dict[str, Any] = {"trusted_networks": _NETWORKS, "controller_networks": _NETWORKS, "trace_one_in": 0}


@dataclass
class Room:
    """Brokers, joined in a row, and clients of which nothing is known but what they send."""

    settings: dict[str, Any] = field(default_factory=dict)
    row: str = ""
    now: int = 0
    lines: list[Line] = field(default_factory=list)
    """Since the last ``forget``."""

    def __post_init__(self) -> None:
        config = BrokerConfig(**{**_OPEN, **self.settings})
        self.brokers = {
            name: Broker(config, ADDRESSES[name], Chances.streams(1), NOW * MILLISECOND) for name in (A, B, D)
        }
        for one, other in zip(self.row, self.row[1:], strict=False):
            self.say(other, one, f"8|{NOW}|{format_address(ADDRESSES[one])}|*")
            self.say(one, other, f"8|{NOW}|{format_address(ADDRESSES[other])}|*")

    def say(self, sender: str, receiver: str, text: str) -> None:
        """Send one datagram, and deliver it and all that follows from it."""
        under_way = deque([(sender, receiver, text.encode())])
        while under_way:
            sender, receiver, data = under_way.popleft()
            self.lines.append(Line(sender, receiver, data))
            if receiver in self.brokers:
                self.brokers[receiver].receive_datagram(data, ADDRESSES[sender], self.now)
                under_way.extend(self._sent_by(receiver))

    def wait(self, ms: int) -> None:
        """Let the timers of all brokers that come due do what they do."""
        self.now += ms * MILLISECOND
        for name, broker in self.brokers.items():
            broker.handle_timer(self.now)
            for sender, receiver, data in list(self._sent_by(name)):
                self.say(sender, receiver, data.decode())

    def forget(self) -> None:
        self.lines.clear()

    def _sent_by(self, name: str) -> Iterator[tuple[str, str, bytes]]:
        by_address = {address: other for other, address in ADDRESSES.items()}
        for data, to in self.brokers[name].datagrams_to_send():
            yield name, by_address[to], data


def picture(lines: list[Line]) -> list[str]:
    """A lifeline for each who takes part, a row for each datagram, and its text."""
    return drawn(lines, NAMES, (K, P, C, A, B, D), _label, _text)


def _label(data: bytes) -> str:
    """The code, and the status of an ACK or NACK."""
    code, status = code_of(data), _STATUS.match(data)
    return f"{code} ({status[1].decode()})" if status else f"{code}"


def _text(data: bytes) -> str:
    text = data.decode()
    for name, address in ADDRESSES.items():
        text = text.replace(format_address(address), name).replace("|".join(map(str, address)), name)
    return _MOMENT.sub(_moment, text)


def _moment(found: re.Match[str]) -> str:
    since_ms = int(found[0]) - NOW
    whole_s, rest_ms = divmod(since_ms, 1000)
    return "t" if not since_ms else f"t+{since_ms}ms" if rest_ms else f"t+{whole_s}s"


# ---- what is said

_UPDATE = f"2|{NOW}|9|U|p1|room|r1|temp|{NOW}|{NOW + 120_000}|degC=21.5"
_ASK = f"3|{NOW}|room|r1|temp"


def _stored(room: Room) -> None:
    room.say(P, A, _UPDATE)


def _answered(room: Room) -> None:
    room.say(P, D, _UPDATE)
    room.forget()
    room.say(C, A, _ASK)


def _not_found(room: Room) -> None:
    room.say(C, A, _ASK)


def _looked_for(room: Room) -> None:
    room.say(P, D, _UPDATE)
    room.forget()
    room.say(C, A, _ASK)
    room.wait(100)


def _refreshed(room: Room) -> None:
    _answered(room)
    room.forget()
    room.now += 5000 * MILLISECOND
    room.say(P, D, _UPDATE.replace(f"2|{NOW}", f"2|{NOW + 5000}").replace("21.5", "22.0"))


def _structured(room: Room) -> None:
    for _ in range(10):
        room.wait(500)
    room.forget()
    room.say(P, A, _UPDATE)
    room.say(C, B, _ASK)


def _quiet(room: Room) -> None:
    room.say(P, A, _UPDATE)
    room.forget()
    room.say(C, A, _ASK.replace("3|", "32|", 1))


def _joined(room: Room) -> None:
    room.say(K, A, f"8|{NOW}|{format_address(ADDRESSES[B])}")


def _left(room: Room) -> None:
    room.say(K, A, f"7|{NOW}")
    room.wait(500)
    room.wait(500)


def _monitored(room: Room) -> None:
    room.say(K, A, f"0|{NOW}")
    room.wait(1000)


def _asked_for_neighbours(room: Room) -> None:
    room.say(K, A, f"18|{NOW}")
    room.say(K, A, f"20|{NOW}")


def _refused(room: Room) -> None:
    room.say(C, A, f"3|{NOW}|room")


_STRUCTURED = {"arm": "structured", "dht_replicas": 1}
_REFRESH = {"replica_refresh": True, "replication_index": 1}
CONVERSATIONS: tuple[tuple[str, dict[str, Any], str, Callable[[Room], None]], ...] = (
    ("An update is stored", {}, A, _stored),
    ("A request is answered over three brokers, and B keeps a replica", {"replication_index": 1}, "ABD", _answered),
    ("Data are nowhere", {}, "AB", _not_found),
    ("A request without acknowledgements, answered from the table", {}, A, _quiet),
    ("A newer value follows to the replica (`replica_refresh`)", _REFRESH, "ABD", _refreshed),
    ("A message that cannot be read", {}, A, _refused),
    ("A broker joins", {}, A, _joined),
    ("A broker leaves; it announces this three times within a second", {}, "AB", _left),
    ("Monitoring", {}, "AB", _monitored),
    ("Requests for neighbours and counters", {}, "AB", _asked_for_neighbours),
    ("From hop to hop with acknowledgements (`hop_ack`)", {"hop_ack": True}, "AB", _not_found),
    ("Lookahead at each step of a walk (`search: lookahead`)", {"search": "lookahead"}, "ABD", _looked_for),
    ("A hash table instead of searches (`arm: structured`, one copy)", _STRUCTURED, "ABD", _structured),
)
"""Title, settings of the brokers, which of them are neighbours in a row, what is said."""


def held() -> Iterator[Conversation]:
    for title, settings, row, hold in CONVERSATIONS:
        room = Room(settings, row)
        room.forget()
        hold(room)
        yield Conversation(title, tuple(picture(room.lines)), tuple(room.lines))
