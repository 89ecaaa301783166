"""The providers and consumers of a workload: an open loop. The k-th request is intended at start + k × interval.

Counterparts: ``overlay.systems.context_broker.workload`` plans them, ``overlay.runtime.load_generator`` and
``overlay.sim`` drive them. The results of earlier requests never delay later ones, and response times start at the
intended time, so the delays caused by a stalled broker are fully counted (no coordinated omission).

A client has several ports (``lanes``), so a driver passes the lane with each datagram. Otherwise clients are driven
like ``overlay.core.node``. ``make_clients`` creates the clients of one process from their plans.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from overlay.core.addresses import Address
from overlay.core.chance import Chance, Stream, derive_seed
from overlay.core.node import SECOND
from overlay.journal.facts import Sample
from overlay.load.popularity import Popularity
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Exchange, Retry, Timestamps, WallClock
from overlay.systems.context_broker.clients.lanes import MAX_LANES, Lanes
from overlay.systems.context_broker.clients.questions import Question
from overlay.systems.context_broker.wire.messages import Key
from overlay.systems.context_broker.workload import ClientPlan, Workload, entity_name, make_payload


@dataclass(frozen=True, slots=True)
class Fleet:
    """State shared by the clients of one process."""

    workload: Workload
    windows: Windows
    wall: WallClock
    tally: Tally
    retry: Retry = field(default_factory=Retry)
    max_lanes: int = MAX_LANES


class Asked(Exchange):
    """An exchange with its intended time."""

    __slots__ = ("entity", "intended", "is_reported")

    def __init__(self, client: ScheduledClient, intended: int, entity: str, question: Question, now: int) -> None:
        super().__init__(question, client.broker, now, client.timestamps, client.fleet.retry)
        self.intended = intended
        self.entity = entity
        """``type|id|scope``."""
        self.is_reported = False


class ScheduledClient(ABC):
    """Common part of providers and consumers: the schedule, the lanes and the samples."""

    __slots__ = (
        "_interval",
        "_lanes",
        "_next",
        "_open",
        "_outgoing",
        "_samples",
        "broker",
        "fleet",
        "plan",
        "timestamps",
    )

    def __init__(self, plan: ClientPlan, broker: Address, fleet: Fleet, interval_s: float) -> None:
        self.plan = plan
        self.broker = broker
        self.fleet = fleet
        self.timestamps = Timestamps(fleet.wall)
        self._interval = round(interval_s * SECOND)
        self._lanes: Lanes[Asked] = Lanes(fleet.max_lanes)
        self._open = 0
        """Exchanges without an outcome."""
        self._outgoing: list[tuple[int, bytes, Address]] = []
        self._samples: list[Sample] = []
        self._next = fleet.windows.start + plan.start_us * 1000

    @property
    def peer(self) -> Address:
        """The broker that it talks to; datagrams from others are ignored."""
        return self.broker

    @property
    def identity(self) -> tuple[str, int]:
        return self.plan.role, self.plan.client

    @property
    def is_finished(self) -> bool:
        """Whether all intended requests have been sent and have ended."""
        return not self._open and self._next >= self.fleet.windows.end

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        """Returns whether there is new output or an earlier timer; true for one of three answers to a request."""
        exchange = self._lanes.exchange_on(lane)
        if exchange is None:
            return False
        exchange.receive_datagram(data, source, now)
        return bool(exchange.outcome) and self._settle(lane, exchange)

    def handle_timer(self, now: int) -> None:
        """Start requests that are due, retransmit, give up."""
        lanes, end = self._lanes, self.fleet.windows.end
        for lane, exchange in lanes.handle_timers(now):
            self._collect(lane, exchange)
            self._settle(lane, exchange)
        while self._next <= now and self._next < end and lanes.has_room:
            self._start(self._next, now)
            self._next += self._interval

    def next_timer(self) -> int | None:
        timer = self._lanes.next_timer()
        if self._next >= self.fleet.windows.end or not self._lanes.has_room:
            return timer
        return self._next if timer is None or self._next < timer else timer

    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        """``(lane, datagram, destination)``."""
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def lanes_to_close(self) -> Sequence[int]:
        return self._lanes.to_close()

    def facts(self) -> Sequence[Sample]:
        """Samples of the exchanges that ended since the last call."""
        samples, self._samples = self._samples, []
        return samples

    def abandon(self, now: int) -> None:
        """The drain is over: open exchanges time out, and those that never got a port were never sent (``attempts``
        0)."""
        for _, exchange in self._lanes.busy():
            if not exchange.is_reported:
                self._report(exchange, now)
        while self._next < self.fleet.windows.end:
            entity, _ = self._ask()
            self.fleet.tally.started(now - self._next)
            self._sample(self._next, entity, "timed_out", 0, 0, now, now, 0)
            self._next += self._interval

    @abstractmethod
    def _ask(self) -> tuple[str, Question]:
        """The next request and its entity."""

    @abstractmethod
    def _entry_timestamp(self, exchange: Asked) -> int:
        """The timestamp of the entry in an answered exchange, Unix ms."""

    def _start(self, intended: int, now: int) -> None:
        entity, question = self._ask()
        exchange = Asked(self, intended, entity, question, now)
        self._open += 1
        self.fleet.tally.started(now - intended)
        self._collect(self._lanes.take(exchange), exchange)

    def _collect(self, lane: int, exchange: Asked) -> None:
        for data, destination in exchange.datagrams_to_send():
            self._outgoing.append((lane, data, destination))

    def _settle(self, lane: int, exchange: Asked) -> bool:
        """Report an exchange with an outcome, and release one that is over. Returns whether anything was done."""
        is_news = bool(exchange.outcome) and not exchange.is_reported
        if is_news:
            self._report(exchange, exchange.ended_at)
        if exchange.is_over:
            return self._lanes.release(lane) or is_news
        self._lanes.heed(exchange)
        return is_news

    def _report(self, exchange: Asked, ended: int) -> None:
        exchange.is_reported = True
        self._open -= 1
        outcome = exchange.outcome or "timed_out"
        entry = self._entry_timestamp(exchange) if outcome == "answered" else 0
        self._sample(
            exchange.intended,
            exchange.entity,
            outcome,
            exchange.status,
            exchange.attempts,
            exchange.sent_at,
            ended,
            entry,
        )

    def _sample(
        self, intended: int, entity: str, outcome: str, status: int, attempts: int, sent: int, ended: int, entry: int
    ) -> None:
        plan, windows, zero = self.plan, self.fleet.windows, self.fleet.windows.zero
        phase = "warming" if intended < windows.measuring else "measuring"
        times = (intended - zero) // 1000, (sent - zero) // 1000, (ended - zero) // 1000
        self.fleet.tally.ended(outcome, attempts)
        self._samples.append(
            Sample(plan.role, plan.client, plan.broker, phase, outcome, status, attempts, *times, entity, entry)
        )


class Provider(ScheduledClient):
    """Sends one Advertisement, then Updates at the workload's interval, all about one entity."""

    __slots__ = ("_has_advertised", "_payload")

    def __init__(self, plan: ClientPlan, broker: Address, fleet: Fleet, payload: bytes) -> None:
        super().__init__(plan, broker, fleet, fleet.workload.update_interval_s)
        self._payload = payload
        self._has_advertised = False

    def _ask(self) -> tuple[str, Question]:
        """Created for each update: stored, it would take a third of a client's memory."""
        flag, self._has_advertised = "U" if self._has_advertised else "A", True
        about, key = _entity(self.plan.entity)
        name, valid_ms = f"provider-{self.plan.client}", self.fleet.workload.valid_ms
        return about, questions.update(flag, name, key, valid_ms, self._payload)

    def _entry_timestamp(self, exchange: Asked) -> int:
        return exchange.first_stamp


