"""Clients for programs, and commands, at two real brokers over UDP."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from overlay.core.addresses import Address, format_address
from overlay.core.links import Link
from overlay.programs.running import DONE, FAILED, UNANSWERED, WRONG_USAGE
from overlay.programs.silbops import commands, using
from overlay.programs.silbops.client import Client, Inbox, InvalidMemory, Refused
from overlay.programs.silbops.inspection import arm_of, site_of
from overlay.programs.silbops.reading import publication_of
from overlay.programs.text import MOST_TEXT, InvalidDocument
from overlay.runtime.server_process import ServerProcess
from overlay.systems.silbops.clients.events import Notified
from overlay.systems.silbops.clients.terms import Site
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.system import SYSTEM
from overlay.systems.silbops.wire.messages import Code
from overlay.topologies import Graph
from tests.waiting import BOUND_S

CAMERA, CAR = b"camera".ljust(16, b"-"), b"car".ljust(16, b"-")
NEAR = "this.x - 20 <= pub.x <= this.x + 20"


@pytest.fixture(scope="module")
def brokers() -> Iterator[tuple[Address, ...]]:
    with serving(2) as addresses:
        yield addresses


@contextmanager
def serving(count: int, **settings: Any) -> Iterator[tuple[Address, ...]]:
    """A chain of brokers, each in a thread."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = tuple(one.getsockname() for one in sockets)
    for one in sockets:
        one.close()
    links = tuple(Link(index, index + 1) for index in range(count - 1))
    config = SYSTEM.config_of(SYSTEM.setup(settings, None, Graph(count, links)))
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


@pytest.fixture
def typed(monkeypatch: Any) -> Iterator[Any]:
    """What is written here comes by standard input, until it is closed."""
    here, there = os.pipe()
    with os.fdopen(here) as read, os.fdopen(there, "w") as write:
        monkeypatch.setattr(sys, "stdin", read)
        yield write


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


def test_the_operator_sees_that_a_client_has_left(brokers: Any, capsys: Any) -> None:
    async def story() -> None:
        async with Client(site_of(brokers[0]), id=CAMERA) as camera:
            async with Client(site_of(brokers[1]), id=CAR) as car:
                await car.subscribe()
                await camera.advertise(["x"])
            while await asyncio.to_thread(why, brokers[0], {"x": 9}) != DONE:
                capsys.readouterr()  # the subscription is still on its way

    within(story())
    assert f"b1: to client {CAR.hex()} (away for " in capsys.readouterr().out


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


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ('{"kind": "x"}', ({"kind": "x"}, None)),
        ('{"context": 1}', ({"context": 1}, None)),
        ('{"notification": {"kind": "x"}}', ({"kind": "x"}, None)),
        ('{"notification": {"notification": 3}, "context": {}}', ({"notification": 3}, {})),
    ],
)
def test_a_line_with_a_notification_may_have_a_context(line: str, read: Any) -> None:
    assert publication_of(line) == read


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{}", "there are 0 names instead of 1 to 64"),
        ('{"kind": [1]}', r"\[1\] is no value"),
        ('{"notification": 3}', "notification: 3 is no map of names and values"),
        ('{"notification": {}}', "notification: there are 0 names"),
        ('{"notification": {"kind": "x"}, "context": [1]}', r"context: \[1\] is no map"),
        ('{"notification": {"kind": "x"}, "context": "abc"}', "context: 'abc' is no map"),
        ('{"notification": {"kind": "x"}, "context": {"x": NaN}}', "context: nan is no finite number"),
        ('{"notification": {"kind": "x"}, "contxt": {"x": 1}}', "'contxt' is unknown"),
    ],
)
def test_a_line_that_is_no_publication_is_refused_by_field(line: str, sentence: str) -> None:
    with pytest.raises(InvalidDocument, match=sentence):
        publication_of(line)


def test_a_bad_line_ends_publish_and_what_came_before_it_stays(brokers: Any, typed: Any, capsys: Any) -> None:
    typed.write('{"kind": "a"}\n\n{"kind": "b"}\n{"notification": {"kind": "c"}, "context": [1]}\n{"kind": "d"}\n')
    typed.close()
    at = format_address(brokers[0])

    async def story() -> None:
        inbox = Inbox()
        async with Client(site_of(brokers[0]), id=CAR, on_event=inbox.put) as car:
            await car.subscribe()
            assert await asyncio.to_thread(run, "publish", at, "--id", CAMERA.hex(), "--wait", "0.001") == WRONG_USAGE
            assert [(await notified(inbox)).notification["kind"] for _ in range(2)] == ["a", "b"]

    within(story())
    told, error = capsys.readouterr().err.splitlines()
    assert told == f"{CAMERA.hex()} has advertised"
    assert error == (
        "overlay silbops publish: line 4: context: [1] is no map of names and values (2 published before it)"
    )


