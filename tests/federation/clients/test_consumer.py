"""Subscriptions, what they bring, lookups and queries, at scripted brokers."""

import pytest

from overlay.core.chance import Stream
from overlay.core.node import SECOND
from overlay.messages.errors import BadMessage
from overlay.systems.federation.clients.asking import Busy
from overlay.systems.federation.clients.consumer import Consumer
from overlay.systems.federation.clients.events import Accepted, Answered, Ended, Notified, Verdict
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.clients.provider import Content, Provider
from overlay.systems.federation.clients.terms import Site
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import Advertisement, Notification, NotificationId, Role, SubscriptionId
from tests.federation.clients.world import World, drained


class Scene(World):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.broker = self.brokers[0]
        self.client = self.add(Consumer(self.terms, "c0", self.site(), Stream(7), self.now))
        self.run(0.1)

    def subscribe(self, text="true", seconds=60.0, **rest):
        wanted = Wanted(("climate",), self.wall_ms + round(seconds * 1000), parse(text), **rest)
        (one,) = self.client.subscribe([wanted], self.now)
        self.run(0.1)
        return one.id

    def notify(self, number, *sids, x=1, is_cached=False):
        note = Notification(
            NotificationId("p0", number), "room", "r1", "climate", self.wall_ms, self.wall_ms + 60_000, {"x": x}
        )
        self.broker.notify("c0", note, sids, is_cached=is_cached)
        self.run(0.1)
        (event,) = drained(self.client, Notified)
        assert event.notification == note and event.is_cached == is_cached
        return [(receipt.verdict, receipt.copy) for receipt in event.receipts]


FIRST, DUPLICATE, LATE, SPURIOUS = (
    [(Verdict.FIRST, 1)],
    [(Verdict.DUPLICATE, 2)],
    [(Verdict.LATE, 1)],
    [(Verdict.SPURIOUS, 1)],
)


def test_a_stream_gets_each_notification_once():
    scene = Scene()
    sid = scene.subscribe()
    assert scene.notify(1, sid) == FIRST
    assert scene.notify(2, sid, is_cached=True) == FIRST
    assert scene.notify(1, sid) == DUPLICATE
    assert scene.notify(1, sid) == [(Verdict.DUPLICATE, 3)]


def test_a_query_ends_with_its_first_notification():
    scene = Scene()
    sid = scene.subscribe(once=True)
    note = Notification(NotificationId("p0", 1), "room", "r1", "climate", 0, 2**60, {})
    scene.broker.notify("c0", note, [sid])
    scene.run(0.1)
    news = scene.client.events()
    assert [type(one) for one in news[-2:]] == [Notified, Ended] and news[-1] == Ended(sid.number, "satisfied")
    assert scene.client.is_idle
    assert scene.notify(1, sid) == DUPLICATE and scene.notify(2, sid) == SPURIOUS


def test_one_notification_satisfies_several():
    scene = Scene()
    one, other = scene.subscribe(), scene.subscribe(once=True)
    assert scene.notify(1, one, other) == FIRST + FIRST
    later = scene.subscribe(once=True)
    assert scene.notify(1, one, later, is_cached=True) == DUPLICATE + FIRST


def test_what_satisfies_nothing_is_spurious():
    scene = Scene()
    sid = scene.subscribe("x > 3")
    assert scene.notify(1, sid, x=1) == SPURIOUS
    assert scene.notify(2, SubscriptionId("c0", 3)) == SPURIOUS
    assert scene.notify(3, SubscriptionId("c9", sid.number)) == [] and scene.client.peers.counters["dropped_foreign"]
    assert scene.notify(4, sid, x=4) == FIRST


def test_after_its_end_it_is_late_and_later_spurious():
    scene = Scene()
    withdrawn, expired = scene.subscribe(), scene.subscribe(seconds=1.0)
    scene.client.withdraw([withdrawn.number], scene.now)
    scene.run(2)
    assert [(one.number, one.end) for one in drained(scene.client, Ended)] == [
        (withdrawn.number, "withdrawn"),
        (expired.number, "expired"),
    ]
    assert scene.notify(1, withdrawn) == LATE and scene.notify(2, expired) == LATE
    scene.run(20)
    assert scene.notify(3, withdrawn) == SPURIOUS


def test_withdrawing_is_told_also_after_an_outage():
    scene = Scene(give_up_s=2.0)
    kept, gone = scene.subscribe(seconds=600), scene.subscribe(seconds=600)
    scene.cut.add(scene.broker.address)
    scene.client.withdraw([gone.number], scene.now)
    scene.run(10)
    scene.cut.clear()
    scene.run(20)
    assert scene.client.is_in and scene.broker.live("c0") == {kept}
    assert scene.client._withdrawn is None


