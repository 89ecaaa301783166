"""Clients for programs, and commands, at two real brokers over UDP."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from overlay.core.addresses import Address, format_address
from overlay.core.links import Link
from overlay.programs.running import DONE, FAILED, UNANSWERED, WRONG_USAGE
from overlay.programs.silbops import commands, using
from overlay.programs.silbops.client import Client, Inbox, Refused
from overlay.programs.silbops.inspection import site_of
from overlay.runtime.server_process import ServerProcess
from overlay.systems.silbops.clients.events import Notified
from overlay.systems.silbops.system import SYSTEM
from overlay.systems.silbops.wire.messages import Code
from overlay.topologies import Graph
from tests.waiting import BOUND_S

CAMERA, CAR = b"camera".ljust(16, b"-"), b"car".ljust(16, b"-")
NEAR = "this.x - 20 <= pub.x <= this.x + 20"


@pytest.fixture(scope="module")
def brokers() -> Iterator[tuple[Address, ...]]:
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = tuple(one.getsockname() for one in sockets)
    for one in sockets:
        one.close()
    config = SYSTEM.config_of(SYSTEM.setup({}, None, Graph(2, (Link(0, 1),))))
    served = [
        ServerProcess(SYSTEM, config, at, index=index, servers=addresses, seed=index, process=f"broker-{index}")
        for index, at in enumerate(addresses)
    ]
    threads = [threading.Thread(target=one.run, args=(lambda address: None,), daemon=True) for one in served]
    for thread in threads:
        thread.start()
    yield addresses
    for one in served:
        one.stop()
    for thread in threads:
        thread.join(BOUND_S)


def run(*arguments: str) -> int:
    try:
        return commands.main(arguments[0], list(arguments[1:]))
    except SystemExit as error:
        return int(error.code or 0)


def within(story: Any) -> None:
    asyncio.run(asyncio.wait_for(story, BOUND_S))


async def notified(inbox: Inbox) -> Notified:
    async for event in inbox:
        if isinstance(event, Notified):
            return event
    raise AssertionError


def test_a_car_hears_of_cameras_near_it_and_the_operator_why_not(brokers: Any, capsys: Any) -> None:
    async def story() -> None:
        inbox = Inbox()
        async with (
            Client(site_of(brokers[1]), id=CAR, on_event=inbox.put) as car,
            Client(site_of(brokers[0]), id=CAMERA) as camera,
        ):
            await car.set_context({"x": 5})
            await car.subscribe([["kind", "=", "fire"]], NEAR)
            with pytest.raises(Refused) as refused:
                await camera.publish({"kind": "fire"})
            assert refused.value.code is Code.NOT_ADVERTISED
            await camera.set_context({"x": 9})
            await camera.advertise(["x"])
            while await asyncio.to_thread(why, brokers[1], {"x": 9}) != DONE:
                capsys.readouterr()  # the advertisement and the subscription are still on their way
            assert f"b1: to client {CAR.hex()}" in capsys.readouterr().out
            await camera.publish({"kind": "fire"})
            assert (await notified(inbox)).notification == {"kind": "fire"}
            assert await asyncio.to_thread(why, brokers[0], {"x": 90}) == FAILED
            assert "pub.x <= this.x + 20 is false" in capsys.readouterr().out
            await car.set_context({"x": 88})
            while await asyncio.to_thread(why, brokers[0], {"x": 90}, "--json") != DONE:
                capsys.readouterr()
            answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
            assert [one["broker"] for one in answers] == ["b0", "b1"]

    within(story())


def why(broker: Address, context: dict[str, Any], *more: str) -> int:
    who = ("--publisher", CAMERA.hex(), "--subscriber", CAR.hex())
    return run("why", format_address(broker), '{"kind": "fire"}', *who, "--context", json.dumps(context), *more)


def test_commands_publish_and_subscribe(brokers: Any, capsys: Any) -> None:
    async def story() -> None:
        heard = asyncio.create_task(
            asyncio.to_thread(run, "subscribe", format_address(brokers[0]), "--count", "1", "--json")
        )
        while not heard.done():
            flood = ("publish", format_address(brokers[0]), '{"kind": "flood"}', "--context", '{"x": 1}')
            assert await asyncio.to_thread(run, *flood) == DONE
        assert heard.result() == DONE

    within(story())
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["notification"] == {"kind": "flood"}


def test_what_a_command_publishes_reaches_another_broker(brokers: Any, capsys: Any, monkeypatch: Any) -> None:
    """It waits for subscriptions that its advertisement calls for."""

    async def called_for(seconds: float) -> None:
        while await asyncio.to_thread(why, brokers[0], {"x": 9}) != DONE:
            capsys.readouterr()

    async def story() -> None:
        inbox = Inbox()
        async with Client(site_of(brokers[1]), id=CAR, on_event=inbox.put) as car:
            await car.set_context({"x": 5})
            await car.subscribe([["kind", "=", "fire"]], NEAR)
            monkeypatch.setattr(using, "settle", called_for)
            fire = ("publish", format_address(brokers[0]), '{"kind": "fire"}', "--context", '{"x": 9}')
            assert await asyncio.to_thread(run, *fire, "--id", CAMERA.hex()) == DONE
            assert (await notified(inbox)).notification == {"kind": "fire"}

    within(story())


def test_what_is_wrong_is_said(brokers: Any, capsys: Any) -> None:
    at = format_address(brokers[0])
    assert run("publish", at, "[1]") == WRONG_USAGE
    assert run("publish", at, '{"a b": 1}') == FAILED
    assert run("subscribe", at, "--where", '[["kind", "=="]]') == WRONG_USAGE
    assert run("subscribe", at, "--scope", "this.x <") == WRONG_USAGE
    assert run("why", at, '{"kind": "fire"}', "--publisher", "00") == FAILED
    assert capsys.readouterr().err.splitlines()[-1] == "overlay silbops why: No broker has a client '00'."
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        nowhere = format_address(silent.getsockname())
        assert run("publish", nowhere, '{"kind": "fire"}', "--deadline", "0.3") == UNANSWERED
