"""The channel: one message there and back, batches, one message over three hops, and memory of idle sessions.

The servers are processes (``benchmarks.channel_echo``); the clients are here, with blocking sockets. All are on one
core, since waking another one takes longer than the exchange. The reference is a bare datagram echo: what a Python
program needs to receive and send a datagram. A burst on each other server is between two bursts on it.
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
from overlay.core.addresses import Address, format_address, parse_address

TITLE = "Channel: messages there and back"

REFERENCE = "bare datagrams"
KINDS = {REFERENCE: "datagram", "TCP": "tcp", "channel": "channel", "channel, sealed": "sealed"}
SINGLE, BATCHES, BATCH = 2_000, 40, 100
"""Messages of a burst one by one; batches of a burst, and messages of a batch."""
PAYLOAD = 200
SESSIONS = 20_000
HOPS = 3
WAIT_S = 10.0
LOOK_S = 0.02
"""A client of a channel that receives nothing looks at its timers so often."""

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
    def __init__(self, server: Address | None = None) -> None:
        self.sock, self.to = udp(WAIT_S), server

    def exchange(self, messages: Sequence[bytes]) -> None:
        assert self.to is not None
        for message in messages:
            self.sock.sendto(message, self.to)
        try:
            for _ in messages:
                self.sock.recv(65_535)
        except BlockingIOError:
            raise Unavailable(f"a bare datagram was lost, or took {WAIT_S:g} s") from None


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
    def __init__(self, key: bytes | None = None, server: Address | None = None) -> None:
        self.sock = udp(LOOK_S)
        self._channel = Channel(b"client %d" % self.sock.getsockname()[1], SETTINGS, Random(), key)
        self._server = ID
        if server is not None:
            self.open(ID, server)

    @property
    def id(self) -> bytes:
        return self._channel.id

    def open(self, id: bytes, server: Address) -> None:
        self._server = id
        self._channel.open(id, server, time.monotonic_ns())

    def exchange(self, messages: Sequence[bytes]) -> None:
        channel, now = self._channel, time.monotonic_ns()
        for message in messages:
            channel.send(self._server, message, now)
        missing = len(messages)
        while missing:
            self._send(channel)
            try:
                data, source = self.sock.recvfrom(65_535)
            except BlockingIOError:  # the time-out of the socket; a timer of the channel may be due
                channel.handle_timer(time.monotonic_ns())
            else:
                channel.receive(data, source, time.monotonic_ns())
            for event in channel.events():
                missing -= isinstance(event, Message)
                if isinstance(event, Down):
                    raise Unavailable(f"the session ended: {event.reason}")
        self._send(channel)

    def _send(self, channel: Channel) -> None:
        timer = channel.next_timer()
        if timer is not None and timer <= (now := time.monotonic_ns()):
            channel.handle_timer(now)
        for data, to in channel.datagrams_to_send():
            self.sock.sendto(data, to)


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
        say(f"{HOPS} hops: {REFERENCE}, channel")
        yield from _chains(rounds, stack)
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


def _chains(rounds: int, stack: ExitStack) -> Iterator[Figure]:
    """From this process over three others, all of them on the server's core, and back to it."""
    bare, channel = DatagramClient(), ChannelClient()
    bare.to = parse_address(_chain(stack, "datagram", bare.sock, b"none")[0].address)
    first, last = _chain(stack, "channel", channel.sock, channel.id)
    channel.open(first.address.encode(), parse_address(first.address))
    channel.exchange([bytes(PAYLOAD)] * BATCH)
    bursts = [(_single(bare, last), _single(channel, last)) for _ in range(rounds)]
    yield figure("channel", f"{HOPS} hops: {REFERENCE}, p50", "us", [one.p50_us for one, _ in bursts], "lower")
    yield figure("channel", f"{HOPS} hops: channel, p50", "us", [one.p50_us for _, one in bursts], "lower")


def _chain(stack: ExitStack, kind: str, sock: socket.socket, id: bytes) -> tuple[Server, Server]:
    """The first and the last process of a chain that ends at ``sock``."""
    following, peer, servers = format_address(sock.getsockname()), id.decode(), list[Server]()
    for _ in range(HOPS):
        command = [sys.executable, "-m", "benchmarks.channel_echo", kind, following, peer]
        servers.append(stack.enter_context(announced(command)))
        following = peer = servers[-1].address
    return servers[-1], servers[0]


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


def udp(wait_s: float) -> socket.socket:
    """A socket that waits for at most so long."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    timeout = struct.pack("@ll", int(wait_s), int(wait_s % 1 * 1e6))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
    sock.bind(("127.0.0.1", 0))
    return sock


def _memory() -> float:
    command = [sys.executable, "-m", "benchmarks.channel_echo", "memory", "--count", str(SESSIONS)]
    return float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
