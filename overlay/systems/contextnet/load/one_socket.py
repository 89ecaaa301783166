"""Nodes of one process that share a socket: a ``Client`` for drivers, which sees one client with one lane.

Datagrams of the transport name the connection, or the HELLO that they answer, so that each is for one node, whatever
its port. Counterpart: ``transport.node.name_of``.
"""

from __future__ import annotations

from collections.abc import Sequence

from overlay.core.addresses import Address
from overlay.core.timers import Timers
from overlay.journal.facts import ClientFact
from overlay.systems.contextnet.load.nodes import Node
from overlay.systems.contextnet.load.shared import Shared
from overlay.systems.contextnet.transport.layouts import BadPacket
from overlay.systems.contextnet.transport.node import name_of

LANE = 0


class OneSocket:
    peer = None
    """Its nodes may move to any gateway."""

    def __init__(self, nodes: Sequence[Node], shared: Shared) -> None:
        """At least one node; none changes its port."""
        self.identity = nodes[0].identity
        self._nodes, self._counters = nodes, shared.counters
        self._timers = Timers()
        self._of: dict[bytes, int] = {}
        """Nodes by what names them in datagrams."""
        self._names: list[tuple[bytes, ...]] = [()] * len(nodes)
        self._out: list[tuple[int, bytes, Address]] = []
        self._facts: list[ClientFact] = []
        self.is_finished = False
        for index in range(len(nodes)):
            self._collect(index)

    @property
    def is_settled(self) -> bool:
        return all(node.is_settled for node in self._nodes)

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        try:
            index = self._of.get(name_of(data))
        except BadPacket as error:
            self._counters[error.reason] += 1
            return False
        if index is None:
            self._counters["unknown"] += 1
            return False
        self._nodes[index].receive_datagram(LANE, data, source, now)
        self._collect(index)
        return True

    def handle_timer(self, now: int) -> None:
        for index in list(self._timers.due(now)):
            self._nodes[index].handle_timer(now)
            self._collect(index)

    def next_timer(self) -> int | None:
        return self._timers.next_timer()

    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        out, self._out = self._out, []
        return out

    def lanes_to_close(self) -> tuple[()]:
        return ()

    def facts(self) -> Sequence[ClientFact]:
        facts, self._facts = self._facts, []
        return facts

    def abandon(self, now: int) -> None:
        self.is_finished = True
        for index, node in enumerate(self._nodes):
            node.abandon(now)
            self._collect(index)

    def _collect(self, index: int) -> None:
        """What a call to this node has changed."""
        node = self._nodes[index]
        self._out += node.datagrams_to_send()
        self._facts += node.facts()
        names, known = node.core.names, self._names[index]
        if names != known:
            self._names[index] = names
            for name in known:
                self._of.pop(name, None)
            self._of |= dict.fromkeys(names, index)
        timer = node.next_timer()
        if timer is None:
            self._timers.cancel(index)
        elif timer != self._timers.get(index):
            self._timers.set(index, timer)

    def check_invariants(self) -> None:
        named = {name: index for index, names in enumerate(self._names) for name in names}
        assert named == self._of, "each name is of one node"
        for index, node in enumerate(self._nodes):
            node.core.check_invariants()
            assert node.core.names == self._names[index]
            assert node.next_timer() == self._timers.get(index)
