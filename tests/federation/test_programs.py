"""Clients for programs and their commands, with a real broker: found, told, notified, gone."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from overlay.core.addresses import format_address
from overlay.messages.errors import BadMessage
from overlay.programs import running
from overlay.programs.federation import commands
from overlay.programs.federation.client import (
    ConsumerClient,
    Inbox,
    NoAnswer,
    ProviderClient,
    Refused,
    at_broker,
    by_multicast,
    by_service,
)
from overlay.programs.federation.text import Registration, show
from overlay.runtime.own_supervisor import own_supervisor
from overlay.systems.federation.clients.events import Lost, Notified, Receipt, Registered, Verdict
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.clients.provider import Content
from overlay.systems.federation.clients.terms import MULTICAST
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.system import SYSTEM
from overlay.systems.federation.wire.messages import Code
from overlay.systems.federation.wire.values import Notification, NotificationId
from overlay.systems.roles import Place
from telemetry.calibration.live import standing
from tests.waiting import BOUND_S

ROOT = Path(__file__).resolve().parents[2]
QUIET = {"providers": 1, "consumers": 1, "scopes": 1, "queries": 100, "rate_per_s": 0.01}
HOUR_MS = 3_600_000
CHAIN = [{"a": 0, "b": 1}]


@pytest.fixture(scope="module")
def servers():
    """The addresses of a broker and of the registration service."""
    with own_supervisor() as client, standing(client, "client", 1, {}, QUIET, "federation") as found:
        yield [one.address for one in found]


@pytest.fixture(scope="module")
def broker(servers):
    return servers[0]


def later():
    return time.time_ns() // 1_000_000 + HOUR_MS


def content(id, **data):
    return Content("room", id, "climate", later(), data)


def command(*arguments):
    return [sys.executable, "-m", "overlay", "federation", *arguments]


def test_a_subscription_brings_what_satisfies_it_until_it_is_withdrawn(servers):
    async def story():
        heard = asyncio.Queue()
        terms = by_service(servers[1])
        async with (
            ConsumerClient(terms, "alice", heard.put_nowait) as alice,
            ProviderClient(terms, "sensor", ["climate"]) as sensor,
        ):
            (one,) = await alice.subscribe([Wanted(("climate",), later(), parse("temperature > 25"))])
            await sensor.publish(content("r1", temperature=20))
            warm = await sensor.publish(content("r2", temperature=30))
            while not isinstance(event := await heard.get(), Notified):
                pass
            assert event.notification.id == warm.id
            await alice.withdraw([one.id.number])
            await sensor.publish(content("r2", temperature=31))
            assert await alice.lookup("climate") == ((await alice.lookup("climate"))[0],)
            assert all(not isinstance(each, Notified) for each in heard._queue)

    asyncio.run(asyncio.wait_for(story(), BOUND_S))


def test_the_example_of_the_documentation_runs(broker, capsys):
    text = (ROOT / "docs" / "federation.md").read_text().split("## Using a network")[1]
    code = text.split("```python\n")[1].split("```")[0]
    own_scope = code.replace('"climate"', '"weather"')  # the broker has notifications of other tests in its cache
    exec(own_scope.replace('("127.0.0.1", 7000)', repr(broker)), {})
    assert capsys.readouterr().out == "('r17', {'temperature': 26.5})\n"


def test_refusals_have_their_code_and_change_nothing(broker):
    async def story():
        async with ConsumerClient(at_broker(broker), "bob") as bob:
            with pytest.raises(Refused) as nobody:
                await bob.query(["tides"])
            assert nobody.value.code is Code.NO_PROVIDER
            assert await bob.lookup("tides") == ()

    asyncio.run(asyncio.wait_for(story(), BOUND_S))


def test_a_name_that_a_server_has_is_refused_at_once(broker):
    async def story():
        with pytest.raises(Refused) as refused:
            async with ConsumerClient(at_broker(broker), "b0"):
                pass
        assert refused.value.code is Code.BAD

    asyncio.run(asyncio.wait_for(story(), BOUND_S))


def test_a_notification_is_told_once_for_each_subscription():
    """The broker of a consumer was killed, and the cache of the next one answers what is told there again."""
    note = Notification(NotificationId("p0", 1), "room", "r1", "climate", 1, later(), {})
    told = []
    alice = ConsumerClient(at_broker(("127.0.0.1", 1)), "alice", told.append)
    for receipts in [(1, Verdict.FIRST)], [(1, Verdict.DUPLICATE)], [(1, Verdict.DUPLICATE), (2, Verdict.FIRST)]:
        alice._take(Notified(note, tuple(Receipt(number, verdict, 1) for number, verdict in receipts), True, 0))
    assert [[one.number for one in event.receipts] for event in told] == [[1], [2]]


def test_an_inbox_that_nobody_empties_keeps_the_newest():
    async def story():
        inbox = Inbox(2)
        for index in range(5):
            inbox.put(Registered(f"b{index}", index))
        assert inbox.dropped == 3
        assert [(await anext(inbox)).broker for _ in range(2)] == ["b3", "b4"]

    asyncio.run(story())


def test_a_silent_broker_is_named():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        address = silent.getsockname()

        async def story():
            with pytest.raises(NoAnswer, match=format_address(address)):
                async with ConsumerClient(at_broker(address), "carol", within_s=0.3):
                    pass

        asyncio.run(story())
        assert commands.main("lookup", [format_address(address), "climate", "--deadline", "0.3"]) == running.UNANSWERED


def test_who_sends_keep_alives_too_seldom_is_told_of_the_option(capsys):
    eye = Registration("eye", at_broker(("127.0.0.1", 1), Settings(keepalive_s=20)))
    for event in [
        Registered("b0", 1),
        Lost("b0", "unknown", "One ends 4 s after its last keep-alive."),
        Registered("b0", 2),
    ]:
        eye.see(event)
    assert capsys.readouterr().err.splitlines() == [
        "eye is registered at b0",
        "lost b0 (unknown), looking for a broker",
        "One ends 4 s after its last keep-alive. Keep-alives are sent every 10 s: if keepalive_s of the network is "
        "below 20, give it with --keepalive.",
        "eye is registered at b0",
    ]
    eye.see(Lost("b0", "reset"))
    assert capsys.readouterr().err == "lost b0 (reset), looking for a broker\n"


def test_the_commands_publish_print_and_answer(broker, capsys):
    at = format_address(broker)
    with subprocess.Popen(
        command("subscribe", at, "light", "--where", "lux >= 10", "--count", "1", "--json"),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as subscriber:
        while subscriber.stderr.readline() != "subscribed\n":
            pass
        for lux in (5, 50):
            assert commands.main("publish", [at, "light", json.dumps({"lux": lux}), "--entity", "lamp"]) == 0
        out, _ = subscriber.communicate(timeout=BOUND_S)
    assert capsys.readouterr().out.count("accepted") == 2
    found = json.loads(out)
    assert (found["scope"], found["entity_type"], found["entity_id"]) == ("light", "thing", "lamp")
    assert found["data"] == {"lux": 50}
    assert subscriber.returncode == running.DONE


def test_a_subscription_at_another_broker_gets_what_a_new_provider_publishes_first(capsys):
    with own_supervisor() as client, standing(client, "client", 2, {}, QUIET, "federation", CHAIN) as found:
        first, second, _ = (format_address(one.address) for one in found)
        with subprocess.Popen(
            command("subscribe", first, "light", "--id", "eye", "--count", "1"),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as subscriber:
            assert [subscriber.stderr.readline() for _ in range(2)] == ["eye is registered at b0\n", "subscribed\n"]
            arguments = [second, "light", '{"lux": 50}', "--entity", "lamp", "--wait", str(BOUND_S)]
            assert commands.main("publish", arguments) == running.DONE
            out, more = subscriber.communicate(timeout=BOUND_S)
        assert ('{"lux": 50}' in out, more) == (True, "")


def test_a_provider_answers_queries_with_the_newest_and_is_found_by_its_scope(broker, capsys):
    at = format_address(broker)
    with subprocess.Popen(
        command("provide", at, "noise", "--id", "ear", "--type", "room", "--json"),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as provider:
        for entity, level in [("r1", 40), ("r2", 60), ("r1", 50)]:
            provider.stdin.write(json.dumps({"entity_id": entity, "data": {"dB": level}}) + "\n")
            provider.stdin.flush()
            accepted = json.loads(provider.stdout.readline())
            assert accepted["data"] == {"dB": level}
        provider.stdin.close()
        assert commands.main("lookup", [at, "noise"]) == running.DONE
        assert commands.main("query", [at, "noise", "--entity", "r1", "--json"]) == running.DONE
        listed, answered = capsys.readouterr().out.splitlines()
        assert listed.startswith("ear  127.0.0.1:")
        answer = json.loads(answered)
        assert answer["data"] == {"dB": 50}
        assert answer["timestamp"] == accepted["timestamp"], "when it was read, not when it was asked for"
        provider.send_signal(signal.SIGINT)  # it has no more to publish, and answers
        assert provider.wait(BOUND_S) == running.STOPPED
    assert commands.main("lookup", [at, "noise"]) == running.FAILED
    assert "no provider of noise is registered" in capsys.readouterr().err
    assert commands.main("query", [at, "noise", "--json"]) == running.FAILED
    error = json.loads(capsys.readouterr().out)["error"]
    assert error == {"code": "no_provider", "sentence": "No provider of these scopes answered with context."}


def test_the_registration_service_names_its_brokers(servers, capsys):
    at = format_address(servers[1])
    assert commands.main("brokers", [at]) == running.DONE
    assert capsys.readouterr().out == f"b0  {format_address(servers[0])}\n"
    assert commands.main("brokers", [at, "--near", "1", "2", "--json"]) == running.DONE
    assert json.loads(capsys.readouterr().out) == {"id": "b0", "endpoint": format_address(servers[0])}
    a_broker = format_address(servers[0])
    assert commands.main("brokers", [a_broker, "--deadline", "0.3"]) == running.UNANSWERED
    said = capsys.readouterr().err
    assert f"The registration service at {a_broker} did not answer" in said
    assert "It is the last server of a network" in said
    assert commands.main("lookup", [at, "climate"]) == running.FAILED
    assert "Give it with --service" in capsys.readouterr().err


def test_who_writes_another_encoding_is_told_of_the_option(broker, capsys):
    assert commands.main("lookup", [format_address(broker), "climate", "--encoding", "contextml"]) == running.FAILED
    assert capsys.readouterr().err.endswith("The network's encoding is not contextml (--encoding).\n")


def test_an_interface_that_this_machine_does_not_have_is_named(capsys):
    with pytest.raises(SystemExit):
        commands.main("lookup", ["multicast", "climate", "--interface", "203.0.113.77"])
    assert capsys.readouterr().err.endswith("no interface of this machine has the address 203.0.113.77\n")


@pytest.mark.parametrize(
    ("interface", "says"), [("", "on the interface 127.0.0.1"), ("127.0.0.1", "multicast answer.$")]
)
def test_who_finds_no_broker_by_multicast_is_told_which_networks_answer(interface, says):
    async def story():
        terms = replace(by_multicast(), group=(("239.255.77.2", 9),))
        async with ConsumerClient(terms, "ear", within_s=0.1, interface=interface):
            pass

    with pytest.raises(NoAnswer, match=f"239.255.77.2:9 did not answer within 0.1 s.*{says}"):
        asyncio.run(story())


def test_an_expression_is_tried_without_a_network(tmp_path, capsys):
    file = tmp_path / "rooms.jsonl"
    file.write_text('{"temperature": 26}\n{"data": {"floor": 3}, "entity_id": "r7"}\n')
    assert commands.main("check", ["temperature > 25", str(file)]) == running.DONE
    assert capsys.readouterr().out == "yes  temperature > 25: true\nno   temperature > 25: missing\n"
    assert commands.main("check", ["not temperature > 30", str(file), "--json"]) == running.DONE
    said = capsys.readouterr()
    assert [json.loads(line)["satisfied"] for line in said.out.splitlines()] == [True, True]
    assert "where temperature is missing" in said.err


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("subscribe", ["nowhere", "climate"], "ADDRESS"),
        ("subscribe", ["127.0.0.1:1", "climate", "--where", "x >"], "(at character 4)"),
        ("subscribe", ["127.0.0.1:1", "climate", "--count", "0"], "whole number above 0"),
        ("query", ["127.0.0.1:1", "climate", "--deadline", "-1"], "seconds above 0"),
        ("brokers", ["127.0.0.1:1", "--near", "nan", "0"], "finite"),
        ("check", ["x > 1", "/nowhere/at/all"], "No such file"),
        ("subscribe", ["127.0.0.1:1", ""], "argument SCOPE: '' does not have 1 to 64 bytes"),
        ("publish", ["127.0.0.1:1", "x" * 65, "{}"], "argument SCOPE"),
        ("provide", ["127.0.0.1:1", "climate", "--id", ""], "argument --id: '' does not have 1 to 64 bytes"),
        ("query", ["127.0.0.1:1", "climate", "--entity", "r" * 65], "argument --entity"),
    ],
)
def test_wrong_usage_is_said_in_one_line(name, arguments, sentence, capsys):
    with pytest.raises(SystemExit) as ended:
        commands.main(name, arguments)
    assert ended.value.code == running.WRONG_USAGE
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_a_client_that_no_message_can_name_is_refused_before_anything_is_sent(broker):
    terms = at_broker(broker)
    for wrong in [
        lambda: ConsumerClient(terms, ""),
        lambda: ProviderClient(terms, "ear", [""]),
        lambda: ProviderClient(terms, "ear", ["noise"], url="u" * 513),
    ]:
        with pytest.raises(BadMessage, match="does not have"):
            wrong()

    async def story():
        async with ProviderClient(terms, "ear", ["noise"]) as ear:
            with pytest.raises(BadMessage, match="'' does not have 1 to 64 bytes"):
                await ear.advertise(["noise", ""])
            assert [one.id for one in await _lookup(terms, "noise")] == ["ear"]

    asyncio.run(asyncio.wait_for(story(), BOUND_S))


async def _lookup(terms, scope):
    async with ConsumerClient(terms, "asker") as asker:
        return await asker.lookup(scope)


def test_a_subscriber_is_told_what_a_not_overlooks(broker, capsys):
    at = format_address(broker)
    assert commands.main("subscribe", [at, "light", "--where", "not lux > 25", "--seconds", "0.1"]) == running.DONE
    assert "lux is compared inside not: this also holds where lux is missing" in capsys.readouterr().err


def test_input_that_is_no_notification_is_refused(broker, capsys):
    at = format_address(broker)
    for text, sentence in [("[1]", "no JSON object"), ('{"data": 3}', "data must be an object"), ("{}{", "no JSON")]:
        with pytest.raises(SystemExit):
            commands.main("publish", [at, "light", text, "--entity", "lamp"])
        assert sentence in capsys.readouterr().err
    with pytest.raises(SystemExit):
        commands.main("publish", [at, "light", "{}"])
    assert "entity_id is missing: give it in the line, or with --entity" in capsys.readouterr().err


def test_brokers_of_a_run_answer_no_multicast():
    chain, place = SYSTEM.default_topology(None, None), Place("broker-0", 0, ("127.0.0.1", 1), ())
    for workload, group in [({}, None), (None, MULTICAST)]:
        config = SYSTEM.config_of(SYSTEM.setup({"discovery": "multicast"}, workload, chain))
        assert SYSTEM.group(config, place) == group
    assert SYSTEM.group(SYSTEM.config_of(SYSTEM.setup({}, None, chain)), place) is None


def test_a_notification_of_the_last_instant_that_a_message_can_say_is_shown(capsys):
    note = Notification(NotificationId("p0", 1), "room", "r1", "climate", 2**64 - 1, 2**64 - 1, {"x": 1})
    show(Namespace(json=False), note)
    assert 'climate  room/r1  {"x": 1}' in capsys.readouterr().out
