"""The newest acknowledged updates of each broker, from the journals of providers.

Counterparts: load generators write a ``Sample`` of each update; ``telemetry.systems.context_broker.entries`` infers
the broker's data from it. Only the end of a long journal is read, which contains the newest updates of all
entities.
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
"""Maximum bytes read at the first look: about twenty thousand samples."""
_OTHERS = (BROKER, "consumers-", "supervisor")
"""Processes whose journals have no samples of providers."""


class Updates:
    """Follows the journals of a run's providers, or the one of all processes of a simulated run."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        self._tails: dict[Path, EndTail] = {}
        self._words: dict[int, Words] = defaultdict(Words)

    def advance(self) -> None:
        """Read new samples."""
        for path in self._files.journals():
            if path.name.startswith(_OTHERS):
                continue
            tail = self._tails.setdefault(path, EndTail(path, (Sample,), MOST_BYTES))
            for sample in tail.read_new():
                if sample.role == "provider" and sample.outcome == "answered":
                    self._words[sample.broker].add(_word(sample))

    def of(self, broker: int) -> Sequence[Word]:
        """The updates acknowledged by this broker."""
        return tuple(self._words[broker]) if broker in self._words else ()


def _word(sample: Sample) -> Word:
    return Word(sample.entity, UPDATE, sample.ended_us, f"provider-{sample.client}", sample.entry_timestamp_ms)
