"""What a broker has acknowledged (102) it keeps until it ends or is overwritten; what has ended it drops.

In the structured arm data are stored elsewhere: some broker has stored what was acknowledged; no more is promised.
"""

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.sim.actors import NodeActor
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.wire.extensions import DataStored, Record
from overlay.systems.context_broker.wire.messages import (
    Ack,
    ContextResponse,
    ContextUpdateAdvertisement,
    RawKey,
    Status,
    raw_key,
)
from overlay.systems.context_broker.wire.table import OPERATIONS
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.swarm import stranger
from tests.swarm.reading import read, unwrapped
from tests.swarm.watcher import Readers, Watcher

SLACK = 20 * MILLISECOND
"""Between two sweeps of expired entries lie 10 ms, however far a clock was stepped."""


class Keeping(Watcher):
    def __init__(self, overlay: Overlay, readers: Readers | None = None) -> None:
        super().__init__(overlay, readers)
        self._is_structured = overlay.config.arm == "structured"
        self._updates: dict[tuple[NodeActor, Address], ContextUpdateAdvertisement] = {}
        """The first of each client: it asks one thing from one port, and again with later stamps. A stranger asks many
        things from one port, of which an ACK does not say which it is about."""
        self._latest: dict[tuple[NodeActor, RawKey, str], int] = {}
        self._promised: dict[NodeActor, dict[tuple[RawKey, str], tuple[int, int]]] = {}
        """Timestamp and end of what is to be there at least."""
        self._overdue: dict[NodeActor, int] = {}
        """Since when a broker has had something in its table that has ended."""
        self._kept: dict[tuple[RawKey, str], int] = {}
        """In the structured arm: the latest timestamp acknowledged as stored (31)."""

    def heard(self, now: int, data: bytes, source: Address, broker: Address) -> None:
        message = unwrapped(read(data))
        if not isinstance(message, ContextUpdateAdvertisement | ContextResponse | Record):
            return
        actor = self.actor(broker)
        key = raw_key((message.entity_type, message.entity_id, message.scope))
        if isinstance(message, ContextUpdateAdvertisement) and source[0] != stranger.HOST:
            self._updates.setdefault((actor, source), message)
        name = key, message.provider_id
        self._latest[actor, *name] = max(self._latest.get((actor, *name), 0), message.timestamp)
        promise = self._promised.get(actor, {}).get(name)
        if promise is not None and promise[0] < message.timestamp:  # which may be valid for a shorter time
            del self._promised[actor][name]

    def said(self, now: int, data: bytes, broker: Address, to: Address) -> None:
        message = read(data)
        if isinstance(message, DataStored):
            key = raw_key((message.entity_type, message.entity_id, message.scope))
            self._kept[key, message.provider_id] = max(message.timestamp, self._kept.get((key, message.provider_id), 0))
        if not isinstance(message, Ack) or (message.status, message.operation) != (Status.REQ_PROCESSED, OPERATIONS[2]):
            return
        actor = self.actor(broker)
        update = self._updates.get((actor, to))
        if update is None:
            return
        key = raw_key(update.key)
        if self._is_structured:
            wall_ms = (now + actor.node._station.wall_offset_ns) // MILLISECOND
            own = actor.node._storing.table.held(key, update.provider_id, wall_ms)
            kept = max(self._kept.get((key, update.provider_id), 0), own.timestamp if own else 0)
            assert kept >= update.timestamp or update.valid_end <= wall_ms, (
                f"{broker} acknowledged data that no broker stores"
            )
        elif update.timestamp >= self._latest[actor, key, update.provider_id]:
            promises = self._promised.setdefault(actor, {})
            promises[key, update.provider_id] = update.timestamp, update.valid_end

    def stepped(self, now: int, actor: NodeActor, broker: Broker) -> None:
        wall_ms = (now + broker._station.wall_offset_ns) // MILLISECOND
        table = broker._storing.table
        if any(entry.valid_end <= wall_ms for entry in table):
            overdue = now - self._overdue.setdefault(actor, now)
            assert overdue <= SLACK, f"{broker.address} keeps what ended {overdue / MILLISECOND:g} ms ago"
        else:
            self._overdue.pop(actor, None)
        promises = self._promised.get(actor)
        if not promises:
            return
        for (key, provider), (timestamp, valid_end) in list(promises.items()):
            if valid_end <= wall_ms:
                del promises[key, provider]
                continue
            held = table.held(key, provider, wall_ms)
            assert held is not None, f"{broker.address} acknowledged {key!r} of {provider} and lost it"
            assert held.timestamp >= timestamp, f"{broker.address} acknowledged {key!r} and has an older value"
