"""What the command prints: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from waxwing.records import Record, Records, Run
from waxwing.waiting import left_s, progress_of

_UNSAFE = re.compile("[\x7f-\x9f\ud800-\udfff]")
"""What JSON may have as it is, but terminals obey, or UTF-8 cannot have."""


def json_of(value: Any, indent: int | None = None) -> str:
    """On a terminal it is only text, too."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def show(found: Any, *, as_json: bool) -> None:
    """A record, several, or text. As JSON, everything that the server answered."""
    if as_json:
        sys.stdout.write(json_of(raw(found)) + "\n")
    elif isinstance(found, list):
        sys.stdout.write(table(found))
    elif isinstance(found, str):
        found = found if found.endswith("\n") else found + "\n"
        sys.stdout.write(text_of(found) if sys.stdout.isatty() else found)
    elif found is not None:
        sys.stdout.write(lines(found))


def document(content: bytes, kind: str) -> None:
    """A body as it came; JSON is indented on a terminal, which control characters never reach."""
    sys.stdout.flush()
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(content)
    elif "json" in kind and content:
        sys.stdout.write(json_of(json.loads(content), indent=2) + "\n")
    else:
        sys.stdout.write(text_of(content.decode(errors="replace")) + "\n")


def raw(found: Any) -> Any:
    if isinstance(found, Record):
        return {**found.raw, **({"etag": etag} if (etag := getattr(found, "etag", "")) else {})}
    return [raw(one) for one in found] if isinstance(found, list) else found


def line(row: Any) -> None:
    """One JSON document."""
    sys.stdout.write(json_of(row) + "\n")


def words(values: Iterable[Any]) -> str:
    """A line of what is not empty."""
    return "  ".join(filter(None, map(printable, values))) + "\n"


def lines(found: Record | Mapping[str, Any]) -> str:
    """One ``name value`` line each."""
    rows = found.items() if isinstance(found, Mapping) else _fields(found)
    return "".join(f"{name:<16} {printable(value)}\n" for name, value in rows if value not in (None, "", (), {}))


def _fields(found: Record) -> list[tuple[str, Any]]:
    """Without the text of a payload that is shown as pairs."""
    has_pairs = getattr(found, "payload", None) is not None
    shown = [(one.name, getattr(found, one.name)) for one in fields(found) if one.repr]
    return [(name, "" if name == "text" and has_pairs else value) for name, value in shown]


def table(found: Sequence[Record]) -> str:
    """Columns that are empty in every row are left out."""
    if not found:
        return "none\n"
    rows = [[(name, printable(value)) for name, value in _fields(one)] for one in found]
    kept = [at for at in range(len(rows[0])) if any(row[at][1] for row in rows)]
    cells = [[rows[0][at][0] for at in kept], *([row[at][1] for at in kept] for row in rows)]
    widths = [min(44, max(len(row[at]) for row in cells)) for at in range(len(kept))]
    return "".join("  ".join(map(_cut, row, widths)).rstrip() + "\n" for row in cells)


def _cut(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else f"{text[: width - 1]}…"


def printable(value: Any) -> str:
    """For a terminal, which control characters never reach."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, Mapping):
        value = ";".join(f"{name}={one}" for name, one in value.items())
    elif isinstance(value, tuple):
        value = ", ".join(map(str, value))
    text = "" if value is None else str(value)
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def text_of(text: str) -> str:
    """The same for several lines."""
    return "".join(one if one.isprintable() or one in "\n\t" else repr(one)[1:-1] for one in text)


def say(text: str) -> None:
    sys.stderr.write(f"{text_of(text)}\n")


class Progress:
    """The progress of runs: one line that is rewritten on a terminal, otherwise a line whenever a run has ended."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._over = -1

    def __call__(self, runs: Records[Run]) -> None:
        text, over = told(runs), sum(run.is_over for run in runs)
        if self._is_terminal:
            sys.stderr.write(f"\r\033[K{printable(text)}")
            sys.stderr.flush()
        elif over != self._over:
            say(text)
        self._over = over

    def end(self) -> None:
        """Leave the line."""
        if self._is_terminal and self._over >= 0:
            sys.stderr.write("\n")


def told(runs: Sequence[Run]) -> str:
    """``3 of 12 runs, 31 %, 4 min left (measuring)``"""
    over, left = sum(run.is_over for run in runs), left_s(runs)
    now = next((", ".join(filter(None, (run.state, run.waiting_for))) for run in runs if not run.is_over), "")
    time_left = f", {duration(left)} left" if left is not None else ""
    return f"{over} of {len(runs)} runs, {progress_of(runs):.0%}{time_left}{f' ({now})' if now else ''}"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
