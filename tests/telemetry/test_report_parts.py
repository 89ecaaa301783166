"""A report of runs of two systems: each has a part of its own, in its words; of one there is one part."""

from __future__ import annotations

import re
from typing import Any

from telemetry.lake.configurations import choose
from telemetry.reports.comparison import compare
from telemetry.reports.html import render
from telemetry.reports.measured import CURVE, STARTS, Measured
from telemetry.reports.parts import parts, shared
from telemetry.statistics.metrics import STATISTICS
from telemetry.summary.truths import TRUTHS

TOPOLOGY = {"name": "ring", "kind": "ring", "brokers": 3}
ONE = {"name": "one", "kind": "central", "brokers": 1}
ASKING, PUSHING = "context-broker", "radiator"


def run(name: str, system: str, **summary: Any) -> Any:
    document = {"system": system, "topology": TOPOLOGY if system == ASKING else ONE, "settings": {}, "workload": {}}
    return choose({"run": name, "configuration": document, "engine": "live", "seed": 1}, {"summary": summary})


def measured(asking: list[str], keys: list[str]) -> Measured:
    columns = {f"{column}_{name}": 100.0 for column in STARTS.values() for name in STATISTICS}
    return Measured(
        response={one: {"answers": 5, **columns} for one in asking},
        pooled={},
        curves={key: {"curve": [1.0] * len(CURVE)} for key in keys},
        outcomes={one: {"answered": 5} for one in asking},
        truths={one: {**dict.fromkeys(TRUTHS, 0), "fresh": 5, "existed": 5, "stale_ms": None} for one in asking},
        memory={one: {"rss_bytes": 4e7} for one in ("asks", "pushes")},
    )


def report(*systems: str) -> dict[str, Any]:
    known = {ASKING: run("asks", ASKING), PUSHING: run("pushes", PUSHING, radiator={"bytes_per_pair": 80.0})}
    return compare([known[system] for system in systems], measured(["asks"], []), "Both", {"created": "2026"})


def test_each_system_has_its_charts_tables_and_words():
    result = report(PUSHING, ASKING)
    assert [row["system"] for row in result["configurations"]] == [PUSHING, ASKING]
    pushing, asking = parts(result["configurations"], result["charts"])
    assert (pushing.title, asking.title) == ("Radiator", "Decentralised context broker")
    assert (pushing.servers.one, asking.servers.one) == ("Server", "Broker")
    assert [len(part.rows) for part in (pushing, asking)] == [1, 1]
    assert {chart["id"] for chart, _ in asking.charts} >= {f"response-time-{ASKING}", f"memory-{ASKING}"}
    assert f"memory-{PUSHING}" in {chart["id"] for chart, _ in pushing.charts}
    assert not [chart for chart, _ in pushing.charts if chart["id"].startswith("response")]
    assert all(chart["x"].get("categories", ["one"]) != ["ring"] for chart, _ in pushing.charts)
    assert shared(result["charts"]) == []
    assert [row["number"] for row in result["configurations"]] == [1, 1], "as the charts of each number them"
    assert not any("system" in row["label"] for row in result["configurations"])


def test_the_file_has_a_section_for_each_and_no_id_twice():
    text = render(report(ASKING, PUSHING))
    first, second = (text.index(f'id="system-{system}">') for system in (ASKING, PUSHING))
    assert first < text.index("Memory of a broker</h2>") < second < text.index("Memory of a server</h2>")
    assert text.count("Truth of the answers</h2>") == 1
    ids = re.findall(r'data-report-chart="([^"]+)"', text)
    drawn = [one for one in ids if not one.startswith("figure-")]
    assert len(set(drawn)) == len(drawn) > 1


def test_a_report_of_one_system_is_one_part_without_a_heading():
    result = report(ASKING)
    (only,) = parts(result["configurations"], result["charts"])
    assert (only.title, only.suffix) == ("", "")
    assert {"response-time", "percentiles", "memory"} <= {chart["id"] for chart, _ in only.charts}
    assert 'class="part-head"' not in render(result)
