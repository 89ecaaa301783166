"""What is made of the description of a chart: HTML, tables, and all that a file needs to draw it alone."""

from __future__ import annotations

import json
import re
from base64 import b64decode

import pytest

from telemetry.charts import standalone
from telemetry.charts.charts import axis, chart, estimate, point, series
from telemetry.charts.figures import BOTH, PUBLISHED, figure
from telemetry.charts.points import NAMES, points, table
from telemetry.charts.standalone import import_map, read
from telemetry.errors import TelemetryError
from telemetry.reports.html import render

SIMULATED = {"value": 1_420.4, "low": 1_380.0, "high": 1_470.0, "n": 3, "replicates": [1_400.0, 1_440.8]}
CHART = chart(
    "means",
    "Response time <of> a ring",
    axis("Configuration", categories=["ring", "mesh"]),
    axis("Mean response time", "µs", log=True),
    [
        series("ring", "simulated", "ring", [estimate(0, SIMULATED), point(1, None)], metric="p50"),
        series("published", "published", "", [point(1, 900.0)], line=False),
        series("nothing", "measured", "mesh", []),
    ],
    ["A note."],
)


def test_the_points_of_a_chart_are_rows_in_full_precision() -> None:
    assert [dict(zip(NAMES, row, strict=True)) for row in points(CHART)] == [
        dict(zip(NAMES, row, strict=True))
        for row in (
            ("ring", "simulated", "ring", "p50", 0, "ring", 1_420.4, 1_380.0, 1_470.0, 3, "µs"),
            ("ring", "simulated", "ring", "p50", 1, "mesh", None, None, None, 1, "µs"),
            ("published", "published", "", "", 1, "mesh", 900.0, None, None, 1, "µs"),
        )
    ]


def test_people_read_them_with_units() -> None:
    heads, rows = table(CHART)
    assert heads == ["Series", "Configuration", "Mean response time", "95 % interval", "n"]
    assert rows == [
        ["ring (simulated)", "ring", "1.42\u202fms", "1.38\u202fms to 1.47\u202fms", "3"],
        ["ring (simulated)", "mesh", "–", "", "1"],
        ["published", "mesh", "900\u202fµs", "", "1"],
    ]


def test_a_band_lies_along_x() -> None:
    curve = chart("ecdf", "", axis("Time", "ms"), axis("Share", "%"), [])
    banded = {
        **curve,
        "band": "95 % of runs",
        "series": [series("a", "measured", "", [point(2.5, 50, x_low=2, x_high=3)])],
    }
    assert [row[4:9] for row in points(banded)] == [[2.5, "", 50, 2, 3]]
    heads, rows = table(banded)
    assert (heads[3], rows[0][3]) == ("95 % of runs", "2.00\u202fms to 3.00\u202fms")


def test_a_figure_is_escaped_and_says_what_it_draws() -> None:
    assert "Response time &lt;of&gt; a ring" in figure(CHART)
    assert "A note." in figure(CHART)
    assert ("as published" in figure(CHART, PUBLISHED), "A note." in figure(CHART, PUBLISHED)) == (True, False)
    remarked = figure({**CHART, "remark": "Another workload."}, BOTH)
    assert ("as measured here" in remarked, "Another workload." in remarked) == (True, True)
    assert ("<noscript>" in figure(CHART), "<noscript>" in figure(CHART, with_data=True)) == (False, True)


def test_a_file_has_every_module_that_its_modules_import() -> None:
    imports = import_map("report")["imports"]
    scripts = {
        name: b64decode(url.removeprefix("data:text/javascript;base64,")).decode() for name, url in imports.items()
    }
    asked = {
        name for script in scripts.values() for name in re.findall(r'^import .* from "(.*)";$', script, re.MULTILINE)
    }
    assert asked == set(scripts) - {"report"}
    assert {"estimates", "format", "looks"} <= asked
    assert not any("import(" in script for script in scripts.values()), "none that comes later, by a path"


def test_a_report_without_runs_is_a_whole_file_that_names_no_other_address() -> None:
    result = {
        "title": "</script>",
        "configurations": [],
        "notes": ["<b>"],
        "charts": [CHART],
        "provenance": {"runs": []},
    }
    page = render(result)
    assert (page.count("</script>"), "&lt;b&gt;" in page) == (page.count("<script"), True)
    assert json.loads(page.split('id="charts">')[1].split("</script>")[0])["means"] == json.loads(json.dumps(CHART))
    assert not re.search(r"""(?:src|href)=["']https?://|@import|url\(["']?https?:""", page)


def test_an_installation_without_its_static_files_says_so(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(standalone, "STATIC", tmp_path)
    with pytest.raises(TelemetryError, match=r"echarts\.min\.js is missing from the installation"):
        read(standalone.LIBRARY)
