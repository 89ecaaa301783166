"""The verdict on a run: ``valid``, or ``suspect`` with every reason. Pure.

Suspect runs are kept, shown and labelled. They are never silently left out of a mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from overlay.core.settings import check, setting


@dataclass(frozen=True)
class Thresholds:
    """Limits above which a measurement reflects the machine rather than the brokers."""

    machine_busy: float = setting(
        0.9,
        low=0.1,
        high=1,
        help="Share of all cores that the run's processes may use during measuring. Above it, requests queue for a "
        "core, so response times reflect the scheduler. A lower limit marks more runs as suspect.",
    )
    process_busy: float = setting(
        0.95,
        low=0.1,
        high=1,
        help="Share of one core that a single process may use during measuring. Each broker and each load generator "
        "has one thread, so at 1 it is the bottleneck.",
    )
    late_p99_us: int = setting(
        10_000,
        unit="µs",
        low=100,
        high=10_000_000,
        help="Maximum delay of the generator behind its schedule, at the 99th percentile. 10 ms is about one "
        "scheduler tick; a sleeping process on a free core wakes up much sooner.",
    )
    late_share: float = setting(
        0.5,
        low=0.01,
        high=1,
        help="Share of the mean response time that may be caused by the generator's delay. Above half, the figure "
        "describes the generator rather than the brokers.",
    )
    clock_step_ms: int = setting(
        100,
        unit="ms",
        low=1,
        high=60_000,
        help="How far the wall clock may drift from the monotonic clock. A step distorts ages and validity, but not "
        "response times.",
    )

    def __post_init__(self) -> None:
        check(self)


THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The input of a verdict. Times in microseconds; ``None`` if not measured."""

    requests: int | None
    """``None`` in a system without clients that request, and in a run in which none was due."""
    answered: int
    measured: int
    """Exchanges, deliveries, connections, hand-overs and rows of the system's own tables in measuring."""
    cores: int
    cores_used: float | None
    """By all processes of the run together, during measuring."""
    busiest_process: str = ""
    busiest_cores: float = 0.0
    late_p99_us: float | None = None
    late_mean_us: float | None = None
    response_mean_us: float | None = None
    clock_step_ms: float = 0.0
    lost: Sequence[str] = field(default=())
    """One sentence per journal that is torn, missing or incomplete."""
    restarted: Sequence[str] = field(default=())
    """Processes that restarted during measuring."""
    unaccounted: int = 0
    """Requests that were due and have no sample."""
    is_idle: bool = False
    """Whether nothing was due in measuring."""


def judge(evidence: Evidence, more: Sequence[str] = (), thresholds: Thresholds = THRESHOLDS) -> tuple[str, list[str]]:
    """``("valid", [])`` or ``("suspect", reasons)``, each reason a sentence; ``more`` are those of the system."""
    reasons = [*_load(evidence, thresholds), *_lateness(evidence, thresholds), *_losses(evidence, thresholds), *more]
    return ("suspect" if reasons else "valid"), reasons


def _load(evidence: Evidence, limit: Thresholds) -> Iterator[str]:
    share = (evidence.cores_used or 0) / evidence.cores
    if share > limit.machine_busy:
        yield (
            f"Processor saturated: the run used {share:.0%} of {evidence.cores} cores "
            f"({limit.machine_busy:.0%} allowed)."
        )
    if evidence.busiest_cores > limit.process_busy:
        yield (
            f"Processor saturated: {evidence.busiest_process} used {evidence.busiest_cores:.0%} of one core "
            f"({limit.process_busy:.0%} allowed)."
        )


def _lateness(evidence: Evidence, limit: Thresholds) -> Iterator[str]:
    late, mean, response = evidence.late_p99_us, evidence.late_mean_us, evidence.response_mean_us
    if late is not None and late > limit.late_p99_us:
        yield (
            f"Generator late: 1 % of requests were sent {late / 1000:.1f} ms or more after they were due "
            f"({limit.late_p99_us / 1000:g} ms allowed)."
        )
    if mean is not None and response and mean > limit.late_share * response:
        yield (
            f"Generator late: {mean / response:.0%} of the mean response time is its own delay in sending "
            f"({limit.late_share:.0%} allowed)."
        )


def _losses(evidence: Evidence, limit: Thresholds) -> Iterator[str]:
    if evidence.requests == 0:
        yield "Samples lost: no request was measured."
    elif evidence.measured == 0 and not evidence.is_idle:
        yield "Samples lost: nothing was measured."
    elif evidence.requests and evidence.answered == 0:
        yield "No request was answered, so there is no response time."
    if evidence.clock_step_ms > limit.clock_step_ms:
        yield f"Clock stepped: by {evidence.clock_step_ms:.0f} ms ({limit.clock_step_ms} ms allowed)."
    yield from (f"Samples lost: {sentence}" for sentence in evidence.lost)
    if evidence.restarted:
        yield f"Broker restarted while measuring: {', '.join(evidence.restarted)}."
    if evidence.unaccounted:
        yield f"Requests unaccounted for: {evidence.unaccounted} were due and have no sample."
