"""Suspicion: a neighbour that misses its pings is asked for through others before it is declared dead (SWIM).

Das, Gupta, Motivala: SWIM, DSN 2002. Loss alone then hardly kills anybody: at 10 % per datagram a ping goes unanswered
with probability 0.19 and one through a helper with 0.34, so that three helpers and three rounds multiply to some 10^-8
per ping where three misses in a row make 0.007.

::

    we ── 24 ─> helper ── 1 ─> suspect          in each round: up to ``indirect_probes`` helpers, and our own ping
       <─ 25 ──       <── 9 ──                  25: it lives, and the count begins again; 9 to us: no suspect any more

One that only helpers hear stays a suspect, since what we send it may be lost on the way: walks pass it over while there
is another neighbour, and it is not dead. Where there are fewer helpers than wanted, our own pings take their place.

Self-health (Dadgar, Phillips, Currey: Lifeguard, 2018): in a round in which most of our own pings had failed, the cause
is likelier with us, and nobody is declared dead. That lasts as many rounds as the suspicion did at most, and needs
three neighbours to judge by; otherwise the leaf of a star would believe in its dead hub for ever. It has no setting of
its own: without it a broker that was stopped for a while drops everybody, and nobody wants that.
"""

from __future__ import annotations

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.members import Members, Suspicion
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.extensions import IndirectPing, IndirectPingResponse
from overlay.systems.context_broker.wire.messages import Ping

MOST_FAVOURS = 256
"""Pings on behalf of others that wait for an answer; what comes beyond is not done."""
LEAST_TO_JUDGE = 3
"""Neighbours without which we cannot tell whether the failure is ours."""


class Suspecting:
    """Both sides: asking others about our suspects, and pinging for others that ask us."""

    __slots__ = ("_favours", "_helpers", "_interval", "_members", "_rounds", "_station")

    def __init__(self, station: Station, members: Members) -> None:
        self._station = station
        self._members = members
        self._helpers = station.config.indirect_probes
        self._rounds = station.config.suspicion_rounds
        self._interval = station.config.ping_interval_ms * MILLISECOND
        self._favours: dict[tuple[Address, Address], tuple[int, int]] = {}
        """(Whom we pinged, who asked) to (the question's timestamp, until when), the oldest first."""

    # ---- our suspects

    def is_dead(self, address: Address, now: int, *, in_doubt: bool) -> bool:
        """Whether a neighbour that missed its pings is to be dropped; else another round of asking begins.

        ``in_doubt``: most of our own pings had failed, too.
        """
        if not self._helpers:
            return True
        suspicion = self._members.suspects.get(address)
        if suspicion is None:
            suspicion = self._members.suspects[address] = Suspicion()
            self._station.counters["suspicions"] += 1
        if suspicion.rounds < self._rounds:
            suspicion.rounds += 1
        elif in_doubt and suspicion.spared < self._rounds:
            suspicion.spared += 1
        else:
            return True
        self._ask_others(address, suspicion, now)
        return False

    def accept_answer(self, answer: IndirectPingResponse, source: Address, now: int) -> bool:
        """A helper heard a suspect; ``False`` where it was not asked, or not about that one."""
        suspicion = self._members.suspects.get(answer.broker)
        if suspicion is None or suspicion.asked.get(source) != answer.timestamp:
            return False
        del suspicion.asked[source]
        suspicion.rounds = suspicion.spared = 0
        self._station.counters["heard_indirectly"] += 1
        return True

    def _ask_others(self, suspect: Address, suspicion: Suspicion, now: int) -> None:
        others = [n for n in self._members.neighbours if n != suspect and n not in self._members.suspects]
        helpers = self._station.chances.members.sample(others, min(self._helpers, len(others)))
        stamp = self._station.wall_ms(now)
        suspicion.asked = dict.fromkeys(helpers, stamp)
        for helper in helpers:
            self._station.send_message(IndirectPing(stamp, suspect), helper, now)
        for _ in range(self._helpers - len(helpers)):
            self._station.send_message(Ping(stamp), suspect, now)

    # ---- those of others

    def handle_question(self, question: IndirectPing, source: Address, now: int) -> None:
        """Ping somebody for a neighbour, which hears of it if there is an answer within one interval."""
        if source not in self._members:
            self._station.counters["rejected_command"] += 1
            return
        if question.broker == self._station.address:
            self._tell(question.timestamp, question.broker, source, now)
            return
        self._forget_old(now)
        favour = question.broker, source
        if favour not in self._favours and len(self._favours) >= MOST_FAVOURS:
            self._station.report_limit("favours", now)
            return
        self._favours.pop(favour, None)  # so that the oldest stays first
        self._favours[favour] = question.timestamp, now + self._interval
        self._station.send_message(Ping(self._station.wall_ms(now)), question.broker, now)

    def accept_ping_response(self, source: Address, now: int) -> bool:
        """Somebody whom we pinged for others lives; ``False`` where there is none."""
        if not self._favours:  # nearly always
            return False
        self._forget_old(now)
        done = [favour for favour in self._favours if favour[0] == source]
        for favour in done:
            stamp, _ = self._favours.pop(favour)
            if favour[1] in self._members:
                self._tell(stamp, source, favour[1], now)
        return bool(done)

    def _tell(self, stamp: int, broker: Address, to: Address, now: int) -> None:
        self._station.send_message(IndirectPingResponse(stamp, broker), to, now)

    def _forget_old(self, now: int) -> None:
        while self._favours and next(iter(self._favours.values()))[1] <= now:
            del self._favours[next(iter(self._favours))]

    def check_invariants(self) -> None:
        assert len(self._favours) <= MOST_FAVOURS
        untils = [until for _, until in self._favours.values()]
        assert untils == sorted(untils)
        for suspicion in self._members.suspects.values():
            assert suspicion.rounds <= self._rounds >= suspicion.spared
            assert suspicion.rounds == self._rounds or not suspicion.spared
            assert len(suspicion.asked) <= self._helpers
