"""What both halves of a bridge share: the network's entries, the topics, the counters. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from overlay.core.errors import shown
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.feed_reader import Name
from overlay.systems.context_broker.mqtt.inward import Inward, Token
from overlay.systems.context_broker.mqtt.outward import Outward
from overlay.systems.context_broker.mqtt.payloads import Unfit
from overlay.systems.context_broker.mqtt.settings import BridgeSettings, Inlet
from overlay.systems.context_broker.mqtt.topic import Kept, Topic
from overlay.systems.context_broker.mqtt.topics import NoTopic, Place
from overlay.systems.context_broker.mqtt.values import Value
from overlay.systems.context_broker.wire.messages import Key

MOST_KEPT_BYTES = 256_000_000
"""Of payloads that topics show or that wait for the network: 100,000 topics with 60 kB each would be 6 GB."""


class Known:
    def __init__(self, settings: BridgeSettings, wall: WallClock, own_topics: Sequence[str]) -> None:
        limits = settings.limits
        self.settings = settings
        self.slack_ms = limits.refresh_ms
        self.counts: Counter[str] = Counter()
        self.last_refusal = ""
        self.inward = Inward(limits.at_once, limits.tries)
        self.outward = Outward(limits.publishing)
        self.entries = Entries()
        self.kept = Kept()
        self._wall = wall
        self._own_topics = frozenset(own_topics)
        self._topics: dict[str, Topic] = {}

    def wall_ms(self, now: int) -> int:
        """Unix milliseconds."""
        return (now + self._wall.offset_ns) // MILLISECOND

    def monotonic(self, unix_ms: int) -> int:
        return unix_ms * MILLISECOND - self._wall.offset_ns

    def refuse(self, kind: str, what: str, sentence: str, token: Token | None = None) -> None:
        """Count it and remember why; a message is acknowledged, since sending it again would not help."""
        self.counts[kind] += 1
        self.last_refusal = f"{shown(what, 120)}: {sentence}"[:300]
        settle(token)

    # ---- topics

    @property
    def topics(self) -> Sequence[Topic]:
        return list(self._topics.values())

    def known_topic(self, name: str) -> Topic | None:
        return self._topics.get(name)

    def topic(self, name: str) -> Topic | None:
        """``None`` for one that no pattern matches. Raises ``NoTopic``."""
        known = self._topics.get(name)
        if known is not None:
            return known
        topic = None if name in self._own_topics else self._make(name)
        if topic is None:
            return None
        if len(self._topics) >= self.settings.limits.topics:
            raise NoTopic(f"more than {self.settings.limits.topics:,} topics")
        self._topics[name] = topic
        return topic

    def forget(self, topic: Topic) -> None:
        self._topics.pop(topic.name, None)
        self.outward.forget(topic.name)

    def check_room(self, value: Value) -> None:
        """For one more payload. Raises ``Unfit``."""
        if self.kept.bytes + self.inward.bytes + len(value.payload) > MOST_KEPT_BYTES:
            raise Unfit(f"the payloads that are kept have {MOST_KEPT_BYTES:,} bytes already")

    def topics_of(self, key: Key, provider: str) -> Iterator[Topic]:
        """Those that show an entry."""
        for pattern in self.settings.outlets:
            name = ""
            try:
                name = pattern.topic(key, provider) or ""
                topic = self.topic(name) if name else None
            except NoTopic as error:
                self.refuse("refused_topic", name or "/".join(key), str(error))
                continue
            if topic is not None and topic.is_out and topic.place.key == key:
                yield topic
            elif topic is not None:
                self.refuse("refused_topic", name, "would be read as another entity")

    def _make(self, name: str) -> Topic | None:
        inlet, inner = self._inlet_of(name)
        outer = self._outer(name)
        if outer is None:
            return None if inner is None else Topic(name, inner, inlet, self.kept, is_out=False)
        if inner is None or inner.key == outer.key:
            return Topic(name, outer, inlet, self.kept, is_out=True)
        return Topic(name, inner, inlet, self.kept, is_out=False)

    def _outer(self, name: str) -> Place | None:
        """What is published at a topic, if anything is."""
        for pattern in self.settings.outlets:
            place = pattern.place(name)
            if place is not None and pattern.topic(place.key, place.provider or "-") == name:
                return place
        return None

    def _inlet_of(self, name: str) -> tuple[Inlet | None, Place | None]:
        for inlet in self.settings.inlets:
            place = inlet.pattern.place(name)
            if place is not None:
                return inlet, place
        return None, None

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        self.inward.check_invariants()
        self.outward.check_invariants()
        self.entries.check_invariants()
        assert len(self._topics) <= self.settings.limits.topics
        assert self.kept.bytes == sum(len(one.shown.payload) for one in self._topics.values() if one.shown is not None)


class Entries:
    """The network's entries, by key and provider."""

    def __init__(self) -> None:
        self._of: dict[Key, dict[str, Value]] = {}

    def get(self, name: Name) -> Value | None:
        return self._of.get(name[0], {}).get(name[1])

    def put(self, value: Value) -> None:
        self._of.setdefault(value.key, {})[value.provider] = value

    def drop(self, name: Name) -> None:
        providers = self._of.get(name[0], {})
        providers.pop(name[1], None)
        if not providers:
            self._of.pop(name[0], None)

    def at(self, place: Place) -> Iterator[Value]:
        """Those that a topic is about."""
        for provider, value in self._of.get(place.key, {}).items():
            if place.provider in (None, provider):
                yield value

    def has_valid(self, key: Key, now_ms: int) -> bool:
        return any(value.is_valid(now_ms) for value in self._of.get(key, {}).values())

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if there is a key without an entry."""
        assert all(self._of.values())


def settle(token: Token | None) -> None:
    """A message may be acknowledged."""
    if token is not None:
        token.is_done = True
