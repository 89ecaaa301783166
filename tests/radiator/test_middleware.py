"""The middleware and the server as transcripts of datagrams: registration, calls, pushes, strangers, leaving."""

from __future__ import annotations

import pytest

from overlay.core.binary import canonical
from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.radiator.chains.blobs import Place, chain_blob
from overlay.systems.radiator.chains.chain import Member
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.middleware.middleware import Middleware, Misuse
from overlay.systems.radiator.server.facts import Identity
from overlay.systems.radiator.server.server import Server
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.compression import deflate
from overlay.systems.radiator.wire.proofs import mac_of
from tests.radiator.volume import Volume, read_any

SERVER, HOME, OTHER = ("10.0.0.1", 7000), ("10.0.0.2", 1000), ("10.0.0.3", 1000)
KEY = b"k" * 16
CONFIG = Transport(codec="none", chain_percent=100)


class Client:
    """A middleware and what it received; ``sent`` are its messages since the last look."""

    def __init__(self, config=CONFIG, instance=5):
        self.received = []
        self.node = Middleware(config, instance, read=read_any)
        self.now = 0

    def registered(self):
        self.node.setup(SERVER)
        self.node.register_client("a", lambda context, _: self.received.append(context), {"x": 1}, is_p2p=True, now=0)
        self.hear(m.Registered(self.sent()[0][0].req, 4, 9, token=77))
        self.hear(m.Registered(self.sent()[0][0].req, 0, 9, key=KEY))
        return self

    def hear(self, message, source=SERVER):
        self.node.receive_datagrams([(encode(message), source)], self.now)
        self.node.check_invariants()

    def sent(self):
        return [(parse(data), to) for data, to in self.node.datagrams_to_send()]

    def wait(self, seconds):
        """Until then, with all timers. Returns what was sent."""
        until, sent = self.now + round(seconds * SECOND), []
        while (timer := self.node.next_timer()) is not None and timer <= until:
            self.now = timer
            self.node.handle_timer(timer)
            sent += [(round(timer / SECOND, 3), *one) for one in self.sent()]
        self.now = until
        return sent


def push(body, members=(), position=0, attempt=0, propagation=1, key=KEY):
    chain = 0 if members else m.DIRECT
    blob = chain_blob(members, SERVER, body) if members else body
    mac = mac_of(key, 9, propagation, chain, blob)
    return m.Push(9, propagation, chain, position, len(members), attempt, 0, 0, 1, mac, blob)


def test_registration_returns_the_token_and_is_repeated_with_doubling_waits():
    client = Client()
    client.node.setup(SERVER)
    client.node.register_client("a", print, {"x": 1}, is_p2p=True, now=0)
    [(first, to)] = client.sent()
    assert (first, to) == (m.Register(6, 5, 0, 1, "a", {"x": 1}), SERVER)
    assert [(at, type(message)) for at, message, _ in client.wait(2)] == [
        (0.2, m.Register),
        (0.6, m.Register),
        (1.4, m.Register),
    ]
    client.hear(m.Registered(6, 4, 9, token=77))
    assert client.sent() == [(first._replace(token=77), SERVER)]
    client.hear(m.Registered(6, 0, 9, key=KEY))
    assert client.node.state == "registered"
    assert [(event.code, event.epoch) for event in client.node.events()] == [(0, 9)]


def test_a_collision_is_said_and_the_application_may_try_another_id():
    client = Client()
    client.node.setup(SERVER)
    client.node.register_client("a", print, now=0)
    client.hear(m.Registered(client.sent()[0][0].req, 1, 9))
    assert [event.code for event in client.node.events()] == [m.Registration.COLLISION]
    client.node.register_client("b", print, now=0)
    assert client.sent()[0][0].id == "b"


def test_without_an_answer_registration_ends_and_begins_again_after_alive_s():
    client = Client()
    client.node.setup(SERVER)
    client.node.register_client("a", print, now=0)
    call = client.node.propagate_context(b"{}", 0, 0)
    client.sent()
    client.wait(29)
    assert client.node.state == "outside"
    assert [event.code for event in client.node.events()] == [-1]
    assert call.result == "no answer"
    assert isinstance(client.wait(5)[0][1], m.Register)


