"""Receives and sends the datagrams of one UDP socket, several per system call if possible.

Counterpart: ``overlay.runtime.udp`` drives a node through one of these implementations:

- ``plain``     one ``recvfrom`` and one ``sendto`` each, or one ``sendmsg`` per train; works everywhere
- ``ctypes``    ``overlay.runtime.batched``: plain while datagrams arrive one by one, ``recvmmsg`` and ``sendmmsg`` for
  more; Linux
- ``compiled``  the same calls from C (``_datagrams.c``, built by ``make accelerator``), without any protocol; Linux

The last one available on the machine is used, or the one in ``WAXWING_DATAGRAMS``.

All of them send trains if the system supports it (Linux 4.18): consecutive datagrams to one destination, of one size
except for a shorter last one, are one packet for the kernel, which splits them at the end of its send path
(``UDP_SEGMENT``, udp(7)). That path is most of a datagram's cost. Receivers get single datagrams. A firewall or ``tc``
before the split drops a train as a unit.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Protocol, TypeVar

from overlay.core.addresses import Address
from overlay.core.errors import InvalidSetting

PLAIN, CTYPES, COMPILED = KINDS = ("plain", "ctypes", "compiled")
_MODULES = {CTYPES: "overlay.runtime.batched", COMPILED: "overlay.runtime._datagrams"}
CHOICE = "WAXWING_DATAGRAMS"
"""The environment variable that selects one of ``KINDS``, for comparisons."""

MAX_DATAGRAM_BYTES = 65_535
BATCH = 32
"""Maximum datagrams received before they are processed. A full batch indicates a backlog."""
LOOK = 64
"""While datagrams arrive one by one, every so many datagrams one attempt is made to receive a batch."""
TRAIN, TRAIN_BYTES = 32, 65_000
"""Maximum datagrams and bytes of a train."""
FEW = 3
"""Up to this many datagrams, the answers of one request, are sent one by one. Finding trains pays off above."""
NO_TRAINS = 4096
"""After a refused train, for example of datagrams too long for a link, this many datagrams are sent one by one."""
MOST_ADDRESSES = 1024
"""Addresses cached in both representations, the kernel's and ours."""

Datagram = tuple[bytes, Address]
"""The bytes, and the source or the destination."""

UDP_SEGMENT = 103
"""linux/udp.h; Python has no name for it."""
_SEGMENT = struct.Struct("=H")
_INET = struct.Struct("=H2s4s8x")
_INET6 = struct.Struct("=H2s4x16s4x")
_SOURCE6 = struct.Struct("=2x2s4x16s4x")
_SOURCE = struct.Struct("=2x2s4s8x")

From = TypeVar("From")
To = TypeVar("To")


class DatagramSocket(Protocol):
    """The calls raise no exceptions for normal network conditions."""

    def receive(self, wait: bool, /) -> Sequence[Datagram]:
        """Available datagrams, in order. With ``wait``, blocks until one arrives, SO_RCVTIMEO expires or a signal
        comes.

        Raises ``OSError`` for an ICMP error of an earlier datagram; no data is lost.
        """
        ...

    def send(self, datagrams: Sequence[Datagram], /) -> int:
        """Send all datagrams in order. Returns how many the system refused; these are lost."""
        ...


class PlainSocket:
    """One system call per datagram or train. Under a backlog, several datagrams are received for one batch."""

    def __init__(self, sock: socket.socket) -> None:
        self._recvfrom, self._sendto, self._sendmsg = sock.recvfrom, sock.sendto, sock.sendmsg
        self._is_v6 = sock.family != socket.AF_INET
        self._alone_for = 0
        """Datagrams to receive one by one before the next attempt at a second one, which costs as much as a
        datagram."""
        self._longest_train = TRAIN if _knows_trains(sock) else 1
        self._no_trains_for = 0

    def receive(self, wait: bool, /) -> Sequence[Datagram]:
        recvfrom = self._recvfrom
        try:
            batch = [recvfrom(MAX_DATAGRAM_BYTES, 0 if wait else socket.MSG_DONTWAIT)]
        except BlockingIOError:
            return ()
        if self._alone_for:
            self._alone_for -= 1
        else:
            try:
                while len(batch) < BATCH:
                    batch.append(recvfrom(MAX_DATAGRAM_BYTES, socket.MSG_DONTWAIT))
            except OSError:  # no more, or an ICMP error, which loses no data
                self._alone_for = LOOK if len(batch) == 1 else 0
        return [(data, source[:2]) for data, source in batch] if self._is_v6 else batch

    def send(self, datagrams: Sequence[Datagram], /) -> int:
        if len(datagrams) <= FEW:
            return self.send_each(datagrams)
        lost, sendto, sendmsg = 0, self._sendto, self._sendmsg
        for train, destination in trains(datagrams, self.longest_train(len(datagrams))):
            try:
                if len(train) == 1:
                    sendto(train[0], destination)
                else:
                    size = _SEGMENT.pack(len(train[0]))
                    sendmsg(train, [(socket.IPPROTO_UDP, UDP_SEGMENT, size)], 0, destination)
            except OSError:
                lost += self.send_refused(train, destination)
        return lost

    def longest_train(self, count: int) -> int:
        """The maximum length of a train among the next ``count`` datagrams."""
        if not self._no_trains_for:
            return self._longest_train
        self._no_trains_for = max(0, self._no_trains_for - count)
        return 1

    def send_each(self, datagrams: Iterable[Datagram]) -> int:
        """Send them one by one. Returns how many the system refused."""
        lost = 0
        for data, destination in datagrams:
            try:
                self._sendto(data, destination)
            except OSError:  # no route, a full queue, or another address family
                lost += 1
        return lost

    def send_refused(self, train: Sequence[bytes], destination: Address) -> int:
        """Send the datagrams of a refused train one by one. Returns how many are lost."""
        if len(train) == 1:
            return 1
        lost = self.send_each((data, destination) for data in train)
        if lost < len(train):  # otherwise trains were not the reason
            self._no_trains_for = NO_TRAINS
        return lost


