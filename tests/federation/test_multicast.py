"""Brokers are found by multicast, on the loopback interface."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from overlay.core.addresses import Address
from overlay.programs.federation.client import ConsumerClient, Inbox, by_multicast
from overlay.runtime.server_process import ServerProcess, run_server
from overlay.runtime.udp import CannotBind, open_group, open_socket
from overlay.systems.federation.clients.events import Lost, Registered
from overlay.systems.federation.clients.terms import MULTICAST
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.settings import BY_MULTICAST, Settings
from overlay.systems.federation.system import Federation
from overlay.systems.roles import Place
from tests.waiting import BOUND_S

LOOPBACK = "127.0.0.1"
NO_SERVICE: Address = (LOOPBACK, 9)


class Elsewhere(Federation):
    """In a group of its own: other runs of the tests may be under way on this machine."""

    def __init__(self, group: Address) -> None:
        self._group = group

    def group(self, config: ServerConfig, place: Place) -> Address | None:
        return super().group(config, place) and self._group


@pytest.fixture
def group() -> Address:
    try:
        with open_group((MULTICAST[0], 0), LOOPBACK) as heard, socket.socket(type=socket.SOCK_DGRAM) as asker:
            group = MULTICAST[0], heard.getsockname()[1]
            asker.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(LOOPBACK))
            asker.sendto(b"?", group)
            heard.settimeout(1)
            heard.recv(1)
            return group
    except OSError as error:
        pytest.skip(f"the loopback interface of this machine has no multicast: {error}")


@contextmanager
def broker(index: int, group: Address) -> Iterator[int]:
    """A broker in a process of its own, without a registration service. Returns its process id."""
    system = Elsewhere(group)
    config = ServerConfig(Settings(discovery=BY_MULTICAST), 2, is_open=True)
    servers = [(LOOPBACK, 1), (LOOPBACK, 2), NO_SERVICE]
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        process = ServerProcess(
            system, config, (LOOPBACK, 0), index=index, servers=servers, seed=1, process=f"broker-{index}"
        )
        os._exit(run_server(process, lambda address: os.close(write) if os.write(write, b".") else None))
    os.close(write)
    try:
        with os.fdopen(read, "rb") as ready:
            assert ready.read() == b"."
        yield pid
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)


def test_a_server_that_cannot_join_its_group_leaves_its_port_free() -> None:
    with open_socket((LOOPBACK, 0)) as taken:
        address = taken.getsockname()
    config = ServerConfig(Settings(discovery=BY_MULTICAST), 1, is_open=True)
    with pytest.raises(CannotBind, match=f"127.0.0.1:17771 on {LOOPBACK}"):
        ServerProcess(Elsewhere((LOOPBACK, 17_771)), config, address, servers=[address, NO_SERVICE], seed=1)
    open_socket(address).close()


async def next_of(inbox: Inbox, kind: type) -> str:
    async for event in inbox:
        if isinstance(event, kind):
            return event.broker
    raise AssertionError


def test_a_client_finds_a_broker_of_the_local_network_and_another_when_that_leaves(group: Address) -> None:
    async def story(pids: dict[str, int]) -> None:
        inbox = Inbox()
        terms = replace(by_multicast(), group=(group,))
        async with ConsumerClient(terms, "alice", inbox.put, within_s=BOUND_S, interface=LOOPBACK):
            first = await next_of(inbox, Registered)
            os.kill(pids[first], signal.SIGTERM)
            assert await next_of(inbox, Lost) == first
            (other,) = pids.keys() - {first}
            assert await next_of(inbox, Registered) == other

    with broker(0, group) as b0, broker(1, group) as b1:
        asyncio.run(asyncio.wait_for(story({"b0": b0, "b1": b1}), BOUND_S))
