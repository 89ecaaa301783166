"""The channel: one message there and back, batches of messages, and memory of idle sessions.

The servers are processes (``benchmarks.channel_echo``) on one core, the clients are here, with blocking sockets. The
reference is a bare datagram echo: what a Python program needs to receive and send a datagram. A burst on each other
server is between two bursts on it.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from random import Random
from statistics import fmean, median
from typing import NamedTuple, Protocol

from benchmarks.channel_echo import ID, KEY, SETTINGS, framed, messages_of
from benchmarks.figures import RATIO, Figure, Unavailable, figure
from benchmarks.record import ROOT
from benchmarks.servers import CLIENT_CORE, Server, announced, cores
from overlay.channel import Channel, Down, Message
from overlay.core.addresses import Address, parse_address

TITLE = "Channel: messages there and back"

REFERENCE = "bare datagrams"
KINDS = {REFERENCE: "datagram", "TCP": "tcp", "channel": "channel", "channel, sealed": "sealed"}
SINGLE, BATCHES, BATCH = 2_000, 40, 100
"""Messages of a burst one by one; batches of a burst, and messages of a batch."""
PAYLOAD = 200
SESSIONS = 20_000
WAIT_S = 10.0
_LOOK = struct.pack("@ll", 0, 20_000)
"""A ``timeval`` of 20 ms: how often a client that receives nothing looks at its timers."""

Say = Callable[[str], None]


class Burst(NamedTuple):
    p50_us: float
    """There and back."""
    processor_us: float
    """Of the server per message."""
    rate: float
    """Messages there and back per second."""


class Client(Protocol):
    def exchange(self, messages: Sequence[bytes]) -> None:
        """Send them, and wait until all are back."""
        ...


class DatagramClient:
    def __init__(self, server: Address) -> None:
        self._sock = _udp(server)

    def exchange(self, messages: Sequence[bytes]) -> None:
        for message in messages:
            self._sock.send(message)
        for _ in messages:
            self._sock.recv(65_535)


class TcpClient:
    def __init__(self, server: Address) -> None:
        self._sock = socket.create_connection(server, WAIT_S)
        self._sock.settimeout(None)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._messages = messages_of(self._sock)

    def exchange(self, messages: Sequence[bytes]) -> None:
        self._sock.sendall(framed(messages))
        missing = len(messages)
        while missing:
            missing -= len(next(self._messages))


class ChannelClient:
    def __init__(self, key: bytes | None, server: Address) -> None:
        self._sock = _udp(server)
        self._server = server
        self._channel = Channel(b"client %d" % self._sock.getsockname()[1], SETTINGS, Random(), key)
        self._channel.open(ID, server, time.monotonic_ns())

    def exchange(self, messages: Sequence[bytes]) -> None:
        channel, now = self._channel, time.monotonic_ns()
        for message in messages:
            channel.send(ID, message, now)
        missing = len(messages)
        while missing:
            self._send(channel)
            try:
                data = self._sock.recv(65_535)
            except BlockingIOError:  # the time-out of the socket; a timer of the channel may be due
                channel.handle_timer(time.monotonic_ns())
            else:
                channel.receive(data, self._server, time.monotonic_ns())
            for event in channel.events():
                missing -= isinstance(event, Message)
                if isinstance(event, Down):
                    raise Unavailable(f"the session ended: {event.reason}")
        self._send(channel)

    def _send(self, channel: Channel) -> None:
        timer = channel.next_timer()
        if timer is not None and timer <= (now := time.monotonic_ns()):
            channel.handle_timer(now)
        for data, _ in channel.datagrams_to_send():
            self._sock.send(data)


CLIENTS: dict[str, Callable[[Address], Client]] = {
    "datagram": DatagramClient,
    "tcp": TcpClient,
    "channel": partial(ChannelClient, None),
    "sealed": partial(ChannelClient, KEY),
}


def measure(rounds: int, say: Say) -> Iterator[Figure]:
    """Yield the figures of the section."""
    with ExitStack() as stack:
        stack.enter_context(_on_core(CLIENT_CORE))
        ends = {name: _connected(stack.enter_context(_server(kind)), kind) for name, kind in KINDS.items()}
        for name, shoot in {"single": _single, f"batches of {BATCH}": _batched}.items():
            say(f"{name}: {', '.join(KINDS)}")
            yield from _compared(name, ends, shoot, rounds)
    say(f"{SESSIONS:,} idle sessions")
    yield figure("channel", "memory of an idle session", "bytes", [_memory()], "lower", at_most=1_500)


def _compared(
    name: str, ends: dict[str, tuple[Client, Server]], shoot: Callable[[Client, Server], Burst], rounds: int
) -> Iterator[Figure]:
    bursts: dict[str, list[Burst]] = {one: [] for one in ends}
    ratios: dict[str, list[Burst]] = {one: [] for one in ends if one != REFERENCE}
    before = shoot(*ends[REFERENCE])
    for _ in range(rounds):
        for one in ratios:
            bursts[REFERENCE].append(before)
            burst, after = shoot(*ends[one]), shoot(*ends[REFERENCE])
            bursts[one].append(burst)
            references = [fmean(pair) for pair in zip(before, after, strict=True)]
            ratios[one].append(Burst(*(mine / theirs for mine, theirs in zip(burst, references, strict=True))))
            before = after
    for one, its in bursts.items():
        made = partial(figure, "channel")
        yield made(f"{name}: {one}, p50", "us", [burst.p50_us for burst in its], "lower")
        yield made(f"{name}: {one}, processor of the server", "us", [burst.processor_us for burst in its], "lower")
        yield made(f"{name}: {one}, messages", "1/s", [burst.rate for burst in its], "higher")
    for one, its in ratios.items():
        yield figure("channel", f"{name}: {one} / {REFERENCE}, p50", RATIO, [burst.p50_us for burst in its], "lower")
        spent = [burst.processor_us for burst in its]
        yield figure("channel", f"{name}: {one} / {REFERENCE}, processor", RATIO, spent, "lower")


def _single(client: Client, server: Server) -> Burst:
    return _burst(client, server, [bytes(PAYLOAD)], SINGLE)


def _batched(client: Client, server: Server) -> Burst:
    return _burst(client, server, [bytes(PAYLOAD)] * BATCH, BATCHES)


def _burst(client: Client, server: Server, messages: Sequence[bytes], count: int) -> Burst:
    before, took = server.processor_ns(), []
    for _ in range(count):
        began = time.perf_counter_ns()
        client.exchange(messages)
        took.append(time.perf_counter_ns() - began)
    total = count * len(messages)
    return Burst(median(took) / 1e3, (server.processor_ns() - before) / total / 1e3, total / sum(took) * 1e9)


def _connected(server: Server, kind: str) -> tuple[Client, Server]:
    client = CLIENTS[kind](parse_address(server.address))
    client.exchange([bytes(PAYLOAD)] * BATCH)  # the session is up, and the round trip is known
    return client, server


@contextmanager
def _server(kind: str) -> Iterator[Server]:
    with announced([sys.executable, "-m", "benchmarks.channel_echo", kind]) as server:
        yield server


@contextmanager
def _on_core(core: int) -> Iterator[None]:
    """This process runs on one core meanwhile."""
    before = cores()
    os.sched_setaffinity(0, {core} if core in before else before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _udp(server: Address) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _LOOK)
    sock.connect(server)
    return sock


def _memory() -> float:
    command = [sys.executable, "-m", "benchmarks.channel_echo", "memory", str(SESSIONS)]
    return float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
