"""The tables of brokers on random forests: right at rest, whatever happened before."""

from __future__ import annotations

from functools import partial
from itertools import count

import pytest

from overlay.systems.federation.covering.kept import Kept
from overlay.systems.federation.covering.merged import Merged
from overlay.systems.federation.language.canonical import canonical
from overlay.systems.federation.language.text import formatted, parse
from overlay.systems.federation.settings import COVERING, MERGING, OFF
from overlay.systems.federation.tables.destinations import client, neighbour
from overlay.systems.federation.tables.tables import Routing, Tables
from overlay.systems.federation.wire import values as v
from overlay.systems.federation.wire.messages import RegTable, SubTable, Whole
from tests.federation.forest import Forest
from tests.thorough import examples, thoroughly

STEPS = 60
MODES = [
    (Routing.ADVERTISEMENTS, OFF),
    (Routing.ADVERTISEMENTS, COVERING),
    (Routing.ADVERTISEMENTS, MERGING),
    (Routing.FLOODING, OFF),
    pytest.param(Routing.FLOODING, MERGING, marks=thoroughly),
    (Routing.NOTIFICATIONS, OFF),
]


@pytest.mark.parametrize(("routing", "covering"), MODES)
def test_at_rest_all_tables_are_right_and_a_notification_reaches_those_that_it_satisfies(routing, covering):
    for seed in range(examples(40 if covering == MERGING else 100)):
        forest = Forest(seed, routing, covering)
        for _ in range(STEPS):
            forest.step()
        forest.rest()
        for name in sorted(forest.advertisements):
            if forest.advertisements[name].scopes:
                expected_of_a_notification(forest, name)


def expected_of_a_notification(forest, name):
    live = dict(forest.live)
    note = forest.publish(name)
    sids = forest.implied.expected_of(note, live)
    forest.rest()
    assert {sid for sid, nid in forest.notified if nid == note.id} == sids


def subscription(number=1, text="true", **changes):
    once = changes.pop("once", False)
    return v.Subscription(
        v.SubscriptionId("c0", number), ("climate",), changes.pop("expires", 9), parse(text), once=once
    )


def entry(name="p0", home="b0", registration=1, role=v.Role.PROVIDER, scopes=("climate",), version=1):
    return v.Entry(v.Advertisement(name, registration, role, "", scopes), "127.0.0.1:1", home, version)


def note(**data):
    return v.Notification(v.NotificationId("p0", 1), "room", "r1", "climate", 1, 2, data)


def subscriptions(*added, removed=(), whole=Whole.CHANGES):
    return SubTable(1, whole, added, removed)


def registrations(*added, removed=(), whole=Whole.CHANGES):
    return RegTable(1, whole, added, removed, v.Summary())


def joined(*neighbours):
    tables = Tables()
    for name in neighbours:
        tables.connect(name)
    return tables


def test_a_subscription_goes_to_a_provider_that_comes_later_and_is_withdrawn_when_it_goes():
    tables = joined("b1", "b2")
    tables.receive_subscriptions("b1", subscriptions(subscription()))
    assert tables.subscription_changes() == []
    tables.receive_registrations("b2", registrations(entry()))
    (change,) = tables.subscription_changes()
    assert (change.destination, change.added, change.removed) == (neighbour("b2"), (subscription(),), ())
    tables.receive_registrations("b1", registrations(entry("p1")))  # from where it came
    assert tables.subscription_changes() == []
    tables.receive_registrations("b2", registrations(removed=("p0",)))
    (change,) = tables.subscription_changes()
    assert (change.destination, change.removed) == (neighbour("b2"), (subscription().id,))


def test_a_query_ends_on_both_sides_of_a_link_without_a_message_of_its_own():
    near, far = joined("far"), joined("near")
    near.subscribe("c0", [subscription(once=True)])
    near.receive_registrations("far", registrations(entry()))
    (change,) = near.subscription_changes()
    far.receive_subscriptions("near", subscriptions(*change.added))
    far.register(entry())
    (offer,) = far.subscription_changes()
    assert (offer.destination, len(offer.added)) == (client("p0"), 1)

    (delivery,) = far.route(note(), client("p0"))
    assert delivery.ended == delivery.satisfied == (subscription().id,)
    assert far.published("p0", [subscription().id]) == []
    assert far.subscription_changes() == [], "the provider knows that it answered"
    near.ended("far", delivery.ended)
    assert [one.destination for one in near.route(note(), neighbour("far"))] == [client("c0")]
    assert near.subscription_changes() == [], "the other broker knows that it sent"
    assert far.route(note(), client("p0")) == []
    assert near.sent_to("far")[0] == far.held_from("near")[0] == v.Summary()


@pytest.mark.parametrize("once", [True, False])
def test_a_withdrawal_that_waits_for_a_provider_is_told_unless_it_has_answered_a_query(once):
    tables, one = Tables(), subscription(once=once)
    tables.register(entry())
    tables.subscribe("c0", [one])
    assert [change.added for change in tables.subscription_changes()] == [(one,)]
    tables.subscriptions.hold(client("p0"))
    tables.subscribe("c0", [], [one.id])
    assert tables.published("p0", [one.id]) == []
    tables.subscriptions.release(client("p0"))
    assert [change.removed for change in tables.subscription_changes()] == ([] if once else [(one.id,)])


