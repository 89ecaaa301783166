"""The steps from a running network to its desired state: ``remaining`` lists them, ``due`` those to begin now. Pure.

Counterparts: ``overlay.runtime.network_changes`` observes and takes the steps, the web previews them. Both are called
again after each observation, so a step that failed or was forgotten in a crash is simply listed again.

::

    start new brokers ──> join new links ──> cut links ──> drain brokers ──> replace brokers that run with old settings
         all at once           all at once       one at a time, while every other broker is up and has its links

New links come before the cuts, so that searches find a way at any time. Everything that takes a broker away waits
while another one is down: a rolling change therefore pauses at the first broker that does not come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

RUNNING, DRAINED, REMOVED = "running", "drained", "removed"
"""The desired states of a broker. A drained one may return; the index of a removed one is not used again."""
GONE, BUSY, UP, FAILED = "gone", "busy", "up", "failed"
"""The observed states: without a process; starting, restarting or leaving; up; given up on, or not answering."""
START, JOIN, CUT, DRAIN, REPLACE = "start", "join", "cut", "drain", "replace"
MOST_WALKS = 64
AT_ONCE = (START, JOIN)
"""Steps of these kinds begin together; they take nothing away."""

Ends = tuple[int, int]
"""The brokers of a link, the lower index first."""


@dataclass(frozen=True, slots=True)
class Desired:
    brokers: frozenset[int]
    """Those that should run."""
    links: frozenset[Ends]
    revisions: Mapping[int, Any]
    """What each broker should have been started with; any values that can be compared."""


@dataclass(frozen=True, slots=True)
class Observed:
    states: Mapping[int, str]
    """Brokers that are missing are ``GONE``."""
    links: frozenset[Ends]
    """The links that were joined, or are being joined."""
    revisions: Mapping[int, Any]
    """What each broker was started with."""
    is_settled: bool = True
    """Whether all running brokers have joined their links."""

    def state(self, broker: int) -> str:
        return self.states.get(broker, GONE)


@dataclass(frozen=True, slots=True)
class Step:
    verb: str
    brokers: tuple[int, ...]
    """One, or the two ends of a link."""
    splits: bool = False
    """Whether brokers that stay cannot reach each other afterwards, and could before."""


def remaining(desired: Desired, seen: Observed, *, tells_splits: bool = True) -> list[Step]:
    """All steps that are left, in their order; empty if the desired state is reached or only waits for brokers.

    ``tells_splits``: whether ``Step.splits`` is found out, for which the network is walked once for each step. Beyond
    ``MOST_WALKS`` of them, the last one says it for all.
    """
    stay = desired.brokers
    steps = [Step(START, (broker,)) for broker in sorted(stay) if seen.state(broker) == GONE]
    steps += [Step(JOIN, ends) for ends in sorted(desired.links - seen.links) if stay.issuperset(ends)]
    cuts = [Step(CUT, ends) for ends in sorted(seen.links - desired.links) if stay.issuperset(ends)]
    leaving = [broker for broker, state in seen.states.items() if state != GONE and broker not in stay]
    leaving.sort(key=lambda broker: (seen.state(broker) == UP, broker))  # what is lost anyway first
    losses = cuts + [Step(DRAIN, (broker,)) for broker in leaving]
    steps += _with_splits(losses, desired, seen) if tells_splits else losses
    old = [broker for broker in sorted(stay) if seen.state(broker) != GONE and _is_old(broker, desired, seen)]
    old.sort(key=lambda broker: (seen.state(broker) != FAILED, broker))  # what is down comes back first
    return steps + [Step(REPLACE, (broker,)) for broker in old]


def due(steps: Sequence[Step], desired: Desired, seen: Observed) -> list[Step]:
    """The steps of ``remaining`` to begin now; empty while they wait, see ``waits_for``."""
    if not steps or waits_for(steps, desired, seen) is not None:
        return []
    first = steps[0]
    return [step for step in steps if step.verb == first.verb] if first.verb in AT_ONCE else [first]


def waits_for(steps: Sequence[Step], desired: Desired, seen: Observed) -> int | None:
    """The broker that the next step waits for, a failed one first; ``None`` if it waits for none.

    -1: for links that are being joined.
    """
    if not steps or steps[0].verb in AT_ONCE:
        return None
    subject = set(steps[0].brokers) if steps[0].verb != CUT else set()
    others = [broker for broker in sorted({*desired.brokers, *seen.states}) if broker not in subject]
    failed = [broker for broker in others if broker in desired.brokers and seen.state(broker) == FAILED]
    busy = [broker for broker in others if seen.state(broker) == BUSY]
    if failed or busy:
        return (failed or busy)[0]
    if steps[0].verb == REPLACE and seen.state(steps[0].brokers[0]) == BUSY:
        return steps[0].brokers[0]
    return None if seen.is_settled else -1


def separated(brokers: Iterable[int], links: Iterable[Ends]) -> list[list[int]]:
    """The parts of a network, each sorted, the largest first."""
    whole = set(brokers)
    return sorted(map(sorted, _components(whole, links)), key=lambda part: (-len(part), part))


def _is_old(broker: int, desired: Desired, seen: Observed) -> bool:
    return seen.revisions.get(broker) != desired.revisions.get(broker)


def _with_splits(steps: Sequence[Step], desired: Desired, seen: Observed) -> list[Step]:
    """The cuts and drains with whether each of them splits the network."""
    ways = {*seen.links, *desired.links}
    brokers = {*desired.brokers, *(broker for broker, state in seen.states.items() if state != GONE)}
    parts, told = _parts_of(desired.brokers, set(brokers), ways), []
    walked = steps if len(steps) <= MOST_WALKS else steps[-1:]
    for step in steps:
        if step.verb == CUT:
            ways.discard((step.brokers[0], step.brokers[1]))
        else:
            brokers.difference_update(step.brokers)
        if step in walked:
            before, parts = parts, _parts_of(desired.brokers, set(brokers), ways)
            told.append(replace(step, splits=parts > before))
        else:
            told.append(step)
    return told


def _parts_of(stay: frozenset[int], brokers: set[int], links: Iterable[Ends]) -> int:
    """The number of parts that contain brokers that stay; others are ways between them."""
    return sum(bool(part & stay) for part in _components(set(brokers), links))


def _components(brokers: set[int], links: Iterable[Ends]) -> list[set[int]]:
    neighbours: dict[int, list[int]] = {broker: [] for broker in brokers}
    for a, b in links:
        if a in brokers and b in brokers:
            neighbours[a].append(b)
            neighbours[b].append(a)
    parts: list[set[int]] = []
    while brokers:
        part, ahead = set[int](), [min(brokers)]
        while ahead:
            broker = ahead.pop()
            if broker not in part:
                part.add(broker)
                ahead += neighbours[broker]
        parts.append(part)
        brokers -= part
    return parts
