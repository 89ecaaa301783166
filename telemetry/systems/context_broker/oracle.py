"""The oracle: judges each answer by the data that had been provided. Pure.

Counterparts: ``overlay.systems.context_broker.clients.scheduled`` writes the samples of both sides;
``telemetry.collect`` calls it for the samples of a run, and ``score`` for those of a simulation. A request is compared
with the updates of its entity::

    an update of stamp s sent ── acknowledged by broker b ────────────────────────> s + valid_ms, or b's end
                                        |<──── there is a value, and s is the newest ────>|

    request sent ── answered with stamp e ──> e against the newest s acknowledged before the sending
                 └─ NACK 202 ───────────────> was a value there from the sending until the NACK came?

Undecidable cases count in favour of the brokers: an update in transit when the request was sent need not be known,
and a value that expired, or whose broker ended, before the NACK arrived need not be found. A replica may outlive its
broker; not finding it is no error. In the structured arm, too, a value is held by the broker that acknowledged it,
wherever that broker stored it: losing it while that broker is alive is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from overlay.journal.facts import OUTCOMES, Event, Sample
from telemetry.statistics.metrics import Numbers
from telemetry.summary.truths import TRUTHS, account
from telemetry.systems.context_broker.names import broker_index

NEVER = np.iinfo(np.int64).max
NOT_AT_ALL = np.iinfo(np.int64).min

_ANSWERED, _NOT_FOUND, _REFUSED, _TIMED_OUT = (
    OUTCOMES.index(name) for name in ("answered", "not_found", "refused", "timed_out")
)
_FRESH, _STALE, _EXPIRED, _FALSE, _PROVED, _LOST, _TURNED_DOWN = range(len(TRUTHS))

Lives = Mapping[int, Sequence[tuple[int, int]]]
"""By broker: the spans ``[from, to)`` in µs in which it kept its data; brokers that are missing always did."""

_OPENS = ("process_started", "NeighbourJoined")
_LEFT_BY_CHURN = ("churn_left", "churn_crashed")
"""The supervisor's own events, which are exact; a broker reports its leave up to a second after its start."""
_ENDS = ("process_ended", "NetworkLeft", *_LEFT_BY_CHURN)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of the samples."""

    valid_ms: int
    """The validity of provided values from their timestamp, as in the workload."""
    zero_unix_us: int
    """The origin of the samples' times, Unix microseconds."""
    lives: Lives = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Samples of both roles, one array per column."""

    is_request: Numbers
    outcome: Numbers
    """Index in ``OUTCOMES``."""
    entity: Numbers
    """A number for each entity."""
    broker: Numbers
    sent_us: Numbers
    ended_us: Numbers
    stamp_ms: Numbers
    """``entry_timestamp_ms``: of the returned entry, or of the acknowledged update."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """One value per sample; updates have no verdict."""

    truth: Numbers
    """Index in ``TRUTHS``, -1 for an update."""
    stale_ms: Numbers
    """How much an answer's timestamp is older than the newest acknowledged one at the request; -1 without an answer."""
    existed: Numbers
    """Whether a value existed; for lost and refused requests, when they were sent."""

    def words(self) -> list[str | None]:
        return [TRUTHS[index] if index >= 0 else None for index in self.truth.tolist()]


def lives_of(events: Iterable[Event]) -> dict[int, list[tuple[int, int]]]:
    """When each broker held data, from the reports of the supervisor and of the broker; initially alive.

    When a process ends, its table is lost; when it leaves the network, its table is out of reach.
    """
    lives: dict[int, list[tuple[int, int]]] = {}
    began: dict[int, int | None] = {}
    for event in sorted(events, key=lambda one: one.at_us):
        broker = _broker_of(event)
        if broker is None or event.name not in _OPENS + _ENDS:
            continue
        since = began.setdefault(broker, NOT_AT_ALL)
        spans = lives.setdefault(broker, [])
        if event.name in _ENDS and since is not None:
            spans.append((since, event.at_us))
            began[broker] = None
        elif event.name in _OPENS and since is None:
            began[broker] = event.at_us
    for broker, since in began.items():
        if since is not None:
            lives[broker].append((since, NEVER))
    return lives


def _broker_of(event: Event) -> int | None:
    if event.name in _LEFT_BY_CHURN:
        return int(event.detail["broker"])
    return broker_index(str(event.detail.get("process") or event.process))


