"""Registrations of brokers, and when each becomes invalid and ends (seed 001, section 8). Pure.

z is the instant of the last registration or keep-alive, Δ the setting ``broker_keepalive_s``::

    UNKNOWN ── register ──> VALID ── z + Δ ──> INVALID ── z + 2Δ ──> UNKNOWN
                              ^ └── register, keep-alive ──┘ │       (``first_missed``: z + 3Δ)
                              └────── register, keep-alive ──┘

Both are live: an invalid broker stays in the tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from overlay.core.node import SECOND
from overlay.core.timers import Timers
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire.values import BrokerAdvertisement

MOST_BROKERS = 100_000


class State(IntEnum):
    UNKNOWN = 0
    VALID = 1
    INVALID = 2


@dataclass(slots=True)
class Registration:
    advertisement: BrokerAdvertisement
    last_heard: int
    """z, ns."""
    state: State = State.VALID
    told: int = 0
    """The newest epoch that was sent in the present session; 0: none."""
    sent: int = 0
    """The newest epoch that was sent to it at all."""


class Registry:
    def __init__(self, settings: Settings) -> None:
        self.period = round(settings.broker_keepalive_s * SECOND)
        """Δ, ns."""
        self.grace = self.period * (3 if settings.grace_from == "first_missed" else 2)
        """From the last keep-alive to the end, ns."""
        self._of: dict[str, Registration] = {}
        self._timers = Timers()
        """One deadline for each broker."""

    @property
    def all(self) -> Mapping[str, Registration]:
        return self._of

    def __len__(self) -> int:
        return len(self._of)

    def get(self, broker: str) -> Registration | None:
        return self._of.get(broker)

    def advertisements(self) -> dict[str, BrokerAdvertisement]:
        return {broker: one.advertisement for broker, one in self._of.items()}

    def state(self, broker: str) -> State:
        found = self._of.get(broker)
        return State.UNKNOWN if found is None else found.state

    def register(self, advertisement: BrokerAdvertisement, now: int) -> BrokerAdvertisement | None:
        """Returns its advertisement until now."""
        broker = advertisement.id
        found, before = self._of.get(broker), None
        if found is None:
            self._of[broker] = Registration(advertisement, now)
        else:
            before, found.advertisement = found.advertisement, advertisement
        self.hear(broker, now)
        return before

    def hear(self, broker: str, now: int) -> Registration | None:
        """A keep-alive. ``None`` if the broker is unknown."""
        found = self._of.get(broker)
        if found is not None:
            found.last_heard, found.state = now, State.VALID
            self._timers.set(broker, now + self.period)
        return found

    def remove(self, broker: str) -> Registration | None:
        self._timers.cancel(broker)
        return self._of.pop(broker, None)

    def next_timer(self) -> int | None:
        return self._timers.next_timer()

    def expire(self, now: int) -> list[Registration]:
        """Let deadlines pass. Returns the registrations that have ended."""
        ended = []
        for broker in self._timers.due(now):
            found = self._of[broker]
            if found.state is State.VALID:
                found.state = State.INVALID
                self._timers.set(broker, found.last_heard + self.grace)
            else:
                ended.append(self._of.pop(broker))
        return ended

    def check_invariants(self, now: int) -> None:
        """Raises ``AssertionError``. No deadline is at ``now`` or before it (I10)."""
        assert len(self._of) <= MOST_BROKERS
        assert set(self._timers) == self._of.keys(), "one deadline each"
        due = self._timers.next_timer()
        assert due is None or due > now, "(I10) a deadline has passed"
        for broker, found in self._of.items():
            assert broker == found.advertisement.id
            left = found.last_heard + (self.period if found.state is State.VALID else self.grace)
            assert found.state is not State.UNKNOWN and found.last_heard <= now < left
            assert found.told <= found.sent
