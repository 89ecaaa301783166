"""A collected run of Radiator: its pairs in the lake, its figures, and what its page shows."""

from __future__ import annotations

import json

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from overlay.sim.engine import simulate
from overlay.systems.radiator.measuring import measures
from overlay.systems.radiator.names import MEASURES
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.live.window import LiveWindow
from telemetry.systems.radiator.system import RadiatorTelemetry
from telemetry.systems.registry import TELEMETRY, measures_of
from tests.radiator.runs import deployed, ran


@pytest.fixture(autouse=True)
def telemetry(radiator, monkeypatch):
    monkeypatch.setitem(TELEMETRY, radiator.name, RadiatorTelemetry)


def collected(directory, settings=None, workload=None, **more):
    """The summary of a run, its facts, and its lake."""
    files, lake = RunFiles(directory / "r1"), Lake(directory / "lake")
    _, facts = ran(files.directory, settings, workload, **more)
    manifest = {"system": "radiator", "engine": "simulated", "settings": settings or {}, "workload": workload or {}}
    files.write_manifest({**manifest, "topology": {"brokers": 1, "links": []}})
    return collect(files, lake), facts, lake


def test_it_has_the_measures_that_the_system_names(radiator):
    declared = [one.declared for one in measures_of("radiator").values() if one.system]
    assert sorted(declared) == sorted(MEASURES)


STORMY = [
    {"what": "crash", "clients": 0.2, "at_s": 2, "until_s": 5},
    {"what": "restart", "brokers": [0], "at_s": 4},
    {"what": "loss", "clients": 1.0, "share": 0.05, "at_s": 1, "until_s": 8},
]


@pytest.mark.parametrize(
    ("settings", "faults"),
    [
        ({}, []),
        ({"aggregability": "{volume: 4}", "chain_percent": 30, "rto_ms": 50}, []),
        ({"aggregability": "{volume: 4}", "chain_percent": 30, "rto_ms": 50, "chain_wait_s": 1}, STORMY),
    ],
)
def test_columns_give_the_same_figures_as_facts(tmp_path, settings, faults):
    summary, facts, _ = collected(tmp_path, settings, {"duration_s": 10}, faults=faults)
    expected = measures(facts)
    assert summary["radiator"] == pytest.approx(expected)
    assert summary["measures"]["lag_p95_us"] == expected["lag_p95_us"]
    assert summary["measures"]["messages"] == 100


def test_the_lake_has_a_row_for_each_pair(tmp_path):
    summary, _, lake = collected(tmp_path, {"aggregability": "{volume: 3}", "echo": True}, {"duration_s": 3})
    rows = pq.read_table(lake.part("deliveries", "r1"))
    samples = pq.read_table(lake.part("samples", "r1"))
    assert len(rows) == summary["radiator"]["pairs_delivered"] == 30 * 20
    assert set(rows["publication"].to_pylist()) == set(samples["entity"].to_pylist())
    assert set(rows["verdict"].to_pylist()) == {"delivered"}
    intended = dict(zip(samples["entity"].to_pylist(), samples["intended_us"].to_pylist(), strict=True))
    assert all(intended[one["publication"]] == one["published_us"] for one in rows.to_pylist())
    assert pc.sum(pq.read_table(lake.part("radiator.messages", "r1"))["due"]).as_py() == 600
    assert summary["deliveries"]["delivered"] == 600
    assert summary["deliveries"]["delay_us"]["mean"] == pytest.approx(summary["radiator"]["lag_mean_us"])
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])


def test_a_run_in_which_nothing_was_delivered_has_figures(tmp_path):
    summary, _, _ = collected(tmp_path, {"aggregability": "{volume: 900}"}, {"drain_s": 1})
    found = summary["radiator"]
    assert (found["pairs_delivered"], found["pairs_retained"], found["lag_mean_us"]) == (0, 50 * 19, None)


def test_its_page_has_series_of_its_own(tmp_path):
    files = RunFiles(tmp_path)
    simulate(deployed(tmp_path, {"aggregability": "{volume: 3}"}))
    files.manifest_path.write_text(json.dumps({"system": "radiator"}))
    series = LiveWindow(files).advance()["series"]
    assert {"lag_p50", "outbound", "pushes", "pairs_retained"} < series.keys()
    assert max(filter(None, series["accepted"])) == pytest.approx(10, rel=0.2)
    assert max(filter(None, series["outbound"])) > max(filter(None, series["accepted"]))
