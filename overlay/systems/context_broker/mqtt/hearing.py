"""Messages: what each changes at its topic, and what it leads to in the network. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from overlay.systems.context_broker.clients.feed_reader import Name
from overlay.systems.context_broker.mqtt.inward import Operation, Token
from overlay.systems.context_broker.mqtt.known import Known, settle
from overlay.systems.context_broker.mqtt.payloads import Said, Unfit
from overlay.systems.context_broker.mqtt.settings import Inlet
from overlay.systems.context_broker.mqtt.topic import Topic
from overlay.systems.context_broker.mqtt.topics import NoTopic, Place
from overlay.systems.context_broker.mqtt.values import Value

CLOCK_WINDOW_MS = 30_000
"""How far a timestamp may be ahead of our clock, as at brokers."""


class Hearing:
    def __init__(self, known: Known) -> None:
        self._known = known
        self._settings = known.settings

    def message(
        self, name: str, data: bytes, now: int, token: Token | None, expiry_s: int | None, *, is_retained: bool
    ) -> None:
        """Take a message; its token is settled now or when the network has it."""
        known = self._known
        known.counts["messages_in"] += 1
        try:
            topic = known.topic(name)
        except NoTopic as error:
            known.refuse("refused_topic", name, str(error), token)
            return
        if topic is None:
            known.counts["unmatched"] += 1
            settle(token)
            return
        known.outward.change(topic, now)
        if data:
            self._hear(topic, data, now, token, expiry_s, is_retained=is_retained)
        else:
            self._clear(topic, token, now)

    def reconsider(self, topic: Topic, other: Value, now: int) -> None:
        """The network has got another value, which may be earlier than what the topic shows."""
        value = topic.shown
        if value is None or topic.inlet is None or value.rank <= other.rank or self._known.inward.latest(value.name):
            return
        if value.is_valid(self._known.wall_ms(now)) and not self._is_known(topic, value):
            self._offer(topic, value, None, now)

    def restore(self, topic: Topic, name: Name, now: int) -> None:
        """The network has an entry no more: give it what the topic shows of it, if that is later or still valid."""
        topic.provided = None
        value = topic.shown
        if value is None or value.name != name or not value.timestamp or topic.inlet is None or topic.is_buried(value):
            return
        if value.valid_end > self._known.wall_ms(now) + self._known.slack_ms:
            self._known.counts["restored"] += 1
            self._offer(topic, value, None, now)

    def _hear(
        self, topic: Topic, data: bytes, now: int, token: Token | None, expiry_s: int | None, *, is_retained: bool
    ) -> None:
        now_ms = self._known.wall_ms(now)
        try:
            said = self._settings.payloads.read(data, is_text=topic.inlet is not None and topic.inlet.is_text)
            value = self._value(topic, said, expiry_s, now_ms)
            self._known.check_room(value)
        except Unfit as error:
            topic.show_unreadable(now_ms)
            self._known.refuse("refused_payload", topic.name, str(error), token)
            return
        if is_retained and said.timestamp is None and self._is_old(topic, value, now_ms):
            self._known.counts["retained_ignored"] += 1
            settle(token)
            return
        topic.show(value)
        self._offer(topic, value, token, now)

    def _is_old(self, topic: Topic, value: Value, now_ms: int) -> bool:
        """Whether a retained message without a time says nothing new: it was heard before, or the network has data."""
        shown = topic.shown
        if shown is not None and shown.name == value.name and shown.payload == value.payload:
            topic.show(shown)
            return True
        if self._known.entries.has_valid(value.key, now_ms):
            topic.show(Value(value.provider, value.key, 0, 0, value.valid_end, value.payload))
            return True
        return False

    # ---- values

    def _value(self, topic: Topic, said: Said, expiry_s: int | None, now_ms: int) -> Value:
        inlet, key = topic.inlet, topic.place.key
        provider = topic.place.provider or said.provider or (inlet.provider if inlet else self._settings.provider)
        stamp = said.timestamp
        if stamp is None:
            stamp = self._new_stamp(topic, (key, provider), now_ms)
        elif stamp > now_ms + CLOCK_WINDOW_MS:
            raise Unfit(f"timestamp is {(stamp - now_ms) / 1000:.0f} s ahead of the clock")
        begin = min(stamp, now_ms)
        end = begin + self._validity(said, inlet, expiry_s) if said.valid_end is None else said.valid_end
        return Value(provider, key, stamp, begin, end, said.payload)

    def _validity(self, said: Said, inlet: Inlet | None, expiry_s: int | None) -> int:
        if said.valid_ms is not None:
            return said.valid_ms
        if expiry_s is not None:
            return expiry_s * 1000
        return inlet.valid_ms if inlet is not None else self._settings.limits.valid_ms

    def _new_stamp(self, topic: Topic, name: Name, now_ms: int) -> int:
        """Later than all that is known of this entry, so that a clock that differs does not make it lose."""
        pending = self._known.inward.latest(name)
        known = (pending.value if pending else None, topic.shown, topic.provided, self._known.entries.get(name))
        after_withdrawal = topic.buried_to(name[1]) + 2  # a withdrawal is one later than what it withdraws
        return max(
            [now_ms, after_withdrawal, *(one.timestamp + 1 for one in known if one is not None and one.name == name)]
        )

    def _offer(self, topic: Topic, value: Value, token: Token | None, now: int) -> None:
        """Take a value to the network, unless that has it or a later one."""
        known = self._known
        pending = known.inward.latest(value.name)
        if topic.inlet is None:
            pass
        elif topic.is_buried(value) or value.valid_end <= known.wall_ms(now):
            known.counts["late"] += 1
        elif pending is not None and not self._supersedes(value, pending):
            known.counts["unchanged"] += 1
            if token is not None:
                pending.tokens.append(token)
            return
        elif pending is None and self._is_known(topic, value):
            known.counts["unchanged"] += 1
        elif len(known.inward) >= self._most_waiting(token):
            known.counts["dropped"] += 1
        else:
            self._add(Operation(self._untied(value), topic=topic.name, arrived=now), token)
            return
        settle(token)

    def _most_waiting(self, token: Token | None) -> int:
        """A server that sends others after each connection, instead of those that were not acknowledged, has no end."""
        limits = self._settings.limits
        return limits.waiting if token is None else limits.waiting + limits.receive_maximum

    def _untied(self, value: Value) -> Value:
        """Of two values of a provider with one timestamp, brokers keep the first; all bridges prefer the same one."""
        held = self._known.entries.get(value.name)
        is_tied = held is not None and held.timestamp == value.timestamp
        return replace(value, timestamp=value.timestamp + 1) if is_tied else value

    def _supersedes(self, value: Value, pending: Operation) -> bool:
        if pending.is_withdrawal:
            return value.timestamp > pending.value.timestamp
        return value.is_news_to(pending.value, self._known.slack_ms)

    def _is_known(self, topic: Topic, value: Value) -> bool:
        accounts = (self._known.entries.get(value.name), topic.provided)
        latest = max(
            (one for one in accounts if one and one.name == value.name), key=lambda one: one.rank, default=None
        )
        return latest is not None and self._is_as_good(latest, value, topic.place)

    def _is_as_good(self, one: Value, value: Value, place: Place) -> bool:
        """Whether ``one`` serves as well: it is no earlier, or says the same and no other provider spoke in between."""
        if one.rank >= value.rank:
            return True
        others = (other for other in self._known.entries.at(place) if other.provider != value.provider)
        return one.says_the_same(value, self._known.slack_ms) and all(
            not one.rank < other.rank < value.rank for other in others
        )

    def _add(self, operation: Operation, token: Token | None) -> None:
        if token is not None:
            operation.tokens.append(token)
        self._known.inward.add(operation)

    # ---- empty messages

    def _clear(self, topic: Topic, token: Token | None, now: int) -> None:
        """What the topic showed is withdrawn, and nothing that it did not show."""
        gone, was_sure = topic.shown, topic.is_sure
        topic.show(None)
        if gone is None:
            self._known.counts["cleared_unknown"] += not was_sure
            settle(token)
            return
        meant = [one for one in self._accounts_of(topic, gone) if self._is_meant(gone, one)]
        last = max([gone.timestamp, *(one.timestamp for one in meant)])
        until = max([gone.valid_end, *(one.valid_end for one in meant)])
        topic.bury(gone.provider, last, until)
        if topic.inlet is None or not any(one.valid_end > self._known.wall_ms(now) for one in meant):
            settle(token)
            return
        withdrawn = Value(gone.provider, gone.key, last + 1, 0, until, b"")
        self._add(Operation(withdrawn, is_withdrawal=True, topic=topic.name, arrived=now), token)

    def _accounts_of(self, topic: Topic, gone: Value) -> Iterator[Value]:
        """What the network has of this entry, or is about to get."""
        held, pending = self._known.entries.get(gone.name), self._known.inward.latest(gone.name)
        if held is not None:
            yield held
        if pending is not None and not pending.is_withdrawal:
            yield pending.value
        if topic.provided is not None and topic.provided.name == gone.name:
            yield topic.provided

    def _is_meant(self, gone: Value, one: Value) -> bool:
        if not gone.timestamp:  # a retained message of unknown age
            return one.payload == gone.payload
        return one.timestamp <= gone.timestamp or one.says_the_same(gone, self._known.slack_ms)
