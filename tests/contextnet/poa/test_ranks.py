"""The scores of gateways, and the statistics that they follow from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.systems.contextnet.poa.ranks import LEAST, RANKS, Load, capacity, headroom, latency
from overlay.systems.contextnet.poa.reports import Reports
from overlay.systems.contextnet.poa.statistics import Statistics, statistics_of
from overlay.systems.contextnet.records.records import ConnectionReport, Held, Pong

NAMES = st.sampled_from(["a", "b", "c"])
SHARE = st.floats(0, 1)
LOADS = st.dictionaries(
    NAMES, st.builds(Load, SHARE, SHARE, SHARE, st.integers(0, 5_000), st.integers(0, 20_000)), min_size=1
)
STATISTICS = st.dictionaries(NAMES, st.builds(statistics_of, st.integers(0, 9), st.lists(st.integers(0, 10**7))))


@given(STATISTICS, LOADS)
def test_every_rank_gives_each_gateway_a_score_above_zero(
    statistics: dict[str, Statistics], loads: dict[str, Load]
) -> None:
    for rank in RANKS.values():
        scores = rank(statistics, loads)
        assert scores.keys() == loads.keys()
        assert all(score >= LEAST for score in scores.values())


def test_headroom_is_what_is_left_of_the_scarcest() -> None:
    loads = {"a": Load(0.25, 0.5, 0.1, 10, 100), "b": Load(1.0, 0.0, 0.0, 10, 100)}
    assert headroom({}, loads) == {"a": 0.5, "b": LEAST}


def test_latency_compares_medians_and_counts_unanswered_pings() -> None:
    loads = dict.fromkeys("abc", Load(0, 0, 0, 10, 100))
    statistics = {"a": statistics_of(4, [10, 10]), "b": statistics_of(1, [30])}
    assert latency(statistics, loads) == {"a": 0.5 * 20 / 30, "b": 20 / 50, "c": 0.5}


def test_capacity_is_connections_per_load_and_follows_the_limit_where_too_few_are_connected() -> None:
    loads = {
        "a": Load(0.5, 0.1, 0.9, 1_000, 4_000),
        "b": Load(0.1, 0.5, 0.9, 500, 4_000),
        "c": Load(0.0, 0.0, 0.1, 0, 8_000),
    }
    assert capacity({}, loads) == {"a": 2_000, "b": 1_000, "c": 8_000 * (0.5 + 0.25) / 2}
    assert capacity({}, {"a": Load(0, 0, 0, 0, 4_000), "b": Load(0, 0, 0, 0, 8_000)}) == {"a": 4_000, "b": 8_000}


@given(st.integers(0, 5), st.lists(st.integers(0, 10**7)))
def test_the_ping_rate_is_a_share_and_the_moments_fit_their_bounds(pinged: int, rtts: list[int]) -> None:
    found = statistics_of(pinged, rtts)
    assert 0 <= found.ping_rate <= 1
    assert found.min_us <= found.median_us <= found.max_us
    assert found.min_us - 1e-3 <= found.mean_us <= found.max_us + 1e-3
    assert found.sd_us**2 == pytest.approx(found.variance_us2)


def report(seq: int, part: int, parts: int, *pongs: Pong) -> ConnectionReport:
    held = (Held(bytes([part]) * 16, 1),)
    return ConnectionReport("gateway-0", seq, 5, 1, 2_000, 4, pongs, held, part, parts)


def test_a_report_is_whole_with_its_last_part_and_late_pongs_do_not_count() -> None:
    reports = Reports()
    assert reports.add(report(1, 0, 2, Pong(b"a" * 16, 1_000), Pong(b"b" * 16, 2_000_001))) is None
    whole = reports.add(report(1, 1, 2, Pong(b"c" * 16, 3_000)))
    assert whole is not None
    assert (len(whole.epochs), whole.statistics.pinged, whole.statistics.pongs) == (2, 4, 2)
    assert (whole.statistics.mean_us, whole.statistics.sd_us, whole.statistics.ping_rate) == (2_000, 1_000, 0.5)


def test_a_report_with_a_missing_part_is_given_up() -> None:
    reports = Reports()
    assert reports.add(report(1, 0, 3)) is None
    assert reports.add(report(2, 1, 2)) is None
    assert reports.add(report(2, 0, 1)) is not None
    assert reports.incomplete == 2
