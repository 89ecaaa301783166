"""What the sessions of one channel share: limits, tables, deadlines, and the queues that the driver takes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from overlay.channel import wire
from overlay.channel.answers import Answers
from overlay.channel.deadlines import Deadlines
from overlay.channel.events import Down, Event, Loose, Reason
from overlay.channel.half_open import HalfOpens
from overlay.channel.limits import limits
from overlay.channel.settings import MOST_SESSIONS, ChannelSettings
from overlay.core.addresses import Address
from overlay.core.chance import Chance

if TYPE_CHECKING:
    from overlay.channel.session import Session


class Station:
    __slots__ = (
        *("_chance", "answers", "by_ours", "by_theirs", "counters", "deadlines", "events", "half_open", "id", "key"),
        *("limits", "now", "out", "ready", "sessions"),
    )

    def __init__(self, id: bytes, settings: ChannelSettings, chance: Chance, key: bytes | None) -> None:
        self.id, self.key = id, key
        self.limits = limits(settings, wire.SEAL_BYTES if key else 0)
        self.now = 0
        """Of the call that is being answered (ns)."""
        self.sessions: dict[bytes, Session] = {}
        """By the peer's id: those that are being opened, are up, or are being closed."""
        self.by_ours: dict[int, Session] = {}
        """By the own incarnation."""
        self.by_theirs: dict[int, Session] = {}
        """By the peer's incarnation, of those that are up."""
        self.half_open = HalfOpens()
        self.answers = Answers()
        self.deadlines = Deadlines()
        self.ready: list[Session] = []
        """May have something to send."""
        self.out: list[tuple[bytes, Address]] = []
        self.events: list[Event] = []
        self.counters: Counter[str] = Counter()
        """``dropped_REASON``: datagrams that changed nothing; ``refused_answers``: beyond the limits of strangers."""
        self._chance = chance

    def draw(self) -> int:
        """64 random bits, not 0."""
        drawn = 0
        while not drawn:
            drawn = self._chance.randrange(1 << 64)
        return drawn

    def send(self, data: bytes, to: Address) -> None:
        self.out.append((wire.seal(data, self.key) if self.key else data, to))

    def answer(self, data: bytes, to: Address) -> bool:
        """Send to an address that is not proven, unless its limits forbid it."""
        size = len(data) + (wire.SEAL_BYTES if self.key else 0)
        if self.answers.may_send(to, size, self.now):
            self.send(data, to)
            return True
        self.counters["refused_answers"] += 1
        return False

    def drop(self, reason: str) -> None:
        self.counters[f"dropped_{reason}"] += 1

    def take_loose(self, data: bytes, end: int, source: Address) -> None:
        """A message outside sessions."""
        id = wire.read_id(data, wire.HEAD_BYTES, end)
        message = data[wire.HEAD_BYTES + 1 + len(id) : end]
        if id and message:
            self.events.append(Loose(id, message, source))
        else:
            self.drop("loose")

    def forget(self, session: Session) -> None:
        """Remove an ended session from all tables."""
        del self.sessions[session.peer]
        if self.by_ours.get(session.ours) is session:
            del self.by_ours[session.ours]
        if self.by_theirs.get(session.theirs) is session:
            del self.by_theirs[session.theirs]
        self.deadlines.cancel(session)

    def end(self, session: Session, reason: Reason) -> None:
        """A session ends: what it did not deliver is handed back."""
        undelivered = session.end()
        self.forget(session)
        self.events.append(Down(session.peer, reason, undelivered))

    def check_invariants(self) -> None:
        sessions = list(self.sessions.values())
        assert len(sessions) <= MOST_SESSIONS
        assert all(session.peer == peer for peer, session in self.sessions.items())
        assert self.by_ours == {session.ours: session for session in sessions}
        assert {session.theirs for session in sessions} - {0} == set(self.by_theirs)
        assert all(session.theirs == theirs for theirs, session in self.by_theirs.items())
        for session in sessions:
            session.check_invariants()
            assert session.is_ready == any(one is session for one in self.ready)
            assert session.earliest() > self.now or session.is_ready, "no timer is in the past"
        self.deadlines.check_invariants([*sessions, self.half_open])
        self.half_open.check_invariants()
        self.answers.check_invariants()
