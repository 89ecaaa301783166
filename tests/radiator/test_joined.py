"""Server, aggregation and clients together: what arrives is what Algorithm 1, written a second time, emits."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.binary import canonical
from overlay.core.chance import Stream
from overlay.systems.radiator.aggregation.choice import FORMS
from overlay.systems.radiator.aggregation.queues import Message
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.language.aggregability import aggregability
from overlay.systems.radiator.server.facts import Identity, MessageAccepted
from overlay.systems.radiator.server.server import Server
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from tests.radiator.printed import FUNCTIONS, Printed, attributes
from tests.radiator.watched import watched
from tests.radiator.world import World
from tests.thorough import examples


def printed(aggregator, text):
    """What Algorithm 1 as printed sends for what the aggregator was given: (message numbers, recipient's entry)."""
    options = aggregator.algorithm.options
    model, places, last, sent = Printed(aggregability(text), options), {}, {}, []

    def c_r(entry, registered):
        return {**registered, **last.get(entry, {})}

    registered, entries = {}, []
    for what, now, *arguments in aggregator.given:
        if what == "timer":
            found = model.handle_timer(now)
        elif what == "accept":
            number, sender, context = arguments
            last[sender] = context.attributes
            new = c_r(sender, registered[sender])
            found = model.arrive(Message(number, context, now), now, places[sender], new)
        elif what == "drop":
            found = model.remove(places.pop(arguments[0]), now)[0] if arguments[0] in places else []
        else:
            entry, registered[arguments[0]], _ = arguments
            if entry not in places and entry not in entries:
                entries.append(entry)
            call = model.change if entry in places else model.register
            places[entry] = entries.index(entry)
            name = () if call == model.change else (entry.key[1],)
            found = call(places[entry], *name, c_r(entry, registered[entry]), now)
        sent += [(numbers, entries[place]) for numbers, to in found for place in to]
    return sent


def bodies(aggregator, sent):
    """By id, the bodies that these are delivered as, if the aggregation does not read the recipient."""
    contexts = aggregator.contexts
    made = (
        (entry.key[1], aggregator.aggregation.body([contexts[number] for number in numbers], {}, ""))
        for numbers, entry in sent
    )
    return Counter(made)


def told(seed, text, index, percent, echo, wait_ms):
    """A short life over good links, with clients that leave and return."""
    random = Random(seed)
    config = Transport(chain_percent=percent, rto_ms=1_000)
    world = World(seed, config, text=text, index=index, echo=echo, wait_ms=wait_ms)
    for number in range(random.randint(1, 6)):
        world.add(number, is_p2p=random.random() < 0.7, **attributes(random))
    world.run(1)
    for number in range(25):
        person = random.choice(world.people)
        if random.random() < 0.1 and person.middleware.state == "registered":
            person.attributes = attributes(random)
            person.middleware.register_client(
                person.id, person.middleware._callback, person.attributes, is_p2p=person.is_p2p, now=world.now
            )
            world.simulator.wake(person.actor)
        world.call(person, f"m{number}", **attributes(random))
        world.run(random.choice([0.1, 0.5, 1, 2]))
    world.run(10)
    return world


@settings(max_examples=examples(100))
@given(
    st.integers(0, 10_000),
    st.sampled_from(FUNCTIONS),
    st.sampled_from([*FORMS]),
    st.sampled_from([0, 40]),
    st.booleans(),
    st.sampled_from([0, 1_500]),
)
def test_over_good_links_everyone_receives_exactly_what_algorithm_1_emits(seed, text, index, percent, echo, wait_ms):
    world = told(seed, text, index, percent, echo, wait_ms)
    ((_, aggregator, _),) = world.servers
    expected = bodies(aggregator, printed(aggregator, text))
    assert Counter((one.id, body) for one in world.people for body in one.bodies) == expected
    assert not world.missed()
    world.check_end()


# ---- a server by hand

SERVER, HOMES = ("10.0.0.1", 7000), [("10.0.0.2", 1000 + number) for number in range(3)]


class Desk:
    """A server with clients ``a``, ``b`` and ``c``, written to by hand."""

    def __init__(self, **retention):
        self.aggregator = watched(**retention)
        identity = Identity(9, b"k" * 16, b"s" * 16)
        self.node = Server(Transport(codec="none"), SERVER, identity, Stream(1), self.aggregator)
        for number, home in enumerate(HOMES):
            request = m.Register(1, number, 0, 0, "abc"[number], {"n": number})
            ((answer, _),) = self.ask(request, home)
            self.ask(request._replace(token=answer.token), home)

    def ask(self, message, source, now=0):
        self.node.receive_datagrams([(encode(message), source)], now)
        self.node.check_invariants()
        return [(parse(data), to) for data, to in self.node.datagrams_to_send()]

    def call(self, req, body, now=0, source=0):
        sent = self.ask(m.Context(req, source, 0, 0, body), HOMES[source], now)
        answers = [message.code for message, _ in sent if isinstance(message, m.Accepted)]
        pushes = [("abc"[HOMES.index(to)], message.part) for message, to in sent if isinstance(message, m.Push)]
        return answers, pushes


def context(**content):
    return canonical({"a": content, "n": 1, "p": ["A"], "t": [1, 1]})


def test_an_aggregate_that_names_the_recipient_is_sent_to_each_of_them():
    desk = Desk(aggregation="list(x) by r.n")
    _, pushes = desk.call(2, context(x=7))
    assert [(to, body[:29]) for to, body in pushes] == [
        (name, b'{"a":{"list(x) by r.n":[[%d,[7' % number) for number, name in enumerate("abc")
    ]


def test_what_a_sender_says_is_part_of_c_r_for_its_own_message_already():
    desk = Desk(text="{volume: r.n}")
    assert [to for to, _ in desk.call(2, context(n=2))[1]] == ["b"]
    assert [to for to, _ in desk.call(3, context(n=1))[1]] == ["a", "a", "b", "c"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (context(x="x" * 16_000), 0),
        (b'{"a":{"x":' + b"1" * 16_340 + b'},"n":1,"p":["A"],"t":[1,1]}', 3),
        (context(x="\u00e9" * 9_000), 4),
        (context(x="x" * 17_000), 4),
        (b"{}", 3),
    ],
)
def test_contexts_that_are_malformed_or_too_large_are_refused(body, code):
    assert Desk(volume=2).call(2, body) == ([code], [])


def test_a_late_driver_handles_earlier_deadlines_before_an_arrival():
    desk = Desk(volume=3, wait_ms=500)
    desk.call(2, context(x=1))
    _, pushes = desk.call(3, context(x=2), now=600_000_000)
    assert pushes == [(name, context(x=1)) for name in "abc"]


def test_an_accepted_message_says_how_many_recipients_it_has():
    desk = Desk(volume=5, echo=False)
    desk.call(2, context(x=1))
    assert [event.due for event in desk.node.events() if isinstance(event, MessageAccepted)] == [2]
