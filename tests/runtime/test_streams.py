"""Connections over TCP of a server that echoes, without a loop of its own: a test polls them."""

from __future__ import annotations

import fcntl
import os
import socket
from collections import defaultdict
from select import select
from time import monotonic, monotonic_ns

import pytest

from overlay.core.node import SECOND
from overlay.runtime import streams
from overlay.runtime.polled import FD_SETSIZE, is_readable
from overlay.runtime.streams import StreamPort, open_listener
from overlay.runtime.udp import CannotBind
from tests.waiting import BOUND_S


class Echo:
    """Answers with what it hears; to ``bye`` with its last word."""

    def __init__(self):
        self.heard, self.gone = defaultdict(bytes), []
        self.is_reading = True
        self._out, self._ends = [], []

    def opened(self, number, now):
        self.heard[number] = b""

    def received(self, number, data, now):
        self.heard[number] += data
        self.say(number, data)
        if data.endswith(b"bye"):
            self._ends.append(number)

    def closed(self, number, now):
        self.gone.append(number)

    def reads(self, number):
        return self.is_reading

    def say(self, number, data):
        self._out.append((number, data))

    def bytes_to_send(self):
        out, self._out = self._out, []
        return out

    def connections_to_close(self):
        ends, self._ends = self._ends, []
        return ends


class Desk:
    def __init__(self):
        self.node = Echo()
        listener = open_listener(("127.0.0.1", 0))
        self.address = listener.getsockname()
        self.port = StreamPort(self.node, listener)
        self.late_ns = 0

    def connect(self):
        one = socket.create_connection(self.address, BOUND_S)
        one.setblocking(False)
        self.until(lambda: len(self.node.heard) > len(self.node.gone))
        return one

    def turn(self):
        select([descriptor for descriptor, _ in self.port.descriptors()], (), (), 0.01)
        now = monotonic_ns() + self.late_ns
        self.port.handle(now)
        self.port.feed(now)
        self.port.take(now)

    def until(self, holds):
        end = monotonic() + BOUND_S
        while not holds():
            assert monotonic() < end, "it never comes to hold"
            self.turn()

    def read(self, sock, size):
        """So many bytes, or fewer before the end."""
        found, is_over = b"", False

        def has_all():
            nonlocal found, is_over
            try:
                data = sock.recv(size - len(found))
            except BlockingIOError:
                return False
            found, is_over = found + data, not data
            return is_over or len(found) == size

        self.until(has_all)
        return found


@pytest.fixture
def desk():
    one = Desk()
    yield one
    one.port.close(0)


def test_what_is_heard_is_answered_and_the_end_of_a_peer_is_told(desk):
    first, second = desk.connect(), desk.connect()
    first.send(b"one")
    second.send(b"two")
    assert (desk.read(first, 3), desk.read(second, 3)) == (b"one", b"two")
    first.close()
    desk.until(lambda: desk.node.gone == [1])
    assert desk.port.counters["streams_accepted"] == 2
    second.close()


def test_a_connection_that_the_server_closes_gets_the_last_word_though_it_still_writes(desk):
    one = desk.connect()
    one.send(b"x" * 100 + b"bye")
    desk.until(lambda: len(desk.node.heard[1]) == 103)
    one.send(b"more")
    assert desk.read(one, 1_000) == b"x" * 100 + b"bye"
    one.close()
    desk.until(lambda: not desk.port._connections)
    assert desk.node.heard[1].endswith(b"bye"), "what comes after that is not heard"
    assert desk.node.gone == [], "it knows"


def test_a_peer_that_does_not_end_is_dropped_after_a_second(desk):
    one = desk.connect()
    one.send(b"bye")
    desk.until(lambda: desk.port._closing)
    assert desk.port.next_timer() <= monotonic_ns() + SECOND
    desk.late_ns = 2 * SECOND
    desk.turn()
    assert not desk.port._connections
    one.close()


def test_a_peer_that_does_not_read_is_closed_and_others_go_on(desk):
    slow, other = desk.connect(), desk.connect()
    while not desk.node.gone:
        desk.node.say(1, bytes(60_000))
        desk.turn()
    other.send(b"hello")
    assert desk.read(other, 5) == b"hello"
    assert desk.node.gone == [1]
    assert desk.port.counters["streams_slow"] == 1
    slow.close()
    other.close()


def test_a_connection_is_read_only_while_the_server_reads_it(desk):
    one = desk.connect()
    desk.node.is_reading = False
    one.send(b"early")
    desk.until(lambda: desk.port._paused)
    assert desk.node.heard[1] == b""
    desk.node.is_reading = True
    assert desk.read(one, 5) == b"early"
    one.close()


def test_without_free_descriptors_nothing_is_accepted_for_a_moment(desk, monkeypatch):
    class Full:
        def __init__(self, listener):
            self._listener = listener

        def __getattr__(self, name):
            return getattr(self._listener, name)

        def accept(self):
            raise OSError(24, "Too many open files")

    listener = desk.port._listener
    monkeypatch.setattr(desk.port, "_listener", Full(listener))
    waiting = socket.create_connection(desk.address, BOUND_S)
    desk.until(lambda: desk.port.counters["streams_not_accepted"])
    assert desk.port.next_timer() <= monotonic_ns() + streams.PAUSE_NS
    monkeypatch.setattr(desk.port, "_listener", listener)
    desk.until(lambda: len(desk.node.heard) == 1)
    waiting.close()


def test_an_address_that_is_taken_is_named(desk):
    with pytest.raises(CannotBind, match=r"cannot bind 127\.0\.0\.1:\d+ \(TCP\)"):
        open_listener(desk.address)


@pytest.mark.parametrize("least", [0, FD_SETSIZE])
def test_a_loop_waits_for_descriptors_of_any_number(least):
    """A process with many connections has more than ``select`` can name."""
    near, far = socket.socketpair()
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", 0))
    number = fcntl.fcntl(near, fcntl.F_DUPFD, least)

    class Peer:
        def descriptors(self):
            return [(number, False)]

    assert not is_readable(datagrams, [Peer()], 0)
    far.send(b"x")
    assert not is_readable(datagrams, [Peer()], BOUND_S * SECOND), "the peer has something"
    datagrams.sendto(b"x", datagrams.getsockname())
    assert is_readable(datagrams, [Peer()], BOUND_S * SECOND)
    os.close(number)
    for one in (near, far, datagrams):
        one.close()
