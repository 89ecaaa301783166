"""The measures of a federation, from made-up facts with known answers."""

from __future__ import annotations

import pytest

from overlay.journal.facts import Event, Fact
from overlay.systems.federation.measuring import measures
from tests.federation.recorded import at, fault, learned, noted, notified, removed, start, subscribed, tick


def found(*facts: Fact) -> dict[str, float | None]:
    return dict(measures([*start(), *facts]))


def test_a_run_without_anything_has_no_measures_but_counts_of_nothing() -> None:
    nothing = found()
    assert {name for name, value in nothing.items() if value is not None} == {
        *("subscriptions", "notifications", "cache_received", "false_positives")
    }
    assert nothing["subscriptions"] == nothing["notifications"] == 0


def test_times_are_from_the_intended_sending_to_the_first_notification_and_of_satisfied_subscriptions_only() -> None:
    one = found(
        subscribed(1, 0, 20),
        subscribed(2, 100, 140, sent_us=at(110)),
        subscribed(3, 200),
        subscribed(4, 300, 31_000),
        subscribed(5, -5_000, -4_000),
        *(noted(number, 10 * number) for number in (1, 2)),
    )
    assert (one["subscriptions"], one["satisfied"], one["unsatisfied"]) == (4, 2, 2)
    assert one["ts_mean_us"] == 30_000
    assert one["ts_sd_us"] == pytest.approx(14_142.1, abs=0.1)
    assert (one["ts_p50_us"], one["ts_p95_us"]) == (30_000, pytest.approx(39_000))
    assert one["notifications"] == 2


# ---- the oracle


def stream(*facts: Fact) -> dict[str, float | None]:
    """A subscription that lasts, known everywhere since it got note 1 at 100 ms."""
    return found(subscribed(1, 0, 110, once=False), noted(1, 100), notified(1, 1, 110), *facts)


def test_a_notification_that_follows_one_that_came_is_owed_and_one_before_it_is_not() -> None:
    assert stream(noted(2, 200), notified(1, 2, 210))["lost"] == 0
    assert stream(noted(2, 200))["lost"] == 1
    assert stream(noted(2, 200))["owed"] == 2
    assert stream(noted(2, 50))["lost"] == 0
    assert stream(noted(2, 200, scope="s1"))["lost"] == 0


def test_a_notification_is_owed_where_its_provider_was_asked_or_the_subscription_is_old() -> None:
    alone = subscribed(1, 0, once=False)
    assert found(alone, noted(1, 50))["lost"] == 0
    assert found(alone, noted(1, 50, ["c0|1"]))["lost"] == 1
    assert found(alone, noted(1, 5_100))["lost"] == 1
    assert found(alone, noted(1, 50, ["c0|2"]))["lost"] == 0


def test_a_notification_from_a_cache_shows_nothing_of_the_way() -> None:
    way = (subscribed(1, 0, 110, once=False, cached=True), noted(1, 100), notified(1, 1, 110, cached=True))
    assert found(*way, noted(2, 200))["lost"] == 0


@pytest.mark.parametrize("ms", [400, 2_000])
def test_what_is_in_flight_at_a_crash_or_comes_before_the_repair_is_in_the_window(ms: int) -> None:
    crash = fault(1_000, "kill", brokers=[1])
    one = stream(crash, noted(2, ms))
    assert (one["lost"], one["in_window"]) == (0, 1)


def test_once_a_notification_came_after_a_crash_the_next_ones_are_owed() -> None:
    crash = fault(1_000, "kill", 2_000, brokers=[1])
    one = stream(crash, noted(2, 3_000), notified(1, 2, 3_010), noted(3, 4_000), noted(4, 2_000))
    assert (one["lost"], one["in_window"]) == (1, 1)


def test_a_way_must_work_again_a_minute_after_a_fault_has_ended() -> None:
    long = subscribed(1, 0, 110, once=False, expires_ms=10**14)
    way = (long, noted(1, 100), notified(1, 1, 110), fault(1_000, "partition", 20_000, islands=[[0], [1]]))
    assert found(*way, noted(2, 79_000))["in_window"] == 1
    assert found(*way, noted(2, 81_000))["lost"] == 1
    assert found(*way[:3], fault(1_000, "partition", islands=[[0], [1]]), noted(2, 190_000))["in_window"] == 1