def test_what_was_never_told_is_not_withdrawn():
    scene = Scene(give_up_s=2.0)
    scene.cut.add(scene.broker.address)
    scene.run(10)
    for _ in range(3):
        sid = scene.subscribe(seconds=600)
        scene.client.withdraw([sid.number], scene.now)
    assert scene.client._withdrawn is None


def test_renewing_keeps_the_number():
    scene = Scene()
    sid = scene.subscribe(seconds=2.0)
    assert scene.client.renew(sid.number, scene.wall_ms + 10_000, scene.now)
    scene.run(5)
    assert scene.broker.live("c0") == {sid} and [one.id for one in scene.client.live] == [sid]
    scene.run(6)
    assert not scene.client.renew(sid.number, scene.wall_ms + 10_000, scene.now)


def test_many_are_told_again_in_several_messages():
    scene = Scene()
    text = " or ".join(f"x{index} = " + "a" * 200 for index in range(60))
    sids = {scene.subscribe(text, seconds=600) for _ in range(12)}
    scene.broker.forget()
    scene.run(30)
    assert scene.broker.live("c0") == sids
    assert len(scene.broker.all(m.Subscribe)) >= 12 + 3


def test_a_request_too_many_is_refused_and_changes_nothing():
    scene = Scene()
    scene.client.requests.most = 2
    scene.broker.is_mute = True
    scene.client.lookup("climate", scene.now)
    scene.client.lookup("climate", scene.now)
    with pytest.raises(Busy):
        scene.subscribe()
    assert scene.client.live == [] and len(scene.client.requests) == 2


@pytest.mark.parametrize("is_registered", [True, False])
def test_values_outside_their_limits_are_refused(is_registered):
    scene = Scene()
    if not is_registered:
        scene.client.leave(scene.now)
        scene.run(3)
    with pytest.raises(BadMessage, match="16"):
        scene.client.subscribe([Wanted((), scene.wall_ms + 1000)], scene.now)
    with pytest.raises(BadMessage):
        scene.client.lookup("x" * 65, scene.now)
    assert scene.client.live == [] and not len(scene.client.requests)


def test_lookup_and_a_query_straight_to_the_provider():
    scene = Scene()
    address = ("10.0.1.2", 1025)
    me = Advertisement("p0", 0, Role.PROVIDER, scopes=("climate",))
    provider = scene.add(Provider(scene.terms, me, scene.site(), Stream(8), scene.now, produce=_produce), address)
    scene.broker.found = [m.v.Found("p0", "10.0.1.2:1025", "")]
    req = scene.client.lookup("climate", scene.now)
    scene.run(0.1)
    (answer,) = drained(scene.client, Answered)
    assert (answer.req, answer.code, answer.found) == (req, m.Code.GOOD, (m.v.Found("p0", "10.0.1.2:1025", ""),))
    req = scene.client.query(["climate", "light"], scene.now, entity_id="r9", provider=Site("p0", address))
    scene.run(0.1)
    (answer,) = drained(scene.client, Answered)
    assert answer.req == req and [one.entity_id for one in answer.notifications] == ["r9"]
    scene.run(3)
    assert not scene.broker.all(m.Query) and provider.peers.counters["in_query"] == 1
    assert scene.client.peers.channel._sessions.keys() == {b"b0"}, "the session with the provider was closed"


def _produce(asked):
    return Content(asked.entity_type or "room", asked.entity_id or "r1", asked.scope, asked.wall_ms + 1000, {"x": 1})


def test_a_query_to_a_provider_that_is_gone_ends():
    scene = Scene(give_up_s=2.0)
    req = scene.client.query(["climate"], scene.now, provider=Site("p0", ("10.0.1.9", 1)), patience=60 * SECOND)
    scene.run(5)
    assert drained(scene.client, Answered) == [Answered(req, m.Code.TIMEOUT)]


def test_a_query_by_way_of_the_broker():
    scene = Scene()
    req = scene.client.query(["climate"], scene.now)
    scene.run(0.1)
    assert drained(scene.client, Answered) == [Answered(req, m.Code.NO_PROVIDER)]


def test_subscriptions_made_before_the_start_are_told_when_registered():
    world = World()
    client = Consumer(world.terms, "c0", world.site(), Stream(7), world.now)
    (one,) = client.subscribe([Wanted(("climate",), world.wall_ms + 9000)], world.now)
    world.add(client)
    world.run(0.1)
    assert world.brokers[0].live("c0") == {one.id} and drained(client, Accepted) == [Accepted((one.id.number,))]


def test_a_broker_that_did_not_answer_is_told_again():
    scene = Scene()
    scene.broker.is_mute = True
    sid = scene.subscribe(seconds=600)
    gone = scene.subscribe(seconds=3)
    scene.run(20)
    scene.broker.is_mute = False
    scene.run(15)
    assert scene.broker.live("c0") == {sid} and gone not in scene.broker.told["c0"]
    assert drained(scene.client, Accepted) == [Accepted((sid.number,))]
