"""Clients of MQTT at a proxy, in bytes, and the log that a test writes and reads by hand."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from overlay.core.chance import Chances
from overlay.core.node import SECOND
from overlay.log.node import Assignment
from overlay.log.topics import Record
from overlay.systems.contextnet.gateway.credentials import Credentials as Secrets
from overlay.systems.contextnet.keys import node_secret
from overlay.systems.contextnet.mqtt.credentials import with_secrets
from overlay.systems.contextnet.mqtt.proxy import MqttProxy
from overlay.systems.contextnet.mqtt.settings import MOST_CONNECT, MOST_IN_FLIGHT, MqttSettings
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.names import CREDENTIALS, MQTT_DOWN
from overlay.systems.contextnet.records.records import Credential, Message, Outbound
from tests.contextnet.mqtt import bytes_of as b
from tests.thorough import examples

ACCEPTED = b"\x20\x02\x00\x00"
PONG = b"\xd0\x00"
TOPICS = '[["sensors/+/air", "air"], ["sensors/#", "sensors"]]'


class Lab:
    def __init__(self, **settings):
        self.proxy = MqttProxy("mqtt-0", ("127.0.0.1", 9), MqttSettings(**settings), Chances.streams(1), 0, is_known)
        self.proxy.assigned([Assignment(MQTT_DOWN, "mqtt-0", 0, 0)], 0)
        self.now = 0
        self.out, self.closed, self.pending, self.written = defaultdict(bytes), [], [], []
        self.position = 0

    def open(self, number=1, *packets):
        self.proxy.opened(number, self.now)
        self.collect()
        return self.say(number, *packets)

    def say(self, number, *packets):
        """Returns what the connection is answered."""
        self.proxy.received(number, b"".join(packets), self.now)
        return self.answer(number)

    def answer(self, number):
        self.collect()
        return self.out.pop(number, b"")

    def collect(self):
        for number, data in self.proxy.bytes_to_send():
            self.out[number] += data
        self.closed += self.proxy.connections_to_close()
        new = self.proxy.records_to_append()
        self.pending += new
        self.written += new
        self.proxy.check_invariants()

    def make_durable(self):
        done, self.pending = self.pending, []
        self.proxy.appended([one.token for one in done], self.now)
        self.collect()

    def down(self, client, payload):
        self.position += 1
        message = Message(bytes(16), "application-0", f"mqtt:{client}", 1, payload=payload)
        value = codec.write(Outbound(message))
        self.proxy.receive_records([Record(MQTT_DOWN, 0, self.position, client.encode(), value, 1)], self.now)
        self.collect()

    def wait(self, seconds):
        self.now += seconds * SECOND
        self.proxy.handle_timer(self.now)
        self.collect()


def is_known(client, password):
    return password in (None, b"right")


def test_a_message_goes_to_its_topic_and_is_acknowledged_when_durable():
    lab = Lab(mqtt_topics=TOPICS)
    assert lab.open(1, b.connect("phone")) == ACCEPTED
    assert lab.say(1, b.publish("sensors/hall/air", b"20", 1, 7)) == b""
    (record,) = lab.written
    assert (record.topic, record.key) == ("mqtt.air", b"phone")
    found = codec.read(record.topic, record.value)
    message = found.message
    assert (found.gateway, message.source, message.destination) == ("mqtt-0", "phone", "sensors/hall/air")
    assert (message.payload, message.reply_to) == (b"20", "mqtt:phone")
    lab.make_durable()
    assert lab.answer(1) == b"\x40\x02\x00\x07"


def test_a_repeat_of_a_message_under_way_is_written_once_and_one_that_was_acknowledged_is_a_new_one():
    lab = Lab()
    lab.open(1, b.connect(), b.publish("a", b"x", 1, 7))
    lab.say(1, b.publish("a", b"x", 1, 7, dup=True))
    assert len(lab.written) == 1
    lab.make_durable()
    lab.say(1, b.publish("a", b"y", 1, 7))
    assert len(lab.written) == 2
    assert len({codec.read(one.topic, one.value).message.id for one in lab.written}) == 2


def test_a_message_without_acknowledgement_is_only_written():
    lab = Lab()
    lab.open(1, b.connect(), b.publish("any/topic", b"x"))
    assert lab.written[0].topic == "mqtt.inbound"
    lab.make_durable()
    assert lab.answer(1) == b""


def test_a_client_that_subscribes_to_its_own_topic_gets_what_is_for_it():
    lab = Lab()
    lab.open(1, b.connect("phone"))
    assert lab.say(1, b.subscribe(5, "clients/phone", "clients/other", "#")) == b"\x90\x05\x00\x05\x00\x80\x80"
    lab.down("phone", b"hello")
    assert lab.answer(1) == b.publish("clients/phone", b"hello")
    lab.down("other", b"not here")
    assert lab.say(1, b.unsubscribe(6, "clients/phone")) == b"\xb0\x02\x00\x06"
    lab.down("phone", b"not wanted")
    assert lab.answer(1) == b""
    assert lab.proxy.statistics(0)["not_here"] == 2
    (committed,) = lab.proxy.positions_to_commit()
    assert committed.position == 4


def test_pings_are_answered_and_silence_ends_a_connection_after_one_and_a_half_keep_alives():
    lab = Lab()
    lab.open(1, b.connect(keepalive_s=10))
    lab.wait(14)
    assert lab.say(1, b.PING) == PONG
    lab.wait(14)
    assert lab.closed == []
    lab.wait(1)
    assert lab.closed == [1]


def test_a_connection_without_connect_is_closed():
    lab = Lab()
    lab.open(1)
    lab.open(2, b.PING)
    assert lab.closed == [2]
    lab.wait(10)
    assert lab.closed == [2, 1]


def test_a_stranger_cannot_say_much_before_it_has_connected():
    lab = Lab()
    long = b.connect(user="u", password=bytes(MOST_CONNECT))
    lab.open(1, long[:-1])
    lab.open(2, long[: MOST_CONNECT // 2])
    assert lab.closed == [1]


def test_disconnect_ends_a_connection_and_the_same_id_takes_the_place_of_another():
    lab = Lab()
    lab.open(1, b.connect("phone"))
    assert lab.open(2, b.connect("phone")) == ACCEPTED
    assert lab.closed == [1]
    lab.say(2, b.DISCONNECT)
    assert lab.closed == [1, 2]
    assert lab.say(2, b.PING) == b"", "it is not read any more"


def test_what_cannot_be_is_refused_by_a_code():
    lab = Lab()
    refused = {
        1: b.connect(level=5),
        2: b.connect("x" * 65),
        3: b.connect("", clean=False),
        4: b.connect(user="me", password=b"wrong"),
        5: b.connect(will="last"),
        8: b.connect("a/+"),
    }
    codes = [lab.open(number, packet)[3] for number, packet in refused.items()]
    assert codes == [1, 2, 2, 4, 5, 2]
    assert lab.closed == [1, 2, 3, 4, 5, 8]
    assert lab.open(6, b.connect(user="me", password=b"right")) == ACCEPTED
    assert lab.open(7, b.connect("")) == ACCEPTED, "a client without an id gets one"


def test_a_message_to_a_topic_that_is_not_mapped_or_that_is_too_long_ends_the_connection():
    lab = Lab(mqtt_topics=TOPICS)
    lab.open(1, b.connect("a"), b.publish("other", b"", 1, 1))
    lab.open(2, b.connect("b"), b.publish("sensors/" + "x" * 200, b"", 1, 1))
    lab.open(3, b.connect("c"), b.publish("sensors", bytes(60_001), 1, 1))
    lab.open(4, b.connect("d"), b.publish("sensors", bytes(60_000), 1, 1))
    assert lab.closed == [1, 2, 3]
    assert len(lab.written) == 1


def test_a_client_is_not_read_while_too_much_of_it_is_not_durable():
    lab = Lab()
    lab.open(1, b.connect(), *[b.publish("a", b"x", 1, number + 1) for number in range(MOST_IN_FLIGHT + 5)])
    assert len(lab.written) == MOST_IN_FLIGHT
    assert not lab.proxy.reads(1)
    lab.wait(1_000)
    assert lab.closed == [], "it is not silent: it is not read"
    lab.make_durable()
    assert lab.proxy.reads(1)
    lab.make_durable()
    assert len(lab.written) == MOST_IN_FLIGHT + 5
    assert lab.answer(1).count(b"\x40\x02") == MOST_IN_FLIGHT + 5


def test_a_full_proxy_closes_new_connections_and_a_leaving_one_closes_all():
    lab = Lab(mqtt_connections=1)
    lab.open(1, b.connect())
    lab.open(2)
    assert lab.closed == [2]
    lab.proxy.leave(lab.now)
    lab.collect()
    lab.open(3, b.connect())
    assert lab.closed == [2, 1, 3]


def test_a_revoked_secret_ends_the_connection_and_another_one_opens_it():
    lab, node, known = Lab(), bytes(16), Secrets(bytes(32))
    lab.proxy = MqttProxy(
        *("mqtt-0", ("127.0.0.1", 9), MqttSettings(), Chances.streams(1), 0),
        *(with_secrets(known.secret_of), known.learn),
    )
    lab.proxy.assigned([Assignment(topic, "mqtt-0", 0, 0) for topic in (MQTT_DOWN, CREDENTIALS)], 0)

    def open_with(number, generation):
        password = node_secret(bytes(32), node, generation).hex().encode()
        return lab.open(number, b.connect(node.hex(), user="a device", password=password))[3]

    def told(position, generation, *, is_revoked):
        value = codec.write(Credential(node, generation, is_revoked))
        lab.proxy.receive_records([Record(CREDENTIALS, 0, position, node, value, 1)], 0)
        lab.collect()

    assert [open_with(1, 0), open_with(2, 1)] == [0, 4]
    told(1, 0, is_revoked=True)
    assert lab.closed == [2, 1]
    assert open_with(3, 0) == 4
    told(2, 1, is_revoked=False)
    assert [open_with(4, 0), open_with(5, 1)] == [4, 0]
    told(3, 1, is_revoked=False)
    assert lab.closed == [2, 1, 3, 4], "what is told again changes nothing"


class Clients(RuleBasedStateMachine):
    """Clients come and go, write anything, and the log is slow."""

    @initialize()
    def begin(self):
        self.lab, self.last, self.open, self.acknowledged = Lab(mqtt_connections=3), 0, set(), 0

    @rule(name=st.sampled_from(["a", "b", ""]))
    def connect(self, name):
        self.last += 1
        self.open.add(self.last)
        self.lab.open(self.last, b.connect(name))

    @rule(pick=st.integers(0, 5), count=st.integers(1, 40))
    def publish(self, pick, count):
        for number in self.chosen(pick):
            self.lab.say(number, *[b.publish("t", b"x", 1, place + 1) for place in range(count)])

    @rule(pick=st.integers(0, 5), data=st.binary(max_size=30))
    def noise(self, pick, data):
        for number in self.chosen(pick):
            self.lab.say(number, data)

    @rule(pick=st.integers(0, 5))
    def vanish(self, pick):
        for number in self.chosen(pick):
            self.open.discard(number)
            self.lab.proxy.closed(number, self.lab.now)
            self.lab.collect()

    @rule()
    def durable(self):
        self.lab.make_durable()

    @rule(seconds=st.integers(1, 100))
    def wait(self, seconds):
        self.lab.wait(seconds)

    @rule(name=st.sampled_from(["a", "b", "c"]))
    def down(self, name):
        self.lab.down(name, b"hello")

    def chosen(self, pick):
        found = sorted(self.open)
        return found[pick % len(found) :][:1] if found else []

    @invariant()
    def holds(self):
        if hasattr(self, "lab"):
            self.lab.proxy.check_invariants()
            timer = self.lab.proxy.next_timer()
            assert timer is None or timer > self.lab.now
            self.open -= set(self.lab.closed)

    def teardown(self):
        if hasattr(self, "lab"):
            while self.lab.pending:
                self.lab.make_durable()
            assert self.lab.proxy.statistics(0)["held_bytes"] == 0


TestClients = Clients.TestCase
TestClients.settings = settings(max_examples=examples(60), stateful_step_count=30)
