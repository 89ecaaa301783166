"""What a provider is asked, and what it publishes, at a scripted broker."""

import pytest

from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND
from overlay.messages.errors import BadMessage
from overlay.systems.federation.clients.events import Offered, Published, PublishEnded, Queried
from overlay.systems.federation.clients.provider import MOST_QUESTIONS, Content, Provider
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import (
    Advertisement,
    Notification,
    NotificationId,
    Role,
    Subscription,
    SubscriptionId,
)
from tests.federation.clients.world import World, drained


class Scene(World):
    def __init__(self, delay_ms=0, produces=True, later=False, **settings):
        super().__init__(**settings)
        self.broker = self.brokers[0]
        me = Advertisement("p0", 0, Role.PROVIDER, scopes=("climate", "light"))
        produce = self._produce if produces else None
        delay = delay_ms * MILLISECOND
        how = {"produce": produce, "delay": delay, "answers_later": later}
        self.client = self.add(Provider(self.terms, me, self.site(), Stream(7), self.now, **how))
        self.run(0.1)

    def _produce(self, asked):
        if asked.entity_id == "none":
            return None
        x = 1 + sum(one.data["x"] for one in asked.needed)
        return Content("room", asked.entity_id or "r1", asked.scope, asked.wall_ms + 9000, {"x": x})

    def sub(self, number, *scopes, once=True, text="true", seconds=60):
        return Subscription(
            SubscriptionId("c0", number), scopes or ("climate",), self.wall_ms + seconds * 1000, parse(text), once=once
        )

    def offer(self, *added, withdrawn=(), seconds=0.1):
        self.broker.peers.send("p0", m.Offer(added, tuple(withdrawn)))
        self.run(seconds)

    @property
    def published(self):
        return [publication for message in self.broker.all(m.Publish) for publication in message.publications]


def numbers(publication):
    return [sid.number for sid in publication.satisfied]


def test_a_query_is_answered_with_one_notification():
    scene = Scene()
    scene.offer(scene.sub(1))
    (one,) = scene.published
    assert numbers(one) == [1] and one.notification.scope == "climate" and one.notification.data == {"x": 1}
    assert not scene.client.watched and scene.client.is_idle
    (published,) = [event for event in scene.client.events() if isinstance(event, Published)]
    assert published.satisfied == (SubscriptionId("c0", 1),)


def test_queries_offered_together_and_streams_share_a_notification():
    scene = Scene()
    scene.offer(scene.sub(1, once=False), scene.sub(2, once=False, text="x > 5"))
    assert scene.published == [] and len(scene.client.watched) == 2
    scene.offer(scene.sub(3), scene.sub(4), scene.sub(5, "light"))
    first, second = scene.published
    assert (first.notification.scope, sorted(numbers(first))) == ("climate", [1, 3, 4])
    assert (second.notification.scope, numbers(second)) == ("light", [5])
    assert [one.id.number for one in scene.client.watched] == [1, 2]


def test_the_answer_is_made_when_offered_and_published_later():
    scene = Scene(delay_ms=500)
    scene.offer(scene.sub(1), seconds=0.3)
    offered_ms = scene.wall_ms - 299
    scene.offer(scene.sub(2), seconds=0.1)
    assert scene.published == []
    scene.run(0.15)
    (one,) = scene.published
    assert sorted(numbers(one)) == [1, 2] and one.notification.timestamp == offered_ms
    scene.run(5)
    assert len(scene.published) == 1, "the second query is satisfied by the first notification"


def test_a_query_of_a_certain_entity_is_answered_with_it():
    scene = Scene()
    scene.offer(scene.sub(1, text="entity.id = r9"), scene.sub(2), scene.sub(3, text="entity.id = none"))
    assert [(one.notification.entity_id, sorted(numbers(one))) for one in scene.published] == [("r9", [1, 2])]
    assert [one.id.number for one in scene.client.watched] == [3]


def test_what_is_withdrawn_or_expired_is_not_answered():
    scene = Scene(delay_ms=3000)
    scene.offer(scene.sub(1), scene.sub(2, seconds=1), scene.sub(3))
    scene.offer(withdrawn=[SubscriptionId("c0", 1), SubscriptionId("c0", 3)])
    scene.run(5)
    assert scene.published == [] and scene.client.is_idle


def test_publishing_and_its_end():
    scene = Scene(produces=False)
    scene.offer(scene.sub(1, once=False))
    assert [len(event.added) for event in drained(scene.client, Offered)] == [1]
    content = Content("room", "r1", "climate", scene.wall_ms + 9000, {"x": 2})
    first = scene.client.publish(content, scene.now)
    scene.run(0.1)
    scene.broker.refuse_next = [m.Code.BAD]
    second = scene.client.publish(content, scene.now)
    scene.run(0.1)
    assert second.id.number == first.id.number + 1 and [numbers(one) for one in scene.published] == [[1], [1]]
    assert drained(scene.client, PublishEnded) == [
        PublishEnded(first.id, m.Code.GOOD, 1),
        PublishEnded(second.id, m.Code.BAD, 1, "as scripted"),
    ]
    with pytest.raises(BadMessage, match="has not registered the scope sound"):
        scene.client.publish(content._replace(scope="sound"), scene.now)


