"""The server's propagation: direct pushes, chains, and an outcome for every pair (seed 003, 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import NodeEvent
from overlay.core.timers import earliest
from overlay.systems.radiator.chains.chain import Chain
from overlay.systems.radiator.chains.cutting import Chainability
from overlay.systems.radiator.chains.forming import Former
from overlay.systems.radiator.chains.propagation import Outcome, Propagated, Propagation, Settled, Target
from overlay.systems.radiator.chains.repair import Repair, Silent, State
from overlay.systems.radiator.chains.transfers import Send, Transfer, Transfers
from overlay.systems.radiator.clients.table import Entry
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.tracing import Tracer
from overlay.systems.radiator.wire import messages as m


class Propagations:
    """Those under way."""

    def __init__(
        self,
        config: Transport,
        server: Address,
        epoch: int,
        key: bytes,
        chance: Chance,
        *,
        send: Send,
        state: State,
        silent: Silent,
        chainability: Chainability[Entry] | None = None,
    ) -> None:
        self._tracer = Tracer(config.trace_one_in)
        self._config, self._epoch, self._state, self._silent = config, epoch, state, silent
        self._former = Former(config, server, epoch, key, chance, chainability)
        self._open: dict[int, Propagation] = {}
        self._transfers = Transfers(config, send)
        self._numbers = 0
        self._events: list[NodeEvent] = []
        self.counts: Counter[str] = Counter()
        """``propagations``, their ``originals`` and ``recipients``, ``pushes``, ``chains`` and their ``members``,
        ``repairs``, and outcomes of pairs."""
        self._repair = Repair(
            config,
            self._open,
            self._transfers,
            self._tracer,
            self.counts,
            state=state,
            silent=silent,
            push=self._push,
            close=self._close_if_settled,
        )

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
            self._repair.inject(propagation, chain, 0, now)
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

    def raw_bytes(self, transfer: Transfer) -> int:
        """Of its blob before compression."""
        target: Target = transfer.tag
        propagation = self._open.get(target.propagation)
        if propagation is None:
            return len(transfer.blob)
        is_direct = transfer.push.chain == m.DIRECT or target.chain is None
        return len(propagation.body) if is_direct else propagation.chains[target.chain or 0].raw_bytes

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
            if not outcome and not (chain and chain.is_too_late(self._config, now)):
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
            self._repair.pass_over(propagation, transfer.tag, outcome, now)

    def withdraw(self, address: Address, instance: int, now: int) -> None:
        """Another client has this address now: what is under way to earlier ones fails, so that it is not taken for
        one of them."""
        for transfer in self._transfers.to(address):
            target: Target = transfer.tag
            if target.member.instance != instance:
                propagation = self._open.get(target.propagation)
                is_known = propagation is not None and propagation.has(target)
                self._transfers.cancel(transfer) if is_known else self._drop(transfer, Outcome.FAILED, now)

    def left(self, transfer: Transfer, now: int) -> None:
        """A datagram of a push has left the uplink. Repeats do not count for a chain."""
        target: Target = transfer.tag
        self._transfers.left(transfer, now)
        propagation = self._open.get(target.propagation)
        if propagation is not None and target.chain is not None and transfer.tries == 1:
            self._repair.left(propagation, propagation.chains[target.chain], target, now)

    def repeat(self, transfer: Transfer, segment: int, now: int) -> None:
        """A segment of a push is sent again."""
        target: Target = transfer.tag
        propagation = self._open.get(target.propagation)
        if propagation is not None and target.chain is not None and segment == transfer.base:
            chain = propagation.chains[target.chain]
            self._tracer.step(propagation, chain, "repeated", target.position, now, target.attempt)

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
            self._tracer.step(propagation, chain, "acknowledged", target.position, now, target.attempt)
            self._repair.learn(propagation, chain, target.position, now)

    def is_member(self, report: m.Report) -> bool:
        """Whether a report is by a member of its chain, in the place that it says."""
        return self._reported(report) is not None

    def _reported(self, report: m.Report) -> tuple[Propagation, Chain] | None:
        propagation = self._open.get(report.propagation)
        chain = None if propagation is None or report.epoch != self._epoch else propagation.reported(report)
        return None if propagation is None or chain is None else (propagation, chain)

    def report(self, report: m.Report, now: int) -> None:
        """FAILED, DONE or PROGRESS. One that is not by a member of the chain, or late, changes nothing."""
        found = self._reported(report)
        if found is not None:
            self._repair.report(*found, report, now)

    # ---- time

    def handle_timer(self, now: int) -> None:
        for target in self._transfers.handle_timer(now):
            self._unacknowledged(target, now)
        self._repair.handle_timer(now)

    def next_timer(self) -> int | None:
        return earliest(self._transfers.next_timer(), self._repair.next_timer())

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
            self._tracer.step(propagation, chain, "unanswered", target.position, now, target.attempt)
            self._repair.fail(propagation, chain, target.position, target.attempt, now)

    # ---- the end

    def _close_if_settled(self, propagation: Propagation) -> None:
        if propagation.open or self._open.pop(propagation.number, None) is None:
            return
        if propagation.chains:
            self._repair.end(propagation)
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

    def check_invariants(self) -> None:
        self._transfers.check_invariants()
        for number, propagation in self._open.items():
            assert number == propagation.number
            propagation.check_invariants()
        in_flight = sum(len(propagation.outcomes) for propagation in self._open.values())
        settled = sum(self.counts[str(outcome)] for outcome in Outcome)
        assert self.counts["recipients"] == in_flight + settled, "a pair has no outcome, or two"
        self._repair.check_invariants()
