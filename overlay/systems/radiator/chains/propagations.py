"""The server's propagation: direct pushes, chains, their repair, and an outcome for every pair (seed 003, 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import NodeEvent
from overlay.systems.radiator.chains.chain import Chain, Member
from overlay.systems.radiator.chains.cutting import Chainability
from overlay.systems.radiator.chains.forming import Former
from overlay.systems.radiator.chains.propagation import Outcome, Propagated, Propagation, Settled
from overlay.systems.radiator.chains.transfers import Send, Transfer, Transfers
from overlay.systems.radiator.clients.table import Entry
from overlay.systems.radiator.config import Transport, ns
from overlay.systems.radiator.timers import Timers, earliest
from overlay.systems.radiator.tracing import Tracer
from overlay.systems.radiator.wire import messages as m


class Target(NamedTuple):
    """What a transfer is for. ``chain`` is ``None`` for a direct push of a recipient that is in no chain."""

    propagation: int
    chain: int | None
    position: int
    attempt: int
    member: Member


class Propagations:
    """Those under way. ``state`` is why a member must not be pushed to, ``None`` if it may; ``silent`` is called with
    a member that does not acknowledge."""

    def __init__(
        self,
        config: Transport,
        server: Address,
        epoch: int,
        key: bytes,
        chance: Chance,
        *,
        send: Send,
        state: Callable[[Member], Outcome | None],
        silent: Callable[[Member, int], None],
        chainability: Chainability[Entry] | None = None,
    ) -> None:
        self._tracer = Tracer(config.trace_one_in)
        self._config, self._epoch, self._state, self._silent = config, epoch, state, silent
        self._former = Former(config, server, epoch, key, chance, chainability)
        self._open: dict[int, Propagation] = {}
        self._transfers = Transfers(config, send)
        self._waits = Timers()
        """By (propagation, chain): when it has been silent for too long."""
        self._numbers = 0
        self._events: list[NodeEvent] = []
        self.counts: Counter[str] = Counter()
        """``propagations``, their ``originals`` and ``recipients``, ``pushes``, ``chains`` and their ``members``,
        ``repairs``, and outcomes of pairs."""

    def __len__(self) -> int:
        return len(self._open)

    @property
    def in_flight(self) -> int:
        """Pairs of a message and a recipient that have no outcome yet, in all propagations under way."""
        return sum(propagation.open * len(propagation.messages) for propagation in self._open.values())

    @property
    def under_way(self) -> Iterator[Propagation]:
        return iter(self._open.values())

    # ---- a propagation begins

    def propagate(
        self, messages: tuple[int, ...], body: bytes, recipients: Sequence[Entry], p2p_clients: int, now: int
    ) -> None:
        """``body`` has at most ``Transport.most_bytes``; ``p2p_clients`` are all that are reachable."""
        self._numbers += 1
        outcomes = {entry.key: Outcome.IN_FLIGHT for entry in recipients}
        propagation = Propagation(self._numbers, messages, body, outcomes, len(outcomes))
        self._open[propagation.number] = propagation
        direct = self._former.form(propagation, recipients, p2p_clients)
        self._note_beginning(propagation, len(direct))
        self._tracer.begin(propagation, direct, now)
        for chain in list(propagation.chains):
            self._inject(propagation, chain, 0, now)
        for at, member in enumerate(direct):
            self._push(propagation, Target(propagation.number, None, at, 0, member), now)
        self._close_if_settled(propagation)

    def _note_beginning(self, propagation: Propagation, direct: int) -> None:
        chains, recipients = len(propagation.chains), len(propagation.outcomes)
        messages = propagation.messages
        self.counts.update(propagations=1, pushes=chains + direct, chains=chains, recipients=recipients)
        self.counts.update(originals=len(messages), members=recipients - direct)
        self._events.append(Propagated(propagation.number, messages, recipients, chains + direct, chains))

    # ---- pushes

    def _push(self, propagation: Propagation, target: Target, now: int) -> bool:
        """A direct push. Returns whether its member may be pushed to."""
        if outcome := self._state(target.member):
            propagation.settle(target.member, outcome)
            return False
        self._transfers.send(self._former.direct_push(propagation), target.member.address, target, now)
        return True

    def _inject(self, propagation: Propagation, chain: Chain, position: int, now: int) -> None:
        """Push to the first member from ``position`` on that may be pushed to."""
        number = chain.push.chain
        self._waits.cancel((propagation.number, number))
        if self._is_too_late(chain, now):
            self._trace(propagation, chain, "gave up", chain.known + 1, now)
            return self._give_up(propagation, chain)
        position = chain.first_after(position - 1)
        while position <= chain.last and (outcome := self._state(chain.members[position])):
            chain.failed.add(position)
            self._trace(propagation, chain, "passed over", position, now)
            propagation.settle(chain.members[position], outcome)
            position = chain.first_after(position)
        if position > chain.last:
            return self._give_up(propagation, chain)
        push, member = chain.inject(position), chain.members[position]
        self._trace(propagation, chain, "injected", position, now)
        self.counts["repairs"] += chain.heard_at is not None  # until a push has left, it is still the first one
        target = Target(propagation.number, number, position, push.attempt, member)
        self._transfers.begin(push, chain.blob, member.address, target, now)
        return None

    def raw_bytes(self, transfer: Transfer) -> int:
        """Of its blob before compression."""
        target: Target = transfer.tag
        propagation = self._open.get(target.propagation)
        if propagation is None:
            return len(transfer.blob)
        is_direct = transfer.push.chain == m.DIRECT or target.chain is None
        return len(propagation.body) if is_direct else propagation.chains[target.chain or 0].raw_bytes

    def _is_too_late(self, chain: Chain, now: int) -> bool:
        """Clients remember propagations for ``seen_s``; nothing is repeated when they may have forgotten."""
        return chain.heard_at is not None and now > chain.heard_at + ns(self._config.seen_s) // 2

    def _give_up(self, propagation: Propagation, chain: Chain) -> None:
        """Nothing more is sent for this chain: what is open has failed."""
        self._waits.cancel((propagation.number, chain.push.chain))
        for member in chain.members:
            propagation.settle(member, Outcome.FAILED) if propagation.is_open(member) else None

    def may_leave(self, transfer: Transfer, now: int) -> bool:
        """The turn of a datagram at the uplink has come. Of a member that is absent now, the push is not sent."""
        target: Target = transfer.tag
        propagation = self._open.get(target.propagation)
        if transfer.has_left:
            if self._transfers.is_too_late(transfer, now):
                self._drop(transfer, Outcome.FAILED, now)
                return False
            return True
        if propagation is not None:
            chain = None if target.chain is None else propagation.chains[target.chain]
            outcome = self._state(target.member)
            if not outcome and not (chain and self._is_too_late(chain, now)):
                return True
            self._drop(transfer, outcome or Outcome.FAILED, now)
        else:
            self._transfers.cancel(transfer)
        return False

    def lost(self, address: Address, now: int) -> None:
        """A client is unreachable. What has not left for it is not sent, also if it returns meanwhile."""
        for transfer in self._transfers.unsent(address):
            self._drop(transfer, Outcome.UNREACHABLE, now)

    def _drop(self, transfer: Transfer, outcome: Outcome, now: int) -> None:
        self._transfers.cancel(transfer)
        propagation = self._open.get(transfer.tag.propagation)
        if propagation is not None:
            self._pass_over(propagation, transfer.tag, outcome, now)

    def _pass_over(self, propagation: Propagation, target: Target, outcome: Outcome, now: int) -> None:
        propagation.settle(target.member, outcome)
        if target.chain is not None:
            chain = propagation.chains[target.chain]
            self._trace(propagation, chain, "passed over", target.position, now, target.attempt)
            if chain.fail(target.position, target.attempt):
                self._inject(propagation, chain, target.position + 1, now)
        self._close_if_settled(propagation)

    def withdraw(self, address: Address, instance: int, now: int) -> None:
        """Another client has this address now: what is under way to earlier ones fails, so that it is not taken for
        one of them."""
        for transfer in self._transfers.to(address):
            target: Target = transfer.tag
            if target.member.instance == instance:
                continue
            self._transfers.cancel(transfer)
            propagation = self._open.get(target.propagation)
            if propagation is None:
                continue
            if target.chain is None or target.position > propagation.chains[target.chain].known:
                self._pass_over(propagation, target, Outcome.FAILED, now)

    def left(self, transfer: Transfer, now: int) -> None:
        """A datagram of a push has left the uplink. A chain can be silent from its last one on, repeats excepted."""
        target: Target = transfer.tag
        self._transfers.left(transfer, now)
        propagation = self._open.get(target.propagation)
        if propagation is None or target.chain is None or transfer.tries > 1:
            return
        chain = propagation.chains[target.chain]
        if chain.heard_at is None:
            chain.heard_at = now
        self._trace(propagation, chain, "left", target.position, now, target.attempt)
        self._wait(propagation, chain, now)

    def repeat(self, transfer: Transfer, segment: int, now: int) -> None:
        """A segment of a push is sent again."""
        target: Target = transfer.tag
        propagation = self._open.get(target.propagation)
        if propagation is not None and target.chain is not None and segment == transfer.base:
            chain = propagation.chains[target.chain]
            self._trace(propagation, chain, "repeated", target.position, now, target.attempt)

    # ---- what is heard

    def acknowledge(self, ack: m.Ack, source: Address, now: int) -> None:
        target: Target | None = self._transfers.acknowledge(ack, source, now)
        propagation = None if target is None else self._open.get(target.propagation)
        if target is None or propagation is None:
            return
        if target.chain is None or propagation.chains[target.chain].is_direct:
            propagation.settle(target.member, Outcome.DELIVERED)
            self._close_if_settled(propagation)
        else:
            chain = propagation.chains[target.chain]
            self._trace(propagation, chain, "acknowledged", target.position, now, target.attempt)
            self._learn(propagation, chain, target.position, now)

    def is_member(self, report: m.Report) -> bool:
        """Whether a report is by a member of its chain, in the place that it says."""
        return self._reported(report) is not None

    def _reported(self, report: m.Report) -> tuple[Propagation, Chain] | None:
        propagation = self._open.get(report.propagation)
        if propagation is None or report.epoch != self._epoch or report.chain >= len(propagation.chains):
            return None
        chain = propagation.chains[report.chain]
        reporter = report.position - isinstance(report, m.Failed)
        if not 0 <= reporter <= report.position <= chain.last or report.attempt > chain.attempt:
            return None
        return (propagation, chain) if chain.members[reporter].instance == report.instance else None

    def report(self, report: m.Report, now: int) -> None:
        """FAILED, DONE or PROGRESS. One that is not by a member of the chain, or late, changes nothing."""
        found = self._reported(report)
        if found is None:
            return
        propagation, chain = found
        step = type(report).__name__.lower()
        self._trace(propagation, chain, step, report.position, now, report.attempt)
        if isinstance(report, m.Failed):
            self._learn(propagation, chain, report.position - 1, now)
            self._fail(propagation, chain, report.position, report.attempt, now)
        else:
            self._learn(propagation, chain, report.position, now)

    def _learn(self, propagation: Propagation, chain: Chain, position: int, now: int) -> None:
        for known in chain.learn(position):
            propagation.settle(chain.members[known], Outcome.DELIVERED)
        chain.heard_at = now
        if chain.known == chain.last:
            self._waits.cancel((propagation.number, chain.push.chain))
        elif (propagation.number, chain.push.chain) in self._waits:
            self._wait(propagation, chain, now)
        self._close_if_settled(propagation)

    def _fail(self, propagation: Propagation, chain: Chain, position: int, attempt: int, now: int) -> None:
        member, is_repeat = chain.members[position], position in chain.failed
        is_due = chain.fail(position, attempt)
        if not is_repeat:
            self._silent(member, now)
        if position > chain.known:
            propagation.settle(member, Outcome.FAILED)
            if is_due:
                self._inject(propagation, chain, position + 1, now)
            self._close_if_settled(propagation)

    def _wait(self, propagation: Propagation, chain: Chain, now: int) -> None:
        if not chain.is_direct and chain.known < chain.last:
            self._waits.set((propagation.number, chain.push.chain), now + chain.wait(self._config))

    # ---- time

    def handle_timer(self, now: int) -> None:
        for target in self._transfers.handle_timer(now):
            self._unacknowledged(target, now)
        for number, chain in self._waits.due(now):
            self._silence(self._open[number], self._open[number].chains[chain], now)

    def next_timer(self) -> int | None:
        return earliest(self._transfers.next_timer(), self._waits.next_timer())

    def _unacknowledged(self, target: Target, now: int) -> None:
        propagation = self._open.get(target.propagation)
        if propagation is None:
            self._silent(target.member, now)
        elif target.chain is None or propagation.chains[target.chain].is_direct:
            propagation.settle(target.member, Outcome.FAILED)
            self._silent(target.member, now)
            self._close_if_settled(propagation)
        else:
            chain = propagation.chains[target.chain]
            self._trace(propagation, chain, "unanswered", target.position, now, target.attempt)
            self._fail(propagation, chain, target.position, target.attempt, now)

    def _silence(self, propagation: Propagation, chain: Chain, now: int) -> None:
        chain.silences += 1
        self._trace(propagation, chain, "silent", chain.known + 1, now)
        if chain.silences <= self._config.chain_attempts:
            self._inject(propagation, chain, chain.known + 1, now)
        elif self._is_too_late(chain, now):
            self._trace(propagation, chain, "gave up", chain.known + 1, now)
            self._give_up(propagation, chain)
        else:
            self._push_to_each(propagation, chain, now)
        self._close_if_settled(propagation)

    def _push_to_each(self, propagation: Propagation, chain: Chain, now: int) -> None:
        """Direct pushes to all members that are not known to have it."""
        chain.is_direct = True
        for position, member in enumerate(chain.members):
            if propagation.is_open(member):
                self._trace(propagation, chain, "direct", position, now)
                target = Target(propagation.number, chain.push.chain, position, chain.attempt, member)
                self.counts["repairs"] += self._push(propagation, target, now)

    # ---- the end

    def _close_if_settled(self, propagation: Propagation) -> None:
        if propagation.open or self._open.pop(propagation.number, None) is None:
            return
        for chain in propagation.chains:
            self._waits.cancel((propagation.number, chain.push.chain))
        outcomes = propagation.outcomes
        self.counts.update(str(outcome) for outcome in outcomes.values())
        missed = tuple((*key, str(one)) for key, one in outcomes.items() if one is not Outcome.DELIVERED)
        self._events.append(Settled(propagation.number, propagation.messages, tuple(outcomes), missed))

    def refuse(self, messages: tuple[int, ...], recipients: Sequence[Entry]) -> None:
        """An aggregate that is too large for a push: its pairs have failed."""
        self._numbers += 1
        outcomes = {entry.key: Outcome.FAILED for entry in recipients}
        propagation = self._open[self._numbers] = Propagation(self._numbers, messages, b"", outcomes)
        self._note_beginning(propagation, 0)
        self._close_if_settled(propagation)

    def close(self) -> None:
        """The server shuts down: what is in flight has no other outcome."""
        self._transfers.clear()
        for propagation in list(self._open.values()):
            for key, outcome in propagation.outcomes.items():
                if outcome is Outcome.IN_FLIGHT:
                    propagation.outcomes[key] = Outcome.SHUT_DOWN
            propagation.open = 0
            self._close_if_settled(propagation)

    def events(self) -> list[NodeEvent]:
        events, self._events = [*self._tracer.events(), *self._events], []
        return events

    def _trace(
        self, propagation: Propagation, chain: Chain, step: str, position: int, now: int, attempt: int | None = None
    ) -> None:
        """By default of the latest attempt."""
        self._tracer.step(propagation.number, chain, step, position, chain.attempt if attempt is None else attempt, now)

    def check_invariants(self) -> None:
        self._transfers.check_invariants()
        for number, propagation in self._open.items():
            assert number == propagation.number
            propagation.check_invariants()
        in_flight = sum(len(propagation.outcomes) for propagation in self._open.values())
        settled = sum(self.counts[str(outcome)] for outcome in Outcome)
        assert self.counts["recipients"] == in_flight + settled, "a pair has no outcome, or two"
        assert all(number in self._open for number, _ in self._waits)
