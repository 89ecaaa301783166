"""What a run must keep: read once, judged against what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from telemetry.filters import InvalidFilter
from telemetry.statistics import metrics
from telemetry.thresholds import broken, judge, passed, read, read_all

SUMMARY = {
    "p95": 1_800.0,
    "not_found": 0,
    "requests": 200,
    "answered": 200,
    "answer_ratio": 0.985,
    "memory": {"mean": {"rss_bytes": 64_000_000}},
}


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("p95 < 2ms", True),
        ("p95 < 1800us", False),
        ("P95 <= 1.8ms", True),
        ("not_found = 0", True),
        ("not_found != 0", False),
        ("answer_ratio >= 99%", False),
        ("rss < 100MB", True),
    ],
)
def test_a_threshold_holds_or_does_not(text: str, held: bool) -> None:
    (judged,) = judge([read(text)], SUMMARY)
    assert (judged["text"], judged["held"]) == (text, held)
    assert judged["value"] is not None


def test_what_was_not_measured_keeps_nothing() -> None:
    assert judge([read("p95 < 2ms")], {}) == [{"text": "p95 < 2ms", "value": None, "held": False, "why": ""}]


def answered_in(took_us: list[float], *, lost: int, rightly_not_found: int = 0) -> dict[str, Any]:
    """The part of a summary that time is judged by; answers took so long."""
    bounds = {"requests": len(took_us) + lost, "unanswered": lost, **metrics.bounds(np.array(took_us), lost)}
    requests = len(took_us) + lost + rightly_not_found
    return {"requests": requests, "answered": len(took_us), "p95": 1_000.0, "p50": 1_000.0, "bounds": bounds}


def test_a_request_without_an_answer_is_beyond_every_bound() -> None:
    """Of 1,000 requests 200 timed out, and the 800 others were quick: that p95 is 1 ms is no reason to be green."""
    summary = answered_in([1_000.0] * 800, lost=200)
    ninety_five, median, mean = judge(read_all(["p95 < 2ms", "p50 < 2ms", "mean < 2ms"]), summary)
    assert ninety_five == {
        "text": "p95 < 2ms",
        "value": None,
        "held": False,
        "why": "200 of 1,000 requests got no answer, so p95 is unbounded",
    }
    assert (median["value"], median["held"]) == (1_000.0, True)
    assert median["why"] == "200 of 1,000 requests got no answer and count as slower than the others"
    assert (mean["held"], mean["why"]) == (False, "200 of 1,000 requests got no answer, so mean is unbounded")
    assert broken([ninety_five]) == "p95 < 2ms (200 of 1,000 requests got no answer, so p95 is unbounded)"
    assert judge([read("p95 > 2ms")], summary)[0]["held"]


@given(st.lists(st.integers(1, 10_000_000), max_size=60), st.integers(0, 20))
def test_a_percentile_is_that_of_all_requests_the_lost_ones_slowest(took_us: list[int], lost: int) -> None:
    found = metrics.bounds(np.array(took_us), lost)
    slow = 10**9
    for percent in metrics.PERCENTILES:
        last_looked_at = -(-percent * (len(took_us) + lost - 1) // 100)
        is_bounded = 0 <= last_looked_at < len(took_us)
        true = np.percentile([*took_us, *[slow] * lost], percent) if is_bounded else None
        assert found[f"p{percent}"] == (pytest.approx(true) if is_bounded else None)


def test_an_older_run_is_judged_by_the_answers_it_has_where_they_are_enough() -> None:
    old = {"requests": 1_000, "answered": 960, "p95": 1_000.0, "p99": 1_500.0}
    enough, too_few = judge(read_all(["p95 < 2ms", "p99 < 2ms"]), old)
    assert enough["held"] and not too_few["held"]
    assert too_few["why"] == "40 of 1,000 requests got no answer, so p99 is unbounded"


def test_a_run_passes_when_all_hold_and_neither_passes_nor_fails_without_any() -> None:
    assert passed(judge(read_all(["p95 < 2ms", "not_found = 0"]), SUMMARY)) is True
    assert passed(judge(read_all(["p95 < 2ms", "p95 < 1ms"]), SUMMARY)) is False
    assert passed(judge([], SUMMARY)) is None


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("p59 < 2ms", 0, "there is no figure “p59”; did you mean p95?"),
        ("p95 < 2", 6, "needs a unit"),
        ("p95 ~ 2ms", 0, "not with ~"),
        ("p95 < 2ms and p99 < 4ms", 0, "one comparison"),
        ("fast", 0, "one comparison"),
        ("p95 <", 5, "a value is missing"),
    ],
)
def test_what_is_no_threshold_is_refused_where_it_goes_wrong(text: str, position: int, said: str) -> None:
    with pytest.raises(InvalidFilter) as refused:
        read(text)
    assert refused.value.position == position
    assert said in refused.value.sentence
    with pytest.raises(InvalidSetting) as of_definition:
        read_all(["p95 < 2ms", text])
    assert of_definition.value.field == "thresholds.1"
