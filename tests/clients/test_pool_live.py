"""A pool of real sockets and three real brokers, one of which is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from overlay.programs.context_broker.client import NoAnswer, NotFound
from overlay.programs.context_broker.pool import PoolClient
from tests.runtime.daemons import Daemon, ring
from tests.waiting import BOUND_S


@pytest.fixture
def three() -> Iterator[list[Daemon]]:
    daemons = [Daemon() for _ in range(3)]
    ring(daemons)
    yield daemons
    for daemon in daemons:
        daemon.end()


async def test_many_ask_at_once_and_a_killed_broker_costs_no_answer_that_another_has(three: list[Daemon]) -> None:
    brokers = tuple(daemon.address for daemon in three)
    keys = [("room", f"r{number}", "temp") for number in range(60)]
    client = PoolClient()
    try:
        stored = [await client.provide("p", key, b"t=1", 600_000, brokers, BOUND_S) for key in keys]
        assert {one.broker for one in stored} == set(brokers)
        found = await asyncio.gather(*(client.ask(key, brokers, BOUND_S) for key in keys))
        assert {one.payload for one in found} == {b"t=1"}
        assert [one.timestamp for one in found] == [one.last_ms for one in stored]
        with pytest.raises(NotFound):
            await client.ask(("room", "none", "temp"), brokers, BOUND_S)

        dead = three[0]
        dead.process.kill()
        dead.process.wait(BOUND_S)
        for key, one in zip(keys, stored, strict=True):
            if one.broker != dead.address:
                assert (await client.ask(key, brokers, BOUND_S)).broker != dead.address
            else:
                again = await client.provide("p", key, b"t=2", 600_000, brokers, BOUND_S)
                assert again.broker != dead.address
                assert (await client.ask(key, brokers, BOUND_S)).payload == b"t=2"
        with pytest.raises(NoAnswer):
            await client.ask(keys[0], (dead.address,), 0.3, is_alone=True)
    finally:
        client.close()
