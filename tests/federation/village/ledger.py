"""What was subscribed, published and received, and what is wrong with it (section 12)."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.federation.clients.events import Verdict
from overlay.systems.federation.wire.values import SubscriptionId
from tests.federation.naive import satisfies


@dataclass
class Subscribed:
    subscription: object
    life: object
    """Of the client; another life knows nothing of it."""
    withdrawn_at: int | None = None
    is_withdrawn: bool = False
    """Whether its broker has said so."""
    sent: dict = field(default_factory=dict)
    """When brokers sent it notifications, by id."""
    received: dict = field(default_factory=dict)


@dataclass
class Accepted:
    """A notification that a broker has accepted."""

    note: object
    at: int
    broker: str
    place: int
    """Among all of its provider."""


@dataclass(frozen=True)
class Owed:
    nid: object
    sid: object
    at: int
    way: tuple
    """The brokers, the provider's first."""


class Ledger:
    """``disturb`` is what happened to a broker or client that excuses a loss, a copy or another order around it."""

    def __init__(self, give_up_s, keepalive_s):
        self.before = round((give_up_s + 1) * SECOND)
        self.after = round((3 * give_up_s + 3 * keepalive_s + 5) * SECOND)
        self.subscribed, self.published, self.accepted = {}, {}, {}
        self.owed = []
        self.disturbed = defaultdict(list)
        self.newest = defaultdict(int)
        """By provider and client, the last place received."""
        self.places = Counter()
        self.counts = Counter()
        self.causes = Counter()
        self.now, self.wall_offset_ns = 0, 0

    @property
    def wall_ms(self):
        return (self.now + self.wall_offset_ns) // MILLISECOND

    # ---- what happens

    def disturb(self, who, cause):
        self.disturbed[who].append((self.now, cause))

    def subscribe(self, life, subscription):
        self.subscribed[subscription.id] = Subscribed(subscription, life)
        self.counts["subscriptions"] += 1

    def withdraw(self, sid):
        self.subscribed[sid].withdrawn_at = self.now

    def withdrawn(self, sid):
        self.subscribed[sid].is_withdrawn = True

    def publish(self, life, note):
        self.published[note.id] = life, note

    def check_published(self):
        """At rest: brokers have accepted what providers that are there have published."""
        for nid, (life, note) in self.published.items():
            is_missing = life.is_live and nid not in self.accepted and note.expires > self.wall_ms
            assert not is_missing, f"{nid} was published, and accepted by no broker"

    def accept(self, broker, note, find_way):
        """``find_way(subscription)`` gives the brokers to its client, as their tables are now, or None."""
        if note.id in self.accepted:
            return
        self.places[note.id.provider] += 1
        self.accepted[note.id] = Accepted(note, self.now, broker, self.places[note.id.provider])
        self.counts["notifications"] += 1
        for sid, one in self.subscribed.items():
            if self.is_live(one) and sid.client != note.id.provider and is_satisfied(one.subscription, note):
                way = find_way(one.subscription)
                if way is not None and not (one.subscription.once and one.received):
                    self.owed.append(Owed(note.id, sid, self.now, way))

    def is_live(self, one):
        return one.life.is_live and one.withdrawn_at is None and one.subscription.expires > self.wall_ms

    # ---- what is right

    def send(self, broker, name, message):
        """A broker notifies a client."""
        note, client = message.notification, name
        assert message.satisfied, f"{broker} notifies {name} of nothing"
        for sid in message.satisfied:
            assert sid.client == name, f"{broker} notifies {name} of {sid}"
            one = self.subscribed[sid]
            assert is_satisfied(one.subscription, note), f"spurious: {note} does not satisfy {one.subscription}"
            if note.id not in one.sent:  # else it was sent in time, and goes again in another session
                assert one.subscription.expires > self.wall_ms, f"spurious: {sid} has expired"
                assert not one.is_withdrawn, f"spurious: {sid} was withdrawn"
            earlier = one.sent.keys() if one.subscription.once else one.sent.keys() & {note.id}
            if earlier:
                since = min(one.sent[nid] for nid in earlier)
                self._excuse(f"{broker} sends {note.id} for {sid} again", since, [client, broker])
            one.sent[note.id] = self.now
        self.counts["cached"] += message.is_cached

    def receive(self, life, note, verdicts, is_cached):
        """A client is notified. ``verdicts``: what it makes of that, by the number of the subscription."""
        name = life.name
        self.counts["notifies"] += 1
        accepted = self.accepted.get(note.id)
        assert accepted is not None and accepted.note == note, f"{note.id} was published by no one"
        for number, verdict in verdicts:
            self._receive_for(life, note, self.subscribed[SubscriptionId(name, number)], verdict)
        if not is_cached:
            self._receive_in_order(name, accepted)

    def _receive_for(self, life, note, one, verdict):
        name, sid = life.name, one.subscription.id
        if note.id in one.received:
            self._excuse(f"{name} gets {note.id} for {sid} twice", one.received[note.id], [name])
            assert verdict is not Verdict.FIRST, "a copy is not noticed"
        elif one.subscription.once and one.received:
            self._excuse(f"{name} gets a second answer to {sid}", min(one.received.values()), [name])
            assert verdict is not Verdict.FIRST, "a second answer is not noticed"
        elif verdict is Verdict.SPURIOUS:
            self._excuse(f"{name} gets {note.id} for {sid} in vain", self.now, [name])
        if verdict is Verdict.FIRST:
            one.received[note.id] = self.now

    def _receive_in_order(self, name, accepted):
        pair = accepted.note.id.provider, name
        if accepted.place < self.newest[pair]:
            self._excuse(f"{name} gets {accepted.note.id} late", accepted.at, self.disturbed)
        self.newest[pair] = max(self.newest[pair], accepted.place)

    def judge(self):
        """What was owed long enough ago was received, or there is a cause."""
        waiting = []
        for owed in self.owed:
            cause = self._cause(owed)
            if cause == "waiting":
                waiting.append(owed)
            elif cause:
                self.counts["in_window"] += 1
                self.causes[cause] += 1
            else:
                self.counts["owed"] += 1
        self.owed = waiting

    def _cause(self, owed):
        """Why it is missing; empty if it is not, or is owed no longer."""
        one, end = self.subscribed[owed.sid], owed.at + self.after
        if owed.nid in one.received or (one.subscription.once and one.received):
            return ""
        if one.withdrawn_at is not None and one.withdrawn_at <= end:
            return ""
        expires = min(one.subscription.expires, self.accepted[owed.nid].note.expires)
        if expires * MILLISECOND - self.wall_offset_ns <= end:
            return "expired" if self.now > end else "waiting"
        cause = self.cause_between(owed.at, end, [*owed.way, owed.sid.client, owed.nid.provider])
        if not cause and self.now < end:
            return "waiting"
        assert cause, f"lost: {owed.nid} for {owed.sid}, by {' '.join(owed.way)}, published at {seconds(owed.at)}"
        return cause

    def cause_between(self, begin, end, names):
        for name in names:
            for at, cause in self.disturbed.get(name, ()):
                if begin - self.before <= at <= end:
                    return cause
        return ""

    def _excuse(self, what, since, names):
        cause = self.cause_between(since, self.now, names)
        assert cause, f"{what} at {seconds(self.now)}"
        self.counts["excused"] += 1


def is_satisfied(subscription, note):
    return note.scope in subscription.scopes and satisfies(subscription.expression, note)


def seconds(at):
    return f"{at / SECOND:.3f} s"
