"""Where the time of a request goes, at several rates: runs in which every query is traced, read from their journals.

Brokers and clients of a host share one monotonic clock, so each part is seen as it is::

    intended ── timer ──> sent ── first leg ──> at the broker ── hop ──> at the next ── hop ──> … ── last leg ──> ended

A leg is the service of who sent and the delivery to who received; ``fit`` tells the two apart. How long the receiver
had slept is known from when requests came to it before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from overlay.journal.facts import Sample, Tick, Trace
from overlay.journal.journal import read_journal
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.supervisor_client import SupervisorClient
from telemetry.calibration.live import run
from telemetry.lake.runs import RunFiles
from telemetry.statistics.metrics import Numbers
from telemetry.systems.context_broker.names import BROKER

TRACED = {"trace_one_in": 1, "replication_index": 0, "monitoring": False}
SEED = 20_170_301
CONSUMERS = 10
FAST, FAST_QUIET = "1000 a second", "1000 a second, quiet"


@dataclass(frozen=True)
class Pace:
    """One run: who asks how often. ``duration_s`` is what is measured of it."""

    name: str
    request_interval_s: float
    duration_s: float
    acknowledgements: bool = True


def paces(scale: float) -> list[Pace]:
    """From a thousand requests a second to one; ``scale`` shortens them."""
    rates = [(300, 6), (100, 9), (30, 12), (10, 24), (1, 45)]
    return [
        Pace(FAST, CONSUMERS / 1000, 6 * scale),
        Pace(FAST_QUIET, CONSUMERS / 1000, 6 * scale, acknowledgements=False),
        *(Pace(f"{rate} a second", CONSUMERS / rate, seconds * scale) for rate, seconds in rates),
    ]


@dataclass
class Stages:
    """What the requests of one run have shown. Times in microseconds.

    All but ``back_us`` have two columns, the first of which is for how long, in seconds, the machine had slept before
    the request; in ``last`` the broker itself, in ``relayed`` the client.
    """

    timer: Numbers
    """From the intended instant until the client's process was there to send."""
    first: Numbers
    """From there until the broker asked has read the request."""
    last: Numbers
    """From there until the client has the answer, where that broker gave it itself."""
    hop: Numbers
    """From the asked broker's reading until that of the broker it passed the request on to."""
    back_us: Numbers
    """From that broker's reading until the asked one has read the answer."""
    relayed: Numbers
    """From there until the client has it, who had slept since it asked."""
    fleet_us: float
    """Processor of the consumers' process for a request; the ticks' own too, which counts where requests are few."""


def pooled(parts: Sequence[Stages]) -> Stages:
    """Several runs of one pace as one."""
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("timer", "first", "last", "hop", "back_us", "relayed")
    }
    return Stages(**arrays, fleet_us=float(np.median([part.fleet_us for part in parts])))


@dataclass
class _Query:
    """One request as the brokers saw it: process to microseconds."""

    received: dict[str, int] = field(default_factory=dict)
    answered: dict[str, int] = field(default_factory=dict)
    found_at: str = ""


def observe(client: SupervisorClient, pace: Pace, directory: Path) -> Stages:
    """Run it, and take it apart. Raises ``TelemetryError``."""
    workload = {
        "providers": 1,
        "consumers": CONSUMERS,
        "update_interval_s": 30.0,
        "request_interval_s": pace.request_interval_s,
        "acknowledgements": pace.acknowledgements,
        "duration_s": max(1.0, pace.duration_s),
        "stagger_ms": 1000.0 * pace.request_interval_s / CONSUMERS,
        "assignment": "round-robin",
    }
    document = document_of(
        f"calibrate-{directory.name}",
        directory,
        brokers=2,
        links=[{"a": 0, "b": 1}],
        settings=TRACED,
        workload=workload,
        seed=SEED,
    )
    return take_apart(run(client, document))


