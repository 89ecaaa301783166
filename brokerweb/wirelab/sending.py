"""Sends a datagram to a live server and collects the answers. The only part of the wire lab with a socket.

Targets are chosen by network or run and index among the servers of one system in this installation; addresses are
never accepted from clients.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import SystemRandom
from typing import Any

from django.conf import settings
from django.core.cache import cache

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ON_BROKERS
from brokerweb.kit.errors import NotPossible
from brokerweb.networks.models import UP, Network
from brokerweb.wirelab.exchanges import Exchange, Heard
from brokerweb.wirelab.lab import Lab
from overlay.core.addresses import Address, is_loopback, parse_address
from overlay.core.binary import MAX_DATAGRAM
from overlay.core.engines import LIVE
from overlay.core.errors import InvalidSetting, shown
from overlay.core.node import MILLISECOND, SECOND
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES

log = logging.getLogger(__name__)

MOST_ANSWERS = 64
MOST_SENT, WINDOW_S = 20, 10
"""Rate limit: datagrams per user, and its window in seconds."""
MOST_OFFERED = 50
"""Networks and runs that are offered."""
NETWORK, RUN = "network", "run"


class TooFast(NotPossible):
    """The user exceeds the rate limit."""


@dataclass(frozen=True, slots=True)
class Place:
    """A network or a run with live brokers."""

    kind: str
    id: str
    name: str
    brokers: int
    is_measured: bool
    """Whether datagrams affect a measurement."""

    @property
    def value(self) -> str:
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True)
class Sent:
    place: Place
    broker: int
    address: Address
    answers: tuple[Heard, ...]
    is_nobody_there: bool = False
    """Whether the machine reported that no process has this port."""
    is_cut: bool = False
    """Whether more than ``MOST_ANSWERS`` came."""


def places(system: str) -> list[Place]:
    """Possible targets, networks first."""
    networks = Network.objects.filter(state__in=UP, system=system).only("id", "name", "host", "brokers")
    networks = networks[:MOST_OFFERED]
    runs = Run.objects.filter(state__in=ON_BROKERS, engine=LIVE, system=system).select_related("experiment")[
        :MOST_OFFERED
    ]
    live: list[tuple[str, Network | Run]] = [(NETWORK, network) for network in networks]
    live += [(RUN, run) for run in runs.defer("configuration", "summary")]
    found = []
    for kind, one in live:
        name, brokers = _told(one)
        if up := dict(_up(brokers, one.host)):
            found.append(Place(kind, one.pk, name, len(up), kind == RUN))
    return found


def place_of(lab: Lab, kind: str, id: str) -> tuple[Place, dict[int, Address]]:
    """A network or run, and its running brokers. Raises ``InvalidSetting`` and ``NotPossible``."""
    if kind not in (NETWORK, RUN):
        raise InvalidSetting("to", f"must be a network or a run, not {shown(kind, 40)}")
    found: Network | Run | None
    if kind == NETWORK:
        found = Network.objects.filter(pk=id, system=lab.system).first()
    else:
        found = Run.objects.filter(pk=id, system=lab.system).select_related("experiment").first()
    if found is None:
        raise InvalidSetting("to", f"there is no {kind} with the id {shown(id, 40)}")
    name, brokers = _told(found)
    up = dict(_up(brokers, found.host))
    if not up:
        raise NotPossible(
            f"The {kind} {name} is {found.state}, and none of its {lab.server}s can be reached from here."
        )
    return Place(kind, id, name, len(up), kind == RUN), up


def _told(one: Network | Run) -> tuple[str, list[dict[str, Any]]]:
    """Its name, and its brokers as last observed."""
    if isinstance(one, Network):
        return one.name, one.brokers
    return f"{one.experiment.name}, run {one.position + 1}", one.observed.get("brokers") or []


def _up(brokers: list[dict[str, Any]], host: str) -> Iterator[tuple[int, Address]]:
    """Running, reachable brokers: a loopback address of another host would reach the wrong process."""
    for broker in brokers:
        if broker.get("state") != "up" or not broker.get("address"):
            continue
        address = parse_address(broker["address"])
        if host == settings.HOST_NAME or not is_loopback(address[0]):
            yield int(broker["index"]), address


def send(lab: Lab, kind: str, id: str, broker: int, data: bytes, person: int) -> Sent:
    """Send ``data`` to a server and listen, for about two seconds at most.

    Raises ``InvalidSetting``, ``NotPossible`` and ``TooFast``; then nothing was sent.
    """
    if len(data) > MAX_DATAGRAM:
        raise InvalidSetting("text", f"has {len(data):,} bytes; a datagram holds at most {MAX_DATAGRAM:,}")
    place, up = place_of(lab, kind, id)
    if broker not in up:
        raise InvalidSetting("broker", f"is not a running {lab.server}; running: {_listed(sorted(up))}")
    _take_turn(person)
    exchange = lab.exchange(data, SystemRandom(), time.time_ns() // MILLISECOND)
    is_nobody_there = _drive(exchange, up[broker])
    answers = exchange.heard
    is_cut = len(answers) > MOST_ANSWERS
    return Sent(place, broker, up[broker], tuple(answers[:MOST_ANSWERS]), is_nobody_there, is_cut)


def _listed(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:20]))
    return f"{shown} and {len(numbers) - 20} more" if len(numbers) > 20 else shown


def _take_turn(person: int) -> None:
    """Raises ``TooFast``, and ``NotPossible`` if the counter is unavailable."""
    key = f"wire-sent-{person}-{int(time.time()) // WINDOW_S}"
    try:
        cache.add(key, 0, timeout=2 * WINDOW_S)
        sent = cache.incr(key)
    except Exception as error:  # noqa: BLE001  each Redis client has its own classes for "it is away"
        log.warning("datagrams of user %s could not be counted: %s", person, error)
        raise NotPossible("Redis is unavailable, so the rate limit cannot be checked. Try again in a moment.") from None
    if sent > MOST_SENT:
        raise TooFast(f"The limit is {MOST_SENT} datagrams in {WINDOW_S} s per user. Wait a moment.")


def _drive(exchange: Exchange, broker: Address) -> bool:
    """Let it happen. Returns whether the machine reported a closed port."""
    with socket.socket(socket.AF_INET6 if ":" in broker[0] else socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(broker)  # the kernel then drops datagrams of other senders
            exchange.start(time.monotonic_ns())
            while not exchange.is_over and len(exchange.heard) <= MOST_ANSWERS:
                for data in exchange.to_send():
                    sock.send(data)
                _listen(exchange, sock)
            for data in exchange.to_send():
                sock.send(data)
        except OSError:  # refused: a response of the machine, not of a server
            return not exchange.heard
    return False


def _listen(exchange: Exchange, sock: socket.socket) -> None:
    """Until the next datagram or timer."""
    left = exchange.next_timer() - time.monotonic_ns()
    if left > 0:
        sock.settimeout(left / SECOND)
        try:
            answer = sock.recv(MAX_DATAGRAM_BYTES)
        except TimeoutError:
            pass
        else:
            exchange.receive(answer, time.monotonic_ns())
            return
    exchange.handle_timer(time.monotonic_ns())
