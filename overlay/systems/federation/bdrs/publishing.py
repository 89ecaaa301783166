"""When an epoch is published, and which broker is sent what.

The first change is published with its step. Until ``HOLD`` has passed, or ``HOLD_PER_BYTE`` for all that was sent,
further ones wait for one another: brokers that start together, or links that fail together, cause few epochs.

A service that hears of an epoch higher than its own has been restarted. It waits once for a keep-alive interval, in
which all brokers register again, and publishes the highest number heard + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from overlay.core.node import MILLISECOND, NodeEvent
from overlay.systems.federation.bdrs.epochs import Epochs
from overlay.systems.federation.bdrs.events import TreePublished
from overlay.systems.federation.bdrs.forest import edges_of, has_cycle, links_of
from overlay.systems.federation.bdrs.registry import Registry
from overlay.systems.federation.peers import Peers
from overlay.systems.federation.settings import SUPPRESS, Settings
from overlay.systems.federation.wire.messages import Brokers

HOLD = 50 * MILLISECOND
"""Between epochs at least, ns."""
HOLD_PER_BYTE = 15
"""Between epochs at least, ns for each byte of the first one to all brokers. Sending takes about 10 ns, so that changes
never take all of the service's time. Changes of 255 brokers stay below ``HOLD``."""
MOST_HEARD = 1 << 62
"""Epochs from here on are claimed by no broker of this network."""
MOST_WRITTEN = 4
"""Forms of one epoch, as changes since an earlier one or whole, that are kept as bytes: brokers ask for the same."""
MOST_QUEUED = 16
"""Messages that a broker has not acknowledged; with more it is told when it has."""


class Publishing:
    def __init__(
        self, settings: Settings, peers: Peers, registry: Registry, report: Callable[[NodeEvent], None]
    ) -> None:
        self._cycles, self._peers, self._registry, self._report = settings.cycles, peers, registry, report
        self.epochs = Epochs()
        self._touched: dict[str, None] = {}
        """Brokers whose registration has changed since the last epoch."""
        self._behind: dict[str, None] = {}
        """Brokers that are sent the present epoch at the end of this step."""
        self._written: dict[int, list[bytes]] = {}
        """Messages of the present epoch, by the epoch of the receiver."""
        self._quiet: set[str] = set()
        """Brokers whose session is kept while they are unreachable."""
        self._heard = 0
        """The highest epoch of which a broker has said that it has it."""
        self._has_waited = False
        self._not_before = 0
        """The next epoch comes then at the earliest, ns."""

    @property
    def epoch(self) -> int:
        return self.epochs.epoch

    @property
    def _is_due(self) -> bool:
        return bool(self._touched) or self._heard > self.epochs.epoch

    def next_timer(self) -> int | None:
        return self._not_before if self._is_due else None

    # ---- what has happened

    def believes(self, epoch: int) -> bool:
        """Whether a broker can have this epoch."""
        return epoch <= self.epoch or epoch < MOST_HEARD

    def hear(self, epoch: int) -> None:
        """A broker says that it has this epoch."""
        if epoch <= max(self.epoch, self._heard):
            return
        self._heard = epoch
        if not self._has_waited:
            self._has_waited = True
            self._not_before = max(self._not_before, self._peers.now + self._registry.period)

    def touch(self, broker: str) -> None:
        """It has registered, changed its advertisement, or is gone."""
        self._touched[broker] = None

    def want(self, broker: str, epoch: int) -> None:
        """It has ``epoch``: send what it lacks, with this step or the next epoch."""
        found = self._registry.get(broker)
        if found is None:
            return
        # One that was not sent to it has the same number by chance, from another life of the service.
        found.told = epoch if epoch <= found.sent else 0
        if found.told < self.epoch >= epoch and broker not in self._touched:
            self._behind[broker] = None

    def up(self, broker: str) -> None:
        """A new session: nothing was sent in it."""
        self._quiet.discard(broker)
        found = self._registry.get(broker)
        if found is not None:
            found.told = 0

    down = up

    def quiet(self, broker: str) -> None:
        self._quiet.add(broker)

    def back(self, broker: str) -> None:
        self._quiet.discard(broker)
        found = self._registry.get(broker)
        if found is not None:
            self.want(broker, found.told)

    # ---- what follows

    def settle(self) -> None:
        """At the end of each step."""
        is_new = self._is_due and self._peers.now >= self._not_before and self._publish()
        if self._behind:
            behind, self._behind = self._behind, {}
            sent = self._tell(behind)
            if is_new:
                self._not_before = max(self._not_before, self._peers.now + sent * HOLD_PER_BYTE)

    def _publish(self) -> bool:
        """Returns whether there is a new epoch."""
        registry, before = self._registry, self.epochs.brokers
        touched, self._touched = self._touched, {}
        gone = [broker for broker in touched if broker in before and registry.get(broker) is None]
        found = [one.advertisement for broker in touched if (one := registry.get(broker)) is not None]
        changed = [one for one in found if one != before.get(one.id)]
        if not gone and not changed and self._heard <= self.epoch:
            self._behind |= {one.id: None for one in found if registry.all[one.id].told < self.epoch}
            return False
        edges = self.epochs.edges
        if gone or any(one.id not in before or one.candidates != before[one.id].candidates for one in changed):
            edges = edges_of(links_of(registry.advertisements()), self._cycles)
        self.epochs.publish(max(self.epoch, self._heard) + 1, changed, gone, edges)
        self._written.clear()
        self._not_before = self._peers.now + HOLD
        self._report(TreePublished(self.epoch, len(before), edges))
        self._behind |= {broker: None for broker in registry.all if self._has_room(broker)}
        return True

    def _has_room(self, broker: str) -> bool:
        return broker not in self._quiet and self._peers.channel.queued(broker.encode()) <= MOST_QUEUED

    def _tell(self, brokers: Iterable[str]) -> int:
        """Those that have the same epoch get the same messages, each written once. Returns the bytes of all."""
        before = self._peers.counters["out_brokers_bytes"]
        groups: dict[int, list[str]] = {}
        for broker in brokers:
            one = self._registry.get(broker)
            if one is not None:
                groups.setdefault(one.told, []).append(broker)
        for epoch, reached in groups.items():
            for data in self._messages(epoch):
                reached = self._peers.send_encoded(reached, Brokers, data)
            for broker in reached:
                one = self._registry.all[broker]
                one.told = one.sent = self.epoch
        return self._peers.counters["out_brokers_bytes"] - before

    def _messages(self, since: int) -> list[bytes]:
        found = self._written.get(since)
        if found is None:
            found = [self._peers.codec.encode(message) for message in self.epochs.since(since)]
            self._written[since] = found
            if len(self._written) > MOST_WRITTEN:
                del self._written[next(iter(self._written))]
        return found

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        epochs, registry = self.epochs, self._registry
        epochs.check_invariants()
        assert not self._behind
        assert len(self._written) <= MOST_WRITTEN
        assert not self._is_due or self._not_before > self._peers.now, "(I10) an epoch is late"
        differing = {
            broker
            for broker in epochs.brokers.keys() | registry.all.keys()
            if (one := registry.get(broker)) is None or one.advertisement != epochs.brokers.get(broker)
        }
        assert differing <= self._touched.keys(), "what has changed is published"
        assert epochs.edges == edges_of(links_of(epochs.brokers), self._cycles)
        assert self._cycles == SUPPRESS or not has_cycle(epochs.edges), "(I3) a forest"
        assert all(one.sent <= self.epoch for one in registry.all.values())