def test_misuse_is_named_and_changes_nothing():
    client = Client()
    with pytest.raises(Misuse, match="setup comes before"):
        client.node.register_client("a", print, now=0)
    with pytest.raises(Misuse, match="the client is idle"):
        client.node.propagate_context(b"{}", 0, 0)
    client.node.setup(SERVER)
    with pytest.raises(Misuse, match="0 bytes, not 1 to 255"):
        client.node.register_client("", print, now=0)
    with pytest.raises(Misuse, match="attributes has 16,386 bytes, not 1 to 16,384"):
        client.node.register_client("a", print, {"x": "y" * 16_378}, now=0)
    with pytest.raises(Misuse, match="not registered"):
        client.node.unregister_client("a", 0)
    client.registered()
    with pytest.raises(Misuse, match="at most 16384 bytes"):
        client.node.propagate_context(bytes(16_385), 0, 0)
    with pytest.raises(Misuse, match="setup comes before"):
        client.node.setup(SERVER)


def test_a_call_is_repeated_until_it_is_accepted():
    client = Client().registered()
    call = client.node.propagate_context(b"{}", 123, 0)
    [(request, _)] = client.sent()
    assert (request.called_at, request.body, request.instance) == (123, b"{}", 5)
    assert [(at, message) for at, message, _ in client.wait(0.7)] == [(0.2, request), (0.6, request)]
    client.hear(m.Accepted(request.req, 0, 0))
    assert (call.result, call.ended_at) == ("accepted", 700 * MILLISECOND)
    assert client.wait(5) == []


@pytest.mark.parametrize(("code", "result"), [(3, "malformed"), (4, "too large")])
def test_a_call_is_refused(code, result):
    client = Client().registered()
    call = client.node.propagate_context(b"{}", 0, 0)
    client.hear(m.Accepted(client.sent()[0][0].req, code, 0))
    assert call.result == result


def test_a_busy_call_is_repeated_when_the_server_says_and_refused_after_its_tries():
    client = Client().registered()
    call = client.node.propagate_context(b"{}", 0, 0)
    [(request, _)] = client.sent()
    for _ in range(3):
        client.hear(m.Accepted(request.req, 2, 5_000))
        assert [message for _, message, _ in client.wait(5)] == [request]
    assert call.result == "open"
    client.hear(m.Accepted(request.req, 2, 5_000))
    assert call.result == "busy"


def test_an_unknown_client_registers_again_and_repeats_its_call_in_the_same_epoch_only():
    client = Client().registered()
    call = client.node.propagate_context(b"{}", 0, 0)
    [(request, _)] = client.sent()
    client.hear(m.Accepted(request.req, 1, 0))
    [(register, _)] = client.sent()
    client.hear(m.Registered(register.req, 0, 9, key=KEY))
    assert client.sent() == [(request, SERVER)]
    client.hear(m.Accepted(request.req, 1, 0))
    client.hear(m.Registered(client.sent()[0][0].req, 0, 10, key=KEY))
    assert client.sent() == []
    assert call.result == "unknown"


def test_a_client_shows_life_and_registers_again_after_silence():
    client = Client(Transport(alive_s=30, silence_s=70)).registered()
    client.sent()
    assert [(at, type(message)) for at, message, _ in client.wait(70)] == [
        (30, m.Alive),
        (60, m.Alive),
        (70, m.Register),
    ]


def test_a_direct_push_is_acknowledged_each_time_and_delivered_once():
    client = Client().registered()
    for _ in range(2):
        client.hear(push(b'[{"n":1},{"n":2}]'))
        assert client.sent() == [(m.Ack(9, 1, m.DIRECT, 0, 1, bytes(32)), SERVER)]
    assert client.received == [{"n": 1}, {"n": 2}]


