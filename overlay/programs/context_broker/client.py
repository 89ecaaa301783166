"""A blocking client for programs and the command line. REST has one for whole networks, ``pool``.

Counterpart: ``overlay.systems.context_broker.clients.exchange`` decides about retransmission and the end of an
exchange; this module adds sockets. Each exchange has a new port, so several threads can share one ``ContextClient``.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from overlay.core.addresses import Address, format_address
from overlay.core.errors import WaxwingError
from overlay.core.node import SECOND
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Exchange, Retry, Timestamps, WallClock
from overlay.systems.context_broker.clients.feed_reader import FeedReader, Record
from overlay.systems.context_broker.clients.payload import parse_pairs
from overlay.systems.context_broker.clients.questions import Question
from overlay.systems.context_broker.wire.messages import (
    ContextResponse,
    Nack,
    NeighborsResponse,
    PingResponse,
    StatsResponse,
)
from overlay.systems.context_broker.wire.table import AnyMessage


@dataclass(frozen=True, slots=True)
class QueryName:
    """Identifies a query at every broker, together with its entity."""

    consumer: Address
    timestamp: int
    """Unix milliseconds."""


class Unanswered(WaxwingError):
    """Base of errors without an answer. ``query`` identifies the query if ``overlay.programs.context_broker.pool`` sent
    it."""

    query: QueryName | None = None


class NotFound(Unanswered):
    """No broker reached has valid data."""


class Refused(Unanswered):
    """A broker answered NACK; ``status`` is 201 or 301."""

    def __init__(self, broker: Address, status: int, sentence: str) -> None:
        super().__init__(f"{format_address(broker)} refused: {sentence} (status {status})")
        self.status = status


class NoAnswer(Unanswered):
    """No answer arrived before the deadline."""


REFUSALS = {201: "it could not complete the operation", 301: "it does not accept this message from this address"}


@dataclass(frozen=True, slots=True)
class Answer:
    """Data returned by a broker. Times are Unix milliseconds."""

    broker: Address
    """The client's broker that answered; it may have found the data at another broker."""
    provider: str
    text: str
    """The payload, unchanged."""
    timestamp: int
    """When the provider sent it."""
    valid_begin: int
    valid_end: int

    @property
    def payload(self) -> dict[str, str] | None:
        """The pairs of a payload in the format ``K=V;K=V``, otherwise ``None``."""
        return parse_pairs(self.text)

    def age_ms(self) -> int:
        """Time since the provider sent it, never negative."""
        return max(0, time.time_ns() // 1_000_000 - self.timestamp)


class ContextClient:
    """Talks to the first of ``addresses`` that answers, all within ``deadline_s`` seconds."""

    def __init__(self, addresses: Sequence[Address], deadline_s: float = 10.0) -> None:
        if not addresses:
            raise ValueError("a client needs the address of a broker")
        self.addresses = tuple(addresses)
        self.deadline_s = deadline_s
        self._retry = Retry(give_up_s=deadline_s)
        self._wall = WallClock()
        self._timestamps = Timestamps(self._wall)
        self._lock = threading.Lock()

    def provide(
        self, provider: str, key: tuple[str, str, str], payload: bytes, valid_ms: int, *, flag: str = "A"
    ) -> Address:
        """Store data about an entity's scope. Returns the broker that stored it. Raises ``Refused``, ``NoAnswer``."""
        return self._ask(questions.update(flag, provider, key, valid_ms, payload))[0]

    def ask(self, key: tuple[str, str, str]) -> Answer:
        """Valid data about (type, id, scope). Raises ``NotFound``, ``Refused``, ``NoAnswer``."""
        exchange = self._ask_any(questions.request(key))
        reply = exchange.reply
        assert isinstance(reply, ContextResponse)
        text = reply.payload.decode()
        times = reply.timestamp, reply.valid_begin, reply.valid_end
        return Answer(exchange.broker, reply.provider_id, text, *times)

    def withdraw(self, provider: str, key: tuple[str, str, str], until: int = 0) -> Address:
        """Let a broker no longer serve this provider's data. ``until``: their latest ValidEnd, if known (Unix ms).

        Returns the broker. Others may still have the data: withdraw them there, too. Raises ``Refused``, ``NoAnswer``.
        """
        return self._ask(questions.withdrawal(provider, key, until))[0]

    def entries(self) -> tuple[Record, ...]:
        """The valid entries of the first broker that answers. Raises ``Refused`` unless it trusts us, ``NoAnswer``."""
        reader, client = FeedReader(), self
        while reader.has_more:
            _, client = client._read_on(reader)
        return tuple(reader.valid(time.time_ns() // 1_000_000))

    def feed(self, wait_s: float = 5.0) -> Iterator[list[Record]]:
        """What the first broker that answers holds, in parts, and then its changes as they come. Never ends.

        Each request waits at the broker for ``wait_s``. If a broker has restarted, what it no longer has is reported as
        dropped. Entries that expire are not reported. Raises ``Refused``, and ``NoAnswer`` within ``deadline_s`` more.
        """
        reader = FeedReader(wait_ms=round(wait_s * 1000))
        changes, prompt = self._read_on(reader)
        patient = ContextClient(prompt.addresses, self.deadline_s + wait_s)
        patient._retry = Retry(tuple(wait_s + again for again in self._retry.again_s), patient.deadline_s)
        while True:
            if changes:
                yield changes
            changes, _ = (prompt if reader.has_more else patient)._read_on(reader)

    def _read_on(self, reader: FeedReader) -> tuple[list[Record], ContextClient]:
        """What the reader learns next, and a client for the broker that it is about."""
        exchange = self._ask_any(questions.changes(reader))
        changes = reader.read(exchange.reply_data, time.time_ns() // 1_000_000)
        one = self if len(self.addresses) == 1 else ContextClient([exchange.broker], self.deadline_s)
        return changes, one

    def ping(self) -> Address:
        """The broker's own address, from the broker that answers."""
        reply = self._ask(questions.ping())[1]
        assert isinstance(reply, PingResponse)
        return reply.broker

    def join(self, neighbours: Sequence[Address]) -> None:
        """Order the broker to become a neighbour of these brokers. Raises ``Refused`` if none of them answered it."""
        self._ask(questions.join(tuple(neighbours)))

    def leave(self) -> None:
        """Order the broker to leave the network."""
        self._ask(questions.leave())

    def monitor(self) -> None:
        """Order the broker to monitor its neighbours."""
        self._ask(questions.monitor())

    def neighbors(self) -> tuple[Address, ...]:
        """The broker's neighbours."""
        reply = self._ask(questions.neighbors())[1]
        assert isinstance(reply, NeighborsResponse)
        return reply.neighbours

    def statistics(self) -> dict[str, int]:
        """The broker's counters, with the names of wire-protocol section 4."""
        reply = self._ask(questions.stats())[1]
        assert isinstance(reply, StatsResponse)
        return dict(reply.counters)

    def _ask(self, question: Question) -> tuple[Address, AnyMessage]:
        """The broker that answered, and its answer."""
        exchange = self._ask_any(question)
        assert exchange.reply is not None
        return exchange.broker, exchange.reply

    def _ask_any(self, question: Question) -> Exchange:
        """The answered exchange. Each address gets an equal share of the remaining time."""
        deadline = time.monotonic_ns() + round(self.deadline_s * SECOND)
        for position, broker in enumerate(self.addresses):
            left = len(self.addresses) - position
            until = time.monotonic_ns() + (deadline - time.monotonic_ns()) // left
            exchange = self._exchange(question, broker, until, is_last=left == 1)
            if exchange.outcome == "answered" and exchange.reply is not None:
                return exchange
            if exchange.outcome == "not_found":
                raise NotFound(f"{format_address(broker)} found no valid data")
            if isinstance(exchange.reply, Nack):
                sentence = REFUSALS.get(exchange.status, "no reason given")
                raise Refused(broker, exchange.status, sentence)
        asked = ", ".join(map(format_address, self.addresses))
        raise NoAnswer(f"no answer from {asked} within {self.deadline_s:g} s")

    def _exchange(self, question: Question, broker: Address, until: int, *, is_last: bool) -> Exchange:
        """Ask one broker on a new port until it answers, until ``until``, or until its host reports a closed port."""
        with socket.socket(socket.AF_INET6 if ":" in broker[0] else socket.AF_INET, socket.SOCK_DGRAM) as sock:
            has_route = True
            try:
                sock.connect(broker)
            except OSError:  # no route
                has_route = False
            now = time.monotonic_ns()
            with self._lock:
                self._wall.offset_ns = wall_offset_ns()
                exchange = Exchange(question, broker, now, self._timestamps, self._retry)
            while has_route and not exchange.outcome and now < until:
                is_there = self._turn(exchange, sock, min(exchange.next_timer() or until, until) - now)
                if not is_there and not is_last:
                    break
                now = time.monotonic_ns()
                with self._lock:
                    exchange.handle_timer(now)
            return exchange

    @staticmethod
    def _turn(exchange: Exchange, sock: socket.socket, wait_ns: int) -> bool:
        """Send what is due and receive one datagram. False if the host reports that the port is closed."""
        until = time.monotonic_ns() + wait_ns
        try:
            for data, _ in exchange.datagrams_to_send():
                sock.send(data)
            sock.settimeout(max(wait_ns, 1_000_000) / SECOND)
            data = sock.recv(MAX_DATAGRAM_BYTES)
        except TimeoutError:
            return True
        except OSError:  # refused or unreachable; a restarting broker will be back soon
            time.sleep(max(0.0, min(until - time.monotonic_ns(), SECOND // 10) / SECOND))
            return False
        exchange.receive_datagram(data, exchange.broker, time.monotonic_ns())
        return True