def test_what_is_published_just_before_the_end_of_a_subscription_may_expire_on_its_way() -> None:
    one = stream(noted(2, 29_000))
    assert (one["lost"], one["in_window"]) == (0, 1)
    assert stream(noted(2, 31_000))["in_window"] == 0


def test_a_query_is_owed_one_notification() -> None:
    assert found(subscribed(1, 0, 20), noted(1, 10), noted(2, 6_000), notified(1, 1, 20))["lost"] == 0
    assert found(subscribed(1, 0), noted(1, 10))["lost"] == 0
    several = found(subscribed(1, 0), noted(1, 10, ["c0|1"]), noted(2, 6_000))
    assert (several["unsatisfied"], several["lost"]) == (1, 1)
    assert found(subscribed(1, 0, accepted_us=0), noted(2, 6_000))["lost"] == 0


def test_a_pair_that_comes_again_is_a_duplicate_and_another_subscription_is_another_pair() -> None:
    once = (subscribed(1, 0, once=False), noted(1, 100), notified(1, 1, 110))
    assert found(*once)["duplicates"] == 0
    several = found(*once, notified(1, 1, 120), notified(1, 1, 130, cached=True))
    assert (several["duplicates"], several["duplicates_cached"]) == (2, 1)
    assert found(*once, subscribed(2, 50, once=False), notified(2, 1, 120))["duplicates"] == 0


def test_what_no_live_subscription_wants_is_spurious() -> None:
    assert stream()["spurious"] == 0
    assert stream(noted(2, 200, scope="s1"), notified(1, 2, 210))["spurious"] == 1
    assert stream(noted(2, 200), notified(9, 2, 210))["spurious"] == 0, "another one of this client wants it"
    assert found(noted(2, 200), notified(9, 2, 210))["spurious"] == 1
    withdrawn = subscribed(1, 0, once=False, ended_us=at(1_000), reason="withdrawn")
    assert found(withdrawn, noted(1, 1_100), notified(1, 1, 1_500))["spurious"] == 0, "it may have been under way"
    assert found(withdrawn, noted(1, 1_100), notified(1, 1, 2_500))["spurious"] == 1


def test_a_query_ends_with_its_first_notification() -> None:
    query = (subscribed(1, 0, 20), noted(1, 10), notified(1, 1, 20), noted(2, 30))
    assert found(*query)["spurious"] == 0
    assert found(*query, notified(1, 2, 40))["spurious"] == 1


def test_expressions_are_evaluated_as_far_as_notes_are_recorded() -> None:
    other = subscribed(1, 0, once=False, expression='["entity.id", "=", "r1"]')
    assert found(other, noted(1, 6_000))["lost"] == 0
    assert found(other, noted(1, 6_000), notified(1, 1, 6_010))["spurious"] == 1
    unknown = subscribed(1, 0, once=False, expression='["v", ">", 3]')
    assert found(unknown, noted(1, 6_000))["lost"] == 0
    assert found(unknown, noted(1, 6_000), notified(1, 1, 6_010))["spurious"] == 0


# ---- counters


def test_counters_grow_from_the_start_of_measuring_and_restart_at_zero() -> None:
    ticks = [
        tick("broker-0", 0, out_forward=100, hits=5, cache_received=50, visits=7, busy_ns=1_000_000),
        tick("broker-0", 1_000, out_forward=110, hits=8, cache_received=70, visits=11, busy_ns=9_000_000),
        tick("broker-0", 2_000, out_forward=4, hits=1, cache_received=6, visits=2, busy_ns=1_000_000),
        tick("bdrs-0", 1_000, out_forward=1_000),
    ]
    one = found(*ticks, subscribed(1, 0, 10), subscribed(2, 0, 100), *(noted(n, n) for n in range(7)))
    assert one["messages_per_notification"] == 14 / 7
    assert one["cache_hit_share"] == 4 / 26
    assert one["cache_hit_share_max"] == pytest.approx(7 / 70)
    assert one["visits_per_query"] == 3
    assert one["utilisation_max"] == pytest.approx(0.09)
    assert one["energy_per_query_j"] is None


