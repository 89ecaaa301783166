"""Messages of a recorded run for REST: by default from its recordings, else as its system has collected them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from brokerweb.experiments.models import Run
from brokerweb.kit.errors import NotPossible
from brokerweb.retention.services import removed_sentence
from brokerweb.wirelab import recorded
from brokerweb.wirelab.lab import Lab
from brokerweb.wirelab.services import visible
from overlay.core.addresses import Address, format_address
from telemetry.errors import TelemetryError
from telemetry.lake.datagrams import Choice, Datagram, datagrams, recordings_of

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


class RunMessages(ABC):
    """Of runs of one system."""

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


class FromRecordings(RunMessages):
    """The first ``recorded.MOST_LISTED`` of a run are listed; captures have all."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def missing(self, run: Run) -> str:
        if recorded.is_there(run):
            return ""
        none = "This run has no recordings: it was not recorded (record_mb), has not begun, or they were removed."
        return removed_sentence(run) or none

    def listed(self, run: Run, choice: Choice, number: int, size: int) -> Listed:
        found, servers = _recorded(run)
        first = recorded.read(self._lab, islice(found, recorded.MOST_LISTED))
        wanted = [(one, parts) for one, parts in first if recorded.is_chosen(self._lab, one, parts, choice, servers)]
        pages = max(1, -(-len(wanted) // size))
        number = min(number, pages)
        rows = [self._row(one, parts, servers) for one, parts in wanted[(number - 1) * size : number * size]]
        return Listed(len(wanted), rows, number, pages, next(found, None) is not None)

    def one(self, run: Run, number: int) -> Found | None:
        found, servers = _recorded(run)
        if number >= recorded.MOST_LISTED:
            return None
        pair = next(islice(recorded.read(self._lab, found), number, None), None)
        return pair and Found(self._row(*pair, servers), pair[0].data)

    def capture(self, run: Run, choice: Choice) -> Iterator[bytes]:
        return recorded.capture(self._lab, run, choice)

    def _row(self, one: Datagram, parts: Sequence[bytes], servers: dict[Address, int]) -> Row:
        lab = self._lab
        return {
            "number": one.number,
            "at_us": one.at_us,
            "arrived_us": None,
            "sender": servers.get(one.source),
            "receiver": servers.get(one.to),
            "sender_address": format_address(one.source),
            "receiver_address": format_address(one.to),
            "code": recorded.codes_of(lab, parts)[0],
            "kind": ", ".join(dict.fromkeys(map(lab.name_of, parts))),
            "bytes": len(one.data),
            "lost": None,
            "query": None,
            "text": visible("; ".join(map(lab.summary, parts))),
        }


def _recorded(run: Run) -> tuple[Iterator[Datagram], dict[Address, int]]:
    try:
        recordings = recordings_of(recorded.files_of(run))
    except TelemetryError as error:
        raise NotPossible(str(error)) from None
    return datagrams(recordings), recorded.indices(recordings)
