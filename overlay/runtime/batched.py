"""Batches of datagrams with ``recvmmsg`` and ``sendmmsg`` through ctypes, for Linux without a compiler.

Counterpart: ``overlay.runtime.datagrams``, which imports this module only if it is used, because ctypes costs memory. A
call through ctypes is slower than a plain one and pays off only with several datagrams. While they arrive one by
one, plain calls are used, with an occasional attempt to receive a batch.

All data is copied into and out of one memory area with the lifetime of the socket; no pointers to Python objects are
passed. Its pages are committed at the first write; most datagrams only use the head of their slot.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import socket
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate

from overlay.core.addresses import Address
from overlay.runtime.datagrams import BATCH, FEW, LOOK, UDP_SEGMENT, Datagram, PlainSocket, trains

HEAD_BYTES = 2048 + 64
"""Not a power of two, so that the heads of slots are in different cache sets."""
REST_BYTES = 65_536
OUT_BYTES = 2 * 65_536
SINGLES = 4
"""After this many consecutive batches of one datagram the socket uses plain calls."""

_MSG_WAITFORONE = 0x10000  # linux/socket.h; Python has no name for it


class _Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_ulong), ("length", ctypes.c_ulong)]


class _Header(ctypes.Structure):
    """``struct msghdr``."""

    _fields_ = [
        ("name", ctypes.c_ulong),
        ("name_length", ctypes.c_uint),
        ("parts", ctypes.c_ulong),
        ("part_count", ctypes.c_ulong),
        ("control", ctypes.c_ulong),
        ("control_length", ctypes.c_ulong),
        ("flags", ctypes.c_int),
    ]


class _Message(ctypes.Structure):
    """``struct mmsghdr``."""

    _fields_ = [("header", _Header), ("length", ctypes.c_uint)]


class _Control(ctypes.Structure):
    """``struct cmsghdr`` with the size of a train's datagrams."""

    _fields_ = [
        ("length", ctypes.c_ulong),
        ("level", ctypes.c_int),
        ("type", ctypes.c_int),
        ("size", ctypes.c_ushort),
        ("_padding", ctypes.c_ushort * 3),
    ]


_WORD = ctypes.sizeof(ctypes.c_ulong)
_MESSAGE_WORDS, _CONTROL_LENGTH_AT = ctypes.sizeof(_Message) // _WORD, _Header.control_length.offset // _WORD
_CONTROL_SHORTS, _SIZE_AT = ctypes.sizeof(_Control) // 2, _Control.size.offset // 2
_CONTROL_BYTES = ctypes.sizeof(_Control)
_MESSAGE_INTS, _LENGTH_AT = ctypes.sizeof(_Message) // 4, _Message.length.offset // 4

_libc = ctypes.CDLL(None, use_errno=True)
_recvmmsg, _sendmmsg = _libc.recvmmsg, _libc.sendmmsg
_recvmmsg.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_void_p]
_sendmmsg.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_int]


