"""Fleets of real clients against real brokers: every request that was intended is accounted for."""

import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hdrh.histogram import HdrHistogram

from overlay.addresses import Address
from overlay.facts import Sample, Start, Tick
from overlay.journal import read_journal
from overlay.node import SECOND
from overlay.runtime.loadgen import run_fleet
from overlay.workload import Workload, fleets, plan_clients
from tests.runtime.daemons import Daemon, ring

SEED = 3


def run_fleets(workload: Workload, brokers: list[Address], directory: Path) -> dict[str, list]:
    """The facts of each process of a workload that was run to its end."""
    start = time.monotonic_ns() + SECOND // 2
    children = {}
    for name, plans in fleets(plan_clients(workload, len(brokers), SEED)).items():
        journal = directory / f"{name}.journal"
        children[name] = os.fork()
        if children[name] == 0:
            code = 1
            try:
                code = run_fleet(
                    plans, brokers, workload, seed=SEED, start_ns=start, zero_ns=start,
                    journal=journal, process=name, on_ready=lambda: None,
                )  # fmt: skip
            finally:
                os._exit(code)
    for pid in children.values():
        assert os.waitpid(pid, 0)[1] == 0
    return {name: list(read_journal(directory / f"{name}.journal")) for name in children}


def test_a_fleet_accounts_for_every_request(start_daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    daemons = [start_daemon("--brokers", "3") for _ in range(3)]
    ring(daemons)
    workload = Workload(
        providers=100, consumers=100, update_interval_s=1, request_interval_s=1, duration_s=3, stagger_ms=5
    )
    facts = run_fleets(workload, [daemon.address for daemon in daemons], tmp_path)

    for name, role in (("consumers-0", "consumer"), ("providers-0", "provider")):
        assert isinstance(facts[name][0], Start)
        samples = [fact for fact in facts[name] if isinstance(fact, Sample)]
        measured = [sample for sample in samples if sample.phase == "measuring"]
        assert Counter(sample.client for sample in measured) == dict.fromkeys(range(100), 3)
        assert {sample.role for sample in samples} == {role}
        assert {sample.outcome for sample in measured} == {"answered"}
        assert all(sample.intended_us <= sample.sent_us <= sample.ended_us for sample in samples)
        ticks = [fact for fact in facts[name] if isinstance(fact, Tick)]
        counters = ticks[-1].counters
        assert counters["requests"] == counters["answered"] + counters["not_found"] == len(samples)
        assert counters["outstanding"] == 0
        assert counters["lateness_max_us"] >= max(sample.sent_us - sample.intended_us for sample in samples)
        counted = sum(HdrHistogram.decode(tick.histogram.encode()).get_total_count() for tick in ticks)
        assert counted == counters["answered"]


def test_requests_to_a_dead_broker_all_end_in_time_out(start_daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    daemon = start_daemon()
    daemon.end()
    workload = Workload(providers=0, consumers=5, request_interval_s=0.5, duration_s=1, stagger_ms=1)
    facts = run_fleets(workload, [daemon.address], tmp_path)["consumers-0"]
    measured = [fact for fact in facts if isinstance(fact, Sample) and fact.phase == "measuring"]
    assert len(measured) == 10
    assert {(sample.outcome, sample.status) for sample in measured} == {("timed_out", 0)}
    assert {sample.attempts for sample in measured} == {4}