def test_a_hop_forwards_once_per_attempt_and_says_who_does_not_answer():
    members = [Place("10.0.0.9", 1, "z"), Place(*HOME, "a"), Place(*OTHER, "b")]
    client = Client().registered()
    before = ("10.0.0.9", 1)
    client.hear(push(b"{}", members, 1), before)
    onward = push(b"{}", members, 2)
    assert client.sent() == [(m.Ack(9, 1, 0, 0, 1, bytes(32)), before), (onward, OTHER)]
    client.hear(push(b"{}", members, 1), before)
    assert client.sent() == [(m.Ack(9, 1, 0, 0, 1, bytes(32)), before)]
    client.hear(push(b"{}", members, 1, attempt=1), SERVER)
    assert client.sent() == [(m.Ack(9, 1, 0, 1, 1, bytes(32)), SERVER), (onward._replace(attempt=1), OTHER)]
    client.hear(m.Ack(9, 1, 0, 1, 1, bytes(32)), OTHER)
    assert client.received == [{}]
    failed = m.Failed(9, 1, 0, 0, 2, 5)
    assert [(at, one) for at, one, _ in client.wait(4)] == [
        (0.2, onward),
        (0.6, onward),
        (1.4, onward),
        (3.0, failed),
        (3.2, failed),
        (3.6, failed),
    ]
    client.hear(m.noted(failed))
    assert client.wait(10) == []


@pytest.mark.parametrize(("accounting", "acknowledged"), [("datagram", 28 + 58), ("http", 611)])
def test_acknowledgements_to_clients_are_traffic_between_clients(accounting, acknowledged):
    """Those to the server are not."""
    client = Client(Transport(codec="none", accounting=accounting)).registered()
    client.hear(push(b"{}"), SERVER)
    assert client.node.hop.counts["client_to_client_bytes"] == 0
    client.hear(push(b"{}", [Place(*OTHER, "b"), Place(*HOME, "a")], 1), OTHER)
    assert client.node.hop.counts["client_to_client_bytes"] == acknowledged


def test_the_last_hop_says_done_and_others_say_progress():
    members = [Place(*HOME, "a"), Place(*OTHER, "b")]
    last, first = Client().registered(), Client(Transport(report_every=1, codec="none")).registered()
    last.hear(push(b"{}", members[::-1], 1))
    assert last.sent()[1:] == [(m.Done(9, 1, 0, 0, 1, 5), SERVER)]
    first.hear(push(b"{}", members))
    assert first.sent()[1] == (m.Progress(9, 1, 0, 0, 0, 5), SERVER)


@pytest.mark.parametrize(
    "strange",
    [
        push(b"{}", key=b"x" * 16),
        push(b"not json"),
        push(b"{}")._replace(epoch=8),
        push(b"{}", [Place(*HOME, "someone else")]),
        push(b"{}", [Place(*HOME, "a")])._replace(length=2),
        push(b"{}", [Place(*HOME, "a"), Place("not an address", 1, "b")]),
    ],
)
def test_pushes_of_outsiders_and_for_others_are_neither_acknowledged_nor_delivered(strange):
    client = Client().registered()
    client.hear(strange)
    assert (client.sent(), client.received, client.node.hop.counts["refused"]) == ([], [], 1)


def test_a_client_that_leaves_forwards_what_it_acknowledged_and_acknowledges_nothing_new():
    client = Client().registered()
    client.hear(push(b"{}", [Place(*HOME, "a"), Place(*OTHER, "b")]))
    call = client.node.propagate_context(b"{}", 0, 0)
    client.sent()
    client.node.unregister_client("a", 0)
    assert client.sent() == [(m.Unregister(8, 5, "a"), SERVER)]
    client.hear(push(b"{}", propagation=2))
    assert client.sent() == []
    client.hear(m.Unregistered(8, 0))
    assert (call.result, client.node.is_closed) == ("unregistered", False)
    client.hear(m.Ack(9, 1, 0, 0, 1, bytes(32)), OTHER)
    assert client.node.is_closed
    assert client.wait(600) == []


