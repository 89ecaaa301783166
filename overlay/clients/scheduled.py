"""Provider and consumer of a workload: the open loop. The k-th request is intended at start + k × interval.

Counterparts: ``overlay.workload`` plans them, ``overlay.runtime.loadgen`` and ``overlay.sim`` drive them. Whatever
became of earlier requests never moves a later one, and response time runs from the intended instant, so that a broker
that stalls is charged for everything that it made wait (coordinated omission).

A client has several ports (``lanes``), so a driver passes the lane beside each datagram; apart from that it is driven
as ``overlay.node`` says. ``make_clients`` builds the clients of one process from their plans.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from overlay.addresses import Address
from overlay.broker.messages import ContextResponse, Key
from overlay.chance import Chance, Stream, derive_seed
from overlay.clients import questions
from overlay.clients.exchange import Exchange, Retry, Timestamps, WallClock
from overlay.clients.lanes import MAX_LANES, Lanes
from overlay.clients.questions import Question
from overlay.clients.tally import Tally
from overlay.facts import Sample
from overlay.node import SECOND
from overlay.workload import ClientPlan, Popularity, Workload, entity_name, make_payload, measured_between


@dataclass(frozen=True, slots=True)
class Windows:
    """The instants of a run, monotonic nanoseconds."""

    zero: int
    """The deployment's zero, from which samples count."""
    start: int
    measuring: int
    end: int
    """Nothing is intended from here on."""

    @classmethod
    def of(cls, workload: Workload, zero: int, start: int) -> Windows:
        return cls(zero, start, *measured_between(workload, start))


@dataclass(frozen=True, slots=True)
class Fleet:
    """What the clients of one process share."""

    workload: Workload
    windows: Windows
    wall: WallClock
    tally: Tally
    retry: Retry = field(default_factory=Retry)
    max_lanes: int = MAX_LANES


class ScheduledClient(ABC):
    """What both kinds share: the schedule, the lanes and the samples."""

    def __init__(self, plan: ClientPlan, broker: Address, fleet: Fleet, interval_s: float) -> None:
        self.plan = plan
        self.broker = broker
        self._fleet = fleet
        self._interval = round(interval_s * SECOND)
        self._timestamps = Timestamps(fleet.wall)
        self._lanes = Lanes(fleet.max_lanes)
        self._open: dict[int, tuple[int, Key]] = {}
        """By lane: when the exchange was intended, and what it is about. Only those without an outcome."""
        self._outgoing: list[tuple[int, bytes, Address]] = []
        self._samples: list[Sample] = []
        self._next = fleet.windows.start + plan.start_us * 1000

    @property
    def is_finished(self) -> bool:
        """Whether all that was intended has been sent and has ended."""
        return self._next >= self._fleet.windows.end and not self._open

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> None:
        exchange = self._lanes.exchange_on(lane)
        if exchange is not None:
            exchange.receive_datagram(data, source, now)
            self._look_at(lane, exchange)

    def handle_timer(self, now: int) -> None:
        """Start what is due, ask again, give up."""
        timer = self._lanes.next_timer()
        if timer is not None and timer <= now:
            for lane, exchange in self._lanes.busy():
                exchange.handle_timer(now)
                self._look_at(lane, exchange)
        while self._next <= now and self._next < self._fleet.windows.end and self._lanes.has_room:
            self._start(self._next, now)
            self._next += self._interval

    def next_timer(self) -> int | None:
        timer = self._lanes.next_timer()
        if self._next >= self._fleet.windows.end or not self._lanes.has_room:
            return timer
        return self._next if timer is None else min(timer, self._next)

    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        """``(lane, datagram, destination)``."""
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def lanes_to_close(self) -> Sequence[int]:
        return self._lanes.to_close()

    def samples(self) -> Sequence[Sample]:
        """Of the exchanges that ended since the last call."""
        samples, self._samples = self._samples, []
        return samples

    def abandon(self, now: int) -> None:
        """The drain is over: what is open has timed out, and what never got a port was sent never (``attempts`` 0)."""
        for lane, exchange in self._lanes.busy():
            if not exchange.outcome:
                self._report(lane, exchange, now)
        while self._next < self._fleet.windows.end:
            key = self._ask()[0]
            self._fleet.tally.started(now - self._next)
            self._sample(self._next, key, "timed_out", 0, 0, now, now, 0)
            self._next += self._interval

    @abstractmethod
    def _ask(self) -> tuple[Key, Question]:
        """What the next request is about, and the request."""

    @abstractmethod
    def _entry_timestamp(self, exchange: Exchange) -> int:
        """Of the entry that an answered exchange was about, Unix ms."""

    def _start(self, intended: int, now: int) -> None:
        key, question = self._ask()
        exchange = Exchange(question, self.broker, now, self._timestamps, self._fleet.retry)
        lane = self._lanes.take(exchange)
        self._open[lane] = (intended, key)
        self._fleet.tally.started(now - intended)
        self._collect(lane, exchange)

    def _look_at(self, lane: int, exchange: Exchange) -> None:
        self._collect(lane, exchange)
        if exchange.outcome and lane in self._open:
            self._report(lane, exchange, exchange.ended_at)
        if exchange.is_over:
            self._lanes.release(lane)

    def _collect(self, lane: int, exchange: Exchange) -> None:
        for data, destination in exchange.datagrams_to_send():
            self._outgoing.append((lane, data, destination))

    def _report(self, lane: int, exchange: Exchange, ended: int) -> None:
        intended, key = self._open.pop(lane)
        outcome = exchange.outcome or "timed_out"
        entry = self._entry_timestamp(exchange) if outcome == "answered" else 0
        self._sample(intended, key, outcome, exchange.status, exchange.attempts, exchange.sent_at, ended, entry)

    def _sample(
        self, intended: int, key: Key, outcome: str, status: int, attempts: int, sent: int, ended: int, entry: int
    ) -> None:
        windows, zero, plan = self._fleet.windows, self._fleet.windows.zero, self.plan
        self._fleet.tally.ended(outcome, attempts)
        self._samples.append(
            Sample(
                role=plan.role,
                client=plan.client,
                broker=plan.broker,
                phase="warming" if intended < windows.measuring else "measuring",
                outcome=outcome,
                status=status,
                attempts=attempts,
                intended_us=(intended - zero) // 1000,
                sent_us=(sent - zero) // 1000,
                ended_us=(ended - zero) // 1000,
                entity="|".join(key),
                entry_timestamp_ms=entry,
            )
        )


