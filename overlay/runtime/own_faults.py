"""Faults of a system while real processes run: they see in shared memory which have begun or ended.

Counterparts: ``overlay.runtime.link_faults`` has the memory; ``overlay.sim.world`` does the same in virtual time. Only
processes with targets of such faults look, servers before each batch of datagrams and all every ``LOOK_NS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.faults.faults import Fault
from overlay.runtime.link_faults import ACTIVE, OVER, SharedFaults
from overlay.systems.cores import Client
from overlay.systems.roles import client_name

LOOK_NS = 20 * MILLISECOND

Turn = tuple[Fault, bool]
"""A fault and whether it begins."""


class Look(Protocol):
    def look(self) -> Sequence[Turn]:
        """What has begun and ended since the last call, each once."""
        ...


class Watcher:
    """Sees which of ``faults`` begin and end. Those that are over, or began but cannot end, are past already."""

    def __init__(self, shared: SharedFaults, is_mine: Callable[[Fault], bool]) -> None:
        self._shared = shared
        self._mine = [(index, fault) for index, fault in enumerate(shared.faults) if fault.kind and is_mine(fault)]
        self._flags = bytes(len(shared.faults))
        self._began: set[int] = set()
        self._ended = {
            index
            for index, fault in self._mine
            if shared.flags()[index] == OVER or (shared.flags()[index] == ACTIVE and not fault.lasts)
        }

    def __bool__(self) -> bool:
        """Whether there is anything to see."""
        return bool(self._mine)

    def look(self) -> Sequence[Turn]:
        """What has begun and ended since the last call, each once."""
        flags = self._shared.flags()
        if flags == self._flags:
            return ()
        self._flags = flags
        return [turn for index, fault in self._mine for turn in self._turns(index, fault)]

    def _turns(self, index: int, fault: Fault) -> Sequence[Turn]:
        flag, turns = self._flags[index], list[Turn]()
        if index in self._ended:
            return turns
        if flag in (ACTIVE, OVER) and index not in self._began:
            self._began.add(index)
            turns.append((fault, True))
        if flag == OVER:
            self._ended.add(index)
            turns.append((fault, False))
        return turns


class FaultedServer:
    """Wraps a server, recorded or not, and lets it see its faults. ``move`` gives it another port, and returns its new
    address."""

    def __init__(self, server: Any, watcher: Look, move: Callable[[], Address], look_ns: int = LOOK_NS) -> None:
        self._server = server
        self._watcher = watcher
        self._move = move
        self._next_look = 0
        self._look_ns = look_ns
        self.datagrams_to_send = server.datagrams_to_send
        self.events = server.events

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self._look(now)
        self._server.receive_datagrams(datagrams, now)

    def handle_timer(self, now: int) -> None:
        self._look(now)
        timer = self._server.next_timer()
        if timer is not None and timer <= now:
            self._server.handle_timer(now)

    def next_timer(self) -> int:
        timer: int | None = self._server.next_timer()
        return self._next_look if timer is None else min(timer, self._next_look)

    def _look(self, now: int) -> None:
        self._next_look = now + self._look_ns
        for fault, begins in self._watcher.look():
            self._server.fault(fault.seen_by(self._move() if fault.moves else None), begins, now)


class FaultedClients:
    """The clients of a fleet that are targets of ``watcher``'s faults."""

    def __init__(self, clients: Sequence[Client], watcher: Watcher) -> None:
        self._clients = clients
        self._watcher = watcher
        self._index_of: Mapping[str, int] = {client_name(client.identity): i for i, client in enumerate(clients)}

    def look(self, now: int) -> Sequence[int]:
        """Let them see their faults. Returns the indices of those that did."""
        struck = []
        for fault, begins in self._watcher.look():
            for index in (self._index_of[name] for name in fault.clients if name in self._index_of):
                client: Any = self._clients[index]
                client.fault(fault.to_json(), begins, now)
                struck.append(index)
        return struck