def test_what_was_published_while_unregistered_goes_out_later():
    scene = Scene(produces=False)
    scene.broker.forget()
    one = scene.client.publish(Content("room", "r1", "climate", scene.wall_ms + 9000, {}), scene.now)
    scene.run(0.5)
    assert scene.broker.kinds()[-3:] == ["Publish", "Register", "Publish"]
    assert drained(scene.client, PublishEnded) == [PublishEnded(one.id, m.Code.GOOD, 2)]


def test_registered_again_it_forgets_what_it_was_offered():
    scene = Scene(produces=False)
    scene.offer(scene.sub(1, once=False))
    scene.broker.forget()
    scene.run(20)
    assert scene.client.is_in and scene.client.watched == []


def test_a_query_without_context_has_no_provider():
    scene = Scene()
    scene.broker.peers.send("p0", m.Query(5, None, None, ("sound",), 1000))
    scene.broker.peers.send("p0", m.Query(6, None, "r4", ("light",), 1000))
    scene.run(0.1)
    none, one = scene.broker.all(m.Answer)
    assert (none.req, none.code, none.notifications) == (5, m.Code.NO_PROVIDER, ())
    assert one.req == 6 and [note.entity_id for note in one.notifications] == ["r4"]


def test_a_query_without_a_number_is_refused():
    scene = Scene()
    scene.broker.peers.send("p0", m.Query(0, None, "r4", ("light",), 1000))
    scene.run(0.1)
    assert scene.broker.all(m.Answer) == []
    assert scene.broker.all(m.Nack) == [m.Nack(10, 0, m.Code.BAD, m.UNNUMBERED)]


def test_a_new_advertisement_keeps_the_registration():
    scene = Scene()
    scene.client.advertise(Advertisement("p0", 0, Role.PROVIDER, scopes=("sound",)), scene.now)
    scene.run(0.1)
    advertisement = scene.broker.registrations["p0"]
    assert advertisement.scopes == ("sound",) and advertisement.registration == scene.client.registration


def test_the_data_that_a_query_needs_come_before_it():
    scene = Scene()
    req = 1 << 63 | 5
    needed = Notification(NotificationId("p9", 1), "room", "r1", "sound", 0, 2**60, {"x": 40})
    for message in (m.Answer(req, m.Code.GOOD, (needed,)), m.Query(req, None, None, ("light",), 1000)):
        scene.broker.peers.send("p0", message)
    scene.broker.peers.send("p0", m.Answer(req + 1, m.Code.GOOD, (needed,)))
    scene.broker.peers.send("p0", m.Query(req + 2, None, None, ("light",), 1000))
    scene.run(0.1)
    with_data, without = scene.broker.all(m.Answer)
    assert [one.data["x"] for one in (*with_data.notifications, *without.notifications)] == [41, 1]


def test_a_query_can_be_answered_later_and_only_once():
    scene = Scene(produces=False, later=True)
    scene.broker.peers.send("p0", m.Query(5, "room", "r4", ("light", "sound"), 1000))
    scene.broker.peers.send("p0", m.Query(6, None, None, ("climate",), 1000))
    scene.run(0.1)
    first, second = drained(scene.client, Queried)
    assert (first.scopes, first.entity_type, first.entity_id, first.left_ms) == (("light",), "room", "r4", 1000)
    content = Content("room", "r4", "light", scene.wall_ms + 9000, {"lux": 3}, scene.wall_ms - 50)
    scene.client.answer(second.number, [], scene.now)
    scene.client.answer(first.number, [content], scene.now)
    scene.client.answer(first.number, [content], scene.now)
    scene.run(0.1)
    none, one = scene.broker.all(m.Answer)
    assert (none.req, none.code) == (6, m.Code.NO_PROVIDER)
    assert (one.req, one.notifications[0].data) == (5, {"lux": 3})
    assert one.notifications[0].timestamp == content.timestamp


def test_questions_that_are_never_answered_make_room_when_their_askers_wait_no_longer():
    scene = Scene(produces=False, later=True)
    for req in range(1, MOST_QUESTIONS + 2):
        scene.broker.peers.send("p0", m.Query(req, None, None, ("light",), 500))
    scene.run(0.1)
    assert len(drained(scene.client, Queried)) == MOST_QUESTIONS
    assert [(one.req, one.code) for one in scene.broker.all(m.Answer)] == [(MOST_QUESTIONS + 1, m.Code.LIMIT)]
    scene.run(0.5)
    scene.broker.peers.send("p0", m.Query(MOST_QUESTIONS + 2, None, None, ("light",), 500))
    scene.run(0.1)
    assert len(drained(scene.client, Queried)) == 1
