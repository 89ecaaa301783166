"""What a run must keep: read once, judged against what was measured."""

from __future__ import annotations

import pytest

from overlay.errors import InvalidSetting
from telemetry.filters import InvalidFilter
from telemetry.thresholds import judge, passed, read, read_all

SUMMARY = {"p95": 1_800.0, "not_found": 0, "answer_ratio": 0.985, "memory": {"mean": {"rss_bytes": 64_000_000}}}


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
    assert judge([read("p95 < 2ms")], {}) == [{"text": "p95 < 2ms", "value": None, "held": False}]


def test_a_run_passes_when_all_hold_and_neither_passes_nor_fails_without_any() -> None:
    assert passed(judge(read_all(["p95 < 2ms", "not_found = 0"]), SUMMARY)) is True
    assert passed(judge(read_all(["p95 < 2ms", "p95 < 1ms"]), SUMMARY)) is False
    assert passed(judge([], SUMMARY)) is None


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("p59 < 2ms", 0, "there is no figure “p59”; did you mean p95?"),
        ("p95 < 2", 6, "needs a unit"),
        ("p95 ~ 2ms", 0, "not by ~"),
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