def test_a_mistyped_context_is_told_and_the_subscription_goes_on(brokers: Any, typed: Any, capsys: Any) -> None:
    at = format_address(brokers[0])

    def lines() -> None:
        with typed:
            typed.writelines(f"{line}\n" for line in ("garbage", '{"x": NaN}', "x" * (2 * MOST_TEXT), '{"x": 5}'))

    async def story() -> None:
        following = ("subscribe", at, "--scope", NEAR, "--context", '{"x": 90}', "--follow", "--count", "1", "--json")
        heard = asyncio.create_task(asyncio.to_thread(run, *following))
        await asyncio.to_thread(lines)
        async with Client(site_of(brokers[0]), id=CAMERA) as camera:
            await camera.set_context({"x": 9})
            await camera.advertise(["x"])
            while not heard.done():
                await camera.publish({"kind": "fire"})
        assert heard.result() == DONE

    within(story())
    out, err = capsys.readouterr()
    assert json.loads(out)["notification"] == {"kind": "fire"}
    wrong = [line for line in err.splitlines() if line.startswith("line ")]
    assert [one.partition(":")[0] for one in wrong] == [f"line {number} is not the new context" for number in (1, 2, 3)]
    assert wrong[0].endswith("'garbage' is no JSON: Expecting value: line 1 column 1 (char 0)")
    assert wrong[1].endswith("nan is no finite number")
    assert wrong[2].endswith("a line has at most 131,072 bytes")


def test_the_operator_asks_about_a_client_by_the_id_that_publish_told(brokers: Any, capsys: Any) -> None:
    at = format_address(brokers[0])
    assert run("publish", at, '{"kind": "fire"}', "--wait", "0.001") == DONE
    id, *words = capsys.readouterr().err.split()
    assert words == ["has", "advertised"]
    assert run("why", at, '{"kind": "fire"}', "--publisher", id, "--context", '{"x": 9}') in (DONE, FAILED)
    assert capsys.readouterr().out.startswith("b0: to ")


def test_a_client_that_stops_resumes_in_another_process_at_another_broker(brokers: Any, tmp_path: Path) -> None:
    """Each ``Client`` is what a process of its own would have."""
    state = tmp_path / "car.json"

    async def story() -> None:
        first, second = Inbox(), Inbox()
        async with Client(site_of(brokers[0]), id=CAMERA) as camera:
            await camera.set_context({"x": 9})
            async with Client(site_of(brokers[1]), id=CAR, state=state, on_event=first.put) as car:
                await car.set_context({"x": 5})
                await car.subscribe([["kind", "=", "fire"]], NEAR, number=1)
                await camera.advertise(["x"])
                while await asyncio.to_thread(why, brokers[0], {"x": 9}) != DONE:
                    pass  # the subscription is still on its way
                await camera.publish({"kind": "fire", "n": 0})
                assert (await notified(first)).notification["n"] == 0
            for n in (1, 2):
                await camera.publish({"kind": "fire", "n": n})
            async with Client(site_of(brokers[0]), state=state, on_event=second.put) as again:
                assert (again.id, again.was_at, [*again.subscriptions]) == (CAR, "b1", [1])
                await camera.publish({"kind": "fire", "n": 3})
                assert [(await notified(second)).notification["n"] for _ in range(3)] == [1, 2, 3]
                await again.set_context({"x": 100})
                await again.advertise()
                await again.publish({"kind": "seen"})  # its number is above those of the former process
                await again.unsubscribe(1)
        assert first.dropped == second.dropped == 0

    within(story())
    assert json.loads(state.read_text())["subscriptions"] == []


def test_a_publication_of_a_process_that_resumed_is_no_repeat(brokers: Any, tmp_path: Path) -> None:
    async def story() -> None:
        inbox = Inbox()
        async with Client(site_of(brokers[0]), on_event=inbox.put) as car:
            await car.subscribe([["kind", "=", "sign of life"]])
            for n in (1, 2):
                async with Client(site_of(brokers[0]), state=tmp_path / "camera.json") as camera:
                    await camera.advertise()
                    await camera.publish({"kind": "sign of life", "n": n})
                assert (await notified(inbox)).notification["n"] == n

    within(story())


