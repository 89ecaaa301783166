"""What a replay found, in words. Counterpart: ``overlay.sim.replay``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overlay.core.addresses import format_address
from overlay.journal.recording import Record, What

OF_LOG = {
    What.ASSIGNED: "partitions were assigned",
    What.REVOKED: "partitions were revoked",
    What.READ: "records were read",
    What.DURABLE: "appends were durable",
}
"""The inputs of the log, in words."""
SHOWN_BYTES = 160
"""Maximum bytes of a datagram in a sentence."""

Output = tuple[Any, ...]
"""What a server did: one of ``OUTPUTS``, and the fields of its record without the time."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of a replay."""

    broker: str
    at_ns: int
    """Since the deployment's zero."""
    recorded: Output | None
    replayed: Output | None
    """``None`` if there was none."""
    before: tuple[str, ...]
    """The last inputs before it, in words, the newest last."""
    by_other_code: bool
    """Whether the broker's code has changed since the recording, which may explain the difference."""

    def __str__(self) -> str:
        lines = [
            f"{self.broker} differs {self.at_ns / 1e9:.6f} s after the deployment's zero:",
            f"  recorded {_output_in_words(self.recorded)}",
            f"  replayed {_output_in_words(self.replayed)}",
            "  the last inputs before it:",
        ]
        lines += [f"    {line}" for line in self.before]
        if self.by_other_code:
            lines.append("  The broker's code has changed since the recording.")
        return "\n".join(lines)


def input_in_words(record: Record) -> str:
    what, *fields = record
    if what == What.RECEIVED:
        _, host, port, data = fields
        return f"received {_shown(data)} from {format_address((host, port))}"
    if what == What.STREAMED:
        return f"received {_shown(fields[2])} on connection {fields[1]}"
    if what in (What.OPENED, What.CLOSED):
        return f"connection {fields[1]} {'began' if what == What.OPENED else 'ended'}"
    if what == What.CLOCK:
        return f"its wall clock was set to {fields[0]} ns ahead"
    if what in OF_LOG:
        return f"{OF_LOG[what]}: " + (", ".join(map(_part_in_words, fields[1])) or "none")
    if what == What.FAULT:
        return f"a fault {'began' if fields[2] else 'ended'}: {fields[1]:.{SHOWN_BYTES}}"
    return {
        What.TIMER: "its timer was due",
        What.COUNTED: "its statistics were read",
        What.TRACED: "its traces were collected",
        What.LEAVING: "it was ordered to leave",
        What.USAGE: "it was told what its process uses",
    }[What(what)]


def _output_in_words(output: Output | None) -> str:
    if output is None:
        return "nothing"
    what, *fields = output
    if what == What.SENT:
        host, port, data = fields
        return f"{_shown(data)} to {format_address((host, port))}"
    if what == What.WRITTEN:
        return f"{_shown(fields[1])} to connection {fields[0]}"
    if what == What.ENDS:
        return f"connection {fields[0]} closed"
    if what == What.APPENDED:
        topic, key, value = fields
        return f"{_shown(value)} with the key {_shown(key)} appended to {topic}"
    topic, group, partition, position = fields
    return f"position {position} of {topic}, partition {partition}, committed for {group}"


def _part_in_words(part: tuple[Any, ...]) -> str:
    """Of an input of the log."""
    return " ".join(_shown(one) if isinstance(one, bytes) else str(one) for one in part)


def _shown(data: bytes) -> str:
    return f"{data[:SHOWN_BYTES]!r}" + (f" and {len(data) - SHOWN_BYTES} more bytes" if len(data) > SHOWN_BYTES else "")