# ---- the server


class Desk:
    """A server that is written to by hand."""

    def __init__(self, config=CONFIG, **options):
        aggregator = Volume()
        self.node = Server(config, SERVER, Identity(9, KEY, b"s" * 16), Stream(1), aggregator, **options)
        aggregator.server = self.node
        self.now = 0

    def ask(self, message, source=HOME):
        """The answers to a message."""
        data = message if isinstance(message, bytes) else encode(message)
        self.node.receive_datagrams([(data, source)], self.now)
        self.node.check_invariants()
        return [(parse(data), to) for data, to in self.node.datagrams_to_send()]

    def pass_time(self, seconds):
        """With all timers. Returns what was sent."""
        until, sent = self.now + round(seconds * SECOND), []
        while (timer := self.node.next_timer()) is not None and timer <= until:
            self.now = timer
            self.node.handle_timer(timer)
            self.node.check_invariants()
            sent += [(parse(data), to) for data, to in self.node.datagrams_to_send()]
        self.now = until
        return sent

    def register(self, id="a", instance=1, source=HOME, req=1):
        [(answer, to)] = self.ask(m.Register(req, instance, 0, 1, id, {}), source) or self.pass_time(1)
        assert (answer.code, to) == (4, source)
        [(answer, _)] = self.ask(m.Register(req, instance, answer.token, 1, id, {}), source) or self.pass_time(1)
        return answer


def test_an_address_is_registered_once_it_has_returned_its_token():
    desk = Desk()
    assert desk.register() == m.Registered(1, 0, 9, key=KEY)
    [(answer, _)] = desk.ask(m.Register(1, 2, desk.node.clients.get(("10.0.0.2", "a")).instance, 1, "b", {}), OTHER)
    assert answer.code == 4
    assert len(desk.node.clients) == 1
    assert desk.register(instance=2).code == 1


def test_a_repeated_context_gets_the_same_answer_and_is_accepted_once():
    desk = Desk()
    desk.register()
    context = m.Context(2, 1, 0, 0, b"{}")
    accepted, pushed = desk.ask(context)
    assert (type(accepted[0]), type(pushed[0])) in [(m.Accepted, m.Push), (m.Push, m.Accepted)]
    assert desk.ask(context) == [(m.Accepted(2, 0, 0), HOME)]
    assert desk.node.counts["accepted"] == 1


@pytest.mark.parametrize(
    ("codec", "body", "code"),
    [
        (0, b"[]", 3),
        (0, b"{", 3),
        (1, b"no gzip", 3),
        (0, bytes(16_385), 4),
        (1, deflate(bytes(10_000_000), 1), 4),
        (2, deflate(b"{}", 2)[:-1], 3),
    ],
)
def test_malformed_and_oversized_contexts_are_refused(codec, body, code):
    desk = Desk()
    desk.register()
    assert desk.ask(m.Context(2, 1, 0, codec, body)) == [(m.Accepted(2, code, 0), HOME)]


@pytest.mark.parametrize(("size", "code"), [(16_384, 4), (16_385, 3)])
def test_attributes_of_a_registration_are_as_long_as_a_context_at_most(size, code):
    """Ten thousand clients with 65 kB each would be 650 MB. Code 4 asks for the token, 3 is malformed."""
    attributes = b'{"x":"%s"}' % (b"y" * (size - 8))
    data = encode(m.Register(1, 1, 0, 1, "a", {}))[:-4] + len(attributes).to_bytes(2, "big") + attributes
    [(answer, _)] = Desk().ask(data)
    assert (answer.req, answer.code) == (1, code)


