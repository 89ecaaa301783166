"""When brokers learn that a client or broker is gone, and when all have settled after a fault (E1.4).

A registration component, the broker of a client or the registration service, notices by itself; all other brokers are
receivers, which it tells.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from overlay.core.processes import role_of
from overlay.journal.facts import Event
from overlay.systems.federation.measuring.disturbances import REPAIRS
from overlay.systems.federation.measuring.records import Facts
from overlay.systems.federation.names import BDRS, BROKER, PROVIDER, broker_name, consumer_name, provider_name

LEARNED = "DisappearanceLearned"
"""The event of a broker that is told of it."""
CHANGES = frozenset({LEARNED, "ClientRegistered", "EntryRemoved", "BrokerRegistered", "BrokerRemoved", *REPAIRS})
"""Events of brokers and of the registration service when a table or the tree changes."""
TOLD = ("subtable_added", "subtable_removed")
SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Vanished:
    name: str
    at_us: int
    until_us: float
    """When it vanished again; infinite if it did not."""
    is_broker: bool


@dataclass(frozen=True, slots=True)
class Known:
    """Times in µs."""

    since_vanished: list[int]
    """Of each pair of a vanishing and a receiver that learned of it."""
    since_removed: list[int]
    """Of the same pairs, from the removal at the registration component."""
    graces: list[int]
    """From the last sign of life to the removal, of those that were missed rather than told."""
    never: int
    """Pairs without an answer by the end."""


@dataclass(frozen=True, slots=True)
class Removal:
    """A registration component removed a client or broker."""

    process: str
    at_us: int
    name: str
    silent_us: int | None
    """Since the last sign of life, of one that was missed; ``None`` if it left, or was superseded."""


def known(facts: Facts) -> Known | None:
    """``None`` in a run in which nothing vanished."""
    vanished = list(_vanished(facts))
    if not vanished:
        return None
    since_vanished, since_removed, never = list[int](), list[int](), 0
    brokers = sorted(process for process in facts.ticks if role_of(process) == BROKER)
    for one in vanished:
        removed_us, home = _removal(facts, one)
        told = _learned(facts, one, home)
        since_vanished.extend(at - one.at_us for at in told.values())
        if removed_us is not None:
            since_removed.extend(at - removed_us for at in told.values())
        receivers = [process for process in brokers if process != home and process != _process(one)]
        if not one.is_broker and home is None:
            receivers = receivers[1:]  # one of them is its own, which did not notice
        never += max(0, len(receivers) - len(told))
    removed = [one for one in removals(facts.events) if facts.begin_us <= one.at_us <= facts.end_us]
    return Known(since_vanished, since_removed, [one.silent_us for one in removed if one.silent_us is not None], never)


def removals(events: Iterable[Event]) -> list[Removal]:
    """In the order of their times."""
    found = []
    for event in events:
        if event.name == "EntryRemoved":
            silent_us = event.detail.get("silent_us") if event.detail["reason"] == "expired" else None
            found.append(Removal(event.process, event.at_us, event.detail["client"], silent_us))
        elif event.name == "BrokerRemoved":
            silent_us = event.detail["silent_us"] if event.detail["reason"] == "silent" else None
            found.append(Removal(event.process, event.at_us, event.detail["broker"], silent_us))
    return sorted(found, key=lambda one: one.at_us)


def settled_us(facts: Facts) -> int | None:
    """From the last fault to the last change of a table or of the tree because of it; ``None`` without faults.

    Subscriptions told to neighbours are known to the second, by counters; they count where no consumer subscribed since
    the fault, so that repairs are their only cause.
    """
    faults = [event.at_us for event in facts.events if event.name in ("fault_began", "fault_ended")]
    if not faults:
        return None
    last, end = max(faults), facts.end_us
    changes = [event.at_us for event in facts.events if event.name in CHANGES]
    if not any(one.sent_us >= last - SECOND_US for one in facts.subscriptions):
        changes += _told(facts, last)
    return max((at - last for at in changes if last <= at <= end), default=0)


def _told(facts: Facts, after_us: int) -> Iterator[int]:
    """The ticks before which a broker told a neighbour of subscriptions."""
    for ticks in facts.ticks.values():
        for before, tick in pairwise(ticks):
            is_told = any(tick.counters.get(name, 0) > before.counters.get(name, 0) for name in TOLD)
            if is_told and before.at_us >= after_us:
                yield tick.at_us


def _vanished(facts: Facts) -> Iterator[Vanished]:
    found: dict[str, list[int]] = defaultdict(list)
    for event in facts.events:
        if event.name == "fault_began" and event.detail.get("what") == "vanish":
            for name in _targets(event.detail):
                found[name].append(event.at_us)
    brokers = {broker_name(index) for index in range(len(facts.ticks))}
    for name, times in found.items():
        for at_us, next_us in zip(times, [*times[1:], float("inf")], strict=True):
            yield Vanished(name, at_us, next_us, name in brokers)


def _targets(detail: Mapping[str, object]) -> Iterator[str]:
    brokers, clients, servers = (detail.get(kind) or [] for kind in ("brokers", "clients", "servers"))
    assert isinstance(brokers, list) and isinstance(clients, list) and isinstance(servers, list)
    yield from (broker_name(int(index)) for index in brokers)
    for process in (*servers, *clients):
        role, _, number = str(process).rpartition("-")
        of = {BROKER: broker_name, PROVIDER: provider_name}.get(role, consumer_name)
        yield of(int(number))


def _process(one: Vanished) -> str:
    return f"{BROKER}-{one.name[1:]}" if one.is_broker else ""


def _removal(facts: Facts, one: Vanished) -> tuple[int | None, str | None]:
    """When its registration component removed it, and which that was."""
    component = BDRS if one.is_broker else BROKER
    for removal in removals(facts.events):
        is_then = one.at_us <= removal.at_us < one.until_us
        if removal.name == one.name and is_then and role_of(removal.process) == component:
            return removal.at_us, removal.process
    return None, None


def _learned(facts: Facts, one: Vanished, home: str | None) -> dict[str, int]:
    """By receiver, when it was told first."""
    told: dict[str, int] = {}
    about = (event for event in facts.events if event.name == LEARNED and event.detail["name"] == one.name)
    for event in about:
        is_receiver = role_of(event.process) == BROKER and event.process != home
        if is_receiver and one.at_us <= event.at_us < one.until_us:
            told[event.process] = min(event.at_us, told.get(event.process, event.at_us))
    return told
