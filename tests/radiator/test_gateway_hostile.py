"""Peers of the gateway that send without end, do not read, or answer without end: others wait a moment at most."""

from __future__ import annotations

import asyncio
from collections import Counter

import h11
import pytest

from overlay.programs.radiator import outlets, posting, routes
from overlay.programs.radiator.connection import READ_BYTES, Connection
from overlay.programs.radiator.gateway import Gateway
from overlay.programs.radiator.http_front import Front
from overlay.programs.radiator.limits import Limits
from overlay.programs.radiator.remembered import Bodies
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
    assert max(map(len, found)) <= outlets.PIECE_BYTES
    assert b"".join(found[1:]).endswith(b"event: context\ndata: " + b"x" * 200_000 + b"\n\n")