def test_a_malformed_registration_or_call_is_answered():
    """By the beginning of its datagram, whatever is wrong after it."""
    desk = Desk()
    registration = encode(m.Register(1, 1, 0, 1, "a", {}))
    for wrong in (registration[:-1] + b"]", registration[:-5], registration + b"!", registration[:16]):
        assert desk.ask(wrong) == [(m.Registered(1, 3, 9), HOME)]
    assert desk.ask(registration[:15]) == []
    call = encode(m.Context(2, 1, 0, 0, b"{}"))
    unknown_codec = call[:24] + b"\x09" + call[25:]
    assert desk.ask(unknown_codec) == [(m.Accepted(2, 1, 0), HOME)]
    desk.register()
    assert desk.ask(unknown_codec) == [(m.Accepted(2, 3, 0), HOME)]
    assert desk.ask(call[:20]) == [(m.Accepted(2, 3, 0), HOME)]


def test_strangers_are_asked_to_register():
    desk = Desk()
    again = [(m.RegisterAgain(9), HOME)]
    assert desk.ask(m.Alive(1)) == again
    assert desk.ask(m.Done(9, 1, 0, 0, 0, 1)) == again
    assert desk.ask(m.Context(2, 1, 0, 0, b"{}")) == [(m.Accepted(2, 1, 0), HOME)]
    assert desk.ask(m.Unregister(3, 1, "a")) == [(m.Unregistered(3, 0), HOME)]
    assert desk.ask(b"garbage") == []
    assert desk.node.counts["unreadable"] == 1


def test_a_report_of_another_client_changes_nothing():
    desk = Desk(Transport(codec="none", chain_percent=100))
    for number in range(3):
        desk.register(f"c{number}", number + 1, ("10.0.0.2", 1000 + number), 1)
    sent = desk.ask(m.Context(2, 1, 0, 0, b"{}"), ("10.0.0.2", 1000))
    pushed = next(message for message, _ in sent if isinstance(message, m.Push))
    assert pushed.length == 3
    [propagation] = desk.node.propagations.under_way
    last = propagation.chains[0].members[2].instance
    liar = next(member.instance for member in propagation.chains[0].members if member.instance != last)
    assert isinstance(desk.ask(m.Done(9, 1, 0, 0, 2, liar))[0][0], m.Noted)
    assert len(desk.node.propagations) == 1
    desk.ask(m.Done(9, 1, 0, 0, 2, last))
    assert len(desk.node.propagations) == 0
    assert desk.node.propagations.counts["delivered"] == 3


SLOW = {"codec": "none", "uplink_bytes_per_s": 1_000}


def test_what_has_not_left_for_an_unreachable_client_is_dropped_though_it_returns():
    desk = Desk(Transport(**SLOW))
    desk.register()
    desk.register("b", 2, OTHER)
    desk.pass_time(1)
    desk.ask(m.Context(2, 1, 0, 0, b"{}"))
    desk.node._silent(Member.of(desk.node.clients.get((OTHER[0], "b"))), desk.now)
    desk.ask(m.Alive(2), OTHER)
    pushed = [to for message, to in desk.pass_time(2) if isinstance(message, m.Push)]
    assert set(pushed) == {HOME}
    [propagation] = desk.node.propagations.under_way
    assert list(propagation.outcomes.values()) == ["in flight", "dropped_unreachable"]
    assert desk.node.clients.p2p == 2


def test_a_chain_whose_first_push_has_not_left_is_not_repaired():
    """Members that are passed over before it leaves cost no further injection."""
    desk = Desk(Transport(chain_percent=100, **SLOW))
    for number in range(3):
        desk.register(f"c{number}", number + 1, ("10.0.0.2", 1000 + number))
    desk.pass_time(1)
    desk.ask(m.Alive(99))  # the answer occupies the uplink
    desk.ask(m.Context(2, 1, 0, 0, b"{}"), ("10.0.0.2", 1000))
    [propagation] = desk.node.propagations.under_way
    first = propagation.chains[0].members[0]
    desk.ask(m.Unregister(3, first.instance, first.key[1]), first.address)
    pushed = {(one.position, to) for one, to in desk.pass_time(1) if isinstance(one, m.Push)}
    assert pushed == {(1, propagation.chains[0].members[1].address)}
    assert (desk.node.propagations.counts["pushes"], desk.node.propagations.counts["repairs"]) == (1, 0)