def judge(samples: Columns, conditions: Conditions) -> Judged:
    """The verdict on every request, and whether a value existed."""
    outcome, ended, zero_us, valid_ms = samples.outcome, samples.ended_us, conditions.zero_unix_us, conditions.valid_ms
    newest_ms, held_until = _known(samples, conditions)

    behind = np.where(newest_ms > 0, np.maximum(0, newest_ms - samples.stamp_ms), 0)
    is_late = (ended + zero_us) // 1000 > samples.stamp_ms + valid_ms
    answer = np.where(is_late, _EXPIRED, np.where(behind > 0, _STALE, _FRESH))
    refusal = np.where(held_until > ended, _FALSE, _PROVED)
    cases = [~samples.is_request, outcome == _ANSWERED, outcome == _NOT_FOUND, outcome == _REFUSED]
    truth = np.select(cases, [np.full(len(outcome), -1), answer, refusal, np.full(len(outcome), _TURNED_DOWN)], _LOST)

    is_answer = samples.is_request & (outcome == _ANSWERED)
    looked_until = np.where((outcome == _TIMED_OUT) | (outcome == _REFUSED), samples.sent_us, ended)
    existed = (truth == _FRESH) | (truth == _STALE) | (samples.is_request & (held_until > looked_until))
    return Judged(truth, np.where(is_answer, behind, -1), existed)


def _known(samples: Columns, conditions: Conditions) -> tuple[Numbers, Numbers]:
    """By request: the newest timestamp (ms; 0: none) of its entity, and until when a value is held (µs).

    Both are over updates acknowledged before it was sent.
    """
    newest_ms = np.zeros(len(samples.outcome), np.int64)
    held_until = np.full(len(samples.outcome), NOT_AT_ALL)
    told = np.flatnonzero(~samples.is_request & (samples.outcome == _ANSWERED))
    told = told[np.argsort(samples.ended_us[told], kind="stable")]
    acknowledged, stamps, until = samples.ended_us[told], *_values(samples, told, conditions)
    updates = dict(_by_entity(samples.entity[told]))
    asked = np.flatnonzero(samples.is_request)
    for entity, here in _by_entity(samples.entity[asked]):
        if (of_it := updates.get(entity)) is None:
            continue
        at = asked[here]
        before = np.searchsorted(acknowledged[of_it], samples.sent_us[at], side="left")
        at, last = at[before > 0], before[before > 0] - 1
        newest_ms[at] = np.maximum.accumulate(stamps[of_it])[last]
        held_until[at] = np.maximum.accumulate(until[of_it])[last]
    return newest_ms, held_until


def _values(samples: Columns, told: Numbers, conditions: Conditions) -> tuple[Numbers, Numbers]:
    """For each acknowledged update: its timestamp (ms), and until when its value is held (µs)."""
    sent_ms = (samples.sent_us[told] + conditions.zero_unix_us) // 1000
    stamps = np.where(samples.stamp_ms[told] > 0, samples.stamp_ms[told], sent_ms)
    valid_until = (stamps + conditions.valid_ms) * 1000 - conditions.zero_unix_us
    alive_until = _alive_until(samples.broker[told], samples.ended_us[told], conditions.lives)
    return stamps, np.minimum(valid_until, alive_until)


def _alive_until(broker: Numbers, at: Numbers, lives: Lives) -> Numbers:
    """Until when each of these brokers kept a value received at that time; not at all if it was gone."""
    until = np.full(len(at), NEVER)
    for index, spans in lives.items():
        here = broker == index
        begins, ends = np.array(spans).T
        span = np.searchsorted(begins, at[here], side="right") - 1
        is_inside = (span >= 0) & (at[here] < ends[span])
        until[here] = np.where(is_inside, ends[span], NOT_AT_ALL)
    return until


def _by_entity(entities: Numbers) -> Iterator[tuple[int, Numbers]]:
    """The positions of each entity, in order."""
    order = np.argsort(entities, kind="stable")
    names, starts = np.unique(entities[order], return_index=True)
    return zip(names.tolist(), np.split(order, starts[1:]), strict=True) if len(names) else iter(())


def columns_of(samples: Sequence[Sample]) -> Columns:
    """Columns from the samples of clients."""
    numbers: dict[str, int] = {}
    rows = [
        (
            sample.role == "consumer",
            OUTCOMES.index(sample.outcome),
            numbers.setdefault(sample.entity, len(numbers)),
            sample.broker,
            sample.sent_us,
            sample.ended_us,
            sample.entry_timestamp_ms,
        )
        for sample in samples
    ]
    is_request, *rest = np.array(rows, np.int64).reshape(-1, 7).T
    return Columns(is_request.astype(bool), *rest)


def score(samples: Iterable[Sample], conditions: Conditions) -> dict[str, Any]:
    """``account`` of the requests intended in measuring, the ``truth`` of a run's summary, for a simulation.

    ::

        overlay.add_clients(workload)
        overlay.run_for(60 * SECOND)
        score(overlay.samples(), Conditions(workload.valid_ms, overlay.zero_unix_us, lives_of(overlay.happened)))
    """
    known = list(samples)
    judged = judge(columns_of(known), conditions)
    is_measured = np.array([sample.phase == "measuring" for sample in known], bool) & (judged.truth >= 0)
    counts = np.bincount(judged.truth[is_measured], minlength=len(TRUTHS)).tolist()
    is_stale = is_measured & (judged.truth == _STALE)
    existed = int(judged.existed[is_measured].sum())
    return account(dict(zip(TRUTHS, counts, strict=True)), judged.stale_ms[is_stale], existed)
