"""Finds live brokers from a list of addresses of which some are dead, and keeps this knowledge up to date. Pure.

::

                      list                                  answers
    waiting for a ──────────> probing a few at a time ────────────────> found: nearest first, loads known
    list, or again               │          ^                              │
       ^                         │          └── every refresh, and when the client reports that a broker is silent
       └── all silent: again after 0.5 s, then twice as long each time, up to 30 s; a newer list is wanted

A probe is a BrokersRequest (38), whose answer names further brokers. A broker that does not know it refuses it and is
thereby found, too; one that leaves its network refuses it with status 201 and is not used. Source: seed 000, 3.4.3.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.errors import WireError
from overlay.core.node import MILLISECOND, SECOND, NodeEvent
from overlay.load.choice import Candidate
from overlay.systems.context_broker.clients.exchange import Timestamps, WallClock
from overlay.systems.context_broker.wire.codec import encode, parse, timestamp_of
from overlay.systems.context_broker.wire.discovery_messages import BrokersRequest, BrokersResponse
from overlay.systems.context_broker.wire.messages import Nack, Status

FAN_OUT = 8
"""New probes at a time: so many within ``AGAIN_NS``."""
AGAIN_NS = 200 * MILLISECOND
"""A probe without an answer is sent once more, and the next brokers get their turn."""
SILENT_NS = 800 * MILLISECOND
"""Until then the round waits for the answer to a first probe."""
TRIES = 2
WANTED = 8
"""Answers after which a round sends no further probes."""
REFRESH_NS = 30 * SECOND
"""Between two rounds, within 20 % at random."""
FIRST_PAUSE_NS, LONGEST_PAUSE_NS = SECOND // 2, 30 * SECOND
"""Before the next round if no broker has answered; also within 20 %."""
MOST_LISTED = 1000
"""Addresses of a list; further ones are ignored."""
MOST_LEARNED = 64
"""Addresses learned from brokers: so many strangers can be made to receive a probe, at most."""
MOST_TOLD = 16
"""Addresses wanted of one broker."""


@dataclass(slots=True)
class Trial:
    """The probes to one broker in a round."""

    tries: int
    first_at: int
    last_at: int


class Bootstrapper:
    """A ``Node`` with one address. After each call look at ``live``; give it a newer list if ``wants_list``."""

    def __init__(self, wall: WallClock, chance: Chance, *, wanted: int = WANTED, refresh_ns: int = REFRESH_NS) -> None:
        self.live: dict[Address, Candidate] = {}
        """The brokers that answered when they were last probed."""
        self.epochs: dict[Address, int] = {}
        """The starts of live brokers that said it, Unix milliseconds: one that has restarted has an empty table."""
        self.wants_list = True
        """Whether a newer list would help, or the one it has is as old as its last round. Reset by ``renew``."""
        self.rounds = 0
        """Rounds that have ended."""
        self.pinned: Address | None = None
        """A broker that is probed in every round: the client's own."""
        self._timestamps = Timestamps(wall)
        self._chance = chance
        self._wanted = wanted
        self._refresh_ns = refresh_ns
        self._listed: dict[Address, None] = {}
        self._learned: dict[Address, None] = {}
        self._queue: deque[Address] = deque()
        self._trials: dict[Address, Trial] = {}
        """Of the current round, those that have answered left out."""
        self._stamps: dict[int, tuple[Address, int]] = {}
        """The probes of this round by timestamp: the broker, and when it was sent."""
        self._answered: set[Address] = set()
        self._is_probing = False
        self._next_round: int | None = None
        self._pause_ns = FIRST_PAUSE_NS
        self._outgoing: list[tuple[bytes, Address]] = []

    @property
    def nearest(self) -> Sequence[Address]:
        """The live brokers, nearest first."""
        return [one.address for one in sorted(self.live.values(), key=lambda one: one.round_trip_ms or 0.0)]

    @property
    def is_searching(self) -> bool:
        """Whether a round is in progress."""
        return self._is_probing

    def renew(self, listed: Iterable[Address], now: int) -> None:
        """A list, the first or a newer one. Without a live broker its entries are probed at once."""
        before, self.wants_list = self._listed, False
        self._listed = dict.fromkeys(list(dict.fromkeys(listed))[:MOST_LISTED])
        if self._is_probing:
            self._queue.extend(one for one in self._listed if one not in before and one not in self._trials)
            self._fill(now)
        elif not self.live:
            self._begin(now)

    def failed(self, broker: Address, now: int) -> None:
        """The client found a broker silent: it is not live until it answers a probe again."""
        self.live.pop(broker, None)
        self._answered.discard(broker)
        if not self._is_probing and not self.live:
            self._begin(now)

    def look(self, now: int) -> None:
        """Begin a round now, unless one is in progress."""
        if not self._is_probing:
            self._begin(now)

    def look_again(self, at: int) -> None:
        """The next round begins then at the latest."""
        if self._next_round is not None:
            self._next_round = min(self._next_round, at)

    def expects(self, data: bytes, source: Address) -> bool:
        """Whether a datagram is the answer to a probe of this round."""
        if not data.startswith((b"39|", b"6|")):
            return False
        stamp = timestamp_of(data)
        return stamp is not None and self._stamps.get(stamp, (None,))[0] == source

    # ---- the node

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        for data, source in datagrams:
            self.receive_datagram(data, source, now)

    def receive_datagram(self, data: bytes, source: Address, now: int) -> None:
        """Ignores all that is not the answer to a probe of this round."""
        try:
            message = parse(data)
        except WireError:
            return
        if not isinstance(message, BrokersResponse | Nack):
            return
        broker, sent_at = self._stamps.get(message.timestamp, (None, 0))
        if broker != source or broker is None or broker in self._answered:
            return
        self._trials.pop(broker, None)
        if isinstance(message, Nack) and message.status == Status.I_ERROR:
            self.live.pop(broker, None)
        else:
            self._answered.add(broker)
            took_ms = (now - sent_at) / MILLISECOND
            if isinstance(message, BrokersResponse):
                self.live[broker] = Candidate(broker, took_ms, message.load_per_s)
                self.epochs[broker] = message.epoch
                self._learn(message.brokers)
            else:
                self.live[broker] = Candidate(broker, took_ms)
        self._fill(now)

    def handle_timer(self, now: int) -> None:
        if self._is_probing:
            for broker, trial in self._trials.items():
                if trial.tries < TRIES and now >= trial.last_at + AGAIN_NS:
                    trial.tries, trial.last_at = trial.tries + 1, now
                    self._send(broker, now)
            self._fill(now)
        elif self._next_round is not None and now >= self._next_round:
            self._begin(now)

    def next_timer(self) -> int | None:
        if not self._is_probing:
            return self._next_round
        due = [
            trial.last_at + AGAIN_NS if trial.tries < TRIES else trial.first_at + SILENT_NS
            for trial in self._trials.values()
        ]
        return min(due, default=None)

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def events(self) -> Sequence[NodeEvent]:
        return ()

    # ---- parts of the above

    def _begin(self, now: int) -> None:
        """A round over all that is known, in random order: clients with the same list ask different brokers first."""
        known = list(dict.fromkeys([*self._listed, *self._learned]))
        shuffled = self._chance.sample(known, len(known))
        first = [] if self.pinned is None else [self.pinned]
        self._queue = deque(dict.fromkeys([*first, *shuffled]))
        self._trials, self._stamps, self._answered = {}, {}, set()
        self._is_probing, self._next_round = True, None
        self._fill(now)

    def _fill(self, now: int) -> None:
        """Send the probes that are due; end the round if nothing is to be waited for."""
        if not self._is_probing:
            return
        new = sum(now < trial.first_at + AGAIN_NS for trial in self._trials.values())
        while self._queue and new < FAN_OUT and len(self._answered) + new < self._wanted:
            broker = self._queue.popleft()
            if broker not in self._trials and broker not in self._answered:
                self._trials[broker] = Trial(1, now, now)
                self._send(broker, now)
                new += 1
        if len(self._answered) >= self._wanted:
            self._queue.clear()
        silent = [broker for broker, trial in self._trials.items() if now >= trial.first_at + SILENT_NS]
        if not self._queue and len(silent) == len(self._trials):
            self._end(silent, now)
        elif silent:
            self._give_up(silent)
            self._fill(now)

    def _send(self, broker: Address, now: int) -> None:
        stamp = self._timestamps.next(now)
        self._stamps[stamp] = broker, now
        self._outgoing.append((encode(BrokersRequest(stamp, MOST_TOLD)), broker))

    def _learn(self, brokers: Iterable[Address]) -> None:
        for broker in brokers:
            if broker in self._listed or broker in self._learned or len(self._learned) >= MOST_LEARNED:
                continue
            self._learned[broker] = None
            if len(self._answered) < self._wanted:
                self._queue.append(broker)

    def _give_up(self, silent: Iterable[Address]) -> None:
        for broker in silent:
            del self._trials[broker]
            self.live.pop(broker, None)
            self._learned.pop(broker, None)

    def _end(self, silent: Iterable[Address], now: int) -> None:
        self._give_up(silent)
        self.epochs = {broker: epoch for broker, epoch in self.epochs.items() if broker in self.live}
        self._is_probing, self.wants_list = False, True
        self.rounds += 1
        wait = self._refresh_ns if self.live else self._pause_ns
        self._pause_ns = FIRST_PAUSE_NS if self.live else min(2 * self._pause_ns, LONGEST_PAUSE_NS)
        self._next_round = now + round(wait * (0.8 + 0.4 * self._chance.random()))

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a limit is exceeded, or nothing would happen any more."""
        assert len(self._listed) <= MOST_LISTED
        assert len(self._learned) <= MOST_LEARNED
        assert not self._trials.keys() & self._answered
        assert self._answered <= self.live.keys()
        assert len(self._stamps) <= TRIES * (MOST_LISTED + MOST_LEARNED + 1)
        if self._is_probing:
            assert self._trials, "a round that waits for nothing"
        else:
            assert self._next_round is not None or not self.rounds
