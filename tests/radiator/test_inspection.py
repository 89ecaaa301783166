"""What a server tells its operator: only on its host, in bounded pages, the same for every form of Algorithm 1."""

from __future__ import annotations

import json
import random
import socket
import threading

import pytest

from overlay.core.addresses import format_address
from overlay.core.binary import MAX_DATAGRAM, canonical
from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND, SECOND
from overlay.programs.radiator import commands, listing
from overlay.programs.radiator.client import NoAnswer, RadiatorClient
from overlay.programs.radiator.inspection import Inspector, NotAServer
from overlay.systems.radiator.server import inspection
from overlay.systems.radiator.settings import ServerConfig, Settings
from overlay.systems.radiator.system import SYSTEM
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.roles import Place

OWN = ("127.0.0.1", 7000)
OPERATOR = ("127.0.0.1", 9999)


class Served:
    """A server without a process. ``now`` is in ns."""

    def __init__(self, **settings):
        place = Place("server-0", 0, OWN, (OWN,))
        self.now = 0
        self.server = SYSTEM.make_server(ServerConfig(Settings(**settings)), place, Chances.of_one(random.Random(1)), 0)

    def tell(self, message, source):
        """The answers to the sender."""
        self.server.receive_datagrams([(encode(message), source)], self.now)
        return [parse(data) for data, to in self.server.datagrams_to_send() if to == source]

    def register(self, number, id=None, **attributes):
        source, request = (
            ("10.0.0.1", 2_000 + number),
            m.Register(1, number, 0, 1, id or f"client-{number}", attributes),
        )
        (answer,) = self.tell(request, source)
        (answer,) = self.tell(request._replace(token=answer.token), source)
        assert answer.code == m.Registration.OK

    def call(self, number, req, people):
        body = canonical({"a": {}, "n": 1, "p": people, "t": [0, 0]})
        answer = self.tell(m.Context(req, number, 0, 0, body), ("10.0.0.1", 2_000 + number))[0]
        assert answer.code == m.Acceptance.OK

    def ask(self, subject, clients=0, offset=0, limit=100):
        (answer,) = self.tell(m.Inspect(1, 0, subject), OPERATOR)
        (answer,) = self.tell(m.Inspect(2, answer.token, subject, clients, offset, limit), OPERATOR)
        assert (answer.req, answer.code) == (2, m.Inspection.OK)
        assert len(encode(answer)) <= MAX_DATAGRAM
        return json.loads(answer.body)


@pytest.mark.parametrize("subject", m.Subject)
def test_an_address_that_is_not_proven_gets_little_and_another_host_nothing(subject):
    served = Served()
    served.register(1)
    request = m.Inspect(7, 0, subject, limit=100)
    for source, code in ((OPERATOR, m.Inspection.TOKEN), (("10.0.0.1", 2_001), m.Inspection.ELSEWHERE)):
        (answer,) = served.tell(request, source)
        assert (answer.req, answer.code, answer.body) == (7, code, b"")
        assert len(encode(answer)) <= inspection.MOST_TIMES * len(encode(request))
    (answer,) = served.tell(m.Inspect(8, 1, m.Subject.CLIENTS), OPERATOR)
    assert answer.code == m.Inspection.TOKEN, "a wrong token is none"


def test_figures_need_no_token_if_the_request_has_a_third_of_the_bytes():
    served = Served()
    served.register(1)
    request = SYSTEM.statistics_request(1 << 40)
    served.server.receive_datagrams([(request, OPERATOR)], 0)
    ((data, _),) = served.server.datagrams_to_send()
    assert SYSTEM.read_statistics(data)["reachable"] == 1
    large = canonical(dict.fromkeys(served.server.statistics(0), 10**13))
    assert len(large) + len(data) - len(parse(data).body) <= inspection.MOST_TIMES * len(request)
    others = (encode(m.Inspected(1, 1, 5)), encode(m.Inspected(1, 0, body=b'{"a":"b"}')), encode(m.Alive(1)), b"RD")
    assert [SYSTEM.read_statistics(other) for other in others] == [None] * 4


def test_clients_are_listed_in_order_of_registration_and_page_by_page():
    served = Served(aggregability="{volume: 5}")
    for number in (3, 1, 2):
        served.register(number, floor=number)
    served.server.clients.lose(next(iter(served.server.clients)), 0)
    served.server._drop(next(iter(served.server.clients)), "unreachable", 0)
    served.now = 3 * SECOND
    served.call(1, 1, ["Ann"])
    served.now += 250 * MILLISECOND
    found = served.ask(m.Subject.CLIENTS)
    rows = [(row["id"], row["port"], row["is_reachable"], row["silent_ms"], row["pending"]) for row in found["rows"]]
    assert rows == [
        ("client-3", 2_003, False, 3_250, 0),
        ("client-1", 2_001, True, 250, 0),
        ("client-2", 2_002, True, 3_250, 1),
    ]
    assert (found["total"], found["rows"][0]["instance"], found["rows"][0]["attributes"]) == (3, "0000…", '{"floor":3}')
    (one,) = served.ask(m.Subject.CLIENTS, clients=1, offset=1, limit=5)["rows"]
    assert one["id"] == "client-2"
    unreachable = served.ask(m.Subject.CLIENTS, clients=2)
    assert (unreachable["total"], [row["id"] for row in unreachable["rows"]]) == (1, ["client-3"])
    assert served.ask(m.Subject.CLIENTS, offset=10**9)["rows"] == []


