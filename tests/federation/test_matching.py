"""The index of subscriptions, compared with a scan of all of them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.federation.language.text import parse
from overlay.systems.federation.language.tree import And
from overlay.systems.federation.matching import bucket
from overlay.systems.federation.matching.index import Index
from overlay.systems.federation.wire.values import Notification, NotificationId, Subscription, SubscriptionId
from tests.federation.drawn import NUMBERS, expressions, notifications, predicates, subscriptions
from tests.federation.naive import satisfies
from tests.thorough import examples

NAMES = st.sampled_from(["c0", "c1"])
TIMES = st.integers(0, 5)
FIXING = st.tuples(
    predicates(st.just("entity.id"), st.sampled_from(["r17", "r18", 1])), st.lists(predicates(), max_size=2)
)
SUBSCRIPTIONS = subscriptions(
    expressions | FIXING.map(lambda pair: And((pair[0], *pair[1]))),
    names=NAMES,
    times=TIMES,
    scopes=st.sampled_from(["climate", "light"]),
).map(lambda one: replace(one, id=SubscriptionId(one.id.client, one.id.number % 3)))
STEPS = st.lists(
    st.tuples(st.just("add"), SUBSCRIPTIONS, st.integers(0, 2))
    | st.tuples(st.just("remove"), SUBSCRIPTIONS, st.integers(0, 2))
    | st.tuples(st.just("expire"), TIMES, st.none())
    | st.tuples(st.just("match"), notifications(names=st.just("r17")), st.none()),
    max_size=8,
)


class Scan:
    """The same without an index: (subscription, destinations) by id."""

    def __init__(self):
        self.rows = {}

    def add(self, subscription, destination):
        known, destinations = self.rows.get(subscription.id, (subscription, set()))
        is_better = subscription.expires >= known.expires or destinations <= {destination}
        self.rows[subscription.id] = (subscription if is_better else known, destinations | {destination})

    def remove(self, sid, destination):
        if sid not in self.rows or destination not in self.rows[sid][1]:
            return False
        self.rows[sid][1].remove(destination)
        if not self.rows[sid][1]:
            del self.rows[sid]
        return True

    def expire(self, now):
        gone = {sid for sid, (one, _) in self.rows.items() if one.expires <= now}
        self.rows = {sid: row for sid, row in self.rows.items() if sid not in gone}
        return gone

    def match(self, note):
        return {
            sid: destinations
            for sid, (one, destinations) in self.rows.items()
            if note.scope in one.scopes and satisfies(one.expression, note)
        }


@settings(max_examples=examples(160))
@given(STEPS)
def test_the_index_finds_what_a_scan_finds(steps):
    index, scan = Index(), Scan()
    for what, value, destination in steps:
        match what:
            case "add":
                index.add(value, destination)
                scan.add(value, destination)
            case "remove":
                assert index.remove(value.id, destination) is scan.remove(value.id, destination)
            case "expire":
                assert {row.subscription.id for row in index.expire(value)} == scan.expire(value)
            case "match":
                found = {row.subscription.id: row.destinations for row in index.match(value)}
                assert found == scan.match(value)
        index.check_invariants()
        assert {row.subscription.id for row in index} == set(scan.rows)
        assert index.next_expiry() == min((one.expires for one, _ in scan.rows.values()), default=None)


def subscription(number, text, expires=10, scopes=("climate",)):
    return Subscription(SubscriptionId("c", number), scopes, expires, parse(text))


def note(entity="r17", **data):
    return Notification(NotificationId("p", 1), "room", entity, "climate", 1, 2, data)


def test_only_subscriptions_of_the_entity_are_tested(monkeypatch):
    tested = []
    monkeypatch.setattr(bucket, "compiled", lambda expression: lambda note: tested.append(expression) or True)
    index = Index()
    for i in range(50):
        index.add(subscription(i, f"entity.id = r{i} and label prefix l{i}"), "b1")
    assert [row.subscription.id.number for row in index.match(note(label="l17"))] == [17]
    assert tested == [And((parse("label prefix l17"),))]


@settings(max_examples=examples(200))
@given(
    st.lists(st.tuples(st.sampled_from(["<", "<=", ">", ">="]), NUMBERS), max_size=8),
    st.lists(
        NUMBERS | st.lists(NUMBERS | st.booleans(), max_size=3) | st.sampled_from([True, "1", {"x": 1}]), max_size=5
    ),
)
def test_comparisons_with_numbers_are_found_by_bisection(comparisons, values):
    index = Index()
    for i, (operator, number) in enumerate(comparisons):
        index.add(subscription(i, f"temperature {operator} {number}"), "b1")
    for value in values:
        one = note(temperature=value)
        found = sorted(row.subscription.id.number for row in index.match(one))
        assert found == [i for i, row in enumerate(index) if satisfies(row.subscription.expression, one)]
    for i in range(len(comparisons)):
        assert index.remove(SubscriptionId("c", i), "b1")
        index.check_invariants()


def test_a_renewed_subscription_has_the_new_content_for_all_its_destinations():
    index = Index()
    index.add(subscription(1, "temperature > 25"), "b1")
    index.add(subscription(1, "temperature > 20", expires=20), "b2")
    assert index.expire(10) == []
    (row,) = index.match(note(temperature=22))
    assert row.destinations == {"b1", "b2"}
    assert index.get(row.subscription.id) is row
    assert len(index) == 1


def test_the_heap_of_deadlines_is_bounded():
    index = Index()
    for expires in range(10_000):
        index.add(subscription(1, "true", expires), "b1")
    index.check_invariants()
    assert index.remove(SubscriptionId("c", 1), "b1")
    assert index.next_expiry() is None
    index.check_invariants()