def test_a_chain_is_not_silent_while_its_segments_leave():
    desk = Desk(Transport(chain_percent=100, codec="none", uplink_bytes_per_s=500, segment_bytes=200, chain_wait_s=1))
    desk.register()
    desk.pass_time(1)
    desk.ask(m.Context(2, 1, 0, 0, canonical({"d": "x" * 2_000})))
    sent = [message for message, _ in desk.pass_time(5) if isinstance(message, m.Push)]
    assert len(sent) >= 8
    assert ({message.attempt for message in sent}, desk.node.propagations.counts["repairs"]) == ({0}, 0)


def test_leaving_accounts_for_everything():
    desk = Desk()
    desk.register()
    desk.ask(m.Context(2, 1, 0, 0, canonical({"a": {}, "n": 1})))
    desk.node.leave(0)
    settled = desk.node.events()[-1]
    assert settled.missed == (("10.0.0.2", "a", "shut down"),)
    assert desk.node.next_timer() is None
    desk.node.check_invariants()


def test_an_aggregate_that_is_too_large_is_halved_and_one_that_cannot_be_has_failed():
    desk = Desk(Transport(codec="none", max_blob_bytes=1_024))
    desk.register()
    aggregator = desk.node._aggregator
    aggregator.volume = 3
    for req in range(3):
        desk.ask(m.Context(2 + req, 1, 0, 0, canonical({"d": "x" * 600})))
    assert [event.messages for event in desk.node.events() if type(event).__name__ == "Propagated"] == [
        (0,),
        (1,),
        (2,),
    ]
    aggregator.volume = 1
    aggregator.body = lambda messages: bytes(2_000)
    desk.ask(m.Context(9, 1, 0, 0, b"{}"))
    assert desk.node.events()[-1].missed == (("10.0.0.2", "a", "failed"),)


@pytest.mark.parametrize("percent", [0, 50])
def test_what_is_under_way_to_a_client_does_not_go_on_to_the_next_owner_of_its_address(percent):
    desk = Desk(Transport(codec="none", chain_percent=percent))
    desk.register("a", 1, HOME)
    desk.register("c", 3, OTHER)
    desk.ask(m.Context(2, 1, 0, 0, b"{}"))
    desk.register("b", 2, HOME)
    desk.node.handle_timer(desk.node.next_timer())
    [(repeat, to)] = [(parse(data), to) for data, to in desk.node.datagrams_to_send()]
    assert (type(repeat), to) == (m.Push, OTHER), "HOME is the address of b"
    desk.ask(m.Ack(9, 1, repeat.chain, repeat.attempt, 1, bytes(32)), OTHER)
    assert desk.node.events()[-1].missed == (("10.0.0.2", "a", "failed"),)


def test_a_client_that_has_the_key_cannot_push_in_the_place_of_others():
    members = [Place("10.0.0.7", 1, "z"), Place(*HOME, "a"), Place(*OTHER, "c")]
    client = Client().registered()
    for forged in (push(b"{}"), push(b"{}", members[1:]), push(b"{}", members, 1)):
        client.hear(forged, ("10.0.0.66", 6))
    assert (client.received, client.sent(), client.node.hop.counts["refused"]) == ([], [], 3)
    client.hear(push(b"{}", members, 1), ("10.0.0.7", 1))
    client.hear(push(b"{}", members, 1, attempt=1, propagation=2), SERVER)
    assert client.node.hop.counts["delivered"] == 2


def test_a_client_that_accepts_none_from_clients_hears_the_server_only():
    client = Client()
    client.node.setup(SERVER)
    client.node.register_client("a", lambda *_: client.received.append(1), {}, now=0)
    client.hear(m.Registered(client.sent()[0][0].req, 0, 9, key=KEY))
    client.hear(push(b"{}", [Place(*OTHER, "z"), Place(*HOME, "a")], 1), OTHER)
    assert client.received == []
    client.hear(push(b"{}"))
    assert client.received == [1]
