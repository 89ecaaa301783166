"""What providers wrote to which broker, as their own journals tell: the newest updates that brokers acknowledged.

Counterparts: load generators write a ``Sample`` of each update; ``telemetry.systems.context_broker.entries`` says what
it tells of a broker's table. Of a long journal only the end is read, which holds the newest of everything that is
updated at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from overlay.journal.facts import Sample
from telemetry.lake.journal_ends import EndTail
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker.entries import UPDATE, Word, Words
from telemetry.systems.context_broker.names import BROKER

MOST_BYTES = 2 << 20
"""So much of a journal's end is read at the first look: some twenty thousand samples."""
_OTHERS = (BROKER, "consumers-", "supervisor")
"""Whose own journals hold no provider's samples."""


class Updates:
    """Follows the journals of a run's providers, or the one of all processes of a simulated run."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        self._tails: dict[Path, EndTail] = {}
        self._words: dict[int, Words] = defaultdict(Words)

    def advance(self) -> None:
        """Read what was flushed since the last call."""
        for path in self._files.journals():
            if path.name.startswith(_OTHERS):
                continue
            tail = self._tails.setdefault(path, EndTail(path, (Sample,), MOST_BYTES))
            for sample in tail.read_new():
                if sample.role == "provider" and sample.outcome == "answered":
                    self._words[sample.broker].add(_word(sample))

    def of(self, broker: int) -> Sequence[Word]:
        """Those that this broker acknowledged."""
        return tuple(self._words[broker]) if broker in self._words else ()


def _word(sample: Sample) -> Word:
    return Word(sample.entity, UPDATE, sample.ended_us, f"provider-{sample.client}", sample.entry_timestamp_ms)
