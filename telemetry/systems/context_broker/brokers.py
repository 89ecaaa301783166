"""The state of one broker, from its own journal: neighbours, counters, last steps and messages, data.

Counterparts: ``telemetry.live.window`` has all brokers' loads and memories,
``telemetry.systems.context_broker.recent_messages`` the end of this one's recording,
``telemetry.systems.context_broker.updates`` its updates from providers. It follows a growing journal, so a
repeated look reads only new facts, and it keeps a limited number of items of each kind.
The broker itself is never queried, because the query would be measured.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overlay.journal.facts import Event, Holdings, Start, Tick, Trace
from overlay.journal.journal import JournalTail
from overlay.systems.context_broker.system import SYSTEM
from telemetry.lake.runs import RunFiles
from telemetry.summary.series import SECOND_US
from telemetry.systems.context_broker.entries import FOUND, REPLICA, Word, Words, known_entries
from telemetry.systems.context_broker.names import BROKER, broker_index
from telemetry.systems.context_broker.traces import id_of

KEYS = 50
"""Maximum entries shown of its final table, for its own and for replicas."""
STEPS = 20
"""Newest steps of traced queries."""
MESSAGES = 20
"""Newest messages of traced queries."""
GONE = 10
"""Newest former neighbours."""

_KINDS = (Start, Tick, Event, Trace, Holdings)
_WENT = {"NeighbourLeft": "left", "NeighbourLost": "lost", "NeighbourRefused": "refused"}
_CAME = ("NeighbourJoined", "NeighbourReturned")
_HELD = {"found": FOUND, "replicated": REPLICA}
"""Steps that show an entity in its table."""
MESSAGE_OF = {
    "received": ("received", "request"),
    "looked": ("received", "lookahead"),
    "turned away": ("sent", "refusal"),
    "found": ("sent", "answer"),
    "forwarded": ("sent", "request"),
    "looks": ("sent", "lookahead"),
    "answered": ("received", "answer"),
    "replied": ("sent", "answer"),
    "refused": ("received", "refusal"),
    "passed back": ("sent", "refusal"),
}
"""By step: the direction and the kind of its message; other steps send nothing."""


@dataclass(slots=True)
class _Neighbour:
    state: str
    """``joined``, ``lost``, ``left`` or ``refused``."""
    since_us: int


class BrokerWindow:
    """Follows the journal of one broker. ``linked`` are its neighbours in the topology."""

    def __init__(
        self, files: RunFiles, index: int, linked: Collection[int] = (), names: Mapping[str, int] | None = None
    ) -> None:
        """``names`` are indices of brokers by address, as far as known."""
        self._files = files
        self._index = index
        self._process = f"{BROKER}{index}"
        self._linked = sorted(linked)
        self._names = dict(names or {})
        self._tails: dict[Path, JournalTail] = {}
        self._address = ""
        self._lives = 0
        self._zero_unix_us = 0
        self._tick: Tick | None = None
        self._neighbours: dict[str, _Neighbour] = {}
        self._born_us = 0
        """The latest start of its process; entries from before are lost."""
        self._steps: deque[tuple[int, Trace, tuple[Any, ...]]] = deque(maxlen=STEPS)
        self._messages: deque[tuple[int, Trace, tuple[Any, ...]]] = deque(maxlen=MESSAGES)
        self._words = Words()
        self._held: Holdings | None = None

    def advance(self, updates: Iterable[Word] = (), valid_ms: int | None = None) -> dict[str, Any] | None:
        """Read new facts and return the complete state; ``None`` if the journal is empty.

        Times ``t_s`` are seconds since the deployment's zero, ``as_of_unix_us`` is the time of the broker's last fact.
        ``updates`` are those that it acknowledged, ``valid_ms`` the validity of data, if it is the same for all.
        """
        for path in self._paths():
            tail = self._tails.setdefault(path, JournalTail(path, _KINDS))
            for fact in tail.read_new():
                self._take(fact)
        return self._told(updates, valid_ms) if self._lives else None

    def _paths(self) -> list[Path]:
        """Its own journal, or that of all processes of a simulated run."""
        own = self._files.journal(self._process)
        return [own] if own.is_file() else [path for path in self._files.journals() if not _is_of_one(path)]

    def _take(self, fact: Any) -> None:
        if isinstance(fact, Start) and fact.address:
            index = broker_index(fact.process)
            if index is not None:
                self._names[fact.address] = index
        if fact.process != self._process:
            return
        if isinstance(fact, Start):
            is_same_deployment = fact.zero_unix_us == self._zero_unix_us
            self._born_us = self._tick.at_us if self._tick and is_same_deployment else 0
            self._lives += 1
            self._address = fact.address or self._address
            self._zero_unix_us = fact.zero_unix_us
            self._neighbours.clear()
            self._words.clear()
        elif isinstance(fact, Tick):
            self._tick = fact
        elif isinstance(fact, Event):
            self._take_event(fact)
        elif isinstance(fact, Trace):
            self._take_trace(fact)
        elif isinstance(fact, Holdings):
            self._held = fact

    def _take_event(self, event: Event) -> None:
        neighbour = str(event.detail.get("neighbour") or "")
        if neighbour and (state := "joined" if event.name in _CAME else _WENT.get(event.name)):
            self._neighbours[neighbour] = _Neighbour(state, event.at_us)

    def _take_trace(self, trace: Trace) -> None:
        for row in trace.steps:
            at_us, step = row[0], row[1]
            one = (at_us, trace, tuple(row))
            self._steps.append(one)
            if step in MESSAGE_OF:
                self._messages.append(one)
            if step in _HELD:
                self._words.add(Word(trace.entity, _HELD[step], at_us))

    # ---- telling

    def _told(self, updates: Iterable[Word], valid_ms: int | None) -> dict[str, Any]:
        tick, counters = self._tick, self._tick.counters if self._tick else {}
        at_us = tick.at_us if tick else 0
        words = [*self._words, *(word for word in updates if word.at_us >= self._born_us)]
        return {
            "index": self._index,
            "address": self._address,
            "lives": self._lives,
            "t_s": at_us / SECOND_US,
            "as_of_unix_us": self._zero_unix_us + at_us,
            "counters": {
                name: count for name, count in sorted(counters.items()) if name not in SYSTEM.gauges and count
            },
            "gauges": {name: count for name, count in sorted(counters.items()) if name in SYSTEM.gauges},
            "neighbours": self._neighbours_told(),
            "steps": [self._step(*one) for one in reversed(self._steps)],
            "messages": [self._message(*one) for one in sorted(self._messages, key=_at, reverse=True)],
            "entries": known_entries(words, at_us, self._zero_unix_us, valid_ms),
            "held": self._held_told(),
        }

    def _neighbours_told(self) -> list[dict[str, Any]]:
        """The reported neighbours; without reports, those in the topology."""
        if not self._neighbours:
            return [{"index": index, "address": "", "state": "linked", "since_s": None} for index in self._linked]
        newest_first = sorted(self._neighbours.items(), key=lambda item: -item[1].since_us)
        rows = [
            {"index": self._names.get(address), "address": address, "state": one.state, "since_s": one.since_us / 1e6}
            for address, one in newest_first
        ]
        here = [row for row in rows if row["state"] == "joined"]
        return sorted(here, key=_by_index) + [row for row in rows if row["state"] != "joined"][:GONE]

    def _step(self, at_us: int, trace: Trace, row: tuple[Any, ...]) -> dict[str, Any]:
        _, step, peer, detail = row
        return {
            "t_s": at_us / SECOND_US,
            "query": id_of((trace.consumer, trace.timestamp_ms, trace.entity)),
            "entity": trace.entity,
            "step": step,
            "peer": self._names.get(peer),
            "with_consumer": peer == trace.consumer,
            "detail": detail,
        }

    def _message(self, at_us: int, trace: Trace, row: tuple[Any, ...]) -> dict[str, Any]:
        _, step, peer, detail = row
        direction, kind = MESSAGE_OF[step]
        return {
            "t_s": at_us / SECOND_US,
            "direction": direction,
            "kind": kind,
            "other": self._names.get(peer),
            "with_consumer": peer == trace.consumer,
            "entity": trace.entity,
            "query": id_of((trace.consumer, trace.timestamp_ms, trace.entity)),
            "detail": detail,
        }

    def _held_told(self) -> dict[str, Any] | None:
        if self._held is None:
            return None
        held = self._held
        return {
            "t_s": held.at_us / SECOND_US,
            "own": held.own[:KEYS],
            "replicas": held.replicas[:KEYS],
            "count": len(held.own) + len(held.replicas) + held.left_out,
            "left_out": held.left_out + sum(max(0, len(keys) - KEYS) for keys in (held.own, held.replicas)),
        }


def _at(one: tuple[int, Trace, tuple[Any, ...]]) -> int:
    return one[0]


def _is_of_one(path: Path) -> bool:
    """Whether a journal is of a single process, as in live runs."""
    return path.stem == "supervisor" or "-" in path.stem


def _by_index(row: Mapping[str, Any]) -> tuple[bool, int, str]:
    return row["index"] is None, row["index"] or 0, row["address"]


def linked_to(index: int, links: Iterable[Mapping[str, Any]]) -> list[int]:
    """The neighbours of this broker in a topology's ``links`` ({a, b})."""
    ends = {link["b"] if link["a"] == index else link["a"] for link in links if index in (link["a"], link["b"])}
    return sorted(ends)
