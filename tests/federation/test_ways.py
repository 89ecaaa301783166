"""One message's way, of small runs in virtual time."""

from __future__ import annotations

import pytest

from overlay.core.errors import InvalidSetting
from overlay.systems.federation.measuring.oracle import Oracle
from overlay.systems.federation.measuring.records import Facts
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.federation import messages, way_files
from telemetry.systems.federation.ways import Records, Step, Way
from tests.federation.recorded import fault, noted, notified, start, subscribed
from tests.federation.test_system import CHAIN
from tests.federation.test_system import run as ran

SETTINGS = {"trace_one_in": 1, "service_ms": 7, "cache_cap": 0.2}
WORKLOAD = {"providers": 4, "consumers": 3, "scopes": 2, "queries": 40, "rate_per_s": 20}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Its files, and the lake."""
    return collected(tmp_path_factory.mktemp("run"), SETTINGS, WORKLOAD)


def collected(directory, settings, workload, **how):
    files, lake = RunFiles(directory / "r1"), Lake(directory / "lake")
    ran(files.directory, settings=settings, workload=workload, **how)
    manifest = {"system": "federation", "engine": "simulated", "settings": settings, "workload": workload}
    files.write_manifest({**manifest, "topology": {"brokers": 3, "links": [one.to_json() for one in CHAIN.links]}})
    collect(files, lake)
    return files, lake


def rows_of(run, **chosen):
    return messages.listed(run[0], chosen, 0, 10_000)[1]


def test_every_subscription_and_notification_is_listed(run):
    subscriptions = rows_of(run, kind="subscription")
    assert len(subscriptions) == 40
    assert {row["outcome"] for row in subscriptions} == {"satisfied"}
    assert len(rows_of(run, kind="notification")) + len(subscriptions) == len(rows_of(run))
    slowest = rows_of(run, kind="subscription", show="slowest")
    assert [row["us"] for row in slowest] == sorted((row["us"] for row in subscriptions), reverse=True)
    assert rows_of(run, show="lost") == rows_of(run, show="unsatisfied", kind="subscription") == []
    assert {row["scope"] for row in rows_of(run, scope="s1")} == {"s1"}
    assert {row["client"] for row in rows_of(run, client="c2", kind="subscription")} == {"c2"}
    assert {row["entity"] for row in rows_of(run, entity="room r3")} == {"room r3"}
    assert all(row["cached"] for row in rows_of(run, show="cached"))
    assert messages.values(run[0])["scope"] == ["s0", "s1"]


@pytest.mark.parametrize("chosen", [{"show": "nothing"}, {"kind": "letter"}])
def test_what_cannot_be_chosen_is_named(run, chosen):
    with pytest.raises(InvalidSetting, match="must be one of"):
        messages.listed(run[0], chosen, 0, 1)


def test_the_way_of_a_query_to_its_provider_and_back(run):
    row = max((one for one in rows_of(run, kind="subscription") if not one["cached"]), key=lambda one: one["hops"])
    way = way_files.find(*run, row["id"])
    kinds = [one.kind for one in way.messages]
    assert kinds[0] == "SUBSCRIBE"
    assert kinds[-1] == "NOTIFY"
    assert kinds.count("FORWARD") == row["hops"] > 0
    assert {"SUBTABLE", "OFFER", "PUBLISH"} <= set(kinds)
    first, last = way.messages[0], way.messages[-1]
    assert (first.sender, last.receiver) == (row["client"], row["client"])
    assert last.arrived_us - row["at_us"] == row["us"]
    assert sum(one.waited_us for one in way.steps) > 0
    at = row["at_us"]
    for one in way.messages:
        assert one.arrived_us is None or at <= one.sent_us <= one.arrived_us


def test_the_way_of_a_notification_ends_at_those_that_got_it(run):
    for row in rows_of(run, kind="notification"):
        way = way_files.find(*run, row["id"])
        told = {(one.receiver, one.arrived_us) for one in way.messages if one.kind == "NOTIFY"}
        assert told == {(one.client, one.received_us) for one in way.records.deliveries}
        assert len(way.filtered) == sum(one.step == "filtered" for one in way.steps)


def test_a_query_from_the_cache_has_a_short_way(run):
    row = rows_of(run, kind="subscription", show="cached")[0]
    way = way_files.find(*run, row["id"])
    assert [one.kind for one in way.messages] == ["SUBSCRIBE", "NOTIFY"]
    assert way.entered == way.delivering[0]


def test_what_is_lost_and_what_is_in_window_is_told_of_both_ends():
    way = (*start(), subscribed(1, 0, 110, once=False), noted(1, 100), notified(1, 1, 110))
    facts = Facts.of([*way, noted(2, 200), fault(20_000, "kill", brokers=[1]), noted(3, 21_000)])
    rows = {row["id"]: row for row in messages.table(facts, Oracle(facts).found(), ()).to_pylist()}
    told = {id: (row["delivered"], row["lost"], row["in_window"], row["causes"]) for id, row in rows.items()}
    assert told == {
        "s-c0-1": (1, 1, 1, "crash"),
        "n-p0-1": (1, 0, 0, ""),
        "n-p0-2": (0, 1, 0, ""),
        "n-p0-3": (0, 0, 1, "crash"),
    }


def test_without_tracing_there_are_the_records_of_clients(tmp_path):
    found = collected(tmp_path, {"trace_one_in": 0}, {**WORKLOAD, "queries": 5})
    way = way_files.find(*found, rows_of(found, kind="notification")[0]["id"])
    assert (way.row["traced"], way.steps, len(way.records.deliveries) > 0) == (False, [], True)
    assert way_files.find(*found, "s-c0-1") is None


def test_what_a_session_gave_back_did_not_arrive_and_what_was_sent_again_did():
    def at(at_us, broker, step, peer):
        return Step(at_us, broker, "n-p0-1", step, peer, (), "", at_us)

    steps = [
        at(1, "b0", "published", "p0"),
        at(1, "b0", "forwarded", "b1"),
        at(5_000_000, "b0", "returned", "b1"),
        at(6_000_000, "b0", "sent later", "b1"),
        at(6_001_000, "b1", "received", "b0"),
    ]
    way = Way(Records({"kind": "notification", "client": "p0", "number": 1}, 0, steps))
    forwards = [(one.sent_us, one.arrived_us, one.is_lost) for one in way.messages if one.kind == "FORWARD"]
    assert forwards == [(1, None, True), (6_000_000, 6_001_000, False)]


# ---- QUERY

QUERIES = {"providers": 6, "consumers": 3, "scopes": 6, "queries": 40, "rate_per_s": 20, "query_share": 0.5, "needs": 1}
AWAY = {"what": "vanish", "clients": ["p1"], "way": "improper", "at_s": 0}


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    """A run in which providers of scopes 0, 2 and 4 need the scope after theirs. ``p1`` has just vanished."""
    return collected(
        tmp_path_factory.mktemp("asking"), SETTINGS, {**QUERIES, "provider_ms": 5, "expiry_s": 2}, faults=[AWAY]
    )


def asked_of(asking, **chosen):
    return [(row, way_files.find(*asking, row["id"])) for row in rows_of(asking, kind="query", **chosen)]


def test_queries_are_subscriptions_or_go_as_query(asking):
    queries, subscriptions = rows_of(asking, kind="query"), rows_of(asking, kind="subscription")
    assert len(queries) + len(subscriptions) == 40
    assert min(len(queries), len(subscriptions)) > 10
    assert {row["outcome"] for row in queries if row["scope"] in ("s2", "s3", "s4", "s5")} == {"answered"}
    assert {row["outcome"] for row in queries if row["scope"] in ("s0", "s1")} == {"timeout"}
    assert all(row["delivered"] == (row["outcome"] == "answered") for row in queries)


def test_the_way_of_a_query_is_joined_across_brokers(asking):
    row, way = max(
        ((row, way) for row, way in asked_of(asking) if row["outcome"] == "answered"), key=lambda one: len(one[1].asked)
    )
    assert len(way.asked) == 3
    first, last = way.messages[0], way.messages[-1]
    assert (first.kind, first.sender, last.kind, last.receiver) == ("QUERY", row["client"], "ANSWER", row["client"])
    assert last.arrived_us - row["at_us"] == row["us"]
    kinds = [one.kind for one in way.messages]
    assert kinds.count("ANSWER") >= kinds.count("QUERY") >= 4
    assert all(one.arrived_us is not None and one.sent_us <= one.arrived_us for one in way.messages)
    assert {one.sender for one in way.messages} >= {f"p{row['scope'][1:]}", *way.asked}


def test_a_needed_scope_is_asked_for_first_and_its_data_go_with_the_query(asking):
    _, way = next(one for one in asked_of(asking, scope="s2") if one[0]["outcome"] == "answered")
    assert way.scopes == ["s3", "s2"]
    asks = [one.detail.split(" ") for one in way.steps if one.step == "asks" and one.about == way.about]
    assert [(scope, given) for scope, _, given in asks] == [("s3", "0"), ("s2", "1")]


def test_a_query_without_an_answer_in_time_shows_who_did_not_answer(asking):
    row, way = asked_of(asking, scope="s1")[0]
    assert (row["us"], row["delivered"]) == (None, 0)
    lost = {(one.kind, one.receiver) for one in way.messages if one.is_lost}
    assert ("QUERY", "p1") in lost
    assert "timed out" in {one.step for one in way.steps}
