"""The measures of a run, from its facts: messages, pairs of a message and a recipient, lag, bytes.

The server's journal and those of clients are joined by epoch and propagation. Messages are due while measuring, and
everything is counted to the end of draining.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf, sqrt
from typing import Any

from overlay.journal.facts import Delivery, Event, Fact, Row, Sample, Tick
from overlay.systems.radiator.chains.propagation import Outcome
from overlay.systems.radiator.rows import TABLES, Message, Missed, Propagation
from overlay.systems.roles import role_of

SERVER = "server"
WHOLE_US = 900_000
"""Two ticks are a second apart, live not exactly."""
GOING_ON = ("launching", "warming", "measuring", "draining")
"""Phases before the end."""
GROWING = (
    *("outbound_bytes", "outbound_bytes_uncompressed", "repairs", "evaluations", "function_errors"),
    *("client_to_client_bytes", "duplicates_suppressed"),
)
"""Counters that are measures: what they grow by from the start of measuring on."""
Pair = tuple[str, int, int]
"""Epoch, number of the message, number of the client."""


@dataclass(slots=True)
class Facts:
    """The facts of a run that its measures are made of."""

    calls: dict[str, int] = field(default_factory=dict)
    """The intended instant of each call that has a name, µs."""
    messages: int = 0
    """Calls due."""
    accepted: dict[tuple[str, int], tuple[int, Message]] = field(default_factory=dict)
    """By epoch and number, with the instant of acceptance."""
    propagations: dict[str, tuple[int, Propagation]] = field(default_factory=dict)
    """By name, with the instant of emission."""
    missed: list[tuple[int, Missed]] = field(default_factory=list)
    """With the instant at which the server knew it."""
    deliveries: list[Delivery] = field(default_factory=list)
    ticks: dict[str, list[Tick]] = field(default_factory=lambda: defaultdict(list))
    """By process."""
    phases: dict[str, int] = field(default_factory=dict)
    """The begin of each phase, µs."""
    deaths: list[int] = field(default_factory=list)
    """When servers ended, µs."""

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> Facts:
        found = cls()
        for fact in facts:
            found.add(fact)
        return found

    def add(self, fact: Fact) -> None:
        if isinstance(fact, Delivery):
            self.deliveries.append(fact)
        elif isinstance(fact, Sample):
            self.messages += 1
            if fact.entity:
                self.calls[fact.entity] = fact.intended_us
        elif isinstance(fact, Row):
            self.add_row(fact.at_us, TABLES[fact.table](*fact.values))
        elif isinstance(fact, Tick):
            self.ticks[fact.process].append(fact)
        elif isinstance(fact, Event) and fact.name == "phase":
            self.phases[fact.detail["phase"]] = fact.at_us
        elif isinstance(fact, Event) and fact.name == "process_ended" and role_of(fact.detail["process"]) == SERVER:
            self.deaths.append(fact.at_us)

    def add_row(self, at_us: int, row: Any) -> None:
        """A row of ``rows.TABLES``."""
        if isinstance(row, Message):
            self.accepted[row.epoch, row.number] = at_us, row
        elif isinstance(row, Propagation):
            self.propagations[row.name] = at_us, row
        elif isinstance(row, Missed):
            self.missed.append((at_us, row))

    @property
    def end_us(self) -> float:
        """The end of draining. Servers are shut down afterwards, which is no longer counted."""
        return min((at for phase, at in self.phases.items() if phase not in GOING_ON), default=inf)

    @property
    def known_missed(self) -> Iterator[Missed]:
        """What was missed by the end of draining."""
        end = self.end_us
        return (one for at, one in self.missed if at < end or one.outcome != Outcome.SHUT_DOWN)


@dataclass(frozen=True, slots=True)
class Arrived:
    """What arrived at clients."""

    pairs: int
    """Of a message and a recipient."""
    propagations: int
    """First deliveries: of a propagation and a recipient."""
    duplicates: int
    lags: Any
    """Of all pairs, a sorted sequence or array, µs."""
    parts: tuple[float, float, float]
    """The sums of acceptance, retention and transport over the pairs, µs."""
    dropped: int
    """Pairs that the server dropped and that did not arrive."""


def measures(facts: Iterable[Fact]) -> Mapping[str, float | None]:
    """The measures in ``names.MEASURES``; ``None`` for those that are unknown."""
    found = Facts.of(facts)
    return figures(found, _arrived(found))


def figures(found: Facts, arrived: Arrived) -> Mapping[str, float | None]:
    """The same; ``found`` needs no deliveries and calls."""
    counted = {name: _growth(found, name) for name in GROWING}
    emitted = [propagation for _, propagation in found.propagations.values()]
    return {
        "messages": found.messages,
        "accepted": len(found.accepted),
        "refused": found.messages - len(found.accepted),
        **_pairs(found, arrived),
        "duplicates": arrived.duplicates,
        **_lags(arrived),
        **counted,
        "bytes_per_pair": counted["outbound_bytes"] / arrived.pairs if arrived.pairs else None,
        "outbound_cv": _variation(found),
        "pushes": sum(propagation.pushes for propagation in emitted),
        "chains": sum(propagation.chains for propagation in emitted),
        "aggregation_factor": arrived.pairs / arrived.propagations if arrived.propagations else None,
        "propagations": len(emitted),
        **_pending(found),
    }


# ---- what arrived


def _arrived(found: Facts) -> Arrived:
    first: dict[Pair, tuple[int, int]] = {}
    duplicates, seen = 0, set[tuple[str, int]]()
    for one in sorted(found.deliveries, key=lambda one: one.received_us):
        if one.publication not in found.propagations:  # the server crashed before it could report it
            continue
        emitted_us, propagation = found.propagations[one.publication]
        seen.add((one.publication, one.client))
        for number in propagation.messages:
            pair = propagation.epoch, number, one.client
            duplicates += pair in first
            first.setdefault(pair, (one.received_us, emitted_us))
    lags, parts = _times(found, first)
    dropped = sum(pair not in first for pair in dropped_pairs(found))
    return Arrived(len(first), len(seen), duplicates, lags, parts, dropped)


def _times(found: Facts, first: Mapping[Pair, tuple[int, int]]) -> tuple[list[int], tuple[float, float, float]]:
    lags, acceptance, retention, transport = list[int](), 0, 0, 0
    for (epoch, number, _), (received_us, emitted_us) in first.items():
        accepted_us, message = found.accepted.get((epoch, number), (0, None))
        if message is None or message.name not in found.calls:
            continue
        intended_us = found.calls[message.name]
        lags.append(received_us - intended_us)
        acceptance += accepted_us - intended_us
        retention += emitted_us - accepted_us
        transport += received_us - emitted_us
    return sorted(lags), (acceptance, retention, transport)


def _lags(arrived: Arrived) -> dict[str, float | None]:
    lags, names = arrived.lags, ("acceptance", "retention", "transport")
    count = len(lags)
    return {
        "lag_mean_us": sum(arrived.parts) / count if count else None,
        **{f"lag_p{share}_us": _rank(lags, share) for share in (50, 95, 99)},
        **{
            f"lag_{name}_us": total / count if count else None for name, total in zip(names, arrived.parts, strict=True)
        },
    }


def _rank(values: Any, percent: int) -> int | None:
    """The nearest rank in sorted ``values``."""
    return int(values[max(1, ceil(len(values) * percent / 100)) - 1]) if len(values) else None


# ---- pairs that did not arrive


def _pairs(found: Facts, arrived: Arrived) -> dict[str, float]:
    """Where all pairs due are at the end. The four states add up."""
    due = sum(message.due for _, message in found.accepted.values())
    retained, lost = _pending_at_ends(found)
    dropped = arrived.dropped + lost
    failed = due - arrived.pairs - retained - dropped
    return {
        "pairs_due": due,
        "pairs_delivered": arrived.pairs,
        "pairs_retained": retained,
        "pairs_dropped": dropped,
        "pairs_failed": failed,
        "pairs_in_flight": min(failed, _in_flight(found)),
    }


def _in_flight(found: Facts) -> int:
    """At the end of draining, by the last tick or, if the server was shut down before it, by what it says then."""
    end = found.end_us
    ended = (one for at, one in found.missed if at >= end and one.outcome == Outcome.SHUT_DOWN and one.propagation)
    return _last(found, SERVER).get("pairs_in_flight", 0) + sum(len(one.messages) for one in ended)


def dropped_pairs(found: Facts) -> set[Pair]:
    """Those that the server dropped; some may have arrived."""
    return {
        (one.epoch, number, int(one.client.rpartition("-")[2]))
        for one in found.known_missed
        if one.outcome != Outcome.FAILED
        for number in one.messages
    }


def _pending_at_ends(found: Facts) -> tuple[int, int]:
    """Pairs that are pending at the end of draining, and those that were when a server crashed: its queues are gone."""
    left = Counter({key: message.due for key, (_, message) in found.accepted.items()})
    for _, propagation in found.propagations.values():
        for number in propagation.messages:
            left[propagation.epoch, number] -= propagation.recipients
    for one in found.known_missed:
        if not one.propagation:
            left.subtract((one.epoch, number) for number in one.messages)
    by_epoch = Counter[str]()
    for key in found.accepted:
        by_epoch[key[0]] += max(0, left[key])
    retained = by_epoch[_living(found)]
    return retained, by_epoch.total() - retained


def _living(found: Facts) -> str:
    """The epoch of the server that runs at the end of draining; empty if it has accepted nothing."""
    at_us, epoch = max(((at_us, epoch) for (epoch, _), (at_us, _) in found.accepted.items()), default=(0, ""))
    return "" if any(at_us <= death < found.end_us for death in found.deaths) else epoch


# ---- counters


def _steps(found: Facts, ticks: Sequence[Tick], name: str) -> Iterator[tuple[int, int, int]]:
    """What a counter grows by from tick to tick in and after measuring: (from µs, to µs, amount). A restart begins
    at 0."""
    begin = found.phases.get("measuring", 0)
    before, at_us = 0, 0
    for tick in ticks:
        value = tick.counters.get(name, 0)
        if tick.at_us > begin:
            yield at_us, tick.at_us, value - before if value >= before else value
        before, at_us = value, tick.at_us


def _growth(found: Facts, name: str) -> int:
    return sum(amount for ticks in found.ticks.values() for _, _, amount in _steps(found, ticks, name))


def _variation(found: Facts) -> float | None:
    """Standard deviation / mean of the bytes per whole second of measuring."""
    begin, end = found.phases.get("measuring", 0), found.phases.get("draining", 0)
    steps = _steps(found, _of(found, SERVER), "outbound_bytes")
    amounts = [amount for at, to, amount in steps if begin <= at and to <= end and to - at >= WHOLE_US]
    mean = sum(amounts) / len(amounts) if amounts else 0
    return sqrt(sum((amount - mean) ** 2 for amount in amounts) / len(amounts)) / mean if mean else None


def _pending(found: Facts) -> dict[str, float | None]:
    """Per recipient, in and after measuring."""
    begin = found.phases.get("measuring", 0)
    ticks = [tick.counters for tick in _of(found, SERVER) if tick.at_us >= begin]
    means = [one["pairs_retained"] / one["reachable"] for one in ticks if one["reachable"]]
    return {
        "pending_max": max((one["pending_max"] for one in ticks), default=None),
        "pending_mean": sum(means) / len(means) if means else None,
    }


def _of(found: Facts, role: str) -> list[Tick]:
    return [tick for process, ticks in found.ticks.items() if role_of(process) == role for tick in ticks]


def _last(found: Facts, role: str) -> Mapping[str, int]:
    ticks = _of(found, role)
    return ticks[-1].counters if ticks else {}
