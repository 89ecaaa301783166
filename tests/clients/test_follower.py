"""A follower with real sockets: brokers come and go, and it closes without a trace."""

from __future__ import annotations

import asyncio

import pytest

from overlay.programs.context_broker.follower import MOST_BROKERS, NetworkFollower, TooManyBrokers, wall_ms
from overlay.programs.context_broker.pool import PoolClient
from overlay.systems.context_broker.view.change_log import Kind
from overlay.systems.context_broker.view.view import REFUSED, SILENT, NetworkView
from tests.clients.loop_broker import LoopBroker
from tests.waiting import BOUND_S

KEY = ("room", "r1", "temp")


def values(view: NetworkView) -> dict[str, tuple[bytes, set[tuple[str, int]]]]:
    return {entry.key[1]: (entry.record.payload, set(entry.holders)) for entry in view.valid(wall_ms())}


async def changed(follower: NetworkFollower, after: int, seconds: float = BOUND_S) -> bool:
    """Whether there is a change with a number above ``after``, at once or in this time."""
    heard = asyncio.Event()
    stop = follower.listen(heard.set)
    try:
        async with asyncio.timeout(seconds):
            while follower.view.log.last <= after:
                heard.clear()
                await heard.wait()
    except TimeoutError:
        pass
    finally:
        stop()
    return follower.view.log.last > after


async def store(client: PoolClient, broker: LoopBroker, payload: bytes, name: str = "r1") -> None:
    await client.provide("p", ("room", name, "temp"), payload, 600_000, (broker.address,), BOUND_S)


async def test_it_reads_what_is_there_and_follows_what_changes_at_brokers_that_come_and_go() -> None:
    one, two = LoopBroker(), LoopBroker()
    client, follower = PoolClient(), NetworkFollower()
    told: list[int] = []
    try:
        await store(client, one, b"a=1")
        remove = follower.listen(lambda: told.append(follower.view.log.last))
        follower.follow([one.address])
        assert await follower.has_read(BOUND_S)
        assert values(follower.view) == {"r1": (b"a=1", {one.address})}

        follower.follow([one.address, two.address])
        await store(client, two, b"a=2", "r2")
        assert await changed(follower, 1, BOUND_S)
        remove()
        assert told == [1, 2]
        await store(client, one, b"a=3")
        assert await changed(follower, 2, BOUND_S)
        assert values(follower.view) == {"r1": (b"a=3", {one.address}), "r2": (b"a=2", {two.address})}

        follower.follow([two.address])
        assert values(follower.view) == {"r2": (b"a=2", {two.address})}
        assert [change.kind for change in follower.view.log.after(2) or ()] == [Kind.STORED, Kind.DROPPED]
        assert told == [1, 2]
    finally:
        follower.close()
        client.close()
        one.close()
        two.close()


async def test_an_entry_that_expires_is_reported_without_a_word_from_its_broker() -> None:
    one, client = LoopBroker(), PoolClient()
    follower = NetworkFollower([one.address])
    try:
        await client.provide("p", KEY, b"x", 300, (one.address,), BOUND_S)
        assert await changed(follower, 1, BOUND_S)
        assert [change.kind for change in follower.view.log.after(0) or ()] == [Kind.STORED, Kind.EXPIRED]
    finally:
        follower.close()
        client.close()
        one.close()


async def test_a_broker_that_is_gone_or_refuses_is_missing_until_it_answers() -> None:
    gone, stern = LoopBroker(), LoopBroker(trusted="10.0.0.0/8")
    gone.close()
    follower = NetworkFollower([gone.address, stern.address])
    try:
        assert await follower.has_read(BOUND_S)
        assert follower.view.missing == {gone.address: SILENT, stern.address: REFUSED}
        back = LoopBroker(port=gone.address[1])
        async with asyncio.timeout(BOUND_S):
            while gone.address in follower.view.missing:
                await changed(follower, follower.view.log.last, 0.05)
        back.close()
    finally:
        follower.close()
        stern.close()


async def test_those_who_wait_get_their_answer_when_it_closes() -> None:
    one = LoopBroker()
    follower = NetworkFollower([one.address])
    waiting = asyncio.create_task(follower.has_read(BOUND_S))
    await asyncio.sleep(0)
    follower.close()
    assert await waiting is False
    assert not await follower.has_read(BOUND_S)
    follower.follow([("127.0.0.1", 1)])
    follower.close()
    one.close()


async def test_a_listener_that_fails_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    one, client = LoopBroker(), PoolClient()
    follower = NetworkFollower([one.address])
    heard = asyncio.Event()
    try:
        follower.listen(lambda: 1 / 0)  # type: ignore[arg-type, return-value]
        follower.listen(heard.set)
        await store(client, one, b"a=1")
        async with asyncio.timeout(BOUND_S):
            await heard.wait()
        assert "failed" in caplog.text
    finally:
        follower.close()
        client.close()
        one.close()


async def test_it_follows_no_more_than_its_bound() -> None:
    with pytest.raises(TooManyBrokers):
        NetworkFollower([("127.0.0.1", port) for port in range(1, MOST_BROKERS + 2)])


async def test_a_refresh_brings_what_a_broker_has_acknowledged_before() -> None:
    one, two = LoopBroker(), LoopBroker()
    client, follower = PoolClient(), NetworkFollower([one.address, two.address])
    try:
        for number in range(20):
            broker = (one, two)[number % 2]
            await store(client, broker, b"n=%d" % number)
            assert await follower.refreshed([broker.address], BOUND_S)
            assert values(follower.view)["r1"][0] == b"n=%d" % number
        two.close()
        assert await follower.refreshed([one.address, two.address, ("127.0.0.1", 1)], BOUND_S)
        assert follower.view.missing == {two.address: SILENT}
    finally:
        follower.close()
        client.close()
        one.close()


async def test_many_refreshes_at_once_share_a_few_questions() -> None:
    one = LoopBroker()
    client, follower = PoolClient(), NetworkFollower([one.address])
    try:
        assert await follower.has_read(BOUND_S)
        await store(client, one, b"a=1")
        assert await follower.refreshed([one.address], BOUND_S)
        before = one.broker.counters()["in_35"]
        assert all(await asyncio.gather(*(follower.refreshed([one.address], BOUND_S) for _ in range(1_000))))
        assert one.broker.counters()["in_35"] - before < 100
        assert follower.view.missing == {}
    finally:
        follower.close()
        client.close()
        one.close()