def take_apart(files: RunFiles) -> Stages:
    """The stages of a run that was traced."""
    samples, queries, fleet_us = _read(files)
    measured = [sample for sample in samples if sample.phase == "measuring"]
    all_sent = np.array([sample.sent_us for sample in samples], np.float64)
    legs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    holder = next((query.found_at for query in queries if query.found_at), "")
    came_to = {
        broker: all_sent
        if broker == holder
        else np.array([s.sent_us for s in samples if _asked(s) == broker], np.float64)
        for broker in {_asked(sample) for sample in samples} | {holder}
    }
    for sample, query in _joined(measured, queries):
        asked, ended = _asked(sample), sample.ended_us
        at = query.received[asked]
        slept_s = _idle_s(all_sent, sample.sent_us)
        legs["first"].append((slept_s, at - sample.sent_us))
        if query.found_at == asked:
            legs["last"].append((_idle_s(came_to[asked], sample.sent_us), ended - at))
        elif asked in query.answered and query.found_at in query.received:
            found, back = query.received[query.found_at], query.answered[asked]
            legs["hop"].append((slept_s, found - at))
            legs["back"].append((0.0, back - found))
            legs["relayed"].append(((ended - sample.sent_us) / 1e6, ended - back))
    return Stages(
        timer=_table((_idle_s(all_sent, one.intended_us), one.sent_us - one.intended_us) for one in measured),
        first=_table(legs["first"]),
        last=_table(legs["last"]),
        hop=_table(legs["hop"]),
        back_us=_table(legs["back"])[:, 1],
        relayed=_table(legs["relayed"]),
        fleet_us=fleet_us,
    )


def _read(files: RunFiles) -> tuple[list[Sample], list[_Query], float]:
    """The requests in the order of their sending, the queries, and the fleet's processor for a request."""
    samples: list[Sample] = []
    queries: dict[tuple[str, int, str], _Query] = defaultdict(_Query)
    ticks: list[Tick] = []
    for path in files.journals():
        for fact in read_journal(path):
            if isinstance(fact, Sample) and fact.role == "consumer" and fact.outcome == "answered":
                samples.append(fact)
            elif isinstance(fact, Trace):
                _note(queries[fact.consumer, fact.timestamp_ms, fact.entity], fact)
            elif isinstance(fact, Tick) and fact.process.startswith("consumers"):
                ticks.append(fact)
    samples.sort(key=lambda sample: sample.sent_us)
    return samples, list(queries.values()), _fleet_us(ticks)


def _note(query: _Query, trace: Trace) -> None:
    for at, step, *_ in trace.steps:
        if step == "received":
            query.received.setdefault(trace.process, at)
        elif step == "answered":
            query.answered.setdefault(trace.process, at)
        elif step == "found":
            query.found_at = trace.process


def _joined(samples: Iterable[Sample], queries: Iterable[_Query]) -> Iterator[tuple[Sample, _Query]]:
    """The samples whose query is known: alone at its broker between the sending and the answer."""
    by_broker: dict[str, list[tuple[int, _Query]]] = defaultdict(list)
    for query in queries:
        for process, at in query.received.items():
            by_broker[process].append((at, query))
    for rows in by_broker.values():
        rows.sort(key=lambda row: row[0])
    times = {process: [at for at, _ in rows] for process, rows in by_broker.items()}
    for sample in samples:
        asked = _asked(sample)
        low = bisect_left(times.get(asked, []), sample.sent_us)
        high = bisect_right(times.get(asked, []), sample.ended_us)
        if high - low == 1:
            yield sample, by_broker[asked][low][1]


def _asked(sample: Sample) -> str:
    return f"{BROKER}{sample.broker}"


def _idle_s(times: Numbers, at_us: float) -> float:
    """Seconds since the last of ``times`` before ``at_us``; NaN where there is none."""
    place = int(np.searchsorted(times, at_us)) - 1
    return (at_us - float(times[place])) / 1e6 if place >= 0 else float("nan")


def _table(rows: Iterable[tuple[float, float]]) -> Numbers:
    return np.array(list(rows), np.float64).reshape(-1, 2)


def _fleet_us(ticks: list[Tick]) -> float:
    """Processor a request between the first tick and the last, the ticks' own included; 0 where there are too few."""
    if len(ticks) < 2:
        return 0.0
    requests = ticks[-1].counters["requests"] - ticks[0].counters["requests"]
    return (ticks[-1].cpu_us - ticks[0].cpu_us) / requests if requests else 0.0