class Consumer(ScheduledClient):
    """Sends a request at each interval, about an entity drawn by the workload's popularity."""

    __slots__ = ("_chance", "_is_quiet", "_popularity")

    def __init__(self, plan: ClientPlan, broker: Address, fleet: Fleet, popularity: Popularity, chance: Chance) -> None:
        super().__init__(plan, broker, fleet, fleet.workload.request_interval_s)
        self._is_quiet = not fleet.workload.acknowledgements
        self._popularity = popularity
        self._chance = chance

    def _ask(self) -> tuple[str, Question]:
        return _request(self._popularity.draw(self._chance), self._is_quiet)

    def _entry_timestamp(self, exchange: Asked) -> int:
        return exchange.reply_stamp


@lru_cache(maxsize=4096)
def _entity(entity: int) -> tuple[str, Key]:
    """The entity's name in samples, and its key."""
    key = entity_name(entity)
    return "|".join(key), key


@lru_cache(maxsize=4096)  # the consumers of a fleet request the same entities repeatedly
def _request(entity: int, is_quiet: bool) -> tuple[str, Question]:
    about, key = _entity(entity)
    return about, questions.request(key, is_quiet=is_quiet)


def make_clients(
    plans: Sequence[ClientPlan], brokers: Sequence[Address], fleet: Fleet, seed: int
) -> list[ScheduledClient]:
    """The clients of these plans, in order. A consumer's random stream depends only on ``seed`` and its number."""
    popularity = Popularity(fleet.workload.entities, fleet.workload.popularity)
    payload = make_payload(fleet.workload.payload_bytes).encode()

    def make(plan: ClientPlan) -> ScheduledClient:
        broker = brokers[plan.broker]
        if plan.role == "provider":
            return Provider(plan, broker, fleet, payload)
        chance = Stream(derive_seed(seed, "consumer", plan.client))
        return Consumer(plan, broker, fleet, popularity, chance)

    return [make(plan) for plan in plans]


class ScheduledFleet:
    """The fleet of clients, for drivers."""

    def __init__(self, clients: Sequence[ScheduledClient], fleet: Fleet) -> None:
        self.clients = clients
        self.tally = fleet.tally
        self._wall = fleet.wall

    def set_wall_clock(self, offset_ns: int) -> None:
        self._wall.offset_ns = offset_ns


def fleet_of_plans(
    plans: Sequence[ClientPlan],
    brokers: Sequence[Address],
    workload: Workload,
    windows: Windows,
    *,
    seed: int,
    wall_offset_ns: int,
    most_lanes: int,
) -> ScheduledFleet:
    """The fleet of these plans; each client has at most ``most_lanes`` ports, and at most ``MAX_LANES``."""
    shared = Fleet(workload, windows, WallClock(wall_offset_ns), Tally(), max_lanes=max(1, min(MAX_LANES, most_lanes)))
    return ScheduledFleet(make_clients(plans, brokers, shared, seed), shared)
