"""The measures of a run, from a few facts written by hand."""

from __future__ import annotations

import pytest

from overlay.journal.facts import Delivery, Event, Row, Sample, Tick
from overlay.systems.radiator.measuring import measures
from overlay.systems.radiator.names import MEASURES, call_name, propagation_name

E1, E2 = f"{1:016x}", f"{2:016x}"


def phase(name, at_us):
    return Event("supervisor", at_us, "phase", {"phase": name, "reason": ""})


def call(number, intended, outcome="answered"):
    name = call_name(7, number)
    return Sample("client", 0, 0, "measuring", outcome, 0, 1, intended, intended, intended + 5, name, 0)


def accepted(number, at_us, due=2, epoch=E1):
    return Row("server-0", at_us, "messages", [epoch, number, call_name(7, number), due])


def propagated(number, originals, at_us, recipients=2, epoch=1):
    name = propagation_name(epoch, number)
    return Row("server-0", at_us, "propagations", [name, f"{epoch:016x}", originals, recipients, recipients, 0])


def missed(originals, client, outcome, propagation="", epoch=E1, at_us=0):
    row = [epoch, originals, f"client-{client:05d}", outcome, propagation]
    return Row("server-0", at_us, "missed", row)


def delivered(number, client, at_us, epoch=1):
    return Delivery("client", client, 0, "measuring", propagation_name(epoch, number), 0, at_us, 1)


def tick(at_us, **counters):
    known = {"outbound_bytes": 0, "pairs_retained": 0, "reachable": 2, "pending_max": 0, "pairs_in_flight": 0}
    return Tick("server-0", at_us, {**known, **counters}, "", 0, 0, 0, 0)


PHASES = [phase("measuring", 1_000), phase("draining", 3_000_000)]


def test_lag_is_split_into_acceptance_retention_and_transport():
    found = measures(
        [
            *PHASES,
            call(0, 1_000),
            accepted(0, 1_100),
            call(1, 2_000),
            accepted(1, 2_300),
            propagated(1, [0, 1], 2_300),
            delivered(1, 0, 2_900),
            delivered(1, 1, 3_100),
            tick(4_000_000),
        ]
    )
    assert (found["pairs_due"], found["pairs_delivered"], found["aggregation_factor"]) == (4, 4, 2)
    lags = [1_900, 900, 2_100, 1_100]
    assert (found["lag_mean_us"], found["lag_p50_us"], found["lag_p99_us"]) == (sum(lags) / 4, 1_100, 2_100)
    parts = [found[f"lag_{part}_us"] for part in ("acceptance", "retention", "transport")]
    assert parts == [200, 600, 700]
    assert sum(parts) == found["lag_mean_us"]


def test_every_pair_due_is_in_one_state():
    found = measures(
        [
            *PHASES,
            *(call(number, 1_000) for number in range(3)),
            call(3, 1_000, "refused"),
            *(accepted(number, 1_100, due=3) for number in range(3)),
            propagated(1, [0], 1_100, recipients=3),
            delivered(1, 0, 1_200),
            missed([0], 1, "failed", propagation_name(1, 1)),
            missed([0], 0, "unregistered", propagation_name(1, 1)),
            missed([1, 2], 2, "dropped_unreachable"),
            tick(4_000_000, pairs_retained=4, pairs_in_flight=1),
        ]
    )
    assert (found["messages"], found["accepted"], found["refused"]) == (4, 3, 1)
    states = [found[f"pairs_{state}"] for state in ("delivered", "retained", "dropped", "failed")]
    assert states == [1, 4, 2, 2], "what was delivered is delivered, whatever the server knows"
    assert sum(states) == found["pairs_due"] == 9
    assert found["pairs_in_flight"] == 1


def test_what_was_pending_when_a_server_crashed_is_dropped():
    found = measures(
        [
            *PHASES,
            call(0, 1_000),
            accepted(0, 1_100, due=3),
            propagated(1, [0], 1_100, recipients=1),
            delivered(1, 0, 1_200),
            call(1, 2_000),
            accepted(0, 2_100, due=1, epoch=E2),
            propagated(1, [0], 2_100, recipients=1, epoch=2),
            delivered(1, 0, 2_200, epoch=2),
            tick(4_000_000),
        ]
    )
    assert (found["pairs_due"], found["pairs_delivered"], found["pairs_dropped"], found["pairs_failed"]) == (4, 2, 2, 0)


