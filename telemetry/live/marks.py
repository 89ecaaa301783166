"""The markers in a run's time charts: phases, faults, and brokers that leave or return. Pure.

Counterparts: ``telemetry.live.window`` feeds it from growing journals, ``telemetry.live.event_words`` has the
labels, and ``static/js/livechart.js`` draws. The number of markers is limited: brokers that leave or return within a
second are one marker, and if there are too many, adjacent seconds are merged, as in
``telemetry.summary.series``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from overlay.faults.faults import BEGAN, ENDED, MAX_FAULTS, RESTART
from overlay.journal.facts import Event
from telemetry.live.event_words import EventWords, kind_of
from telemetry.summary.series import SECOND_US
from telemetry.systems.contract import Wording

PHASE, FAULT, MEMBERSHIP = "phase", "fault", "membership"
MOST = 40
"""Maximum markers of one kind, except faults. A chart could not show more separately."""

Mark = dict[str, Any]
"""``{at_s, until_s, label, kind}``, in seconds since the deployment's zero. ``until_s`` is ``None`` for an instant; an
active fault lasts until now."""


@dataclass(slots=True)
class _Fault:
    detail: Mapping[str, Any]
    at_s: float
    until_s: float | None = None


@dataclass(slots=True)
class _Changes:
    """Brokers with the same change within one step."""

    at_s: float
    until_s: float
    count: int = 0
    brokers: set[str] = field(default_factory=set)
    """Process names or addresses."""

    def absorb(self, other: _Changes) -> _Changes:
        at_s, until_s = min(self.at_s, other.at_s), max(self.until_s, other.until_s)
        return _Changes(at_s, until_s, self.count + other.count, self.brokers | other.brokers)


class Marks:
    """The markers of one run, from its events in roughly chronological order."""

    def __init__(self, words: EventWords, most: int = MOST) -> None:
        self._words, self._most = words, most
        self._phases: list[Mark] = []
        self._faults: list[_Fault] = []
        self._step_s = 1
        self._changes: dict[tuple[str, int], _Changes] = {}
        """By label and step."""
        self._lost: set[str] = set()
        """Addresses of brokers already reported as lost; later reports by other neighbours are ignored."""

    def take(self, event: Event) -> None:
        kind, at_s = kind_of(event.name, event.detail), event.at_us / SECOND_US
        wording = self._words.wording(kind)
        if event.name == BEGAN:
            if len(self._faults) < MAX_FAULTS:
                self._faults.append(_Fault(event.detail, at_s))
        elif event.name == ENDED:
            self._end(event.detail, at_s)
        elif event.name == "phase":
            self._enter(wording.label, at_s)
        elif (neighbour := str(event.detail.get("neighbour") or "")) and self._is_known(wording, neighbour):
            return
        elif wording.label:
            label = wording.label.replace("{other}", "{who}")
            self._change(label, at_s, neighbour or self._words.subject_of(event.process, event.detail))

    def shown(self, now_s: float) -> list[Mark]:
        """All of them in the order of time."""
        marks = [*self._phases, *(_of_fault(fault, now_s) for fault in self._faults), *self._memberships()]
        return sorted(marks, key=lambda mark: mark["at_s"])

    def _enter(self, label: str, at_s: float) -> None:
        if label and len(self._phases) < self._most:
            self._phases.append(_mark(at_s, None, label, PHASE))

    def _end(self, detail: Mapping[str, Any], at_s: float) -> None:
        fault = next((one for one in self._faults if one.until_s is None and one.detail == detail), None)
        if fault is not None:
            fault.until_s = at_s

    def _is_known(self, wording: Wording, neighbour: str) -> bool:
        was_lost, is_lost = neighbour in self._lost, wording.is_loss
        (self._lost.add if is_lost else self._lost.discard)(neighbour)
        return was_lost == is_lost

    def _change(self, label: str, at_s: float, broker: str) -> None:
        self._put(label, _Changes(at_s, at_s, 1, {broker}))
        while len(self._changes) > self._most:
            self._step_s *= 2
            earlier, self._changes = self._changes, {}
            for (before, _), changes in earlier.items():
                self._put(before, changes)

    def _put(self, label: str, changes: _Changes) -> None:
        key = label, int(changes.at_s // self._step_s)
        self._changes[key] = self._changes[key].absorb(changes) if key in self._changes else changes

    def _memberships(self) -> list[Mark]:
        merged: list[tuple[str, _Changes]] = []
        newest: dict[str, int] = {}
        for (label, _), changes in sorted(self._changes.items(), key=lambda item: item[1].at_s):
            at = newest.get(label)  # merge changes in adjacent steps that are close to each other
            if at is not None and changes.until_s - merged[at][1].at_s <= self._step_s:
                merged[at] = label, merged[at][1].absorb(changes)
            else:
                newest[label] = len(merged)
                merged.append((label, changes))
        return [self._of_changes(label, changes) for label, changes in merged]

    def _of_changes(self, label: str, changes: _Changes) -> Mark:
        text = label.format(who=self._words.together([self._words.process_at(one) for one in changes.brokers]))
        if changes.count > len(changes.brokers):
            text += f", {changes.count} times"
        return _mark(changes.at_s, changes.until_s if changes.until_s - changes.at_s > 1 else None, text, MEMBERSHIP)


def marks_of(events: Iterable[Event], words: EventWords) -> list[Mark]:
    """The markers of a completed run, from all its events in any order."""
    marks, last_us = Marks(words), 0
    for event in sorted(events, key=lambda one: one.at_us):
        marks.take(event)
        last_us = event.at_us
    return marks.shown(last_us / SECOND_US)


def _of_fault(fault: _Fault, now_s: float) -> Mark:
    until_s = None if fault.detail.get("what") == RESTART else fault.until_s or max(now_s, fault.at_s)
    return _mark(fault.at_s, until_s, str(fault.detail.get("label", "")), FAULT)


def _mark(at_s: float, until_s: float | None, label: str, kind: str) -> Mark:
    return {"at_s": at_s, "until_s": until_s, "label": label, "kind": kind}
