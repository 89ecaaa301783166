"""The messages of a sender, from the instant at which they are due to their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from overlay.journal.facts import ClientFact, Sample
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.contextnet.names import answer_id
from overlay.systems.contextnet.rows import entity

US = 1_000
"""Nanoseconds."""


class Waiting(NamedTuple):
    """Monotonic ns."""

    node: int
    order: int
    """Of the message among those of this node and direction, from 0."""
    intended: int
    sent: int
    server: int


class Open:
    def __init__(self, role: str, number: int, windows: Windows, tally: Tally) -> None:
        """``role`` and ``number`` of the sender."""
        self._role, self._number, self._windows, self._tally = role, number, windows, tally
        self._waiting: dict[bytes, tuple[bytes, Waiting]] = {}
        """By the id of the answer."""
        self._facts: list[ClientFact] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def sent(self, id: bytes, waiting: Waiting) -> None:
        self._tally.started(waiting.sent - waiting.intended)
        self._waiting[answer_id(id)] = id, waiting

    def refused(self, id: bytes, now: int) -> None:
        """It could not even wait."""
        self._end(answer_id(id), "refused", now)

    def answered(self, answer: bytes, now: int) -> None:
        """``answer``: an id. No effect if it came already."""
        if answer in self._waiting:
            self._end(answer, "answered", now)

    def abandon(self, now: int) -> None:
        for answer in list(self._waiting):
            self._end(answer, "timed_out", now)

    def facts(self) -> Sequence[ClientFact]:
        facts, self._facts = self._facts, []
        return facts

    def _end(self, answer: bytes, outcome: str, now: int) -> None:
        id, one = self._waiting.pop(answer)
        windows, us = self._windows, self._us
        phase = "measuring" if one.intended >= windows.measuring else "warming"
        times = us(one.intended), us(one.sent), us(now)
        name = entity(id, one.node, one.order)
        self._facts.append(Sample(self._role, self._number, one.server, phase, outcome, 0, 1, *times, name, 0))
        self._tally.ended(outcome, attempts=1)

    def _us(self, now: int) -> int:
        return (now - self._windows.zero) // US


class Stream(Iterator[tuple[int, int]]):
    """The instants at which messages are due, one by one, with their order."""

    def __init__(self, due: Iterator[int], start: int) -> None:
        """``due``: ns after ``start``."""
        self._due, self._start = enumerate(due), start
        self._next: tuple[int, int] | None = None
        self._step()

    @property
    def next_due(self) -> int | None:
        """Monotonic ns; ``None``: there are no more."""
        return None if self._next is None else self._next[1]

    def __next__(self) -> tuple[int, int]:
        """The order and the instant of the next one."""
        if self._next is None:
            raise StopIteration
        found = self._next
        self._step()
        return found

    def stop(self) -> None:
        self._due, self._next = enumerate(()), None

    def _step(self) -> None:
        found = next(self._due, None)
        self._next = None if found is None else (found[0], self._start + found[1])
