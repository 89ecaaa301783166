"""A gateway, nodes around it, and a log that a test writes and reads by hand. Datagrams arrive after a millisecond."""

from __future__ import annotations

from collections import Counter, defaultdict
from hashlib import blake2b
from heapq import heappop, heappush
from itertools import count

from overlay.core.chance import Chances, Stream, derive_seed
from overlay.core.node import MILLISECOND, SECOND
from overlay.log.node import Assignment
from overlay.log.topics import Record
from overlay.systems.contextnet.gateway.config import GatewayConfig
from overlay.systems.contextnet.gateway.gateway import Gateway
from overlay.systems.contextnet.gateway.settings import GatewaySettings
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.records import Groupcast, Message, Outbound
from overlay.systems.contextnet.transport.events import Acknowledged, Arrived
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.node import NodeEnd
from overlay.systems.contextnet.transport.packets import Kind

GATEWAY = "127.0.0.1", 4000
WALL = 1_700_000_000 * SECOND
"""Unix time at instant 0."""


def secret_of(node):
    return Secret(blake2b(node, digest_size=32).digest())


class Phone:
    """A mobile node."""

    def __init__(self, site, number, host):
        self.site, self.id = site, bytes([number]) * 16
        self.address = host, 40_000 + number
        self.is_on = True
        self.messages, self.told = [], []
        chance = Stream(derive_seed(7, number))
        self.end = NodeEnd(self.id, secret_of(self.id).key, 0, site.settings, chance)

    def connect(self, *gateways):
        self.end.connect(gateways or (GATEWAY,), self.site.now)
        self.site.drain(self)

    def send(self, to="inbound", payload=b"hello", **named):
        message = Message(next(self.site.ids), self.id.hex(), to, self.site.wall_us, payload=payload, **named)
        self.raw(codec.write(message))
        return message

    def raw(self, data, kind=Kind.MESSAGE):
        assert self.end.send(kind, data, next(self.site.tokens), self.site.now)
        self.site.drain(self)

    @property
    def payloads(self):
        return [message.payload for message in self.messages]

    @property
    def acknowledged(self):
        return len(self.heard(Acknowledged))

    def heard(self, kind):
        return [event for event in self.told if isinstance(event, kind)]

    def hear(self, event):
        self.told.append(event)
        if isinstance(event, Arrived) and event.kind is Kind.MESSAGE:
            self.messages.append(codec.read_message(event.data))


