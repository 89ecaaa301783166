"""A bridge: what messages and changes of the network lead to. Pure; the driver does what it takes from the queues.

::

    connected ── message ──> operations ──(ended)──> acknowledgements
                                 │
    changed (of the network) ────┴──> messages ──(received)──> the topic shows it

``now`` is monotonic nanoseconds; the wall clock is an offset that the driver keeps. ``hearing`` has what messages lead
to, ``telling`` what changes lead to, ``known`` what both know.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.feed_reader import Name
from overlay.systems.context_broker.mqtt.hearing import Hearing
from overlay.systems.context_broker.mqtt.inward import Operation, Outcome, Token
from overlay.systems.context_broker.mqtt.known import Known
from overlay.systems.context_broker.mqtt.payloads import Unfit
from overlay.systems.context_broker.mqtt.settings import BridgeSettings
from overlay.systems.context_broker.mqtt.telling import Message, Telling
from overlay.systems.context_broker.mqtt.values import Value

HOLD_NS = 500 * MILLISECOND
"""After connecting, nothing is published for so long: the server first sends what it retains."""
LAGS = 512
"""Latest delays kept for the status."""


class Bridge:
    def __init__(self, settings: BridgeSettings, wall: WallClock, own_topics: Sequence[str] = ()) -> None:
        """``own_topics`` are the bridge's status, which is not context."""
        self._known = Known(settings, wall, own_topics)
        self._hearing = Hearing(self._known)
        self._telling = Telling(self._known)
        self.settings = settings
        self.lags_in: deque[int] = deque(maxlen=LAGS)
        self.lags_out: deque[int] = deque(maxlen=LAGS)
        """Nanoseconds: from a message to the broker's acknowledgement; from a change to the MQTT server's receipt."""
        self._opens_at: int | None = None

    @property
    def counts(self) -> Counter[str]:
        return self._known.counts

    @property
    def last_refusal(self) -> str:
        """Why the last message or entry was refused; empty if none was."""
        return self._known.last_refusal

    # ---- the connection

    def connected(self, now: int) -> None:
        """Connected and subscribed: the server now sends what it retains and what was not acknowledged."""
        self._opens_at = now + HOLD_NS

    def disconnected(self, now: int) -> None:
        """What was in flight may have been lost, and what the server retains may have changed."""
        known = self._known
        self._opens_at = None
        known.inward.forget_tokens()
        for topic in known.outward.lose():
            topic.flying = None
        for topic in known.topics:
            topic.is_sure = False
            known.outward.change(topic, now)

    @property
    def is_full(self) -> bool:
        """Whether to read no more messages for now: the server has sent more than it was asked to."""
        return self._known.inward.unacknowledged > self.settings.limits.receive_maximum

    def set_window(self, messages: int) -> None:
        """The server accepts so many messages at once."""
        self._known.outward.window = min(self.settings.limits.publishing, messages)

    # ---- from MQTT to the network

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
        token = None if mid is None else Token(mid)
        if token is not None:
            self._known.inward.track(token)
        self._hearing.message(name, data, now, token, expiry_s, is_retained=is_retained)

    def take_operations(self, now: int) -> Sequence[Operation]:
        """What to store and to withdraw now. Report each with ``ended``."""
        return self._known.inward.take(now)

    def ended(self, operation: Operation, outcome: Outcome, now: int, sentence: str = "") -> None:
        """``sentence``: why, unless it is stored."""
        known = self._known
        is_over = known.inward.ended(operation, outcome, now)
        if outcome is Outcome.STORED:
            self._stored(operation, now)
        elif is_over:
            kind = "refused_payload" if outcome is Outcome.UNFIT else "refused_by_network"
            known.refuse(kind, operation.topic, sentence)
        else:
            known.counts["repeated"] += 1

    def _stored(self, operation: Operation, now: int) -> None:
        self.counts["withdrawn" if operation.is_withdrawal else "provided"] += 1
        self.lags_in.append(now - operation.arrived)
        topic = self._known.known_topic(operation.topic)
        if topic is not None:
            topic.provided = None if operation.is_withdrawal else operation.value

    def take_acknowledgements(self) -> Sequence[int]:
        """Messages to acknowledge, in the order of their arrival."""
        return [token.mid for token in self._known.inward.take_acknowledgements()]

    # ---- from the network to MQTT

    def stored(self, value: Value, now: int) -> None:
        """The network has this value of an entry now."""
        known = self._known
        if known.settings.outlets:
            try:
                known.settings.payloads.check(value)
            except Unfit as error:
                known.refuse("refused_entry", "/".join(value.key), str(error))
                self.withdrawn(value.name, value.timestamp, value.valid_end, now)
                return
        known.entries.put(value)
        for topic in known.topics_of(*value.name):
            self._hearing.reconsider(topic, value, now)
            known.outward.change(topic, now)

    def withdrawn(self, name: Name, timestamp: int, until: int, now: int) -> None:
        """The network has withdrawn an entry up to ``timestamp``; ``until``: when all of it has ended (Unix ms)."""
        self._known.entries.drop(name)
        for topic in self._known.topics_of(*name):
            topic.bury(name[1], timestamp, until)
            self._hearing.restore(topic, name, now)
            self._known.outward.change(topic, now)

    def lost(self, name: Name, now: int) -> None:
        """The network has nothing of an entry any more: it has expired, or its brokers have restarted."""
        self._known.entries.drop(name)
        for topic in self._known.topics_of(*name):
            self._hearing.restore(topic, name, now)
            self._known.outward.change(topic, now)

    def take_messages(self, now: int) -> Sequence[Message]:
        """What to publish now. Report each with ``received``."""
        if self._opens_at is not None and now >= self._opens_at:
            self._known.outward.is_open, self._opens_at = True, None
        return self._telling.take(now)

    def received(self, name: str, now: int, refusal: str = "") -> None:
        """The server has received what was published at this topic; ``refusal``: why it does not accept it."""
        if refusal:
            self._known.refuse("refused_by_server", name, refusal)
        began = self._telling.received(name, now)
        if began is not None:
            self.lags_out.append(now - began)

    # ---- time and state

    def next_timer(self) -> int | None:
        """When to take operations and messages again."""
        known = self._known
        due = known.outward.next_due()
        timers = [known.inward.next_timer(), self._opens_at, None if due is None else known.monotonic(due)]
        return min((timer for timer in timers if timer is not None), default=None)

    def sizes(self) -> dict[str, int]:
        """What it holds now."""
        known = self._known
        return {
            "topics": len(known.topics),
            "waiting_in": len(known.inward),
            "waiting_out": len(known.outward),
            "unacknowledged": known.inward.unacknowledged,
            "superseded": known.inward.superseded,
        }

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        self._known.check_invariants()
