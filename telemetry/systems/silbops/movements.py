"""Where clients of a run were, and what they were notified of, in a window of time: what a map shows.

All is as clients reported it: a client is where its last context says until the next one, and a notification goes from
where its publication says to where the subscriber was when it came. Nothing is interpolated. Times are µs since the
zero of the deployment, places km.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from overlay.core.processes import role_of
from overlay.journal.counters import growth
from overlay.systems.silbops.load.plans import client_name
from overlay.systems.silbops.names import BROKER, PUBLISHER, SUBSCRIBER
from overlay.systems.silbops.system import SYSTEM
from telemetry.lake.message_rows import own_rows
from telemetry.lake.records import own_table
from telemetry.lake.runs import Lake

MOST_VEHICLES, MOST_CAMERAS = 100, 50
"""The first so many subscribers and publishers are shown."""
WINDOW_S = 60
MOST_PLACES, MOST_NOTIFICATIONS = 10_000, 3_000
"""In a window; later ones are left out."""
SECOND = 1_000_000
CHANGES = ("setctx", "subscribe", "unsubscribe")
"""Messages of clients that a change of context may send."""


@dataclass(frozen=True, slots=True)
class Place:
    at_us: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Track:
    """A client and its contexts, the first from before the window."""

    client: str
    places: Sequence[Place]

    def at(self, at_us: int) -> Place | None:
        found = bisect_right(self.places, at_us, key=lambda one: one.at_us)
        return self.places[found - 1] if found else None


@dataclass(frozen=True, slots=True)
class Notification:
    camera: str
    number: int
    vehicle: str
    published_us: int
    received_us: int
    x: float
    """Of the camera, as published; ``y`` too."""
    y: float
    distance_km: float | None
    """In x or in y, whichever is more, from where the vehicle was when it came."""


@dataclass(frozen=True, slots=True)
class Sent:
    """Messages of all clients about their contexts that brokers have received in measuring by then."""

    at_us: int
    setctx: int
    subscribe: int
    unsubscribe: int


@dataclass(frozen=True, slots=True)
class Movements:
    begin_us: int
    """Of measuring; ``end_us``: its end."""
    end_us: int
    from_us: int
    """The window."""
    until_us: int
    vehicles: Sequence[Track]
    cameras: Sequence[Track]
    notifications: Sequence[Notification]
    sent: Sequence[Sent]
    changes: int
    """Contexts that the shown vehicles set in the window."""
    left_out: int
    """Places and notifications beyond the limits."""


def movements(lake: Lake, run: str, from_s: float = 0.0) -> Movements | None:
    """``from_s``: where the window begins, after the start of measuring. ``None`` before the run is collected, and
    without its records."""
    reader = _Reader(lake, run)
    if not reader.is_there:
        return None
    begin_us, end_us = reader.measuring()
    from_us = min(begin_us + round(from_s * SECOND), max(begin_us, end_us - 1))
    until_us = min(from_us + WINDOW_S * SECOND, end_us)
    tracks, places_left = reader.tracks(from_us, until_us)
    vehicles, cameras = (_of_role(tracks, role) for role in (SUBSCRIBER, PUBLISHER))
    notifications, notes_left = reader.notifications(from_us, until_us, tracks)
    changes = sum(place.at_us >= from_us for one in vehicles for place in one.places)
    sent = reader.sent(begin_us, from_us, until_us)
    left_out = places_left + notes_left
    return Movements(begin_us, end_us, from_us, until_us, vehicles, cameras, notifications, sent, changes, left_out)


class _Reader:
    def __init__(self, lake: Lake, run: str) -> None:
        self._lake, self._run = lake, run

    @property
    def is_there(self) -> bool:
        return self._lake.holds(self._run) and self._path(own_table(SYSTEM.name, "contexts")).is_file()

    def measuring(self) -> tuple[int, int]:
        """Its begin and end."""
        phases = [
            (json.loads(one["detail"])["phase"], one["at_us"]) for one in self._rows("events", [("name", "=", "phase")])
        ]
        begin = min((at for phase, at in phases if phase == "measuring"), default=0)
        return begin, min((at for phase, at in phases if phase != "measuring" and at > begin), default=begin)

    def tracks(self, from_us: int, until_us: int) -> tuple[dict[str, Track], int]:
        """By client; and how many places were left out."""
        names = [f"{SUBSCRIBER}-{number}" for number in range(MOST_VEHICLES)]
        names += [f"{PUBLISHER}-{number}" for number in range(MOST_CAMERAS)]
        rows = self._own("contexts", [("client", "in", names), ("called_us", "<", until_us)])
        found: dict[str, list[Place]] = {}
        for row in sorted(rows, key=lambda row: row["called_us"]):
            values = json.loads(row["values"])
            place = Place(row["called_us"], values["x"], values["y"])
            known = found.setdefault(row["client"], [])
            if known and place.at_us <= from_us:
                known.clear()
            known.append(place)
        kept, left_out = _earliest(found, MOST_PLACES)
        return {client: Track(client, places) for client, places in kept.items()}, left_out

    def notifications(self, from_us: int, until_us: int, tracks: Mapping[str, Track]) -> tuple[list[Notification], int]:
        within = [("received_us", ">=", from_us), ("received_us", "<", until_us), ("client", "in", [*tracks])]
        rows = sorted(self._own("delivered", within), key=lambda row: (row["received_us"], row["client"]))
        keys = self._keys()
        published = {
            (row["client"], row["number"]): row
            for row in self._own("published", [("called_us", "<", until_us), ("number", "in", _numbers(rows))])
        }
        found = []
        for row in rows[:MOST_NOTIFICATIONS]:
            one = published.get((keys.get(row["publisher"], ""), row["number"]))
            if one is not None:
                found.append(_notification(row, one, tracks[row["client"]]))
        return found, max(0, len(rows) - MOST_NOTIFICATIONS)

    def sent(self, begin_us: int, from_us: int, until_us: int) -> list[Sent]:
        return sent_each_second(self._rows("ticks", [("at_us", "<=", until_us)]), begin_us, from_us)

    def _keys(self) -> dict[str, str]:
        """The client of each key of a publisher."""
        details = [json.loads(one["detail"]) for one in self._rows("events", [("name", "=", "ClientAttached")])]
        return {one["publisher"]: client_name(bytes.fromhex(one["client"])) for one in details if "publisher" in one}

    def _path(self, table: str) -> Any:
        return self._lake.part(table, self._run)

    def _own(self, table: str, filters: list[Any]) -> list[dict[str, Any]]:
        return own_rows(self._lake, self._run, SYSTEM.name, table, filters)

    def _rows(self, table: str, filters: list[Any]) -> list[dict[str, Any]]:
        path = self._path(table)
        return list(pq.read_table(path, partitioning=None, filters=filters).to_pylist()) if path.is_file() else []


def sent_each_second(ticks: Iterable[Mapping[str, Any]], begin_us: int, from_us: int) -> list[Sent]:
    """A row for each second from ``from_us`` on, from where measuring begins. ``ticks`` are rows of their table.

    The counters of a broker that starts again begin at 0, and what it had counted remains.
    """
    total = dict.fromkeys(CHANGES, 0)
    before: dict[str, dict[str, int]] = {}
    found: dict[int, Sent] = {}
    for row in sorted(ticks, key=lambda row: row["at_us"]):
        if role_of(row["process"]) != BROKER:
            continue
        at_us, known = row["at_us"], dict(row["counters"])
        counters = {name: known.get(f"in_{name}", 0) for name in CHANGES}
        earlier = before.get(row["process"])
        before[row["process"]] = counters
        if at_us > begin_us:
            for name, value in counters.items():
                total[name] += growth((0 if earlier is None else earlier[name], value))
            found[at_us // SECOND] = Sent(at_us, **total)
    return [one for one in found.values() if one.at_us >= from_us - SECOND]


def _notification(row: Mapping[str, Any], published: Mapping[str, Any], track: Track) -> Notification:
    context = json.loads(published["context"])
    place = track.at(row["received_us"])
    away = None if place is None else max(abs(place.x - context["x"]), abs(place.y - context["y"]))
    times = published["called_us"], row["received_us"]
    return Notification(published["client"], row["number"], track.client, *times, context["x"], context["y"], away)


def _earliest(found: Mapping[str, list[Place]], most: int) -> tuple[Mapping[str, list[Place]], int]:
    """Of all places the first so many, and how many are left out."""
    total = sum(map(len, found.values()))
    if total <= most:
        return found, 0
    last = sorted(place.at_us for places in found.values() for place in places)[most - 1]
    kept = {client: [place for place in places if place.at_us <= last] for client, places in found.items()}
    return kept, total - sum(map(len, kept.values()))


def _of_role(tracks: Mapping[str, Track], role: str) -> list[Track]:
    named = [one for one in tracks.values() if role_of(one.client) == role]
    return sorted(named, key=lambda one: int(one.client.rpartition("-")[2]))


def _numbers(rows: Iterable[Mapping[str, Any]]) -> list[int]:
    return sorted({row["number"] for row in rows})
