"""Servers that send each message back or on: ``python -m benchmarks.channel_echo KIND [NEXT ID]``.

Counterpart: ``benchmarks.channel``.

- ``channel``   a ``Channel`` behind the seam of nodes, driven like a broker; ``sealed``: with a key
- ``datagram``  one ``recvfrom`` and one ``sendto`` a message: the least that a Python program does
- ``tcp``       blocking sockets, messages after their length (4 bytes)

With ``NEXT`` (``host:port``), messages go there, for the channel to the peer ``ID``. A server prints its ``host:port``
once it answers, and ends with its parent process. ``memory`` prints the bytes of a session among ``--count`` idle ones.
"""

from __future__ import annotations

import argparse
import gc
import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from time import monotonic_ns

from overlay.channel import Channel, ChannelSettings, Message, wire
from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.node import NodeEvent
from overlay.runtime.lifeline import die_with_parent
from overlay.runtime.udp import NodeDriver, bound_address, open_socket

ID = b"echo"
KEY = b"a key of the benchmark"
SETTINGS = ChannelSettings(window=1_024)
LOCAL = ("127.0.0.1", 0)


class Echo:
    """A node that sends each message of its channel back, or on to ``following``."""

    def __init__(self, channel: Channel, following: bytes | None = None) -> None:
        self._channel, self._following = channel, following
        self.next_timer = channel.next_timer
        self.datagrams_to_send = channel.datagrams_to_send

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        for data, source in datagrams:
            self._channel.receive(data, source, now)
        self._answer(now)

    def handle_timer(self, now: int) -> None:
        self._channel.handle_timer(now)
        self._answer(now)

    def events(self) -> Sequence[NodeEvent]:
        return ()

    def _answer(self, now: int) -> None:
        for event in self._channel.events():
            if isinstance(event, Message):
                self._channel.send(self._following or event.peer, event.message, now)


def messages_of(sock: socket.socket) -> Iterator[list[bytes]]:
    """The messages of a TCP connection, as many at a time as came together."""
    pending = b""
    while came := sock.recv(65_536):
        pending += came
        found, at = [], 0
        while len(pending) >= at + 4:
            end = at + 4 + int.from_bytes(pending[at : at + 4], "big")
            if end > len(pending):
                break
            found.append(pending[at + 4 : end])
            at = end
        pending = pending[at:]
        if found:
            yield found


def framed(messages: Sequence[bytes]) -> bytes:
    return b"".join([len(one).to_bytes(4, "big") + one for one in messages])


def _serve_channel(key: bytes | None, following: Address | None, peer: bytes) -> None:
    sock = open_socket(LOCAL)
    address = format_address(bound_address(sock))
    channel = Channel(address.encode() if following else ID, SETTINGS, Random(), key)
    if following:
        channel.open(peer, following, monotonic_ns(), keep=True)
    print(address, flush=True)
    gc.freeze()
    NodeDriver(Echo(channel, peer if following else None), sock).run()


def _serve_datagrams(following: Address | None) -> None:
    sock = open_socket(LOCAL)
    print(format_address(bound_address(sock)), flush=True)
    gc.freeze()
    while True:
        data, source = sock.recvfrom(65_535)
        sock.sendto(data, following or source)


def _serve_tcp() -> None:
    listener = socket.create_server(LOCAL)
    print(format_address(listener.getsockname()), flush=True)
    gc.freeze()
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for messages in messages_of(sock):
            sock.sendall(framed(messages))


def _memory(count: int) -> float:
    """Bytes of resident memory for each of ``count`` sessions that never carried a message."""
    channel, before = Channel(ID, SETTINGS, Random(1)), _resident()
    for number in range(count):
        source = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", 7000
        channel.receive(wire.hello(number + 1, b"client-%07d" % number, 256), source, 0)
        ((welcome, _),) = channel.datagrams_to_send()
        channel.receive(wire.head(wire.PROBE, wire.read_number(welcome)) + bytes(8), source, 0)
        channel.datagrams_to_send(), channel.events()
    return (_resident() - before) / count


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.channel_echo")
    parser.add_argument("kind", choices=("channel", "sealed", "datagram", "tcp", "memory"))
    parser.add_argument("next", type=parse_address, nargs="?", metavar="NEXT")
    parser.add_argument("peer", type=str.encode, nargs="?", metavar="ID", default=ID)
    parser.add_argument("--count", type=int, default=20_000)
    options = parser.parse_args()
    die_with_parent(os.getppid())
    if options.kind == "memory":
        print(_memory(options.count))
    elif options.kind == "datagram":
        _serve_datagrams(options.next)
    elif options.kind == "tcp":
        _serve_tcp()
    else:
        _serve_channel(KEY if options.kind == "sealed" else None, options.next, options.peer)


if __name__ == "__main__":
    main()
