"""Tether next to QUIC: a gateway's end of each, with the same nodes and messages, without sockets and log.

Links delay by ``HOP_NS`` each way, in virtual time. Processor time is that of the gateway's end alone. Messages are
durable at once.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from time import thread_time_ns

from benchmarks.figures import Figure, figure
from benchmarks.record import ROOT
from overlay.core.addresses import Address
from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND
from overlay.systems.contextnet.ends import gateway_end, node_end
from overlay.systems.contextnet.names import node_id
from overlay.systems.contextnet.transport.events import Arrived, Moved, Opened
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.packets import Kind
from overlay.systems.contextnet.transport.settings import QUIC, TETHER, TransportSettings

GATEWAY = "127.0.0.1", 4_000
HOP_NS = 10 * MILLISECOND
NODES, IDLE_NODES, MESSAGES = 50, 200, 20
PAYLOAD = bytes(300)
SECRET = bytes(range(32))
make = partial(figure, "contextnet")


class Pair:
    """A gateway's end and nodes around it."""

    def __init__(self, transport: str, nodes: int) -> None:
        self.settings = TransportSettings(transport=transport, idle_s=3_600)
        self.now = MILLISECOND
        self.spent = 0
        """Processor time of the gateway's end, ns."""
        found = Secret(SECRET)
        self.gateway = gateway_end(self.settings)(1, SECRET, lambda node: found, self.settings, Stream(1))
        maker = node_end(self.settings)
        self.nodes = [maker(node_id(n), SECRET, 0, self.settings, Stream(n + 2)) for n in range(nodes)]
        self.addresses = [("127.0.0.1", 10_000 + n) for n in range(nodes)]
        self.heard: list[object] = []
        """What the gateway's end told."""
        self.datagrams = 0

    def _spend(self, act: Callable[[], object]) -> None:
        before = thread_time_ns()
        act()
        self.spent += thread_time_ns() - before

    def turn(self) -> None:
        """What nodes have sent arrives, and then what the gateway has."""
        sent = [
            (data, address)
            for end, address in zip(self.nodes, self.addresses, strict=True)
            for data, _ in end.datagrams_to_send()
        ]
        out: list[tuple[bytes, Address]] = []
        self.now += HOP_NS
        self._spend(lambda: self._serve(sent, out))
        self.datagrams += len(sent) + len(out)
        self.now += HOP_NS
        places = {address: end for end, address in zip(self.nodes, self.addresses, strict=True)}
        for data, to in out:
            if to in places:
                places[to].receive_datagrams([(data, GATEWAY)], self.now)
        for end in self.nodes:
            end.handle_timer(self.now)
            end.events()

    def _serve(self, sent: list[tuple[bytes, Address]], out: list[tuple[bytes, Address]]) -> None:
        gateway = self.gateway
        gateway.receive_datagrams(sent, self.now)
        for event in gateway.events():
            self.heard.append(event)
            if isinstance(event, Arrived) and event.receipt is not None:
                gateway.settle(event.receipt, self.now)
        gateway.handle_timer(self.now)
        out += gateway.datagrams_to_send()

    def until(self, kind: type, count: int) -> int:
        """Turns until the gateway's end has told so many events."""
        self.heard.clear()
        for turn in range(1, 1_000):
            self.turn()
            if sum(isinstance(event, kind) for event in self.heard) >= count:
                return turn
        raise AssertionError(f"{count} x {kind.__name__} did not come")

    def settle(self) -> None:
        for _ in range(10):
            self.turn()

    def connect(self) -> int:
        """Each after the other, since a gateway begins a limited number of handshakes a second. Returns the turns."""
        turns = 0
        for end in self.nodes:
            end.connect((GATEWAY,), self.now)
            turns += self.until(Opened, 1)
        return turns


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    for transport in (TETHER, QUIC):
        say(f"a gateway's end over {transport}")
        found: dict[str, list[float]] = {}
        for _ in range(rounds):
            for name, value in _round(transport).items():
                found.setdefault(name, []).append(value)
        for name, values in found.items():
            unit = "ms" if name.startswith("time") else "datagrams" if name.startswith("datagrams") else "µs"
            yield make(f"{transport}: {name}", unit, values, "lower")
        command = [sys.executable, "-m", "benchmarks.contextnet.idle_ends", transport]
        told = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
        yield make(f"{transport}: memory per idle connection, of {IDLE_NODES}", "bytes", [float(told)], "lower")


def _round(transport: str) -> dict[str, float]:
    pair = Pair(transport, NODES)
    turns = pair.connect()
    found = {
        "handshake": pair.spent / NODES / 1_000,
        "time of a handshake, round trips of 20 ms": turns / NODES * 2 * HOP_NS / MILLISECOND,
    }
    pair.settle()
    found |= _inbound(pair) | _outbound(pair)
    pair.spent, pair.datagrams = 0, 0
    pair.addresses = [(host, port + 10_000) for host, port in pair.addresses]
    for end in pair.nodes:
        assert end.send(Kind.MESSAGE, PAYLOAD, None, pair.now)
    turns = pair.until(Moved, NODES)
    pair.settle()
    return found | {
        "another port, with a message": pair.spent / NODES / 1_000,
        "time until it follows to another port": turns * 2 * HOP_NS / MILLISECOND,
    }


def _inbound(pair: Pair) -> dict[str, float]:
    pair.spent, pair.datagrams = 0, 0
    for _ in range(MESSAGES):
        for end in pair.nodes:
            assert end.send(Kind.MESSAGE, PAYLOAD, None, pair.now)
        pair.until(Arrived, NODES)
        pair.settle()
    messages = MESSAGES * NODES
    return {
        "a message of a node": pair.spent / messages / 1_000,
        "datagrams of a message of a node": pair.datagrams / messages,
    }


def _outbound(pair: Pair) -> dict[str, float]:
    pair.spent, pair.datagrams = 0, 0
    for _ in range(MESSAGES):
        for number in range(NODES):
            send = partial(pair.gateway.send, node_id(number), Kind.MESSAGE, PAYLOAD, None, pair.now)
            pair._spend(send)
        pair.settle()
    messages = MESSAGES * NODES
    return {
        "a message for a node": pair.spent / messages / 1_000,
        "datagrams of a message for a node": pair.datagrams / messages,
    }


def idle(transport: str, nodes: int) -> Pair:
    """Connections that had a message each; the nodes' own ends are gone."""
    pair = Pair(transport, nodes)
    pair.connect()
    for end in pair.nodes:
        end.send(Kind.MESSAGE, PAYLOAD, None, pair.now)
    pair.settle()
    pair.nodes.clear()
    pair.addresses.clear()
    pair.heard.clear()
    return pair
