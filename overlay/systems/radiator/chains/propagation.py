"""One propagation: an aggregate, its recipients, and the outcome of each pair of aggregate and recipient."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from overlay.core.node import NodeEvent
from overlay.systems.radiator.chains.chain import Chain, Member
from overlay.systems.radiator.chains.transfers import Parcel
from overlay.systems.radiator.clients.table import Key
from overlay.systems.radiator.wire.messages import Failed, Report


class Outcome(StrEnum):
    """What became known of one recipient of a propagation."""

    IN_FLIGHT = "in flight"
    DELIVERED = "delivered"
    FAILED = "failed"
    """Repair gave up. It may have been delivered: all acknowledgements may be lost."""
    UNREACHABLE = "dropped_unreachable"
    UNREGISTERED = "unregistered"
    TAKEN_OVER = "taken over"
    SHUT_DOWN = "shut down"


class Target(NamedTuple):
    """What a transfer is for. ``chain`` is ``None`` for a direct push of a recipient that is in no chain."""

    propagation: int
    chain: int | None
    position: int
    attempt: int
    member: Member


@dataclass(slots=True, eq=False)
class Propagation:
    """Under way until each recipient has an outcome."""

    number: int
    messages: tuple[int, ...]
    """The numbers of the original messages."""
    body: bytes
    outcomes: dict[Key, Outcome] = field(default_factory=dict)
    open: int = 0
    """Recipients in flight."""
    chains: list[Chain] = field(default_factory=list)
    direct: Parcel | None = None
    """Of direct pushes, once there is one."""

    def settle(self, member: Member, outcome: Outcome) -> None:
        """Only the first outcome counts, except that a failed pair may turn out delivered."""
        known = self.outcomes[member.key]
        if known is Outcome.IN_FLIGHT:
            self.open -= 1
        elif not (known is Outcome.FAILED and outcome is Outcome.DELIVERED):
            return
        self.outcomes[member.key] = outcome

    def is_open(self, member: Member) -> bool:
        return self.outcomes[member.key] is Outcome.IN_FLIGHT

    def has(self, target: Target) -> bool:
        """Whether the member of an injection is known to have it."""
        return target.chain is not None and target.position <= self.chains[target.chain].known

    def reported(self, report: Report) -> Chain | None:
        """The chain that a report is about, if it is by a member in the place that it says."""
        if report.chain >= len(self.chains):
            return None
        chain = self.chains[report.chain]
        reporter = report.position - isinstance(report, Failed)
        if not 0 <= reporter <= report.position <= chain.last or report.attempt > chain.attempt:
            return None
        return chain if chain.members[reporter].instance == report.instance else None

    def check_invariants(self) -> None:
        assert self.open == sum(outcome is Outcome.IN_FLIGHT for outcome in self.outcomes.values()) > 0
        chained = [member.key for chain in self.chains for member in chain.members]
        assert len(chained) == len(set(chained))
        assert set(chained) <= set(self.outcomes)
        for chain in self.chains:
            chain.check_invariants()
            for position, member in enumerate(chain.members[: chain.known + 1]):
                assert position in chain.failed or not self.is_open(member)


@dataclass(frozen=True, slots=True)
class Propagated(NodeEvent):
    """An entry of ``to_send``: its messages, recipients, and first pushes."""

    propagation: int
    messages: tuple[int, ...]
    recipients: int
    pushes: int
    chains: int


@dataclass(frozen=True, slots=True)
class Settled(NodeEvent):
    """Every recipient has an outcome. ``missed`` are those not known to have it: (ip, id, outcome)."""

    propagation: int
    messages: tuple[int, ...]
    recipients: tuple[Key, ...]
    missed: tuple[tuple[str, str, str], ...]
