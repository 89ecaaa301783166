"""A report's part about deliveries: intervals over replicates, only for configurations that have any."""

from __future__ import annotations

from telemetry.lake.configurations import choose
from telemetry.reports import deliveries


def run(name, per_s, p95, duplicates):
    delay = {"p50": 100.0, "p95": p95, "p99": 2 * p95, "mean": 120.0}
    summary = {"deliveries": {"per_s": per_s, "duplicates": duplicates, "delay_us": delay}} if per_s else {}
    return choose({"run": name}, {"topology": {"name": "t", "kind": "ring", "brokers": 1}, "summary": summary})


def row(label, group, engine="live"):
    return {"label": label, "engine": engine, "topology": {"shaped": False}, **deliveries.of_configuration(group)}


def test_each_figure_is_an_interval_over_the_replicates_that_have_deliveries():
    found = deliveries.of_configuration([run("a", 10.0, 400.0, 2), run("b", 40.0, 900.0, 6), run("c", None, 0, 0)])
    assert {name: (one["value"], one["n"]) for name, one in found["deliveries"].items() if name in ("p95", "p50")} == {
        "p50": (100.0, 2),
        "p95": (600.0, 2),
    }, "geometric means"
    assert found["deliveries"]["duplicates"]["value"] == 4
    assert found["deliveries"]["per_s"]["low"] < 20 < found["deliveries"]["per_s"]["high"]
    assert set(found["deliveries"]) == {name for name, _ in deliveries.COLUMNS.values()}


def test_charts_leave_out_configurations_without_deliveries():
    rows = [row("pulled", [run("a", None, 0, 0)]), row("pushed", [run("b", 10.0, 400.0, 0)])]
    rows.append(row("pushed, simulated", [run("c", 20.0, 500.0, 0)], "simulated"))
    delay, rate = deliveries.charts(rows)
    assert delay["x"]["categories"] == ["pulled", "pushed", "pushed, simulated"]
    assert [(one["name"], one["role"], [point["x"] for point in one["points"]]) for one in rate["series"]] == [
        ("deliveries", "measured", [1]),
        ("deliveries, simulated", "simulated", [2]),
    ]
    assert [one["name"] for one in delay["series"]][:3] == ["p50", "p95", "p99"]
    assert list(deliveries.charts(rows[:1])) == []