def test_a_page_fits_a_datagram_whatever_clients_call_themselves():
    served = Served()
    for number in range(inspection.MOST_ROWS):
        served.register(number, f"{number:03}" + "\x01" * 250, text='"\x02' * 2_000)
    seen = []
    while rows := served.ask(m.Subject.CLIENTS, offset=len(seen), limit=65_535)["rows"]:
        assert all(len(row["attributes"]) == inspection.MOST_CHARACTERS for row in rows)
        seen += [row["id"][:3] for row in rows]
    assert seen == [f"{number:03}" for number in range(inspection.MOST_ROWS)]


@pytest.mark.parametrize("index", ["literal", "indexed", "classes"])
def test_pending_messages_are_listed_by_queue_those_that_leave_first_come_first(index):
    text = "{people: 9} if r.floor == 1 else {time: 60} if r.floor == 2 else {volume: 4}"
    served = Served(aggregability=text, index=index, retain_max_s=0, echo=True)
    for number, floor in enumerate((1, 2, 2, 3)):
        served.register(number, floor=floor)
    for req, people in enumerate((["Ann", "Bob"], ["Bob"]), start=1):
        served.now += SECOND
        served.call(0, req, people)
    served.now += SECOND
    found = served.ask(m.Subject.PENDING)
    assert (found["total"], found["retained"], found["is_whole"]) == (3, 2, True)
    rows = {(row["kind"], row["value"]): row for row in found["rows"]}
    assert next(iter(rows)) == ("time", 60)
    assert {row["messages"] for row in found["rows"]} == {2} and {row["oldest_ms"] for row in found["rows"]} == {2_000}
    assert rows["time", 60]["leaves_in_ms"] == 58_000
    assert rows["time", 60]["recipients"] == 2
    assert rows["time", 60]["classes"] == (1 if index == "classes" else 2)
    assert (rows["people", 9]["people"], rows["volume", 4]["people"]) == (2, None)
    waits = {kind: listing.waits_for(row) for (kind, _), row in rows.items()}
    assert waits == {"time": "in 58 s", "people": "with 7 more people", "volume": "with 2 more messages"}


def test_queues_that_are_looked_at_are_limited(monkeypatch):
    monkeypatch.setattr(inspection, "MOST_QUEUES", 2)
    served = Served(aggregability="{volume: 1000 + len(r.id)}", index="indexed", echo=True)
    for number in range(3):
        served.register(number, "x" * (number + 1))
    served.call(0, 1, ["Ann"])
    found = served.ask(m.Subject.PENDING, limit=1)
    assert (found["total"], found["is_whole"], len(found["rows"])) == (2, False, 1)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (1_999, "1.9 s"),
        (9_999, "9.9 s"),
        (10_000, "10 s"),
        (119_000, "119 s"),
        (120_000, "2 min"),
        (10**9, "11 d"),
    ],
)
def test_durations_have_one_unit_and_few_digits(ms, text):
    assert listing.length(ms) == text


def test_errors_say_what_is_at_the_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        address = other.getsockname()

        def answer():
            other.sendto(b"hello", other.recvfrom(1_000)[1])

        thread = threading.Thread(target=answer)
        thread.start()
        with Inspector(address) as wrong, pytest.raises(NotAServer, match="is no server of Radiator"):
            wrong.figures()
        thread.join()
        with Inspector(address, 0.3) as silent, pytest.raises(NoAnswer, match="did not answer in"):
            silent.clients()
    with Inspector(address) as nothing, pytest.raises(NoAnswer, match="No server listens at"):
        nothing.pending()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["--limit", "0"], "from 1 to 1,000"), (["--offset", "x"], "from 0 to"), (["--only", "x"], "invalid choice")]
    + [(["--deadline", given], "number of seconds above 0") for given in ("nan", "x", "-1", "inf")],
)
def test_wrong_arguments_are_said_in_one_line(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as ended:
        commands.main("clients", ["127.0.0.1:1", *arguments])
    said = capsys.readouterr().err
    assert (ended.value.code, said.count("\n")) == (commands.WRONG_USAGE, 1)
    assert sentence in said


def test_the_commands_list_what_a_real_server_has(server, capsys):
    address = format_address(server)
    with RadiatorClient(server, "ann", attributes={"floor": 2}), RadiatorClient(server, "b\x1bob") as bob:
        bob.propagate(["bob"], {"speed": 50})
        assert commands.main("clients", [address, "--only", "reachable"]) == 0
        title, head, *rows = capsys.readouterr().out.splitlines()
        ids = [row.split()[1] for row in rows]
        assert head.split() == [
            "ADDRESS",
            "ID",
            "INSTANCE",
            "P2P",
            "REACHABLE",
            "SEEN",
            "PENDING",
            "SENT,",
            "RETAINED",
            "ATTRIBUTES",
        ]
        assert title == f"{len(ids)} reachable clients"
        assert ids[-2:] == ["ann", r"b\x1bob"]
        assert '{"floor":2}' in rows[-2]
        assert commands.main("clients", [address, "--limit", "1", "--offset", "1", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (len(found["rows"]), found["offset"], found["total"]) == (1, 1, len(ids))
        assert commands.main("pending", [address]) == 0
        title, _, row = capsys.readouterr().out.splitlines()
        assert title == "1 queue, 1 message retained"
        assert row.startswith(f"volume 2  {len(ids) - 1} ")
        assert "with 1 more message, in " in row
