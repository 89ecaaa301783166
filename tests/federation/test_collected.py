"""Simulated runs of a federation, collected: measures, tables and verdicts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from overlay.experiment.definition import checked
from overlay.experiment.inline import separated
from overlay.journal.journal import read_journal
from overlay.systems.federation.measuring import measures
from telemetry.cli.sweep import orders_for
from telemetry.lake.runs import Lake, read_manifest
from telemetry.sweep.simulation import Places, simulate_run

SMALL = {"providers": 3, "consumers": 2, "scopes": 3, "stagger_ms": 10, "client_delay_ms": 1, "rate_per_s": 40}


def collected(directory: Path, **workload: Any) -> dict[str, Any]:
    """The summary of a run of two brokers."""
    body = {
        "name": "test",
        "system": "federation",
        "engine": "simulated",
        "topology": {"kind": "line", "brokers": 2, "params": {"delay_ms": 1}},
        "settings": {"cache_cap": 0.0},
        "workload": {**SMALL, **workload},
        "simulation": {"service_times": "none"},
    }
    (order,) = orders_for(*checked(*separated(body)))
    places = Places(directory / "runs", directory / "lake", directory / "var")
    simulate_run(order, places, datetime(2026, 11, 28, tzinfo=UTC))
    lake = Lake(places.lake)
    found = {"run": order.run, "lake": lake, "manifest": read_manifest(lake.manifest_path(order.run))}
    return {**found, "summary": found["manifest"]["summary"], "journal": places.runs / order.run}


def test_a_collected_run_has_the_measures_of_its_journal_and_its_tables(tmp_path: Path) -> None:
    found = collected(tmp_path, queries=20)
    summary = found["summary"]
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])
    told = summary["measures"]
    assert (told["subscriptions"], told["satisfied"], told["lost"], told["spurious"]) == (20, 20, 0, 0)
    assert told["ts_mean_us"] == told["mean_us"], "the response time of a query is its T_S"
    (journal,) = (found["journal"] / "journal").glob("*.journal")
    assert dict(measures(read_journal(journal))) == {name: told[name] for name in measures(())}
    rows = pq.read_table(found["lake"].part("federation.subscriptions", found["run"]), partitioning=None)
    assert rows.num_rows == 20
    assert set(rows["reason"].to_pylist()) == {"satisfied"}


def test_a_run_in_which_nothing_is_asked_is_valid(tmp_path: Path) -> None:
    summary = collected(tmp_path, queries=0, duration_s=2)["summary"]
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])
    assert summary["measures"]["subscriptions"] == 0
    assert summary["measures"]["ts_mean_us"] is None


def test_subscriptions_that_last_are_no_requests(tmp_path: Path) -> None:
    summary = collected(tmp_path, kind="stream", subscriptions=6, notifications=30)["summary"]
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])
    told = summary["measures"]
    assert (told["requests"], told["subscriptions"], told["notifications"]) == (0, 6, 30)
    assert told["lost"] == told["duplicates"] == told["spurious"] == 0
    assert told["messages_per_subscription"] > 0
