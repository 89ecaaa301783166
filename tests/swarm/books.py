"""Counters add up: each datagram that a broker got or sent is counted once, and what it got is handled or dropped."""

from collections import Counter

from overlay.core.addresses import Address
from overlay.sim.actors import NodeActor
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.wire.table import CODES
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.swarm.watcher import Readers, Watcher

IN, OUT = ([f"{way}_{code}" for code in CODES.values()] for way in ("in", "out"))


class Books(Watcher):
    def __init__(self, overlay: Overlay, readers: Readers | None = None) -> None:
        super().__init__(overlay, readers)
        self._got: Counter[NodeActor] = Counter()
        self._sent: Counter[NodeActor] = Counter()
        self._is_trusting = "127.0.0.0/8" in overlay.config.trusted_networks
        self._is_structured = overlay.config.arm == "structured"

    def heard(self, now: int, data: bytes, source: Address, broker: Address) -> None:
        self._got[self.actor(broker)] += 1

    def said(self, now: int, data: bytes, broker: Address, to: Address) -> None:
        self._sent[self.actor(broker)] += 1

    def stepped(self, now: int, actor: NodeActor, broker: Broker) -> None:
        counters = broker.counters()
        got = sum(counters[name] for name in IN) + counters["rejected_unreadable"]
        assert got == self._got[actor], f"{broker.address} got {self._got[actor]} datagrams and counts {got}"
        waiting = len(broker._station.outgoing)  # of one that was told to leave and has not been served since
        sent = sum(counters[name] for name in OUT) - waiting
        assert sent == self._sent[actor], f"{broker.address} sent {self._sent[actor]} datagrams and counts {sent}"
        if not self._is_structured:
            fates = ("stored", "withdrawals", "outdated", "table_full", "over_share", "rejected_stamp")
            updates = sum(counters[name] for name in fates)
            notices = counters["in_17"]  # whose stamp may be refused, too
            told = counters["in_2"] + counters["in_37"]
            assert told <= updates <= told + notices, f"{broker.address}: {counters}"
        if self._is_trusting:
            withheld = counters["withheld"]  # what a stranger asked
            for asked, answered in ((1, 9), (18, 19), (20, 21)):
                owed = counters[f"in_{asked}"] - counters[f"out_{answered}"]
                assert 0 <= owed <= withheld, f"{broker.address} answered {answered}s for {asked}s: {counters}"
