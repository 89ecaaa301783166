"""Journals of runs in virtual time are collected as those of live ones, and nothing of them is held against them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from overlay.core.curves import Delays
from overlay.core.engines import SIMULATED
from overlay.core.service_times import ServiceModel
from overlay.deployment.deployment import Deployment
from overlay.runtime.calibrated import model_of, reference
from overlay.sim.engine import Outcome, Progress, simulate
from overlay.systems.context_broker.system import SYSTEM
from telemetry.collect import collect
from telemetry.lake.manifest import make_manifest
from telemetry.lake.runs import Lake, RunFiles
from telemetry.live.window import LiveWindow
from telemetry.summary.verdict import THRESHOLDS
from tests.sim.test_engine import WORKLOAD, document
from tests.thorough import thoroughly


def collected(directory: Path, services: ServiceModel | None = None, **changes: Any) -> tuple[Outcome, dict[str, Any]]:
    files = RunFiles(directory / "run-1")
    wanted = document(files.directory, **changes)
    outcome = simulate(Deployment.from_json(wanted, SIMULATED), services)
    of_run = {name: wanted[name] for name in ("seed", "system", "topology", "settings", "workload")}
    files.write_manifest(make_manifest("run-1", engine=SIMULATED, now=datetime.now(UTC), **of_run))
    return outcome, collect(files, Lake(directory / "lake"))


def test_a_run_with_faults_is_valid_and_says_what_went_wrong(tmp_path: Path) -> None:
    _, summary = collected(
        tmp_path,
        faults=[
            {"what": "kill", "brokers": [3], "at_s": 2},
            {"what": "restart", "brokers": [4], "at_s": 4},
            {"what": "slow", "links": "all", "delay_ms": 5, "at_s": 5, "until_s": 6},
        ],
    )
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])
    assert summary["requests"] == 200
    seen = LiveWindow(RunFiles(tmp_path / "run-1")).advance()
    marks = {mark["label"]: mark for mark in seen["marks"]}
    slow, measuring_s = marks["all links +5 ms"], marks["measuring"]["at_s"]
    assert (slow["at_s"], slow["until_s"]) == pytest.approx((measuring_s + 5, measuring_s + 6))
    assert marks["broker 3 killed"]["until_s"] == seen["t_s"]
    assert marks["broker 4 restarted"]["until_s"] is None
    assert marks["broker 3 lost"]["kind"] == "membership"
    assert "fault: broker 3 killed" in [one["words"] for one in seen["happened"]]


def test_clients_that_wake_as_late_as_live_ones_are_no_fault_of_the_measurement(tmp_path: Path) -> None:
    services = model_of(reference(), SYSTEM)
    timer = services.deliveries.timer
    late = tuple(tuple(10 * us for us in row) for row in timer.quantiles_us)
    deliveries = replace(services.deliveries, timer=Delays(timer.idle_s, late))
    _, summary = collected(tmp_path, replace(services, deliveries=deliveries))
    assert summary["lateness"]["mean"] > THRESHOLDS.late_share * summary["mean_us"]  # of a live run, too late
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])


def test_memory_that_nobody_measured_is_not_told_as_none_at_all(tmp_path: Path) -> None:
    _, summary = collected(tmp_path)
    memory = summary["memory"]["mean"]
    assert (memory["rss_bytes"], memory["uss_bytes"], memory["over_idle_bytes"]) == (None, None, None)
    assert memory["table_bytes"] > 0


@thoroughly
def test_of_very_many_brokers_the_sum_is_told(tmp_path: Path) -> None:
    outcome, summary = collected(tmp_path, brokers=1_200, settings={"monitoring": False, "trace_one_in": 0})
    assert outcome.were_introduced
    assert (summary["requests"], summary["verdict"]) == (200, "valid")
    assert summary["counters"]["in_3"] >= 200
    assert summary["memory"]["brokers"] == []
    assert summary["holdings"]["brokers"] == 1_200


def test_the_load_of_each_broker_is_what_it_was_asked_while_measuring(tmp_path: Path) -> None:
    """A run ends with a tick of a tenth of a second: whoever was asked then had 10/s once, and all others nothing."""
    workload = {**WORKLOAD, "providers": 6, "holders": 6, "consumers": 6, "assignment": "round-robin"}
    everywhere = {**workload, "request_interval_s": 2.0, "duration_s": 20.0, "stagger_ms": 310}
    collected(tmp_path, workload=everywhere)
    samples = pq.read_table(Lake(tmp_path / "lake").part("samples", "run-1"))
    requests = samples.filter((pc.field("role") == "consumer") & (pc.field("phase") == "measuring"))
    asked = Counter(requests["broker"].to_pylist())
    rows = LiveWindow(RunFiles(tmp_path / "run-1")).advance()["load"]["brokers"]
    assert asked == dict.fromkeys(range(6), 10)
    assert {row["index"]: row["in_3_per_s"] for row in rows if row["in_3_per_s"]} == {
        broker: pytest.approx(requests / 20, rel=0.1) for broker, requests in asked.items()
    }


def test_throughput_is_answers_per_second_of_measuring_however_long_the_last_requests_wait(tmp_path: Path) -> None:
    """A broker that is dead to the end leaves its consumers waiting for 10 s after the last request was sent."""
    _, summary = collected(tmp_path, faults=[{"what": "kill", "brokers": [3], "at_s": 2}])
    assert summary["timed_out"] > 0
    begin_us, end_us = summary["window_us"]
    assert end_us - begin_us > 15_000_000
    assert summary["per_s"] == summary["answered"] / WORKLOAD["duration_s"]
    assert summary["updates"]["per_s"] == summary["updates"]["answered"] / WORKLOAD["duration_s"]
    live = LiveWindow(RunFiles(tmp_path / "run-1")).advance()["throughput"]
    assert live["answered_per_s"] == pytest.approx(summary["per_s"], rel=0.02)
    assert live["requests_per_s"] == pytest.approx(summary["requests"] / WORKLOAD["duration_s"], rel=0.02)


def test_a_run_that_was_stopped_is_as_long_as_it_measured(tmp_path: Path) -> None:
    """Its throughput is that of the seconds it had, and not of those that were planned."""
    files = RunFiles(tmp_path / "run-1")
    wanted = document(files.directory)
    seen: list[Progress] = []
    deployment = Deployment.from_json(wanted, SIMULATED)
    simulate(deployment, None, on_progress=seen.append, should_stop=lambda: bool(seen) and seen[-1].share > 0.7)
    of_run = {name: wanted[name] for name in ("seed", "system", "topology", "settings", "workload")}
    files.write_manifest(make_manifest("run-1", engine=SIMULATED, now=datetime.now(UTC), **of_run))
    summary = collect(files, Lake(tmp_path / "lake"))
    assert 0 < summary["measured_us"] < 0.8 * WORKLOAD["duration_s"] * 1e6
    assert summary["per_s"] == pytest.approx(WORKLOAD["consumers"] / WORKLOAD["request_interval_s"], rel=0.1)