class BatchedSocket:
    """Plain calls for single datagrams, batches under a backlog."""

    def __init__(self, sock: socket.socket, addresses: Mapping[bytes, Address], names: Mapping[Address, bytes]) -> None:
        self._plain = PlainSocket(sock)
        self._fd = sock.fileno()
        self._addresses, self._names = addresses, names
        self._alone_for = 0
        """Datagrams to receive one by one before the next attempt at a batch."""
        self._singles = 0
        self._name_bytes = 16 if sock.family == socket.AF_INET else 28
        self._prepare_in()
        self._prepare_out()

    def _prepare_in(self) -> None:
        self._in_heads = BATCH * REST_BYTES  # after the rests, whose pages are released
        self._in_names = self._in_heads + BATCH * HEAD_BYTES
        self._in_area, base = _area(self._in_names + BATCH * self._name_bytes)
        parts = self._in_parts = (_Part * (2 * BATCH))()
        self._in = (_Message * BATCH)()
        for i in range(BATCH):
            parts[2 * i] = _Part(base + self._in_heads + i * HEAD_BYTES, HEAD_BYTES)
            parts[2 * i + 1] = _Part(base + i * REST_BYTES, REST_BYTES)
            at = ctypes.addressof(parts) + 2 * i * ctypes.sizeof(_Part)
            self._in[i] = _Message(_Header(base + self._in_names + i * self._name_bytes, self._name_bytes, at, 2))
        self._in_at = ctypes.addressof(self._in)
        self._in_lengths = memoryview(self._in).cast("B").cast("I")[_LENGTH_AT::_MESSAGE_INTS]

    def _prepare_out(self) -> None:
        self._out_data = BATCH * self._name_bytes
        self._out_area, base = _area(self._out_data + OUT_BYTES)
        parts, controls = (_Part * BATCH)(), (_Control * BATCH)()
        self._out_parts, self._out_controls = parts, controls
        self._out = (_Message * BATCH)()
        for i in range(BATCH):
            at = ctypes.addressof(parts) + i * ctypes.sizeof(_Part)
            control = ctypes.addressof(controls) + i * ctypes.sizeof(_Control)
            self._out[i] = _Message(_Header(base + i * self._name_bytes, self._name_bytes, at, 1, control))
            controls[i] = _Control(_Control.size.offset + 2, socket.IPPROTO_UDP, UDP_SEGMENT)
        self._out_at, self._out_base = ctypes.addressof(self._out), base
        self._out_words = memoryview(parts).cast("B").cast("@L")
        self._out_control_lengths = memoryview(self._out).cast("B").cast("@L")[_CONTROL_LENGTH_AT::_MESSAGE_WORDS]
        self._out_sizes = memoryview(controls).cast("B").cast("@H")[_SIZE_AT::_CONTROL_SHORTS]

    def receive(self, wait: bool, /) -> Sequence[Datagram]:
        if self._alone_for:
            self._alone_for -= 1
            return self._plain.receive(wait)
        flags = _MSG_WAITFORONE if wait else socket.MSG_DONTWAIT
        count = _recvmmsg(self._fd, self._in_at, BATCH, flags, None)
        if count > 1:
            self._singles = 0
        elif count < 0:
            return self._nothing()
        else:
            self._singles += 1
            if self._singles >= SINGLES:
                self._alone_for = LOOK
        return [self._received(i) for i in range(count)]

    def _nothing(self) -> Sequence[Datagram]:
        error = ctypes.get_errno()
        if error not in (errno.EAGAIN, errno.EINTR):
            raise OSError(error, os.strerror(error))
        return ()

    def _received(self, i: int) -> Datagram:
        area, length, name_bytes = self._in_area, self._in_lengths[i], self._name_bytes
        name, head = self._in_names + i * name_bytes, self._in_heads + i * HEAD_BYTES
        source = self._addresses[area[name : name + name_bytes]]
        if length <= HEAD_BYTES:
            return area[head : head + length], source
        rest = i * REST_BYTES
        data = area[head : head + HEAD_BYTES] + area[rest : rest + length - HEAD_BYTES]
        area.madvise(mmap.MADV_DONTNEED, rest, REST_BYTES)  # strangers must not determine a broker's memory
        return data, source

    def send(self, datagrams: Sequence[Datagram], /) -> int:
        if len(datagrams) <= FEW:
            return self._plain.send_each(datagrams)
        return sum(self._send(datagrams[at : at + BATCH]) for at in range(0, len(datagrams), BATCH))

    def _send(self, datagrams: Sequence[Datagram]) -> int:
        """Send up to ``BATCH`` with one call, or one by one if that is impossible."""
        ours = list(trains(datagrams, self._plain.longest_train(len(datagrams))))
        contents, destinations = [b"".join(train) for train, _ in ours], [to for _, to in ours]
        lengths, count, at = array("L", map(len, contents)), len(ours), self._out_data
        data = b"".join(contents)
        try:
            names = b"".join(map(self._names.__getitem__, destinations))
        except OSError:  # an address of another family
            return self._plain.send_each(datagrams)
        if len(data) > OUT_BYTES:
            return self._plain.send_each(datagrams)
        self._out_area[: len(names)] = names
        self._out_area[at : at + len(data)] = data
        self._out_words[0 : 2 * count : 2] = array("L", accumulate(lengths[:-1], initial=self._out_base + at))
        self._out_words[1 : 2 * count : 2] = lengths
        self._out_control_lengths[:count] = array("L", (_CONTROL_BYTES if len(train) > 1 else 0 for train, _ in ours))
        self._out_sizes[:count] = array("H", (len(train[0]) if len(train) > 1 else 0 for train, _ in ours))
        return self._transmit(ours)

    def _transmit(self, ours: Sequence[tuple[list[bytes], Address]]) -> int:
        """Send these trains from the area. Returns the number of datagrams that the system refused."""
        sent = lost = 0
        while sent < len(ours):
            done = _sendmmsg(self._fd, self._out_at + sent * ctypes.sizeof(_Message), len(ours) - sent, 0)
            if done > 0:
                sent += done
            elif ctypes.get_errno() != errno.EINTR:
                lost += self._plain.send_refused(*ours[sent])
                sent += 1
        return lost


def _area(size: int) -> tuple[mmap.mmap, int]:
    """Private memory of ``size`` bytes, and its address."""
    area = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return area, ctypes.addressof(ctypes.c_char.from_buffer(area))