def test_a_provider_that_was_wrong_is_not_asked_again_until_it_registers_again():
    tables = Tables()
    tables.register(entry())
    tables.subscribe("c0", [subscription(text="x > 1", once=True)])
    assert len(tables.subscription_changes()) == 1
    assert tables.route(note(x=1), client("p0")) == []
    assert tables.published("p0", [subscription().id]) == [subscription().id]
    assert tables.subscription_changes() == []
    tables.register(entry(registration=2))
    (offer,) = tables.subscription_changes()
    assert [one.id for one in offer.added] == [subscription().id]


def test_a_complete_table_in_parts_replaces_what_was_held():
    tables = joined("b1")
    tables.receive_subscriptions("b1", subscriptions(subscription(1), subscription(2)))
    tables.receive_subscriptions("b1", subscriptions(subscription(2), whole=Whole.PART))
    assert len(tables.subscriptions) == 2
    tables.receive_subscriptions("b1", subscriptions(subscription(3), whole=Whole.LAST))
    assert [one.id.number for one in tables.subscriptions.held_from(neighbour("b1"))] == [2, 3]
    tables.receive_registrations("b1", registrations(entry("p0"), entry("p1")))
    tables.receive_registrations("b1", registrations(entry("p2"), whole=Whole.PART))
    assert tables.registrations.next_hops("p0") == ("b1",)
    tables.receive_registrations("b1", registrations(whole=Whole.LAST))
    assert list(tables.registrations) == ["p2"]
    tables.check_invariants()


def test_a_neighbour_that_lost_its_tables_gets_both_again():
    tables = joined("b1")
    tables.register(entry())
    tables.receive_registrations("b1", registrations(entry("p1")))
    tables.subscribe("c0", [subscription()])
    first = tables.subscription_changes(), tables.registration_change("b1")
    tables.forget_sent("b1")
    again = tables.subscription_changes(), tables.registration_change("b1")
    assert again[1] == first[1]
    assert [change for change in first[0] if change.destination.is_neighbour] == again[0]
    assert tables.registration_change("b1").added == ()
    tables.check_invariants()


def test_an_edge_of_an_earlier_tree_carries_notifications_and_no_tables():
    tables = joined("old", "new")
    tables.receive_registrations("new", registrations(entry()))
    tables.receive_subscriptions("old", subscriptions(subscription()))
    assert len(tables.subscription_changes()) == 1
    tables.retire("old")
    (change,) = tables.subscription_changes()
    assert (change.destination, change.removed) == (neighbour("new"), (subscription().id,))
    assert [one.destination for one in tables.route(note(), neighbour("new"))] == [neighbour("old")]
    tables.drop("old")
    assert tables.route(note(), neighbour("new")) == []
    tables.check_invariants()


@pytest.mark.parametrize(
    ("elsewhere", "is_superseded"),
    [
        (entry("c0", "b9", registration=6), True),
        (entry("c0", "b9", registration=4), False),
        (entry("c0", "b0", registration=5), True),  # the lower home
        (entry("c0", "b5", registration=5), False),
    ],
)
def test_of_two_homes_of_a_client_one_stays(elsewhere, is_superseded):
    tables = joined("b1")
    tables.register(entry("c0", "b3", registration=5, role=v.Role.CONSUMER))
    assert tables.receive_registrations("b1", registrations(elsewhere)) == (["c0"] if is_superseded else [])


def test_a_consumer_is_told_to_neighbours_only_and_a_provider_to_all():
    tables = joined("b1", "b2")
    tables.register(entry("c1", "b0", role=v.Role.CONSUMER))
    tables.receive_registrations("b1", registrations(entry("p0", "b1"), entry("c0", "b1", role=v.Role.CONSUMER)))
    assert [one.advertisement.id for one in tables.registration_change("b2").added] == ["c1", "p0"]
    assert [one.advertisement.id for one in tables.registration_change("b1").added] == ["c1"]
    assert tables.registrations.is_settled("b1")


def test_a_renewed_subscription_with_other_scopes_is_withdrawn_where_it_is_not_wanted_any_more():
    tables = joined("b1", "b2")
    tables.receive_registrations("b2", registrations(entry()))
    tables.receive_subscriptions("b1", subscriptions(subscription()))
    tables.subscription_changes()
    other = v.Subscription(subscription().id, ("light",), 9)
    tables.receive_subscriptions("b1", subscriptions(other))
    (change,) = tables.subscription_changes()
    assert (change.destination, change.removed) == (neighbour("b2"), (other.id,))
    tables.check_invariants()


def test_what_a_removed_subscription_covered_goes_in_the_same_change():
    tables = Tables(Routing.FLOODING, covering=Kept)
    tables.connect("b1")
    tables.subscribe("c0", [subscription(1, "x > 1"), subscription(2, "x > 2"), subscription(3, "x > 3")])
    (change,) = tables.subscription_changes()
    assert [one.id.number for one in change.added] == [1]
    tables.subscribe("c0", [], [subscription(1).id])
    (change,) = tables.subscription_changes()
    assert ([one.id.number for one in change.added], change.removed) == ([2], (subscription(1).id,))


