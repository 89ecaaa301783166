"""Messages of recorded runs for the wire lab: a table, single messages and captures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from brokerweb.experiments.models import Run
from brokerweb.kit.errors import NotPossible
from brokerweb.retention.services import removed_sentence
from brokerweb.wirelab.lab import FAMILIES
from brokerweb.wirelab.recorded import files_of
from brokerweb.wirelab.run_messages import Found, Listed, Replay, RunMessages
from brokerweb.wirelab.services import visible
from telemetry.errors import StorageError, TelemetryError
from telemetry.lake.datagrams import Choice, title_of
from telemetry.systems.context_broker import captures, messages
from telemetry.systems.context_broker.messages import kind_of

PAGE = 50
TITLES = {
    "request": "Requests",
    "answer": "Answers",
    "refusal": "Refusals",
    "update": "Updates",
    "acknowledgement": "Acknowledgements",
    "upkeep": "Upkeep",
}
assert tuple(TITLES) == messages.FAMILIES == FAMILIES


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the chosen messages."""

    count: int
    rows: list[dict[str, Any]]
    number: int
    pages: int

    @property
    def previous(self) -> int:
        return self.number - 1

    @property
    def next(self) -> int:
        return self.number + 1


def is_there(run: Run) -> bool:
    """Whether messages of it were recorded and collected."""
    return files_of(run).messages_path.is_file()


def page(run: Run, choice: Choice, number: int, size: int = PAGE) -> Page:
    """One page of them; a number out of range is the nearest page."""
    path = files_of(run).messages_path
    count, rows = captures.rows(path, choice, (number - 1) * size, size)
    pages = max(1, -(-count // size))
    if number > pages:
        number = pages
        count, rows = captures.rows(path, choice, (number - 1) * size, size)
    return Page(count, [_shown(row) for row in rows], number, pages)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    kind, family = kind_of(row["code"])
    ends = {end: row[end] if row[end] >= 0 else None for end in ("sender", "receiver")}
    took = None if row["arrived_us"] is None or row["arrived_us"] == row["at_us"] else row["arrived_us"] - row["at_us"]
    return {**row, **ends, "kind": kind, "family": family, "took_us": took, "visible": visible(row["text"])}


def message(run: Run, number: int) -> tuple[dict[str, Any], bytes] | None:
    """One message and all its bytes; ``None`` where there is none. Raises ``NotPossible`` where its bytes are gone."""
    files = files_of(run)
    row = captures.row(files.messages_path, number)
    if row is None:
        return None
    data = captures.whole(files, row)
    if data is None:
        raise NotPossible("The recordings of this run were deleted; only the beginning of this message is stored.")
    return _shown(row), data


def capture(run: Run, choice: Choice) -> Iterator[bytes]:
    """The chosen messages as pcapng. Raises ``NotPossible``, and ``StorageError`` for a damaged file."""
    files = files_of(run)
    try:
        return captures.capture(files, choice, title_of(files))
    except StorageError:
        raise
    except TelemetryError as error:
        raise NotPossible(str(error)) from None


class Collected(RunMessages):
    """For REST."""

    has_queries = can_replay = True

    def missing(self, run: Run) -> str:
        none = "This run has no messages. They are available for collected runs with record_mb above 0."
        return "" if is_there(run) else removed_sentence(run) or none

    def listed(self, run: Run, choice: Choice, number: int, size: int) -> Listed:
        found = page(run, choice, number, size)
        return Listed(found.count, [_addressless(row) for row in found.rows], found.number, found.pages)

    def one(self, run: Run, number: int) -> Found | None:
        found = message(run, number)
        return found and Found(_addressless(found[0]), found[1])

    def capture(self, run: Run, choice: Choice) -> Iterator[bytes]:
        return capture(run, choice)

    def replay(self, run: Run) -> Replay | None:
        found = messages.overview(files_of(run).messages_path)
        return Replay(found, TITLES, f"/api/runs/{run.pk}/messages/", 10_000, begins=True) if found else None


def _addressless(row: dict[str, Any]) -> dict[str, Any]:
    """What is collected has the indices of brokers, and no addresses."""
    return {**row, "sender_address": None, "receiver_address": None}


MESSAGES = Collected()
