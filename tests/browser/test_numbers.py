"""A number that a script writes reads as one that the server wrote: pages are one and the same before and after."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from telemetry import formatting
from telemetry.charts.live import format_of
from telemetry.measures import Measure
from tests.browser.conftest import WIDE, Shown

UNITS = ("us", "ms", "s", "bytes", "J", "per_s", "share", "cores", "")
VALUES = [0, 0.0001234, 0.9994, 0.9996, 1, 1.005, 9.994, 9.996, 12.3456, 99.95, 100, 999, 999.4, 999.6, 1_000, 1_234.5]
VALUES += [9_995, 9_996, 99_960, 999_499, 999_600, 1_234_567, 59_999_999, 9_996_000_000, -3.14159, -9.996, -1_234_567]
WRITTEN = {
    "us": formatting.us,
    "size": formatting.size,
    "count": formatting.count,
    "sig3": formatting.sig3,
    "ms": formatting.ms,
    "seconds": formatting.seconds,
}
WRITTEN |= {"joules": formatting.joules, "share": formatting.share}


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_scripts_write_numbers_as_the_server_does(page: Page, shown: Shown) -> None:
    page.goto(shown.url)
    ask = "([name, values]) => import('/static/js/format.js').then((format) => values.map(format[name]))"
    for name, write in WRITTEN.items():
        values = [value for value in VALUES if name != "count" or float(value).is_integer()]
        by_script = page.evaluate(ask, [name, [*values, None]])
        assert dict(zip(values, by_script, strict=False)) == {value: write(value) for value in values}, name
        assert by_script[-1] == write(None) == "–"


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_scripts_write_measures_of_every_unit_as_the_server_does(page: Page, shown: Shown) -> None:
    page.goto(shown.url)
    ask = "([form, value]) => import('/static/js/format.js').then((format) => format.writer(form)(value))"
    measures = [Measure("m", "M", unit, ("m",), "") for unit in (*UNITS, "packets")]
    measures += [Measure("m", "M", unit, ("m",), "", is_count=True) for unit in ("", "packets")]
    for one in measures:
        form = format_of(one.unit, is_count=one.is_count)
        for value in (0, 0.5, 12, 12_000, None):
            if value is None or not one.is_count or float(value).is_integer():
                assert page.evaluate(ask, [form, value]) == one.text(value), (one, value)
