"""The clients of one process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.silbops.clients.channel import ChannelWire
from overlay.systems.silbops.clients.terms import Terms
from overlay.systems.silbops.clients.wires import Wire
from overlay.systems.silbops.load.draws import draws
from overlay.systems.silbops.load.plans import ClientPlan
from overlay.systems.silbops.load.publishing import Publishing
from overlay.systems.silbops.load.shared import Shared
from overlay.systems.silbops.load.subscribing import Subscribing
from overlay.systems.silbops.names import PUBLISHER
from overlay.systems.silbops.peers import Peers
from overlay.systems.silbops.rows import Limits
from overlay.systems.silbops.settings import NEVER, Settings
from overlay.systems.silbops.workload import Workload


class Fleet:
    """``servers``: the brokers by index."""

    def __init__(
        self,
        plans: Sequence[ClientPlan],
        servers: Sequence[Address],
        settings: Settings,
        workload: Workload,
        windows: Windows,
        *,
        seed: int,
        wall_offset_ns: int,
        key: bytes | None = None,
        parents: Sequence[int] = (),
        make_wire: Callable[[bytes, Chance], Wire] | None = None,
    ) -> None:
        """``parents``: of each broker, as ``Limits`` has them. ``make_wire``: instead of the channel, in tests."""
        self.tally = Tally()
        self.tally.counters = Counter(self.tally.counters)
        self._peers: list[Peers] = []
        terms = replace(Terms.of(settings), counters=self.tally.counters)

        def on_channel(id: bytes, chance: Chance) -> ChannelWire:
            peers = Peers(id, settings, chance, wall_offset_ns, key, terms.counters)
            self._peers.append(peers)
            return ChannelWire(peers)

        make_wire = make_wire or on_channel
        shared = Shared(workload, windows, servers, terms, seed, self.tally, draws(workload, seed), make_wire)
        self.clients = [(Publishing if plan.role == PUBLISHER else Subscribing)(plan, shared) for plan in plans]
        for client in self.clients[:1]:
            limits = settings.keep_messages, settings.keep_s, settings.pruning != NEVER
            client.report_row(0, Limits(*limits, list(parents)))

    def set_wall_clock(self, offset_ns: int) -> None:
        for peers in self._peers:
            peers.wall_offset_ns = offset_ns
