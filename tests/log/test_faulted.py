"""The log of a real process in faults, which it sees in shared memory."""

from __future__ import annotations

import pytest

from overlay.core.node import MILLISECOND, SECOND
from overlay.faults.faults import Fault
from overlay.faults.of_log import CUT, DOWN, RESTARTED, SLOW, log_faults
from overlay.runtime.link_faults import SharedFaults
from overlay.runtime.logs.faulted import FaultedLog
from overlay.runtime.own_faults import LOOK_NS, Watcher

KINDS = log_faults(("echo",))


def fault(what, **values):
    return Fault(what, 1, 2, servers=(0,) * (what == CUT), kind=KINDS[what], values=values)


FAULTS = (fault(DOWN), fault(CUT), fault(SLOW, delay_ms=50), fault(SLOW, delay_ms=20), fault(RESTARTED, down_s=0.5))


class Port:
    """Writes down what it is told."""

    descriptors = feed = take = close = None

    def __init__(self):
        self.told, self.counters, self.denied = [], {}, {}

    def next_timer(self):
        return 10 * SECOND

    def handle(self, now):
        self.told.append("handled")

    def set_cut(self, is_cut, now):
        self.told.append(is_cut)

    def set_delay(self, delay_ns):
        self.told.append(delay_ns // MILLISECOND)


@pytest.fixture
def shared():
    one = SharedFaults(FAULTS)
    yield one
    one.close()


def faulted(shared):
    port = Port()
    return port, FaultedLog(port, Watcher(shared, lambda fault: True))


def told(port):
    said, port.told = port.told, []
    return [one for one in said if one != "handled"]


def test_faults_that_overlap_cut_it_off_once_and_their_delays_add_up(shared):
    port, log = faulted(shared)
    seen = []
    for step, active in enumerate([(), (0,), (0, 1, 2), (1, 2, 3), (3,), ()]):
        shared.tell(active)
        log.handle(step * LOOK_NS)
        seen.append(told(port))
    assert seen == [[], [True], [50], [70], [20, False], [0]]


def test_a_log_that_restarts_is_away_for_its_time(shared):
    port, log = faulted(shared)
    shared.tell((4,))
    log.handle(0)
    log.handle(SECOND // 2 - 1)
    assert told(port) == [True]
    assert log.next_timer() <= SECOND // 2 + LOOK_NS
    log.handle(log.next_timer())
    assert told(port) == [False]


def test_a_process_that_starts_in_a_fault_is_cut_off_at_once_and_does_not_see_a_past_restart(shared):
    shared.tell((0, 4))
    port, log = faulted(shared)
    log.handle(0)
    assert told(port) == [True]
    shared.tell((4,))
    log.handle(LOOK_NS)
    assert told(port) == [False]


def test_it_looks_every_20_ms_and_always_serves_its_engine(shared):
    port, log = faulted(shared)
    log.handle(0)
    shared.tell((0,))
    log.handle(1)
    assert (log.next_timer(), port.told) == (LOOK_NS, ["handled", "handled"])
