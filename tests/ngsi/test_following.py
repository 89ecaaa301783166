"""Entity indexes of networks, and which notifications their changes lead to. No server, no clock."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerweb.ngsi.entity_index import EntityIndex, EntityIndexes
from brokerweb.ngsi.ld.subscriptions import read as read_ld
from brokerweb.ngsi.problems import Kind, Problem
from brokerweb.ngsi.subscriptions.outbox import MOST_AT_ONCE, PAUSES_S, Outbox
from brokerweb.ngsi.v2.subscriptions import read as read_v2
from tests.ngsi.fakes import FakeContext
from tests.thorough import examples

SNAPSHOT: Any = None


def contents(index: EntityIndex) -> set[tuple[str, str, str, str, str]]:
    index.check_invariants()
    return {
        (one.type, one.id, one.scope, one.provider, one.text)
        for place in index.places()
        for one in index.of(place[1], place[0])
    }


def held(context: FakeContext) -> set[tuple[str, str, str, str, str]]:
    return {(*name, row["text"]) for name, row in context.rows.items()}


@given(st.lists(st.tuples(*[st.sampled_from("ab")] * 4, st.integers(0, 3)), max_size=25), st.integers(0, 25))
@settings(max_examples=examples(80))
async def test_an_index_has_what_the_network_has(changes: list[Any], looks: int) -> None:
    context = FakeContext()
    index = EntityIndex(context, context.following)
    for number, (*name, value) in enumerate(changes):
        if value == 0 and tuple(name) in context.rows:
            context.withdraw(*name)
        else:
            context.store(*name, n=str(value))
        if number % 7 == looks % 7:
            await index.catch_up(SNAPSHOT)
            assert contents(index) == held(context)
        if number == looks:
            context.following.forgotten = len(context.following.log)
    await index.catch_up(SNAPSHOT)
    assert contents(index) == held(context)
    assert {one.type for one in index.of("a", None)} == {name[0] for name in held(context) if name[1] == "a"}


async def test_an_index_reads_all_once_and_those_of_networks_that_were_used_lately_are_kept() -> None:
    context, other = FakeContext(), FakeContext()
    for number in range(5):
        context.store("T", f"e{number}", "s", n="1")
    indexes = EntityIndexes(most=1)

    class NetworkSnapshot:
        network = "n"

    first = await indexes.get(NetworkSnapshot, context)  # type: ignore[arg-type]
    context.store("T", "e9", "s", n="1")
    assert await indexes.get(NetworkSnapshot, context) is first  # type: ignore[arg-type]
    assert (len(contents(first)), context.lists, first.is_complete) == (6, 3, True)
    context.following.is_complete = False
    await indexes.get(NetworkSnapshot, context)  # type: ignore[arg-type]
    assert not first.is_complete
    NetworkSnapshot.network = "m"
    await indexes.get(NetworkSnapshot, other)  # type: ignore[arg-type]
    NetworkSnapshot.network = "n"
    assert await indexes.get(NetworkSnapshot, context) is not first  # type: ignore[arg-type]


async def test_while_a_mirror_reads_all_again_it_has_what_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    context = FakeContext()
    for number in range(5):
        context.store("T", f"e{number}", "s", n="1")
    index, known = EntityIndex(context, context.following), list[int]()
    await index.catch_up(SNAPSHOT)
    listing = context.list

    async def list_(*given: Any) -> Any:
        known.append(len(contents(index)))
        return await listing(*given)

    monkeypatch.setattr(context, "list", list_)
    context.store("T", "e9", "s", n="1")
    context.following.forgotten = len(context.following.log)
    await index.catch_up(SNAPSHOT)
    assert known and set(known) == {5}
    assert len(contents(index)) == 6


def v2(**changed: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "subject": {"entities": [{"idPattern": "^r", "type": "Room"}], "condition": {"attrs": ["temp"]}},
        "notification": {"http": {"url": "http://127.0.0.1:9/x"}, "attrs": ["temp", "name"]},
    }
    return {**body, **changed}


def ld(**changed: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": "Subscription",
        "entities": [{"type": "Room"}],
        "notification": {"endpoint": {"uri": "http://127.0.0.1:9/x"}, "attributes": ["temp"], "format": "keyValues"},
    }
    return {**body, **changed}


@pytest.fixture(autouse=True)
def webhooks(settings: Any) -> None:
    from ipaddress import ip_network

    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]


def told(rule: Any, *changes: tuple[str, dict[str, str]]) -> list[bool]:
    """Whether each change of room r1 concerns the rule."""
    context = FakeContext()
    index, concerns = EntityIndex(context, context.following), []
    index.watchers.append(lambda *change: concerns.append(rule.concerns(*change)))
    index._seen = 0
    for scope, pairs in changes:
        context.store("Room", "r1", scope, **pairs)
        assert index.apply()
    return concerns


def test_changes_of_watched_attributes_are_told_while_the_condition_is_met() -> None:
    changes = [
        ("s", {"temp": "1"}),
        ("s", {"temp": "1"}),
        ("s", {"temp": "1", "name": "x"}),
        ("s", {"temp": "2", "name": "x"}),
        ("t", {"temp": "2"}),
        ("t", {"temp": "30"}),
    ]
    assert told(read_v2(v2(), "i"), *changes) == [True, False, False, True, False, True]
    hot = {"entities": [{"id": "r1"}], "condition": {"expression": {"q": "temp>20"}}}
    assert told(read_v2(v2(subject=hot), "i"), *changes) == [False] * 5 + [True]
    assert told(read_v2(v2(), "i", "/t"), *changes) == [False] * 4 + [True, True]
    assert told(read_v2(v2(subject={"entities": [{"id": "r2"}]}), "i"), *changes) == [False] * 6
    assert told(read_ld(ld(), "i"), *changes) == [True, False, True, True, False, True]
    assert (
        told(read_ld(ld(q="temp<=1", watchedAttributes=["name"]), "i"), *changes) == [False, False, True] + [False] * 3
    )


def test_notifications_are_written_as_their_standard_says() -> None:
    context = FakeContext()
    context.store("Room", "r1", "s", temp="1", other="2")
    index = EntityIndex(context, context.following)
    index._seen = 0
    index.apply()
    entries = list(index.of("r1", "Room"))
    rule = read_v2(v2(notification={**v2()["notification"], "attrsFormat": "keyValues"}), "i")
    headers, body = rule.notification([rule.entity(entries)], 0)
    assert (headers["Ngsiv2-AttrsFormat"], body) == (
        "keyValues",
        {"subscriptionId": "i", "data": [{"id": "r1", "type": "Room", "temp": 1}]},
    )
    rule = read_ld(ld(), "i", "", "https://example.org/c.jsonld")
    headers, body = rule.notification([rule.entity(entries)], 0)
    assert "example.org/c.jsonld" in headers["Link"]
    assert (body["type"], body["subscriptionId"], body["notifiedAt"], body["data"]) == (
        "Notification",
        "urn:ngsi-ld:Subscription:i",
        "1970-01-01T00:00:00.000Z",
        [{"id": "urn:ngsi-ld:Room:r1", "type": "Room", "temp": 1}],
    )


WRONG_V2: list[dict[str, Any]] = [
    {"subject": {}},
    {"subject": {"entities": [{}]}},
    {"subject": {"entities": [{"id": "a", "idPattern": "b"}]}},
    {"subject": {"entities": [{"id": "a"}], "condition": {"expression": {"q": "=="}}}},
    {"notification": {}},
    {"notification": {"http": {"url": "ftp://x"}}},
    {"notification": {"http": {"url": "http://10.0.0.1/"}}},
    {"notification": {"http": {"url": "http://169.254.169.254/latest"}}},
    {"notification": {"http": {"url": "http://user:pw@127.0.0.1/"}}},
    {"notification": {"http": {"url": "http://127.0.0.1/"}, "attrs": ["a"], "exceptAttrs": ["b"]}},
    {"throttling": -1},
    {"throttling": True},
    {"typo": 1},
]
WRONG_LD: list[dict[str, Any]] = [
    {"entities": []},
    {"entities": [{"id": "urn:a:b"}]},
    {"entities": [{"type": "T", "id": "a"}]},
    {"notification": {"endpoint": {"uri": "http://10.0.0.1/"}}},
    {"notification": {"endpoint": {"uri": "http://127.0.0.1/"}, "format": "x"}},
    {"q": "(("},
    {"typo": 1},
]


def test_what_is_no_subscription_is_refused() -> None:
    for read, make, wrongs in ((read_v2, v2, WRONG_V2), (read_ld, ld, WRONG_LD)):
        for changed in wrongs:
            with pytest.raises(Problem):
                read(make(**changed), "i")
    for read, body in (
        (read_v2, v2(notification={"httpCustom": {"url": "http://127.0.0.1/"}})),
        (read_ld, ld(timeInterval=5)),
        (read_ld, ld(notificationTrigger=["entityDeleted"])),
    ):
        with pytest.raises(Problem) as refused:
            read(body, "i")
        assert refused.value.kind is Kind.UNSUPPORTED


def test_what_cannot_be_delivered_is_tried_again_and_given_up_and_throttling_is_kept() -> None:
    outbox, now = Outbox(), 100.0
    assert outbox.due() == inf
    outbox.add(("T", "a"))
    assert outbox.due() <= now
    assert outbox.take() == [("T", "a")]
    outbox.add(("T", "b"))
    assert outbox.due() == inf, "one at a time"
    for pause in PAUSES_S:
        outbox.ended(now, 0, is_delivered=False)
        now += pause
        assert outbox.due() == now
        assert outbox.take() == [("T", "a"), ("T", "b")]
    outbox.ended(now, 0, is_delivered=False)
    assert (len(outbox), outbox.forgotten, outbox.due()) == (0, 2, inf)
    outbox.add(("T", "c"))
    outbox._not_before = now
    outbox.take()
    outbox.ended(now, 5.0, is_delivered=True)
    outbox.add(("T", "c"))
    assert outbox.due() == now + 5.0


@given(st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=60))
@settings(max_examples=examples(100))
def test_an_outbox_stays_within_its_bounds_and_forgets_nothing_unsaid(steps: list[tuple[int, bool]]) -> None:
    outbox, added, delivered, taken = Outbox(most=5), set(), set(), ()
    for now, (number, is_good) in enumerate(steps):
        if number < 8:
            outbox.add(("T", str(number)))
            added.add(("T", str(number)))
        elif taken:
            outbox.ended(now, 0, is_delivered=is_good)
            delivered |= set(taken) if is_good else set()
            taken = ()
        elif outbox.due() <= now:
            taken = outbox.take()
        assert len(outbox) <= 5 and len(taken) <= MOST_AT_ONCE
    assert len(added - delivered) <= len(outbox) + len(taken) + outbox.forgotten
