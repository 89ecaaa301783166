"""The three ways of receiving and sending datagrams do the same, and a backlog delays nothing that is due."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from time import monotonic_ns

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.addresses import Address
from overlay.core.admission import BACKLOG
from overlay.core.errors import InvalidSetting
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import MILLISECOND, SECOND, NodeEvent
from overlay.runtime import datagrams
from overlay.runtime.datagrams import (
    BATCH,
    CHOICE,
    COMPILED,
    KINDS,
    MOST_ADDRESSES,
    NO_TRAINS,
    TRAIN,
    TRAIN_BYTES,
    Datagram,
    DatagramSocket,
    choose,
    open_datagrams,
    trains,
)
from overlay.runtime.udp import NodeDriver, bound_address, open_socket
from tests.waiting import BOUND_S, wait_for

HAVE = [kind for kind in KINDS if datagrams._is_available(kind)]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    if request.param not in HAVE:
        pytest.skip(f"{request.param} is not to be had here")
    return str(request.param)


@pytest.fixture(params=["127.0.0.1", "::1"])
def host(request: pytest.FixtureRequest) -> str:
    try:
        open_socket((request.param, 0)).close()
    except OSError:
        pytest.skip(f"this machine has no {request.param}")
    return str(request.param)


@pytest.fixture
def pair(host: str) -> Iterator[tuple[socket.socket, socket.socket]]:
    with open_socket((host, 0)) as ours, open_socket((host, 0)) as theirs:
        ours.settimeout(None)
        theirs.settimeout(BOUND_S)
        yield ours, theirs


def test_a_socket_of_ipv6_leaves_ipv4_to_others() -> None:
    """Other processes would know its addresses in another form."""
    try:
        ours = open_socket(("::", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")
    with ours, open_socket(("0.0.0.0", bound_address(ours)[1])) as theirs:
        theirs.settimeout(BOUND_S)
        theirs.sendto(b"hello", ("127.0.0.1", bound_address(ours)[1]))
        assert theirs.recv(10) == b"hello"


def receive_all(io: DatagramSocket, count: int) -> list[Datagram]:
    received: list[Datagram] = []
    while len(received) < count:
        received += io.receive(True)
    return received


def test_what_was_sent_is_received_whole_and_in_order(kind: str, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    io = open_datagrams(ours, kind)
    sizes = [0, 1, 50, 2047, 2048, 2049, 65_000, 5, 65_507 if ours.family == socket.AF_INET else 65_487, 7] * 3
    for number, size in enumerate(sizes):
        theirs.sendto(bytes([number]) * size, bound_address(ours))
    assert receive_all(io, len(sizes)) == [
        (bytes([number]) * size, bound_address(theirs)) for number, size in enumerate(sizes)
    ]


def test_nothing_is_received_where_nothing_is(kind: str, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = pair
    io = open_datagrams(ours, kind)
    assert list(io.receive(False)) == []
    NodeDriver(Echo(), ours, datagrams=kind)  # it limits how long a socket may wait
    assert list(io.receive(True)) == []


def test_a_thousand_answers_leave_in_order(kind: str, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    io = open_datagrams(ours, kind)
    answers = [number.to_bytes(2, "big") * (1 + number % 700) for number in range(1000)]
    assert io.send([(data, bound_address(theirs)) for data in answers]) == 0
    assert [theirs.recv(2000) for _ in answers] == answers


def test_datagrams_of_a_train_arrive_as_they_are(kind: str, pair: tuple[socket.socket, socket.socket]) -> None:
    """Datagrams of one size to one destination are one packet for the kernel only."""
    ours, theirs = pair
    to = bound_address(theirs)
    sizes = [1000] * 40 + [999] + [1000] * 3 + [0] * 5 + [1] * 70 + [30_000] * 4 + [65_000, 65_000, 1] + [1000] * 5
    with open_socket((to[0], 0)) as third:
        third.settimeout(BOUND_S)
        io = open_datagrams(ours, kind)
        outgoing = [(bytes([number]) * size, to) for number, size in enumerate(sizes)]
        aside = [(b"%d" % number, bound_address(third)) for number in range(3)]
        assert io.send(outgoing[:20] + aside + outgoing[20:]) == 0
        assert [theirs.recv(65_535) for _ in sizes] == [data for data, _ in outgoing]
        assert [third.recv(100) for _ in aside] == [b"0", b"1", b"2"]


def watch_trains(sock: socket.socket) -> Callable[[], tuple[int, int]]:
    """What tells of the next train received: bytes in all, and the size of its datagrams, 0 where it is alone."""
    udp_gro = 104
    try:
        sock.setsockopt(socket.IPPROTO_UDP, udp_gro, 1)
    except OSError:
        pytest.skip("this system has no UDP_GRO")

    def receive() -> tuple[int, int]:
        data, told, _, _ = sock.recvmsg(65_535, 100)
        return len(data), next((int.from_bytes(size, sys.byteorder) for _, _, size in told), 0)

    return receive


def test_a_row_of_one_size_leaves_as_one_packet(kind: str, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    receive = watch_trains(theirs)
    io = open_datagrams(ours, kind)
    assert io.send([(b"x" * size, bound_address(theirs)) for size in (100, 100, 100, 100, 50, 70, 70, 80)]) == 0
    assert [receive() for _ in range(3)] == [(450, 100), (140, 70), (80, 0)]


def test_nobody_who_cannot_be_reached_ends_the_trains_of_others(
    kind: str, pair: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = pair
    receive = watch_trains(theirs)
    nobody = ("255.255.255.255" if ours.family == socket.AF_INET else "2001:db8::1", 9)
    io = open_datagrams(ours, kind)
    if io.send([(b"refused", nobody)] * 5) != 5:
        pytest.skip("this machine has a way to anywhere")
    assert io.send([(b"x" * 100, bound_address(theirs))] * 5) == 0
    assert receive() == (500, 100)


def test_what_is_too_long_is_lost_alone(kind: str, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    to = bound_address(theirs)
    outgoing = [(b"first", to), (b"x" * 65_536, to), (b"second", to), (b"x" * 70_000, to), (b"last", to)]
    assert open_datagrams(ours, kind).send(outgoing) == 2
    assert [theirs.recv(100) for _ in range(3)] == [b"first", b"second", b"last"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="SO_NO_CHECK is Linux's")
def test_a_train_that_the_system_refuses_goes_one_by_one(kind: str, pair: tuple[socket.socket, socket.socket]) -> None:
    """It cuts up nothing on a socket without checksums."""
    so_no_check = 11
    ours, theirs = pair
    ours.setsockopt(socket.SOL_SOCKET, so_no_check, 1)
    io = open_datagrams(ours, kind)
    for _ in range(3):
        answers = [b"%3d" % number for number in range(100)]
        assert io.send([(data, bound_address(theirs)) for data in answers]) == 0
        assert [theirs.recv(100) for _ in answers] == answers
    ours.setsockopt(socket.SOL_SOCKET, so_no_check, 0)
    for _ in range(NO_TRAINS // 100 + 1):
        assert io.send([(b"again", bound_address(theirs))] * 100) == 0
        assert [theirs.recv(100) for _ in range(100)] == [b"again"] * 100


datagram_lists = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0, 1, 2, 3, 40_000]), st.integers(1, 40)))


@given(datagram_lists, st.sampled_from([1, 2, TRAIN]))
def test_trains_are_of_one_size_and_one_destination(runs: list[tuple[int, int, int]], longest: int) -> None:
    datagrams = [(bytes(size), ("127.0.0.1", port)) for port, size, count in runs for _ in range(count)]
    made = list(trains(datagrams, longest))
    assert [(data, to) for train, to in made for data in train] == datagrams
    for train, _ in made:
        *full, last = map(len, train)
        assert len(train) <= longest
        assert set(full) <= {len(train[0])}
        if full:
            assert 0 < last <= full[0]
            assert sum(full) + last <= TRAIN_BYTES


def test_what_the_system_refuses_is_counted_and_the_rest_is_sent(
    kind: str, pair: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = pair
    to = bound_address(theirs)
    other_family = "::1" if ours.family == socket.AF_INET else "127.0.0.1"
    outgoing = [
        (b"first", to),
        (b"to nobody", (to[0], 0)),
        (b"another family", (other_family, 9)),
        (b"x" * 65_536, to),
        (b"x" * 65_530, to),
        (b"last", to),
    ]
    assert open_datagrams(ours, kind).send(outgoing) == 4
    assert [theirs.recv(100), theirs.recv(100)] == [b"first", b"last"]


def test_it_goes_from_one_by_one_to_batches_and_back(kind: str, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    io = open_datagrams(ours, kind)
    for number in range(300):  # alone
        theirs.sendto(b"%d" % number, bound_address(ours))
        assert receive_all(io, 1) == [(b"%d" % number, bound_address(theirs))]
    for burst in range(20):
        for number in range(30):
            theirs.sendto(b"%d/%d" % (burst, number), bound_address(ours))
        assert [data for data, _ in receive_all(io, 30)] == [b"%d/%d" % (burst, number) for number in range(30)]


def test_strangers_do_not_fill_the_memory() -> None:
    spellings = datagrams.Spellings(lambda address: datagrams.sockaddr(socket.AF_INET, address))
    for port in range(1, 3 * MOST_ADDRESSES):
        name = spellings[("192.0.2.1", port)]
        assert datagrams.address_of(socket.AF_INET, name) == ("192.0.2.1", port)
        assert len(spellings) <= MOST_ADDRESSES


def test_the_environment_chooses_and_a_wrong_choice_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHOICE, raising=False)
    assert choose() == HAVE[-1]
    monkeypatch.setenv(CHOICE, "plain")
    assert choose() == "plain"
    monkeypatch.setenv(CHOICE, "io_uring")
    with pytest.raises(InvalidSetting, match="must be one of plain, ctypes, compiled, not 'io_uring'"):
        choose()
    monkeypatch.setenv(CHOICE, "compiled")
    monkeypatch.setattr(datagrams, "_is_available", lambda kind: kind == "plain")
    with pytest.raises(InvalidSetting, match="make accelerator builds it"):
        choose()


def test_what_cannot_be_imported_is_not_chosen(tmp_path: Path) -> None:
    """An extension that is no library for this machine, in a Python that was built without libffi."""
    (tmp_path / f"_datagrams{EXTENSION_SUFFIXES[0]}").write_text("of another machine")
    without = (
        "import sys, overlay.runtime; overlay.runtime.__path__.insert(0, sys.argv[1]); sys.modules['_ctypes'] = None;"
        "from overlay.runtime.datagrams import choose; print(choose())"
    )
    environment = {name: value for name, value in os.environ.items() if name != CHOICE}
    command = [sys.executable, "-c", without, tmp_path]
    assert subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout == "plain\n"


@pytest.mark.skipif(COMPILED not in HAVE, reason="compiled is not to be had here")
def test_a_list_may_change_while_the_extension_sends_it() -> None:
    with open_socket(("127.0.0.1", 0)) as ours, open_socket(("127.0.0.1", 0)) as theirs:
        theirs.settimeout(BOUND_S)
        to = bound_address(theirs)
        outgoing = [(b"%d" % number * 100, to) for number in range(100)]
        expected = [data for data, _ in outgoing]

        def spell(address: Address) -> bytes:
            outgoing.clear()
            return datagrams.sockaddr(socket.AF_INET, address)

        from overlay.runtime._datagrams import CompiledSocket

        io = CompiledSocket(ours.fileno(), {}, datagrams.Spellings(spell))
        assert io.send(outgoing) == 0
        assert [theirs.recv(1000) for _ in expected] == expected
        with pytest.raises(TypeError, match="already"):
            io.__init__(ours.fileno(), {}, {})


@dataclass
class Echo:
    """Sends back what comes, three times, and notes when its timer, every 10 ms, was handled."""

    copies: int = 3
    received: int = 0
    timers: list[int] = field(default_factory=list)
    batches: set[int] = field(default_factory=set)
    came: list[list[bytes]] = field(default_factory=list)
    """What was in each batch."""
    _timer: int = field(default_factory=monotonic_ns)
    _outgoing: list[Datagram] = field(default_factory=list)

    def receive_datagrams(self, datagrams: Sequence[Datagram], now: int) -> None:
        self.batches.add(now)
        self.came.append([data for data, _ in datagrams])
        for datagram in datagrams:
            self.received += 1
            self._outgoing += [datagram] * self.copies

    def handle_timer(self, now: int) -> None:
        self.timers.append(now)
        self._timer = now + 10 * MILLISECOND

    def next_timer(self) -> int | None:
        return self._timer

    def datagrams_to_send(self) -> Sequence[Datagram]:
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def events(self) -> Sequence[NodeEvent]:
        return ()


def test_a_backlog_loses_nothing_and_keeps_no_timer_waiting(kind: str) -> None:
    """A window that is kept full never leaves the driver without a batch; one lost datagram a round would drain it."""
    window, rounds, seconds = 64, 200, []
    node = Echo()
    with open_socket(("127.0.0.1", 0)) as ours, open_socket(("127.0.0.1", 0)) as theirs:
        theirs.settimeout(BOUND_S)
        driver = NodeDriver(node, ours, on_second=seconds.append, datagrams=kind)
        thread = threading.Thread(target=driver.run, args=(monotonic_ns() + BOUND_S * SECOND,))
        thread.start()
        try:
            for number in range(window):
                theirs.sendto(b"%d" % number, bound_address(ours))
            for number in range(window * rounds):
                answers = {theirs.recv(100) for _ in range(3)}
                assert len(answers) <= 3
                theirs.sendto(b"%d" % (number % window), bound_address(ours))
        finally:
            driver.stop()
            thread.join(BOUND_S)
    assert node.received >= window * rounds
    assert driver.counters == {"send_errors": 0, "receive_errors": 0, "held_dropped": 0, "backlog_dropped": 0}
    assert seconds
    assert node.timers
    assert all(
        later - earlier >= 10 * MILLISECOND for earlier, later in zip(node.timers, node.timers[1:], strict=False)
    )
    if kind != "plain":
        assert len(node.batches) < node.received, "a backlog was taken one by one"


def test_what_is_read_ahead_is_served_a_batch_at_a_time_and_in_order(kind: str) -> None:
    """Who waits for answers does not wait for those of all others: one with 256 outstanding lost 12 % of its rate."""
    sent = [b"%d" % number for number in range(BACKLOG + 3 * BATCH)]
    node = Echo(copies=0)
    with open_socket(("127.0.0.1", 0)) as ours, open_socket(("127.0.0.1", 0)) as theirs:
        for data in sent:
            theirs.sendto(data, bound_address(ours))
        driver = NodeDriver(node, ours, datagrams=kind)
        thread = threading.Thread(target=driver.run, args=(monotonic_ns() + BOUND_S * SECOND,))
        thread.start()
        wait_for(lambda: node.received == len(sent), lambda: f"received {node.received} of {len(sent)}")
        driver.stop()
        thread.join(BOUND_S)
    assert [data for batch in node.came for data in batch] == sent
    assert max(map(len, node.came)) <= BATCH


def test_held_datagrams_leave_under_a_backlog(kind: str) -> None:
    """They are due while datagrams keep coming, so that the socket is never without one."""
    with open_socket(("127.0.0.1", 0)) as ours, open_socket(("127.0.0.1", 0)) as theirs:
        theirs.settimeout(BOUND_S)
        to = bound_address(theirs)
        shapers = {to: Shaper(LinkShape(delay_ms=5), random.Random(1))}
        driver = NodeDriver(Echo(), ours, shapers=shapers, datagrams=kind)
        thread = threading.Thread(target=driver.run, args=(monotonic_ns() + BOUND_S * SECOND,))
        thread.start()
        try:
            for number in range(100):
                theirs.sendto(b"%d" % number, bound_address(ours))
            assert {theirs.recv(100) for _ in range(300)} == {b"%d" % number for number in range(100)}
        finally:
            driver.stop()
            thread.join(BOUND_S)


def test_a_signal_ends_a_wait(kind: str) -> None:
    """With a handler that stops the driver, as a daemon has for SIGTERM."""
    with open_socket(("127.0.0.1", 0)) as ours:
        driver = NodeDriver(Echo(), ours, datagrams=kind)
        before = signal.signal(signal.SIGUSR1, lambda *_: driver.stop())
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        try:
            driver.run(until=monotonic_ns() + BOUND_S * SECOND)
        finally:
            timer.join()
            signal.signal(signal.SIGUSR1, before)
        assert driver.is_stopping


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="IP_RECVERR is Linux's")
def test_an_error_of_an_earlier_send_is_counted_and_keeps_no_timer_waiting(kind: str) -> None:
    """A socket that is told of refused datagrams hears of them when it next receives."""
    ip_recverr = 11
    with open_socket(("127.0.0.1", 0)) as ours, open_socket(("127.0.0.1", 0)) as gone:
        ours.setsockopt(socket.IPPROTO_IP, ip_recverr, 1)
        nobody = bound_address(gone)
        gone.close()
        node = Echo()
        node.receive_datagrams([(b"to nobody", nobody)], 0)
        driver = NodeDriver(node, ours, datagrams=kind)
        thread = threading.Thread(target=driver.run, args=(monotonic_ns() + BOUND_S * SECOND,))
        thread.start()
        try:
            wait_for(lambda: driver.counters["receive_errors"] and len(node.timers) > 2, "an error, and timers")
        finally:
            driver.stop()
            thread.join(BOUND_S)
    assert not thread.is_alive()
