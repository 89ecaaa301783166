"""Suspicion: a neighbour that misses its pings is probed through other neighbours before it is declared dead (SWIM).

Das, Gupta, Motivala: SWIM, DSN 2002. Loss alone then hardly causes false deaths: at 10 % per datagram a ping is
unanswered with probability 0.19, and one through a helper with 0.34. Three helpers and three rounds multiply to about
10^-8 per ping, compared with 0.007 for three consecutive misses.

::

    we ── 24 ─> helper ── 1 ─> suspect          in each round: up to ``indirect_probes`` helpers, and our own ping
       <─ 25 ──       <── 9 ──                  25: it is alive, and the count restarts; 9 to us: not a suspect any more

A suspect that only helpers reach stays a suspect, since our messages to it may be lost: walks avoid it while there
is another neighbour, but it is not dead. If there are fewer helpers than needed, our own pings take their place.

Self-check (Dadgar, Phillips, Currey: Lifeguard, 2018): in a round in which most of our own pings failed, the cause
is probably this broker, and no neighbour is declared dead. This lasts at most as many rounds as the suspicion, and
requires three neighbours; otherwise the leaf of a star would never drop its dead hub. There is no setting for it,
because without it a broker that was stopped for a while would drop all neighbours.
"""

from __future__ import annotations

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.members import Members, Suspicion
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.extensions import IndirectPing, IndirectPingResponse
from overlay.systems.context_broker.wire.messages import Ping

MOST_FAVOURS = 256
"""Maximum pings for others in progress; further ones are not sent."""
LEAST_TO_JUDGE = 3
"""Minimum neighbours for the self-check."""


class Suspecting:
    """Both roles: asking helpers about our suspects, and pinging for others."""

    __slots__ = ("_favours", "_helpers", "_interval", "_members", "_rounds", "_station")

    def __init__(self, station: Station, members: Members) -> None:
        self._station = station
        self._members = members
        self._helpers = station.config.indirect_probes
        self._rounds = station.config.suspicion_rounds
        self._interval = station.config.ping_interval_ms * MILLISECOND
        self._favours: dict[tuple[Address, Address], tuple[int, int]] = {}
        """(Suspect, requester) to (timestamp of the request, time-out), the oldest first."""

    # ---- own suspects

    def is_dead(self, address: Address, now: int, *, in_doubt: bool) -> bool:
        """Whether to drop a neighbour that missed its pings; otherwise starts another round of probes.

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
        """Handle a helper's answer; ``False`` if it was not asked about that suspect."""
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

    # ---- pings for others

    def handle_question(self, question: IndirectPing, source: Address, now: int) -> None:
        """Ping a broker for a neighbour, and report an answer within one interval."""
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
        self._favours.pop(favour, None)  # keeps the oldest first
        self._favours[favour] = question.timestamp, now + self._interval
        self._station.send_message(Ping(self._station.wall_ms(now)), question.broker, now)

    def accept_ping_response(self, source: Address, now: int) -> bool:
        """Handle the answer of a broker pinged for others; ``False`` if there is none."""
        if not self._favours:  # the usual case
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