def test_how_stale_hits_are_and_how_long_bulk_keeps_subscriptions() -> None:
    bulk = {"bulk_batches": 2, "bulk_sent": 10, "bulk_delay_ms": 5_000}
    one = found(tick("broker-0", 0), tick("broker-0", 1_000, hits=4, cache_age_ms=6_000, **bulk))
    assert (one["cache_age_mean_s"], one["bulk_delay_mean_s"], one["bulk_batch_mean"]) == (1.5, 0.5, 5)


def test_energy_and_subscriptions_sent_are_of_each_subscription() -> None:
    energy = {"energy_uj": 3_000_000, "radio_uj": 2_000_000, "cpu_uj": 1_000_000}
    counters = {**energy, "subtable_added": 5, "subtable_removed": 4, "out_subtable_bytes": 200}
    one = found(tick("broker-2", 0), tick("broker-2", 1_000, **counters), subscribed(1, 0), subscribed(2, 1))
    assert (one["energy_per_query_j"], one["radio_per_query_j"], one["cpu_per_query_j"]) == (1.5, 1.0, 0.5)
    assert (one["messages_per_subscription"], one["removals_per_subscription"]) == (2.5, 2)
    assert one["bytes_per_subscription"] == 100


# ---- disappearances

BROKERS = [tick(f"broker-{index}", 1_000) for index in range(3)]


def test_a_disappearance_is_known_when_the_receivers_are_told_and_its_own_broker_is_none() -> None:
    one = found(
        *BROKERS,
        fault(1_000, "vanish", 11_000, clients=["provider-3"], way="proper"),
        removed("broker-0", 1_002, "p3"),
        learned("broker-0", 1_002, "p3"),
        learned("broker-1", 1_004, "p3"),
        learned("broker-2", 1_006, "p3"),
        learned("broker-2", 1_900, "p3"),
        learned("broker-1", 1_001, "p4"),
    )
    assert one["disappearance_known_mean_s"] == 0.005
    assert one["disappearance_known_max_s"] == 0.006
    assert one["disappearance_told_mean_s"] == pytest.approx(0.003)
    assert one["disappearance_unknown"] == 0
    assert one["settle_s"] == 0.9


def test_a_broker_that_vanishes_is_removed_by_the_registration_service_and_pairs_that_never_learn_are_counted() -> None:
    gone = Event("bdrs-0", at(4_500), "BrokerRemoved", {"broker": "b1", "reason": "silent", "silent_us": 4_000_000})
    one = found(
        *BROKERS,
        fault(1_000, "vanish", brokers=[1], way="improper"),
        gone,
        learned("broker-0", 4_510, "b1", "brokers"),
    )
    assert one["disappearance_known_mean_s"] == 3.51
    assert one["disappearance_unknown"] == 1
    assert (one["grace_min_s"], one["grace_max_s"]) == (4.0, 4.0)


def test_a_network_has_settled_with_the_last_subscription_that_is_told_again() -> None:
    crash = fault(1_000, "kill", 2_000, brokers=[1])
    ended = Event("supervisor", at(2_000), "fault_ended", {"what": "kill"})
    ticks = [tick("broker-0", ms, subtable_added=number) for ms, number in ((2_000, 5), (3_000, 7), (4_000, 7))]
    tree = Event("broker-0", at(2_500), "TreeChanged", {"epoch": 4, "neighbours": ["b1"]})
    assert found(crash, ended, *ticks, tree, subscribed(1, 0, once=False))["settle_s"] == 1.0
    assert found(crash, ended, *ticks, tree, subscribed(1, 2_200, once=False))["settle_s"] == 0.5


def test_one_that_vanishes_twice_is_known_twice() -> None:
    one = found(
        *BROKERS[:2],
        fault(1_000, "vanish", 2_000, clients=["provider-0"], way="proper"),
        fault(5_000, "vanish", 6_000, clients=["provider-0"], way="proper"),
        learned("broker-1", 1_010, "p0"),
        learned("broker-1", 5_030, "p0"),
    )
    assert one["disappearance_known_mean_s"] == 0.02
    assert one["disappearance_unknown"] == 0
