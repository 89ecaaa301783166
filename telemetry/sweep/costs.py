"""What a run is expected to cost before it is run, from its configuration alone: seconds and bytes. Pure.

A processor spends its time on exchanges: those of clients with their broker, those that a search makes, and the pings
of neighbours. A recording holds the datagrams of these, and a journal what was traced of them. How long they take
differs between machines and with the settings, so that it is measured: what is expected here is multiplied by how much
longer runs took that were simulated before.

The figures are of 17 shapes of simulated runs, 3 to 100 brokers, with and without recordings, measured on 2026-11-23 on
two cores of an AMD EPYC with Python 3.11; a test holds bytes to what such runs leave. Seconds are of a processor that
does nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from overlay.load.expectations import Expected
from overlay.systems.registry import RECORD, system_of

EXCHANGES_PER_S = 12_000.0
"""That a second simulates: 11,000 to 23,000 without service times, a third fewer with them."""
RECORDING = 1.5
"""How much longer they take where all that brokers hear and say is recorded."""
COLLECT_S = 0.3
"""To write a run's Parquet and its summary, beside what follows."""
SAMPLES_PER_S, TICKS_PER_S, RECORDS_PER_S = 100_000.0, 10_000.0, 60_000.0
"""That are collected in a second: requests and updates, seconds of processes, recorded datagrams."""

RUN, OF_BROKER, SAMPLE, TICK = 40_000, 1_200, 105, 1_130
"""Bytes of any run, of a broker in its manifests, of one request or update, and of one process in one second."""
ALWAYS_TRACED, TRACED = 16, 130
"""Bytes that a broker asked on the way writes of any query, as some are traced because of how they end, and of one
that is traced because it was drawn."""
PING, UPDATE, REQUEST, ON_THE_WAY, HOP = 300, 200, 340, 250, 18
"""Bytes recorded of an exchange without its payload, at both brokers where there are two; of one on the way also what
each hop adds that is behind it."""
JOINED = 1.03
"""What is recorded, with the table of messages that is made of it."""
MB = 1_000_000


def exchanges(configuration: Mapping[str, Any]) -> float:
    """How many exchanges a run of ``configuration`` has, about."""
    return _expected(configuration).exchanges


def seconds(configuration: Mapping[str, Any]) -> float:
    """What a simulated run takes of one processor, until its result is collected."""
    found, factor = _expected(configuration), RECORDING if configuration.get(RECORD.name) else 1.0
    return factor * found.exchanges / EXCHANGES_PER_S + collect_s(configuration)


def collect_s(configuration: Mapping[str, Any]) -> float:
    """What it takes to collect a run, live or simulated."""
    found = _expected(configuration)
    records = found.records if configuration.get(RECORD.name) else 0.0
    samples, ticks = found.updates + found.requests, found.processes * found.seconds
    return COLLECT_S + samples / SAMPLES_PER_S + ticks / TICKS_PER_S + records / RECORDS_PER_S


def disk_bytes(configuration: Mapping[str, Any]) -> float:
    """What a run leaves on the disk: journals, Parquet and recordings."""
    found = _expected(configuration)
    traced = ALWAYS_TRACED + TRACED / found.traced_one_in if found.traced_one_in else 0.0
    written = SAMPLE * (found.updates + found.requests) + TICK * found.processes * found.seconds + traced * found.asked
    return RUN + OF_BROKER * found.servers + written + JOINED * _recorded_bytes(configuration, found)


def _recorded_bytes(configuration: Mapping[str, Any], found: Expected) -> float:
    """No broker records more than was chosen: clients are all with those that the assignment uses."""
    payload = found.payload_bytes
    most: float = configuration.get(RECORD.name, 0) * MB
    of_clients = (payload + UPDATE) * found.updates + (payload + REQUEST) * found.requests
    between = (found.back * payload + ON_THE_WAY + HOP * found.steps) * found.asked + PING * found.pings
    between += 2 * (payload + UPDATE) * found.refreshes
    return min(of_clients, most * found.with_clients) + min(between, most * found.servers)


def _expected(configuration: Mapping[str, Any]) -> Expected:
    return system_of(configuration["system"]).expected(configuration)


def slowness(known: Iterable[tuple[float, float]]) -> float | None:
    """How much longer runs took than was expected, the median: pairs of seconds expected and taken.

    ``None`` where there are none.
    """
    ratios = [taken_s / expected_s for expected_s, taken_s in known if taken_s > 0]
    return median(ratios) if ratios else None