def test_the_command_resumes_with_its_subscription_and_what_was_kept(brokers: Any, tmp_path: Path, capsys: Any) -> None:
    state = tmp_path / "siren.json"
    subscribe = ("subscribe", "--state", str(state))
    siren = ("--where", '[["kind", "=", "siren"]]')
    assert run(*subscribe, format_address(brokers[1]), *siren, "--seconds", "0.001") == DONE
    id = json.loads(state.read_text())["id"]
    assert f"{id} has subscribed" in capsys.readouterr().err

    async def story() -> None:
        async with Client(site_of(brokers[1]), id=CAMERA) as camera:
            await camera.advertise()
            for kind in ("bell", "siren"):
                await camera.publish({"kind": kind})

    within(story())
    assert run(*subscribe, format_address(brokers[0]), "--count", "1") == DONE
    printed = capsys.readouterr()
    assert printed.out.endswith('{"kind": "siren"}\n')
    assert "resumed at b0" in printed.err

    other = "0" * 32
    for wrong, sentence in [
        ((*subscribe, "--id", other), f"{state} is of the client {id}, not of {other}"),
        (("subscribe", "--state", str(tmp_path)), f"{tmp_path} cannot be read: Is a directory"),
    ]:
        assert run(*wrong, format_address(brokers[0])) == WRONG_USAGE
        assert sentence in capsys.readouterr().err
    for text in ("", "[]", "{}", '{"id": "00", "broker": "", "starts": 0, "subscriptions": []}'):
        state.write_text(text)
        assert run(*subscribe, format_address(brokers[0])) == WRONG_USAGE
        assert f"{state} is no file of a client: " in capsys.readouterr().err
        assert state.read_text() == text


def test_the_command_says_that_the_broker_has_forgotten_the_client(brokers: Any, tmp_path: Path, capsys: Any) -> None:
    state, drum = tmp_path / "car.json", {"number": 1, "where": [["kind", "=", "drum"]], "scope": "", "ttl_ms": None}
    state.write_text(json.dumps({"id": 32 * "5", "broker": "b1", "starts": 3, "subscriptions": [drum]}))
    subscribe = ("subscribe", format_address(brokers[0]), "--state", str(state), "--count", "1")

    async def story() -> None:
        heard = asyncio.create_task(asyncio.to_thread(run, *subscribe))
        async with Client(site_of(brokers[0]), id=CAMERA) as camera:
            await camera.advertise()
            while not heard.done():
                await camera.publish({"kind": "drum"})
                await asyncio.sleep(0)
        assert heard.result() == DONE, "it has subscribed again by itself"

    within(story())
    assert "attached to b0: b1 has nothing of the client any more" in capsys.readouterr().err


def test_a_client_of_the_siena_arm_cannot_resume(tmp_path: Path) -> None:
    with pytest.raises(InvalidMemory, match="siena arm cannot resume"):
        Client(Site("b0", ("127.0.0.1", 1)), Settings(arm="siena"), state=tmp_path / "car.json")
    assert list(tmp_path.iterdir()) == []


def test_commands_have_the_arm_of_the_network_and_refuse_another(brokers: Any, capsys: Any) -> None:
    at = format_address(brokers[0])
    for command in (("publish", at, '{"kind": "fire"}'), ("subscribe", at)):
        assert run(*command, "--arm", "siena") == WRONG_USAGE
        assert "argument --arm: the network of b0 is of the arm silbops, not siena" in capsys.readouterr().err
        assert run(*command, "--arm", "foo") == WRONG_USAGE
        assert "choose from" in (said := capsys.readouterr().err) and "silbops" in said and "siena" in said
    with serving(1, arm="siena") as (broker,):
        assert arm_of(broker) == "siena"
        context = ("--context", '{"x": 9}', "--wait", "0.001")

        async def story() -> None:
            inbox = Inbox()
            async with Client(site_of(broker), Settings(arm="siena"), on_event=inbox.put) as car:
                await car.set_context({"x": 5})
                await car.subscribe([["kind", "=", "fire"]], NEAR)
                publish = ("publish", format_address(broker), '{"kind": "fire"}', *context)
                assert await asyncio.to_thread(run, *publish) == DONE
                assert (await notified(inbox)).notification == {"kind": "fire"}

        within(story())


def test_what_is_wrong_is_said(brokers: Any, capsys: Any) -> None:
    at = format_address(brokers[0])
    for wrong in (
        ("publish", at, "[1]"),
        ("publish", at, '{"a b": 1}'),
        ("publish", at, "{}"),
        ("publish", at, '{"x": NaN}'),
        ("publish", at, '{"kind": "fire"}', "--context", '{"x": NaN}'),
        ("subscribe", at, "--context", '{"x": NaN}'),
        ("subscribe", at, "--where", '[["kind", "=="]]'),
        ("subscribe", at, "--where", '[["x", "=", NaN]]'),
        ("why", at, '{"kind": "fire"}', "--publisher", "00"),
        ("why", at, '{"x": NaN}', "--publisher", 32 * "0"),
    ):
        assert run(*wrong) == WRONG_USAGE, wrong
    assert run("subscribe", at, "--scope", "this.x <") == WRONG_USAGE
    assert capsys.readouterr().err.splitlines()[-1].startswith("overlay silbops subscribe: argument --scope: ")
    assert run("why", at, '{"kind": "fire"}', "--publisher", 32 * "0") == FAILED
    error = f"overlay silbops why: No broker has a client '{32 * '0'}'."
    assert capsys.readouterr().err.splitlines()[-1] == error
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        nowhere = format_address(silent.getsockname())
        assert run("publish", nowhere, '{"kind": "fire"}', "--deadline", "0.3") == UNANSWERED
