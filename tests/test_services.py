"""The service-time model: what it charges, what it draws, and what it refuses to read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.core.node import MILLISECOND, SECOND
from overlay.core.service_times import RANKS, Curve, Delays, Memory, ServiceModel, Work


def even(low: float, high: float) -> tuple[float, ...]:
    """The quantiles of an even distribution from ``low`` to ``high``."""
    return tuple(low + (high - low) * rank for rank in RANKS)


DELAYS = Delays((0.001, 1.0), (even(10, 30), even(100, 300)))

MODEL = ServiceModel(
    batch_us=10,
    received_us={2: 5, 3: 4},
    other_us=6,
    sent_us=3,
    forwarded_us=20,
    kilobyte_us=1,
    scan_us=0,
    scanned_us=Curve((0.001, 0.1), (0.1, 0.2)),
    matched_us=Curve((0.001, 0.1), (0.5, 0.8)),
    client_sends_us=30,
    client_receives_us=8,
    cold_us=Curve((0.001, 1.0), (0.0, 40.0)),
    to_broker=DELAYS,
    between=DELAYS,
    to_client=DELAYS,
    timer=DELAYS,
    memory=Memory(6e6, 2e6, 1e6, 250, 400),
    measured={"name": "a machine of the test's"},
)

ANSWERED = Work([3], [5, 4, 5], 0)
ranks = st.floats(0, 1)
idles = st.integers(0, 100 * SECOND)


def test_a_request_costs_what_its_parts_do() -> None:
    assert MODEL.cost_ns(ANSWERED, 0) == (10 + 4 + 3 * 3) * 1000
    assert MODEL.cost_ns(ANSWERED._replace(moved_bytes=2000), 0) == (23 + 2) * 1000


def test_a_request_sent_on_costs_more_than_its_datagrams() -> None:
    assert MODEL.cost_ns(Work([3], [5, 3], 0), 0) == (10 + 4 + 2 * 3 + 20) * 1000


def test_a_message_that_was_not_measured_costs_what_the_others_do() -> None:
    assert MODEL.cost_ns(Work([27], [], 0), 0) == (10 + 6) * 1000


def test_after_a_sleep_it_takes_longer() -> None:
    assert MODEL.cost_ns(ANSWERED, 5 * SECOND) == MODEL.cost_ns(ANSWERED, MILLISECOND) + 40_000


def test_a_scan_is_charged_by_the_entry() -> None:
    plain = MODEL.cost_ns(ANSWERED, 0)
    assert MODEL.cost_ns(ANSWERED._replace(scanned=1000), 0) == plain + 100_000
    assert MODEL.cost_ns(ANSWERED._replace(scanned=1000, matched=1000), 0) == plain + 600_000


def test_after_a_sleep_each_entry_of_a_scan_costs_more() -> None:
    scan = ANSWERED._replace(scanned=1000, matched=1000)
    assert MODEL.cost_ns(scan, 5 * SECOND) == MODEL.cost_ns(ANSWERED, 5 * SECOND) + 1_000_000


@given(st.integers(0, 10**6), st.integers(0, 10**6), idles)
def test_more_entries_never_cost_less(few: int, more: int, idle: int) -> None:
    costs = [MODEL.cost_ns(ANSWERED._replace(scanned=n, matched=n), idle) for n in sorted((few, few + more))]
    assert costs == sorted(costs)


@given(idles, ranks)
def test_a_delay_lies_within_what_was_measured(idle: int, rank: float) -> None:
    assert 10_000 <= DELAYS.ns(idle, rank) <= 300_000


@given(ranks)
def test_a_delay_comes_out_at_its_rank(rank: float) -> None:
    assert DELAYS.ns(0, rank) == pytest.approx((10 + 20 * rank) * 1000, abs=2)
    assert DELAYS.ns(SECOND, rank) == pytest.approx((100 + 200 * rank) * 1000, abs=2)


@given(idles, ranks, ranks)
def test_a_higher_rank_is_never_a_shorter_delay(idle: int, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert DELAYS.ns(idle, low) <= DELAYS.ns(idle, high)


def test_memory_is_the_table_and_a_little_for_each_thing_in_it() -> None:
    assert MODEL.memory.over_idle(entries=100, table_bytes=110_000, pending=5) == 110_000 + 25_000 + 2_000


def test_a_model_survives_being_written_and_read() -> None:
    assert ServiceModel.from_json(json.loads(json.dumps(MODEL.to_json()))) == MODEL


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in MODEL.to_json().items() if key != name}


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("hello", "calibration: must be an object"),
        (without("sent_us"), "sent_us: is missing"),
        (without("format"), "format: must be 2"),
        ({**MODEL.to_json(), "price": 3}, "price: is unknown"),
        ({**MODEL.to_json(), "sent_us": -1}, "sent_us: must be made of numbers of at least 0, not -1"),
        ({**MODEL.to_json(), "sent_us": float("nan")}, "sent_us: must be made of numbers"),
        ({**MODEL.to_json(), "received_us": {"three": 1}}, "received_us: must have the codes"),
        ({**MODEL.to_json(), "memory": {"idle_rss": 1}}, "memory: must have the fields of Memory"),
        (
            {**MODEL.to_json(), "cold_us": {"idle_s": [1, 0.1], "values": [1, 1]}},
            "cold_us.idle_s: must be one or more",
        ),
        ({**MODEL.to_json(), "timer": {"idle_s": [1], "quantiles_us": [[3]]}}, "timer.quantiles_us: must have"),
        (
            {**MODEL.to_json(), "timer": {"idle_s": [1], "quantiles_us": [list(reversed(even(1, 2)))]}},
            "timer.quantiles_us: must not fall",
        ),
    ],
)
def test_what_is_no_model_is_refused_by_name(document: Any, sentence: str) -> None:
    with pytest.raises(InvalidSetting) as refusal:
        ServiceModel.from_json(document)
    assert str(refusal.value).startswith(sentence)