def test_what_was_pending_when_a_server_crashed_is_dropped_although_the_next_one_accepted_nothing():
    ended = Event("supervisor", 2_500, "process_ended", {"process": "server-0"})
    waiting = [*PHASES, call(0, 1_000), accepted(0, 1_100, due=3)]
    alive, dead = measures([*waiting, tick(4_000_000)]), measures([*waiting, ended, tick(4_000_000)])
    assert (alive["pairs_retained"], alive["pairs_dropped"]) == (3, 0)
    assert (dead["pairs_retained"], dead["pairs_dropped"], dead["pairs_failed"]) == (0, 3, 0)


def test_the_shutdown_after_draining_drops_nothing():
    """As live servers do when their run is over."""
    found = measures(
        [
            *PHASES,
            phase("finished", 3_500_000),
            call(0, 1_000),
            accepted(0, 1_100, due=2),
            call(1, 1_000),
            accepted(1, 1_200, due=2),
            propagated(1, [1], 1_200),
            delivered(1, 0, 1_300),
            missed([0], 0, "shut down", at_us=3_600_000),
            missed([0], 1, "shut down", at_us=3_600_000),
            missed([1], 1, "shut down", propagation_name(1, 1), at_us=3_600_000),
            Event("supervisor", 3_600_000, "process_ended", {"process": "server-0"}),
            tick(3_600_000),
        ]
    )
    states = [found[f"pairs_{state}"] for state in ("delivered", "retained", "dropped", "failed", "in_flight")]
    assert states == [1, 2, 0, 1, 1]


def test_bytes_are_counted_from_the_start_of_measuring_over_restarts():
    ticks = [tick(at * 1_000_000, outbound_bytes=sent) for at, sent in ((0, 70), (1, 100), (2, 150), (3, 40), (4, 50))]
    found = measures([*PHASES, *ticks])
    assert found["outbound_bytes"] == 30 + 50 + 40 + 10
    assert found["outbound_cv"] == pytest.approx(5 / 45)
    assert found["bytes_per_pair"] is None


def test_traffic_varies_over_the_whole_seconds_of_measuring():
    """Neither the part before its begin nor that before its end counts."""
    sent = ((0, 70), (500, 100), (1_500, 300), (2_500, 400), (2_800, 900), (3_800, 999))
    ticks = [tick(at * 1_000, outbound_bytes=total) for at, total in sent]
    found = measures([phase("measuring", 500_000), phase("draining", 2_800_000), *ticks])
    assert (found["outbound_bytes"], found["outbound_cv"]) == (899, pytest.approx(50 / 150))


def test_a_second_callback_with_the_same_message_is_a_duplicate():
    emitted = [propagated(1, [0], 1_100), propagated(2, [0], 1_300)]
    arrived = [delivered(1, 0, 1_200), delivered(2, 0, 1_400)]
    found = measures([*PHASES, call(0, 1_000), accepted(0, 1_100), *emitted, *arrived])
    assert (found["duplicates"], found["pairs_delivered"], found["lag_mean_us"]) == (1, 1, 200)


def test_names_are_those_of_the_contract():
    """As scripts of others read them: ``measures`` of ``simulate --json`` and of a summary."""
    assert {
        *("messages", "accepted", "refused", "pairs_due", "pairs_delivered", "pairs_retained", "pairs_dropped"),
        *("pairs_failed", "duplicates", "lag_mean_us", "lag_p95_us", "outbound_bytes", "outbound_bytes_uncompressed"),
        *("bytes_per_pair", "pushes", "chains", "repairs", "aggregation_factor", "client_to_client_bytes"),
    } <= set(MEASURES)


def test_a_run_without_facts_has_no_values():
    assert set(measures([])) == set(MEASURES)
    assert measures([])["lag_mean_us"] is None
