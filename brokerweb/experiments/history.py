"""The event log of a run: state changes from rows, and events from the journals of its processes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from telemetry.lake.history import happenings
from telemetry.lake.runs import Lake, RunFiles


@dataclass(frozen=True, slots=True)
class Entry:
    """An event."""

    at: datetime
    process: str
    """``broker-3``, ``supervisor``, …; empty for state changes of the run."""
    name: str
    detail: str
    """Reason; may be empty."""
    data: dict[str, Any]
    """Further data reported by the process."""


def of_run(run: Run) -> list[Entry]:
    """All events of ``run``, oldest first."""
    entries = [Entry(row.at, "", row.name, row.detail, {}) for row in run.events.all()]
    for one in happenings(RunFiles(settings.RUNS / run.pk), Lake(settings.LAKE)):
        at = datetime.fromtimestamp(one.unix_us / 1e6, UTC)
        entries.append(Entry(at, one.process, one.name, str(one.detail.get("reason", "")), one.detail))
    return sorted(entries, key=lambda entry: entry.at)


def said(entry: Entry) -> str:
    """The message of a log line: event, reason and further data."""
    more = {name: value for name, value in entry.data.items() if name != "reason" and value not in ("", None)}
    words = [entry.name, entry.detail, json.dumps(more, ensure_ascii=False, sort_keys=True) if more else ""]
    return " ".join(word for word in words if word)


def as_line(entry: Entry) -> str:
    """A log line: time, process, message. Untrusted text cannot break the line."""
    text = f"{entry.at.isoformat(timespec='milliseconds')} {entry.process or 'run'} {said(entry)}"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text) + "\n"


def by_number(process: str) -> tuple[str, int, str]:
    """``broker-2`` before ``broker-10``."""
    kind, _, number = process.rpartition("-")
    return (kind, int(number), "") if number.isdigit() else (process, 0, "")
