"""A bridge: what messages and changes of the network lead to. Pure; the driver does what it takes from the queues.

::

    connected ── message ──> operations ──(ended)──> acknowledgements
                                 │
    changed (of the network) ────┴──> publications ──(received)──> the topic shows it

``now`` is monotonic nanoseconds; the wall clock is an offset that the driver keeps.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from overlay.core.errors import shown
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.feed_reader import Name
from overlay.systems.context_broker.mqtt.inward import Inward, Operation, Outcome, Token
from overlay.systems.context_broker.mqtt.outward import Outward
from overlay.systems.context_broker.mqtt.payloads import Said, Unfit
from overlay.systems.context_broker.mqtt.settings import BridgeSettings, Inlet
from overlay.systems.context_broker.mqtt.topic import CLEAR, Publication, Topic
from overlay.systems.context_broker.mqtt.topics import NoTopic, Place
from overlay.systems.context_broker.mqtt.values import Value
from overlay.systems.context_broker.wire.messages import Key

HOLD_NS = 500 * MILLISECOND
"""After connecting, nothing is published for so long: the server first sends what it retains."""
CLOCK_WINDOW_MS = 30_000
"""How far a timestamp may be ahead of our clock, as at brokers."""
LAGS = 512
"""Latest delays kept for the status."""


@dataclass(frozen=True, slots=True)
class Message:
    """To publish, retained and with quality of service 1."""

    topic: str
    payload: bytes
    """Empty: the topic shows nothing any more."""
    expiry_s: int | None
    """For servers that drop retained messages in time."""


class Bridge:
    def __init__(self, settings: BridgeSettings, wall: WallClock, own_topics: Sequence[str] = ()) -> None:
        """``own_topics`` are the bridge's status, which is not context."""
        limits = settings.limits
        self.settings = settings
        self.counts: Counter[str] = Counter()
        self.last_refusal = ""
        self.inward = Inward(limits.at_once, limits.tries)
        self.outward = Outward(limits.publishing)
        self.lags_in: deque[int] = deque(maxlen=LAGS)
        self.lags_out: deque[int] = deque(maxlen=LAGS)
        """Nanoseconds: from a message to the broker's acknowledgement; from a change to the MQTT server's receipt."""
        self._wall = wall
        self._own_topics = frozenset(own_topics)
        self._slack = limits.refresh_ms
        self._topics: dict[str, Topic] = {}
        self._held: dict[Key, dict[str, Value]] = {}
        self._opens_at: int | None = None

    # ---- the connection

    def connected(self, now: int) -> None:
        """Connected and subscribed: the server now sends what it retains and what was not acknowledged."""
        self._opens_at = now + HOLD_NS

    def disconnected(self, now: int) -> None:
        self._opens_at = None
        self.inward.forget_tokens()
        for topic in self.outward.lose():
            topic.flying = None
        for topic in self._topics.values():
            topic.is_sure = False
            self.outward.change(topic, now)

    @property
    def is_full(self) -> bool:
        """Whether to read no more messages for now; only if the server sends more than it was asked to."""
        return self.inward.unacknowledged > self.settings.limits.receive_maximum

    # ---- from MQTT

    def message(
        self,
        name: str,
        data: bytes,
        now: int,
        *,
        mid: int | None = None,
        is_retained: bool = False,
        expiry_s: int | None = None,
    ) -> None:
        """``mid``: its number, if it is to be acknowledged; ``is_retained``: the server kept it from earlier."""
        self.counts["messages_in"] += 1
        token = None if mid is None else Token(mid)
        if token is not None:
            self.inward.track(token)
        try:
            self._hear(name, data, now, token, expiry_s, is_retained=is_retained)
        except NoTopic as error:
            self._refuse("refused_topic", f"{shown(name)}: {error}", token)

    def _hear(
        self, name: str, data: bytes, now: int, token: Token | None, expiry_s: int | None, *, is_retained: bool
    ) -> None:
        topic = self._topic(name)
        if topic is None:
            self.counts["unmatched"] += 1
            _settle(token)
            return
        now_ms = self._wall_ms(now)
        self.outward.change(topic, now)
        if not data:
            self._cleared(topic, token, now)
            return
        try:
            said = self.settings.payloads.read(data, is_text=topic.inlet is not None and topic.inlet.is_text)
            value = self._value(topic, said, expiry_s, now_ms)
        except Unfit as error:
            topic.show_unreadable(now_ms)
            self._refuse("refused_payload", f"{shown(name)}: {error}", token)
            return
        if is_retained and said.timestamp is None:
            self._hear_old(topic, value, token, now)
            return
        topic.show(value)
        self._offer(topic, value, token, now)

    def _hear_old(self, topic: Topic, value: Value, token: Token | None, now: int) -> None:
        """A message of unknown age: it counts only where the network knows nothing."""
        if any(known.is_valid(self._wall_ms(now)) for known in self._held.get(value.key, {}).values()):
            self.counts["retained_ignored"] += 1
            topic.show(Value(value.provider, value.key, 0, 0, value.valid_end, value.payload))
            _settle(token)
            return
        topic.show(value)
        self._offer(topic, value, token, now)

    def _offer(self, topic: Topic, value: Value, token: Token | None, now: int) -> None:
        """Take a value to the network, unless it knows it or a later one."""
        if topic.inlet is None:
            _settle(token)
            return
        pending = self.inward.latest(value.name)
        if topic.is_buried(value) or value.valid_end <= self._wall_ms(now):
            self.counts["late"] += 1
        elif pending is not None and not self._supersedes(value, pending):
            self.counts["unchanged"] += 1
            if token is not None:
                pending.tokens.append(token)
            return
        elif pending is None and self._is_known(topic, value):
            self.counts["unchanged"] += 1
        elif token is None and len(self.inward) >= self.settings.limits.waiting:
            self.counts["dropped"] += 1
        else:
            self._add(Operation(value, topic=topic.name, arrived=now), token)
            return
        _settle(token)

    def _supersedes(self, value: Value, pending: Operation) -> bool:
        if pending.is_withdrawal:
            return value.timestamp > pending.value.timestamp
        return value.is_news_to(pending.value, self._slack)

    def _is_known(self, topic: Topic, value: Value) -> bool:
        held = self._held.get(value.key, {}).get(value.provider)
        known = (held, topic.provided)
        return any(
            one is not None and one.name == value.name and not value.is_news_to(one, self._slack) for one in known
        )

    def _cleared(self, topic: Topic, token: Token | None, now: int) -> None:
        """An empty message: what the topic showed is withdrawn, and nothing that it did not show."""
        gone = topic.shown
        topic.show(None)
        if gone is None:
            self.counts["cleared_unknown"] += 1
            _settle(token)
            return
        same = [one for one in self._accounts_of(topic, gone) if self._is_meant(gone, one)]
        last = max((one.timestamp for one in same), default=gone.timestamp)
        until = max((one.valid_end for one in same), default=gone.valid_end)
        last, until = max(last, gone.timestamp), max(until, gone.valid_end)
        topic.bury(gone.provider, last, until)
        if topic.inlet is None or not any(one.valid_end > self._wall_ms(now) for one in same):
            _settle(token)
            return
        withdrawn = Value(gone.provider, gone.key, last + 1, 0, until, b"")
        self._add(Operation(withdrawn, is_withdrawal=True, topic=topic.name, arrived=now), token)

    def _accounts_of(self, topic: Topic, gone: Value) -> Iterator[Value]:
        """What the network has of this provider, or is about to get."""
        held = self._held.get(gone.key, {}).get(gone.provider)
        pending = self.inward.latest(gone.name)
        if held is not None:
            yield held
        if pending is not None and not pending.is_withdrawal:
            yield pending.value
        if topic.provided is not None and topic.provided.name == gone.name:
            yield topic.provided

    def _is_meant(self, gone: Value, known: Value) -> bool:
        return known.timestamp <= gone.timestamp or known.says_the_same(gone, self._slack)

    def _add(self, operation: Operation, token: Token | None) -> None:
        if token is not None:
            operation.tokens.append(token)
        self.inward.add(operation)

    def _value(self, topic: Topic, said: Said, expiry_s: int | None, now_ms: int) -> Value:
        inlet, key = topic.inlet, topic.place.key
        provider = topic.place.provider or said.provider or (inlet.provider if inlet else self.settings.provider)
        stamp = self._new_stamp(topic, provider, now_ms) if said.timestamp is None else said.timestamp
        if said.timestamp is not None and stamp > now_ms + CLOCK_WINDOW_MS:
            raise Unfit(f"timestamp is {(stamp - now_ms) / 1000:.0f} s ahead of the clock")
        end = said.valid_end or min(stamp, now_ms) + self._validity(said, inlet, expiry_s)
        return Value(provider, key, stamp, min(stamp, now_ms), end, said.payload)

    def _validity(self, said: Said, inlet: Inlet | None, expiry_s: int | None) -> int:
        if said.valid_ms is not None:
            return said.valid_ms
        if expiry_s is not None:
            return expiry_s * 1000
        return inlet.valid_ms if inlet is not None else self.settings.limits.valid_ms

    def _new_stamp(self, topic: Topic, provider: str, now_ms: int) -> int:
        """Later than all that is known of this provider, so that no clock that differs makes it lose."""
        name = topic.place.key, provider
        pending = self.inward.latest(name)
        known = [pending.value if pending else None, topic.shown, topic.provided]
        known.append(self._held.get(name[0], {}).get(provider))
        return max([now_ms, *(one.timestamp + 1 for one in known if one is not None and one.name == name)])

    # ---- to the network

    def take_operations(self, now: int) -> Sequence[Operation]:
        """What to store and to withdraw now. Report each with ``ended``."""
        return self.inward.take(now)

    def ended(self, operation: Operation, outcome: Outcome, now: int, sentence: str = "") -> None:
        """``sentence``: why, unless it is stored."""
        is_over = self.inward.ended(operation, outcome, now)
        topic = self._topics.get(operation.topic)
        if outcome is Outcome.STORED:
            self.counts["withdrawn" if operation.is_withdrawal else "provided"] += 1
            self.lags_in.append(now - operation.arrived)
            if topic is not None:
                topic.provided = None if operation.is_withdrawal else operation.value
        elif is_over:
            kind = "refused_payload" if outcome is Outcome.UNFIT else "refused_by_network"
            self._refuse(kind, f"{shown(operation.topic)}: {sentence}", None)
        else:
            self.counts["repeated"] += 1

    def take_acknowledgements(self) -> Sequence[int]:
        """Messages to acknowledge, in the order of their arrival."""
        return [token.mid for token in self.inward.take_acknowledgements()]

    # ---- from the network

    def changed(self, name: Name, value: Value | None, now: int, *, withdrawn: tuple[int, int] | None = None) -> None:
        """What the network has of an entry now; ``withdrawn``: the timestamp of its withdrawal, and until when it is of
        use (Unix ms)."""
        key, provider = name
        if value is not None:
            self._held.setdefault(key, {})[provider] = value
        else:
            self._drop(key, provider)
        for topic in self._topics_of(key, provider):
            if withdrawn is not None:
                topic.bury(provider, *withdrawn)
            elif value is None:
                self._restore(topic, name, now)
            self.outward.change(topic, now)

    def _drop(self, key: Key, provider: str) -> None:
        providers = self._held.get(key, {})
        providers.pop(provider, None)
        if not providers:
            self._held.pop(key, None)

    def _restore(self, topic: Topic, name: Name, now: int) -> None:
        """The network has lost an entry: give it what the topic shows of it, if that is still valid."""
        topic.provided = None
        value = topic.shown
        if value is not None and value.name == name and value.timestamp and value.is_valid(self._wall_ms(now)):
            self.counts["restored"] += topic.inlet is not None
            self._offer(topic, value, None, now)

    def _topics_of(self, key: Key, provider: str) -> Iterator[Topic]:
        for pattern in self.settings.outlets:
            try:
                name = pattern.topic(key, provider)
                topic = None if name is None else self._topic(name)
            except NoTopic as error:
                self._refuse("refused_topic", f"{shown('/'.join(key))}: {error}", None)
                continue
            if topic is not None and topic.is_out and topic.place.key == key:
                yield topic
            elif name is not None:
                self._refuse("refused_topic", f"{shown(name)} would be read as another entity", None)

    # ---- to MQTT

    def take_messages(self, now: int) -> Iterator[Message]:
        """What to publish now. Report each with ``received``."""
        now_ms = self._wall_ms(now)
        if self._opens_at is not None and now >= self._opens_at:
            self.outward.is_open, self._opens_at = True, None
        for name in self.outward.due(now_ms):
            topic = self._topics.get(name)
            if topic is not None:
                topic.due = 0
                self.outward.change(topic, now)
        for topic, publication in self.outward.take(lambda topic: self._decide(topic, now_ms)):
            yield self._message(topic, publication, now_ms)

    def received(self, name: str, now: int) -> None:
        """The server has received what was published at this topic."""
        found = self.outward.received(name)
        if found is None:
            return
        topic, began = found
        self.lags_out.append(now - began)
        publication, topic.flying = topic.flying, None
        if not topic.is_sure:
            topic.show(publication if isinstance(publication, Value) else None)
        self.outward.change(topic, now)

    def next_timer(self) -> int | None:
        due = self.outward.next_due()
        at = None if due is None or not self.outward.is_open else due * MILLISECOND - self._wall.offset_ns
        timers = [timer for timer in (at, self._opens_at, self.inward.next_timer()) if timer is not None]
        return min(timers, default=None)

    def _decide(self, topic: Topic, now_ms: int) -> Publication | None:
        topic.tidy(now_ms)
        if not topic.is_out:
            if topic.shown is not None and topic.shown.valid_end <= now_ms:
                topic.shown = None
        else:
            publication = self._next_publication(topic, now_ms)
            if publication is not None:
                return publication
        if topic.is_idle and not self._has_any(topic):
            self._topics.pop(topic.name, None)
        return None

    def _next_publication(self, topic: Topic, now_ms: int) -> Publication | None:
        values = [value for value in self._values_at(topic) if not topic.is_buried(value)]
        wanted = max((one for one in values if one.is_valid(now_ms)), key=lambda one: one.rank, default=None)
        publication = topic.next_publication(wanted, now_ms, self._slack)
        if publication is None:
            times = [*(one.valid_begin for one in values), *(one.valid_end for one in values), topic.next_end()]
            self.outward.watch(topic, min((time for time in times if time > now_ms), default=0))
        elif publication is CLEAR:
            assert topic.shown is not None
            topic.bury(topic.shown.provider, topic.shown.timestamp, topic.shown.valid_end)
        return publication

    def _values_at(self, topic: Topic) -> Iterator[Value]:
        place = topic.place
        for provider, value in self._held.get(place.key, {}).items():
            if place.provider in (None, provider):
                yield value

    def _has_any(self, topic: Topic) -> bool:
        return any(True for _ in self._values_at(topic))

    def _message(self, topic: Topic, publication: Publication, now_ms: int) -> Message:
        if not isinstance(publication, Value):
            self.counts["cleared"] += 1
            topic.is_sure = False
            return Message(topic.name, b"", None)
        self.counts["messages_out"] += 1
        payload = self.settings.payloads.write(publication)
        topic.is_sure = False
        return Message(topic.name, payload, (publication.valid_end - now_ms) // 1000 + 2)

    # ---- topics

    def _topic(self, name: str) -> Topic | None:
        """``None`` for one that no pattern matches. Raises ``NoTopic``."""
        known = self._topics.get(name)
        if known is not None:
            return known
        topic = None if name in self._own_topics else self._make_topic(name)
        if topic is None:
            return None
        if len(self._topics) >= self.settings.limits.topics:
            raise NoTopic(f"more than {self.settings.limits.topics:,} topics")
        self._topics[name] = topic
        return topic

    def _make_topic(self, name: str) -> Topic | None:
        inlet, inner = self._inlet_of(name)
        outer = next((place for pattern in self.settings.outlets if (place := pattern.place(name)) is not None), None)
        if outer is None:
            return None if inner is None else Topic(name, inner, inlet, is_out=False)
        if inner is None:
            return Topic(name, outer, None, is_out=True)
        is_out = inner.key == outer.key
        return Topic(name, outer if is_out else inner, inlet, is_out=is_out)

    def _inlet_of(self, name: str) -> tuple[Inlet | None, Place | None]:
        for inlet in self.settings.inlets:
            place = inlet.pattern.place(name)
            if place is not None:
                return inlet, place
        return None, None

    def _refuse(self, kind: str, sentence: str, token: Token | None) -> None:
        self.counts[kind] += 1
        self.last_refusal = sentence[:300]
        _settle(token)

    def _wall_ms(self, now: int) -> int:
        return (now + self._wall.offset_ns) // MILLISECOND

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        self.inward.check_invariants()
        self.outward.check_invariants()
        assert len(self._topics) <= self.settings.limits.topics
        assert all(providers for providers in self._held.values())


def _settle(token: Token | None) -> None:
    if token is not None:
        token.is_done = True
