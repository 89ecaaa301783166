"""Journals of runs in virtual time are collected as those of live ones, and nothing of them is held against them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from overlay.deployment import Deployment
from overlay.engines import SIMULATED
from overlay.runtime.calibrated import REFERENCE, read_model
from overlay.services import Delays, ServiceModel
from overlay.sim.engine import Outcome, simulate
from telemetry.collect import collect
from telemetry.manifest import make_manifest
from telemetry.runs import Lake, RunFiles
from telemetry.verdict import THRESHOLDS
from telemetry.window import LiveWindow
from tests.sim.test_engine import document


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
    services = read_model(REFERENCE)
    late = tuple(tuple(10 * us for us in row) for row in services.timer.quantiles_us)
    _, summary = collected(tmp_path, replace(services, timer=Delays(services.timer.idle_s, late)))
    assert summary["lateness"]["mean"] > THRESHOLDS.late_share * summary["mean_us"]  # of a live run, too late
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])


def test_memory_that_nobody_measured_is_not_told_as_none_at_all(tmp_path: Path) -> None:
    _, summary = collected(tmp_path)
    memory = summary["memory"]["mean"]
    assert (memory["rss_bytes"], memory["uss_bytes"], memory["over_idle_bytes"]) == (None, None, None)
    assert memory["table_bytes"] > 0


def test_of_very_many_brokers_the_sum_is_told(tmp_path: Path) -> None:
    outcome, summary = collected(tmp_path, brokers=1_200, settings={"monitoring": False, "trace_one_in": 0})
    assert outcome.were_introduced
    assert (summary["requests"], summary["verdict"]) == (200, "valid")
    assert summary["counters"]["in_3"] >= 200
    assert summary["memory"]["brokers"] == []
    assert summary["holdings"]["brokers"] == 1_200
