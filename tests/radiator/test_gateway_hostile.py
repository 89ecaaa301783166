"""Peers of the gateway that send without end, do not read, or answer without end: others wait a moment at most."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from types import SimpleNamespace

import h11
import pytest

from overlay.core.errors import WaxwingError
from overlay.programs.radiator import outlets, posting, routes
from overlay.programs.radiator.clients import Clients
from overlay.programs.radiator.connection import READ_BYTES, STREAM_BUFFER, Connection
from overlay.programs.radiator.gateway import Gateway
from overlay.programs.radiator.http_front import Front
from overlay.programs.radiator.limits import Limits
from overlay.programs.radiator.origins import Origins
from overlay.programs.radiator.remembered import Bodies
from overlay.programs.radiator.requests import Call, Wrong
from overlay.systems.radiator.wire import messages as m
from tests.waiting import BOUND_S

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Writer:
    """To a peer that reads ``is_reading`` or does not. It is its own transport."""

    def __init__(self, is_reading=True):
        self.written, self.is_cut_off, self._is_reading, self.transport = b"", False, is_reading, self

    def get_extra_info(self, _):
        return ("192.0.2.7", 1)

    def write(self, data):
        self.written += data

    async def drain(self):
        if not self._is_reading:
            await asyncio.Event().wait()

    def close(self):
        pass

    wait_closed = drain

    def abort(self):
        self.is_cut_off = True


def peer(data):
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return reader


def served(limits, writer, data, turns):
    counts: Counter[str] = Counter()
    made = routes.Routes(Gateway(("127.0.0.1", 9), limits=limits))
    return asyncio.create_task(Connection(made, limits, counts, turns, peer(data), writer).serve()), counts


def test_in_a_round_of_the_loop_one_request_of_a_source_is_answered():
    """However many it sends at once, and over how many connections."""

    async def rounds():
        limits, turns, most = Limits(requests_per_source=10**6), asyncio.Lock(), 0
        tasks = [served(limits, Writer(), REQUEST * 50, turns) for _ in range(3)]
        while not all(task.done() for task, _ in tasks):
            before = sum(counts["answers_404"] for _, counts in tasks)
            await asyncio.sleep(0)
            most = max(most, sum(counts["answers_404"] for _, counts in tasks) - before)
        return most, [counts["answers_404"] for _, counts in tasks]

    assert asyncio.run(rounds()) == (1, [50, 50, 50])


def test_of_a_body_in_small_chunks_a_part_is_parsed_in_a_round(monkeypatch):
    parsed = []
    receive = h11.Connection.receive_data
    monkeypatch.setattr(h11.Connection, "receive_data", lambda self, data: parsed.append(data) or receive(self, data))

    async def rounds():
        most, writer = 0, Writer()
        chunked = b"POST /radiator/v1/contexts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        task, counts = served(Limits(), writer, chunked + b"1\r\nx\r\n" * 2_000 + b"0\r\n\r\n", asyncio.Lock())
        while not task.done():
            before = len(parsed)
            await asyncio.sleep(0)
            most = max(most, len(parsed) - before)
        return most, counts["answers_400"]

    assert asyncio.run(rounds()) == (1, 1)
    assert max(map(len, parsed)) == READ_BYTES


def test_a_request_beyond_the_rate_is_not_answered_at_once(monkeypatch):
    monkeypatch.setattr(routes, "OVER_RATE_S", BOUND_S)

    async def rounds():
        task, counts = served(Limits(requests_per_source=0), Writer(), REQUEST, asyncio.Lock())
        for _ in range(100):
            await asyncio.sleep(0)
        assert not counts and not task.done()
        task.cancel()
        monkeypatch.setattr(routes, "OVER_RATE_S", 0)
        task, counts = served(Limits(requests_per_source=0), Writer(), REQUEST, asyncio.Lock())
        await task
        return counts

    assert asyncio.run(rounds()) == {"answers_429": 1}


@pytest.mark.parametrize("data", [REQUEST, b""], ids=["an answer", "the end"])
def test_a_peer_that_does_not_read_is_cut_off_and_counts_until_then(data):
    async def end():
        writer = Writer(is_reading=False)
        front = Front(Gateway(("127.0.0.1", 9), limits=Limits(write_s=0.01)))
        front._connected(peer(data), writer)
        while not writer.is_cut_off:
            assert front.status()["connections"] == 1
            await asyncio.sleep(0)
        return front.counts["connections_lost"]

    assert asyncio.run(end()) == 1


@pytest.mark.parametrize(("interim", "status"), [(3, 204), (10**6, 0)])
def test_interim_answers_without_end_are_none(interim, status):
    class Reader:
        left = interim

        async def read(self, _):
            self.left -= 1
            assert self.left > interim - 100, "it is read without end"
            return b"HTTP/1.1 103 Early Hints\r\n\r\n" if self.left >= 0 else b"HTTP/1.1 204 No Content\r\n\r\n"

    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("Host", "x"), ("Content-Length", "0")]))
    connection.send(h11.EndOfMessage())
    assert asyncio.run(posting._status(connection, Reader())) == status


def test_a_long_event_is_streamed_in_pieces():
    async def pieces():
        shared = outlets.Shared(Bodies(10**6), Limits(), Counter(), None)
        stream = outlets.Stream(shared, lambda push, is_received: None)
        assert stream.take(m.Push(9, 1, m.DIRECT, 0, 0, 0, 0, 0, 1, b"", b""), lambda: b"x" * 200_000)
        found = []
        async for piece in stream.frames(""):
            found.append(piece)
            if len(found) > 2 and piece == b"\n\n":
                stream.close()
        return found

    found = asyncio.run(pieces())
    assert max(map(len, found)) <= STREAM_BUFFER
    assert b"".join(found[1:]).endswith(b"event: context\ndata: " + b"x" * 200_000 + b"\n\n")


def client(number, source="", has_called=True):
    return SimpleNamespace(id=f"c{number}", instance=number, source=source, has_called=has_called, outlet=None)


def fit(clients, host, numbers, **more):
    """How many of them find a place; each leaves at once."""
    count = 0
    for number in numbers:
        new = client(number, **more)
        with suppress(Wrong):
            clients.place(new, host)
            assert clients._remove(new)
            count += 1
    return count


def test_who_sends_leaves_and_returns_as_others_has_no_more_places_than_its_address():
    clients = Clients(Limits(clients=50, clients_per_source=3), 1.0, Counter())
    assert fit(clients, "192.0.2.7", range(9)) == 3
    assert fit(clients, "192.0.2.7", [2, 2, 2], has_called=False) == 3, "one that returns has its own place"
    assert fit(clients, "192.0.2.7", range(10, 20)) == 0, "and had sent contexts before"
    assert fit(clients, "192.0.2.8", [0, 20, 21, 22]) == 3
    assert fit(clients, "192.0.2.9", range(30, 60), has_called=False) == 30, "only those that sent contexts"
    assert fit(clients, "192.0.2.7", [40, 41]) == 1, "one has moved"
    assert (fit(clients, "192.0.2.7", [20]), fit(clients, "192.0.2.8", [20])) == (0, 1), "who cannot move stays"
    clients._limits = Limits(clients=50, clients_per_source=3, rest_s=0)
    clients._resting = {key: (0.0, source) for key, (_, source) in clients._resting.items()}
    assert fit(clients, "192.0.2.7", range(20)) == 20
    clients._end_rests()
    assert not clients._by_source


def test_places_of_those_that_left_are_remembered_within_bounds():
    clients = Clients(Limits(clients=3, clients_per_source=1), 1.0, Counter())
    assert all(fit(clients, f"192.0.2.{number}", [number]) for number in range(9))
    assert (len(clients._resting), len(clients._by_source)) == (3, 3)
    assert fit(clients, "192.0.2.0", [20]) == 1, "the oldest ones are forgotten"


def test_a_name_server_that_does_not_answer_delays_the_names_of_one_address_only(monkeypatch):
    over = threading.Event()

    def look_up(host, port):
        assert host == "quick.example" or over.wait(BOUND_S)
        return ["8.8.8.8"]

    monkeypatch.setattr(posting, "_look_up", look_up)

    async def resolve():
        callbacks = posting.Callbacks([])
        slow = [callbacks.resolve(f"http://{number}.example/", "192.0.2.7", 0.001) for number in range(40)]
        assert not any(await asyncio.gather(*slow))
        assert dict(callbacks._looking_up) == {"192.0.2.7": posting.LOOKUPS_OF_SOURCE}
        found = await callbacks.resolve("http://quick.example/", "192.0.2.8", BOUND_S)
        over.set()
        while callbacks._looking_up:
            await asyncio.sleep(0)
        callbacks.close()
        return found.address

    assert asyncio.run(resolve()) == ("8.8.8.8", 80)


def test_an_address_gets_some_callbacks_at_once(monkeypatch):
    async def posts():
        callbacks, open_posts, most, over = posting.Callbacks([]), 0, 0, asyncio.Event()

        async def post(*_):
            nonlocal open_posts, most
            open_posts += 1
            most = max(most, open_posts)
            await over.wait()
            open_posts -= 1
            return 204

        monkeypatch.setattr(posting, "post", post)
        targets = [posting.Target(("192.0.2.1", port), "x", "/") for port in range(100)]
        tasks = [asyncio.create_task(callbacks.post(target, {}, b"", 1)) for target in targets]
        for _ in range(10):
            await asyncio.sleep(0)
        over.set()
        return most, set(await asyncio.gather(*tasks))

    assert asyncio.run(posts()) == (posting.POSTS_TO_ADDRESS, {204})


def test_an_address_has_some_contexts_at_the_server_at_once(monkeypatch):
    async def calls():
        gateway, over, there = Gateway(("127.0.0.1", 9), limits=Limits(calls=100)), asyncio.Event(), Counter()

        async def call(client, _):
            there[client.source] += 1
            await over.wait()
            return "accepted"

        monkeypatch.setattr(gateway, "_call", call)
        for id in "ab":
            more = {"instance": 1, "is_admitted": True, "hear": lambda: None, "calls": 0, "source": id}
            gateway.clients._clients[id] = SimpleNamespace(**more)
        tasks = [asyncio.create_task(gateway.call(Call(id, 1, 1, None))) for id in "a" * 50 + "b"]
        for _ in range(10):
            await asyncio.sleep(0)
        assert there == {"a": Limits.calls_per_source, "b": 1}
        gateway._deadline_s = 0.01
        with pytest.raises(Wrong, match="of this address wait") as caught:
            await gateway.call(Call("a", 1, 1, None))
        over.set()
        assert set(await asyncio.gather(*tasks)) == {"accepted"}
        return caught.value.status, there

    assert asyncio.run(calls()) == (429, {"a": 50, "b": 1})


def answer(method, target, headers, origins):
    made = routes.Routes(Gateway(("127.0.0.1", 9)), dict, Origins(origins))
    request = routes.Request(method, target, headers, b"", "192.0.2.7", ("127.0.0.1", 8003))
    return asyncio.run(made.answer(request))


def test_a_web_page_may_use_the_gateway_if_its_origin_is_allowed():
    page = {"origin": "https://example.org"}
    for method, target in [("OPTIONS", "/radiator/v1/contexts"), ("POST", "/radiator/v1/clients")]:
        refused = answer(method, target, page, ["https://example.org:8443", "http://example.org"])
        assert refused.status == 403
        assert "'https://example.org' may not use this gateway" in refused.document["error"]
        assert "Access-Control-Allow-Origin" not in refused.headers
    asked = answer("OPTIONS", "/radiator/v1/contexts", page, ["https://example.org"])
    assert (asked.status, asked.headers["Access-Control-Allow-Methods"]) == (204, "DELETE, GET, POST")
    for status, target in [(200, "/radiator/v1/status"), (404, "/")]:
        allowed = answer("GET", target, page, ["https://example.org"])
        assert (allowed.status, allowed.headers["Access-Control-Allow-Origin"]) == (status, "https://example.org")
        assert allowed.headers["Vary"] == "Origin"
    assert answer("OPTIONS", "/radiator/v1/contexts", {}, ["https://example.org"]).status == 405
    assert answer("GET", "/radiator/v1/status", {}, []).status == 200, "no web page"


@pytest.mark.parametrize("origin", ["*", "null", "example.org", "https://example.org/", "https://Example.org", ""])
def test_an_option_that_is_no_origin_is_refused(origin):
    with pytest.raises(WaxwingError, match="is no origin"):
        Origins([origin])