class Site:
    def __init__(self, nodes=1, host="127.0.0.1", is_connected=True, config=None, **named):
        self.settings = GatewaySettings(**named)
        self.now, self.order, self.tokens = 0, count(), count()
        self.ids = (number.to_bytes(16, "big") for number in count(1))
        self.flying, self.waiting, self.sent = [], [], []
        """Datagrams under way; appended records that are not durable; all datagrams."""
        self.is_durable = True
        """Whether records are durable at once."""
        self.log, self.committed, self.positions = defaultdict(list), {}, Counter()
        self.noted = []
        self.phones = [Phone(self, i + 1, host) for i in range(nodes)]
        self.secrets = {phone.id: secret_of(phone.id) for phone in self.phones}
        self.options = {"ping_period_s": 3_600, **(config or {})}
        self.start()
        if is_connected:
            for phone in self.phones:
                phone.connect()
            self.run(100)
            assert all(phone.end.is_open for phone in self.phones)

    def start(self):
        config = GatewayConfig(self.settings, b"g" * 32, self.secrets.get, **self.options)
        self.gateway = Gateway("gateway-0", GATEWAY, config, Chances.streams(1), WALL)
        ends = {topic: self.positions[topic] for topic in ("presence", "group_advertisement")}
        self.gateway.assigned(
            [
                Assignment(found.topic, found.group, 0, ends.get(found.topic, 0))
                for found in self.gateway.subscriptions()
            ],
            self.now,
        )
        self.drain(None)

    @property
    def wall_us(self):
        return (self.now + WALL) // 1_000

    # ---- the log

    def feed(self, topic, *records, key=b"*", ago_s=0):
        """Records of other writers, appended ``ago_s`` ago."""
        found = []
        for value in records:
            data = value if isinstance(value, bytes) else codec.write(value)
            found.append(Record(topic, 0, self.positions[topic], key, data, self.wall_us - ago_s * 1_000_000))
            self.positions[topic] += 1
        self.gateway.receive_records(found, self.now)
        self.drain(None)

    def reread(self, topic):
        """What is fed from now on is from its beginning again."""
        self.positions[topic] = 0
        self.committed.pop(topic, None)

    def give(self, phone, payload=b"hello", **named):
        """A message for a node in the topic of the gateway."""
        message = Message(next(self.ids), "applications-0", phone.id.hex(), self.wall_us, payload=payload)
        self.feed("gateway.0", Outbound(message, **named), key=phone.id)
        return message

    def cast(self, group, payload=b"hello"):
        message = Message(next(self.ids), "applications-0", group, self.wall_us, payload=payload)
        topic = "broadcast" if group == "*" else "groupcast"
        self.feed(topic, Groupcast(message, group), key=group.encode())

    def room(self, topic="gateway.0"):
        return next(self.gateway.room(one) for one in self.gateway.subscriptions() if one.topic == topic)

    def records(self, topic):
        """All that the gateway has appended."""
        return [record for _, record in self.log[topic]]

    def make_durable(self, most=1 << 30):
        """The first records that wait become durable."""
        tokens, self.waiting = self.waiting[:most], self.waiting[most:]
        self.gateway.appended(tokens, self.now)
        self.drain(None)

    def settled(self, topic="gateway.0"):
        """How many records, from the first on."""
        return self.committed.get(topic, 0)

    # ---- time

    def drain(self, phone):
        end, address = (self.gateway, GATEWAY) if phone is None else (phone.end, phone.address)
        end.check_invariants()
        events = end.events()
        if phone is None:
            self.noted += events
            self._append()
        else:
            for event in events:
                phone.hear(event)
        if phone is None or phone.is_on:
            for data, to in end.datagrams_to_send():
                self.sent.append((self.now + MILLISECOND, next(self.order), data, address, to))
                heappush(self.flying, self.sent[-1])
        else:
            end.datagrams_to_send()
        timer = end.next_timer()
        assert timer is None or timer > self.now, "(I12)"

    def _append(self):
        for position in self.gateway.positions_to_commit():
            assert self.committed.get(position.topic, 0) < position.position, "(I2)"
            self.committed[position.topic] = position.position
        appends = self.gateway.records_to_append()
        for one in appends:
            self.log[one.topic].append((one.key, codec.read(one.topic, one.value)))
        tokens = [one.token for one in appends if one.token is not None]
        self.waiting += tokens
        if self.is_durable and self.waiting:
            self.make_durable()

    def run(self, ms):
        stop = self.now + round(ms * MILLISECOND)
        while True:
            ends = [(self.gateway, None), *((phone.end, phone) for phone in self.phones)]
            timers = [(at, i) for i, (end, _) in enumerate(ends) if (at := end.next_timer()) is not None]
            timer, i = min(timers, default=(stop + 1, 0))
            flying = self.flying[0][0] if self.flying else stop + 1
            if min(timer, flying) > stop:
                break
            self.now = max(self.now, min(timer, flying))
            if timer <= flying:
                end, phone = ends[i]
                end.handle_timer(self.now)
                self.drain(phone)
            else:
                _, _, data, source, to = heappop(self.flying)
                self._arrive(data, source, to)
        self.now = stop

    def _arrive(self, data, source, to):
        if to == GATEWAY:
            self.gateway.receive_datagrams([(data, source)], self.now)
            self.drain(None)
            return
        for phone in self.phones:
            if phone.address == to and phone.is_on:
                phone.end.receive_datagrams([(data, source)], self.now)
                self.drain(phone)