def _knows_trains(sock: socket.socket) -> bool:
    """Whether the kernel supports trains. A test is needed: before 4.18 it would send a train as one long datagram."""
    if sys.platform != "linux":
        return False
    try:
        sock.getsockopt(socket.IPPROTO_UDP, UDP_SEGMENT)
    except OSError:
        return False
    return True


def trains(datagrams: Iterable[Datagram], longest: int) -> Iterator[tuple[list[bytes], Address]]:
    """All datagrams in order, as trains of up to ``longest``, with their destinations."""
    train: list[bytes] = []
    to, size, room = None, 0, 0
    for data, destination in datagrams:
        length = len(data)
        if 0 < length <= size and length <= room and destination == to:
            train.append(data)
            room = room - length if length == size and len(train) < longest else 0
            continue
        if to is not None:
            yield train, to
        train, to, size, room = [data], destination, length, TRAIN_BYTES - length if longest > 1 else 0
    if to is not None:
        yield train, to


class Spellings(dict[From, To]):
    """A bounded cache of ``make``. Strangers could otherwise fill the memory with addresses."""

    def __init__(self, make: Callable[[From], To]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: From) -> To:
        if len(self) >= MOST_ADDRESSES:
            self.clear()
        made = self[key] = self._make(key)
        return made


def sockaddr(family: int, address: Address) -> bytes:
    """Linux's ``struct sockaddr_in`` or ``sockaddr_in6``. Raises ``OSError`` for a host of another family."""
    layout = _INET if family == socket.AF_INET else _INET6
    host, port = address
    return layout.pack(family, port.to_bytes(2, "big"), socket.inet_pton(family, host))


def address_of(family: int, name: bytes) -> Address:
    """The address in a ``struct sockaddr_in`` or ``sockaddr_in6``, without the scope and flow of IPv6."""
    port, host = (_SOURCE if family == socket.AF_INET else _SOURCE6).unpack(name)
    return socket.inet_ntop(family, host), int.from_bytes(port, "big")


def choose() -> str:
    """The one of ``KINDS`` that brokers on this machine use. Raises ``InvalidSetting`` if it is not available."""
    asked = os.environ.get(CHOICE, "")
    if not asked:
        return next(kind for kind in reversed(KINDS) if _is_available(kind))
    if asked not in KINDS:
        raise InvalidSetting(CHOICE, f"must be one of {', '.join(KINDS)}, not {asked[:40]!r}")
    if not _is_available(asked):
        needs = "make accelerator builds it" if asked == COMPILED else "it needs Linux and the ctypes module"
        raise InvalidSetting(CHOICE, f"{asked} is not available on this machine: {needs}")
    return asked


@cache
def _is_available(kind: str) -> bool:
    """Whether it can be imported. A Python built without libffi also has the module ctypes, and an extension may have
    been built for another machine."""
    if kind == PLAIN:
        return True
    if sys.platform != "linux":
        return False
    try:
        import_module(_MODULES[kind])
    except ImportError:
        return False
    return True


def open_datagrams(sock: socket.socket, kind: str) -> DatagramSocket:
    """The implementation ``kind`` for a bound socket."""
    if kind == PLAIN:
        return PlainSocket(sock)
    family = int(sock.family)
    addresses: Spellings[bytes, Address] = Spellings(lambda name: address_of(family, name))
    names: Spellings[Address, bytes] = Spellings(lambda address: sockaddr(family, address))
    if kind == COMPILED:
        from overlay.runtime._datagrams import CompiledSocket

        return CompiledSocket(sock.fileno(), addresses, names)
    from overlay.runtime.batched import BatchedSocket

    return BatchedSocket(sock, addresses, names)
