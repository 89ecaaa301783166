"""Reads the records of one message from the lake (``ways.Records``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from overlay.systems.federation.names import broker_name
from overlay.systems.federation.system import SYSTEM
from telemetry.lake import message_rows
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.federation.messages import NOTIFICATION, about_of, id_of
from telemetry.systems.federation.ways import Delivery, Records, Step, Way


def find(files: RunFiles, lake: Lake, message: str) -> Way | None:
    """The way of a message of a collected run."""
    row = message_rows.find(files, message)
    if row is None:
        return None
    reader = _Reader(lake, files.run)
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
