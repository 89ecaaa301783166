"""Records of the log on their way to nodes. Each is settled when every node that it is for has acknowledged it, or when
it is durable in ``unsent``, or expired (contract, section 7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from overlay.core.node import NEVER
from overlay.log.topics import Record
from overlay.systems.contextnet.gateway.groups import Groups
from overlay.systems.contextnet.gateway.parcels import Errand, Parcel, Pool
from overlay.systems.contextnet.gateway.settings import MINI_BUFFER
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.records import codec, names
from overlay.systems.contextnet.records.kinds import NODE
from overlay.systems.contextnet.records.records import Discarded, Message, Reason, Unsent
from overlay.systems.contextnet.transport import events
from overlay.systems.contextnet.transport.packets import Kind

MOST_EXPIRED: Final = 65_536
US: Final = 1_000
"""Nanoseconds."""


class Expired(NamedTuple):
    """A message that was not sent any more."""

    id: bytes
    at: int
    """``now``, ns."""


class ToNodes:
    def __init__(
        self, station: Station, groups: Groups, is_ours: Callable[[bytes, int], bool], bytes_inbound: Callable[[], int]
    ) -> None:
        """``is_ours``: whether we answer for a record of that age (Unix µs) for a node that is not here, where every
        gateway reads all records. ``bytes_inbound``: of messages that wait for the log."""
        settings = station.settings
        self._station, self._end, self._groups, self._is_ours = station, station.end, groups, is_ours
        self._bytes_inbound = bytes_inbound
        self._is_exact = settings.is_exact
        self._kept = settings.mini_buffer if settings.delivery == MINI_BUFFER else 0
        self._most_bytes = settings.memory_limit_mb * 1_000_000
        self.pool = Pool(settings.pool_size)
        self.left = 0
        """Records and nodes that neither acknowledged them nor had them stored."""
        self._storing = 0
        """Of these, those that are on their way to the store."""
        self.messages = 0
        """To nodes since the start."""
        self._expired: deque[Expired] = deque(maxlen=MOST_EXPIRED)

    # ---- records

    def unicast(self, record: Record) -> None:
        """Raises ``WireError``. Its key is the node; the destination of a message to a group is not."""
        found = codec.read(record.topic, record.value)
        node = NODE.read(record.key)
        parcel = Parcel(record, found.message, codec.write(found.message), found.epoch, found.attempts)
        is_here = record.topic != names.OUTBOUND or node in self._end.members
        if not is_here and not self._is_ours(node, record.appended_us):
            self._station.settle(record)
            return
        if self._station.tracer.follows(node):
            parcel.is_traced = True
            self._note("read", parcel, node)
        self._begin(parcel, (node,))

    def cast(self, record: Record) -> None:
        """Raises ``WireError``."""
        found = codec.read(record.topic, record.value)
        nodes = self._groups.addressed(found.group, self._end.present())
        if nodes:
            self._begin(Parcel(record, found.message, codec.write(found.message)), nodes)
        else:
            self._station.settle(record)

    def _begin(self, parcel: Parcel, nodes: Iterable[bytes]) -> None:
        parcel.left = 1  # not to be settled before all nodes have been tried
        self.left += 1
        for node in nodes:
            parcel.left += 1
            self.left += 1
            self._send(parcel, node)
        self._done(parcel)

    def _send(self, parcel: Parcel, node: bytes) -> None:
        station, end = self._station, self._end
        member = end.members.get(node)
        until = self._until(parcel.message)
        if until <= station.now:
            self._drop(parcel, node)
            self._done(parcel)
        elif member is None:
            self._store(parcel, node, max(parcel.epoch, end.epoch_of(node)), Reason.ABSENT)
        else:
            self._hand(parcel, node, member.epoch, until)

    def _until(self, message: Message) -> int:
        """From when on (ns) it is not to be sent for the first time."""
        station = self._station
        expires_us = station.config.expires_us
        return NEVER if expires_us is None else expires_us(message, station.wall_us) * US - station.wall_offset_ns

    def _drop(self, parcel: Parcel, node: bytes) -> None:
        """It has expired."""
        station, id = self._station, parcel.message.id
        station.counters["expired"] += 1
        self._note("expired", parcel, node)
        self._expired.append(Expired(id, station.now))
        station.tell(names.DISCARDED, node, Discarded(id, node, "expired"))

    def _hand(self, parcel: Parcel, node: bytes, epoch: int, until: int) -> None:
        """To the node's connection."""
        end, pool, errand = self._end, self.pool, Errand(parcel)
        is_slow = end.is_slow(node)
        pool.add(errand, is_parked=is_slow or not self._is_exact)
        has_room = pool.bytes + self._bytes_inbound() <= self._most_bytes
        if has_room and end.send(node, Kind.MESSAGE, parcel.data, errand, self._station.now, until):
            self.messages += 1
            self._note("sent", parcel, node)
            if not self._is_exact:
                self._done(parcel)
        else:
            pool.end(errand)
            self._store(parcel, node, epoch, Reason.QUEUE)

    def _store(self, parcel: Parcel, node: bytes, epoch: int, reason: Reason) -> None:
        station = self._station
        station.counters[f"unsent_{reason}"] += 1
        self._note("unsent", parcel, node, reason)
        self._storing += 1
        unsent = Unsent(parcel.message, station.name, epoch, reason, parcel.attempts)
        station.append(names.UNSENT, node, codec.write(unsent), lambda: self._stored(parcel))

    def _stored(self, parcel: Parcel) -> None:
        self._storing -= 1
        self._done(parcel)

    def _done(self, parcel: Parcel) -> None:
        """One node less."""
        parcel.left -= 1
        self.left -= 1
        if not parcel.left:
            self._station.settle(parcel.record)

    def _note(self, step: str, parcel: Parcel, node: bytes, detail: str = "") -> None:
        """A step of ``tracing.STEPS``."""
        if parcel.is_traced:
            station, is_read = self._station, step == "read"
            topic = names.UNSENT if step == "unsent" else ""
            record = parcel.record if is_read else None
            station.tracer.note(step, parcel.message.id, node, station.now, topic, record=record, detail=detail)

    # ---- what the transport tells

    def acknowledged(self, event: events.Acknowledged) -> None:
        errand = event.token
        if isinstance(errand, Errand):
            self.pool.end(errand)
            self._note("acknowledged", errand.parcel, event.node)
            if self._is_exact:
                self._done(errand.parcel)

    def expired(self, event: events.Expired) -> None:
        """Before its turn came in the queue of its connection."""
        errand = event.token
        assert isinstance(errand, Errand), "only messages expire"
        self.pool.end(errand)
        self._drop(errand.parcel, event.node)
        if self._is_exact:
            self._done(errand.parcel)

    def stalled(self, node: bytes) -> None:
        """It has begun to repeat, or its connection lingers."""
        if node in self._end.members:
            for errand in self._end.undelivered(node):
                if isinstance(errand, Errand):
                    self.pool.park(errand)

    def ended(self, event: events.Ended, reason: Reason) -> int:
        """Returns how many messages of the log it had not acknowledged."""
        errands = [token for token in event.undelivered if isinstance(token, Errand)]
        for errand in errands:
            self.pool.end(errand)
        if self._is_exact:
            for errand in errands:
                self._store(errand.parcel, event.node, event.epoch, reason)
            return len(errands)
        lost = max(0, len(errands) - self._kept)
        for errand in errands[:lost]:
            self._note("given up", errand.parcel, event.node)
        for errand in errands[lost:]:
            errand.parcel.left += 1
            self.left += 1
            self._store(errand.parcel, event.node, event.epoch, Reason.MINI_BUFFER)
        self._station.counters["given_up"] += lost
        return len(errands)

    def take_expired(self) -> list[Expired]:
        """Since the last call."""
        expired = list(self._expired)
        self._expired.clear()
        return expired

    def waiting_ids(self) -> list[bytes]:
        """Of the messages that nodes have not acknowledged."""
        tokens = (token for node in self._end.members for token in self._end.undelivered(node))
        return [token.parcel.message.id for token in tokens if isinstance(token, Errand)]

    def check_invariants(self) -> None:
        """(I1), as far as it is about one gateway."""
        tokens = [token for node in self._end.members for token in self._end.undelivered(node)]
        errands = [token for token in tokens if isinstance(token, Errand)]
        self.pool.check_invariants(errands)
        waiting = len(errands) if self._is_exact else 0
        assert self.left == waiting + self._storing, "each message is under way, or on its way to the store"
