"""Messages of a recorded run for REST: by default from its recordings, else as its system has collected them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from brokerweb.experiments.models import Run
from brokerweb.kit.errors import NotPossible
from brokerweb.retention.services import removed_sentence
from brokerweb.wirelab import recorded
from brokerweb.wirelab.lab import OPENING, Lab
from brokerweb.wirelab.services import visible
from overlay.core.addresses import Address, format_address
from overlay.journal.recording import What, recordings_in
from telemetry.errors import TelemetryError
from telemetry.lake.datagrams import Choice, Passage, passages, recordings_of
from telemetry.lake.overviews import Overview, overview
from telemetry.lake.runs import RunFiles

Row = dict[str, Any]
"""With the fields of ``brokerweb.api.shapes.wire.RecordedRowSerializer``."""


class Found(NamedTuple):
    """A message with all its bytes."""

    row: Row
    data: bytes


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of the chosen messages."""

    count: int
    rows: Sequence[Row]
    number: int
    pages: int
    is_cut: bool = False
    """Whether the run has messages that are not listed."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Of the messages of a run over its overlay (``replay_views``)."""

    overview: Overview
    titles: Mapping[str, str]
    """Of the families of the messages, in their order."""
    rows: str
    """The address of the messages, as of ``/api/runs/ID/datagrams/``."""
    page_size: int
    """The most rows of an answer."""
    begins: bool = False
    """Whether the text of a row is how the datagram begins, not what it says."""
    opens: tuple[int, int] | None = None
    """The message that it shows first: when it was sent, µs, and its place among those sent then; ``None``: the first
    of all."""


class RunMessages(ABC):
    """Of runs of one system."""

    can_replay = False
    """Whether runs with messages have a replay."""

    has_queries = False
    """Whether messages belong to queries, by which they can be chosen."""

    @abstractmethod
    def missing(self, run: Run) -> str:
        """Why the run has no messages; empty if it has."""

    @abstractmethod
    def listed(self, run: Run, choice: Choice, number: int, size: int) -> Listed:
        """One page; a number out of range is the nearest page."""

    @abstractmethod
    def one(self, run: Run, number: int) -> Found | None:
        """``None``: no message has this number. Raises ``NotPossible`` if its bytes are gone."""

    @abstractmethod
    def capture(self, run: Run, choice: Choice) -> Iterator[bytes]:
        """The chosen ones as pcapng. Raises ``NotPossible``."""

    def replay(self, run: Run) -> Replay | None:
        """``None``: nothing is there to be replayed."""
        return None


class FromRecordings(RunMessages):
    """The first ``recorded.MOST_LISTED`` of a run are listed and replayed; captures have all."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.can_replay = bool(lab.families)

    def missing(self, run: Run) -> str:
        if recorded.is_there(run):
            return ""
        none = "This run has no recordings: it was not recorded (record_mb), has not begun, or they were removed."
        return removed_sentence(run) or none

    def listed(self, run: Run, choice: Choice, number: int, size: int) -> Listed:
        first = _first(self._lab, run)
        wanted = [
            (one, parts)
            for one, parts in first.rows
            if recorded.is_chosen(self._lab, one.of, parts, choice, first.servers)
        ]
        pages = max(1, -(-len(wanted) // size))
        number = min(number, pages)
        rows = [self._row(one, parts, first.servers) for one, parts in wanted[(number - 1) * size : number * size]]
        return Listed(len(wanted), rows, number, pages, first.is_cut)

    def one(self, run: Run, number: int) -> Found | None:
        first = _first(self._lab, run)
        if number >= len(first.rows):
            return None
        one, parts = first.rows[number]
        return Found(self._row(one, parts, first.servers), one.of.data)

    def capture(self, run: Run, choice: Choice) -> Iterator[bytes]:
        return recorded.capture(self._lab, run, choice)

    def replay(self, run: Run) -> Replay | None:
        if not self.can_replay or not recorded.is_there(run):
            return None
        first, lab = _first(self._lab, run), self._lab
        if not first.rows:
            return None
        families = dict.fromkeys(lab.families, 0)
        for _, parts in first.rows:
            families[lab.family_of(parts)] += 1
        times = np.array([one.of.at_us for one, _ in first.rows])
        arrivals = np.array([np.nan if one.arrived_us is None else one.arrived_us for one, _ in first.rows])
        found = overview(
            times,
            arrivals,
            families,
            kept_until_us=int(times[-1]) if first.is_cut else None,
            full=first.full,
            brokers={format_address(address): index for address, index in first.servers.items()},
        )
        titles = {name: title for name, (title, _) in lab.families.items()}
        return Replay(found, titles, f"/api/runs/{run.pk}/datagrams/", 1_000, opens=_opens(lab, first))

    def _row(self, passage: Passage, parts: Sequence[bytes], servers: Mapping[Address, int]) -> Row:
        lab, one = self._lab, passage.of
        return {
            "number": one.number,
            "at_us": one.at_us,
            "arrived_us": passage.arrived_us,
            "sender": servers.get(one.source),
            "receiver": servers.get(one.to),
            "sender_address": format_address(one.source),
            "receiver_address": format_address(one.to),
            "code": recorded.codes_of(lab, parts)[0],
            "kind": ", ".join(dict.fromkeys(map(lab.name_of, parts))),
            "family": lab.family_of(parts),
            "bytes": len(one.data),
            "lost": passage.is_lost,
            "query": None,
            "text": visible("; ".join(map(lab.summary, parts))),
        }


def _opens(lab: Lab, first: _First) -> tuple[int, int] | None:
    """The first message of a client that asks for something or tells something, behind registrations and sessions."""
    place, before_us = 0, -1
    for one, parts in first.rows:
        place = place + 1 if one.of.at_us == before_us else 0
        before_us = one.of.at_us
        if one.of.source not in first.servers and lab.family_of(parts) in OPENING:
            return before_us, place
    return None


class _First(NamedTuple):
    """The first datagrams of a run."""

    rows: Sequence[tuple[Passage, tuple[bytes, ...]]]
    """Each with what it is read as."""
    servers: Mapping[Address, int]
    is_cut: bool
    full: Sequence[str]


def _first(lab: Lab, run: Run) -> _First:
    """Raises ``NotPossible``."""
    files = recorded.files_of(run)
    sizes = tuple((str(path), path.stat().st_size) for path in recordings_in(files.journal_directory))
    return _read(lab, files, sizes)


@lru_cache(maxsize=2)
def _read(lab: Lab, files: RunFiles, sizes: tuple[tuple[str, int], ...]) -> _First:
    """Again when they have grown: a replay asks for many parts of one run. Each takes some 10 MB."""
    try:
        recordings = recordings_of(files)
    except TelemetryError as error:
        raise NotPossible(str(error)) from None
    found, is_cut = passages(recordings, recorded.MOST_LISTED)
    parts_of = lab.follow()
    rows = [(one, parts_of(one.of.data)) for one in found]
    full = [one.begin.name for one in recordings if one.end == What.FULL]
    return _First(rows, recorded.indices(recordings), is_cut, full)
