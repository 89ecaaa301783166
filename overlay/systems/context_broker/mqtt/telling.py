"""Changes of the network: what each topic shows next. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from overlay.systems.context_broker.mqtt.known import Known
from overlay.systems.context_broker.mqtt.topic import CLEAR, Publication, Topic
from overlay.systems.context_broker.mqtt.values import Value

SPARE_S = 2
"""By which servers keep a retained message longer than it is valid: the bridge's empty message comes first."""


@dataclass(frozen=True, slots=True)
class Message:
    """To publish, retained and with quality of service 1."""

    topic: str
    payload: bytes
    """Empty: the topic shows nothing any more."""
    expiry_s: int | None
    """For servers that drop retained messages in time."""


class Telling:
    def __init__(self, known: Known) -> None:
        self._known = known

    def take(self, now: int) -> Sequence[Message]:
        """What to publish now."""
        known, now_ms = self._known, self._known.wall_ms(now)
        for name in known.outward.due(now_ms):
            topic = known.known_topic(name)
            if topic is not None:
                topic.due = 0
                known.outward.change(topic, now)
        taken = known.outward.take(lambda topic: self._decide(topic, now_ms))
        return [self._message(topic, publication, now_ms) for topic, publication in taken]

    def received(self, name: str, now: int) -> int | None:
        """The server has received what was published at a topic; since when that had waited."""
        found = self._known.outward.received(name)
        if found is None:
            return None
        topic, began = found
        publication, topic.flying = topic.flying, None
        if not topic.is_sure:  # else its echo, or another message, has come already
            topic.show(publication if isinstance(publication, Value) else None)
        self._known.outward.change(topic, now)
        return began

    def _decide(self, topic: Topic, now_ms: int) -> Publication | None:
        topic.tidy(now_ms)
        publication = None
        if topic.is_out:
            publication = self._next(topic, now_ms)
        else:
            self._watch(topic, [], now_ms)
        if publication is None and topic.is_idle and not any(self._known.entries.at(topic.place)):
            self._known.forget(topic)
        return publication

    def _next(self, topic: Topic, now_ms: int) -> Publication | None:
        values = [value for value in self._known.entries.at(topic.place) if not topic.is_buried(value)]
        wanted = max((one for one in values if one.is_valid(now_ms)), key=lambda one: one.rank, default=None)
        publication = topic.next_publication(wanted, now_ms, self._known.slack_ms)
        if publication is None:
            self._watch(topic, values, now_ms)
        elif publication is CLEAR and topic.shown is not None:
            gone = topic.shown
            topic.bury(gone.provider, gone.timestamp, max(gone.valid_end, now_ms + 1))
        return publication

    def _watch(self, topic: Topic, values: Sequence[Value], now_ms: int) -> None:
        """Look again when something begins or ends."""
        if not topic.is_out and topic.shown is not None and topic.shown.valid_end <= now_ms:
            topic.show(None)
        times = [*(one.valid_begin for one in values), *(one.valid_end for one in values), topic.next_end()]
        self._known.outward.watch(topic, min((time for time in times if time > now_ms), default=0))

    def _message(self, topic: Topic, publication: Publication, now_ms: int) -> Message:
        topic.is_sure = False
        if not isinstance(publication, Value):
            self._known.counts["cleared"] += 1
            return Message(topic.name, b"", None)
        self._known.counts["messages_out"] += 1
        payload = self._known.settings.payloads.write(publication)
        return Message(topic.name, payload, (publication.valid_end - now_ms) // 1000 + SPARE_S)
