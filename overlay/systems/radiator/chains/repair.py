"""The server's chains under way: pushed to their first member, and on past members that are absent or silent.

A chain is repaired by an injection: its blob is pushed again, to the member after the last one that is known to have it
or after the one that failed. After ``chain_attempts`` silences each member gets a push of its own (seed 003, L 266).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from overlay.core.timers import Timers
from overlay.systems.radiator.chains.chain import Chain, Member
from overlay.systems.radiator.chains.propagation import Outcome, Propagation, Target
from overlay.systems.radiator.chains.transfers import Transfers
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.tracing import Tracer
from overlay.systems.radiator.wire import messages as m

State = Callable[[Member], Outcome | None]
"""Why a member must not be pushed to; ``None`` if it may."""
Silent = Callable[[Member, int], None]
"""A member does not acknowledge, at this time."""


class Repair:
    """Of the chains of ``propagations``. ``push`` sends a member a push of its own, unless its ``State`` forbids it;
    ``close`` ends a propagation if all its recipients have an outcome. ``counts`` has ``repairs``."""

    def __init__(
        self,
        config: Transport,
        propagations: Mapping[int, Propagation],
        transfers: Transfers,
        tracer: Tracer,
        counts: Counter[str],
        *,
        state: State,
        silent: Silent,
        push: Callable[[Propagation, Target, int], bool],
        close: Callable[[Propagation], None],
    ) -> None:
        self._config, self._propagations, self._transfers = config, propagations, transfers
        self._tracer, self._counts = tracer, counts
        self._state, self._silent, self._push, self._close = state, silent, push, close
        self._waits = Timers()
        """By (propagation, chain): when it has been silent for too long."""

    # ---- injections

    def inject(self, propagation: Propagation, chain: Chain, position: int, now: int) -> None:
        """Push to the first member from ``position`` on that may be pushed to."""
        number = chain.push.chain
        self._waits.cancel((propagation.number, number))
        if chain.is_too_late(self._config, now):
            self._tracer.step(propagation, chain, "gave up", chain.known + 1, now)
            return self._give_up(propagation, chain)
        position = chain.first_after(position - 1)
        while position <= chain.last and (outcome := self._state(chain.members[position])):
            chain.failed.add(position)
            self._tracer.step(propagation, chain, "passed over", position, now)
            propagation.settle(chain.members[position], outcome)
            position = chain.first_after(position)
        if position > chain.last:
            return self._give_up(propagation, chain)
        push, member = chain.inject(position), chain.members[position]
        self._tracer.step(propagation, chain, "injected", position, now)
        self._counts["repairs"] += chain.heard_at is not None  # until a push has left, it is still the first one
        target = Target(propagation.number, number, position, push.attempt, member)
        self._transfers.begin(push, chain.blob, member.address, target, now)
        return None

    def left(self, propagation: Propagation, chain: Chain, target: Target, now: int) -> None:
        """A datagram of an injection has left. A chain can be silent from its last one on."""
        if chain.heard_at is None:
            chain.heard_at = now
        self._tracer.step(propagation, chain, "left", target.position, now, target.attempt)
        self._wait(propagation, chain, now)

    def pass_over(self, propagation: Propagation, target: Target, outcome: Outcome, now: int) -> None:
        """The member that a push is for is absent; the chain goes on after it."""
        propagation.settle(target.member, outcome)
        if target.chain is not None:
            chain = propagation.chains[target.chain]
            self._tracer.step(propagation, chain, "passed over", target.position, now, target.attempt)
            if chain.fail(target.position, target.attempt):
                self.inject(propagation, chain, target.position + 1, now)
        self._close(propagation)

    def _give_up(self, propagation: Propagation, chain: Chain) -> None:
        """Nothing more is sent for this chain: what is open has failed."""
        self._waits.cancel((propagation.number, chain.push.chain))
        for member in chain.members:
            propagation.settle(member, Outcome.FAILED) if propagation.is_open(member) else None

    # ---- what is heard of a chain

    def report(self, propagation: Propagation, chain: Chain, report: m.Report, now: int) -> None:
        """FAILED, DONE or PROGRESS of one of its members."""
        step = type(report).__name__.lower()
        self._tracer.step(propagation, chain, step, report.position, now, report.attempt)
        if isinstance(report, m.Failed):
            self.learn(propagation, chain, report.position - 1, now)
            self.fail(propagation, chain, report.position, report.attempt, now)
        else:
            self.learn(propagation, chain, report.position, now)

    def learn(self, propagation: Propagation, chain: Chain, position: int, now: int) -> None:
        """``position`` and all before it have it, except those that failed."""
        for known in chain.learn(position):
            propagation.settle(chain.members[known], Outcome.DELIVERED)
        chain.heard_at = now
        if chain.known == chain.last:
            self._waits.cancel((propagation.number, chain.push.chain))
        elif (propagation.number, chain.push.chain) in self._waits:
            self._wait(propagation, chain, now)
        self._close(propagation)

    def fail(self, propagation: Propagation, chain: Chain, position: int, attempt: int, now: int) -> None:
        """The member at ``position`` does not acknowledge."""
        member, is_repeat = chain.members[position], position in chain.failed
        is_due = chain.fail(position, attempt)
        if not is_repeat:
            self._silent(member, now)
        if position > chain.known:
            propagation.settle(member, Outcome.FAILED)
            if is_due:
                self.inject(propagation, chain, position + 1, now)
            self._close(propagation)

    # ---- silence

    def _wait(self, propagation: Propagation, chain: Chain, now: int) -> None:
        if not chain.is_direct and chain.known < chain.last:
            self._waits.set((propagation.number, chain.push.chain), now + chain.wait(self._config))

    def handle_timer(self, now: int) -> None:
        for number, chain in self._waits.due(now):
            propagation = self._propagations[number]
            self._silence(propagation, propagation.chains[chain], now)

    def next_timer(self) -> int | None:
        return self._waits.next_timer()

    def _silence(self, propagation: Propagation, chain: Chain, now: int) -> None:
        chain.silences += 1
        self._tracer.step(propagation, chain, "silent", chain.known + 1, now)
        if chain.silences <= self._config.chain_attempts:
            self.inject(propagation, chain, chain.known + 1, now)
        elif chain.is_too_late(self._config, now):
            self._tracer.step(propagation, chain, "gave up", chain.known + 1, now)
            self._give_up(propagation, chain)
        else:
            self._push_to_each(propagation, chain, now)
        self._close(propagation)

    def _push_to_each(self, propagation: Propagation, chain: Chain, now: int) -> None:
        """Direct pushes to all members that are not known to have it."""
        chain.is_direct = True
        for position, member in enumerate(chain.members):
            if propagation.is_open(member):
                self._tracer.step(propagation, chain, "direct", position, now)
                target = Target(propagation.number, chain.push.chain, position, chain.attempt, member)
                self._counts["repairs"] += self._push(propagation, target, now)

    def end(self, propagation: Propagation) -> None:
        """All its recipients have an outcome."""
        for chain in propagation.chains:
            self._waits.cancel((propagation.number, chain.push.chain))

    def check_invariants(self) -> None:
        assert all(number in self._propagations for number, _ in self._waits)
