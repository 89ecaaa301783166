"""A live broker daemon: how it ends, and that no datagram ends it."""

import os
import random
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from overlay.core.addresses import parse_address
from overlay.core.links import LinkShape
from overlay.journal.facts import Event, Holdings, Start, Tick
from overlay.journal.journal import read_journal
from overlay.programs.context_broker.client import ContextClient, NoAnswer
from overlay.runtime.server_process import ServerProcess, run_server
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.system import SYSTEM
from tests.runtime.daemons import Daemon, ring
from tests.waiting import BOUND_S

ROOM = ("room", "r1", "climate")


def test_sigterm_leaves_the_network_and_ends_with_0(start_daemon: Callable[..., Daemon]) -> None:
    a, b = start_daemon(), start_daemon()
    ring([a, b])
    assert a.stop() == 0
    assert ContextClient([b.address]).neighbors() == ()


def test_a_broker_ends_when_its_lifeline_closes(start_daemon: Callable[..., Daemon]) -> None:
    read, write = os.pipe()
    daemon = start_daemon(lifeline_fd=read)
    ContextClient([daemon.address]).ping()
    assert daemon.process.poll() is None
    os.close(write)
    assert daemon.process.wait(BOUND_S) == 0
    os.close(read)


def test_an_ipv6_broker_answers_under_its_bracketed_address(start_daemon: Callable[..., Daemon]) -> None:
    try:
        daemon = start_daemon(bind="[::1]:0")
    except (AssertionError, ValueError):
        pytest.skip("this machine has no IPv6 loopback")
    assert ContextClient([daemon.address]).ping() == daemon.address
    assert daemon.text.startswith("[::1]:")


def test_a_client_fails_over_to_the_next_broker(start_daemon: Callable[..., Daemon]) -> None:
    dead, alive = start_daemon(), start_daemon()
    dead.end()
    client = ContextClient([dead.address, alive.address], deadline_s=BOUND_S)
    assert client.provide("p", ROOM, b"a=1", 60_000) == alive.address
    assert client.ask(ROOM).payload == {"a": "1"}


def test_a_client_gives_up_at_its_deadline() -> None:
    with pytest.raises(NoAnswer, match=r"within 0\.2 s"):
        ContextClient([parse_address("127.0.0.1:1")], deadline_s=0.2).ping()


def arbitrary_datagrams(count: int) -> list[bytes]:
    """Noise, and real messages that were cut, glued and had bytes changed."""
    chance = random.Random(7)
    real = [
        b"3|1700000000000|room|r1|climate|127.0.0.1|9",
        b"2|1700000000000|3|A|p|room|r1|climate|1|9999999999999|a=1",
        b"4|1700000000000|3|p|room|r1|climate|1|9999999999999|a=1|127.0.0.1|9|*",
        b"6|1|NACK|Status:202|Operation ContextRequest|Requested by 127.0.0.1:9|127.0.0.1|9",
        b"5|1|ACK|Status:101|Operation BrokerJoining|Requested by 127.0.0.1:9",
        b"8|1|127.0.0.1:9|*",
        b"7|1|*",
        b"21|1|a=1;b=2",
    ]

    def one() -> bytes:
        if chance.random() < 0.3:
            return chance.randbytes(chance.randrange(200))
        data = bytearray(chance.choice(real))
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        return bytes(data[: chance.randrange(len(data) + 1)] if chance.random() < 0.3 else data)

    return [one() for _ in range(count)]


def test_a_hundred_thousand_arbitrary_datagrams_neither_end_nor_swell_a_broker(daemon: Daemon) -> None:
    client = ContextClient([daemon.address])
    batch = arbitrary_datagrams(20_000)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(daemon.address)
        for data in batch[:5000]:  # what any traffic brings in is there before memory is looked at
            sock.send(data)
        client.ping()
        before = daemon.uss_bytes()
        for _ in range(5):
            for number, data in enumerate(batch):
                sock.send(data)
                if number % 100 == 0:
                    client.ping()  # let it keep up: its buffer drops what comes faster
    assert client.ping() == daemon.address
    assert client.statistics()["rejected_unreadable"] > 30_000
    assert daemon.uss_bytes() - before < 8 * 2**20


def run_in_child(run: Callable[[Callable[[object], None]], int]) -> tuple[int, str]:
    """Fork; the child's pid and what it said when it was ready."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = run(
                lambda address: os.close(write) if os.write(write, f"{address[0]}:{address[1]}".encode()) else None
            )
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as file:
        return pid, file.read()


def test_a_journal_begins_with_its_start_and_holds_ticks_and_events(tmp_path: Path, daemon: Daemon) -> None:
    path = tmp_path / "broker-0.journal"
    pid, text = run_in_child(
        lambda on_ready: run_server(
            ServerProcess(SYSTEM, BrokerConfig(), ("127.0.0.1", 0), seed=1, journal=path, process="broker-0"), on_ready
        )
    )
    try:
        ContextClient([parse_address(text)]).join([daemon.address])
        ContextClient([parse_address(text)]).provide("p", ROOM, b"a=1", 60_000)
    finally:
        os.kill(pid, 15)
        assert os.waitpid(pid, 0)[1] == 0
    start, *facts, held = list(read_journal(path))
    assert isinstance(start, Start)
    assert (start.process, start.pid) == ("broker-0", pid)
    ticks = [fact for fact in facts if isinstance(fact, Tick)]
    assert isinstance(held, Holdings)
    assert (held.own, held.replicas, held.left_out) == (["|".join(ROOM)], [], 0)
    assert ticks[-1].counters["in_8"] == 1
    assert ticks[-1].uss_bytes <= ticks[-1].pss_bytes <= ticks[-1].rss_bytes
    assert ticks[-1].cpu_us > 0
    assert {"NeighbourJoined", "NetworkLeft"} & {fact.name for fact in facts if isinstance(fact, Event)}


def test_what_goes_over_a_shaped_link_is_delayed_and_nothing_else_is(daemon: Daemon) -> None:
    shapes = {daemon.address: LinkShape(delay_ms=80)}
    pid, text = run_in_child(
        lambda on_ready: run_server(
            ServerProcess(SYSTEM, BrokerConfig(), ("127.0.0.1", 0), seed=1, links=shapes), on_ready
        )
    )
    shaped, far = ContextClient([parse_address(text)]), ContextClient([daemon.address])
    try:
        shaped.join([daemon.address])
        far.provide("p", ROOM, b"a=1", 60_000)
        assert shaped.ask(ROOM).text == "a=1"
        assert far.neighbors() == (parse_address(text),)
    finally:
        os.kill(pid, 15)
        assert os.waitpid(pid, 0)[1] == 0
