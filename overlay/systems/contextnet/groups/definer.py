"""A group definer: a server that reads contexts of nodes, and tells all gateways in which groups these are.

Instances of one logic have the same definer and share the partitions of contexts. Each reads all groups of its definer,
also while others write them, so that it knows those of a node when it gets the node's partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgpack

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.log.node import Assignment, Start, Subscription
from overlay.log.ready import Ready
from overlay.log.topics import Record
from overlay.messages.errors import Reason
from overlay.systems.contextnet.groups.selection import ByField, GroupSelection
from overlay.systems.contextnet.log_server import LogServer
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.codec import BadRecord
from overlay.systems.contextnet.records.kinds import MOST_GROUPS
from overlay.systems.contextnet.records.names import CONTEXT_REPORT, GROUPS
from overlay.systems.contextnet.records.records import ContextReport, GroupReport

AT_ONCE: Final = 1_024
"""Records of groups that are read at once."""
_NONE: Final = GroupReport("", b"", (), -1)


class GroupDefiner(LogServer):
    def __init__(
        self,
        name: str,
        address: Address,
        chances: Chances,
        wall_offset_ns: int,
        definer: str = "",
        selection: GroupSelection | None = None,
    ) -> None:
        """``definer``: the name of the logic; by default that of the server, which then is its only instance.
        ``selection``: the logic; by default that of the workload, by field ``f0`` for ``definer-0``."""
        super().__init__(name, address, chances, wall_offset_ns)
        self.definer = definer or name
        self._selection = selection or ByField("f" + self.definer.rpartition("-")[2])
        self._before: dict[bytes, GroupReport] = {}
        """The newest groups of each node by this definer."""
        self._ready = Ready((GROUPS,))
        self._contexts = Subscription(CONTEXT_REPORT, f"groups.{self.definer}")
        self._groups = Subscription(GROUPS, name, Start.WHOLE)

    def subscriptions(self) -> tuple[Subscription, ...]:
        return self._contexts, self._groups

    def room(self, subscription: Subscription) -> int:
        """Contexts wait until all groups are known."""
        if subscription.topic == GROUPS:
            return AT_ONCE
        return super().room(subscription) if self._ready.is_ready else 0

    @property
    def is_ready(self) -> bool:
        return self._ready.is_ready

    def assigned(self, partitions: Sequence[Assignment], now: int) -> None:
        super().assigned(partitions, now)
        self._ready.assigned(partitions)

    def receive_records(self, records: Sequence[Record], now: int) -> None:
        super().receive_records(records, now)
        for record in records:
            self._ready.read(record)

    def read(self, record: Record) -> None:
        if record.topic == GROUPS:
            self._learn(codec.read(record.topic, record.value))
            self.settle(record)
        else:
            self._define(codec.read(record.topic, record.value), record)

    def groups_of(self, node: bytes) -> frozenset[str]:
        """By this definer."""
        return frozenset(self._before.get(node, _NONE).groups)

    def _learn(self, report: GroupReport) -> None:
        """Of other instances, and before this one's start."""
        if report.definer == self.definer and report.version > self._before.get(report.node, _NONE).version:
            self._before[report.node] = report

    def _define(self, report: ContextReport, record: Record) -> None:
        before = self._before.get(report.node, _NONE)
        groups = self._selected(report, before)
        if record.position <= before.version or groups is None or (before is not _NONE and groups == before.groups):
            self.settle(record)
            return
        found = GroupReport(self.definer, report.node, groups, record.position)
        try:
            value = codec.write(found)
        except BadRecord:
            self.counters["selection_failed"] += 1
            self.settle(record)
            return
        self._before[report.node] = found
        key = self.definer.encode() + b"/" + report.node
        self.append(GROUPS, key, value, lambda: self.settle(record))

    def _selected(self, report: ContextReport, before: GroupReport) -> tuple[str, ...] | None:
        """In order. ``None``: the logic has failed. Raises ``BadRecord`` for a context that cannot be read."""
        context = _context(report.context)
        try:
            found = sorted(self._selection.groups(report.node, context, frozenset(before.groups)))
        except Exception:  # noqa: BLE001 (the logic is that of another author)
            self.counters["selection_failed"] += 1
            return None
        if len(found) > MOST_GROUPS:
            self.counters["groups_cut"] += 1
        return tuple(found[:MOST_GROUPS])

    def gauges(self) -> dict[str, int]:
        return {"nodes_grouped": len(self._before), "is_ready": int(self.is_ready)}

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        super().check_invariants()
        for node, report in self._before.items():
            assert (report.node, report.definer) == (node, self.definer)
            assert len(report.groups) <= MOST_GROUPS


def _context(data: bytes) -> Mapping[str, Any]:
    try:
        found = msgpack.unpackb(data) if data else {}
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
        raise BadRecord(Reason.ENCODING, f"the context is no MessagePack: {error}") from None
    if not isinstance(found, dict):
        raise BadRecord(Reason.KIND, "the context is no map")
    return found
