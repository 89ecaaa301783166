"""Estimates the cost of a run in seconds and bytes, from its configuration alone. Pure.

A system's ``expected`` says how many exchanges, records and traces a run has. Durations
depend on machine and settings, so the estimate is multiplied by the measured ratio of actual to estimated time
of earlier simulated runs.

The figures are from 17 shapes of simulated runs, 3 to 100 brokers, with and without recordings, measured on 2026-11-23
on two cores of an AMD EPYC with Python 3.11. A test compares bytes with such runs. Seconds are for an otherwise idle
processor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from overlay.load.expectations import Expected
from overlay.systems.registry import RECORD, system_of

EXCHANGES_PER_S = 12_000.0
"""Simulated exchanges per second: 11,000 to 23,000 without service times, a third fewer with them."""
RECORDING = 1.5
"""The factor for recorded runs."""
COLLECT_S = 0.3
"""To write a run's Parquet and its summary, in addition to the following."""
SAMPLES_PER_S, TICKS_PER_S, RECORDS_PER_S = 100_000.0, 10_000.0, 60_000.0
"""Collected per second: facts of clients, ticks of processes, recorded datagrams."""

RUN, OF_BROKER, SAMPLE, TICK = 40_000, 1_200, 105, 1_130
"""Bytes per run, per broker in its manifests, per fact of a client, and per process and second."""
JOINED = 1.03
"""The factor for the table of messages in addition to the recording."""
MB = 1_000_000


def exchanges(configuration: Mapping[str, Any]) -> float:
    """The estimated number of exchanges in a run of ``configuration``."""
    return _expected(configuration).exchanges


def seconds(configuration: Mapping[str, Any]) -> float:
    """The processor time of a simulated run, up to its collected result."""
    found, factor = _expected(configuration), RECORDING if configuration.get(RECORD.name) else 1.0
    return factor * found.exchanges / EXCHANGES_PER_S + collect_s(configuration)


def collect_s(configuration: Mapping[str, Any]) -> float:
    """The time to collect a run, live or simulated."""
    found = _expected(configuration)
    records = found.records if configuration.get(RECORD.name) else 0.0
    ticks = found.processes * found.seconds
    return COLLECT_S + found.samples / SAMPLES_PER_S + ticks / TICKS_PER_S + records / RECORDS_PER_S


def disk_bytes(configuration: Mapping[str, Any]) -> float:
    """The disk space of a run: journals, Parquet and recordings."""
    found = _expected(configuration)
    written = SAMPLE * found.samples + TICK * found.processes * found.seconds + found.trace_bytes
    return RUN + OF_BROKER * found.servers + written + JOINED * _recorded_bytes(configuration, found)


def _recorded_bytes(configuration: Mapping[str, Any], found: Expected) -> float:
    """At most the chosen limit for each server that records."""
    most: float = configuration.get(RECORD.name, 0) * MB
    return sum(min(one.bytes, most * one.servers) for one in found.recorded)


def _expected(configuration: Mapping[str, Any]) -> Expected:
    return system_of(configuration["system"]).expected(configuration)


def slowness(known: Iterable[tuple[float, float]]) -> float | None:
    """The median ratio of actual to estimated time, from pairs of seconds estimated and taken.

    ``None`` without pairs.
    """
    ratios = [taken_s / expected_s for expected_s, taken_s in known if taken_s > 0]
    return median(ratios) if ratios else None