def merging(**more):
    numbers = count(1)
    tables = Tables(Routing.FLOODING, covering=partial(Merged, lambda: v.SubscriptionId("b0", next(numbers)), **more))
    tables.connect("b1")
    return tables


def told(tables):
    """Of the only neighbour: what is added, as text by client and number, and what is removed."""
    (change,) = tables.subscription_changes()
    added = {
        f"{one.id.client}-{one.id.number}": (formatted(canonical(one.expression)), one.expires) for one in change.added
    }
    return added, [f"{sid.client}-{sid.number}" for sid in change.removed]


def test_a_union_goes_over_a_link_instead_of_its_parts():
    near, far = merging(), joined("b0")
    near.subscribe("c0", [subscription(1, "x = 1"), subscription(2, "x = 2"), subscription(3, "y > 1")])
    (change,) = near.subscription_changes()
    assert sorted(one.id for one in change.added) == [("b0", 1), ("c0", 3)]
    far.receive_subscriptions("b0", subscriptions(*change.added))
    for x, sids in ((1, [("c0", 1)]), (2, [("c0", 2)]), (3, [])):
        passed_on = far.route(note(x=x), client("p0"))
        delivered = near.route(note(x=x), neighbour("b1")) if passed_on else []
        assert [sid for one in delivered for sid in one.satisfied] == sids
        assert bool(passed_on) is bool(sids), "merging is perfect"


def test_when_a_part_is_withdrawn_the_rest_is_merged_again_before_the_union_goes():
    tables = merging()
    tables.subscribe("c0", [subscription(number, f"x = {number}") for number in (1, 2, 3)])
    assert told(tables) == ({"b0-2": ("x in (1, 2, 3)", 9)}, [])
    tables.subscribe("c0", [], [subscription(2).id])
    assert told(tables) == ({"b0-3": ("x in (1, 3)", 9)}, ["b0-2"])
    tables.subscribe("c0", [], [subscription(1).id])
    assert told(tables) == ({"c0-3": ("x = 3", 9)}, ["b0-3"])
    tables.subscribe("c0", [], [subscription(3).id])
    assert told(tables) == ({}, ["c0-3"])


def test_a_union_expires_with_its_first_part_and_the_rest_is_known_beyond_the_link_before():
    tables = merging()
    lives = {1: 5_000, 2: 9_000, 3: 9_000}
    tables.subscribe("c0", [subscription(n, f"x = {n}", expires=expires) for n, expires in lives.items()])
    assert told(tables) == ({"b0-2": ("x in (1, 2, 3)", 5_000)}, [])
    assert tables.subscriptions.next_expiry() == 4_000
    assert tables.expire(4_000)
    assert told(tables) == ({"c0-1": ("x = 1", 5_000), "b0-3": ("x in (2, 3)", 9_000)}, ["b0-2"])
    assert tables.expire(5_000)
    assert told(tables) == ({}, ["c0-1"])
    assert tables.subscriptions.next_expiry() == 8_000


def test_queries_are_never_part_of_a_union():
    tables = merging()
    tables.subscribe("c0", [subscription(1, "x = 1", once=True), subscription(2, "x = 2")])
    assert told(tables) == ({"c0-1": ("x = 1", 9), "c0-2": ("x = 2", 9)}, [])


def test_imperfect_merging_fills_gaps_between_intervals():
    several = [subscription(1, "x between 1 and 2"), subscription(2, "x between 5 and 6")]
    tables = merging(is_perfect=False)
    tables.subscribe("c0", several)
    assert told(tables) == ({"b0-1": ("x between 1 and 6", 9)}, [])
    tables = merging()
    tables.subscribe("c0", several)
    assert len(told(tables)[0]) == 2


def test_a_union_is_not_told_to_the_broker_that_made_it():
    tables = merging()
    tables.connect("b2")
    union = v.Subscription(v.SubscriptionId("b1", 1), ("climate",), 9)
    tables.receive_subscriptions("b2", subscriptions(union))
    assert tables.subscription_changes() == []


def test_a_subscription_that_comes_from_two_sides_is_told_once():
    """A client that has moved: its old broker still has what the new one tells of."""
    tables = joined("b1", "b2")
    for broker in ("b1", "b2"):
        tables.receive_registrations(broker, registrations(entry(f"p{broker}", broker)))
    tables.receive_subscriptions("b1", subscriptions(subscription(expires=9)))
    tables.receive_subscriptions("b2", subscriptions(subscription(expires=12)))
    told = [(one.destination, *(sub.expires for sub in one.added)) for one in tables.subscription_changes()]
    assert sorted(told) == [(neighbour("b1"), 12), (neighbour("b2"), 12)]
    tables.receive_subscriptions("b1", subscriptions(subscription(expires=12)))
    tables.receive_subscriptions("b2", subscriptions(subscription(expires=9)))
    assert tables.subscription_changes() == []
