"""Recorded runs of a system, and the datagrams of one of them. Counterpart: ``run_messages`` has them for REST."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from django.conf import settings
from django.db.models import QuerySet

from brokerweb.experiments.models import Run
from brokerweb.kit.errors import NotPossible
from brokerweb.wirelab.lab import Lab
from brokerweb.wirelab.services import link_of, visible
from overlay.core.addresses import Address, format_address
from overlay.core.errors import InvalidSetting
from overlay.journal.recording import Recording, recordings_in
from telemetry.errors import TelemetryError
from telemetry.lake.datagrams import Choice, Datagram, datagrams, recordings_of, title_of
from telemetry.lake.datagrams import capture as written
from telemetry.lake.runs import RunFiles

RUNS_OFFERED = 25
PAGE = 50
MOST_LISTED = 20_000
"""Datagrams of a run that its page reads; its capture has all."""
MOST_DIGITS = 12
MOST_US = 10**11
"""Of a time within a run: a day and a little."""
_BOUNDS = {"from_us": (0, MOST_US), "to_us": (0, MOST_US), "code": (-1, 255), "broker": (0, 999_999)}
"""The parameters of a choice that are numbers."""


@dataclass(frozen=True, slots=True)
class Row:
    """A datagram in a list."""

    number: int
    at_us: int
    source: str
    to: str
    name: str
    size: int
    summary: str
    link: str
    """The query of the page that decodes it; empty if it is too long."""
    joined: tuple[str, ...] = ()
    """Messages that it completes and that began in earlier ones, as hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class Page:
    rows: Sequence[Row]
    number: int
    has_more: bool
    is_cut: bool
    """Whether the run has datagrams that are not listed."""

    @property
    def previous(self) -> int:
        return self.number - 1

    @property
    def next(self) -> int:
        return self.number + 1


def whole(name: str, text: str, low: int, high: int) -> int:
    """A whole number within bounds. Raises ``InvalidSetting``."""
    digits = text.removeprefix("-") if low < 0 else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS) or not low <= int(text) <= high:
        raise InvalidSetting(name, f"must be a whole number from {low} to {high}, not {text!r:.40}")
    return int(text)


def choice_of(given: Mapping[str, str]) -> Choice:
    """What an address asks for; what is left out or empty does not restrict. Raises ``InvalidSetting``."""
    wanted = {name: whole(name, given[name], *bounds) for name, bounds in _BOUNDS.items() if given.get(name)}
    return replace(Choice(), query=given.get("query") or None, **wanted)


def files_of(run: Run) -> RunFiles:
    return RunFiles(settings.RUNS / run.pk)


def runs(system: str) -> QuerySet[Run]:
    """All that were to be recorded."""
    return Run.objects.filter(configuration__record_mb__gt=0, system=system)


def recent(system: str) -> QuerySet[Run]:
    """The newest of them."""
    return runs(system).select_related("experiment").defer("configuration", "summary", "observed")[:RUNS_OFFERED]


def is_there(run: Run) -> bool:
    """Whether it has recordings."""
    return bool(recordings_in(files_of(run).journal_directory))


def row_of(
    lab: Lab, number: int, at_us: int, ends: tuple[Address, Address], data: bytes, parts: Sequence[bytes]
) -> Row:
    """``parts``: what ``data`` is read as (``Lab.follow``)."""
    source, to = map(format_address, ends)
    names = ", ".join(dict.fromkeys(map(lab.name_of, parts)))
    joined = tuple(part.hex() for part in parts if part not in data)
    told = visible("; ".join(map(lab.summary, parts)))
    return Row(number, at_us, source, to, names, len(data), told, link_of(data), joined)


def read(lab: Lab, found: Iterable[Datagram]) -> Iterator[tuple[Datagram, tuple[bytes, ...]]]:
    """Each datagram with what it is read as."""
    parts_of = lab.follow()
    return ((one, parts_of(one.data)) for one in found)


def page(lab: Lab, run: Run, number: int, code: int | None) -> Page:
    """One page of the datagrams, of one kind if ``code`` is given. Raises ``NotPossible`` without recordings."""
    found = _recorded(run)
    all_read = read(lab, islice(found, MOST_LISTED))
    wanted = (pair for pair in all_read if code is None or code in codes_of(lab, pair[1]))
    rows = list(islice(wanted, (number - 1) * PAGE, number * PAGE + 1))
    shown = [row_of(lab, one.number, one.at_us, (one.source, one.to), one.data, parts) for one, parts in rows[:PAGE]]
    has_more = len(rows) > PAGE
    return Page(shown, number, has_more, not has_more and next(found, None) is not None)


def message(run: Run, number: int) -> bytes | None:
    """The bytes of one datagram; ``None`` if the run has no such number. Raises ``NotPossible``."""
    return next((one.data for one in islice(_recorded(run), MOST_LISTED) if one.number == number), None)


def _recorded(run: Run) -> Iterator[Datagram]:
    try:
        return datagrams(recordings_of(files_of(run)))
    except TelemetryError as error:
        raise NotPossible(str(error)) from None


def capture(lab: Lab, run: Run, choice: Choice | None = None) -> Iterator[bytes]:
    """The chosen datagrams, by default all, as pcapng. Raises ``NotPossible``."""
    files = files_of(run)
    try:
        recordings = recordings_of(files)
    except TelemetryError as error:
        raise NotPossible(str(error)) from None
    wanted: Iterable[Datagram] = datagrams(recordings)
    if choice is not None:
        servers = indices(recordings)
        wanted = (one for one, parts in read(lab, wanted) if is_chosen(lab, one, parts, choice, servers))
    return written(recordings, wanted, title_of(files), lab.name_of)


def indices(recordings: Sequence[Recording]) -> dict[Address, int]:
    """Of the servers that recorded, by address."""
    return {one.begin.address: one.begin.index for one in recordings}


def is_chosen(lab: Lab, one: Datagram, parts: Sequence[bytes], choice: Choice, servers: Mapping[Address, int]) -> bool:
    """``parts``: what it is read as."""
    if not choice.from_us <= one.at_us < choice.to_us:
        return False
    if choice.broker is not None and choice.broker not in (servers.get(one.source), servers.get(one.to)):
        return False
    return choice.code is None or choice.code in codes_of(lab, parts)


def codes_of(lab: Lab, parts: Sequence[bytes]) -> list[int]:
    """-1: unreadable."""
    codes = [lab.code_of(part) for part in parts]
    return [-1 if code is None else code for code in codes]


def capture_name(run: Run) -> str:
    return f"messages-{run.pk}{'-simulated' if run.engine == 'simulated' else ''}.pcapng"
