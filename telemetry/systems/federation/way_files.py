"""Reads the records of one message from the lake (``ways.Records``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from overlay.systems.federation.names import broker_name, query_name
from overlay.systems.federation.system import SYSTEM
from telemetry.lake import message_rows
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.federation.messages import NOTIFICATION, QUERY, about_of, id_of
from telemetry.systems.federation.query_ways import QueryWay, Reply, chain, sent_by
from telemetry.systems.federation.ways import Delivery, Records, Step, Way


def find(files: RunFiles, lake: Lake, message: str) -> Way | None:
    """The way of a message of a collected run."""
    row = message_rows.find(files, message)
    if row is None:
        return None
    reader = _Reader(lake, files.run)
    if row["kind"] == QUERY:
        return reader.of_query(row)
    return Way(reader.of_notification(row) if row["kind"] == NOTIFICATION else reader.of_subscription(row))


class _Reader:
    def __init__(self, lake: Lake, run: str) -> None:
        self._lake, self._run = lake, run

    def of_notification(self, row: Mapping[str, Any]) -> Records:
        deliveries = self._deliveries([("provider", "=", row["client"]), ("note", "=", row["number"])])
        return Records(row, self._sent_us(row), self._steps([about_of(row["id"])]), deliveries)

    def of_subscription(self, row: Mapping[str, Any]) -> Records:
        deliveries = self._deliveries([("client", "=", row["client"]), ("number", "=", row["number"])])
        about, note_sent_us = [about_of(row["id"])], None
        if row["note"]:
            about.append(about_of(row["note"]))
            _, provider, number = about[-1].split("|")
            noted = self._own("notes", [("provider", "=", provider), ("number", "=", int(number))])
            if noted and noted[0]["published_us"] >= row["at_us"]:
                note_sent_us = noted[0]["published_us"]
        steps = self._steps(about)
        if note_sent_us is None:  # from a cache: it was published before, perhaps for another subscription
            steps = [one for one in steps if one.at_us >= row["at_us"]]
        return Records(row, self._sent_us(row), steps, deliveries, note_sent_us)

    def of_query(self, row: Mapping[str, Any]) -> QueryWay | None:
        mine = self._own("queries", [("client", "=", row["client"]), ("number", "=", row["number"])])
        if not mine:
            return None
        own = mine[0]
        about = query_name(row["client"], own["req"])
        again = [  # of the client, when it has vanished and returned
            one["sent_us"]
            for one in self._own("queries", [("client", "=", row["client"]), ("req", "=", own["req"])])
            if one["sent_us"] > own["sent_us"]
        ]
        until: int | None = min(again, default=None)
        steps = chain(about, self._steps) if own["req"] else []
        steps = [one for one in steps if own["sent_us"] <= one.at_us and (until is None or one.at_us < until)]
        replies = [
            Reply(*(one[name] for name in Reply._fields))
            for one in self._own("replies", [("about", "in", sent_by(steps))])
        ]
        is_answered = 0 < own["ended_us"] < own["deadline_us"]
        ended_us = own["ended_us"] if is_answered else None
        return QueryWay(Records(row, own["sent_us"], steps), about, replies, ended_us)

    def _sent_us(self, row: Mapping[str, Any]) -> int:
        """As its client recorded it; of a notification, its timestamp has ms."""
        if row["kind"] == NOTIFICATION:
            return int(row["at_us"])
        found = self._own("subscriptions", [("client", "=", row["client"]), ("number", "=", row["number"])])
        return int(found[0]["sent_us"]) if found else int(row["at_us"])

    def _steps(self, about: Iterable[str]) -> list[Step]:
        found = self._own("steps", [("about", "in", list(about))])
        steps = [
            Step(
                one["at_us"],
                broker_name(int(one["process"].rpartition("-")[2])),
                one["about"],
                one["step"],
                one["peer"],
                one["subscriptions"],
                one["detail"],
                one["arrived_us"],
            )
            for one in found
        ]
        return sorted(steps, key=lambda one: one.at_us)  # a stable sort keeps the order of simultaneous steps

    def _deliveries(self, filters: list[Any]) -> list[Delivery]:
        found = [
            Delivery(
                one["client"],
                one["number"],
                id_of(NOTIFICATION, one["provider"], one["note"]),
                one["received_us"],
                one["cached"],
                one["hops"],
            )
            for one in self._own("notifies", filters)
        ]
        return sorted(found, key=lambda one: one.received_us)

    def _own(self, table: str, filters: list[Any]) -> list[dict[str, Any]]:
        return message_rows.own_rows(self._lake, self._run, SYSTEM.name, table, filters)
