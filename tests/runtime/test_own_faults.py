"""Real processes see the faults of their system once each, however late they look."""

from __future__ import annotations

import pytest

from overlay.faults.faults import KILL, Fault
from overlay.faults.kinds import FaultKind
from overlay.runtime.link_faults import SharedFaults
from overlay.runtime.own_faults import LOOK_NS as LOOK
from overlay.runtime.own_faults import FaultedServer, Watcher

DEAF = Fault("deaf", 1, 2, servers=(0,), kind=FaultKind("Deaf", servers=("echo",)))
MOVED = Fault("moved", 1, servers=(0,), kind=FaultKind("Moved", servers=("echo",), lasts=False))
OTHER = Fault("deaf", 1, 2, servers=(1,), kind=DEAF.kind)
FAULTS = (Fault(KILL, 1, servers=(0,)), DEAF, MOVED, OTHER)


def watcher(shared: SharedFaults) -> Watcher:
    return Watcher(shared, lambda fault: 0 in fault.servers)


def test_a_fault_that_began_and_ended_between_two_looks_is_seen_whole() -> None:
    shared = SharedFaults(FAULTS)
    often, seldom = watcher(shared), watcher(shared)
    seen = [list(often.look())]
    for active in ((0, 1, 3), (0, 1, 2, 3), (0, 2)):
        shared.tell(active)
        seen.append([(fault.what, begins) for fault, begins in often.look()])
    assert seen == [[], [("deaf", True)], [("moved", True)], [("deaf", False)]]
    assert list(seldom.look()) == [(DEAF, True), (DEAF, False), (MOVED, True)]
    assert list(seldom.look()) == []
    shared.close()


def test_a_process_that_starts_later_sees_only_what_lasts() -> None:
    shared = SharedFaults(FAULTS)
    shared.tell((0, 1, 2, 3))
    during = watcher(shared)
    shared.tell((0, 2))
    after = watcher(shared)
    assert list(during.look()) == [(DEAF, True), (DEAF, False)]
    assert list(after.look()) == []
    shared.close()


class Server:
    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.events = self.datagrams_to_send = list

    def fault(self, document: dict[str, object], begins: bool, now: int) -> None:
        self.calls.append((document["what"], begins, now))

    def receive_datagrams(self, datagrams: object, now: int) -> None:
        self.calls.append(("received", now))

    def handle_timer(self, now: int) -> None:
        self.calls.append(("timer", now))

    def next_timer(self) -> int:
        return 5 * LOOK


def test_a_server_looks_before_each_batch_and_every_20_ms_without_extra_calls_of_its_timer() -> None:
    shared = SharedFaults(FAULTS)
    server = Server()
    faulted = FaultedServer(server, watcher(shared), move=lambda: pytest.fail("no fault moves it"))
    faulted.handle_timer(0)
    assert (faulted.next_timer(), server.calls) == (LOOK, [])
    shared.tell((1,))
    faulted.receive_datagrams([], 7)
    shared.tell(())
    faulted.handle_timer(7 + LOOK)
    faulted.handle_timer(5 * LOOK)
    assert server.calls == [("deaf", True, 7), ("received", 7), ("deaf", False, 7 + LOOK), ("timer", 5 * LOOK)]
    shared.close()
