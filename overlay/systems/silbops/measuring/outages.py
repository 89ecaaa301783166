"""When links and brokers of the tree were down, and which way a publication takes. Times are µs.

A link is down while a fault lets nothing through, and from the loss of its session until both ends are connected and
have told each other their tables again. A broker is down while it has no process; its clients are without one until
they have noticed, and attached again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from overlay.core.processes import role_of
from overlay.journal.facts import Event
from overlay.systems.silbops.measuring.absences import Span, Stays
from overlay.systems.silbops.names import BROKER, broker_name

IN_FLIGHT_US = 1_000_000
"""Before the loss of a session: what was sent and is not acknowledged is lost with it."""
NOTICED_US = 30_000_000
"""After the begin of a fault of a link, at most, until its session is lost."""
ORPHANED_US = 15_000_000
"""After the end of a broker's process, at most, until its clients have noticed: one that has nothing to send probes its
broker after 5 s of silence (``probe_s``), and repeats that."""
_OF_LINKS = frozenset(("partition", "slow", "lossy", "impaired"))

Edge = tuple[int, int]
"""The lower number first."""


class Outages:
    def __init__(self, events: Iterable[Event], parents: Sequence[int], retold_us: float) -> None:
        """``parents``: of each broker in the tree; -1 for the first. ``retold_us``: for tables, after a session has
        begun."""
        self._parents, self._retold_us = parents, retold_us
        self._edges: dict[Edge, list[Span]] = defaultdict(list)
        self._brokers: dict[int, list[Span]] = defaultdict(list)
        self._disturbed: dict[Edge, list[Span]] = defaultdict(list)
        ordered = sorted(events, key=lambda one: one.at_us)
        for event in ordered:
            if event.name == "fault_began" and event.detail.get("what") in _OF_LINKS:
                self._disturb(event)
        self._add_processes(ordered)
        self._add_sessions(ordered)

    def on_way(self, publisher: Stays, subscriber: Stays, from_us: float, until_us: float) -> bool:
        """Whether something was down, in this time, on a way between brokers that served the two."""
        if self._is_orphaned(publisher, from_us, until_us) or self._is_orphaned(subscriber, from_us, until_us):
            return True
        return any(
            self._meets(self._way(one, other), from_us, until_us)
            for one in publisher.during(from_us, until_us)
            for other in subscriber.during(from_us, until_us)
        )

    # ---- inner

    def _is_orphaned(self, client: Stays, from_us: float, until_us: float) -> bool:
        return bool(self._brokers) and any(
            Span(down.from_us, min(next_us, down.from_us + ORPHANED_US) + self._retold_us).meets(from_us, until_us)
            for stay, next_us in client.followed()
            for down in self._brokers.get(stay.broker, ())
            if stay.from_us <= down.from_us <= (stay.until_us or next_us)
        )

    def _meets(self, way: Sequence[int], from_us: float, until_us: float) -> bool:
        spans = [span for broker in way for span in self._brokers.get(broker, ())]
        spans += [span for one, other in pairwise(way) for span in self._edges.get(_edge(one, other), ())]
        return any(span.meets(from_us, until_us) for span in spans)

    def _way(self, one: int, other: int) -> list[int]:
        up, down = self._to_root(one), self._to_root(other)
        while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:
            up.pop()
            down.pop()
        return [*up, *reversed(down[:-1])]

    def _to_root(self, broker: int) -> list[int]:
        way = [broker]
        while 0 <= way[-1] < len(self._parents) and self._parents[way[-1]] >= 0:
            way.append(self._parents[way[-1]])
        return way

    def _disturb(self, event: Event) -> None:
        fault = event.detail
        span = Span(event.at_us, _end(event.at_us, fault))
        is_cut = fault["what"] == "partition" or fault.get("partition") is True or fault.get("loss") == 1
        for child, parent in enumerate(self._parents):
            if parent >= 0 and _strikes(fault, child, parent):
                self._disturbed[_edge(child, parent)].append(span)
                if is_cut:
                    self._edges[_edge(child, parent)].append(span)

    def _add_processes(self, events: Iterable[Event]) -> None:
        ended: dict[int, float] = {}
        for event in events:
            process = str(event.detail.get("process", ""))
            if event.name in ("process_ended", "process_started") and role_of(process) == BROKER:
                broker = int(process.rpartition("-")[2])
                if event.name == "process_ended":
                    ended[broker] = event.at_us
                elif broker in ended:
                    self._brokers[broker].append(Span(ended.pop(broker), event.at_us + self._retold_us))
        for broker, at in ended.items():
            self._brokers[broker].append(Span(at, float("inf")))

    def _add_sessions(self, events: Iterable[Event]) -> None:
        lost: dict[tuple[str, str], float] = {}
        """By the broker that says so, and its neighbour."""
        for event in events:
            ends = event.process, str(event.detail.get("broker", ""))
            if event.name == "NeighbourLost":
                lost[ends] = event.at_us
            elif event.name == "NeighbourConnected" and ends in lost:
                self._add_session(ends, lost.pop(ends), event.at_us + self._retold_us)
        for ends, at in lost.items():
            self._add_session(ends, at, float("inf"))

    def _add_session(self, ends: tuple[str, str], lost_us: float, until_us: float) -> None:
        own = int(ends[0].rpartition("-")[2])
        for other in self._neighbours(own):
            if broker_name(other) == ends[1]:
                edge = _edge(own, other)
                causes = [one.from_us for one in self._disturbed[edge] if one.meets(lost_us - NOTICED_US, lost_us)]
                self._edges[edge].append(Span(min([lost_us - IN_FLIGHT_US, *causes]), until_us))

    def _neighbours(self, broker: int) -> Iterator[int]:
        for child, parent in enumerate(self._parents):
            if parent >= 0 and broker in (child, parent):
                yield parent if broker == child else child


def _edge(one: int, other: int) -> Edge:
    return min(one, other), max(one, other)


def _strikes(fault: dict[str, Any], one: int, other: int) -> bool:
    if "islands" in fault:
        of = [
            next((n for n, island in enumerate(fault["islands"]) if broker in island), None) for broker in (one, other)
        ]
        return None not in of and of[0] != of[1]
    return fault.get("links") == "all" or any(set(ends) == {one, other} for ends in fault.get("links", ()))


def _end(at_us: float, fault: dict[str, Any]) -> float:
    """Faults without an end last."""
    if fault.get("until_s") is None:
        return float("inf")
    return at_us + (float(fault["until_s"]) - float(fault["at_s"])) * 1e6