class Provider(ScheduledClient):
    """One Advertisement, then Updates at the workload's interval, all about one entity."""

    def __init__(self, plan: ClientPlan, broker: Address, fleet: Fleet, payload: bytes) -> None:
        super().__init__(plan, broker, fleet, fleet.workload.update_interval_s)
        self._key = entity_name(plan.entity)
        self._payload = payload
        self._flag = "A"

    def _ask(self) -> tuple[Key, Question]:
        flag, self._flag = self._flag, "U"
        name = f"provider-{self.plan.client}"
        return self._key, questions.update(flag, name, self._key, self._fleet.workload.valid_ms, self._payload)

    def _entry_timestamp(self, exchange: Exchange) -> int:
        return exchange.first_stamp


class Consumer(ScheduledClient):
    """A request at each interval, each about an entity drawn by the workload's popularity."""

    def __init__(self, plan: ClientPlan, broker: Address, fleet: Fleet, popularity: Popularity, chance: Chance) -> None:
        super().__init__(plan, broker, fleet, fleet.workload.request_interval_s)
        self._popularity = popularity
        self._chance = chance

    def _ask(self) -> tuple[Key, Question]:
        key = entity_name(self._popularity.draw(self._chance))
        return key, questions.request(key)

    def _entry_timestamp(self, exchange: Exchange) -> int:
        return exchange.reply.timestamp if isinstance(exchange.reply, ContextResponse) else 0


def make_clients(
    plans: Sequence[ClientPlan], brokers: Sequence[Address], fleet: Fleet, seed: int
) -> list[ScheduledClient]:
    """The clients of these plans, in their order; a consumer's chance depends on ``seed`` and its number alone."""
    popularity = Popularity(fleet.workload)
    payload = make_payload(fleet.workload.payload_bytes).encode()

    def make(plan: ClientPlan) -> ScheduledClient:
        broker = brokers[plan.broker]
        if plan.role == "provider":
            return Provider(plan, broker, fleet, payload)
        chance = Stream(derive_seed(seed, "consumer", plan.client))
        return Consumer(plan, broker, fleet, popularity, chance)

    return [make(plan) for plan in plans]
